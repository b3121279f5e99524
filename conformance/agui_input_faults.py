"""
Faults of a host that is too strict, too lax or too forgetful with a run's input.

And the variants of the reference that keep what it breaks by design: it refuses media,
unknown entries and cancelled answers, and these take them as AG-UI has it.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hostproof.conformance.agui_faults import rewrites
from hostproof.conformance.tolerance import GOOD
from hostproof.reference_impl.http_request import Headers, check_media_type
from hostproof.reference_impl.refusals import Refusal, malformed, refuse
from hostproof.reference_impl.values import MISSING, Json, Record, is_record, is_text
from hostproof.strategies.decisions import NO
from hostproof.strategies.edits import filled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from starlette.responses import Response

    from hostproof.conformance.rule import Build
    from hostproof.reference_impl.agent_steps import PageTool
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules

READ: ContextVar[Record] = ContextVar("READ")
"""The body of the request that is being served."""


def refuses(field: str, is_bad: Callable[[Record], bool]) -> Build:
    """Break the reader: a body that *is_bad* is refused."""

    def build(parts: HostParts) -> HostParts:
        right = parts.read

        def read(request: ReaderRequest) -> RunInput:
            taken = right(request)
            if is_bad(request.body):
                raise malformed(field, f"`{field}` is not taken.")
            return taken

        return replace(parts, read=read)

    return build


def rereads(change: Callable[[Record], Record]) -> Build:
    """Change a body that the reader has taken, before anything else sees it."""

    def build(parts: HostParts) -> HostParts:
        right = parts.read

        def read(request: ReaderRequest) -> RunInput:
            return cast("RunInput", change(cast("Record", right(request))))

        return replace(parts, read=read)

    return build


def answers_by_its_input(rewrite: Callable[[Record, Record], Sequence[Record]]) -> Build:
    """Break the stream: in place of each event goes what *rewrite* makes of the body and it."""

    def build(parts: HostParts) -> HostParts:
        right = parts.read

        def read(request: ReaderRequest) -> RunInput:
            taken = right(request)
            READ.set(cast("Record", taken))
            return taken

        return rewrites(lambda value: rewrite(READ.get({}), value))(replace(parts, read=read))

    return build


def echoes_the_version(body: Record, value: Record) -> Sequence[Record]:
    """Declare the client's version for one's own."""
    asked = body.get("protocolVersion")
    declares = value["type"] == "RUN_STARTED" and is_text(asked)
    return [value | {"protocolVersion": asked} if declares else value]


def cancels_for_the_old(body: Record, value: Record) -> Sequence[Record]:
    """End a run for a client without a version otherwise than it ended."""
    ends = value["type"] == "RUN_FINISHED" and "protocolVersion" not in body
    return [value | {"outcome": {"type": "cancelled"}} if ends else value]


def drops_nulls(_body: Record, value: Record) -> Sequence[Record]:
    """Leave null out of the state that is shown."""
    if value["type"] != "STATE_SNAPSHOT" or not is_record(value["snapshot"]):
        return [value]
    kept = {name: one for name, one in value["snapshot"].items() if one is not None}
    return [value | {"snapshot": kept}]


def later_minor(body: Record) -> bool:
    """Say whether the client's version is a later one of this line."""
    major, _, minor = str(body.get("protocolVersion")).partition(".")
    return major == "1" and minor.isdecimal() and int(minor) > 1


def unreadable_version(body: Record) -> bool:
    """Say whether the client's version is none."""
    version = body.get("protocolVersion")
    return is_text(version) and not version.replace(".", "", 1).isdecimal()


def has_unknown_members(body: Record) -> bool:
    """Say whether a message, a tool, an entry or the body has a member beside the known ones."""
    lists = ("messages", "tools", "context", "resume")
    holders = [body, *(one for name in lists for one in body.get(name) or [])]
    holders += [part for one in holders for part in one.get("content") or [] if is_record(part)]
    return any(name.startswith("x-") for holder in holders for name in holder)


def has_metadata(body: Record) -> bool:
    """Say whether a message, a tool or an entry has metadata."""
    lists = ("messages", "tools", "resume")
    return any("metadata" in one for name in lists for one in body.get(name) or [])


def has_encrypted_values(*, typed: bool) -> Callable[[Record], bool]:
    """Say whether a message has an encrypted value, with a type or without."""
    return lambda body: any(
        "encryptedValue" in one and ("encryptedValueType" in one) == typed
        for one in body["messages"]
    )


def takes_no_json(parts: HostParts) -> HostParts:
    """Run a body that is no JSON as if it were a plain one."""
    right = parts.parse

    def parse(data: bytes) -> Json:
        try:
            return right(data)
        except Refusal:
            return filled(GOOD[""], {"fresh": parts.mint("mended")})

    return replace(parts, parse=parse)


def refuses_header(name: str, is_bad: Callable[[str], bool]) -> Build:
    """Break the host: a request with such a header is refused."""

    def build(parts: HostParts) -> HostParts:
        def check(headers: Headers) -> None:
            check_media_type(headers)
            if any(at == name and is_bad(value) for at, value in headers):
                raise refuse("ERR_UNSUPPORTED_MEDIA_TYPE", "Not with this header.", field=name)

        return replace(parts, check_media_type=check)

    return build


def answers_as(media_type: str, status: int = 200, *, only_with: str = "") -> Build:
    """Break the answer: a run comes as another media type or status."""

    def build(parts: HostParts) -> HostParts:
        right = parts.write_stream
        wanted: ContextVar[bool] = ContextVar("wanted")

        def check(headers: Headers) -> None:
            parts.check_media_type(headers)
            wanted.set(any(only_with in value for _name, value in headers))

        def write(events: AsyncIterator[bytes]) -> Response:
            response = right(events)
            if wanted.get(not only_with):
                response.headers["content-type"] = media_type
                response.status_code = status
            return response

        return replace(parts, write_stream=write, check_media_type=check)

    return build


def breaks_off_after_the_end(parts: HostParts) -> HostParts:
    """Announce more than the run has: the connection is cut behind the last event."""
    right = parts.write_stream

    def write(events: AsyncIterator[bytes]) -> Response:
        response = right(events)
        response.headers["content-length"] = "100000"
        return response

    return replace(parts, write_stream=write)


# The reference, mended where it departs from AG-UI by design.


def _text_parts(content: Json) -> Json:
    if not isinstance(content, list):
        return content
    return [part for part in content if not is_record(part) or part.get("type") == "text"]


def skips_media(parts: HostParts) -> HostParts:
    """Skip the parts that the model cannot use; a result of none but such is the empty text."""
    right = parts.read

    def read(request: ReaderRequest) -> RunInput:
        body = request.body
        if is_record(body) and isinstance(body.get("messages"), list):
            body = {**body, "messages": [_without_media(one) for one in body["messages"]]}
        return right(replace(request, body=body))

    return replace(parts, read=read)


def _without_media(message: Json) -> Json:
    if not is_record(message) or not isinstance(message.get("content"), list):
        return message
    content = _text_parts(message["content"])
    return {**message, "content": content if content or message.get("role") != "tool" else ""}


def takes_cancelled(parts: HostParts) -> HostParts:
    """Take a cancelled answer as a no."""
    return _replans(parts, lambda entry: {**entry, "status": "resolved", "payload": NO})


def skips_unknown_entries(parts: HostParts) -> HostParts:
    """Go on without the entries for interrupts that were not raised."""
    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        asked = MISSING if held.awaiting is None else held.awaiting.suspension
        own = asked.get("interruptId") if is_record(asked) else None
        entries = [one for one in request.get("resume") or [] if one.get("interruptId") == own]
        return right(cast("RunInput", {**request, "resume": entries}), held, facts, rules)

    return replace(parts, plan=plan)


def _replans(parts: HostParts, mend: Callable[[Record], Record]) -> HostParts:
    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        entries = [
            mend(one) if one.get("status") == "cancelled" else one
            for one in request.get("resume") or []
        ]
        return right(cast("RunInput", {**request, "resume": entries}), held, facts, rules)

    return replace(parts, plan=plan)
