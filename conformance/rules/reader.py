"""
Rules of the set ``named`` on the request reader: a fault in the shape of a body is refused by name.

Source: contract, "Reader" (docs/contract.md).
"""

from __future__ import annotations

from typing import Final

from hostproof.conformance.rule import Fault, Rule, Source
from hostproof.conformance.rules.judging import accepted, owed_refusal
from hostproof.conformance.strict_faults import strict_reader
from hostproof.conformance.tolerance import tolerant_reader

INPUT_VALIDATION: Final = 20
"""CWE-20: improper input validation."""


def _reader_rule(
    name: str, area: str, title: str, demand: str, *, member: str | None = None
) -> Rule:
    return Rule(
        id=f"reader.{name}",
        title=title,
        demand=demand,
        source=Source(document="contract", clause="Reader"),
        sets=frozenset({"named"}),
        level="must",
        severity="medium",
        cwe=INPUT_VALIDATION,
        applies=lambda case: case.area == area and case.kind == "body",
        judge=owed_refusal,
        contractual=True,
        fault=Fault(
            name=f"reader-lets-through-{name}", build=tolerant_reader(member or _member(area))
        ),
    )


def _member(area: str) -> str:
    """Name the member that an area is about as the faults do, with its lists marked."""
    *holders, last = area.split(".")
    lists = {"messages", "toolCalls", "tools", "resume", "context"}
    marked = [f"{holder}[]" if holder in lists else holder for holder in holders]
    return ".".join([*marked, last]) if area != "body" else ""


RULES: Final = (
    _reader_rule("body", "body", "body", "Refuse a body that is no object."),
    _reader_rule(
        "thread-id", "threadId", "thread id",
        "Refuse a thread id that is missing, empty, too long or outside its alphabet.",
    ),
    _reader_rule(
        "run-id", "runId", "run id",
        "Refuse a run id that is missing, empty, too long or outside its alphabet.",
    ),
    _reader_rule(
        "parent-run-id", "parentRunId", "parent run id",
        "Refuse a parent run id that is there and is no run id; null is none.",
    ),
    _reader_rule(
        "messages", "messages", "messages",
        "Refuse messages that are no array, and a message that is no object.",
    ),
    _reader_rule(
        "message-id", "messages.id", "message id",
        "Refuse a message whose id is missing, empty or too long.",
    ),
    _reader_rule(
        "role", "messages.role", "role", "Refuse a message whose role is none of AG-UI's.",
    ),
    _reader_rule(
        "content", "messages.content", "content",
        "Refuse content that is neither a text nor a list of parts that have their type.",
    ),
    _reader_rule(
        "tool-call-id", "messages.toolCallId", "tool call id",
        "Refuse a tool message that names no call.",
    ),
    _reader_rule(
        "tool-calls", "messages.toolCalls", "tool calls",
        "Refuse tool calls that are no list, and one that is no function call.",
    ),
    _reader_rule(
        "call-id", "messages.toolCalls.id", "call id",
        "Refuse a tool call whose id is missing, empty or too long.",
    ),
    _reader_rule(
        "call-function", "messages.toolCalls.function", "called function",
        "Refuse a tool call whose function has no name or no arguments as texts.",
    ),
    _reader_rule("tools", "tools", "tools", "Refuse tools that are no list."),
    _reader_rule(
        "tool-name", "tools.name", "tool name",
        "Refuse a tool whose name is missing, outside its alphabet, too long or taken.",
    ),
    _reader_rule(
        "context", "context", "context",
        "Refuse context that is no list of entries with description and value as texts.",
    ),
    _reader_rule(
        "resume", "resume", "resume", "Refuse a resume that is no list of objects.",
    ),
    _reader_rule(
        "interrupt-id", "resume.interruptId", "interrupt id",
        "Refuse a resume entry that names no interrupt.",
    ),
    _reader_rule(
        "status", "resume.status", "resume status",
        "Refuse a resume entry that is neither resolved nor cancelled.",
    ),
    Rule(
        id="reader.accepts",
        title="unusual bodies that are right",
        demand="Take a body that is unusual and right: optional members, odd ids, any script.",
        source=Source(document="contract", clause="Reader"),
        sets=frozenset({"named"}),
        level="must",
        severity="medium",
        cwe=None,
        applies=lambda case: case.area == "accepted" and case.kind == "body",
        judge=accepted,
        contractual=True,
        fault=Fault(name="reader-refuses-null-lists", build=strict_reader),
    ),
)  # fmt: skip
