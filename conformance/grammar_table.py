"""
What each event does to the items of a run, as a table: the part of the grammar that is data.

A family is a kind of item that is opened and closed; families are apart, so an id
of one says nothing about another. A lane is the parent agent or one subagent;
each has one chunk stream at most.

Source: AG-UI 1.1, patterns/streaming and the pages of each event.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Family: TypeAlias = Literal["text", "call", "reasoning", "span", "step", "subagent", "activity", ""]
Move: TypeAlias = Literal["open", "extend", "close", "chunk", "stand"]
"""Opens, adds to, or closes an item; does any of it in one (chunk); or stands by itself."""

Ends: TypeAlias = Literal["nothing", "lane", "all"]
"""Which chunk streams end when it arrives: none, its lane's, or every one."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    One type of event.

    Attributes:
        move: what it does.
        family: to which kind of item.
        member: the member that names the item, or "".
        ends: which chunk streams end.
    """

    move: Move
    family: Family = ""
    member: str = ""
    ends: Ends = "lane"


_MESSAGE: Final = "messageId"
_CALL: Final = "toolCallId"
_SUBAGENT: Final = "subagentRunId"

ROWS: Final[Mapping[str, Row]] = MappingProxyType(
    {
        "TEXT_MESSAGE_START": Row("open", "text", _MESSAGE),
        "TEXT_MESSAGE_CONTENT": Row("extend", "text", _MESSAGE),
        "TEXT_MESSAGE_END": Row("close", "text", _MESSAGE),
        "TEXT_MESSAGE_CHUNK": Row("chunk", "text", _MESSAGE, "nothing"),
        "TOOL_CALL_START": Row("open", "call", _CALL),
        "TOOL_CALL_ARGS": Row("extend", "call", _CALL),
        "TOOL_CALL_END": Row("close", "call", _CALL),
        "TOOL_CALL_CHUNK": Row("chunk", "call", _CALL, "nothing"),
        "TOOL_CALL_RESULT": Row("stand"),
        "REASONING_START": Row("open", "span", _MESSAGE),
        "REASONING_END": Row("close", "span", _MESSAGE),
        "REASONING_MESSAGE_START": Row("open", "reasoning", _MESSAGE),
        "REASONING_MESSAGE_CONTENT": Row("extend", "reasoning", _MESSAGE),
        "REASONING_MESSAGE_END": Row("close", "reasoning", _MESSAGE),
        "REASONING_MESSAGE_CHUNK": Row("chunk", "reasoning", _MESSAGE, "nothing"),
        "REASONING_ENCRYPTED_VALUE": Row("stand", ends="nothing"),
        "STEP_STARTED": Row("open", "step", "stepName"),
        "STEP_FINISHED": Row("close", "step", "stepName"),
        "STATE_SNAPSHOT": Row("stand"),
        "STATE_DELTA": Row("stand"),
        "CUSTOM": Row("stand"),
        "RAW": Row("stand", ends="nothing"),
        "MESSAGES_SNAPSHOT": Row("stand", ends="all"),
        "ACTIVITY_SNAPSHOT": Row("open", "activity", _MESSAGE, "nothing"),
        "ACTIVITY_DELTA": Row("extend", "activity", _MESSAGE, "nothing"),
        "SUBAGENT_STARTED": Row("open", "subagent", _SUBAGENT, "nothing"),
        "SUBAGENT_FINISHED": Row("close", "subagent", _SUBAGENT, "nothing"),
        "SUBAGENT_ERROR": Row("close", "subagent", _SUBAGENT, "nothing"),
    }
)
"""Every event but those that begin and end runs, by its type."""

CLAUSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "LIFE-01": "the stream begins with another event than RUN_STARTED or RUN_ERROR",
        "LIFE-02": "the stream ends inside a run",
        "LIFE-07": "an event after the end of its run",
        "LIFE-08": "a run is opened inside another",
        "LIFE-10": "a step is opened twice, finished unopened, or left open",
        "GEN-05": "two runs of the stream have one id",
        "IN-09": "the two ends of a run name two threads",
        "IN-10": "the two ends of a run name two runs",
        "STR-01": "an id is opened that is open",
        "STR-02": "content or an end for an id that is not open",
        "STR-03": "a message or call is left open at the end of its run",
        "STR-04": "a first chunk without what opening needs",
        "STR-06": "a chunk repeats a member with another value than its opener",
        "STR-07": "one item half in chunks and half not",
        "STR-08": "a bare chunk that could continue several subagents' streams",
        "STR-09": "a chunk of a subagent that has ended",
        "TXT-01": "a message is reopened with another owner, role or name",
        "TOOL-01": "a call belongs to another than its message",
        "TOOL-02": "a call is reopened with another name, message or owner",
        "RSN-01": "a span of reasoning is opened twice, closed unopened, or left open",
        "ACT-01": "a delta for an activity that was never shown",
        "ACT-04": "an activity is kept and shown again under another owner",
        "SUB-02": "a subagent is announced twice",
        "SUB-03": "a subagent is announced after its first event",
        "SUB-04": "a subagent is left open at the end of its run",
        "SUB-07": "an event names another subagent than the one that opened its item",
        "SUB-08": "a step is finished for another than who began it",
        "SUB-09": "a parent subagent that was never announced",
    }
)
"""What each clause of the grammar finds, in a few words."""
