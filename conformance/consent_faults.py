"""
Faults of the resume door and around it: the right host with one check left out, or one thing wrong.

A tolerant door mends what it would refuse and asks the right door again, so
that exactly one refusal is missing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from hostproof.conformance.fault_sessions import SessionsAround, Unleased
from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.tools import anyone_may
from hostproof.reference_impl.values import MISSING, Json, Record, is_record
from hostproof.strategies.decisions import YES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from hostproof.conformance.rule import Build
    from hostproof.reference_impl.agent_steps import Call, PageTool, Step, Turn
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.ledger import DecisionRecord, Ledger, Spent
    from hostproof.reference_impl.reader import RunInput
    from hostproof.reference_impl.resume import Admitted, DoorFacts
    from hostproof.reference_impl.sessions import StoredPause, StoredThread, ThreadKey
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules

MOST_MENDS: Final = 8


def tolerant_door(code: str, reason: str | None = None) -> Build:
    """Break the door: an answer that owes this refusal is taken as if it were right."""

    def build(parts: HostParts) -> HostParts:
        right = parts.door

        def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
            for _ in range(MOST_MENDS):
                try:
                    return right(pending, answer, facts)
                except Refusal as refusal:
                    if (refusal.code, refusal.reason) != (code, reason):
                        raise
                    pending, answer, facts = _mended(pending, answer, facts, reason or code)
            raise ValueError("the answer could not be mended")

        return replace(parts, door=door)

    return build


def _mended(
    pending: Record, answer: Json, facts: DoorFacts, what: str
) -> tuple[Record, Json, DoorFacts]:
    request = pending.get("request")
    if what == "ERR_DECISION_REQUIRED":
        asked = pending.get("checkIn") or pending.get("ask") or {}
        return pending, {**YES, "requestId": asked.get("id", "x")}, facts
    if what == "ERR_PAUSE_ANSWER_REQUIRED":
        return pending, "", facts
    if what == "ERR_STALE_DECISION":
        return pending, {**answer, "value": {}}, facts
    if what in ("no-request", "other-request"):
        named = request["id"] if is_record(request) else "x"
        return pending, {**answer, "requestId": named}, facts
    if what == "request-not-recorded":
        made = {"id": answer["requestId"], "gate": pending["kind"], "call": "", "ledger": None}
        chain = list(facts.chain or ()) if pending["kind"] == "ask" else None
        return {**pending, "request": {**made, "chain": chain}}, answer, facts
    return _mended_binding(pending, answer, facts, what)


def _mended_binding(
    pending: Record, answer: Json, facts: DoorFacts, what: str
) -> tuple[Record, Json, DoorFacts]:
    from hostproof.reference_impl.resume import gated_call  # noqa: PLC0415

    request = pending["request"]
    if what == "call-changed":
        call = gated_call(pending["call"], facts.caller)
        digest = "" if call is None else call.digest()
        return {**pending, "request": {**request, "call": digest}}, answer, facts
    if what == "chain-changed":
        return pending, answer, replace(facts, chain=tuple(request["chain"]))
    if what == "ledger-changed":
        return pending, answer, replace(facts, ledger=request["ledger"])
    return pending, answer, replace(facts, closed=False)


class Generous:
    """A ledger around another: every spend is the first."""

    def __init__(self, inner: Ledger) -> None:
        self.inner = inner

    @property
    def store_id(self) -> str | None:
        """Names the store."""
        return self.inner.store_id

    def spend(self, record: DecisionRecord) -> bool:
        """Spend, and say that it was the first time."""
        self.inner.spend(record)
        return True

    def close_request(self, request: str) -> bool:
        """Spend a request from the host's side."""
        return self.inner.close_request(request)

    def how_spent(self, request: str) -> Spent | None:
        """Know of nothing but what the host closed."""
        how = self.inner.how_spent(request)
        return how if how == "closed" else None

    def records(self) -> list[Record]:
        """List every decision record."""
        return self.inner.records()

    def close(self) -> None:
        """Let go of the store."""
        self.inner.close()


def spends_again(parts: HostParts) -> HostParts:
    """Take a decision whose request was spent before."""
    return replace(parts, ledger=Generous(parts.ledger))


def loses_the_race(parts: HostParts) -> HostParts:
    """Hold no thread and spend nothing: whoever comes while a pause is open answers it."""
    return replace(spends_again(parts), sessions=Unleased(parts.sessions))


def refuses_falsy(parts: HostParts) -> HostParts:
    """Take no for no answer: false, 0 and empty values are refused."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        return right(pending, answer or None, facts)

    return replace(parts, door=door)


def asks_the_denied(parts: HostParts) -> HostParts:
    """Ask a person about a call that the permission check denies."""
    if not isinstance(parts.agent, ReferenceAgent):
        return parts
    tools = dict(parts.agent.own_tools)
    tools["wipe"] = replace(tools["wipe"], allowed=anyone_may)
    return replace(parts, agent=replace(parts.agent, own_tools=tools))


def no_is_yes(parts: HostParts) -> HostParts:
    """Run the call on a no, too."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        admitted = right(pending, answer, facts)
        if admitted.request is None:
            return admitted
        return replace(admitted, answer={**admitted.answer, "approved": True})

    return replace(parts, door=door)


def _agent_that(change: Callable[[Turn], Turn]) -> Build:
    def build(parts: HostParts) -> HostParts:
        right = parts.agent

        async def agent(turn: Turn) -> AsyncIterator[Step]:
            async for step in right(change(turn)):
                yield step

        return replace(parts, agent=agent)

    return build


def _acts_twice(turn: Turn) -> Turn:
    def act(call: Call) -> None:
        turn.act(call)
        turn.act(call)

    return replace(turn, act=act)


acts_twice = _agent_that(_acts_twice)
"""Run a guarded action twice for one yes."""


def _takes_edits(turn: Turn) -> Turn:
    """Let an answer say what is called."""
    resumed = turn.resumed
    if resumed is None or not is_record(resumed.answer):
        return turn
    edits = resumed.answer.get("editedArgs")
    if not is_record(edits):
        return turn
    call = {**resumed.pending["call"], "arguments": edits}
    return replace(turn, resumed=replace(resumed, pending={**resumed.pending, "call": call}))


takes_edits = _agent_that(_takes_edits)


def acts_before_asking(parts: HostParts) -> HostParts:
    """Run the action as soon as it is asked about."""
    right = parts.agent

    async def agent(turn: Turn) -> AsyncIterator[Step]:
        from hostproof.reference_impl.agent_steps import Paused  # noqa: PLC0415

        async for step in right(turn):
            if isinstance(step, Paused) and step.kind in ("checkIn", "ask"):
                turn.act(step.call)
            yield step

    return replace(parts, agent=agent)


def _without_rest(turn: Turn) -> Turn:
    resumed = turn.resumed
    if resumed is None:
        return turn
    return replace(turn, resumed=replace(resumed, pending={**resumed.pending, "rest": []}))


forgets_the_rest = _agent_that(_without_rest)
"""Forget the calls behind the one that was asked about."""


def asks_without_end(parts: HostParts) -> HostParts:
    """Never take yes for an answer: the yes is treated as a no."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        admitted = right(pending, answer, facts)
        if admitted.request is None:
            return admitted
        return replace(admitted, answer={**admitted.answer, "approved": False})

    return replace(parts, door=door)


class Anyones(SessionsAround):
    """Sessions in which a pause is everyone's who knows its thread id."""

    def load(self, key: ThreadKey) -> StoredThread:
        """Find the pause of that thread id, whoever's it is."""
        stored = self.inner.load(key)
        if stored.pause is not None:
            return stored
        for where, pause in self.inner.pauses():
            if where.thread == key.thread:
                return replace(stored, pause=pause)
        return stored


def anyones_pause(parts: HostParts) -> HostParts:
    """Let any caller answer any pause: the binding to the caller is dropped as well."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        return right(*_rebound(pending, answer, facts))

    return replace(parts, sessions=Anyones(parts.sessions), door=door)


def _rebound(pending: Record, answer: Json, facts: DoorFacts) -> tuple[Record, Json, DoorFacts]:
    if not is_record(pending.get("request")):
        return pending, answer, facts
    return _mended_binding(pending, answer, facts, "call-changed")


class AnyThreads(SessionsAround):
    """Sessions in which an idle thread finds the newest pause of its caller."""

    def load(self, key: ThreadKey) -> StoredThread:
        """Find a pause of that caller's."""
        stored = self.inner.load(key)
        if stored.pause is not None or stored.messages:
            return stored
        for where, pause in self.inner.pauses():
            if where.caller == key.caller:
                return replace(stored, pause=pause)
        return stored


def any_threads_pause(parts: HostParts) -> HostParts:
    """Let an answer on one thread reach the pause of another."""
    return replace(parts, sessions=AnyThreads(parts.sessions))


def takes_page_results(parts: HostParts) -> HostParts:
    """Take a page's tool message as approval of the pause it names."""
    from hostproof.reference_impl.turn import AnswerTurn, Plan  # noqa: PLC0415

    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        messages = request["messages"]
        newest = messages[-1] if messages else {}
        if held.awaiting is not None and newest.get("role") == "tool":
            asked = held.awaiting.pending.get("checkIn", {})
            return Plan(turn=AnswerTurn({**YES, "requestId": asked.get("id", "")}))
        return right(request, held, facts, rules)

    return replace(parts, plan=plan)


def takes_any_entry(parts: HostParts) -> HostParts:
    """Take the last yes in a resume, whatever stands beside it and whatever its status."""
    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        entries = request.get("resume") or []
        yes = [one for one in entries if is_record(one.get("payload"))]
        if held.awaiting is not None and yes and is_record(held.awaiting.suspension):
            own = held.awaiting.suspension.get("interruptId", "")
            chosen = {**yes[-1], "interruptId": own, "status": "resolved"}
            request = cast("RunInput", {**request, "resume": [chosen]})
        return right(request, held, facts, rules)

    return replace(parts, plan=plan)


class Replaying(SessionsAround):
    """Sessions that keep a pause after its answer."""

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages, and keep the pause that was there."""
        before = self.inner.load(key).pause
        self.inner.save(key, said, pause if pause is not None else before)


def answers_again(parts: HostParts) -> HostParts:
    """Keep an answered pause open, and spend its request again."""
    return replace(spends_again(parts), sessions=Replaying(parts.sessions))


def shows_the_request(parts: HostParts) -> HostParts:
    """Use the request's id as the interrupt's, which every page sees."""
    newest: list[str] = []

    def mint(prefix: str) -> str:
        if prefix == "interrupt" and newest:
            return newest.pop()
        made = parts.mint(prefix)
        if prefix == "request":
            newest[:] = [made]
        return made

    return replace(parts, mint=mint)


def decides_for_nobody(parts: HostParts) -> HostParts:
    """Keep a decision record for an answer that the door refused."""
    from hostproof.reference_impl.ledger import DecisionRecord  # noqa: PLC0415

    right, ledger = parts.door, parts.ledger

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        try:
            return right(pending, answer, facts)
        except Refusal:
            asked = pending.get("request") or {}
            ledger.spend(
                DecisionRecord(
                    request=asked.get("id", "unknown"),
                    approved=False,
                    by="unknown",
                    caller=facts.caller,
                    at=0,
                    note=MISSING,
                )
            )
            raise

    return replace(parts, door=door)


def never_settles(parts: HostParts) -> HostParts:
    """Leave a spent pause as it is, so that its thread takes nothing any more."""

    class Stuck(SessionsAround):
        """A pause is only ever replaced, never taken away, where nothing was said with it."""

        def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
            roles = {message["role"] for message in said}
            if pause is None and roles <= {"tool"}:
                return
            self.inner.save(key, said, pause)

    return replace(parts, sessions=Stuck(parts.sessions))
