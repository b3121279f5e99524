"""
The styled host's model: deterministic, and driven by cues.

It sees the conversation and what the page gave, and answers with a text or
with calls. Which of them ask a person first is the tool's business, not the
model's.

Pure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from hostproof.reference_impl.cues import AT_ONCE, CUES, Cue, read_cue
from hostproof.reference_impl.styled_input import text_of
from hostproof.reference_impl.styled_setup import FORM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostproof.reference_impl.values import Json, Record

Kind: TypeAlias = Literal["guarded", "question", "page", "free", "denied", "slow"]
"""What a call needs: a yes; a value; the page itself; nothing; it is never run; time."""

KINDS: Final[Mapping[str, Kind]] = {
    "pay": "guarded",
    "transfer": "guarded",
    "ask_person": "question",
    FORM: "page",
    "wipe": "denied",
    "take_time": "slow",
}
OWN_TOOLS: Final[Mapping[str, str]] = {
    "pay": "Pay somebody, once a person has agreed.",
    "transfer": "Transfer an amount; a large one needs a person's agreement.",
    "ask_person": "Ask the person something.",
    "wipe": "Not for anyone.",
    "take_time": "Take a little time.",
}
"""The host's own tools, in its own words."""

LARGE: Final = 1_000
"""From this amount on a transfer asks."""

SYSTEM: Final = "You are the styled agent. Pay only what a person has agreed to."
INSTRUCTIONS: Final = ("system", "developer")
"""Roles of messages that a page sends and the model never sees: its instructions are its own."""


class StyledModelError(Exception):
    """The model could not answer; a run that asks it fails."""


@dataclass(frozen=True, slots=True)
class StyledCall:
    """A call: its tool's *name*, its *arguments*, and its *id* once it has one."""

    name: str
    arguments: Record
    id: str = ""

    @property
    def kind(self) -> Kind:
        """What it needs."""
        if self.name == "transfer" and self.arguments["amount"] < LARGE:
            return "free"
        return KINDS[self.name]

    @property
    def asks(self) -> bool:
        """Whether the run stops for it."""
        return self.kind in ("guarded", "question", "page")


@dataclass(frozen=True, slots=True)
class StyledReply:
    """
    What the model answers.

    Attributes:
        nonce: the word of the cue.
        text: what it says, where it makes no calls.
        calls: what it calls.
        at_once: whether all its calls are made at once, or one after the other.
    """

    nonce: str = ""
    text: str = ""
    calls: tuple[StyledCall, ...] = ()
    at_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledAsked:
    """
    What the model is given.

    Attributes:
        messages: the conversation, without a page's instructions, each call with one result.
        tools: the tools it may call: the page's, and its own in its own words.
        given: the page's state and context, where there are any.
        system: the agent's own instructions.
    """

    messages: tuple[Record, ...]
    tools: Mapping[str, str]
    given: Mapping[str, Json] = field(default_factory=dict)
    system: str = SYSTEM

    def shown(self) -> Record:
        """Write it as the observation shows it."""
        return {
            "system": self.system,
            "messages": list(self.messages),
            "tools": dict(self.tools),
            "given": dict(self.given),
        }


def paired(messages: Sequence[Record]) -> tuple[Record, ...]:
    """
    Give of a conversation what a model may see: every call with one result, the newest.

    A page's instructions, calls without a result and results without a call are left out,
    whoever keeps the history.
    """
    newest: dict[str, int] = {}
    made: set[str] = set()
    for at, message in enumerate(messages):
        made |= {call["id"] for call in message.get("toolCalls", ())}
        if message["role"] == "tool" and message["toolCallId"] in made:
            newest[message["toolCallId"]] = at
    seen: list[Record] = []
    shown: set[str] = set()
    for at, message in enumerate(messages):
        if message["role"] in INSTRUCTIONS:
            continue
        if message["role"] == "tool" and newest.get(message["toolCallId"]) != at:
            continue
        if message["role"] != "assistant" or "toolCalls" not in message:
            seen.append(message)
            continue
        calls = [one for one in message["toolCalls"] if one["id"] in newest.keys() - shown]
        shown |= {one["id"] for one in calls}
        rest = {name: value for name, value in message.items() if name != "toolCalls"}
        if calls or "content" in rest:
            seen.append(rest | ({"toolCalls": calls} if calls else {}))
    return tuple(seen)


def styled_model(asked: StyledAsked) -> StyledReply:
    """
    Answer the newest message, which is a person's.

    Raises:
        StyledModelError: the cue asks for a failure.
    """
    cue = read_cue(text_of(asked.messages[-1].get("content")), {**CUES, **AT_ONCE})
    if cue is None:
        return StyledReply(text="I do what a cue asks for, and this is none.")
    if cue.name == "fail":
        raise StyledModelError(f"asked to fail for {cue.nonce}")
    if cue.name == "repeat":
        given = json.dumps(dict(asked.given), sort_keys=True)
        return StyledReply(cue.nonce, text=f"{cue.nonce}: {given}")
    calls = _calls(cue)
    if not calls or any(call.kind == "page" and call.name not in asked.tools for call in calls):
        return StyledReply(cue.nonce, text=f"{cue.nonce}: noted.")
    return StyledReply(cue.nonce, calls=calls, at_once=cue.name in AT_ONCE)


def concluded(nonce: str, results: Sequence[str]) -> str:
    """Say what came of calls."""
    return f"{nonce}: {'; '.join(results)}"


def _calls(cue: Cue) -> tuple[StyledCall, ...]:
    to: Record = {"to": cue.nonce}
    pays = tuple(StyledCall("pay", {**to, "amount": amount}) for amount in (10, 20))
    calls: dict[str, tuple[StyledCall, ...]] = {
        "client_tool": (StyledCall(FORM, {"title": cue.nonce}),),
        "slow": (StyledCall("take_time", {"for": cue.nonce}),),
        "question": (StyledCall("ask_person", {"question": f"What shall {cue.nonce} be?"}),),
        "check_in": pays[:1],
        "check_in_large": (StyledCall("transfer", {**to, "amount": 5_000}),),
        "no_check_in": (StyledCall("transfer", {**to, "amount": 5}),),
        "two_in_sequence": pays,
        "two_at_once": pays,
        "denied": (StyledCall("wipe", to),),
    }
    return calls.get(cue.name, ())


STYLED_CUES: Final = (
    "plain",
    "client_tool",
    "question",
    "repeat",
    "slow",
    "fail",
    "check_in",
    "check_in_large",
    "no_check_in",
    "two_in_sequence",
    "two_at_once",
    "denied",
)
"""The cues that it does something of its own for."""
