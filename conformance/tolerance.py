"""
Faults that tolerate: the right host, but one refusal is not made and the run goes on.

A tolerant reader mends the member that would be refused and reads again; a
tolerant plan leaves off what would be refused and plans again. So a fault is
exactly one refusal missing, and everything else stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.refusals import Refusal
from hostproof.strategies.edits import filled

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.conformance.rule import Build
    from hostproof.reference_impl.agent_steps import PageTool
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules
    from hostproof.reference_impl.values import Json, Record

MOST_MENDS: Final = 50
_STEP: Final = re.compile(r"([A-Za-z]+)|\[(\d+)\]")

GOOD: Final[dict[str, Json]] = {
    "": {
        "threadId": "{fresh}",
        "runId": "{fresh}",
        "messages": [{"id": "m", "role": "user", "content": "mended"}],
    },
    "threadId": "{fresh}",
    "runId": "{fresh}",
    "parentRunId": "{fresh}",
    "messages": [{"id": "m", "role": "user", "content": "mended"}],
    "messages[]": {"id": "m", "role": "user", "content": "mended"},
    "messages[].id": "mended-id",
    "messages[].role": "activity",
    "messages[].content": "mended",
    "messages[].toolCallId": "mended-call",
    "messages[].toolCalls": [],
    "messages[].toolCalls[]": {
        "id": "mended-call",
        "function": {"name": "look", "arguments": "{}"},
    },
    "messages[].toolCalls[].id": "mended-call",
    "messages[].toolCalls[].function": {"name": "look", "arguments": "{}"},
    "tools": [],
    "tools[].name": "show_form",
    "context": [],
    "context[]": {"description": "page", "value": "mended"},
    "resume": [],
    "resume[]": {"interruptId": "mended", "status": "resolved"},
    "resume[].interruptId": "mended-interrupt",
    "resume[].status": "resolved",
}
"""A value that a reader takes, by the member it refuses (indices left off)."""


def without_indices(field: str | None) -> str:
    """Name a member without the places in its lists: ``messages[].id``."""
    return re.sub(r"\[\d+\]", "[]", field or "")


def tolerant_reader(member: str) -> Build:
    """Break the reader: what it would refuse about *member* (indices left off) is let through."""

    def build(parts: HostParts) -> HostParts:
        right = parts.read

        def read(request: ReaderRequest) -> RunInput:
            body = request.body
            for _ in range(MOST_MENDS):
                try:
                    return right(replace(request, body=body))
                except Refusal as refusal:
                    if without_indices(refusal.field) != member:
                        raise
                    body = _mended(body, refusal.field or "", parts.mint("mended"))
            raise ValueError("the body could not be mended")

        return replace(parts, read=read)

    return build


def _mended(body: Json, field: str, fresh: str) -> Json:
    good = filled(GOOD[without_indices(field)], {"fresh": fresh})
    if not field:
        return good
    steps = [int(index) if index else name for name, index in _STEP.findall(field)]
    if field.endswith(".name") and field.startswith("tools"):
        return {**body, "tools": []}
    copied = {**body}
    holder: Json = copied
    for step, following in pairwise(steps):
        holder[step] = list(holder[step]) if isinstance(following, int) else {**holder[step]}
        holder = holder[step]
    holder[steps[-1]] = good
    return copied


def tolerant_plan(code: str, leave_off: Callable[[Record], Record] | None = None) -> Build:
    """
    Break the plan: a request that owes *code* is run all the same.

    Args:
        code: the refusal that is not made.
        leave_off: gives the request without what would be refused.
    """

    def build(parts: HostParts) -> HostParts:
        right = parts.plan

        def plan(
            request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]
        ) -> Plan[PageTool]:
            try:
                return right(request, held, facts, rules)
            except Refusal as refusal:
                if refusal.code != code:
                    raise
                mended: Json = (leave_off or _as_a_message)(dict(request))
                return right(mended, type(held)(), facts, rules)

        return replace(parts, plan=plan)

    return build


def without_member(member: str) -> Callable[[Record], Record]:
    """Leave a list or value of the request off."""
    return lambda request: {**request, member: None}


def without_instructions(request: Record) -> Record:
    """Leave off system and developer messages."""
    kept = [one for one in request["messages"] if one["role"] not in ("system", "developer")]
    return {**request, "messages": kept} if kept else _as_a_message(request)


def _as_a_message(request: Record) -> Record:
    message = {"id": "mended", "role": "user", "content": "mended"}
    return {**request, "messages": [message], "resume": None}
