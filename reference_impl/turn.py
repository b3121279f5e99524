"""
The one turn a checked request may ask for, against what the server holds.

A request is a person's message, or an answer to the pause the server keeps;
nothing else in it is ever taken as said or done. Its assistant and tool
messages are the page's own copy, and the server's copy is the one that counts.
A page's state and context reach the agent only through the application's
validators, its tools only by the application's list. ``forwardedProps`` is
never read.

Source: contract, "Turn" (docs/contract.md).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from hostproof.reference_impl.checkin import looks_like_decision
from hostproof.reference_impl.refusals import Refusal, malformed, refuse
from hostproof.reference_impl.suspension import read_suspension
from hostproof.reference_impl.values import MISSING, Json, Missing, Record, is_record, is_text, trim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hostproof.reference_impl.reader import RunInput
    from hostproof.reference_impl.suspension import SuspendedCall, Suspension

T = TypeVar("T")
Carried = Literal["state", "context"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaiting:
    """
    The pause a thread is waiting on.

    Attributes:
        suspension: the stored pause record, unread.
        pending: what was asked; ``checkIn.id`` or ``ask.id`` name a consent request.
    """

    suspension: Json = MISSING
    pending: Json = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the server holds for the bound thread."""

    awaiting: Awaiting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    What this host is, and what it knows about the request.

    Attributes:
        keeps_pauses: whether a paused run outlives its request.
        keeps_conversation: whether the host keeps what was said.
        thread: the bound thread id.
        headers: the request's headers, lower-case names.
    """

    keeps_pauses: bool
    keeps_conversation: bool
    thread: str | Missing | None = MISSING
    headers: Mapping[str, str] | Missing = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatorContext:
    """What a validator is told beside the value: the bound thread and the headers."""

    thread: str | Missing | None
    headers: Mapping[str, str] | Missing


class Validator(Protocol):
    """
    Decides what of a page's value reaches the agent.

    It returns the value to hand on (``MISSING`` for none), or raises. A
    :class:`Refusal` it raises keeps its status and code; of any other error
    nothing is shown.
    """

    def __call__(self, value: Json, context: ValidatorContext, /) -> Json:
        """Give the accepted value, at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(Generic[T]):
    """
    What the application lets a page decide.

    Attributes:
        frontend_tools: builders of the tools a page may run, by name; the
            description and schema are the application's.
        accept: validators of ``state`` and ``context``; none means not carried.
    """

    frontend_tools: Mapping[str, Callable[[], T]] = field(default_factory=dict)
    accept: Mapping[Carried, Validator] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MessageTurn:
    """The turn is a person's message."""

    message: str


@dataclass(frozen=True, slots=True)
class AnswerTurn:
    """The turn answers the pause; ``MISSING`` when the entry has no payload."""

    answer: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Generic[T]):
    """The turn, the page's tools that are enabled, and the page's values that were accepted."""

    turn: MessageTurn | AnswerTurn
    tools: tuple[T, ...] = ()
    accepted: Mapping[Carried, Json] = field(default_factory=dict)


def plan_turn(request: RunInput, held: Held, facts: Facts, rules: Rules[T]) -> Plan[T]:
    """
    Plan the one turn *request* may ask for.

    Args:
        request: a request :mod:`hostproof.reference_impl.reader` has checked.
            One of any other shape is refused, never trusted.
        held: what the server holds for the bound thread.
        facts: what this host is.
        rules: what the application lets a page decide.

    Raises:
        Refusal: the first of the contract's refusals that applies, or a
            validator's own.
        TypeError: a validator answers later (an awaitable): a wiring mistake.
    """
    messages = _list(request, "messages")
    for at, message in enumerate(messages):
        if message.get("role") in ("system", "developer"):
            raise refuse(
                "ERR_INSTRUCTIONS_NOT_CARRIED",
                f"`messages[{at}]` holds instructions. An agent's instructions are its own.",
                field=f"messages[{at}]",
            )
    tools = _tools(_list(request, "tools"), facts, rules)
    accepted: dict[Carried, Json] = {}
    values: tuple[tuple[Carried, Json], ...] = (
        ("state", request.get("state")),
        ("context", _list(request, "context")),
    )
    for name, value in values:
        kept = _validated(name, value, rules.accept.get(name), facts)
        if kept is not MISSING:
            accepted[name] = kept
    turn = _turn(messages, _list(request, "resume"), held, facts)
    return Plan(turn=turn, tools=tools, accepted=accepted)


def _list(request: Json, name: str) -> list[Record]:
    """Take a list of objects off the request; the reader has made sure that it is one."""
    value = request.get(name) if is_record(request) else MISSING
    if value is None or (value is MISSING and name == "resume"):
        return []
    if not isinstance(value, list) or not all(map(is_record, value)):
        raise malformed(name, f"`{name}` must be an array of objects.")
    return value


def _tools(declared: list[Record], facts: Facts, rules: Rules[T]) -> tuple[T, ...]:
    built: list[T] = []
    for at, tool in enumerate(declared):
        name = tool.get("name")
        build = rules.frontend_tools.get(name) if is_text(name) else None
        if build is None:
            raise refuse(
                "ERR_TOOL_NOT_ALLOWED",
                f"`tools[{at}]` names a tool that the application does not let a page run.",
                field=f"tools[{at}]",
            )
        built.append(build())
    if built and not facts.keeps_pauses:
        raise refuse(
            "ERR_CLIENT_TOOLS_NOT_CARRIED",
            "A page's tool answers in the next request, and this host keeps no paused run.",
        )
    return tuple(built)


def _validated(name: Carried, value: Json, validator: Validator | None, facts: Facts) -> Json:
    """Give what the validator accepts; an empty value reaches none."""
    if value is None or (isinstance(value, list | dict) and not value):
        return MISSING
    upper = name.upper()
    if validator is None:
        raise refuse(
            f"ERR_{upper}_NOT_CARRIED",
            f"The request carries `{name}`, and this agent takes none from a page.",
            field=name,
        )
    kept: Json = MISSING
    failed = False
    try:
        kept = validator(value, ValidatorContext(thread=facts.thread, headers=facts.headers))
    except Refusal:
        raise
    except Exception:  # noqa: BLE001 - the validator's own way to say no
        failed = True
    if failed:
        raise refuse(
            f"ERR_{upper}_REFUSED", f"The application did not accept `{name}`.", field=name
        )
    if inspect.isawaitable(kept):
        if inspect.iscoroutine(kept):
            kept.close()
        raise TypeError(f"the validator of `{name}` returns an awaitable: make it a plain def")
    return kept


def _turn(
    messages: list[Record], resume: list[Record], held: Held, facts: Facts
) -> MessageTurn | AnswerTurn:
    awaiting = held.awaiting
    if awaiting is None:
        return _open_turn(messages, resume, facts)
    suspension = read_suspension(awaiting.suspension)
    if suspension is None:
        raise refuse(
            "ERR_AWAITING_DECISION",
            "This thread waits on an answer that another door asked for; answer it there.",
        )
    call = suspension.get("call")
    if call is not None and call["client"]:
        return AnswerTurn(_client_result(messages, call))
    return AnswerTurn(_interrupt_answer(resume, suspension, awaiting.pending))


def _open_turn(messages: list[Record], resume: list[Record], facts: Facts) -> MessageTurn:
    """Plan a turn of a thread that waits on nothing."""
    if resume:
        raise refuse(
            "ERR_NO_PENDING_ASK",
            "The request answers an interrupt, and this thread waits on none."
            if facts.keeps_pauses
            else "The request answers an interrupt, and this host keeps no paused run.",
        )
    at = len(messages) - 1
    if messages and messages[at].get("role") == "tool":
        raise refuse(
            "ERR_UNKNOWN_TOOL_CALL",
            f"`messages[{at}]` answers a tool call that this thread does not wait on.",
            field=f"messages[{at}]",
        )
    return MessageTurn(_newest_message(messages, facts))


def _newest_message(messages: list[Record], facts: Facts) -> str:
    at = len(messages) - 1
    if not messages or messages[at].get("role") != "user":
        raise refuse(
            "ERR_NO_USER_TURN",
            "The newest message must be the person's (role `user`): it is what is answered.",
        )
    if not facts.keeps_conversation and at > 0:
        raise refuse(
            "ERR_CONVERSATION_NOT_KEPT",
            "The request goes on with a conversation, and this host keeps none.",
        )
    text = _text(messages[at], at)
    if not trim(text):
        raise refuse("ERR_NO_USER_TURN", f"`messages[{at}]` says nothing.", field=f"messages[{at}]")
    return text


def _text(message: Record, at: int) -> str:
    """Join a message's text parts; a part of another kind is refused, never dropped."""
    content = message.get("content", "")
    if is_text(content):
        return content
    parts = content if isinstance(content, list) else [content]
    texts: list[str] = []
    for part in parts:
        if not is_record(part) or part.get("type") != "text" or not is_text(part.get("text")):
            raise refuse(
                "ERR_MEDIA_NOT_CARRIED",
                f"`messages[{at}]` has a part that is no text; this agent is given text only.",
                field=f"messages[{at}]",
            )
        texts.append(part["text"])
    return "".join(texts)


def _client_result(messages: list[Record], call: SuspendedCall) -> str:
    """Take the page's result of the call it runs: the newest message, or nothing."""
    at = len(messages) - 1
    newest = messages[at] if messages else {}
    if newest.get("role") != "tool":
        raise refuse(
            "ERR_AWAITING_DECISION",
            "This thread waits on the result of a tool the page runs: send it as the newest "
            "message, a `tool` message for that call.",
        )
    if newest.get("toolCallId") != call["toolCallId"]:
        raise refuse(
            "ERR_UNKNOWN_TOOL_CALL",
            f"`messages[{at}]` answers a tool call that this thread does not wait on.",
            field=f"messages[{at}]",
        )
    return _text(newest, at)


def _interrupt_answer(resume: list[Record], suspension: Suspension, pending: Json) -> Json:
    """Match the one resume entry to the interrupt, and give its payload."""
    if not resume:
        raise refuse(
            "ERR_AWAITING_DECISION",
            "This thread waits on the answer to its interrupt: send it in `resume`.",
            field="resume",
        )
    expected = suspension.get("interruptId", MISSING)
    strangers = [at for at, entry in enumerate(resume) if entry.get("interruptId") != expected]
    if strangers or len(resume) != 1:
        at = strangers[0] if strangers else 0
        raise refuse(
            "ERR_UNKNOWN_INTERRUPT",
            f"`resume[{at}]` does not answer the one interrupt this thread waits on.",
            field=f"resume[{at}]",
        )
    if resume[0].get("status") == "cancelled":
        raise refuse(
            "ERR_CANCEL_NOT_CARRIED",
            "A paused run goes on with an answer only. Answer it: a decline is an answer.",
        )
    return _named(resume[0].get("payload", MISSING), pending)


def _named(payload: Json, pending: Json) -> Json:
    """
    Name the request in a decision that names none.

    A page never sees the request id. The interrupt it answered was matched to
    the pause, and one pause asks one request, so the host can name it. A
    decision that names a request keeps it, for the door to judge.
    """
    if not looks_like_decision(payload) or "requestId" in payload:
        return payload
    request_id = _request_id(pending)
    return payload if request_id is None else {**payload, "requestId": request_id}


def _request_id(pending: Json) -> str | None:
    if not is_record(pending):
        return None
    for gate in ("checkIn", "ask"):
        asked = pending.get(gate)
        identifier = asked.get("id") if is_record(asked) else None
        if identifier is not None:
            return identifier if is_text(identifier) else None
    return None
