"""Faults of a host that stops to ask: how it says so, and what it takes for an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.conformance.agui_faults import event, rewrites
from hostproof.reference_impl.refusals import Refusal, refuse
from hostproof.strategies.decisions import YES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from starlette.responses import Response

    from hostproof.reference_impl.agent_steps import PageTool
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import RunInput
    from hostproof.reference_impl.resume import Admitted, DoorFacts
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules
    from hostproof.reference_impl.values import Json, Record

AWAITING = "ERR_AWAITING_DECISION"


def refuses_every_no(parts: HostParts) -> HostParts:
    """Take no answer but a yes."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        admitted = right(pending, answer, facts)
        if admitted.request is not None and not admitted.approved:
            raise refuse("ERR_DECISION_REQUIRED", "Only a yes is taken.")
        return admitted

    return replace(parts, door=door)


def takes_silence_for_a_yes(parts: HostParts) -> HostParts:
    """Take a message that brings no answer as the yes it does not bring."""
    from hostproof.reference_impl.turn import AnswerTurn, Plan  # noqa: PLC0415

    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        if held.awaiting is None or request.get("resume"):
            return right(request, held, facts, rules)
        asked = held.awaiting.pending.get("checkIn", {})
        return Plan(turn=AnswerTurn({**YES, "requestId": asked.get("id", "")}))

    return replace(parts, plan=plan)


def abandons_what_is_not_answered(parts: HostParts) -> HostParts:
    """Give a pause up when a request brings no answer to it."""
    right, sessions = parts.plan, parts.sessions

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        try:
            return right(request, held, facts, rules)
        except Refusal as refusal:
            if refusal.code == AWAITING:
                for key, _pause in sessions.pauses():
                    if key.thread == facts.thread:
                        sessions.save(key, [], None)
            raise

    return replace(parts, plan=plan)


def refuses_inside_the_run(parts: HostParts) -> HostParts:
    """Begin a run to say that it is refused."""
    from hostproof.reference_impl import agui_events  # noqa: PLC0415

    right = parts.write_refusal

    def write(refusal: Refusal) -> Response:
        if refusal.code != AWAITING:
            return right(refusal)

        async def events() -> AsyncIterator[bytes]:
            yield agui_events.encode(agui_events.started("hp-t", "hp-r"))
            yield agui_events.encode(agui_events.refused(refusal))

        return parts.write_stream(events())

    return replace(parts, write_refusal=write)


def answers_the_page(parts: HostParts) -> HostParts:
    """Make up the result of a call that is the page's to run."""

    def rewrite(value: Record) -> Sequence[Record]:
        if value["type"] != "TOOL_CALL_END":
            return [value]
        call = value["toolCallId"]
        made_up = event("TOOL_CALL_RESULT", messageId="hp-m", toolCallId=call, content="done")
        return [value, made_up]

    return rewrites(rewrite)(parts)
