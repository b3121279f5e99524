"""The strict schema of events: what it takes, and which clause each departure breaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hostproof.conformance.agui_shapes import SCHEMA, event_types, shape_breaches
from hostproof.conformance.checking import schema_of
from hostproof.strategies.json_values import json_values
from tests.conformance.recorded import FINISHED, STARTED

PARTS = [
    {"type": "text", "text": "x", "id": "p", "metadata": ["any"]},
    {"type": "image", "source": {"type": "url", "value": "u"}},
    {"type": "document", "source": {"type": "data", "value": "eA==", "mimeType": "text/plain"}},
    {"type": "video", "source": {"type": "file", "value": "f", "provider": "openai"}},
]
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "not json"}}
SEALED = {"encryptedValue": "x", "encryptedValueType": "vendor.kind"}
MESSAGES = [
    {"id": "1", "role": "developer", "content": "x", "name": "n"},
    {"id": "2", "role": "system", "content": ""},
    {"id": "3", "role": "assistant"},
    {"id": "4", "role": "assistant", "toolCalls": [CALL | SEALED], **SEALED},
    {"id": "5", "role": "user", "content": PARTS, "metadata": {"a": None}},
    {"id": "6", "role": "tool", "toolCallId": "c", "content": PARTS, "error": "x", **SEALED},
    {"id": "7", "role": "activity", "activityType": "x", "content": {"a": None}},
    {"id": "8", "role": "reasoning", "content": "x", "subagentRunId": "s", **SEALED},
]
INPUT = {
    "threadId": "t",
    "runId": "r",
    "messages": MESSAGES,
    "protocolVersion": "1.0",
    "state": 0,
    "tools": [{"name": "f", "description": "d", "parameters": True, "metadata": {}}],
    "context": [{"description": "d", "value": "v"}],
    "forwardedProps": {"a": None},
    "resume": [{"interruptId": "i", "status": "cancelled", "payload": False}],
}
INTERRUPT = {
    "id": "",
    "reason": "any",
    "message": "m",
    "toolCallId": "c",
    "responseSchema": {"a": None},
    "expiresAt": "tomorrow",
    "metadata": {"a": None},
    "subagentRunId": "s",
}
OPERATIONS = [
    {"op": "add", "path": "/a/~0~1", "value": None, "note": 1},
    {"op": "remove", "path": ""},
    {"op": "move", "from": "/a", "path": "/b"},
    {"op": "copy", "from": "", "path": "/-"},
    {"op": "test", "path": "/0", "value": 1},
]
USAGE = [{"provider": "p", "model": "m", "inputTokens": 0, "totalTokens": 2**53 - 1}]

RIGHT: dict[str, dict[str, Any]] = {
    "TEXT_MESSAGE_START": {"messageId": "", "role": "user", "name": "n"},
    "TEXT_MESSAGE_CONTENT": {"messageId": "m", "delta": ""},
    "TEXT_MESSAGE_END": {"messageId": "m"},
    "TEXT_MESSAGE_CHUNK": {"metadata": {"a": None}},
    "TOOL_CALL_START": {"toolCallId": "c", "toolCallName": "look", "parentMessageId": "m"},
    "TOOL_CALL_ARGS": {"toolCallId": "c", "delta": "not json"},
    "TOOL_CALL_END": {"toolCallId": "c"},
    "TOOL_CALL_CHUNK": {},
    "TOOL_CALL_RESULT": {"messageId": "m", "toolCallId": "c", "content": PARTS, "role": "tool"},
    "STATE_SNAPSHOT": {"snapshot": None},
    "STATE_DELTA": {"delta": OPERATIONS},
    "MESSAGES_SNAPSHOT": {"messages": MESSAGES},
    "ACTIVITY_SNAPSHOT": {
        "messageId": "v",
        "activityType": "x",
        "content": {"a": None},
        "replace": False,
    },
    "ACTIVITY_DELTA": {"messageId": "v", "activityType": "x", "patch": []},
    "RAW": {"event": None, "source": "s"},
    "CUSTOM": {"name": "n", "value": None},
    "RUN_STARTED": {"threadId": "t", "runId": "r", "protocolVersion": "1", "input": INPUT},
    "RUN_FINISHED": {"threadId": "t", "runId": "r", "result": 0, "usage": USAGE},
    "RUN_ERROR": {"message": "", "code": "any", "usage": []},
    "STEP_STARTED": {"stepName": "s"},
    "STEP_FINISHED": {"stepName": "s"},
    "REASONING_START": {"messageId": "m"},
    "REASONING_MESSAGE_START": {"messageId": "m", "role": "reasoning"},
    "REASONING_MESSAGE_CONTENT": {"messageId": "m", "delta": ""},
    "REASONING_MESSAGE_END": {"messageId": "m"},
    "REASONING_MESSAGE_CHUNK": {"messageId": "m", "delta": ""},
    "REASONING_END": {"messageId": "m"},
    "REASONING_ENCRYPTED_VALUE": {"subtype": "tool-call", "entityId": "c", **SEALED},
    "SUBAGENT_STARTED": {
        "subagentRunId": "s",
        "name": "n",
        "description": "d",
        "parentSubagentRunId": "p",
        "parentToolCallId": "c",
        "parentMessageId": "m",
    },
    "SUBAGENT_FINISHED": {"subagentRunId": "s", "outcome": {"type": "suspended"}},
    "SUBAGENT_ERROR": {"subagentRunId": "s", "message": "", "code": "any"},
}
RUN_WIDE = {"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"}
OUTCOMES = [
    {"type": "success"},
    {"type": "success", "pendingToolCallIds": []},
    {"type": "interrupt", "interrupts": [INTERRUPT, {"id": "i", "reason": ""}]},
    {"type": "cancelled"},
]


def finished(outcome):
    return FINISHED | {"outcome": outcome}


def interrupted(**members):
    return finished({"type": "interrupt", "interrupts": [{"id": "i", "reason": "r"} | members]})


def of(kind, **members):
    return {"type": kind, **RIGHT[kind], **members}


def less(kind, name):
    return {key: value for key, value in of(kind).items() if key != name}


def snapshot(**members):
    return of("MESSAGES_SNAPSHOT", messages=[{"id": "m", "role": "assistant"} | members])


WRONG = {
    "GEN-01": [
        of("CUSTOM", extra=1),
        of("RUN_ERROR", threadId="t"),
        of("RUN_FINISHED", subagentRunId="s"),
        less("RUN_STARTED", "threadId"),
        of("RUN_STARTED", threadId=None),
        of("CUSTOM", timestamp="5"),
        of("CUSTOM", timestamp=1.5),
        of("CUSTOM", timestamp=2**53),
        of("TEXT_MESSAGE_START", role="tool"),
        of("ACTIVITY_SNAPSHOT", replace="yes"),
        of("RUN_FINISHED", usage=[{"inputTokens": -1}]),
        finished({"type": "success", "interrupts": [INTERRUPT]}),
        finished({"type": "cancelled", "interrupts": []}),
        interrupted(responseSchema=True),
        interrupted(expiresAt=7),
        snapshot(role="critic"),
        snapshot(toolCalls=[{**CALL, "function": {"name": "f", "arguments": {}}}]),
        snapshot(toolCalls=[{"id": "c", "function": CALL["function"]}]),
        {"threadId": "t"},
        {"type": None},
    ],
    "GEN-02": [{"type": "THINKING_START"}, {"type": ""}, {"type": "run_started"}],
    "GEN-03": [
        of("CUSTOM", rawEvent=None),
        of("RUN_FINISHED", result=None),
        finished(None),
        of("RUN_STARTED", parentRunId=None),
        of("TEXT_MESSAGE_CHUNK", delta=None),
        snapshot(content=None),
        snapshot(toolCalls=None),
        interrupted(message=None),
        of("SUBAGENT_STARTED", parentSubagentRunId=None),
        of("RUN_ERROR", code=None),
    ],
    "META-01": [of("CUSTOM", metadata=None), of("CUSTOM", metadata=[]), interrupted(metadata=None)],
    "INT-02": [
        finished({"type": "interrupt", "interrupts": []}),
        finished({"type": "interrupt"}),
    ],
    "LIFE-03": [finished({"type": "paused"}), finished("success"), finished({})],
    "TOOL-03": [
        of("TOOL_CALL_RESULT", content={"a": 1}),
        of("TOOL_CALL_RESULT", content=None),
        of("TOOL_CALL_RESULT", content=[{"type": "json"}]),
    ],
    "TOOL-11": [
        of("TOOL_CALL_RESULT", content=[{"type": "reasoning"}]),
        of("TOOL_CALL_RESULT", content=[{"type": "tool-call"}]),
    ],
    "SNAP-03": [
        of("STATE_DELTA", delta=[{"op": "append", "path": "/a"}]),
        of("STATE_DELTA", delta=[{"op": "add", "path": "/a"}]),
        of("STATE_DELTA", delta=[{"op": "move", "path": "/a"}]),
        of("STATE_DELTA", delta=[{"op": "remove", "path": "a"}]),
        of("STATE_DELTA", delta=[{"op": "remove", "path": "/~2"}]),
        of("STATE_DELTA", delta={}),
        of("ACTIVITY_DELTA", patch=[None]),
    ],
    "RSN-02": [less("REASONING_MESSAGE_START", "role"), of("REASONING_MESSAGE_START", role="x")],
    "RSN-05": [
        snapshot(encryptedValueType="x"),
        snapshot(toolCalls=[{**CALL, "encryptedValueType": "x"}]),
    ],
    "ACT-02": [less("ACTIVITY_DELTA", "activityType")],
    "SUB-01": [
        less("SUBAGENT_STARTED", "subagentRunId"),
        of("SUBAGENT_ERROR", subagentRunId=None),
        of("CUSTOM", subagentRunId=None),
        interrupted(subagentRunId=None),
    ],
    "SUB-06": [
        of("SUBAGENT_FINISHED", outcome={"type": "failed"}),
        of("SUBAGENT_FINISHED", outcome={"type": "success", "interruptIds": []}),
    ],
    "IN-17": [
        of("RUN_STARTED", input={"threadId": "t", "runId": "r"}),
        of("RUN_STARTED", input=INPUT | {"state": None}),
        of("RUN_STARTED", input=INPUT | {"extra": 1}),
    ],
    "SSE-02": [[], 7, None, "x"],
}


def test_the_schema_is_one():
    Draft202012Validator.check_schema(schema_of(SCHEMA))


def test_the_schema_describes_31_events_and_each_is_tried():
    assert len(event_types()) == 31
    assert set(RIGHT) == event_types()


@pytest.mark.parametrize("kind", RIGHT)
def test_what_is_right_is_taken_with_and_without_the_common_members(kind):
    whole = of(kind, timestamp=-1, rawEvent=[None], metadata={"": None, "ag-ui": 1})
    if kind not in RUN_WIDE:
        whole = {"subagentRunId": "s", **whole}
    assert shape_breaches(of(kind)) == ()
    assert shape_breaches(whole) == ()
    assert Draft202012Validator(schema_of(SCHEMA)).is_valid(whole)


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome["type"])
def test_every_outcome_is_taken(outcome):
    assert shape_breaches(finished(outcome)) == ()


@pytest.mark.parametrize("clause", WRONG)
def test_what_is_wrong_breaks_its_clause_and_no_other(clause):
    for number, event in enumerate(WRONG[clause]):
        assert {breach.clause for breach in shape_breaches(event)} == {clause}, number


def test_a_breach_names_members_of_the_schema_and_no_others():
    (extra,) = shape_breaches(of("CUSTOM", **{"secret-name": "secret-value"}))
    assert (extra.clause, extra.place) == ("GEN-01", "")
    (known,) = shape_breaches(of("RUN_ERROR", threadId="secret"))
    assert known.place == "threadId"
    (deep,) = shape_breaches(interrupted(message=None))
    assert deep.place == "outcome.interrupts[0].message"
    assert "secret" not in f"{extra}{known}{deep}"


def test_several_faults_are_all_found():
    event = STARTED | {"parentRunId": None, "extra": 1, "metadata": None}
    assert sorted(one.clause for one in shape_breaches(event)) == ["GEN-01", "GEN-03", "META-01"]


@given(
    json_values()
    | st.builds(
        lambda kind, members: {**members, "type": kind},
        st.sampled_from(sorted(event_types())),
        st.dictionaries(
            st.sampled_from(["outcome", "messages", "delta", "patch", "content", "input", "usage"]),
            json_values() | st.sampled_from([OUTCOMES[2], MESSAGES, OPERATIONS, PARTS, INPUT]),
        ),
    )
)
def test_any_value_has_a_verdict(value):
    known = set(WRONG)
    found = shape_breaches(value)
    assert {breach.clause for breach in found} <= known
    assert len(set(found)) == len(found)
    valid = Draft202012Validator(schema_of(SCHEMA)).is_valid(value)
    assert valid == (found == ())
