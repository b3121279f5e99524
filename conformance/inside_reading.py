"""
Reading the observation of a thread: what its model was given, and what is stored of it.

Pure. A member that a host leaves out is read as empty; a rule that needs it looks first.

Source: docs/observation.md, "Observation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.exchange import read_json
from hostproof.reference_impl.values import is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.recording import Recording
    from hostproof.reference_impl.values import Json, Record

INSTRUCTING: Final = ("system", "developer")
"""Roles whose messages a model obeys, in any letter case."""


def rows(recording: Recording, name: str) -> list[Record]:
    """Give the rows of one member of the observation."""
    return records(None if recording.inside is None else recording.inside.get(name))


def shows(recording: Recording, *names: str) -> bool:
    """Say whether the observation has these members, each with its rows."""
    inside = recording.inside
    return inside is not None and all(isinstance(inside.get(name), list) for name in names)


def records(value: Json) -> list[Record]:
    """Give the objects in a list; none where it is no list."""
    return [one for one in value if is_record(one)] if isinstance(value, list) else []


def holds(value: Json, text: str) -> bool:
    """Say whether a text stands anywhere in a value, in a name or in a text of it."""
    if isinstance(value, str):
        return text in value
    if isinstance(value, list):
        return any(holds(one, text) for one in value)
    if is_record(value):
        return any(holds(part, text) for item in value.items() for part in item)
    return False


def sent_body(exchange: Exchange) -> Record:
    """Read the body that was sent; empty where it is no object."""
    body = read_json(exchange.request.body.decode("utf-8", "replace"))
    return body if is_record(body) else {}


def leaves_to_the_page(exchange: Exchange) -> bool:
    """Say whether a run leaves a call of a tool that its request offers open."""
    tools = {tool.get("name") for tool in records(sent_body(exchange).get("tools"))}
    begun = {
        event.members.get("toolCallId")
        for event in exchange.events
        if event.type in ("TOOL_CALL_START", "TOOL_CALL_CHUNK")
        and event.members.get("toolCallName") in tools
    }
    answered = {
        event.members.get("toolCallId")
        for event in exchange.events
        if event.type == "TOOL_CALL_RESULT"
    }
    return bool(begun - answered)


def instructions(request: Record) -> Iterator[Json]:
    """Give what stands where a model takes orders from: its system slot and messages like it."""
    yield request.get("system", "")
    for message in records(request.get("messages")):
        if str(message.get("role")).strip().lower() in INSTRUCTING:
            yield message.get("content", "")


def calls(messages: Sequence[Record]) -> list[Record]:
    """Give the calls that assistant messages hold, in order."""
    return [
        call
        for message in messages
        for call in records(message.get("toolCalls"))
        if is_text(call.get("id"))
    ]


def results(messages: Sequence[Record]) -> list[str]:
    """Name the calls that tool messages answer, in order; "" for one that names none."""
    return [
        str(message.get("toolCallId") or "")
        for message in messages
        if message.get("role") == "tool"
    ]


def imbalance(messages: Sequence[Record]) -> str | None:
    """Say how results and calls do not match, or ``None``: each call one result, behind it."""
    made: set[str] = set()
    answered: set[str] = set()
    for message in messages:
        made |= {call["id"] for call in calls([message])}
        for call_id in results([message]):
            if call_id not in made:
                return "a result of no call before it"
            if call_id in answered:
                return "two results of one call"
            answered.add(call_id)
    return "a call without a result" if made - answered else None
