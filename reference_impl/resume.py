"""
The resume door: which answer a pause takes, and the refusal of every other.

Two kinds of pause are consent gates, and take a decision that names their
request. A plain question takes any value but none. A pause that waits for a
credential ignores what arrives and asks its provider again.

No refusal names a request id: it would hand out what it exists to require.
Whether a request was spent before is the ledger's to say, after the door.

Source: contract, "Door" (docs/contract.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hostproof.reference_impl.checkin import is_decision, looks_like_decision
from hostproof.reference_impl.consent import (
    ConsentRequest,
    Gate,
    GatedCall,
    UnbindableError,
    read_consent_request,
)
from hostproof.reference_impl.refusals import Refusal, refuse
from hostproof.reference_impl.values import MISSING, Json, Record, is_number, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Mapping

PauseKind = Literal["client", "question", "credential", "checkIn", "ask"]
GATES = ("checkIn", "ask")
OPEN_KINDS = ("client", "question", "credential")
"""Pauses that demand no decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorFacts:
    """
    What the host knows when an answer arrives.

    Attributes:
        caller: who is served.
        chain: the names of the rules that would still be asked, from the one
            that asked on; ``None`` where it is not in the chain any more.
        ledger: the store id of the ledger in use.
        closed: whether the pause was closed from the host's side.
    """

    caller: str
    chain: tuple[str, ...] | None
    ledger: str | None
    closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """
    An answer the door took.

    Attributes:
        answer: the value, or the decision.
        request: the consent request it answers, or ``None`` for other pauses.
    """

    answer: Json
    request: ConsentRequest | None = None

    @property
    def approved(self) -> bool:
        """Whether it is a yes to a consent request."""
        return self.request is not None and self.answer["approved"] is True


def demands_decision(pending: Json) -> Gate | None:
    """Say which consent gate a pause is, or ``None`` where it is none."""
    kind = pending.get("kind") if is_record(pending) else None
    if kind == "checkIn":
        return "checkIn"
    return "ask" if kind == "ask" else None


def admit(pending: Json, answer: Json, facts: DoorFacts) -> Admitted:
    """
    Take or refuse an answer to a pause.

    Args:
        pending: the pause as it is kept: its ``kind``, ``call`` and, for a
            consent gate, ``request``.
        answer: what arrived; ``MISSING`` when nothing did.
        facts: what the host knows now.

    Raises:
        Refusal: the first of the door's refusals that applies; the pause stays.
    """
    gate = demands_decision(pending)
    if gate is not None:
        return Admitted(answer=answer, request=_admit_decision(gate, pending, answer, facts))
    kind = _member(pending, "kind")
    if kind not in OPEN_KINDS:
        raise refuse(
            "ERR_AWAITING_DECISION", "This thread waits on an answer that another door asked for."
        )
    if kind == "question" and (answer is MISSING or answer is None):
        call = pending.get("call")
        members = _texts({"tool": _member(call, "tool"), "toolCallId": _member(call, "callId")})
        raise refuse(
            "ERR_PAUSE_ANSWER_REQUIRED",
            "The question asks for a value: send one as the payload. false and 0 are values.",
            field="resume[0].payload",
            members=members,
        )
    return Admitted(answer=answer)


def _admit_decision(gate: Gate, pending: Record, answer: Json, facts: DoorFacts) -> ConsentRequest:
    members = _gate_members(pending)
    if not looks_like_decision(answer):
        raise refuse(
            "ERR_DECISION_REQUIRED",
            "The pause asks for consent: send `approved` (true or false) and `by` (who decides).",
            field="resume[0].payload",
            members={**members, "received": type_name(answer)},
        )
    if not is_decision(answer):
        raise _refused("no-request", members)
    request = read_consent_request(pending.get("request"))
    if request is None or request.gate != gate:
        raise _refused("request-not-recorded", members)
    if answer["requestId"] != request.id:
        raise _refused("other-request", members)
    _check_artifact(pending, answer, members)
    if _call_digest(pending, facts.caller) != request.call:
        raise _refused("call-changed", members)
    if gate == "ask" and facts.chain != request.chain:
        raise _refused("chain-changed", members)
    if request.ledger is not None and facts.ledger != request.ledger:
        raise _refused("ledger-changed", members)
    if facts.closed:
        raise _refused("closed-by-host", members)
    return request


def already_answered(pending: Record) -> Refusal:
    """Refuse a decision whose request was spent before."""
    return _refused("already-answered", _gate_members(pending))


def closed_by_host(pending: Record) -> Refusal:
    """Refuse a decision whose pause the host closed while it was on its way."""
    return _refused("closed-by-host", _gate_members(pending))


def _gate_members(pending: Record) -> dict[str, str]:
    return _texts(
        {
            "gate": demands_decision(pending),
            "tool": _member(pending.get("call"), "tool"),
            "middleware": pending.get("middleware"),
        }
    )


_SENTENCES = {
    "no-request": "The decision names no request. Nothing was run.",
    "request-not-recorded": "The pause recorded no request that can be answered. Nothing was run.",
    "other-request": "The decision names another request. Nothing was run.",
    "call-changed": "The paused call is not the one that was asked about. Nothing was run.",
    "chain-changed": "The rules after the ask are not those it was asked under. Nothing was run.",
    "ledger-changed": "Decisions are spent in another ledger than the request's. Nothing was run.",
    "closed-by-host": "The host closed this pause; its call was not run and never will be.",
    "already-answered": "This request was answered before. Nothing was run now.",
}


def _refused(reason: str, members: Mapping[str, str]) -> Refusal:
    return refuse("ERR_RESUME_DECISION", _SENTENCES[reason], reason=reason, members=members)


def _check_artifact(pending: Record, answer: Json, members: Mapping[str, str]) -> None:
    """Refuse an answer that was chosen from another artifact than the ask pinned."""
    pinned = _member(pending.get("component"), "propsRef")
    chosen = _member(answer.get("value"), "ref")
    if is_text(pinned) and is_text(chosen) and pinned != chosen:
        raise StaleDecisionRefusal(pinned, chosen, members)


class StaleDecisionRefusal(Refusal):
    """
    The answer is about another artifact than the question.

    Attributes:
        asked: the artifact the question was asked against.
        answered: the one the answer was chosen from. Neither is ever shown.
    """

    def __init__(self, asked: str, answered: str, members: Mapping[str, str]) -> None:
        made = refuse("ERR_STALE_DECISION", "")
        super().__init__(
            made.code,
            made.status,
            "The answer was chosen from other data than the question was asked about. Ask again.",
            field="resume[0].payload",
            members=members,
        )
        self.asked = asked
        self.answered = answered


def _call_digest(pending: Record, caller: str) -> str | None:
    call = gated_call(pending.get("call"), caller)
    try:
        return None if call is None else call.digest()
    except UnbindableError:
        return None


def gated_call(value: Json, caller: str) -> GatedCall | None:
    """Read the kept call of a pause; ``None`` where it is not one we wrote."""
    if not is_record(value) or not is_record(value.get("arguments")):
        return None
    tool, call_id = value.get("tool"), value.get("callId")
    if not is_text(tool) or not is_text(call_id):
        return None
    return GatedCall(tool=tool, arguments=value["arguments"], call_id=call_id, caller=caller)


def type_name(value: Json) -> str:
    """Name the JSON type of what arrived; never the value."""
    if value is MISSING:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if is_text(value):
        return "a string"
    if is_number(value):
        return "a number"
    return "an array" if isinstance(value, list) else "an object"


def _member(value: Json, name: str) -> Json:
    return value.get(name) if is_record(value) else None


def _texts(members: Mapping[str, Json]) -> dict[str, str]:
    return {name: value for name, value in members.items() if is_text(value)}
