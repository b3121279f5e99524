"""
Rules of the set ``ag-ui`` on the order of events: one line for each clause of the grammar.

Source: AG-UI 1.0, events/lifecycle, patterns/streaming, events/subagents and others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.agui_faults import (
    announced,
    by,
    done,
    ends_as,
    event,
    inserts,
    outcome_of_event,
    without,
)
from hostproof.conformance.rules.ag_ui import CLOSING, PLAIN, grammar, named, stream_rule

if TYPE_CHECKING:
    from hostproof.conformance.agui_reading import Reading
    from hostproof.conformance.rule import Build, Level, Rule
    from hostproof.reference_impl.values import Record

STREAMING: Final = "patterns/streaming"
SUBAGENTS: Final = "events/subagents"


def _text(message: str, **members: str) -> Record:
    return event("TEXT_MESSAGE_START", messageId=message, **members)


def _text_end(message: str) -> Record:
    return event("TEXT_MESSAGE_END", messageId=message)


def _chunk(**members: str) -> Record:
    return event("TEXT_MESSAGE_CHUNK", **members)


def _call(call: str, name: str = "look", **members: str) -> Record:
    return event("TOOL_CALL_START", toolCallId=call, toolCallName=name, **members)


def _call_end(call: str) -> Record:
    return event("TOOL_CALL_END", toolCallId=call)


def _step(kind: str) -> Record:
    return event(f"STEP_{kind}", stepName="hp-step")


def _run(kind: str, run: str) -> Record:
    return event(f"RUN_{kind}", threadId="{thread}", runId=run)


def _clause(
    name: str,
    where: str,
    demand: str,
    fault: tuple[str, Build],
    level: Level = "must",
) -> Rule:
    clause = "-".join(name.split("-")[:2]).upper()
    return stream_rule(name, where, demand, fault, grammar(demand, clause), level=level)


def _cancelled(reading: Reading, index: int) -> bool:
    return outcome_of_event(_at(reading, index)) == "cancelled"


def _interrupted(reading: Reading, index: int) -> bool:
    """Say whether an event ends an interrupted run, or stands behind the end of one."""
    ends = [one for one in reading.events[: index + 1] if one.get("type") == "RUN_FINISHED"]
    return bool(ends) and outcome_of_event(ends[-1]) == "interrupt"


def _at(reading: Reading, index: int) -> Record:
    return reading.events[index] if index < len(reading.events) else {"type": ""}


OPEN_ONE: Final = _text("hp-open")

LIFECYCLE: Final = (
    _clause(
        "life-02-ends-its-runs",
        "events/lifecycle, After a run closes",
        "End every run with RUN_FINISHED or RUN_ERROR.",
        ("host-never-finishes-its-run", without("RUN_FINISHED")),
        "should",
    ),
    stream_rule(
        "life-05-closes-before-cancelling",
        "events/lifecycle, Cancelled runs",
        "Close what a run opened before the RUN_FINISHED that cancels it.",
        (
            "host-cancels-with-a-message-open",
            ends_as("success", {"type": "cancelled"}, OPEN_ONE),
        ),
        grammar("Close what a run opened before it is cancelled.", *CLOSING, at=_cancelled),
    ),
    _clause(
        "life-07-silent-after-the-end",
        "events/lifecycle, After a run closes",
        "Send nothing for a run that has ended, but one late RUN_ERROR after RUN_FINISHED.",
        ("host-speaks-after-the-end", inserts(last=[event("CUSTOM", name="x.y", value=1)])),
    ),
    _clause(
        "life-08-one-run-at-a-time",
        "events/lifecycle, Several runs on one stream",
        "Close a run before the next is opened.",
        ("host-opens-a-run-inside-a-run", inserts(first=[_run("STARTED", "{run}-before")])),
    ),
    _clause(
        "life-10-steps",
        "events/lifecycle, Steps",
        "Open no step twice, finish none that is not open, and leave none open.",
        ("host-leaves-a-step-open", inserts(start=[_step("STARTED")])),
    ),
    _clause(
        "gen-05-run-ids-differ",
        "model, Identifiers",
        "Give every run of a stream an id of its own.",
        (
            "host-runs-twice-under-one-id",
            inserts(first=[_run("STARTED", "{run}"), _run("FINISHED", "{run}")]),
        ),
    ),
    stream_rule(
        "int-04-interrupted-is-closed",
        "patterns/interrupt-resume, Interrupting",
        "Close an interrupted run as any other: its items before it, and nothing behind it.",
        (
            "host-interrupts-with-a-message-open",
            inserts(end=[OPEN_ONE]),
        ),
        grammar("Close an interrupted run as any other.", *CLOSING, "LIFE-07", at=_interrupted),
        level="should",
        shows_in=frozenset({"check_in-yes"}),
    ),
)

ITEMS: Final = (
    _clause(
        "str-01-opens-once",
        f"{STREAMING}, Open, content, close",
        "Open no message or call whose id is open.",
        (
            "host-opens-a-message-twice",
            inserts(start=[_text("hp-a"), _text("hp-a"), _text_end("hp-a")]),
        ),
    ),
    _clause(
        "str-02-content-of-the-open",
        f"{STREAMING}, Open, content, close",
        "Send content and ends only for what is open.",
        (
            "host-adds-to-no-message",
            inserts(start=[event("TEXT_MESSAGE_CONTENT", messageId="hp-a", delta="x")]),
        ),
    ),
    _clause(
        "str-03-closes-its-items",
        f"{STREAMING}, Open, content, close",
        "Close every message and call before the run finishes.",
        ("host-leaves-a-message-open", inserts(start=[OPEN_ONE])),
    ),
    _clause(
        "str-04-first-chunk",
        f"{STREAMING}, The first chunk",
        "Give a first chunk what opening needs: its id, and a call's name.",
        (
            "host-begins-a-call-without-its-name",
            inserts(start=[event("TOOL_CALL_CHUNK", toolCallId="hp-a", delta="x")]),
        ),
    ),
    _clause(
        "str-06-repeats-agree",
        f"{STREAMING}, Continuation chunks",
        "Repeat in a later chunk only what the first one said.",
        (
            "host-changes-the-role-in-a-chunk",
            inserts(start=[_chunk(messageId="hp-a", delta="x"), _chunk(role="user", delta="y")]),
        ),
    ),
    _clause(
        "str-07-one-form",
        f"{STREAMING}, The chunked form",
        "Spell an item in chunks, or with START and END, and not half in each.",
        (
            "host-ends-chunks-with-an-end",
            inserts(start=[_chunk(messageId="hp-a", delta="x"), _text_end("hp-a")]),
        ),
    ),
    _clause(
        "str-08-chunks-name-their-owner",
        f"{STREAMING}, Closing a chunk stream",
        "Attribute a chunk that continues one of several subagents' streams.",
        (
            "host-sends-a-bare-chunk-among-subagents",
            inserts(
                start=[
                    *announced("hp-1", "hp-2"),
                    *by("hp-1", _chunk(messageId="hp-a", delta="x")),
                    *by("hp-2", _chunk(messageId="hp-b", delta="x")),
                    _chunk(delta="y"),
                    *done("hp-1", "hp-2"),
                ]
            ),
        ),
    ),
    _clause(
        "str-09-chunks-end-with-their-owner",
        f"{STREAMING}, Closing a chunk stream",
        "End a subagent's chunks with the subagent.",
        (
            "host-sends-chunks-of-an-ended-subagent",
            inserts(
                start=[
                    *announced("hp-1"),
                    *by("hp-1", _chunk(messageId="hp-a", delta="x")),
                    *done("hp-1"),
                    *by("hp-1", _chunk(messageId="hp-a", delta="y")),
                ]
            ),
        ),
    ),
    _clause(
        "txt-01-reopens-as-it-was",
        "events/text-messages, TEXT_MESSAGE_END",
        "Reopen a message with the owner, role and name that it has.",
        (
            "host-reopens-a-message-in-another-role",
            inserts(
                start=[
                    _text("hp-a"),
                    _text_end("hp-a"),
                    _text("hp-a", role="user"),
                    _text_end("hp-a"),
                ]
            ),
        ),
    ),
    _clause(
        "tool-01-calls-belong-to-their-message",
        "events/tool-calls, TOOL_CALL_START",
        "Attribute a call as the message that holds it.",
        (
            "host-attributes-a-call-to-another",
            inserts(
                start=[
                    *by("hp-1", _text("hp-a"), _text_end("hp-a")),
                    *by("hp-2", _call("hp-c", parentMessageId="hp-a"), _call_end("hp-c")),
                ]
            ),
        ),
    ),
    _clause(
        "tool-02-reopens-as-it-was",
        "events/tool-calls, TOOL_CALL_END",
        "Reopen a call with the name, message and owner that it has.",
        (
            "host-reopens-a-call-under-another-name",
            inserts(
                start=[
                    _call("hp-c"),
                    _call_end("hp-c"),
                    _call("hp-c", "wipe"),
                    _call_end("hp-c"),
                ]
            ),
        ),
    ),
    _clause(
        "rsn-01-spans",
        "events/reasoning, Spans",
        "Open no span of reasoning twice, close none that is not open, and leave none open.",
        (
            "host-leaves-a-span-open",
            inserts(start=[event("REASONING_START", messageId="hp-r")]),
        ),
    ),
)

ACTIVITIES: Final = (
    stream_rule(
        "act-01-baseline-first",
        "events/activity, ACTIVITY_DELTA; patterns/snapshots, Deltas",
        "Change no activity that was never shown.",
        (
            "host-changes-an-unshown-activity",
            inserts(start=[event("ACTIVITY_DELTA", messageId="hp-a", activityType="x", patch=[])]),
        ),
        grammar("Change no activity that was never shown.", "ACT-01"),
        applies=named(*PLAIN),
    ),
    _clause(
        "act-04-keeps-its-owner",
        "events/activity, ACTIVITY_SNAPSHOT",
        "Show an activity again without replacing it only under its owner.",
        (
            "host-shows-an-activity-under-another-owner",
            inserts(
                start=[
                    event("ACTIVITY_SNAPSHOT", messageId="hp-a", activityType="x", content={}),
                    *by(
                        "hp-1",
                        event(
                            "ACTIVITY_SNAPSHOT",
                            messageId="hp-a",
                            activityType="x",
                            content={},
                            replace=False,
                        ),
                    ),
                ]
            ),
        ),
    ),
)

OWNERS: Final = (
    _clause(
        "sub-02-announces-once",
        f"{SUBAGENTS}, Lifecycle, Attribution",
        "Announce each invocation of a subagent once, under an id of its own.",
        (
            "host-announces-a-subagent-twice",
            inserts(start=[*announced("hp-1", "hp-1"), *done("hp-1")]),
        ),
    ),
    _clause(
        "sub-03-announces-first",
        f"{SUBAGENTS}, Lifecycle",
        "Announce a subagent before its first event, where it is announced.",
        (
            "host-announces-a-subagent-late",
            inserts(
                start=[
                    *by("hp-1", event("CUSTOM", name="x.y", value=1)),
                    *announced("hp-1"),
                    *done("hp-1"),
                ]
            ),
        ),
    ),
    _clause(
        "sub-04-closes-subagents",
        f"{SUBAGENTS}, Termination",
        "Close every announced subagent before the run finishes.",
        ("host-leaves-a-subagent-open", inserts(start=announced("hp-1"))),
    ),
    _clause(
        "sub-07-continues-for-its-owner",
        f"{SUBAGENTS}, Ownership",
        "Tag what continues an item, if at all, as its opener.",
        (
            "host-continues-anothers-message",
            inserts(start=[*by("hp-1", _text("hp-a")), *by("hp-2", _text_end("hp-a"))]),
        ),
    ),
    _clause(
        "sub-08-finishes-its-own-steps",
        f"{SUBAGENTS}, Ownership",
        "Finish a step under the owner who began it.",
        (
            "host-finishes-anothers-step",
            inserts(
                start=[
                    *by("hp-1", _step("STARTED")),
                    _step("FINISHED"),
                    *by("hp-1", _step("FINISHED")),
                ]
            ),
        ),
    ),
    _clause(
        "sub-09-names-known-parents",
        f"{SUBAGENTS}, Nesting and parallelism",
        "Name as a parent only a subagent that was announced in this run.",
        (
            "host-names-an-unknown-parent",
            inserts(
                start=[
                    announced("hp-1")[0] | {"parentSubagentRunId": "hp-0"},
                    *done("hp-1"),
                ]
            ),
        ),
    ),
)

RULES: Final = (*LIFECYCLE, *ITEMS, *ACTIVITIES, *OWNERS)
