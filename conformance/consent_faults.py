"""
Faults of the resume door and around it: the right host with one check left out, or one thing wrong.

A tolerant door mends what it would refuse and asks the right door again, so
that exactly one refusal is missing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hostproof.conformance.door_faults import runs_a_changed_call, spends_twice
from hostproof.conformance.fault_agents import Disobedient, agent_of
from hostproof.conformance.fault_sessions import (
    Forgetful,
    Remembering,
    SessionsAround,
    Unleased,
)
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.tools import anyone_may
from hostproof.reference_impl.values import MISSING, Json, Record, is_record
from hostproof.strategies.decisions import YES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from hostproof.reference_impl.agent_steps import PageTool, Step, Turn
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import RunInput
    from hostproof.reference_impl.resume import Admitted, DoorFacts
    from hostproof.reference_impl.sessions import StoredPause, StoredThread, ThreadKey
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules


def loses_the_race(parts: HostParts) -> HostParts:
    """Hold no thread and spend nothing: whoever comes while a pause is open answers it."""
    return replace(spends_twice(parts), sessions=Unleased(parts.sessions))


def refuses_falsy(parts: HostParts) -> HostParts:
    """Take no for no answer: false, 0 and empty values are refused."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        return right(pending, answer or None, facts)

    return replace(parts, door=door)


def asks_the_denied(parts: HostParts) -> HostParts:
    """Ask a person about a call that the permission check denies."""
    agent = agent_of(parts)
    tools = dict(agent.own_tools)
    tools["wipe"] = replace(tools["wipe"], allowed=anyone_may)
    return replace(parts, agent=replace(agent, own_tools=tools))


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
    return replace(runs_a_changed_call(parts), sessions=Anyones(parts.sessions))


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


class AnyPause(SessionsAround):
    """Sessions in which an idle thread finds the newest pause of anyone."""

    def load(self, key: ThreadKey) -> StoredThread:
        """Find a pause, whoever's and wherever it is."""
        stored = self.inner.load(key)
        others = [pause for where, pause in self.inner.pauses() if where != key]
        return stored if stored.pause or not others else replace(stored, pause=others[-1])


def anyones_pause_anywhere(parts: HostParts) -> HostParts:
    """Let any caller answer any pause from any thread."""
    return replace(runs_a_changed_call(parts), sessions=AnyPause(parts.sessions))


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
    return replace(spends_twice(parts), sessions=Replaying(parts.sessions))


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


def knows_only_its_own(parts: HostParts) -> HostParts:
    """Obey the answer to a pause of this process only: any answer to another is a yes."""
    sessions = Remembering(parts.sessions)
    right, wrong = agent_of(parts), Disobedient.of(parts).agent

    def agent(turn: Turn) -> AsyncIterator[Step]:
        resumed = turn.resumed
        own = resumed is None or resumed.pending["call"].get("callId") in sessions.calls
        return (right if own else wrong)(turn)

    return replace(parts, sessions=sessions, agent=agent)


def pauses_in_memory(parts: HostParts) -> HostParts:
    """Keep pauses in memory, and only messages in the store."""
    return replace(parts, sessions=Forgetful(parts.sessions))
