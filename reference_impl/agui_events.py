"""
What an agent does, as AG-UI events.

Source: AG-UI 1.0, events and patterns/interrupt-resume; contract, "Host" (docs/contract.md).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ag_ui.core import (
    PROTOCOL_VERSION,
    BaseEvent,
    Interrupt,
    MessagesSnapshotEvent,
    RunErrorEvent,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
    StateSnapshotEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from ag_ui.encoder import EventEncoder

from hostproof.reference_impl.problem import METADATA_KEY, problem_members
from hostproof.reference_impl.values import MISSING, Json, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostproof.reference_impl.agent_steps import Called, Paused, Returned, Said
    from hostproof.reference_impl.refusals import Refusal

MEDIA_TYPE: Final = "text/event-stream"
_ENCODER: Final = EventEncoder()


def encode(event: BaseEvent) -> bytes:
    """Write one event as one SSE event."""
    return _ENCODER.encode(event).encode("utf-8")


def started(thread: str, run: str) -> BaseEvent:
    """Begin a run, declaring the protocol version this host speaks."""
    return RunStartedEvent(thread_id=thread, run_id=run, protocol_version=PROTOCOL_VERSION)


def state_snapshot(state: Json) -> BaseEvent:
    """Show the state the run works with."""
    return StateSnapshotEvent(snapshot=state)


def said(step: Said) -> Iterator[BaseEvent]:
    """Stream a text message."""
    message_id = step.message["id"]
    yield TextMessageStartEvent(message_id=message_id, role="assistant")
    yield TextMessageContentEvent(message_id=message_id, delta=step.message["content"])
    yield TextMessageEndEvent(message_id=message_id)


def called(step: Called) -> Iterator[BaseEvent]:
    """Stream the calls of a message, each whole."""
    for call in step.calls:
        parent = None if step.nested else step.message["id"]
        yield ToolCallStartEvent(
            tool_call_id=call.id, tool_call_name=call.tool, parent_message_id=parent
        )
        yield ToolCallArgsEvent(tool_call_id=call.id, delta=json.dumps(call.arguments))
        yield ToolCallEndEvent(tool_call_id=call.id)


def returned(step: Returned) -> BaseEvent:
    """Give a call's result."""
    message = step.message
    return ToolCallResultEvent(
        message_id=message["id"], tool_call_id=message["toolCallId"], content=message["content"]
    )


def messages_snapshot(messages: Sequence[Record]) -> BaseEvent:
    """Restate the conversation as the host holds it."""
    return MessagesSnapshotEvent.model_validate({"messages": list(messages)})


def finished(thread: str, run: str, pending_calls: Sequence[str] = ()) -> BaseEvent:
    """End a run well; *pending_calls* are the page's to answer."""
    outcome = RunFinishedSuccessOutcome(
        type="success", **_given(pending_tool_call_ids=list(pending_calls) or None)
    )
    return RunFinishedEvent(thread_id=thread, run_id=run, outcome=outcome)


ANSWER_SCHEMAS: Final[dict[str, Record]] = {
    "question": {},
    "credential": {},
    "decision": {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "by": {"type": "string"},
            "note": {"type": "string"},
            "value": {"type": "object"},
        },
        "required": ["approved", "by"],
    },
}
"""What an answer must look like: anything, or a decision."""

REASONS: Final = {
    "question": "input_required",
    "credential": "credential_required",
    "checkIn": "confirmation_required",
    "ask": "confirmation_required",
}


def interrupted(thread: str, run: str, interrupt_id: str, step: Paused) -> BaseEvent:
    """
    End a run that stopped to ask.

    The interrupt carries the question, what the asker shows with it, and the
    id of the call it is about. Evidence, instructions and the request's id
    stay on the server.
    """
    shown = {
        "detail": step.pending.get("ask", {}).get("detail", MISSING),
        "component": step.pending.get("component", MISSING),
    }
    metadata = {name: value for name, value in shown.items() if value is not MISSING}
    gated = step.kind in ("checkIn", "ask")
    interrupt = Interrupt(
        id=interrupt_id,
        reason=REASONS[step.kind],
        message=step.question,
        tool_call_id=step.call.id,
        response_schema=ANSWER_SCHEMAS["decision" if gated else step.kind],
        **_given(metadata={METADATA_KEY: metadata} if metadata else None),
    )
    outcome = RunFinishedInterruptOutcome(type="interrupt", interrupts=[interrupt])
    return RunFinishedEvent(thread_id=thread, run_id=run, outcome=outcome)


def refused(refusal: Refusal) -> BaseEvent:
    """End a run with a refusal: the same code as before the stream, the rest as metadata."""
    members = problem_members(refusal)
    return RunErrorEvent(
        message=refusal.message,
        **_given(code=refusal.code, metadata={METADATA_KEY: members} if members else None),
    )


def failed(incident: str) -> BaseEvent:
    """End a run that broke; the *incident* is what the server's log names it by."""
    return RunErrorEvent(
        message="The run failed. The server's log has the reason.",
        metadata={METADATA_KEY: {"incident": incident}},
    )


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
