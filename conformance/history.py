"""
The conversation as a client keeps it: its messages, and what a run adds to them.

A reducer over the events of a run: text and tool calls in both forms (begin,
content, end; or chunks), results, and snapshots of all messages.

Source: AG-UI 1.0, events/text-messages, events/tool-calls, patterns/snapshots-and-deltas.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostproof.reference_impl.values import Json, Record, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hostproof.conformance.exchange import Event


def messages_after(messages: Sequence[Record], events: Iterable[Event]) -> list[Record]:
    """
    Give the messages that a client holds after a run.

    Args:
        messages: those before it, the request's own included; left as they are.
        events: of the run, in order.
    """
    copy_of = _Copy([copy.deepcopy(one) for one in messages])
    for event in events:
        copy_of.take(event.type, event.members)
    return copy_of.messages


@dataclass(slots=True)
class _Copy:
    """The client's copy on its way through a run."""

    messages: list[Record]
    text: str = ""
    call: str = ""
    calls: dict[str, Record] = field(default_factory=dict)

    def take(self, kind: str, event: Record) -> None:
        if kind == "MESSAGES_SNAPSHOT":
            listed = event.get("messages")
            if isinstance(listed, list) and all(map(is_record, listed)):
                self.messages = [copy.deepcopy(one) for one in listed]
                self.calls = {}
        elif kind in ("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK"):
            self._say(event)
        elif kind in ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_CHUNK"):
            self._call(event)
        elif kind == "TOOL_CALL_RESULT":
            self._result(event)

    def _say(self, event: Record) -> None:
        self.text = _text(event.get("messageId")) or self.text
        if not self.text:
            return
        message = self._message(self.text, _text(event.get("role")) or "assistant")
        said = message.get("content")
        message["content"] = (said if is_text(said) else "") + (_text(event.get("delta")) or "")

    def _call(self, event: Record) -> None:
        self.call = _text(event.get("toolCallId")) or self.call
        if not self.call:
            return
        known = self.calls.get(self.call)
        if known is None:
            known = {
                "id": self.call,
                "type": "function",
                "function": {"name": _text(event.get("toolCallName")) or "", "arguments": ""},
            }
            self.calls[self.call] = known
            parent = _text(event.get("parentMessageId")) or self.call
            self._message(parent, "assistant").setdefault("toolCalls", []).append(known)
        known["function"]["arguments"] += _text(event.get("delta")) or ""

    def _result(self, event: Record) -> None:
        call_id = _text(event.get("toolCallId"))
        if call_id is None:
            return
        message_id = _text(event.get("messageId")) or f"result-{call_id}"
        message = self._message(message_id, "tool")
        message.update({"toolCallId": call_id, "content": event.get("content", "")})

    def _message(self, message_id: str, role: str) -> Record:
        """Give the message of an id; a new one at the end where there is none of that role."""
        for known in self.messages:
            if known.get("id") == message_id and known.get("role") == role:
                return known
        begun: Record = {"id": message_id, "role": role}
        self.messages.append(begun)
        return begun


def _text(value: Json) -> str | None:
    return value if is_text(value) else None
