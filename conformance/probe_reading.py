"""
Reading what a probe sees: how a run pauses, where an answer may go, what a preset says.

Pure: it reads recorded exchanges, and knows no host.

Source: docs/profile.md, "Probe"; AG-UI 1.0, patterns/interrupt-resume.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.conformance.answer_words import Words, said_by
from hostproof.conformance.preset import preset_names, preset_text
from hostproof.conformance.style import (
    AnswerKind,
    AnswerStyle,
    PauseKind,
    PauseStyle,
    open_calls,
    questions_of,
)
from hostproof.reference_impl.values import MISSING, Json, Missing, is_record, is_text
from hostproof.reports.printable import clipped, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.profile_parts import HistoryMode
    from hostproof.conformance.style import Asked

INTERRUPT: Final = PauseStyle()
CONFIRMATIONS: Final = (
    "confirm",
    "confirm_changes",
    "confirm_action",
    "request_approval",
    "ask_approval",
    "approve",
)
"""Names under which pages are known to offer the tool that asks the person."""

PAYLOADS: Final[tuple[Json, ...]] = (
    {"approved": True},
    True,
    {"accepted": True},
    {"confirmed": True},
)
"""A yes, in the words that hosts are known to take."""

MAX_NAME: Final = 100
MAX_PAYLOAD: Final = 40
_ASKS: Final = re.compile(r"interrupt|approv|confirm|permission|consent|human|ask|pause", re.I)
_KINDS: Final[dict[PauseKind, tuple[AnswerKind, ...]]] = {
    "interrupt": ("resume", "command", "tool-message"),
    "custom": ("command", "resume"),
    "call": ("tool-message",),
}
_WORDS: Final[dict[AnswerKind, str]] = {
    "resume": "an entry of resume",
    "command": "forwardedProps.command.resume",
    "tool-message": "a message with the call's result",
}


def custom_names(exchange: Exchange) -> list[str]:
    """Name the ``CUSTOM`` events of a run, each once."""
    names = [event.members.get("name") for event in exchange.events if event.type == "CUSTOM"]
    return list(dict.fromkeys(name for name in names if is_text(name) and _is_usable(name)))


def _is_usable(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME and name.isprintable()


def open_tools(exchange: Exchange) -> list[str]:
    """Name the tools whose calls a run left open, each once."""
    waiting = open_calls(exchange)
    names = {
        str(event.members.get("toolCallId")): event.members.get("toolCallName")
        for event in exchange.events
        if "toolCallName" in event.members
    }
    found = (names.get(call) for call in waiting)
    return list(dict.fromkeys(name for name in found if is_text(name) and _is_usable(name)))


def pause_in(exchange: Exchange, usual: Iterable[str]) -> PauseStyle | None:
    """
    Say how a run paused; ``None`` if in no way that is known.

    An outcome says so itself. Of the rest, what is named like a question goes
    before what is not.

    Args:
        exchange: the run that was to pause.
        usual: names of ``CUSTOM`` events that a plain run has too.
    """
    if questions_of(exchange, INTERRUPT):
        return INTERRUPT
    customs = [name for name in custom_names(exchange) if name not in set(usual)]
    tools = open_tools(exchange)
    asking = [name for name in customs if _ASKS.search(name)]
    if asking:
        return _checked(exchange, PauseStyle(kind="custom", event=asking[-1]))
    if tools:
        named = [tool for tool in tools if _ASKS.search(tool)]
        return _checked(exchange, PauseStyle(kind="call", tool=(named or tools)[-1]))
    if customs:
        return _checked(exchange, PauseStyle(kind="custom", event=customs[-1]))
    return None


def _checked(exchange: Exchange, style: PauseStyle) -> PauseStyle | None:
    return style if questions_of(exchange, style) else None


def pause_text(exchange: Exchange, style: PauseStyle) -> str:
    """Say how a run paused, in words."""
    asked = questions_of(exchange, style)
    many = f", {len(asked)} questions" if len(asked) > 1 else ""
    if style.kind == "custom":
        return f"as a CUSTOM event named {style.event}{many}"
    if style.kind == "call":
        offered = ", a tool that the page offers" if style.offered else ""
        beside = any(event.type == "TOOL_CALL_RESULT" for event in exchange.events)
        return f"as an open call of {style.tool}{offered}{many}" + (
            ", beside the result of another call" if beside else ""
        )
    expires = ", with expiresAt" if _expires(exchange) else ""
    return f"as an interrupt outcome{many}, {_schema_text(asked)}{expires}"


def _expires(exchange: Exchange) -> bool:
    outcomes = [e.members.get("outcome") for e in exchange.events if e.type == "RUN_FINISHED"]
    listed = outcomes[-1].get("interrupts") if outcomes and is_record(outcomes[-1]) else None
    return isinstance(listed, list) and any(
        is_record(one) and one.get("expiresAt") is not None for one in listed
    )


def _schema_text(asked: Sequence[Asked]) -> str:
    schema = asked[0].schema if asked else None
    if not is_record(schema) or not schema:
        return "no response schema"
    members = schema.get("properties")
    names = [name for name in members if _is_usable(name)] if is_record(members) else []
    if names:
        return clipped(f"response schema with {', '.join(names)}", MAX_NAME)
    kinds = schema.get("type")
    told = kinds if isinstance(kinds, list) else [kinds]
    words = [one for one in told if is_text(one) and _is_usable(one)]
    return f"response schema of type {' or '.join(words)}" if words else "a response schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """
    Where an answer may go.

    Attributes:
        kind: the member of the request.
        history: who keeps the conversation.
        parent_run: whether ``parentRunId`` names the paused run.
    """

    kind: AnswerKind
    history: HistoryMode
    parent_run: bool = False

    def describe(self) -> str:
        """Say it in words."""
        whole = ", with the whole history" if self.history == "client" else ""
        return _WORDS[self.kind] + whole + (", with parentRunId" if self.parent_run else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the user's own profile says already; ``None`` where it says nothing."""

    history: HistoryMode | None = None
    pause: PauseStyle | None = None
    kind: AnswerKind | None = None
    yes: Json | Missing = MISSING
    no: Json | Missing = MISSING
    parent_run: bool | None = None


def places_for(pause: PauseStyle, known: Known) -> list[Place]:
    """List where an answer to a pause may go, the likelier first."""
    kinds = _KINDS[pause.kind] if known.kind is None else (known.kind,)
    histories: tuple[HistoryMode, ...] = ("server", "client")
    if known.history is not None:
        histories = (known.history,)
    parents = (False, True) if known.parent_run is None else (known.parent_run,)
    main, *others = kinds
    groups = [([main], parent) for parent in parents] + [(others, parent) for parent in parents]
    return [
        Place(kind=kind, history=history, parent_run=parent)
        for group, parent in groups
        for kind in group
        for history in histories
    ]


def payloads_for(asked: Sequence[Asked], known: Known) -> list[Json | Missing]:
    """
    List what may stand for a yes, the likelier first.

    ``MISSING`` stands for what the response schema asks for.
    """
    if not isinstance(known.yes, Missing):
        return [known.yes]
    words = said_by(asked[0].schema) if asked else None
    if words is None:
        return list(PAYLOADS)
    return [MISSING, *(one for one in PAYLOADS if one != words.yes)]


def results_text(exchange: Exchange, nonces: Iterable[str]) -> str:
    """Give the results of calls that a run told, with ``{nonce}`` for each nonce."""
    results = [e.members.get("content") for e in exchange.events if e.type == "TOOL_CALL_RESULT"]
    return _without(nonces, (one for one in results if is_text(one)))


def spoken_text(exchange: Exchange, nonces: Iterable[str]) -> str:
    """Give what a run said, with ``{nonce}`` for each nonce."""
    said = (e.members.get("delta") for e in exchange.events if e.type.startswith("TEXT_MESSAGE_"))
    return _without(nonces, (one for one in said if is_text(one)))


def _without(nonces: Iterable[str], texts: Iterable[str]) -> str:
    text = "".join(texts)
    for nonce in nonces:
        text = text.replace(nonce, "{nonce}")
    return text


def payload_text(payload: Json) -> str:
    """Write a payload for a person to read."""
    return clipped(printable(json.dumps(payload)), MAX_PAYLOAD)


def presets_like(
    history: HistoryMode, pause: PauseStyle, answer: AnswerStyle, words: Words
) -> list[str]:
    """Name the presets whose history, pause and answer are all as they were found."""
    return [name for name in preset_names() if _is_like(name, history, pause, answer, words)]


def _is_like(
    name: str, history: HistoryMode, pause: PauseStyle, answer: AnswerStyle, words: Words
) -> bool:
    said = tomllib.loads(preset_text(name))
    style = dict(said.get("answer", {}))
    return (
        said.get("history", {}).get("mode", "server") == history
        and PauseStyle(**said.get("pause", {})) == pause
        and style.get("kind", "resume") == answer.kind
        and style.get("parent_run", False) == answer.parent_run
        and all(getattr(words, word) == style[word] for word in ("yes", "no") if word in style)
    )
