"""
What the styled host sends: AG-UI events as JSON objects, in the form of its setup.

Pure. Source: AG-UI 1.0, events, patterns/streaming, patterns/interrupt-resume.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.styled_setup import CONFIRM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.reference_impl.styled_input import StyledInput
    from hostproof.reference_impl.styled_model import StyledCall
    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.styled_threads import Ask
    from hostproof.reference_impl.values import Json, Record

VERSION: Final = "1.0"
EXPIRES_AT: Final = "2099-12-31T23:59:59Z"
KEY: Final = "hostproof.styled"
FAILED: Final = "The run failed."
"""All that is told of a failure inside."""


def event(kind: str, **members: Json) -> Record:
    """Write an event; members that are ``None`` are left out."""
    return {"type": kind} | {name: one for name, one in members.items() if one is not None}


def encoded(one: Record) -> bytes:
    """Write an event as one server-sent event."""
    return b"data: " + json.dumps(one, separators=(",", ":")).encode("ascii") + b"\n\n"


def started(setup: StyledSetup, given: StyledInput) -> Record:
    """Begin a run, and declare the version this host speaks."""
    return event(
        "RUN_STARTED",
        threadId=given.thread,
        runId=given.run,
        protocolVersion=VERSION,
        input=given.echo() if setup.echo_input else None,
    )


def state_shown(state: Json) -> list[Record]:
    """Show the state that a page sent; nothing where it sent none."""
    return [] if state == {} else [event("STATE_SNAPSHOT", snapshot=state)]


def said(setup: StyledSetup, message_id: str, text: str) -> list[Record]:
    """Stream a text message."""
    if setup.chunks:
        head, tail = _halves(text)
        return [
            event("TEXT_MESSAGE_CHUNK", messageId=message_id, role="assistant", delta=head),
            event("TEXT_MESSAGE_CHUNK", delta=tail),
        ]
    return [
        event("TEXT_MESSAGE_START", messageId=message_id, role="assistant"),
        event("TEXT_MESSAGE_CONTENT", messageId=message_id, delta=text),
        event("TEXT_MESSAGE_END", messageId=message_id),
    ]


def called(setup: StyledSetup, message_id: str, call: StyledCall) -> list[Record]:
    """Stream a call of a message."""
    text = arguments_text(call)
    opens: Record = {
        "toolCallId": call.id,
        "toolCallName": call.name,
        "parentMessageId": message_id,
    }
    if setup.chunks:
        head, tail = _halves(text)
        return [
            event("TOOL_CALL_CHUNK", **opens, delta=head),
            event("TOOL_CALL_CHUNK", toolCallId=call.id, delta=""),
            event("TOOL_CALL_CHUNK", delta=tail),
        ]
    return [
        event("TOOL_CALL_START", **opens),
        event("TOOL_CALL_ARGS", toolCallId=call.id, delta=text),
        event("TOOL_CALL_END", toolCallId=call.id),
    ]


def arguments_text(call: StyledCall) -> str:
    """Write a call's arguments as the wire has them."""
    return json.dumps(call.arguments)


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def returned(message: Record) -> Record:
    """Give the result of a call, as its message has it."""
    return event(
        "TOOL_CALL_RESULT",
        messageId=message["id"],
        toolCallId=message["toolCallId"],
        content=message["content"],
    )


def snapshot(messages: Sequence[Record]) -> Record:
    """Restate the conversation."""
    return event("MESSAGES_SNAPSHOT", messages=list(messages))


def finished(given: StyledInput, pending: Sequence[str] = ()) -> Record:
    """End a run well; *pending* are the calls that it leaves open."""
    outcome = event("success", pendingToolCallIds=list(pending) or None)
    return event("RUN_FINISHED", threadId=given.thread, runId=given.run, outcome=outcome)


def interrupted(setup: StyledSetup, given: StyledInput, asks: Sequence[Ask]) -> list[Record]:
    """End a run that stopped to ask; with the pause ``custom``, say so in events of its own too."""
    interrupts = [_interrupt(setup, ask) for ask in asks]
    outcome = event("interrupt", interrupts=interrupts)
    customs = interrupts if setup.pause == "custom" else []
    return [
        *(event("CUSTOM", name=setup.event, value=_aside(one)) for one in customs),
        event("RUN_FINISHED", threadId=given.thread, runId=given.run, outcome=outcome),
    ]


def _interrupt(setup: StyledSetup, ask: Ask) -> Record:
    schema: Json = {} if ask.kind == "question" else setup.response_schema
    shown: Record = {
        "id": ask.id,
        "reason": "input_required" if ask.kind == "question" else "confirmation_required",
        "message": question(ask.call),
        "toolCallId": ask.call.id,
    }
    if setup.tells_schema:
        shown["responseSchema"] = schema
    if setup.expires:
        shown |= {"expiresAt": EXPIRES_AT, "metadata": {KEY: {"tool": ask.call.name}}}
    return shown


def _aside(interrupt: Record) -> Record:
    """Write what the event of its own says of an interrupt."""
    return {"id": interrupt["id"], "question": interrupt["message"]}


def question(call: StyledCall) -> str:
    """Say what a person is asked about a call."""
    asked = call.arguments.get("question")
    return asked if isinstance(asked, str) else f"Shall {call.name} run?"


def confirmation(call: StyledCall, call_id: str) -> tuple[str, Record, str]:
    """Give name, arguments and id of the call that asks a page about another call."""
    return CONFIRM, {"callId": call.id, "question": question(call)}, call_id


def failed() -> Record:
    """End a run that broke; what broke is not told."""
    return event("RUN_ERROR", message=FAILED)
