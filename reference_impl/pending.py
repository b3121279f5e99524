"""
What was asked, as it is kept with a pause: checked before an answer is matched to it.

The store holds bytes. What cannot be gone on with is not one we wrote, and is
found before a decision is spent on it, not after. Whether its request is
recorded, and for this call, is the door's to say.

Source: contract, "Door" (docs/contract.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostproof.reference_impl.agent_steps import read_call
from hostproof.reference_impl.resume import GATES, OPEN_KINDS
from hostproof.reference_impl.values import is_number, is_record, is_text

if TYPE_CHECKING:
    from hostproof.reference_impl.values import Json


def is_pending_of_ours(value: Json) -> bool:
    """Say whether a kept value has all that an agent needs to go on after the pause."""
    if not is_record(value) or not _is_call_with_rest(value):
        return False
    kind = value.get("kind")
    if kind not in (*GATES, *OPEN_KINDS):
        return False
    if kind in GATES and not _is_progress(value.get("progress")):
        return False
    if kind == "ask" and not is_text(value.get("middleware")):
        return False
    nested = value.get("nested")
    return nested is None or _is_nested(nested)


def _is_call_with_rest(value: Json) -> bool:
    rest = value.get("rest")
    if read_call(value.get("call")) is None or not isinstance(rest, list):
        return False
    return all(read_call(one) is not None for one in rest)


def _is_progress(value: Json) -> bool:
    position = value.get("position") if is_record(value) else None
    return is_number(position) and isinstance(position, int) and position >= 0


def _is_nested(value: Json) -> bool:
    """Say whether it is a helper's conversation, and the call that asked the helper."""
    if not is_record(value) or not _is_call_with_rest(value):
        return False
    messages = value.get("messages")
    if not isinstance(messages, list) or not all(map(_is_message, messages)):
        return False
    return any(message["role"] == "user" for message in messages)


def _is_message(value: Json) -> bool:
    if not is_record(value) or not is_text(value.get("id")):
        return False
    role, content = value.get("role"), value.get("content")
    if role == "assistant":
        calls = value.get("toolCalls")
        if calls is None:
            return is_text(content)
        return isinstance(calls, list) and all(map(_is_made_call, calls))
    return is_text(content) and (
        role == "user" or (role == "tool" and is_text(value.get("toolCallId")))
    )


def _is_made_call(value: Json) -> bool:
    function = value.get("function") if is_record(value) else None
    return is_record(function) and is_text(value.get("id")) and is_text(function.get("name"))
