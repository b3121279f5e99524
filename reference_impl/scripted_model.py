"""
The model of our hosts: deterministic, and driven by cues.

It sees what a language model would be given, and answers with a text or with
tool calls. What the page gave is data beside the conversation, never part of
the instructions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hostproof.reference_impl.cues import Cue, read_cue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.reference_impl.turn import Carried
    from hostproof.reference_impl.values import Json, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """
    What the model is given.

    Attributes:
        system: the agent's own instructions.
        messages: the conversation, oldest first, as AG-UI messages.
        tools: names of the tools it may call, with their descriptions.
        given: the page's state and context, as the application accepted them.
    """

    system: str
    messages: tuple[Record, ...]
    tools: Mapping[str, str]
    given: Mapping[Carried, Json]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model wants: the tool's *name*, and its *arguments*."""

    name: str
    arguments: Record


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model answers: a *text*, or *calls*."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


class Model(Protocol):
    """Answers a request."""

    def __call__(self, request: ModelRequest, /) -> ModelReply:
        """Give the reply."""


class ModelError(Exception):
    """The model could not answer; a run that asks it fails."""


def scripted_model(request: ModelRequest) -> ModelReply:
    """
    Answer by the newest user message's cue, and by what came of it so far.

    Raises:
        ModelError: the cue asks for a failure.
    """
    asked_at = max(at for at, said in enumerate(request.messages) if said["role"] == "user")
    cue = read_cue(request.messages[asked_at]["content"])
    results = [said for said in request.messages[asked_at:] if said["role"] == "tool"]
    if cue is None:
        return ModelReply(text="I do what a cue asks for, and this is none.")
    if results:
        return ModelReply(text=f"{cue.nonce}: {results[-1]['content']}")
    if cue.name == "fail":
        raise ModelError(f"asked to fail for {cue.nonce}")
    if cue.name == "repeat":
        given = json.dumps(dict(request.given), sort_keys=True)
        return ModelReply(text=f"{cue.nonce}: {given}")
    call = _call(cue)
    if call is None or call.name not in request.tools:
        return ModelReply(text=f"{cue.nonce}: noted.")
    return ModelReply(calls=(call,))


def _call(cue: Cue) -> ToolCall | None:
    if cue.name == "client_tool":
        return ToolCall("show_form", {"title": cue.nonce})
    if cue.name == "slow":
        return ToolCall("take_time", {"for": cue.nonce})
    if cue.name == "question":
        return ToolCall("ask_person", {"question": f"What shall {cue.nonce} be?"})
    return None
