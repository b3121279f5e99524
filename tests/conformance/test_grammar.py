"""The event grammar: every row of its table, and what must never be flagged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.conformance.agui_shapes import event_types
from hostproof.conformance.grammar import breaches, notes, read_stream
from hostproof.conformance.grammar_table import CLAUSES, ROWS
from hostproof.strategies.json_values import json_values
from tests.conformance.grammar_streams import FINISHED, STARTED, streams

RUNS = {"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"}
ERROR = {"type": "RUN_ERROR", "message": "No."}
CUSTOM = {"type": "CUSTOM", "name": "x.y", "value": 1}


def event(kind, name=None, tag=None, **members):
    """Write an event about the item *name*."""
    member = ROWS[kind].member
    made = {"type": kind, **({} if name is None else {member: name}), **members}
    return made if tag is None else {**made, "subagentRunId": tag}


def text(name="m", tag=None, **members):
    return event("TEXT_MESSAGE_START", name, tag, **members)


def said(name="m", tag=None):
    return event("TEXT_MESSAGE_CONTENT", name, tag, delta="x")


def text_end(name="m", tag=None):
    return event("TEXT_MESSAGE_END", name, tag)


def chunk(name=None, tag=None, **members):
    return event("TEXT_MESSAGE_CHUNK", name, tag, **members)


def call(name="c", tag=None, tool="look", **members):
    return event("TOOL_CALL_START", name, tag, toolCallName=tool, **members)


def call_end(name="c", tag=None):
    return event("TOOL_CALL_END", name, tag)


def call_chunk(name=None, tag=None, **members):
    return event("TOOL_CALL_CHUNK", name, tag, **members)


def thought(name="r", tag=None):
    return event("REASONING_MESSAGE_START", name, tag, role="reasoning")


def thought_end(name="r", tag=None):
    return event("REASONING_MESSAGE_END", name, tag)


def span(name="p"):
    return event("REASONING_START", name)


def span_end(name="p"):
    return event("REASONING_END", name)


def step(name="s", tag=None):
    return event("STEP_STARTED", name, tag)


def step_end(name="s", tag=None):
    return event("STEP_FINISHED", name, tag)


def sub(name="a", **members):
    return {"type": "SUBAGENT_STARTED", "subagentRunId": name, "name": "n", **members}


def sub_end(name="a", kind="FINISHED"):
    return {"type": f"SUBAGENT_{kind}", "subagentRunId": name}


def shown(name="v", tag=None, **members):
    return event("ACTIVITY_SNAPSHOT", name, tag, activityType="x", content={}, **members)


def changed(name="v", tag=None):
    return event("ACTIVITY_DELTA", name, tag, activityType="x", patch=[])


def run(*events):
    return [STARTED, *events, FINISHED]


def another(kind, run_id="r2", thread="t"):
    return {"type": kind, "threadId": thread, "runId": run_id}


def clauses(events, **how):
    return [breach.clause for breach in breaches(events, **how)]


LEGAL = {
    "a run of nothing": run(),
    "a refusal without a run": [ERROR],
    "a run that fails": [STARTED, ERROR],
    "a late failure": [*run(), ERROR],
    "items open at an error": [STARTED, text(), call(), span(), step(), sub(), ERROR],
    "several runs": [*run(), another("RUN_STARTED"), another("RUN_FINISHED")],
    "a run after an error": [STARTED, ERROR, another("RUN_STARTED"), another("RUN_FINISHED")],
    "a message": run(text(), said(), said(), text_end()),
    "a message without content": run(text(), text_end()),
    "a message opened again": run(text(), text_end(), text(role="assistant"), said(), text_end()),
    "a call opened again": run(
        call(parentMessageId="m"), call_end(), call(parentMessageId="m"), call_end()
    ),
    "a call opened again without its message": run(
        call(parentMessageId="m"), call_end(), call(), call_end()
    ),
    "interleaved": run(
        text(), call(), said(), span(), call_end(), thought(), text_end(), span_end(), thought_end()
    ),
    "a span and its message of one id": run(span("r"), thought(), thought_end(), span_end("r")),
    "a message and a call of one id": run(text("x"), call("x"), text_end("x"), call_end("x")),
    "a reasoning message without a span": run(thought(), thought_end()),
    "overlapping steps": run(step(), step("u"), step_end(), step_end("u")),
    "a step done twice": run(step(), step_end(), step(), step_end()),
    "a step of two owners": run(
        sub(), step(), step(tag="a"), step_end(), step_end(tag="a"), sub_end()
    ),
    "a result of any call": run(
        {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "gone", "content": ""}
    ),
    "a result before the call's end": run(
        call(),
        {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c", "content": ""},
        call_end(),
    ),
    "a delta of state without a snapshot": run({"type": "STATE_DELTA", "delta": []}),
    "chunks": run(chunk("m", delta="x"), chunk(delta="y"), chunk("m", delta="z")),
    "a chunk of metadata alone": run(chunk("m"), chunk(metadata={"usage": 1})),
    "chunks of several messages": run(chunk("m"), chunk("n"), chunk(delta="y")),
    "chunks of a call": run(call_chunk("c", toolCallName="look"), call_chunk(delta="{}")),
    "a chunk that repeats its opener": run(
        {**chunk("m", role="user"), "name": "ann"}, {**chunk(role="user"), "name": "ann"}
    ),
    "a chunk that says what the opener meant": run(chunk("m"), chunk(role="assistant")),
    "chunks opened again after a custom event": run(chunk("m"), CUSTOM, chunk("m", delta="x")),
    "chunks around what closes nothing": run(
        chunk("m"),
        {"type": "RAW", "event": 1},
        shown(),
        changed(),
        {"type": "REASONING_ENCRYPTED_VALUE", "entityId": "m", "encryptedValue": ""},
        sub(),
        chunk(delta="x"),
        sub_end(),
    ),
    "chunks in two lanes": run(
        sub(), chunk("m", "a"), chunk("n"), chunk(delta="x"), chunk(tag="a", delta="y"), sub_end()
    ),
    "a bare chunk of the only subagent that streams": run(
        sub(), chunk("m", "a"), chunk(delta="x"), sub_end()
    ),
    "a bare chunk of another kind": run(
        sub(),
        call_chunk("c", "a", toolCallName="look"),
        chunk("m"),
        call_chunk(delta="x"),
        sub_end(),
    ),
    "an untagged chunk of a subagent's message": run(
        sub(), chunk("m", "a"), chunk("m", delta="x"), sub_end()
    ),
    "subagents": run(sub(), sub("b", parentSubagentRunId="a"), sub_end("b", "ERROR"), sub_end()),
    "a child of an ended subagent": run(
        sub(), sub_end(), sub("b", parentSubagentRunId="a"), sub_end("b")
    ),
    "events of an unannounced subagent": run(text(tag="a"), said(tag="a"), text_end()),
    "untagged continuations": run(
        sub(), text(tag="a"), said(), text_end(), call(tag="a"), call_end(), sub_end()
    ),
    "an untagged call of a tagged message": run(
        text(tag="a"), text_end(), call(parentMessageId="m"), call_end()
    ),
    "a call of a message that is not known": run(call(tag="a", parentMessageId="gone"), call_end()),
    "events of an ended subagent": run(sub(), sub_end(), text(tag="a"), text_end()),
    "an activity": run(shown(), changed(), shown(replace=False), changed()),
    "an activity of a snapshot": run(
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "v", "role": "activity"}]}, changed()
    ),
    "an activity under a new owner": run(shown(), shown(tag="a"), changed(tag="a")),
    "an activity of an earlier run": [
        *run(shown()),
        another("RUN_STARTED"),
        changed(),
        another("RUN_FINISHED"),
    ],
    "unknown events": run({"type": "THINKING_START"}, {"type": 7}, {}, 7, None),
    "the end of an unknown subagent": run(sub_end()),
}

ILLEGAL = {
    "a stream of nothing": ([], ["LIFE-02"]),
    "another event first": ([CUSTOM, *run()], ["LIFE-01"]),
    "no event first": (["x", *run()], ["LIFE-01"]),
    "a run that finishes unopened": ([FINISHED], ["LIFE-01"]),
    "a run that is cut": ([STARTED, text()], ["LIFE-02"]),
    "an event after the end": ([*run(), CUSTOM], ["LIFE-07"]),
    "a second end": ([*run(), FINISHED], ["LIFE-07"]),
    "two late errors": ([*run(), ERROR, ERROR], ["LIFE-07"]),
    "an event after an error": ([STARTED, ERROR, FINISHED], ["LIFE-07"]),
    "a run in a run": ([another("RUN_STARTED"), *run()], ["LIFE-08"]),
    "one id for two runs": ([*run(), *run()], ["GEN-05"]),
    "another thread at the end": ([STARTED, another("RUN_FINISHED", "r", "u")], ["IN-09"]),
    "another run at the end": ([STARTED, another("RUN_FINISHED")], ["IN-10"]),
    "a message opened twice": (run(text(), text(), text_end()), ["STR-01"]),
    "a call opened twice": (run(call(), call(), call_end()), ["STR-01"]),
    "a thought opened twice": (run(thought(), thought(), thought_end()), ["STR-01"]),
    "content of no message": (run(said()), ["STR-02"]),
    "an end of no call": (run(call_end()), ["STR-02"]),
    "content after the end": (run(text(), text_end(), said()), ["STR-02"]),
    "a span is no message": (run(span("r"), thought_end(), span_end("r")), ["STR-02"]),
    "a message left open": (run(text()), ["STR-03"]),
    "a call left open": (run(call()), ["STR-03"]),
    "a span left open": (run(span()), ["RSN-01"]),
    "a span opened twice": (run(span(), span(), span_end()), ["RSN-01"]),
    "a span closed unopened": (run(span_end()), ["RSN-01"]),
    "a step left open": (run(step()), ["LIFE-10"]),
    "a step opened twice": (run(step(), step(), step_end()), ["LIFE-10"]),
    "a step finished unopened": (run(step_end()), ["LIFE-10"]),
    "a step of another": (run(step(tag="a"), step_end(), step_end(tag="a")), ["SUB-08"]),
    "a first chunk without an id": (run(chunk(delta="x")), ["STR-04"]),
    "a first chunk of a call without a name": (run(call_chunk("c")), ["STR-04"]),
    "a tagged first chunk without an id": (run(chunk("m"), chunk(tag="a")), ["STR-04"]),
    "a bare chunk after a custom event": (run(chunk("m"), CUSTOM, chunk(delta="x")), ["STR-04"]),
    "a bare chunk after a snapshot": (
        run(chunk("m"), {"type": "MESSAGES_SNAPSHOT", "messages": []}, chunk(delta="x")),
        ["STR-04"],
    ),
    "a chunk of another kind without an id": (run(chunk("m"), call_chunk(delta="x")), ["STR-04"]),
    "a chunk with another role": (run(chunk("m"), chunk(role="user")), ["STR-06"]),
    "a chunk with another name": (
        run(call_chunk("c", toolCallName="look"), call_chunk("c", toolCallName="wipe")),
        ["STR-06"],
    ),
    "a chunk with another message": (
        run(
            call_chunk("c", toolCallName="look", parentMessageId="m"),
            call_chunk(parentMessageId="n"),
        ),
        ["STR-06"],
    ),
    "an end of chunks": (run(chunk("m"), text_end()), ["STR-07"]),
    "content among chunks": (run(chunk("m"), said()), ["STR-07"]),
    "a chunk of an explicit message": (run(text(), chunk("m"), text_end()), ["STR-07"]),
    "a chunk of an explicit call": (run(call(), call_chunk("c"), call_end()), ["STR-07"]),
    "a chunk of another lane's message": (
        run(chunk("m", "a"), chunk("m", "b")),
        ["STR-01"],
    ),
    "a bare chunk of two": (run(chunk("m", "a"), chunk("n", "b"), chunk(delta="x")), ["STR-08"]),
    "a chunk of an ended subagent": (
        run(sub(), chunk("m", "a"), sub_end(), chunk("m", "a")),
        ["STR-09"],
    ),
    "a message opened again by another": (
        run(text(), text_end(), text(tag="a"), text_end()),
        ["TXT-01"],
    ),
    "a message opened again in another role": (
        run(text(), text_end(), text(role="user"), text_end()),
        ["TXT-01"],
    ),
    "a message opened again under another name": (
        run({**text(), "name": "ann"}, text_end(), {**text(), "name": "bob"}, text_end()),
        ["TXT-01"],
    ),
    "a call of another's message": (
        run(text(tag="a"), text_end(), call(tag="b", parentMessageId="m"), call_end()),
        ["TOOL-01"],
    ),
    "a call opened again by another name": (
        run(call(), call_end(), call(tool="wipe"), call_end()),
        ["TOOL-02"],
    ),
    "a call opened again of another message": (
        run(call(parentMessageId="m"), call_end(), call(parentMessageId="n"), call_end()),
        ["TOOL-02"],
    ),
    "an activity that was never shown": (run(changed()), ["ACT-01"]),
    "an activity kept by another": (run(shown(), shown(tag="a", replace=False)), ["ACT-04"]),
    "an activity changed by another": (run(shown(tag="a"), changed(tag="b")), ["SUB-07"]),
    "a subagent announced twice": (run(sub(), sub(), sub_end()), ["SUB-02"]),
    "a subagent announced after its end": (run(sub(), sub_end(), sub()), ["SUB-02"]),
    "a subagent announced late": (run(text(tag="a"), text_end(), sub(), sub_end()), ["SUB-03"]),
    "a subagent left open": (run(sub()), ["SUB-04"]),
    "another's message": (run(text(tag="a"), said(tag="b"), text_end()), ["SUB-07"]),
    "a tagged end of an untagged call": (run(call(), call_end(tag="a")), ["SUB-07"]),
    "an unknown parent": (run(sub(parentSubagentRunId="z"), sub_end()), ["SUB-09"]),
    "its own parent": (run(sub(parentSubagentRunId="a"), sub_end()), ["SUB-09"]),
}


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_legal_breaks_nothing(name):
    assert breaches(LEGAL[name]) == ()


@pytest.mark.parametrize("name", ILLEGAL)
def test_what_is_illegal_breaks_its_clause_and_no_other(name):
    events, broken = ILLEGAL[name]
    assert clauses(events) == broken


def test_every_clause_is_tried():
    assert {clause for _, broken in ILLEGAL.values() for clause in broken} == set(CLAUSES)


def test_every_event_has_a_row():
    assert set(ROWS) | RUNS == event_types()


def test_a_breach_says_where_and_quotes_nothing():
    (breach,) = breaches(run(said("secret-id")))
    assert (breach.clause, breach.index) == ("STR-02", 1)
    assert breach.text == CLAUSES["STR-02"]
    assert "secret" not in breach.text


def test_the_end_of_a_stream_is_behind_its_last_event():
    (breach,) = breaches([STARTED, CUSTOM])
    assert (breach.clause, breach.index) == ("LIFE-02", 2)


def test_a_stream_that_goes_on_may_be_inside_a_run():
    assert breaches([STARTED, text()], ended=False) == ()
    assert breaches([], ended=False) == ()


@pytest.mark.parametrize(
    "events",
    [
        run(sub(), sub_end(), text(tag="a"), text_end()),
        run(sub_end()),
        run(sub(), text(tag="a"), sub_end(), text_end()),
        run(chunk("m"), text(), text_end()),
        run(text(), text_end(), chunk("m")),
    ],
)
def test_what_the_text_leaves_open_is_noted(events):
    reading = read_stream(events)
    assert reading.breaches == ()
    assert len(reading.notes) >= 1
    assert notes(events) == reading.notes


# Any events.

LIKELY: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {"type": st.sampled_from(sorted(event_types()))},
    optional={
        name: st.sampled_from(["a", "b", None, 7, [], "r", "t"])
        for name in (
            "messageId",
            "toolCallId",
            "toolCallName",
            "parentMessageId",
            "stepName",
            "threadId",
            "runId",
            "subagentRunId",
            "parentSubagentRunId",
            "role",
            "name",
            "replace",
            "messages",
        )
    },
)


@given(st.lists(LIKELY | json_values(), max_size=30), st.booleans())
def test_any_values_have_a_reading(events, ended):
    reading = read_stream(events, ended=ended)
    assert all(breach.clause in CLAUSES for breach in reading.breaches)
    assert all(0 <= breach.index <= len(events) for breach in reading.breaches)
    assert reading == read_stream(events, ended=ended)


@given(streams())
def test_legal_streams_break_nothing(drawn):
    events, _ = drawn
    assert clauses(events) == []


@given(streams(faulty=True))
def test_one_illegal_event_breaks_its_clause_alone(drawn):
    events, clause = drawn
    assert clauses(events) == [clause]
