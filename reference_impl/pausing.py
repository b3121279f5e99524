"""
Pauses over their life: made and bound, answered through the door and the ledger, settled.

A decision is spent before the call runs. What a process left behind that ended
after the spend is settled by the next request: the call is closed with what is
known of it, and never run.

Source: contract, "Consent", "Door", "Ledger" and "Settling" (docs/contract.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.checkin import declined_result
from hostproof.reference_impl.consent import (
    ConsentRequest,
    GatedCall,
    mint_request,
    read_consent_request,
)
from hostproof.reference_impl.host_errors import StoreError
from hostproof.reference_impl.ledger import DecisionRecord
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.result_texts import CLOSED, NOT_REACHED, OUTCOME_UNKNOWN
from hostproof.reference_impl.resume import (
    Admitted,
    DoorFacts,
    already_answered,
    closed_by_host,
)
from hostproof.reference_impl.sessions import StoredPause, ThreadKey
from hostproof.reference_impl.suspension import VERSION
from hostproof.reference_impl.values import MISSING, Json, Record, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.reference_impl.agent_steps import Paused
    from hostproof.reference_impl.deployment import Deployed, Deployment
    from hostproof.reference_impl.ledger import Spent
    from hostproof.reference_impl.sessions import Sessions

SETTLING_REASONS: Final = frozenset({"already-answered", "closed-by-host"})
"""After these reasons the pause is settled; after every other it stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pausing:
    """
    Makes, admits and settles the pauses of a host.

    Attributes:
        sessions: where pauses are kept.
        deployment: the chain and the ledger that serve a thread.
        door: takes or refuses an answer.
        mint: makes a fresh id from a prefix.
        now: the time, in milliseconds since the epoch.
        after_spend: is called between the spend and the call; it may stop the run there.
    """

    sessions: Sessions
    deployment: Deployment
    door: Callable[[Record, Json, DoorFacts], Admitted]
    mint: Callable[[str], str]
    now: Callable[[], int]
    after_spend: Callable[[ThreadKey], None]

    def make(self, key: ThreadKey, run_id: str, step: Paused) -> StoredPause:
        """
        Make the pause of a step, with a request bound to its call where consent is asked.

        Raises:
            UnbindableError: the call's arguments have no canonical form.
        """
        pending = dict(step.pending)
        if step.kind in ("checkIn", "ask"):
            request = self._request(key, step)
            pending["request"] = request.to_json()
            pending[step.kind] = {"id": request.id, **pending[step.kind]}
        return StoredPause(
            suspension=_suspension(run_id, self.mint("interrupt"), step), pending=pending
        )

    def _request(self, key: ThreadKey, step: Paused) -> ConsentRequest:
        deployed = self.deployment.of(key)
        call = GatedCall(
            tool=step.call.tool,
            arguments=step.call.arguments,
            call_id=step.call.id,
            caller=key.caller,
        )
        position = step.pending["progress"]["position"]
        return mint_request(
            self.mint("request"),
            "ask" if step.kind == "ask" else "checkIn",
            call,
            chain=deployed.chain[position:] if step.kind == "ask" else None,
            ledger=deployed.ledger.store_id,
        )

    def admit(self, key: ThreadKey, pending: Record, answer: Json) -> Admitted:
        """
        Take an answer: through the door, and where it is a decision through the spend.

        Raises:
            Refusal: the door's, or ``ERR_RESUME_DECISION`` (already-answered).
        """
        deployed = self.deployment.of(key)
        facts = DoorFacts(
            caller=key.caller,
            chain=_chain_from(pending, deployed),
            ledger=deployed.ledger.store_id,
            closed=self.how_spent(key, pending) == "closed",
        )
        try:
            admitted = self.door(pending, answer, facts)
            if admitted.request is not None:
                self._spend(key, pending, admitted, deployed)
        except Refusal as refusal:
            if refusal.reason in SETTLING_REASONS:
                self.settle(key)
            raise
        return admitted

    def _spend(
        self, key: ThreadKey, pending: Record, admitted: Admitted, deployed: Deployed
    ) -> None:
        decision = admitted.answer
        assert admitted.request is not None  # noqa: S101 - the caller has looked
        record = DecisionRecord(
            request=admitted.request.id,
            approved=decision["approved"],
            by=decision["by"],
            caller=key.caller,
            at=self.now(),
            note=decision.get("note", MISSING),
            value=decision.get("value", MISSING),
        )
        if not deployed.ledger.spend(record):
            closed = self.how_spent(key, pending) == "closed"
            raise closed_by_host(pending) if closed else already_answered(pending)
        self.after_spend(key)

    def how_spent(self, key: ThreadKey, pending: Json) -> Spent | None:
        """
        Say how the request of a pause was spent, or ``None``.

        Raises:
            StoreError: by a row that is not one we wrote; nothing can be told from it.
        """
        how = self._row_of(key, pending)
        if how == "unknown":
            raise StoreError("the ledger has a row that is not one we wrote: an operator must look")
        return how

    def _row_of(self, key: ThreadKey, pending: Json) -> Spent | None:
        request = _request(pending)
        return None if request is None else self.deployment.of(key).ledger.how_spent(request.id)

    def close(self, key: ThreadKey) -> bool:
        """
        Close a thread's pause from the host's side; false where there is none.

        Its request is spent, so its call can never run. Where the request was
        spent before, or belongs to a ledger that is not at hand, the pause is
        settled as it is; false while a run that goes on still has it.
        """
        pause = self.sessions.load(key).pause
        if pause is None:
            return False
        request = _request(pause.pending)
        ledger = self.deployment.of(key).ledger
        elsewhere = request is not None and request.ledger not in (None, ledger.store_id)
        if request is not None and not elsewhere and ledger.close_request(request.id):
            return True
        run = self.mint("run")
        if not self.sessions.hold(key, run):
            return False
        try:
            if self.sessions.load(key).pause != pause:
                return False
            self.settle(key)
        finally:
            self.sessions.release(key, run)
        return True

    def settle(self, key: ThreadKey) -> None:
        """Close a thread's pause with what is known of its call; nothing is run."""
        pause = self.sessions.load(key).pause
        if pause is None:
            return
        pending = pause.pending if is_record(pause.pending) else {}
        text = self._known_of(key, pending)
        nested = pending.get("nested")
        at = nested if is_record(nested) else pending
        rest = at.get("rest")
        said = [self._result(call, text) for call in [_call_id(at.get("call"))] if call]
        behind = map(_call_id, rest if isinstance(rest, list) else [])
        said.extend(self._result(call, NOT_REACHED) for call in behind if call is not None)
        self.sessions.save(key, said, None)

    def _known_of(self, key: ThreadKey, pending: Record) -> str:
        how, request = self._row_of(key, pending), _request(pending)
        ledger = self.deployment.of(key).ledger.store_id
        elsewhere = request is not None and request.ledger not in (None, ledger)
        if elsewhere or how in ("approved", "unknown"):
            return OUTCOME_UNKNOWN
        return declined_result() if how == "declined" else CLOSED

    def _result(self, call_id: str, text: str) -> Record:
        return {
            "id": self.mint("msg"),
            "role": "tool",
            "toolCallId": call_id,
            "content": text,
        }


def _request(pending: Json) -> ConsentRequest | None:
    return read_consent_request(pending.get("request")) if is_record(pending) else None


def _call_id(call: Json) -> str | None:
    call_id = call.get("callId") if is_record(call) else None
    return call_id if is_text(call_id) else None


def _chain_from(pending: Record, deployed: Deployed) -> tuple[str, ...] | None:
    """Give the names of the rules from the one that asked on, as they are now."""
    middleware = pending.get("middleware")
    if not is_text(middleware) or middleware not in deployed.chain:
        return None
    return deployed.chain[deployed.chain.index(middleware) :]


def _suspension(run_id: str, interrupt_id: str, step: Paused) -> Record:
    client = step.kind == "client"
    nested = step.pending["nested"]
    open_call = {"toolCallId": step.call.id, "client": client}
    scopes: list[Record] = [{"mount": [], "steps": [], "calls": [open_call]}]
    mount: list[str] = []
    if nested is not None:
        mount = ["helper"]
        outer = {"toolCallId": nested["call"]["callId"], "client": False}
        scopes = [
            {"mount": [], "steps": [], "calls": [outer]},
            {"mount": mount, "steps": [], "calls": [open_call]},
        ]
    return {
        "version": VERSION,
        "runId": run_id,
        "interruptId": interrupt_id,
        "rootAgent": nested is None,
        "scopes": scopes,
        "call": {**open_call, "mount": mount},
    }
