"""
Rules of the set ``ag-ui`` on the transport: what an accepted run looks like on the wire.

Source: AG-UI 1.0, transports/http-sse, events/lifecycle, versioning.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.rule import Breach, Fault, Level, Rule, Severity, Source
from hostproof.reference_impl.values import MISSING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from ag_ui.core import BaseEvent
    from starlette.responses import Response

    from hostproof.conformance.exchange import Event, Exchange
    from hostproof.conformance.recording import Facts, Recording
    from hostproof.conformance.rule import Judge
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.refusals import Refusal

BEGINNINGS: Final = ("RUN_STARTED", "RUN_ERROR")


def _accepted(recording: Recording) -> Iterator[Exchange]:
    for exchange in recording.changed:
        if isinstance(outcome_of(exchange), Accepted):
            yield exchange


def first_event(recording: Recording) -> Breach | None:
    """Demand that a stream begins with RUN_STARTED, or with RUN_ERROR."""
    for exchange in recording.changed:
        posted = exchange.request.method == "POST"
        if posted and exchange.events and exchange.events[0].type not in BEGINNINGS:
            return Breach(
                expected="RUN_STARTED or RUN_ERROR as the first event",
                seen=exchange.events[0].type or "an event without a type",
                place="events[0]",
            )
    return None


def events_are_objects(recording: Recording) -> Breach | None:
    """Demand that the data of every event is one JSON object."""
    for exchange in _accepted(recording):
        for at, event in enumerate(exchange.events):
            if event.value is MISSING:
                return Breach(
                    expected="one JSON object as the data of each event",
                    seen="data that is none",
                    place=f"events[{at}]",
                )
    return None


def line_ends(recording: Recording) -> Breach | None:
    """Demand LF line ends."""
    for exchange in _accepted(recording):
        if "cr-line-end" in exchange.problems:
            return Breach(expected="LF line ends only", seen="a CR", place="the body")
    return None


def same_ids(recording: Recording) -> Breach | None:
    """Demand that both ends of each run name the same thread and the same run."""
    for exchange in _accepted(recording):
        started: Event | None = None
        for event in exchange.events:
            if event.type == "RUN_STARTED":
                started = event
            if event.type != "RUN_FINISHED" or started is None:
                continue
            for name in ("threadId", "runId"):
                if started.value.get(name) != event.value.get(name):
                    return Breach(
                        expected=f"the same {name} at both ends of the run",
                        seen="two different ones",
                        place=name,
                    )
    return None


def malformed_is_http(recording: Recording) -> Breach | None:
    """Demand that malformed input is refused by an HTTP error, before any stream."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if isinstance(outcome, Refused) and outcome.in_stream:
            return Breach(expected="an HTTP error status and no stream", seen=outcome.describe())
        if isinstance(outcome, Accepted):
            return Breach(expected="an HTTP error status and no run", seen=outcome.describe())
    return None


def ends_its_body(recording: Recording) -> Breach | None:
    """Demand that the body is closed after the terminal event."""
    for exchange in _accepted(recording):
        if exchange.end != "complete":
            return Breach(
                expected="the end of the body after the terminal event",
                seen="a body that stays open",
                place="the body",
            )
    return None


def _prefixed(prefix: bytes) -> Callable[[HostParts], HostParts]:
    def build(parts: HostParts) -> HostParts:
        def write(events: AsyncIterator[bytes]) -> Response:
            async def all_of_them() -> AsyncIterator[bytes]:
                yield prefix
                async for event in events:
                    yield event

            return parts.write_stream(all_of_them())

        return replace(parts, write_stream=write)

    return build


def _carriage_returns(parts: HostParts) -> HostParts:
    right = parts.encode
    return replace(parts, encode=lambda event: right(event).replace(b"\n", b"\r\n"))


def _another_run(parts: HostParts) -> HostParts:
    right = parts.encode

    def encode(event: BaseEvent) -> bytes:
        written = right(event)
        finished = b'"RUN_FINISHED"' in written
        return written.replace(b'"runId":"', b'"runId":"x') if finished else written

    return replace(parts, encode=encode)


def _stays_open(parts: HostParts) -> HostParts:
    from starlette.responses import StreamingResponse

    from hostproof.reference_impl import agui_events

    def write(events: AsyncIterator[bytes]) -> Response:
        async def and_waits() -> AsyncIterator[bytes]:
            async for event in events:
                yield event
            await asyncio.sleep(60)

        return StreamingResponse(and_waits(), media_type=agui_events.MEDIA_TYPE)

    return replace(parts, write_stream=write)


def _refuses_in_the_stream(parts: HostParts) -> HostParts:
    from hostproof.reference_impl import agui_events

    def write(refusal: Refusal) -> Response:
        async def events() -> AsyncIterator[bytes]:
            yield agui_events.encode(agui_events.refused(refusal))

        return parts.write_stream(events())

    return replace(parts, write_refusal=write)


def _wire_rule(
    name: str,
    clause: str,
    demand: str,
    judge: Judge,
    fault: Fault,
    *,
    level: Level = "must",
    severity: Severity = "medium",
    applies: Callable[[Facts], bool] = lambda case: case.id == "plain-run",
    document: str = "AG-UI 1.0",
) -> Rule:
    return Rule(
        id=f"ag-ui.{name}",
        title=name.replace("-", " "),
        demand=demand,
        source=Source(document=document, clause=clause),
        sets=frozenset({"ag-ui"}),
        level=level,
        severity=severity,
        cwe=None,
        applies=applies,
        judge=judge,
        fault=fault,
    )


MALFORMED: Final = frozenset(
    {
        "thread-id-missing",
        "thread-id-number",
        "run-id-missing",
        "messages-missing",
        "messages-text",
        "text-cut",
        "text-word",
        "body-list",
    }
)
"""Input that no reading of the schema admits."""

_STRAY: Final = b'data: {"type":"CUSTOM","name":"x.y","value":1}\n\n'

RULES: Final = (
    _wire_rule(
        "first-event",
        "LIFE-01: events/lifecycle, The run",
        "Begin a stream with RUN_STARTED or RUN_ERROR.",
        first_event,
        Fault(
            name="host-begins-with-a-custom-event",
            build=_prefixed(_STRAY),
            shows_in=frozenset({"plain-run"}),
        ),
        applies=lambda _case: True,
    ),
    _wire_rule(
        "events-are-objects",
        "SSE-02: transports/http-sse, Response",
        "Send exactly one JSON object as the data of each event.",
        events_are_objects,
        Fault(name="host-sends-an-event-that-is-no-object", build=_prefixed(b"data: []\n\n")),
        level="should",
    ),
    _wire_rule(
        "line-ends",
        "SSE-03: transports/http-sse, Response",
        "End lines with LF.",
        line_ends,
        Fault(name="host-ends-lines-with-crlf", build=_carriage_returns),
        severity="low",
    ),
    _wire_rule(
        "same-ids",
        "IN-10: run-input, Identity",
        "Name the same thread and run at both ends of a run.",
        same_ids,
        Fault(name="host-finishes-another-run", build=_another_run),
    ),
    _wire_rule(
        "closes-the-body",
        "SSE-04: transports/http-sse, Response",
        "Close the body after the last run's terminal event.",
        ends_its_body,
        Fault(name="host-keeps-the-body-open", build=_stays_open),
        level="should",
        severity="low",
    ),
    _wire_rule(
        "malformed-is-http",
        "SSE-05: transports/http-sse, Errors; run-input, Error Handling",
        "Refuse malformed input by an HTTP error status, before any stream.",
        malformed_is_http,
        Fault(name="host-refuses-in-the-stream", build=_refuses_in_the_stream),
        severity="low",
        applies=lambda case: case.id in MALFORMED,
    ),
)
