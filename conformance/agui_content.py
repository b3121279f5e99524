"""
What the runs of a stream say, beyond the order of their events: ids, texts, calls, state, counts.

Pure. Each function gives the places where a clause is broken. A stream that breaks
the grammar or the schema is read as far as it goes, and says nothing here on that.

Source: AG-UI 1.0, model, run-input, events/tool-calls, events/state, events/lifecycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hostproof.conformance.agui_shapes import shape_breaches
from hostproof.conformance.json_patch import PatchError, PatchTooLargeError, patched
from hostproof.conformance.rule import Breach
from hostproof.reference_impl.values import is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostproof.conformance.agui_reading import Reading
    from hostproof.reference_impl.values import Json, Record

Found = tuple[int, Breach]

FAMILIES: Final = {
    "TEXT_MESSAGE_START": "text",
    "TEXT_MESSAGE_CHUNK": "text",
    "REASONING_MESSAGE_START": "reasoning",
    "REASONING_MESSAGE_CHUNK": "reasoning",
    "TOOL_CALL_RESULT": "tool",
    "ACTIVITY_SNAPSHOT": "activity",
}
"""Which kind of message an event's ``messageId`` names; a span of reasoning names none."""

CONTENT: Final = ("TEXT_", "TOOL_CALL_", "REASONING_", "STATE_", "MESSAGES_", "ACTIVITY_")


def _records(value: Json) -> list[Record]:
    return [one for one in value if is_record(one)] if isinstance(value, list) else []


def requested_run(reading: Reading) -> int | None:
    """Give the place of the last RUN_STARTED: the run that was asked for."""
    kinds = [event.get("type") for event in reading.events]
    return None if "RUN_STARTED" not in kinds else len(kinds) - 1 - kinds[::-1].index("RUN_STARTED")


def foreign_threads(reading: Reading) -> Iterator[Found]:
    """Find ends of runs that name another thread than the input, if that names one (IN-09)."""
    asked = reading.input.get("threadId")
    for index, event in enumerate(reading.events):
        if event.get("type") in ("RUN_STARTED", "RUN_FINISHED") and is_text(asked) and asked:
            named = event.get("threadId")
            if is_text(named) and named != asked:
                yield index, Breach(expected="the input's threadId", seen="another threadId")


def foreign_runs(reading: Reading) -> Iterator[Found]:
    """Find a requested run that has another id than the input (IN-11)."""
    asked, index = reading.input.get("runId"), requested_run(reading)
    if index is not None and is_text(asked):
        named = reading.events[index].get("runId")
        if is_text(named) and named != asked:
            seen = "another runId on the last RUN_STARTED"
            yield index, Breach(expected="the input's runId on the requested run", seen=seen)


def shared_message_ids(reading: Reading) -> Iterator[Found]:
    """Find new messages under the id of another (GEN-06)."""
    roles: dict[str, Json] = {}
    for message in _records(reading.input.get("messages")):
        if is_text(message.get("id")):
            roles.setdefault(message["id"], message.get("role"))
    families: dict[str, str] = {}
    for index, event in enumerate(reading.events):
        family, name = FAMILIES.get(str(event.get("type"))), event.get("messageId")
        if family is None or not is_text(name):
            continue
        role = event.get("role", "assistant") if family == "text" else family
        opens = family != "text" or name not in families
        differs = name in roles and roles[name] != role and opens
        if differs or families.setdefault(name, family) != family:
            seen = "the id of a message of another role or kind"
            yield index, Breach(expected="an id of its own for a new message", seen=seen)


@dataclass(slots=True)
class _Message:
    """A text message as it is streamed."""

    role: Json
    owner: Json
    text: str = ""
    open: bool = True


@dataclass(slots=True)
class _Texts:
    """The text messages of one run, in the order in which they were begun."""

    messages: dict[str, _Message] = field(default_factory=dict)
    chunked: str | None = None

    def take(self, event: Record) -> None:
        """Follow one event; chunks are followed for one stream at a time."""
        kind, name = event.get("type"), event.get("messageId")
        if kind != "TEXT_MESSAGE_CHUNK" and self.chunked in self.messages:
            self.messages[str(self.chunked)].open = False
            self.chunked = None
        if kind == "TEXT_MESSAGE_CHUNK":
            name = self.chunked = name if is_text(name) else self.chunked
        if not is_text(name):
            return
        if kind in ("TEXT_MESSAGE_START", "TEXT_MESSAGE_CHUNK"):
            begun = _Message(event.get("role", "assistant"), event.get("subagentRunId"))
            self.messages.setdefault(name, begun).open = True
        message = self.messages.get(name)
        delta = event.get("delta")
        if message is not None and str(kind).startswith("TEXT_MESSAGE_"):
            message.text += delta if is_text(delta) else ""
            message.open = message.open and kind != "TEXT_MESSAGE_END"


def restreamed(reading: Reading) -> Iterator[Found]:
    """Find messages of the input that are streamed again, word for word (LIFE-09)."""
    given = {
        message["id"]: (message.get("role"), message["content"])
        for message in _records(reading.input.get("messages"))
        if is_text(message.get("id")) and is_text(message.get("content")) and message["content"]
    }
    texts = _Texts()
    for index, event in enumerate(reading.events):
        texts.take(event)
        if event.get("type") == "RUN_FINISHED":
            for name, message in texts.messages.items():
                if given.get(name) == (message.role, message.text):
                    seen = "a message of the input, streamed again"
                    yield index, Breach(expected="history restated as a snapshot", seen=seen)
            texts = _Texts()


def incomplete_snapshots(reading: Reading) -> Iterator[Found]:
    """Find snapshots of the conversation that lack a message of their run (STATE-01)."""
    texts = _Texts()
    for index, event in enumerate(reading.events):
        texts.take(event)
        kind = event.get("type")
        if kind in ("RUN_STARTED", "RUN_FINISHED"):
            texts = _Texts()
        if kind != "MESSAGES_SNAPSHOT" or not isinstance(event.get("messages"), list):
            continue
        held = {
            message.get("id") for message in _records(event["messages"]) if _has_text_id(message)
        }
        for name, message in texts.messages.items():
            if message.text and not message.open and message.owner is None and name not in held:
                seen = "a snapshot without a message that the run has streamed"
                yield index, Breach(expected="every message that the host owns", seen=seen)


def _has_text_id(message: Record) -> bool:
    return is_text(message.get("id"))


def unanswered_calls(reading: Reading, start: int, end: int) -> list[str]:
    """List the calls of a run that have no result in it, in the order they were made."""
    begun: dict[str, None] = {}
    answered: set[str] = set()
    for event in reading.events[start:end]:
        name = event.get("toolCallId")
        if not is_text(name):
            continue
        if event.get("type") in ("TOOL_CALL_START", "TOOL_CALL_CHUNK"):
            begun.setdefault(name)
        elif event.get("type") == "TOOL_CALL_RESULT":
            answered.add(name)
    return [name for name in begun if name not in answered]


def wrong_pending_calls(reading: Reading) -> Iterator[Found]:
    """Find lists of pending calls that differ from the stream (TOOL-08)."""
    start = 0
    for index, event in enumerate(reading.events):
        if event.get("type") == "RUN_STARTED":
            start = index
        outcome = event.get("outcome")
        pending = outcome.get("pendingToolCallIds") if is_record(outcome) else None
        if event.get("type") != "RUN_FINISHED" or not isinstance(pending, list) or not pending:
            continue
        if pending != unanswered_calls(reading, start, index):
            yield (
                index,
                Breach(
                    expected="exactly the calls that the run started and did not answer, in order",
                    seen="a list of other calls, or in another order",
                ),
            )


def repeated_interrupts(reading: Reading) -> Iterator[Found]:
    """Find interrupts of one run under one id (INT-03)."""
    for index, event in enumerate(reading.events):
        outcome = event.get("outcome")
        asked = _records(outcome.get("interrupts")) if is_record(outcome) else []
        ids = [one["id"] for one in asked if is_text(one.get("id"))]
        if len(set(ids)) != len(ids):
            yield index, Breach(expected="an id of its own for each interrupt", seen="one id twice")


def inapplicable_deltas(reading: Reading) -> Iterator[Found]:
    """Find changes of the state that do not apply to what the client holds (IN-14)."""
    state = reading.input.get("state")
    held: Json = {} if state is None else state
    for index, event in enumerate(reading.events):
        if event.get("type") == "STATE_SNAPSHOT" and "snapshot" in event:
            held = event["snapshot"]
        elif event.get("type") == "STATE_DELTA" and not shape_breaches(event):
            try:
                held = patched(held, event["delta"])
            except PatchTooLargeError:
                return
            except PatchError:
                seen = "a delta that does not apply to it"
                yield index, Breach(expected="deltas against the state that was sent", seen=seen)
                return


def broken_activities(reading: Reading) -> Iterator[Found]:
    """Find changes that leave an activity's content no object (ACT-03)."""
    contents: dict[str, Json] = {}
    for index, event in enumerate(reading.events):
        kind, name = event.get("type"), event.get("messageId")
        if not is_text(name) or shape_breaches(event):
            continue
        if kind == "ACTIVITY_SNAPSHOT" and (event.get("replace", True) or name not in contents):
            contents[name] = event["content"]
        elif kind == "ACTIVITY_DELTA" and name in contents:
            try:
                contents[name] = patched(contents[name], event["patch"])
            except (PatchError, PatchTooLargeError):
                del contents[name]
                continue
            if not is_record(contents[name]):
                seen = "a patch that leaves another value"
                yield (
                    index,
                    Breach(expected="an activity's content that stays an object", seen=seen),
                )
                return


def _usages(reading: Reading) -> Iterator[tuple[int, dict[str, int]]]:
    for index, event in enumerate(reading.events):
        if event.get("type") in ("RUN_FINISHED", "RUN_ERROR"):
            for usage in _records(event.get("usage")):
                counts = {name: value for name, value in usage.items() if type(value) is int}
                yield index, counts


def uncounted_parts(reading: Reading) -> Iterator[Found]:
    """Find counts of tokens that are more than the total they are a part of (LIFE-11)."""
    for index, counts in _usages(reading):
        cached = counts.get("cachedInputTokens", 0) + counts.get("cacheWriteInputTokens", 0)
        reasoned = counts.get("reasoningTokens", 0)
        if cached > counts.get("inputTokens", cached) or reasoned > counts.get(
            "outputTokens", reasoned
        ):
            seen = "a part that is more than its total"
            yield index, Breach(expected="totals that hold their parts", seen=seen)


def wrong_totals(reading: Reading) -> Iterator[Found]:
    """Find totals of tokens that are not input and output together (LIFE-12)."""
    for index, counts in _usages(reading):
        if {"inputTokens", "outputTokens", "totalTokens"} <= counts.keys():
            total = counts["inputTokens"] + counts["outputTokens"]
            if counts["totalTokens"] != total:
                seen = "another total"
                yield index, Breach(expected="a total of input and output", seen=seen)


def cancelled_results(reading: Reading) -> Iterator[Found]:
    """Find results of runs that were cancelled (LIFE-06)."""
    for index, event in enumerate(reading.events):
        outcome = event.get("outcome")
        cancelled = is_record(outcome) and outcome.get("type") == "cancelled"
        if event.get("type") == "RUN_FINISHED" and cancelled and "result" in event:
            yield index, Breach(expected="no result of a cancelled run", seen="a result")


def spelled_providers(reading: Reading) -> Iterator[Found]:
    """Find providers of file handles that are not in lower case (IN-08)."""
    for index, event in enumerate(reading.events):
        holders = [event, *_records(event.get("messages"))]
        parts = [part for holder in holders for part in _records(holder.get("content"))]
        sources = [part["source"] for part in parts if is_record(part.get("source"))]
        for source in sources:
            provider = source.get("provider")
            if is_text(provider) and provider != provider.lower():
                seen = "a provider in capitals"
                yield index, Breach(expected="the provider's id in lower case", seen=seen)


def reserved_keys(reading: Reading) -> Iterator[Found]:
    """Find metadata under the key that is kept for the protocol (META-02)."""
    for index, event in enumerate(reading.events):
        outcome = event.get("outcome")
        holders = [event, *_records(event.get("messages"))]
        holders += _records(outcome.get("interrupts")) if is_record(outcome) else []
        metadata = [holder.get("metadata") for holder in holders]
        if any(is_record(one) and "ag-ui" in one for one in metadata):
            seen = "the key that is kept for the protocol"
            yield index, Breach(expected="metadata under keys of the host's own", seen=seen)


def bare_names(reading: Reading) -> Iterator[Found]:
    """Find custom events whose names have no prefix (PASS-02)."""
    for index, event in enumerate(reading.events):
        name = event.get("name")
        if event.get("type") == "CUSTOM" and is_text(name) and name.replace("_", "a").isalnum():
            yield index, Breach(expected="a name with a prefix", seen="a bare name")


def says_all_in(kind: str, reading: Reading) -> Iterator[Found]:
    """Find runs whose only content is events of one passthrough type (PASS-01, PASS-03)."""
    kinds = [str(event.get("type")) for event in reading.events]
    if kind in kinds and not any(one.startswith(CONTENT) for one in kinds):
        seen = f"a run that says all in {kind} events"
        yield kinds.index(kind), Breach(expected="standard events for what has one", seen=seen)
