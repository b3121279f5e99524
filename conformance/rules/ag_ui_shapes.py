"""
Rules of the set ``ag-ui`` on the shape of events: one line for each clause of the strict schema.

Source: AG-UI 1.1, schema; architecture, Design Principles; the pages of each event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.agui_faults import alters, done, ends_as, event, inserts
from hostproof.conformance.rules.ag_ui import PLAIN, shape, stream_rule

if TYPE_CHECKING:
    from hostproof.conformance.rule import Build, Level, Rule
    from hostproof.reference_impl.values import Json, Record


def _result(content: Json) -> Record:
    return event("TOOL_CALL_RESULT", messageId="hp-m", toolCallId="hp-c", content=content)


def _clause(
    name: str,
    where: str,
    demand: str,
    fault: tuple[str, Build],
    level: Level = "must",
    *,
    shows_in: frozenset[str] = PLAIN,
    document: str = "AG-UI 1.0",
) -> Rule:
    clause = "-".join(name.split("-")[:2]).upper()
    judge = shape(demand, clause)
    return stream_rule(
        name, where, demand, fault, judge, level=level, shows_in=shows_in, document=document
    )


RULES: Final = (
    _clause(
        "gen-01-as-the-schema-says",
        "architecture, Design Principles",
        "Send only members that the schema describes, with values that it allows.",
        ("host-sends-a-member-of-its-own", alters("RUN_FINISHED", hostproof=1)),
    ),
    _clause(
        "gen-02-known-types",
        "processing, What a producer must not do",
        "Send no type of event that the schema does not describe.",
        ("host-sends-a-retired-type", inserts(start=[event("THINKING_START")])),
    ),
    _clause(
        "gen-03-absent-is-absent",
        "model, Absent means absent",
        "Leave an optional member without a value out; never send it as null.",
        ("host-sends-null-members", alters("RUN_FINISHED", rawEvent=None)),
    ),
    _clause(
        "meta-01-metadata-is-an-object",
        "metadata, The value",
        "Send metadata as an object, or leave it out.",
        ("host-sends-null-metadata", alters("RUN_STARTED", metadata=None)),
    ),
    _clause(
        "int-02-asks-something",
        "patterns/interrupt-resume, Interrupting",
        "Give an interrupted run at least one interrupt.",
        (
            "host-interrupts-without-interrupts",
            ends_as("success", {"type": "interrupt", "interrupts": []}),
        ),
        "should",
    ),
    _clause(
        "life-03-known-outcomes",
        "events/lifecycle, RUN_FINISHED",
        "End a run with an outcome that the schema names, or none.",
        ("host-invents-an-outcome", ends_as("success", {"type": "paused"})),
    ),
    _clause(
        "tool-03-result-content",
        "events/tool-calls, Result content",
        "Give a result's content as a text or a list of parts.",
        ("host-gives-a-result-as-an-object", inserts(start=[_result({"paid": True})])),
    ),
    _clause(
        "tool-11-reserved-parts",
        "events/tool-calls, Data Types",
        "Send no part whose name is kept for a later version.",
        ("host-sends-a-reserved-part", inserts(start=[_result([{"type": "reasoning"}])])),
    ),
    _clause(
        "snap-03-patches",
        "patterns/snapshots, When a patch does not apply",
        "Write patches as RFC 6902 has them.",
        (
            "host-writes-a-patch-of-its-own",
            inserts(start=[event("STATE_DELTA", delta=[{"op": "append", "path": "a"}])]),
        ),
        "should",
    ),
    _clause(
        "rsn-02-reasoning-role",
        "events/reasoning, Reasoning messages",
        "Say the role on the start of a reasoning message.",
        (
            "host-leaves-off-the-reasoning-role",
            inserts(
                start=[
                    event("REASONING_MESSAGE_START", messageId="hp-r"),
                    event("REASONING_MESSAGE_END", messageId="hp-r"),
                ]
            ),
        ),
        "should",
    ),
    _clause(
        "rsn-05-a-type-has-its-value",
        "events/reasoning, encryptedValueType",
        "Send the type of an encrypted value only with the value.",
        (
            "host-types-no-value",
            inserts(
                end=[
                    event(
                        "MESSAGES_SNAPSHOT",
                        messages=[{"id": "hp-m", "role": "assistant", "encryptedValueType": "x.y"}],
                    )
                ],
            ),
        ),
        document="AG-UI 1.1",
    ),
    _clause(
        "act-02-names-its-type",
        "events/activity, ACTIVITY_DELTA",
        "Name the type of an activity on every change to it.",
        (
            "host-leaves-off-an-activitys-type",
            inserts(
                start=[
                    event("ACTIVITY_SNAPSHOT", messageId="hp-a", activityType="x", content={}),
                    event("ACTIVITY_DELTA", messageId="hp-a", patch=[]),
                ]
            ),
        ),
    ),
    _clause(
        "sub-01-names-the-subagent",
        "events/subagents, Lifecycle, Attribution",
        "Name the subagent on its own events, and never as null.",
        (
            "host-tags-nobody",
            inserts(start=[event("CUSTOM", name="x.y", value=1, subagentRunId=None)]),
        ),
    ),
    _clause(
        "sub-06-subagent-outcomes",
        "events/subagents, Lifecycle",
        "End a subagent with an outcome that the schema names, and no interrupts on success.",
        (
            "host-invents-a-subagents-outcome",
            inserts(
                start=[
                    event("SUBAGENT_STARTED", subagentRunId="hp-1", name="helper"),
                    done("hp-1")[0] | {"outcome": {"type": "success", "interruptIds": []}},
                ]
            ),
        ),
    ),
    _clause(
        "in-17-echoes-an-input",
        "run-input (intro)",
        "Echo in RUN_STARTED, if at all, a valid input.",
        (
            "host-echoes-half-an-input",
            alters("RUN_STARTED", input={"threadId": "hp-t", "messages": []}),
        ),
        "guide",
    ),
)
