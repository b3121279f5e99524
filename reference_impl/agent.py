"""
A small agent: asks the model, runs what it calls, and stops where someone else must answer.

It yields what happens as steps and never touches the wire or the store, so a
host can turn the same steps into any protocol.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

from hostproof.reference_impl.scripted_model import Model, ModelRequest, ToolCall, scripted_model
from hostproof.reference_impl.values import MISSING, Json, Record, is_text, json_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from hostproof.reference_impl.turn import Carried

SYSTEM_PROMPT: Final = "You are the reference agent. Do what a cue asks for, and nothing else."
SLOW_SECONDS: Final = 0.2
MAX_ROUNDS: Final = 8
"""How often the model is asked in one turn, at most."""


@dataclass(frozen=True, slots=True)
class PageTool:
    """A tool the page runs, as the application describes it: *name* and *description*."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Said:
    """The agent said a text; *message* is the AG-UI message to keep."""

    message: Record


@dataclass(frozen=True, slots=True)
class Called:
    """The agent calls a tool; *message* is the AG-UI message that holds the call."""

    message: Record
    call_id: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Returned:
    """A call has its result; *message* is the AG-UI tool message to keep."""

    message: Record


PauseKind: TypeAlias = Literal["client", "question"]


@dataclass(frozen=True, slots=True)
class Paused:
    """
    The turn stops here: someone else must answer.

    Attributes:
        kind: ``client`` (the page runs the call) or ``question`` (any value answers).
        call_id: the call the answer is the result of.
        pending: what is asked, as plain JSON to keep.
    """

    kind: PauseKind
    call_id: str
    pending: Record


Step: TypeAlias = Said | Called | Returned | Paused


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    One turn to run.

    Attributes:
        messages: the conversation so far, the newest message included.
        page_tools: the page's tools that are enabled.
        given: the page's values that were accepted.
        answered: the call that *answer* is the result of, when the turn goes on
            after a pause.
        answer: the answer, ``MISSING`` when there is none.
        mint: makes a fresh id from a prefix.
        observe: is shown every request to the model.
    """

    messages: tuple[Record, ...]
    page_tools: tuple[PageTool, ...]
    given: Mapping[Carried, Json]
    mint: Callable[[str], str]
    observe: Callable[[ModelRequest], None]
    answered: str | None = None
    answer: Json = MISSING


class Agent(Protocol):
    """Runs a turn, and yields what happens."""

    def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn; a :class:`Paused` is the last."""


async def take_time(arguments: Record) -> str:
    """Work on something for :data:`SLOW_SECONDS`."""
    await asyncio.sleep(SLOW_SECONDS)
    return f"took my time for {arguments['for']}"


@dataclass(frozen=True, slots=True)
class OwnTool:
    """A tool the host runs: its *description* for the model, and what *run* gives as result."""

    description: str
    run: Callable[[Record], Awaitable[str]]


ASK_PERSON: Final = "ask_person"
OWN_TOOLS: Final[Mapping[str, OwnTool]] = MappingProxyType(
    {"take_time": OwnTool("Work on something for a while.", take_time)}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAgent:
    """
    The agent of our hosts.

    Attributes:
        model: answers the conversation, with a text or with calls.
        system: the agent's instructions.
        own_tools: the tools the host runs, by name; beside them it can ask a
            person, and call the page's tools.
    """

    model: Model = scripted_model
    system: str = SYSTEM_PROMPT
    own_tools: Mapping[str, OwnTool] = field(default_factory=lambda: OWN_TOOLS)

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn; a :class:`Paused` is the last."""
        messages = list(turn.messages)
        described = {tool.name: tool.description for tool in turn.page_tools}
        described[ASK_PERSON] = "Ask the person a question; any value answers."
        described |= {name: tool.description for name, tool in self.own_tools.items()}
        if turn.answered is not None:
            result = _tool_message(turn.mint("msg"), turn.answered, turn.answer)
            messages.append(result)
            yield Returned(result)
        for _ in range(MAX_ROUNDS):
            request = ModelRequest(
                system=self.system,
                messages=tuple(messages),
                tools=described,
                given=turn.given,
            )
            turn.observe(request)
            reply = self.model(request)
            if not reply.calls:
                message = {"id": turn.mint("msg"), "role": "assistant", "content": reply.text}
                yield Said(message)
                return
            call = reply.calls[0]
            call_id = turn.mint("call")
            message = _call_message(turn.mint("msg"), call_id, call)
            messages.append(message)
            yield Called(message, call_id, call)
            if call.name not in self.own_tools:
                kind: PauseKind = "question" if call.name == ASK_PERSON else "client"
                yield Paused(kind, call_id, {kind: call.arguments})
                return
            done = await self.own_tools[call.name].run(call.arguments)
            result = _tool_message(turn.mint("msg"), call_id, done)
            messages.append(result)
            yield Returned(result)


def _call_message(message_id: str, call_id: str, call: ToolCall) -> Record:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {
        "id": message_id,
        "role": "assistant",
        "toolCalls": [{"id": call_id, "type": "function", "function": function}],
    }


def _tool_message(message_id: str, call_id: str, answer: Json) -> Record:
    """Make an answer the result of its call: a text as it is, another value as JSON."""
    content = answer if is_text(answer) else json_text(None if answer is MISSING else answer)
    return {"id": message_id, "role": "tool", "toolCallId": call_id, "content": content}
