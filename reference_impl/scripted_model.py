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

from hostproof.reference_impl.cues import Cue, cue_text, read_cue

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
    if results and cue.name == "fail_after":
        raise ModelError(f"asked to fail behind the call for {cue.nonce}")
    if results:
        return ModelReply(text=f"{cue.nonce}: {results[-1]['content']}")
    if cue.name == "fail":
        raise ModelError(f"asked to fail for {cue.nonce}")
    if cue.name == "repeat":
        given = json.dumps(dict(request.given), sort_keys=True)
        return ModelReply(text=f"{cue.nonce}: {given}")
    calls = _calls(cue)
    if not calls or any(call.name not in request.tools for call in calls):
        return ModelReply(text=f"{cue.nonce}: noted.")
    return ModelReply(calls=calls)


def _calls(cue: Cue) -> tuple[ToolCall, ...]:
    to = {"to": cue.nonce}
    pay = ToolCall("pay", {**to, "amount": 10})
    calls: dict[str, tuple[ToolCall, ...]] = {
        "client_tool": (ToolCall("show_form", {"title": cue.nonce}),),
        "slow": (ToolCall("take_time", {"for": cue.nonce}),),
        "question": (ToolCall("ask_person", {"question": f"What shall {cue.nonce} be?"}),),
        "check_in": (pay,),
        "fail_after": (pay,),
        "check_in_large": (ToolCall("transfer", {**to, "amount": 5_000}),),
        "no_check_in": (ToolCall("transfer", {**to, "amount": 5}),),
        "ask_detail": (ToolCall("publish", to),),
        "ask_component": (ToolCall("assign", to),),
        "ask_then_check_in": (ToolCall("release", to),),
        "two_in_sequence": (pay, ToolCall("pay", {**to, "amount": 20})),
        "nested": (ToolCall("ask_helper", {"task": cue_text("check_in", cue.nonce)}),),
        "credential": (ToolCall("read_calendar", to),),
        "denied": (ToolCall("wipe", to),),
    }
    return calls.get(cue.name, ())
