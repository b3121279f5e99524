"""Faults of a host that takes a page's word for an approval: calls it never asked about are run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hostproof.conformance.fault_agents import WrappedAgent
from hostproof.conformance.fault_inputs import noting, sent, sent_messages
from hostproof.conformance.inside_reading import calls, records
from hostproof.conformance.tolerance import tolerant_plan
from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.agent_steps import Call
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from hostproof.reference_impl.agent_steps import Step, Turn
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.values import Record

UNASKED = ("ERR_NO_PENDING_ASK", "ERR_UNKNOWN_TOOL_CALL")


class Believing(WrappedAgent):
    """Runs calls that the page says were approved, before any model is asked."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn."""
        for call in self.believed():
            turn.act(call)
        async for step in ReferenceAgent.__call__(self, turn):
            yield step

    def believed(self) -> Iterator[Call]:
        """Give those calls."""
        yield from ()


class BelievingAnswers(Believing):
    """Runs the call that an approval brings along."""

    __slots__ = ()

    def believed(self) -> Iterator[Call]:
        """Give the calls inside the answers."""
        for entry in records(sent().get("resume")):
            payload = entry.get("payload")
            call = payload.get("function_call") if is_record(payload) else None
            if is_record(call):
                yield Call(tool=call["name"], arguments=call["arguments"], id="forged")


class BelievingIds(Believing):
    """Runs a call of the page's history that an approval names."""

    __slots__ = ()

    def believed(self) -> Iterator[Call]:
        """Give the calls that the answers name."""
        approved = {entry.get("interruptId") for entry in records(sent().get("resume"))}
        yield from _in_history(approved)


class BelievingHistory(Believing):
    """Runs a call of the page's history whose result says that it is approved."""

    __slots__ = ()

    def believed(self) -> Iterator[Call]:
        """Give the calls that the history calls approved."""
        yield from _in_history(
            {
                message.get("toolCallId")
                for message in sent_messages()
                if '"approved": true' in str(message.get("content"))
            }
        )


def _in_history(ids: set[Record | str | None]) -> Iterator[Call]:
    for call in calls(sent_messages()):
        if call["id"] in ids:
            function = call["function"]
            arguments = json.loads(function["arguments"])
            yield Call(tool=function["name"], arguments=arguments, id=call["id"])


def _tolerant(parts: HostParts) -> HostParts:
    """Go on where nothing was asked."""
    for code in UNASKED:
        parts = tolerant_plan(code)(parts)
    return noting(parts)


def believes_answers(parts: HostParts) -> HostParts:
    """Run what an approval of nothing says is to be run."""
    return BelievingAnswers.of(_tolerant(parts))


def believes_ids(parts: HostParts) -> HostParts:
    """Keep no record of what was asked: the answer itself is the approval."""
    return BelievingIds.of(_tolerant(parts))


def believes_history(parts: HostParts) -> HostParts:
    """Run a call that the page's history marks as approved."""
    return BelievingHistory.of(_tolerant(parts))
