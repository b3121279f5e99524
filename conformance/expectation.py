"""
What the contract owes a body, as the reference's own functions say.

It decides where several faults meet, or bytes were damaged at random. Where it
hangs on what a host's own validator would say of a value nobody has declared,
nothing is owed.

Pure: bytes in, what is owed out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hostproof.conformance.recording import Owed
from hostproof.reference_impl.http_request import DEFAULT_MAX_BYTES
from hostproof.reference_impl.ijson import read_ijson
from hostproof.reference_impl.reader import read_run_input
from hostproof.reference_impl.refusals import Refusal, refuse
from hostproof.reference_impl.resume import DoorFacts, admit
from hostproof.reference_impl.suspension import VERSION
from hostproof.reference_impl.turn import AnswerTurn, Awaiting, Facts, Held, Rules, plan_turn
from hostproof.reference_impl.values import MISSING, Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.conformance.profile_parts import Endpoint
    from hostproof.reference_impl.reader import RunInput
    from hostproof.reference_impl.turn import Carried, Validator, ValidatorContext
    from hostproof.strategies.changes import Situation

_DOOR: Final = DoorFacts(caller="", chain=None, ledger=None, closed=False)
"""What the door knows: nothing, and a plain question asks nothing of it."""

_KINDS: Final[dict[str, str]] = {"question": "question", "client-call": "client"}
"""What the host calls the pause of a situation."""

_CARRIED: Final[tuple[Carried, ...]] = ("state", "context")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """
    Where a thread stands before a request.

    Attributes:
        situation: what is pending on it.
        thread: its id.
        slots: what its pause handed out: ``interrupt`` or ``call``.
    """

    situation: Situation = "fresh"
    thread: str = ""
    slots: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def expected_by_reference(data: bytes, endpoint: Endpoint, standing: Standing) -> Owed | None:
    """
    Say what a request's bytes owe, or ``None`` where what is declared does not decide it.

    Args:
        data: the request's body; method, identity and media type are right.
        endpoint: what the host declares of the agent that is asked.
        standing: where the thread stands that the body was written for.
    """
    try:
        if len(data) > DEFAULT_MAX_BYTES:
            raise refuse("ERR_REQUEST_TOO_LARGE", "The body is too long.")
        request = read_run_input(read_ijson(data))
    except Refusal as refusal:
        return _owed(refusal)
    lenient = _planned(request, endpoint, standing, unknown_is_taken=True)
    strict = _planned(request, endpoint, standing, unknown_is_taken=False)
    return lenient if lenient == strict else None


def _planned(
    request: RunInput, endpoint: Endpoint, standing: Standing, *, unknown_is_taken: bool
) -> Owed:
    accept = {
        name: _validator(endpoint, name, unknown_is_taken=unknown_is_taken)
        for name in _CARRIED
        if getattr(endpoint, name) != "not-carried"
    }
    tools = dict.fromkeys(endpoint.client_tools, _no_tool)
    facts = Facts(
        keeps_pauses=endpoint.keeps_pauses,
        keeps_conversation=endpoint.keeps_conversation,
        thread=request["threadId"],
    )
    held = _held(standing) if request["threadId"] == standing.thread else Held()
    try:
        turn = plan_turn(request, held, facts, Rules(frontend_tools=tools, accept=accept)).turn
        if isinstance(turn, AnswerTurn):
            admit({"kind": _KINDS.get(standing.situation)}, turn.answer, _DOOR)
    except Refusal as refusal:
        return _owed(refusal)
    return Owed(code=None, status=200)


def _owed(refusal: Refusal) -> Owed:
    return Owed(code=refusal.code, status=refusal.status or 400, field=refusal.field)


def _no_tool() -> None:
    """Build no tool: only its name counts here."""


def _validator(endpoint: Endpoint, name: Carried, *, unknown_is_taken: bool) -> Validator:
    """Take what the endpoint declares as good, refuse what it declares as bad."""
    if getattr(endpoint, name) == "free":
        return _take_any
    good, bad = getattr(endpoint, f"good_{name}"), getattr(endpoint, f"bad_{name}")

    def validate(value: Json, _context: ValidatorContext) -> Json:
        if value != good and (value == bad or not unknown_is_taken):
            raise ValueError("not declared as good")
        return value

    return validate


def _take_any(value: Json, _context: ValidatorContext) -> Json:
    return value


def _held(standing: Standing) -> Held:
    if standing.situation == "fresh":
        return Held()
    if standing.situation == "spoiled":
        return Held(awaiting=Awaiting(suspension={"version": 0}))
    client = standing.situation == "client-call"
    call_id = standing.slots.get("call", "call")
    suspension: Json = {
        "version": VERSION,
        "runId": "run",
        "interruptId": standing.slots.get("interrupt", "interrupt"),
        "rootAgent": True,
        "scopes": [
            {"mount": [], "steps": [], "calls": [{"toolCallId": call_id, "client": client}]}
        ],
        "call": {"toolCallId": call_id, "client": client, "mount": []},
    }
    return Held(awaiting=Awaiting(suspension=suspension, pending=MISSING))
