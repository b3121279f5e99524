"""The styled host's pure parts: its reader, what its model sees, and its door."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.conformance.agui_shapes import shape_breaches
from hostproof.conformance.inside_reading import imbalance
from hostproof.reference_impl.cues import AT_ONCE, CUES, read_cue
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.styled_input import read_input
from hostproof.reference_impl.styled_model import StyledCall, paired
from hostproof.reference_impl.styled_pauses import (
    Answer,
    Message,
    Replay,
    answers_in,
    wanted,
)
from hostproof.reference_impl.styled_setup import StyledSetup
from hostproof.reference_impl.styled_threads import Ask, OpenPause, StyledKey, StyledThread
from tests.drawn_json import WHOLE_VALUES

if TYPE_CHECKING:
    from hostproof.reference_impl.values import Json

GOOD = {"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "x"}]}

# The reader.


@given(
    st.sampled_from(
        ["threadId", "messages", "tools", "context", "resume", "state", "forwardedProps"]
    ),
    WHOLE_VALUES,
)
def test_any_value_is_read_or_refused(member, value):
    try:
        given_input = read_input({**GOOD, member: value})
    except Refusal as refusal:
        assert refusal.code == "ERR_INVALID_RUN_INPUT"
        return
    echoed = given_input.echo()
    assert read_input(echoed) == given_input
    started = {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": echoed}
    assert shape_breaches(json.loads(json.dumps(started))) == ()


def test_what_is_not_known_is_left_out():
    part = {"type": "text", "text": "a", "x": 1}
    image = {"type": "image", "source": {}}
    body = {
        **GOOD,
        "x": 1,
        "messages": [
            {"id": "a", "role": "robot"},
            {"id": "m", "role": "user", "content": [part, image], "x": 1, "metadata": {"a": None}},
        ],
        "resume": [{"interruptId": "i", "status": "later"}],
        "tools": None,
    }
    given_input = read_input(body)
    (message,) = given_input.messages
    assert message["content"] == [{"type": "text", "text": "a"}]
    assert message.keys() == {"id", "role", "content", "metadata"}
    assert (given_input.resume, given_input.tools) == ((), ())


def test_uuids_are_asked_for_where_the_style_does():
    with pytest.raises(Refusal):
        read_input(GOOD, uuid_threads=True)
    named = {**GOOD, "threadId": "0b9a3a52-7bd4-4e0b-9a38-3a4a3a9fb2f5"}
    assert read_input(named, uuid_threads=True).thread == named["threadId"]


# The model.

CALLS = ("a", "b", "c")


@st.composite
def conversations(draw):
    """Draw messages whose calls and results match by chance only."""
    messages: list[dict[str, Json]] = [{"id": "u", "role": "user", "content": "x"}]
    for at in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["calls", "result", "system", "user"]))
        message: dict[str, Json] = {"id": str(at), "role": kind, "content": "x"}
        if kind == "calls":
            names = draw(st.lists(st.sampled_from(CALLS), unique=True))
            message = {"id": str(at), "role": "assistant", "toolCalls": [{"id": n} for n in names]}
        if kind == "result":
            message |= {"role": "tool", "toolCallId": draw(st.sampled_from(CALLS))}
        messages.append(message)
    return messages


@given(conversations())
def test_a_model_sees_every_call_with_one_result(messages):
    seen = paired(messages)
    assert imbalance(seen) is None
    assert not any(message["role"] == "system" for message in seen)
    users = [message for message in messages if message["role"] == "user"]
    assert [message for message in seen if message["role"] == "user"] == users


@pytest.mark.parametrize("name", AT_ONCE)
def test_only_who_knows_the_cue_reads_it(name):
    text = AT_ONCE[name].replace("{nonce}", "n1")
    assert read_cue(text) is None
    cue = read_cue(text, {**CUES, **AT_ONCE})
    assert (cue and cue.name) == name


# The door.

SETUP = StyledSetup()
PAY, LATER = (StyledCall("pay", {"to": "n", "amount": at}, f"c{at}") for at in (10, 20))
ONE = OpenPause(asks=(Ask(id="i", name="i", call=PAY),), run="r-1", nonce="n")
TWO = replace(ONE, asks=(*ONE.asks, Ask(id="j", name="j", call=LATER)))
YES, NO = {"approved": True}, {"approved": False}


def entry(name, payload=None, status="resolved"):
    return {"interruptId": name, "status": status, "payload": payload}


def asked_for(pause, resume=(), setup=SETUP, spent=(), **members):
    thread = StyledThread(StyledKey("/", "alice", "t"), pause=pause)
    thread.spent |= {ask.name: ask for ask in spent}
    body = {**GOOD, "messages": [], "resume": list(resume), **members}
    given_input = read_input(body)
    return wanted(setup, given_input, thread, answers_in(setup, given_input, thread))


@pytest.mark.parametrize(
    ("pause", "resume", "runs"),
    [
        (ONE, [entry("i", YES)], [True]),
        (ONE, [entry("i", NO)], [False]),
        (ONE, [entry("i", YES, "cancelled")], [False]),
        (ONE, [entry("i", {**YES, "editedArgs": {}})], [True]),
        (ONE, [entry("x", NO), entry("i", YES)], [True]),
        (TWO, [entry("j", NO), entry("i", YES)], [True, False]),
    ],
)
def test_an_answer_to_all_that_is_open_is_taken(pause, resume, runs):
    answer = asked_for(pause, resume)
    assert isinstance(answer, Answer)
    assert [verdict.runs for verdict in answer.verdicts] == runs


@pytest.mark.parametrize(
    ("pause", "resume", "code"),
    [
        (ONE, [], "ERR_AWAITING_DECISION"),
        (ONE, [entry("x", YES)], "ERR_AWAITING_DECISION"),
        (TWO, [entry("i", YES)], "ERR_AWAITING_DECISION"),
        (ONE, [entry("i", YES), entry("i", YES)], "ERR_UNKNOWN_INTERRUPT"),
        (ONE, [entry("i", {"approved": 1})], "ERR_DECISION_REQUIRED"),
        (ONE, [entry("i")], "ERR_DECISION_REQUIRED"),
        (ONE, [entry("i", "true")], "ERR_DECISION_REQUIRED"),
        (None, [entry("i", YES)], "ERR_NO_PENDING_ASK"),
        (None, [], "ERR_NO_USER_TURN"),
    ],
)
def test_any_other_answer_is_refused_and_what_is_open_stays(pause, resume, code):
    with pytest.raises(Refusal) as refused:
        asked_for(pause, resume)
    assert refused.value.code == code


def test_a_message_is_taken_only_where_nothing_is_open():
    said = GOOD["messages"]
    assert asked_for(None, messages=said) == Message()
    assert asked_for(None, [entry("x", YES)], messages=said) == Message()
    with pytest.raises(Refusal):
        asked_for(ONE, messages=said)


def test_what_was_answered_is_known_again():
    assert asked_for(None, [entry("i", YES)], spent=ONE.asks) == Replay(ONE.asks[0])
    command = StyledSetup(pause="custom", answer="command")
    again = {"forwardedProps": {"command": {"resume": YES}}}
    assert asked_for(None, setup=command, spent=ONE.asks, **again) == Replay(ONE.asks[0])


def test_the_run_that_asked_is_named_where_the_style_wants_it():
    setup = StyledSetup(parent_run=True)
    with pytest.raises(Refusal):
        asked_for(ONE, [entry("i", YES)], setup=setup)
    with pytest.raises(Refusal):
        asked_for(ONE, [entry("i", YES)], setup=setup, parentRunId="r-2")
    assert isinstance(asked_for(ONE, [entry("i", YES)], setup=setup, parentRunId="r-1"), Answer)
