"""
How a host pauses and is answered: what stands in its profile, and nowhere else.

A pause is read from the events of a run; an answer is written as the members of
a request. Rules and cases speak of entries for what is open; this module
turns them into the words and the place of one host.

Source: docs/profile.md, "Pauses and answers"; AG-UI 1.0, patterns/interrupt-resume.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.reference_impl.values import MISSING, Json, Missing, Record, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.exchange import Exchange

PauseKind: TypeAlias = Literal["interrupt", "custom", "call"]
"""An interrupt outcome; a CUSTOM event of a name; an open call of a named tool."""

AnswerKind: TypeAlias = Literal["resume", "command", "tool-message"]
"""``resume``; ``forwardedProps.command.resume``; a trailing message with the call's result."""

ACTS: Final = frozenset(
    {"editedArgs", "function_call", "name", "remember", "result", "scope", "tool"}
)
"""Members of an answer that would change the call, where a host heeds them unasked."""

_OPENS: Final = ("TOOL_CALL_START", "TOOL_CALL_CHUNK")


class InexpressibleError(Exception):
    """The host's way to answer has no place for what a case sends; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseStyle:
    """
    How a pause shows on the wire.

    Attributes:
        kind: as what.
        event: the name of the ``CUSTOM`` event, for that kind.
        tool: the tool whose call is left open, for that kind.
        offered: whether it is the page's tool, which every request has to offer.
    """

    kind: PauseKind = "interrupt"
    event: str = "on_interrupt"
    tool: str = ""
    offered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStyle:
    """
    How a pause is answered.

    Attributes:
        kind: in which place of the request.
        yes: the payload of a yes; ``MISSING`` to make it from the response schema.
        no: the payload of a no.
        parent_run: whether ``parentRunId`` has to name the paused run.
    """

    kind: AnswerKind = "resume"
    yes: Json | Missing = MISSING
    no: Json | Missing = MISSING
    parent_run: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """
    One question that a pause handed out.

    Attributes:
        id: what an answer names: the interrupt, or the call left open; "" where there is none.
        call: the id of the call it is about, or "".
        schema: what an answer has to look like, or ``None``.
    """

    id: str
    call: str = ""
    schema: Json = None


@dataclass(frozen=True, slots=True)
class Words:
    """What this host takes for a *yes* and a *no*, and the member that tells them apart."""

    yes: Json
    no: Json

    @property
    def key(self) -> str | None:
        """The one member that is true in the yes and is not in the no; ``None`` for bare values."""
        if not is_record(self.yes):
            return None
        no = self.no if is_record(self.no) else {}
        telling = [
            name for name, value in self.yes.items() if value is True and no.get(name) is not True
        ]
        return telling[0] if len(telling) == 1 else None


USUAL: Final = Words({"approved": True}, {"approved": False})
_YES_NAMES: Final = (
    "approved",
    "confirmed",
    "accepted",
    "approve",
    "confirm",
    "accept",
    "allow",
    "yes",
)
_NO_NAMES: Final = ("rejected", "declined", "denied", "reject", "decline", "deny", "no")
TEXT: Final = "hostproof"
"""What is said where any text will do."""


def words_of(style: AnswerStyle, asked: Asked) -> Words:
    """Give the host's words for a question: the profile's, or those its schema asks for."""
    made = made_from(asked.schema)
    yes = made.yes if isinstance(style.yes, Missing) else style.yes
    if not isinstance(style.no, Missing):
        return Words(yes, style.no)
    if isinstance(style.yes, Missing):
        return made
    return Words(yes, _opposite(yes))


def _opposite(yes: Json) -> Json:
    if is_record(yes):
        return {name: False if value is True else value for name, value in yes.items()}
    return False


def made_from(schema: Json) -> Words:
    """Make a yes and a no that a response schema takes; the usual ones where it says nothing."""
    return said_by(schema) or USUAL


def said_by(schema: Json) -> Words | None:
    """Make the yes and the no that a response schema asks for; ``None`` where it says nothing."""
    if not is_record(schema):
        return None
    if _is_flag(schema):
        return Words(True, False)
    choices = schema.get("enum")
    if isinstance(choices, list):
        yes = next((one for one in _YES_NAMES if one in choices), None)
        no = next((one for one in _NO_NAMES if one in choices), None)
        return Words(yes, no) if yes and no else None
    members = schema.get("properties")
    if not is_record(members):
        return None
    flags = [name for name, one in members.items() if is_record(one) and _is_flag(one)]
    key = next((name for name in _YES_NAMES if name in flags), flags[0] if len(flags) == 1 else "")
    if not key:
        return None
    required = schema.get("required")
    named = [name for name in required if is_text(name)] if isinstance(required, list) else []
    rest = {name: _example(members.get(name)) for name in named if name != key}
    return Words({**rest, key: True}, {**rest, key: False})


def _is_flag(schema: Record) -> bool:
    kinds = schema.get("type")
    return kinds == "boolean" or (isinstance(kinds, list) and "boolean" in kinds)


def _example(schema: Json) -> Json:
    """Give a value that a simple schema takes."""
    if not is_record(schema):
        return TEXT
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    examples: dict[str, Json] = {
        "string": TEXT,
        "number": schema.get("minimum", 0),
        "integer": schema.get("minimum", 0),
        "boolean": False,
        "array": [],
        "object": {},
        "null": None,
    }
    kinds = schema.get("type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    return next((examples[kind] for kind in listed if is_text(kind) and kind in examples), TEXT)


def questions_of(exchange: Exchange, style: PauseStyle) -> tuple[Asked, ...]:
    """Read what a run asked when it paused; nothing where it did not pause in this style."""
    outcome = outcome_of(exchange)
    if not isinstance(outcome, Accepted):
        return ()
    if style.kind == "interrupt":
        return _interrupts(outcome.finished)
    if style.kind == "custom":
        aside = [
            event.members.get("value")
            for event in exchange.events
            if event.type == "CUSTOM" and event.members.get("name") == style.event
        ]
        beside = _interrupts(outcome.finished) if aside else ()
        return beside or tuple(Asked(id=_id_in(value)) for value in aside)
    return tuple(Asked(id=call, call=call) for call in open_calls(exchange, style.tool))


def _id_in(value: Json) -> str:
    """Give the id that an event of the host's own says, or ""."""
    named = value.get("id") if is_record(value) else None
    return named if is_text(named) else ""


def _interrupts(finished: Json) -> tuple[Asked, ...]:
    outcome = finished.get("outcome") if is_record(finished) else None
    listed = outcome.get("interrupts") if is_record(outcome) else None
    asked: dict[str, Asked] = {}
    for one in listed if isinstance(listed, list) else []:
        if is_record(one) and is_text(one.get("id")):
            call = one["toolCallId"] if is_text(one.get("toolCallId")) else ""
            asked.setdefault(one["id"], Asked(one["id"], call, one.get("responseSchema")))
    return tuple(asked.values())


def open_calls(exchange: Exchange, tool: str | None = None) -> list[str]:
    """Name the calls of *tool* (of any by default) that a run began and gave no result."""
    begun: dict[str, None] = {}
    for event in exchange.events:
        call_id = event.members.get("toolCallId")
        if not is_text(call_id):
            continue
        name = event.members.get("toolCallName")
        if event.type in _OPENS and is_text(name) and name == (tool or name):
            begun[call_id] = None
        elif event.type == "TOOL_CALL_RESULT":
            begun.pop(call_id, None)
    return list(begun)


def worded(payload: Json, words: Words, schema: Json = None) -> Json:
    """
    Put the host's words in the place of ``{yes}``, ``{no}`` and ``{key}``.

    A record with a member ``{yes}`` or ``{no}`` is that answer with the record's
    other members added.

    Args:
        payload: as a case has it.
        words: the host's.
        schema: the response schema; what it offers, a case must not try as a stranger's.

    Raises:
        InexpressibleError: the host's answers have no members, and members are to be
            added; or it offers them.
    """
    if payload in ("{yes}", "{no}"):
        return words.yes if payload == "{yes}" else words.no
    if not is_record(payload):
        return payload
    for name, answer in (("{yes}", words.yes), ("{no}", words.no)):
        if name in payload:
            if not is_record(answer):
                raise InexpressibleError("an answer with members: this host's is a bare value")
            rest = {key: value for key, value in payload.items() if key != name}
            offered = _offered(schema) & rest.keys() & ACTS
            if offered:
                raise InexpressibleError(f"members that are not offered: {min(offered)} is")
            return {**answer, **rest}
    if "{key}" not in payload:
        return payload
    if words.key is None:
        raise InexpressibleError("an answer with one telling member: this host's has none")
    rest = words.yes if is_record(words.yes) else {}
    return {**rest, **{words.key if n == "{key}" else n: value for n, value in payload.items()}}


def _offered(schema: Json) -> set[str]:
    """Name every member that a schema speaks of, at any depth."""
    named: set[str] = set()
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif is_record(one):
            members = one.get("properties")
            named |= members.keys() if is_record(members) else set()
            waiting += one.values()
    return named


def answer_members(
    style: AnswerStyle, entries: Sequence[Record], asked: Sequence[Asked] = ()
) -> Record:
    """
    Write resume entries as the members of a request, in the host's style.

    Args:
        style: the host's.
        entries: as AG-UI has them, in the host's words.
        asked: the questions that they may answer.

    Returns:
        ``resume``, ``forwardedProps``, or ``messages`` with what is to be
        added to the history; the messages still lack ids.

    Raises:
        InexpressibleError: the style has no place for them.
    """
    if style.kind == "resume":
        return {"resume": list(entries)}
    if any(one.get("status") != "resolved" for one in entries):
        raise InexpressibleError("an answer that cancels: this host's style knows none")
    ids = [str(one.get("interruptId")) for one in entries]
    if len(set(ids)) < len(ids):
        raise InexpressibleError("two answers to one question: this host's style has no place")
    payloads = [one.get("payload") for one in entries]
    if style.kind == "command":
        return {"forwardedProps": {"command": {"resume": _commanded(ids, payloads, asked)}}}
    words = [words_of(style, one) for one in asked]
    spelled = {json.dumps(answer) for one in words for answer in (one.yes, one.no)}
    if any(isinstance(payload, str) and payload in spelled for payload in payloads):
        raise InexpressibleError("a text that spells an answer: in a message it is the answer")
    return {
        "messages": [
            {"role": "tool", "toolCallId": one, "content": _as_text(payload)}
            for one, payload in zip(ids, payloads, strict=True)
        ]
    }


def _commanded(ids: Sequence[str], payloads: Sequence[Json], asked: Sequence[Asked]) -> Json:
    """
    Write what a command resumes with: the one payload, or one for each interrupt.

    A payload that stands alone answers whatever is open. So it does only for an answer
    to the one open question; any other answer has to say what it is for.
    """
    if len(ids) == 1 and (not asked or [one.id for one in asked] == list(ids)):
        return payloads[0]
    if "" in ids:
        raise InexpressibleError("a pause that names its interrupts")
    return dict(zip(ids, payloads, strict=True))


def _as_text(payload: Json) -> str:
    return payload if isinstance(payload, str) else json.dumps(payload)
