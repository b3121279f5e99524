"""What faults share that read the body of the request that is being served."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from hostproof.conformance.inside_reading import records
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.reference_impl.agent_steps import PageTool
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules
    from hostproof.reference_impl.values import Json, Record

PlanAgain: TypeAlias = "Callable[[Json, Held], Plan[PageTool]]"
"""Plans a body against what is held."""

Again: TypeAlias = "Callable[[Record, Held, PlanAgain], Plan[PageTool]]"
"""Plans a refused body in another way: it is given the body, what is held, and the right plan."""

BODY: ContextVar[Record] = ContextVar("BODY")


def sent() -> Record:
    """Give the body of the request that is being served; empty where none is."""
    return BODY.get({})


def sent_messages() -> list[Record]:
    """Give its messages."""
    return records(sent().get("messages"))


def noting(parts: HostParts, mend: Callable[[Record], Record] = lambda body: body) -> HostParts:
    """Remember every body, *mended* before it is read."""
    right = parts.read

    def read(request: ReaderRequest) -> RunInput:
        if is_record(request.body):
            body = mend(request.body)
            BODY.set(body)
            request = replace(request, body=body)
        return right(request)

    return replace(parts, read=read)


def replanning(
    parts: HostParts,
    again: Again,
    *codes: str,
) -> HostParts:
    """Put a plan in front: where one of *codes* would be refused, *again* plans in its place."""
    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        try:
            return right(request, held, facts, rules)
        except Refusal as refusal:
            if refusal.code not in codes:
                raise
            given: Json = request
            return again(given, held, lambda body, stood: right(body, stood, facts, rules))

    return replace(parts, plan=plan)
