"""
A small agent: asks the model, runs what it calls, and stops where someone else must answer.

It yields what happens as steps and never touches the wire or the store, so a
host can turn the same steps into any protocol. What it needs to go on after a
pause is plain JSON in the pause itself.

Source: contract, "Check-in", "Consent" and "Door" (docs/contract.md).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.agent_steps import (
    Call,
    Called,
    Paused,
    PauseKind,
    Resumed,
    Returned,
    Said,
    Step,
    Turn,
    read_call,
)
from hostproof.reference_impl.assembly import DEFAULT, CheckInConfig, assemble
from hostproof.reference_impl.checkin import declined_result
from hostproof.reference_impl.evidence_types import EvidenceInput, Tool
from hostproof.reference_impl.result_texts import CREDENTIAL_CONSENT, DENIED
from hostproof.reference_impl.scripted_model import Model, ModelRequest, scripted_model
from hostproof.reference_impl.tools import (
    OWN_TOOLS,
    Ask,
    Asks,
    ChecksIn,
    Denied,
    OwnTool,
    Progress,
    next_gate,
)
from hostproof.reference_impl.values import MISSING, Json, Record, is_text, json_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

SYSTEM_PROMPT: Final = "You are the reference agent. Do what a cue asks for, and nothing else."
MAX_ROUNDS: Final = 8
"""How often the model is asked in one turn, at most."""

ASK_PERSON: Final = "ask_person"
ASK_HELPER: Final = "ask_helper"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAgent:
    """
    The agent of our hosts.

    Attributes:
        model: answers the conversation, with a text or with calls.
        system: the agent's instructions.
        own_tools: the tools the host runs, by name; beside them it can ask a
            person, call the page's tools, and ask a helper of the same kind.
        check_in: how the evidence of a check-in is built.
    """

    model: Model = scripted_model
    system: str = SYSTEM_PROMPT
    own_tools: Mapping[str, OwnTool] = field(default_factory=lambda: OWN_TOOLS)
    check_in: CheckInConfig = DEFAULT

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn; a :class:`Paused` is the last."""
        conversation = Conversation(self, turn, list(turn.messages))
        if turn.resumed is None:
            steps = conversation.go_on()
        elif turn.resumed.pending.get("nested") is None:
            steps = conversation.resume(turn.resumed)
        else:
            steps = self._resume_nested(turn, conversation, turn.resumed)
        async for step in steps:
            yield step

    async def _resume_nested(
        self, turn: Turn, outer: Conversation, resumed: Resumed
    ) -> AsyncIterator[Step]:
        """Go on inside the helper; its answer is then the result of the call that asked it."""
        nested = resumed.pending["nested"]
        admitted = turn.admit(resumed.pending, resumed.answer)
        inner = Conversation(self, turn, list(nested["messages"]), asked_by=nested)
        going_on = Resumed(pending=resumed.pending, admitted=admitted, answer=resumed.answer)
        async for step in inner.resume(going_on):
            yield step
            if isinstance(step, Paused):
                return
        asking, rest = _kept_calls(nested)
        yield outer.returned(asking, inner.said)
        async for step in outer.run_calls(rest, Progress(), go_on=True):
            yield step


@dataclass(slots=True)
class Conversation:
    """
    One conversation with the model: the thread's, or a helper's inside a call.

    Attributes:
        agent: whose conversation it is.
        turn: the turn it is part of.
        messages: what was said so far; it grows.
        asked_by: for a helper, the call that asks it and what follows it.
        said: the last text.
    """

    agent: ReferenceAgent
    turn: Turn
    messages: list[Record]
    asked_by: Record | None = None
    said: str = ""

    @property
    def is_nested(self) -> bool:
        """Whether it is a helper's."""
        return self.asked_by is not None

    async def go_on(self) -> AsyncIterator[Step]:
        """Ask the model until it says something, running what it calls."""
        for _ in range(MAX_ROUNDS):
            request = self._request()
            self.turn.observe(request)
            reply = self.agent.model(request)
            if not reply.calls:
                self.said = reply.text
                message = {
                    "id": self.turn.mint("msg"),
                    "role": "assistant",
                    "content": reply.text,
                }
                self.messages.append(message)
                if not self.is_nested:
                    yield Said(message)
                return
            calls = [
                Call(tool=call.name, arguments=call.arguments, id=self.turn.mint("call"))
                for call in reply.calls
            ]
            message = _call_message(self.turn.mint("msg"), calls)
            self.messages.append(message)
            yield Called(message, tuple(calls), nested=self.is_nested)
            async for step in self.run_calls(calls, Progress()):
                yield step
                if isinstance(step, Paused):
                    return

    def _request(self) -> ModelRequest:
        described = {tool.name: tool.description for tool in self.turn.page_tools}
        described |= {name: tool.description for name, tool in self.agent.own_tools.items()}
        described[ASK_PERSON] = "Ask the person a question; any value answers."
        if not self.is_nested:
            described[ASK_HELPER] = "Have a helper do a task."
        return ModelRequest(
            system=self.agent.system,
            messages=tuple(self.messages),
            tools=described,
            given=self.turn.given,
        )

    async def resume(self, resumed: Resumed) -> AsyncIterator[Step]:
        """Go on after a pause: with its call, then those behind it, then the model."""
        call, rest = _kept_calls(resumed.pending)
        async for step in self._answered(call, rest, resumed):
            yield step
            if isinstance(step, Paused):
                return
        async for step in self.run_calls(rest, Progress(), go_on=True):
            yield step

    async def _answered(
        self, call: Call, rest: Sequence[Call], resumed: Resumed
    ) -> AsyncIterator[Step]:
        """Go on with the call a pause was about."""
        kind = resumed.pending["kind"]
        admitted = resumed.admitted
        if kind in ("checkIn", "ask") and admitted is not None:
            if not admitted.approved:
                yield self.returned(call, declined_result(admitted.answer.get("note", MISSING)))
                return
            progress = Progress(
                position=self._position_after(resumed.pending), consented=kind == "checkIn"
            )
            async for step in self._run_call(call, progress, rest):
                yield step
        elif kind == "credential":
            if self._needs_no_credential(call):
                raise ValueError("the pause is not one that this agent wrote")
            progress = Progress(position=len(self.turn.chain), consented=True)
            async for step in self._run_call(call, progress, rest, asked_provider=True):
                yield step
        else:
            yield self.returned(call, _as_text(resumed.answer))

    def _position_after(self, pending: Record) -> int:
        """Give the rule to go on with: behind the one that asked, where that stands now."""
        if pending["kind"] == "checkIn":
            position: int = pending["progress"]["position"]
            return position
        names = [rule.name for rule in self.turn.chain]
        asked = pending["middleware"]
        return names.index(asked) + 1 if asked in names else 0

    def _needs_no_credential(self, call: Call) -> bool:
        tool = self.agent.own_tools.get(call.tool)
        return tool is None or tool.provider is None

    async def run_calls(
        self, calls: Sequence[Call], progress: Progress, *, go_on: bool = False
    ) -> AsyncIterator[Step]:
        """Run calls one after the other; with *go_on* ask the model afterwards."""
        for at, call in enumerate(calls):
            async for step in self._run_call(call, progress, calls[at + 1 :]):
                yield step
                if isinstance(step, Paused):
                    return
        if go_on:
            async for step in self.go_on():
                yield step

    async def _run_call(
        self, call: Call, progress: Progress, rest: Sequence[Call], *, asked_provider: bool = False
    ) -> AsyncIterator[Step]:
        tool = self.agent.own_tools.get(call.tool)
        if call.tool == ASK_HELPER and not self.is_nested:
            async for step in self._ask_helper(call, rest):
                yield step
            return
        if tool is None:
            yield self._handed_over(call, rest)
            return
        gate = next_gate(
            call.tool,
            tool,
            call.arguments,
            progress,
            caller=self.turn.caller,
            chain=self.turn.chain,
        )
        if isinstance(gate, Denied):
            yield self.returned(call, DENIED)
        elif isinstance(gate, Asks):
            yield self._asks(call, gate, rest)
        elif isinstance(gate, ChecksIn):
            yield await self._checks_in(call, tool, rest)
        elif tool.provider is not None and not await self.turn.obtain(
            tool.provider, asked_provider
        ):
            if asked_provider:
                yield self.returned(call, CREDENTIAL_CONSENT)
                return
            question = f"Give {tool.provider} your consent, then go on."
            yield self._paused("credential", call, rest, question, {"provider": tool.provider})
        else:
            if tool.guarded:
                self.turn.act(call)
            yield self.returned(call, await tool.run(call.arguments))

    def _handed_over(self, call: Call, rest: Sequence[Call]) -> Paused:
        """Stop for a question to a person, or for a tool that the page runs."""
        if call.tool == ASK_PERSON:
            return self._paused("question", call, rest, call.arguments["question"], {})
        return self._paused("client", call, rest, "", {})

    def _asks(self, call: Call, gate: Asks, rest: Sequence[Call]) -> Paused:
        ask: Ask = gate.ask
        asked: Record = {"question": ask.question}
        if ask.detail is not MISSING:
            asked["detail"] = ask.detail
        more: Record = {
            "ask": asked,
            "middleware": gate.middleware,
            "progress": {"position": gate.position},
        }
        if ask.component is not None:
            more["component"] = ask.component
        return self._paused("ask", call, rest, ask.question, more)

    async def _checks_in(self, call: Call, tool: OwnTool, rest: Sequence[Call]) -> Paused:
        evidence = await assemble(
            self.agent.check_in,
            EvidenceInput(
                tool=Tool(name=call.tool, description=tool.description),
                args=call.arguments,
                iteration=1 + sum(one["role"] == "assistant" for one in self.messages),
                history=self._history(),
            ),
        )
        more: Record = {
            "checkIn": {"evidence": evidence},
            "progress": {"position": len(self.turn.chain)},
        }
        return self._paused("checkIn", call, rest, f"Run {call.tool}?", more)

    def _history(self) -> list[Record]:
        """Give the conversation as evidence reads it: instructions first, results by tool."""
        names = {
            call["id"]: call["function"]["name"]
            for message in self.messages
            for call in message.get("toolCalls") or []
        }
        history: list[Record] = [{"role": "system", "content": self.agent.system}]
        for message in self.messages:
            said: Record = {"role": message["role"], "content": message.get("content", "")}
            if message["role"] == "tool":
                said["toolName"] = names.get(message["toolCallId"], "")
            history.append(said)
        return history

    def _paused(
        self,
        kind: PauseKind,
        call: Call,
        rest: Sequence[Call],
        question: str,
        more: Record,
    ) -> Paused:
        pending: Record = {
            "kind": kind,
            "call": call.to_json(),
            "rest": [one.to_json() for one in rest],
            "nested": None,
            **more,
        }
        if self.asked_by is not None:
            pending["nested"] = {**self.asked_by, "messages": self.messages}
        return Paused(kind, call, question, pending)

    async def _ask_helper(self, call: Call, rest: Sequence[Call]) -> AsyncIterator[Step]:
        task: Record = {
            "id": self.turn.mint("msg"),
            "role": "user",
            "content": call.arguments["task"],
        }
        asked_by: Record = {"call": call.to_json(), "rest": [one.to_json() for one in rest]}
        helper = Conversation(self.agent, self.turn, [task], asked_by=asked_by)
        async for step in helper.go_on():
            yield step
            if isinstance(step, Paused):
                return
        yield self.returned(call, helper.said)

    def returned(self, call: Call, content: str) -> Returned:
        """Make *content* the result of a call."""
        message: Record = {
            "id": self.turn.mint("msg"),
            "role": "tool",
            "toolCallId": call.id,
            "content": content,
        }
        self.messages.append(message)
        return Returned(message, nested=self.is_nested)


def _kept_calls(pending: Record) -> tuple[Call, list[Call]]:
    """
    Read the call a pause is about, and those behind it.

    Raises:
        ValueError: the pause is not one we wrote.
    """
    call = read_call(pending.get("call"))
    rest = [read_call(one) for one in pending.get("rest") or []]
    if call is None or None in rest:
        raise ValueError("the pause is not one that this agent wrote")
    return call, [one for one in rest if one is not None]


def _call_message(message_id: str, calls: Sequence[Call]) -> Record:
    return {
        "id": message_id,
        "role": "assistant",
        "toolCalls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
            }
            for call in calls
        ],
    }


def _as_text(answer: Json) -> str:
    """Make an answer a result: a text as it is, another value as JSON."""
    return answer if is_text(answer) else json_text(None if answer is MISSING else answer)
