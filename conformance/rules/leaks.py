"""
Rules of the set ``safety`` on what an error shows: nothing that was sent, nothing from inside.

Leaks are judged place by place: the body, a header, an event of the stream.

Source: safety, docs/safety.md.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.rule import Breach, Fault, Level, Rule, RuleSet, Severity, Source
from hostproof.reference_impl.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from starlette.responses import Response

    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.recording import Facts, Recording
    from hostproof.conformance.rule import Judge
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput

SAFETY: Final[frozenset[RuleSet]] = frozenset({"safety"})
MOST_TIMES: Final = 4
LEAST_BYTES: Final = 65_536
LONG_MESSAGE: Final = "message-of-200-kb"
"""The case whose good answer is measured too."""

INSIDE: Final = re.compile(
    r"Traceback \(most recent call last\)"
    r"|File \"[^\"]+\", line \d+"
    r"|\b[A-Z][A-Za-z]*(?:Error|Exception)\b[:(] ?\S"
    r"|cannot access local variable"
    r"|object (?:has no attribute|does not support|is not (?:subscriptable|iterable|callable))"
    r"|unsupported operand type|(?:list|tuple|string) index out of range"
    r"|\btakes \d+ positional arguments?\b|\bmissing \d+ required (?:positional|keyword)"
    r"|Cannot read propert(?:y|ies) of (?:undefined|null)|\bis not a function\b"
    r"|runtime error: |nil pointer dereference"
    r"|\bat [\w.$<>]+ \([^()\n]+:\d+:\d+\)"
    r"|\bat [\w.$<>]+\([\w.]+\.(?:java|kt|scala):\d+\)"
    r"|goroutine \d+ \[\w+\]:|\.rb:\d+:in "
    r"|site-packages|node_modules"
    r"|<[\w.]+ object at 0x[0-9a-f]+>"
)
"""What only a program's own error text says: tracebacks, types of errors, places in files."""


def _refusals(recording: Recording) -> Iterator[Exchange]:
    """Give the answers that are no accepted runs."""
    for exchange in recording.changed:
        if not isinstance(outcome_of(exchange), Accepted):
            yield exchange


def _holds(text: str, canary: str) -> bool:
    return canary.lower() in text.lower()


def body_quotes_nothing(recording: Recording) -> Breach | None:
    """Demand that no error's body repeats what was sent."""
    for exchange in _refusals(recording):
        if not exchange.is_stream and _holds(exchange.text, recording.case.canary):
            return _quoted("the body")
    return None


def headers_quote_nothing(recording: Recording) -> Breach | None:
    """Demand that no error's header repeats what was sent."""
    for exchange in _refusals(recording):
        for name, value in exchange.headers:
            if _holds(value, recording.case.canary):
                return _quoted(f"the header {name}")
    return None


def events_quote_nothing(recording: Recording) -> Breach | None:
    """Demand that no RUN_ERROR repeats what was sent."""
    for exchange in _refusals(recording):
        for event in exchange.events:
            if event.type == "RUN_ERROR" and _holds(event.data, recording.case.canary):
                return _quoted("the RUN_ERROR event")
    return None


def _quoted(place: str) -> Breach:
    return Breach(
        expected="an error that names the field and quotes nothing",
        seen=f"the marker that was sent, in {place}",
        place=place,
    )


def nothing_from_inside(recording: Recording) -> Breach | None:
    """Demand that no answer shows a program's own error text, nor a run in an event of its own."""
    for exchange in recording.changed:
        for event in exchange.events:
            if event.type == "CUSTOM" and INSIDE.search(event.data):
                return Breach(
                    expected="events made for a stranger",
                    seen="text of an exception or a place in the program",
                    place="a CUSTOM event",
                )
    for exchange in _refusals(recording):
        texts = [exchange.text] if not exchange.is_stream else []
        texts += [event.data for event in exchange.events if event.type == "RUN_ERROR"]
        for text in texts:
            found = INSIDE.search(text)
            if found is not None:
                return Breach(
                    expected="an error text made for a stranger",
                    seen="text of an exception or a place in the program",
                    place="RUN_ERROR" if exchange.is_stream else "the body",
                )
    return None


def answers_in_proportion(recording: Recording) -> Breach | None:
    """Demand that no error, nor the answer to a long message, is many times what was sent."""
    answers = recording.changed if recording.case.id == LONG_MESSAGE else _refusals(recording)
    for exchange in answers:
        most = max(LEAST_BYTES, MOST_TIMES * len(exchange.request.body))
        if len(exchange.body) > most:
            return Breach(
                expected=f"at most {most} bytes for {len(exchange.request.body)} sent",
                seen=f"{len(exchange.body)} bytes",
                place="the body",
            )
    return None


def _quoting_reader(parts: HostParts) -> HostParts:
    """Say in a refusal's message what was sent."""
    right = parts.read

    def read(request: ReaderRequest) -> RunInput:
        try:
            return right(request)
        except Refusal as refusal:
            quoted = f"This is no RunAgentInput: {request.body!a:.2000}"
            raise Refusal(refusal.code, refusal.status, quoted, field=refusal.field) from None

    return replace(parts, read=read)


def _quoting_header(parts: HostParts) -> HostParts:
    seen: list[str] = []
    read, write = parts.read, parts.write_refusal

    def noting(request: ReaderRequest) -> RunInput:
        seen[:] = [ascii(request.body)[:2000]]
        return read(request)

    def refuse(refusal: Refusal) -> Response:
        response = write(refusal)
        response.headers["x-refused"] = "".join(seen)
        return response

    return replace(parts, read=noting, write_refusal=refuse)


def _telling_failures(parts: HostParts) -> HostParts:
    """Put an exception's own text on the wire."""
    from hostproof.reference_impl import agui_events

    return replace(
        parts,
        end_of_failure=lambda _incident, error: agui_events.failed(repr(error)),
    )


def _refusing_in_the_stream(parts: HostParts) -> HostParts:
    """Refuse in a stream, quoting what was sent."""
    from hostproof.reference_impl import agui_events

    quoting = _quoting_reader(parts)

    def write(refusal: Refusal) -> Response:
        async def events() -> AsyncIterator[bytes]:
            yield agui_events.encode(agui_events.refused(refusal))

        return parts.write_stream(events())

    return replace(quoting, write_refusal=write)


def _long_refusals(parts: HostParts) -> HostParts:
    right = parts.write_refusal

    def write(refusal: Refusal) -> Response:
        response = right(refusal)
        response.body = bytes(response.body) + b" " * 200_000
        response.headers["content-length"] = str(len(response.body))
        return response

    return replace(parts, write_refusal=write)


def _leak_rule(
    name: str,
    demand: str,
    judge: Judge,
    fault: Fault,
    *,
    severity: Severity = "low",
    level: Level = "must",
    cwe: int = 209,
    applies: Callable[[Facts], bool] = lambda case: case.kind in ("body", "answer"),
) -> Rule:
    return Rule(
        id=f"leak.{name}",
        title=name.replace("-", " "),
        demand=demand,
        source=Source(document="safety", clause="What an error shows"),
        sets=SAFETY,
        level=level,
        severity=severity,
        cwe=cwe,
        applies=applies,
        judge=judge,
        fault=fault,
    )


_SHOWN: Final = frozenset({"thread-id-object", "role-unknown"})

RULES: Final = (
    _leak_rule(
        "body",
        "Quote nothing that was sent in the body of an error.",
        body_quotes_nothing,
        Fault(name="host-quotes-in-the-body", build=_quoting_reader, shows_in=_SHOWN),
    ),
    _leak_rule(
        "header",
        "Quote nothing that was sent in a header of an error.",
        headers_quote_nothing,
        Fault(name="host-quotes-in-a-header", build=_quoting_header, shows_in=_SHOWN),
    ),
    _leak_rule(
        "event",
        "Quote nothing that was sent in a RUN_ERROR.",
        events_quote_nothing,
        Fault(name="host-quotes-in-the-stream", build=_refusing_in_the_stream, shows_in=_SHOWN),
    ),
    _leak_rule(
        "exception-text",
        "Show no text of an exception and no place in the program.",
        nothing_from_inside,
        Fault(
            name="host-tells-its-exceptions",
            build=_telling_failures,
            shows_in=frozenset({"failing-run"}),
        ),
        severity="high",
        applies=lambda _case: True,
    ),
    _leak_rule(
        "amplification",
        "Answer an error, and a long message, in proportion to what was sent.",
        answers_in_proportion,
        Fault(name="host-refuses-at-length", build=_long_refusals, shows_in=_SHOWN),
        level="guide",
        cwe=406,
        applies=lambda _case: True,
    ),
)
