"""
The styled host's reader: a body as AG-UI's schema has it, without what it does not know.

What the schema rejects is refused, and the member named. What it does not
describe is left out: unknown members at any depth, parts that are no text,
messages of unknown roles. Null at an optional member counts as left out.

Pure. Source: AG-UI 1.0, run-input, processing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.refusals import malformed
from hostproof.reference_impl.values import Json, Record, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Callable

STATUSES: Final = ("resolved", "cancelled")
UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledInput:
    """
    One checked input.

    Attributes:
        thread: ``threadId``.
        run: ``runId``.
        parent_run: ``parentRunId``, or ``None``.
        messages: those of a known role, oldest first.
        tools: the page's.
        context: its entries.
        state: the page's; ``{}`` where there is none.
        forwarded: ``forwardedProps``; ``{}`` where there are none.
        resume: the entries of a known status.
        version: ``protocolVersion``, or ``None``.
    """

    thread: str
    run: str
    parent_run: str | None
    messages: tuple[Record, ...]
    tools: tuple[Record, ...]
    context: tuple[Record, ...]
    state: Json
    forwarded: Json
    resume: tuple[Record, ...]
    version: str | None

    def echo(self) -> Record:
        """Write it as an input again: valid, and without what was left out."""
        body: Record = {
            "threadId": self.thread,
            "runId": self.run,
            "messages": list(self.messages),
            "tools": [one for one in self.tools if "description" in one],
            "context": list(self.context),
            "state": self.state,
            "forwardedProps": self.forwarded,
        }
        optional = {"parentRunId": self.parent_run, "protocolVersion": self.version}
        body |= {name: value for name, value in optional.items() if value is not None}
        return body | ({"resume": list(self.resume)} if self.resume else {})


def read_input(body: Json, *, uuid_threads: bool = False) -> StyledInput:
    """
    Read a body.

    Args:
        body: any JSON value.
        uuid_threads: whether a thread's id has to be a UUID.

    Raises:
        Refusal: it is no input; the member that is wrong is named.
    """
    if not is_record(body):
        raise malformed(None, "The body is no object.")
    thread = _text(body, "threadId", "threadId")
    if uuid_threads and UUID.fullmatch(thread) is None:
        raise malformed("threadId", "A thread is named by a UUID here.")
    run = _text(body, "runId", "runId")
    state, forwarded = body.get("state"), body.get("forwardedProps")
    return StyledInput(
        thread=thread,
        run=run,
        parent_run=_optional_text(body, "parentRunId", "parentRunId"),
        version=_optional_text(body, "protocolVersion", "protocolVersion"),
        messages=_each(body, "messages", _message, required=True),
        tools=_each(body, "tools", _tool),
        context=_each(body, "context", _context),
        resume=_each(body, "resume", _entry),
        state={} if state is None else state,
        forwarded={} if forwarded is None else forwarded,
    )


def text_of(content: Json) -> str:
    """Give the text of a message's content, which the reader has checked."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content)
    return content if is_text(content) else ""


def _wrong(place: str, wanted: str) -> Exception:
    return malformed(place, f"This member has to be {wanted}.")


def _text(holder: Record, name: str, place: str) -> str:
    value = holder.get(name)
    if not is_text(value):
        raise _wrong(place, "a text")
    return value


def _optional_text(holder: Record, name: str, place: str) -> str | None:
    return None if holder.get(name) is None else _text(holder, name, place)


def _each(
    body: Record,
    name: str,
    read: Callable[[Record, str], Record | None],
    *,
    required: bool = False,
) -> tuple[Record, ...]:
    """Read a list of objects; what *read* gives ``None`` for is left out."""
    listed = body.get(name)
    if listed is None and not required:
        return ()
    if not isinstance(listed, list):
        raise _wrong(name, "a list")
    read_ones = []
    for at, one in enumerate(listed):
        place = f"{name}[{at}]"
        if not is_record(one):
            raise _wrong(place, "an object")
        read_ones.append(read(one, place))
    return tuple(one for one in read_ones if one is not None)


def _metadata(holder: Record, place: str) -> Record:
    """Give what an open object holds, under its name; nothing where there is none."""
    value = holder.get("metadata")
    if value is None:
        return {}
    if not is_record(value):
        raise _wrong(f"{place}.metadata", "an object")
    return {"metadata": value}


def _message(message: Record, place: str) -> Record | None:
    role = _text(message, "role", f"{place}.role")
    kept: Record = {"id": _text(message, "id", f"{place}.id"), "role": role}
    read = _CONTENTS.get(role)
    if read is None:
        return None
    kept |= read(message, place) | _metadata(message, place)
    for name in ("name", "encryptedValue") if role in _NAMED else ("encryptedValue",):
        value = _optional_text(message, name, f"{place}.{name}")
        if value is not None and role != "activity":
            kept[name] = value
    return kept


_NAMED: Final = ("developer", "system", "assistant", "user")


def _words(message: Record, place: str) -> Record:
    return {"content": _text(message, "content", f"{place}.content")}


def _spoken(message: Record, place: str) -> Record:
    """Read content that is a text or parts; parts that are no text are left out."""
    content = message.get("content")
    if is_text(content):
        return {"content": content}
    if not isinstance(content, list):
        raise _wrong(f"{place}.content", "a text or a list of parts")
    parts = [_part(part, f"{place}.content[{at}]") for at, part in enumerate(content)]
    return {"content": [part for part in parts if part is not None]}


def _part(part: Json, place: str) -> Record | None:
    if not is_record(part):
        raise _wrong(place, "an object")
    if _text(part, "type", f"{place}.type") != "text":
        return None
    return {"type": "text", "text": _text(part, "text", f"{place}.text")}


def _assistant(message: Record, place: str) -> Record:
    kept: Record = {}
    content = _optional_text(message, "content", f"{place}.content")
    if content is not None:
        kept["content"] = content
    calls = _each(message, "toolCalls", lambda one, at: _call(one, f"{place}.{at}"))
    return kept | ({"toolCalls": list(calls)} if calls else {})


def _call(call: Record, place: str) -> Record:
    function = call.get("function")
    if not is_record(function):
        raise _wrong(f"{place}.function", "an object")
    return {
        "id": _text(call, "id", f"{place}.id"),
        "type": "function",
        "function": {
            name: _text(function, name, f"{place}.function.{name}")
            for name in ("name", "arguments")
        },
    }


def _result(message: Record, place: str) -> Record:
    return {
        "toolCallId": _text(message, "toolCallId", f"{place}.toolCallId"),
        **_spoken(message, place),
    }


def _activity(message: Record, place: str) -> Record:
    content = message.get("content")
    if not is_record(content):
        raise _wrong(f"{place}.content", "an object")
    kind = _text(message, "activityType", f"{place}.activityType")
    return {"activityType": kind, "content": content}


_CONTENTS: Final[dict[str, Callable[[Record, str], Record]]] = {
    "developer": _words,
    "system": _words,
    "reasoning": _words,
    "user": _spoken,
    "assistant": _assistant,
    "tool": _result,
    "activity": _activity,
}
"""How the content of each role is read."""


def _tool(tool: Record, place: str) -> Record:
    kept: Record = {"name": _text(tool, "name", f"{place}.name")} | _metadata(tool, place)
    description = _optional_text(tool, "description", f"{place}.description")
    kept |= {} if description is None else {"description": description}
    given = tool.get("parameters")
    return kept if given is None else kept | {"parameters": given}


def _context(entry: Record, place: str) -> Record:
    return {name: _text(entry, name, f"{place}.{name}") for name in ("description", "value")}


def _entry(entry: Record, place: str) -> Record | None:
    kept: Record = {
        "interruptId": _text(entry, "interruptId", f"{place}.interruptId"),
        "status": _text(entry, "status", f"{place}.status"),
    }
    kept |= _metadata(entry, place)
    payload = entry.get("payload")
    if kept["status"] not in STATUSES:
        return None
    return kept if payload is None else kept | {"payload": payload}
