"""
Faults of pauses over time: a host that does not wait, loses half of a pause, or asks once for all.

Each host keeps or forgets one thing between a pause and what follows it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.conformance.consent_faults import never_settles
from hostproof.conformance.door_faults import spends_twice
from hostproof.conformance.fault_agents import agent_of
from hostproof.conformance.fault_sessions import SessionsAround
from hostproof.conformance.resume_faults import GATES
from hostproof.reference_impl.values import MISSING, is_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from hostproof.reference_impl.agent_steps import PageTool, Step, Turn
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import RunInput
    from hostproof.reference_impl.sessions import Sessions, StoredPause, StoredThread, ThreadKey
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules
    from hostproof.reference_impl.values import Record


class Impatient(SessionsAround):
    """Goes on with a question at once, as if nothing were its answer."""

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause; then answer it with nothing."""
        self.inner.save(key, said, pause)
        if pause is not None and pause.pending.get("kind") in GATES:
            call = pause.pending["call"]["callId"]
            nothing = {"id": f"m-{call}", "role": "tool", "toolCallId": call, "content": "null"}
            self.inner.save(key, [nothing], None)


def answers_its_own_question(parts: HostParts) -> HostParts:
    """Wait for nobody: a question is answered with nothing as soon as it is asked."""
    return replace(parts, sessions=Impatient(parts.sessions))


class Serialized(SessionsAround):
    """Loses members of a pause that another process has written."""

    def __init__(self, inner: Sessions) -> None:
        super().__init__(inner)
        self._own: set[ThreadKey] = set()

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause, which this process has whole."""
        self._own.add(key)
        self.inner.save(key, said, pause)

    def load(self, key: ThreadKey) -> StoredThread:
        """Read what is held of a thread, without the ids and the component of its pause."""
        stored = self.inner.load(key)
        pause = stored.pause
        if pause is None or key in self._own or not is_record(pause.suspension):
            return stored
        kept = {name: one for name, one in pause.suspension.items() if name != "interruptId"}
        pending = {name: one for name, one in pause.pending.items() if name != "component"}
        return replace(stored, pause=replace(pause, suspension=kept, pending=pending))


def loses_half_of_a_pause(parts: HostParts) -> HostParts:
    """Read a stored pause back without its id and its component."""
    return replace(parts, sessions=Serialized(parts.sessions))


def remembers_a_yes(parts: HostParts) -> HostParts:
    """Take a yes that asks to be remembered for every later call of that tool on the thread."""
    allowed: set[tuple[str, str]] = set()
    right = agent_of(parts)

    def agent(turn: Turn) -> AsyncIterator[Step]:
        thread = str(turn.messages[0]["id"])
        resumed = turn.resumed
        if resumed is not None and is_record(resumed.answer) and resumed.answer.get("remember"):
            allowed.add((thread, resumed.pending["call"]["tool"]))
        tools = {
            name: replace(tool, demand=MISSING) if (thread, name) in allowed else tool
            for name, tool in right.own_tools.items()
        }
        return replace(right, own_tools=tools)(turn)

    return replace(parts, agent=agent)


def runs_again_after_a_failed_run(parts: HostParts) -> HostParts:
    """Know nothing of a call whose run failed behind it: its yes runs it once more."""
    return spends_twice(parts)


def is_stuck_after_a_failed_run(parts: HostParts) -> HostParts:
    """Take neither the answer again nor a message where a run failed behind its call."""
    return never_settles(parts)


def loses_its_place(parts: HostParts) -> HostParts:
    """Break on every later request of a thread whose run did not come to its end."""
    planned: set[str] = set()
    right, inner = parts.plan, parts.sessions

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        made = right(request, held, facts, rules)
        planned.add(str(facts.thread))
        return made

    class Placed(SessionsAround):
        """Knows the threads whose newest run has kept nothing."""

        def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
            """Add messages and set the pause."""
            planned.discard(key.thread)
            self.inner.save(key, said, pause)

        def hold(self, key: ThreadKey, run: str) -> bool:
            """
            Take the thread for a run.

            Raises:
                LookupError: a message of it is not where it was.
            """
            held = self.inner.hold(key, run)
            if held and key.thread in planned:
                self.inner.release(key, run)
                raise LookupError("a message is not in the history")
            return held

    return replace(parts, plan=plan, sessions=Placed(inner))


def lets_a_name_lift_the_gate(parts: HostParts) -> HostParts:
    """Take the word of a page's tool for the host's own of that name: that it asks nobody."""
    right = agent_of(parts)
    named: set[str] = set()
    plan_right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        own = [tool for tool in request.get("tools") or [] if tool["name"] in right.own_tools]
        named.update(str(tool["name"]) for tool in own)
        request["tools"] = [tool for tool in request.get("tools") or [] if tool not in own]
        return plan_right(request, held, facts, rules)

    def agent(turn: Turn) -> AsyncIterator[Step]:
        tools = {
            name: replace(tool, demand=MISSING) if name in named else tool
            for name, tool in right.own_tools.items()
        }
        return replace(right, own_tools=tools)(turn)

    return replace(parts, plan=plan, agent=agent)
