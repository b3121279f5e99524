"""
Faults of a run that goes on after an answer: decisions lost, misread, or moved to another call.

Agents around the right one; the answer has passed the door when they see it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.conformance.fault_agents import Eager, WrappedAgent, agent_of
from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.agent_steps import (
    Paused,
    Resumed,
    Returned,
    Said,
    read_call,
)
from hostproof.reference_impl.tools import anyone_may
from hostproof.reference_impl.values import MISSING, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hostproof.reference_impl.agent_steps import Step, Turn
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.resume import Admitted, DoorFacts
    from hostproof.reference_impl.values import Json, Record

GATES = ("checkIn", "ask")


def _is_yes(turn: Turn) -> bool:
    """Say whether a turn goes on after a yes."""
    return turn.resumed is not None and (
        turn.resumed.admitted is not None and turn.resumed.admitted.approved
    )


def asked_again(turn: Turn) -> Paused:
    """Ask once more what a turn goes on after."""
    resumed = turn.resumed
    assert resumed is not None  # noqa: S101 - the caller has looked
    pending: Record = {name: one for name, one in resumed.pending.items() if name != "request"}
    for gate in GATES:
        if is_record(pending.get(gate)):
            pending[gate] = {name: one for name, one in pending[gate].items() if name != "id"}
    call = read_call(pending["call"])
    assert call is not None  # noqa: S101 - we wrote it
    return Paused(pending["kind"], call, f"Run {call.tool}?", pending)


class Misfiled(WrappedAgent):
    """Files a yes under one id and looks for it under another: it asks again."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn."""
        if _is_yes(turn):
            yield asked_again(turn)
            return
        async for step in ReferenceAgent.__call__(self, turn):
            yield step


class Distracted(WrappedAgent):
    """Asks again when context comes with the answer."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn."""
        if turn.resumed is not None and turn.given:
            yield asked_again(turn)
            return
        async for step in ReferenceAgent.__call__(self, turn):
            yield step


class Inventing(WrappedAgent):
    """Has the model say something on a yes, and runs nothing."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn."""
        if _is_yes(turn):
            yield Said(_message(turn, "I am still waiting for your answer."))
            return
        async for step in ReferenceAgent.__call__(self, turn):
            yield step


class Leading(WrappedAgent):
    """Starts over where a helper's pause was answered, and reports success."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn."""
        if turn.resumed is not None and turn.resumed.pending.get("nested") is not None:
            yield Said(_message(turn, "All done."))
            return
        async for step in ReferenceAgent.__call__(self, turn):
            yield step


def _message(turn: Turn, text: str) -> Record:
    return {"id": turn.mint("msg"), "role": "assistant", "content": text}


class Restarting(WrappedAgent):
    """Takes the second answer of a thread for a wish to begin again."""

    __slots__ = ()

    def changed(self, turn: Turn) -> Turn:
        """Change the turn."""
        if turn.resumed is None or not any(one["role"] == "tool" for one in turn.messages):
            return turn
        asked = max(at for at, one in enumerate(turn.messages) if one["role"] == "user")
        return replace(turn, resumed=None, messages=turn.messages[: asked + 1])


class OneForAll(WrappedAgent):
    """Uses one yes for the next question of the same run, too."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn."""
        said = list(turn.messages)
        async for step in ReferenceAgent.__call__(self, turn):
            if isinstance(step, Said | Returned):
                said.append(step.message)
            if not (isinstance(step, Paused) and step.kind in GATES and _is_yes(turn)):
                yield step
                continue
            assert turn.resumed is not None  # noqa: S101 - it goes on after a yes
            going_on = Resumed(
                pending=step.pending, admitted=turn.resumed.admitted, answer=turn.resumed.answer
            )
            again = replace(turn, resumed=going_on, messages=tuple(said))
            async for more in ReferenceAgent.__call__(self, again):
                yield more
            return


class Unruled(WrappedAgent):
    """Is built again for the answer without its tools' rules, and so never looks at a no."""

    __slots__ = ()

    def changed(self, turn: Turn) -> Turn:
        """Change the turn."""
        resumed = turn.resumed
        if resumed is None or resumed.admitted is None or resumed.pending["kind"] != "checkIn":
            return turn
        answer = {**resumed.admitted.answer, "approved": True}
        return replace(
            turn, resumed=replace(resumed, admitted=replace(resumed.admitted, answer=answer))
        )


class ActingWhileAsking(Eager):
    """Runs the action while the question is open, and nothing after the answer."""

    __slots__ = ()

    def changed(self, turn: Turn) -> Turn:
        """Change the turn."""
        return turn if turn.resumed is None else replace(turn, act=lambda _call: None)


class Replaying(WrappedAgent):
    """Asks the model again on a yes, and runs what it proposes now in the place of the call."""

    __slots__ = ()

    def changed(self, turn: Turn) -> Turn:
        """Change the turn."""
        resumed = turn.resumed
        if resumed is None or not _is_yes(turn):
            return turn
        kept = resumed.pending["call"]
        proposed = {**kept, "arguments": {**kept["arguments"], "amount": 9_999}}
        return replace(
            turn, resumed=replace(resumed, pending={**resumed.pending, "call": proposed})
        )


class Switching(WrappedAgent):
    """Runs the tool that an answer names, without that tool's own gate."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn with the call that the answer asks for."""
        resumed = turn.resumed
        answer: Json = None if resumed is None else resumed.answer
        name = answer.get("name") if is_record(answer) else None
        if resumed is None or not is_text(name) or name not in self.own_tools:
            async for step in ReferenceAgent.__call__(self, turn):
                yield step
            return
        kept = resumed.pending["call"]
        arguments = answer.get("editedArgs", kept["arguments"])
        call = {**kept, "tool": name, "arguments": arguments}
        free = replace(self.own_tools[name], demand=MISSING, allowed=anyone_may)
        agent = replace(self, own_tools={**self.own_tools, name: free})
        edited = replace(turn, resumed=replace(resumed, pending={**resumed.pending, "call": call}))
        async for step in ReferenceAgent.__call__(agent, edited):
            yield step


def ungated(parts: HostParts) -> HostParts:
    """Switch a tool's gate off, because its list of decisions names none that is known."""
    agent = agent_of(parts)
    tools = {**agent.own_tools, "pay": replace(agent.own_tools["pay"], demand=MISSING)}
    return replace(parts, agent=replace(agent, own_tools=tools))


def inverted(parts: HostParts) -> HostParts:
    """Take a yes for a no, and a no for a yes."""
    right = parts.door

    def door(pending: Record, answer: Json, facts: DoorFacts) -> Admitted:
        admitted = right(pending, answer, facts)
        if admitted.request is None:
            return admitted
        turned = {**admitted.answer, "approved": not admitted.approved}
        return replace(admitted, answer=turned)

    return replace(parts, door=door)
