"""
Faults of consent: the right host, but one check of the door is not made, and the answer is taken.

Each takes the parts of a right host and gives those of a broken one. What the
door would refuse is mended before it looks, so a fault is one check missing
and everything else stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from hostproof.conformance.fault_agents import Disobedient, Hasty, Short
from hostproof.conformance.fault_ledgers import SpendsAlways, SpendsWhatWasClosed
from hostproof.reference_impl.checkin import looks_like_decision
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.values import MISSING, Json, Record, is_record, is_text, is_truthy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostproof.conformance.rule import Build
    from hostproof.reference_impl.agent_steps import PageTool
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import RunInput
    from hostproof.reference_impl.resume import Admitted, DoorFacts
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules

GATES: Final = ("checkIn", "ask")
SOMEONE: Final = "someone"
"""Who decides, where the answer does not say."""

Looked: TypeAlias = "tuple[Record, Json, DoorFacts]"
"""What a door looks at: the pause, the answer, and what the host knows."""


def _mended_door(parts: HostParts, mend: Callable[[Record, Json, DoorFacts], Looked]) -> HostParts:
    """Put a door in front that mends the answer to a consent gate."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        if pending.get("kind") not in GATES:
            return right(pending, answer, facts)
        return right(*mend(pending, answer, facts))

    return replace(parts, door=door)


def _request_id(pending: Record) -> str:
    request = pending.get("request")
    return request["id"] if is_record(request) else ""


def _digest(pending: Record, facts: DoorFacts) -> str | None:
    """Give the digest of the call as it stands now."""
    from hostproof.reference_impl.resume import gated_call  # noqa: PLC0415 - it needs the host

    call = gated_call(pending.get("call"), facts.caller)
    return None if call is None else call.digest()


def takes_no_decision(parts: HostParts) -> HostParts:
    """Take whatever is no decision for a yes (``ERR_DECISION_REQUIRED`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        if not looks_like_decision(answer):
            answer = {"requestId": _request_id(pending), "approved": True, "by": SOMEONE}
        return pending, answer, facts

    return _mended_door(parts, mend)


def takes_truthy(parts: HostParts) -> HostParts:
    """Take an ``approved`` that JavaScript would call true for a yes."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        if is_record(answer) and is_truthy(answer.get("approved", MISSING)):
            named = {"requestId": _request_id(pending), "by": SOMEONE}
            answer = {**named, **answer, "approved": True}
        return pending, answer, facts

    return _mended_door(parts, mend)


def takes_no_request(parts: HostParts) -> HostParts:
    """Take a decision that names no request (``no-request`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        if looks_like_decision(answer):
            named = answer.get("requestId")
            if not isinstance(named, str) or not named:
                answer = {**answer, "requestId": _request_id(pending)}
        return pending, answer, facts

    return _mended_door(parts, mend)


def takes_unrecorded(parts: HostParts) -> HostParts:
    """Make up the request that a pause has lost (``request-not-recorded`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        if is_record(pending.get("request")):
            return pending, answer, facts
        gate = pending["kind"]
        request: Record = {
            "id": parts.mint("request"),
            "gate": gate,
            "call": _digest(pending, facts),
            "chain": list(facts.chain or ()) if gate == "ask" else None,
            "ledger": None,
        }
        if looks_like_decision(answer) and is_text(answer.get("requestId")):
            answer = {**answer, "requestId": answer["requestId"] and request["id"]}
        return {**pending, "request": request}, answer, facts

    return _mended_door(parts, mend)


def takes_other_request(parts: HostParts) -> HostParts:
    """Take a decision that names another request (``other-request`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        if looks_like_decision(answer) and isinstance(answer.get("requestId"), str):
            answer = {**answer, "requestId": answer["requestId"] and _request_id(pending)}
        return pending, answer, facts

    return _mended_door(parts, mend)


def takes_stale(parts: HostParts) -> HostParts:
    """Take an answer that was chosen from other data (``ERR_STALE_DECISION`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        return {**pending, "component": None}, answer, facts

    return _mended_door(parts, mend)


def runs_a_changed_call(parts: HostParts) -> HostParts:
    """Run the call as it stands now (``call-changed`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        request = pending.get("request")
        if is_record(request):
            pending = {**pending, "request": {**request, "call": _digest(pending, facts)}}
        return pending, answer, facts

    return _mended_door(parts, mend)


def runs_under_another_chain(parts: HostParts) -> HostParts:
    """Ignore what became of the rules (``chain-changed`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        request = pending.get("request")
        if is_record(request) and request["chain"] is not None:
            facts = replace(facts, chain=tuple(request["chain"]))
        return pending, answer, facts

    return _mended_door(parts, mend)


def spends_in_another_ledger(parts: HostParts) -> HostParts:
    """Ignore which ledger the request was minted under (``ledger-changed`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        request = pending.get("request")
        if is_record(request):
            facts = replace(facts, ledger=request["ledger"])
        return pending, answer, facts

    return _mended_door(parts, mend)


def runs_what_was_closed(parts: HostParts) -> HostParts:
    """Take an answer to a pause that the host has closed (``closed-by-host`` is not made)."""

    def mend(pending: Record, answer: Json, facts: DoorFacts) -> Looked:
        return pending, answer, replace(facts, closed=False)

    return replace(_mended_door(parts, mend), ledger=SpendsWhatWasClosed(parts.ledger))


def spends_twice(parts: HostParts) -> HostParts:
    """Take an answer to a request that was answered before (``already-answered`` is not made)."""
    return replace(parts, ledger=SpendsAlways(parts.ledger))


def takes_nothing_for_an_answer(parts: HostParts) -> HostParts:
    """Go on with a plain question without a value (``ERR_PAUSE_ANSWER_REQUIRED`` is not made)."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        if pending.get("kind") == "question" and (answer is MISSING or answer is None):
            answer = ""
        return right(pending, answer, facts)

    return replace(parts, door=door)


def _tolerant_resume(
    parts: HostParts, code: str, mend: Callable[[Record, Held], Record]
) -> HostParts:
    """Plan again with the first resume entry mended, where *code* would be refused."""
    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        try:
            return right(request, held, facts, rules)
        except Refusal as refusal:
            if refusal.code != code:
                raise
            given: Json = request
            mended: Json = {**given, "resume": [mend(given["resume"][0], held)]}
            return right(mended, held, facts, rules)

    return replace(parts, plan=plan)


def takes_any_interrupt(parts: HostParts) -> HostParts:
    """Take an entry whichever interrupt it names (``ERR_UNKNOWN_INTERRUPT`` is not made)."""

    def mend(entry: Record, held: Held) -> Record:
        suspension: Json = held.awaiting and held.awaiting.suspension
        return {**entry, "interruptId": suspension["interruptId"]}

    return _tolerant_resume(parts, "ERR_UNKNOWN_INTERRUPT", mend)


def takes_a_cancel(parts: HostParts) -> HostParts:
    """Take a cancelled entry for an answer (``ERR_CANCEL_NOT_CARRIED`` is not made)."""
    return _tolerant_resume(
        parts, "ERR_CANCEL_NOT_CARRIED", lambda entry, _held: {**entry, "status": "resolved"}
    )


def runs_a_declined_call(parts: HostParts) -> HostParts:
    """Spend a no as a no, and run the call all the same."""
    return Disobedient.of(parts)


def runs_twice(parts: HostParts) -> HostParts:
    """Run what may run twice each time."""
    return Hasty.of(parts)


def ends_with_the_first_yes(parts: HostParts) -> HostParts:
    """Run the call once an ask is approved, without the tool's own demand."""
    return Short.of(parts)


DOOR_FAULTS: Final[Mapping[str, Build]] = MappingProxyType(
    {
        "decision-required": takes_no_decision,
        "no-request": takes_no_request,
        "request-not-recorded": takes_unrecorded,
        "other-request": takes_other_request,
        "stale": takes_stale,
        "call-changed": runs_a_changed_call,
        "chain-changed": runs_under_another_chain,
        "ledger-changed": spends_in_another_ledger,
        "closed-by-host": runs_what_was_closed,
        "already-answered": spends_twice,
        "answer-required": takes_nothing_for_an_answer,
        "unknown-interrupt": takes_any_interrupt,
        "cancel-not-carried": takes_a_cancel,
        "any-truthy-yes": takes_truthy,
        "declined-runs": runs_a_declined_call,
        "runs-twice": runs_twice,
        "first-yes-is-the-end": ends_with_the_first_yes,
    }
)
"""Every fault, by the check that it leaves out or the rule that it breaks."""
