"""
Faults of the event stream: events put in, changed or left out where the right host writes them.

A host whose agent has no subagents, steps or reasoning can still be given a stream
that breaks the rules on them: the faulty writer puts the events in.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.reference_impl.values import Json, Record, is_record
from hostproof.strategies.edits import filled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ag_ui.core import BaseEvent

    from hostproof.conformance.rule import Build
    from hostproof.reference_impl.host_parts import HostParts


def event(kind: str, **members: Json) -> Record:
    """Write an event."""
    return {"type": kind, **members}


def by(owner: str, *events: Record) -> tuple[Record, ...]:
    """Write events of a subagent."""
    return tuple({**one, "subagentRunId": owner} for one in events)


def announced(*names: str) -> tuple[Record, ...]:
    """Announce subagents."""
    return tuple(event("SUBAGENT_STARTED", subagentRunId=name, name="helper") for name in names)


def done(*names: str) -> tuple[Record, ...]:
    """Close subagents."""
    return tuple(event("SUBAGENT_FINISHED", subagentRunId=name) for name in names)


def rewrites(rewrite: Callable[[Record], Sequence[Record]]) -> Build:
    """Break the stream: in place of each event goes what *rewrite* gives for it."""

    def build(parts: HostParts) -> HostParts:
        right = parts.encode

        def encode(given: BaseEvent) -> bytes:
            value: Record = json.loads(right(given).removeprefix(b"data: "))
            return b"".join(_written(one) for one in rewrite(value))

        return replace(parts, encode=encode)

    return build


def _written(value: Record) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n\n"


def inserts(
    *,
    first: Sequence[Record] = (),
    start: Sequence[Record] = (),
    end: Sequence[Record] = (),
    last: Sequence[Record] = (),
) -> Build:
    """
    Break the stream: events are put in; ``{thread}`` and ``{run}`` stand for the run's ids.

    Args:
        first: before RUN_STARTED.
        start: behind it.
        end: before RUN_FINISHED.
        last: behind it.
    """

    def rewrite(value: Record) -> Sequence[Record]:
        before, behind = {"RUN_STARTED": (first, start), "RUN_FINISHED": (end, last)}.get(
            value["type"], ((), ())
        )
        slots = {"thread": str(value.get("threadId")), "run": str(value.get("runId"))}
        return [*filled(list(before), slots), value, *filled(list(behind), slots)]

    return rewrites(rewrite)


def alters(kind: str, **members: Json) -> Build:
    """Break the stream: every event of a type gets these members."""
    return rewrites(lambda value: [value | members if value["type"] == kind else value])


def without(kind: str, *members: str) -> Build:
    """Break the stream: every event of a type loses these members, or is left out for none."""

    def rewrite(value: Record) -> Sequence[Record]:
        if value["type"] != kind:
            return [value]
        left = {name: member for name, member in value.items() if name not in members}
        return [left] if members else []

    return rewrites(rewrite)


def outcome_of_event(value: Record) -> str:
    """Name the outcome of an event that finishes a run; "" for another event."""
    if value["type"] != "RUN_FINISHED":
        return ""
    outcome = value.get("outcome")
    return str(outcome.get("type")) if is_record(outcome) else "success"


def ends_as(was: str, outcome: Record, *before: Record) -> Build:
    """Break the stream: a run that would end with one outcome ends with another."""

    def rewrite(value: Record) -> Sequence[Record]:
        if outcome_of_event(value) != was:
            return [value]
        return [*before, value | {"outcome": outcome}]

    return rewrites(rewrite)


def unbroken(parts: HostParts) -> HostParts:
    """Give the right host as it is: the fault of a rule that it breaks by design."""
    return parts
