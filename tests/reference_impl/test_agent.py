"""The agent and its model: the steps of each cue, and where a turn stops."""

from __future__ import annotations

import asyncio
import itertools
import json

import pytest

from hostproof.reference_impl.agent import ASK_HELPER, ASK_PERSON, MAX_ROUNDS, ReferenceAgent
from hostproof.reference_impl.agent_steps import (
    Call,
    Called,
    PageTool,
    Paused,
    Resumed,
    Returned,
    Said,
    Turn,
    read_call,
)
from hostproof.reference_impl.cues import cue_text
from hostproof.reference_impl.scripted_model import (
    ModelError,
    ModelReply,
    ModelRequest,
    ToolCall,
    scripted_model,
)
from hostproof.reference_impl.tools import CHAIN, OwnTool
from hostproof.reference_impl.values import MISSING

FORM = PageTool("show_form", "Show a form.")


async def quick(arguments):
    return f"done {arguments['for']}"


QUICK = {"take_time": OwnTool(description="Work.", run=quick)}


def user(text):
    return {"id": "u", "role": "user", "content": text}


def steps(*messages, agent=None, **members):
    """Run a turn; give its steps, and what the model was asked."""
    numbers = itertools.count()
    asked: list[ModelRequest] = []

    async def obtain(provider, again):
        raise AssertionError("no credential is needed here")

    def never(*given):
        raise AssertionError("nothing is guarded here")

    turn = Turn(
        caller="alice",
        messages=messages,
        page_tools=members.pop("page_tools", ()),
        given=members.pop("given", {}),
        chain=CHAIN,
        mint=lambda prefix: f"{prefix}-{next(numbers)}",
        observe=asked.append,
        act=never,
        admit=never,
        obtain=obtain,
        **members,
    )

    async def run():
        return [step async for step in (agent or ReferenceAgent(own_tools=QUICK))(turn)]

    return asyncio.run(run()), asked


def test_a_text_is_said_once():
    (said,), (asked,) = steps(user(cue_text("plain", "n")))
    assert said == Said({"id": "msg-0", "role": "assistant", "content": "n: noted."})
    assert asked.messages == (user(cue_text("plain", "n")),)
    assert set(asked.tools) == {ASK_PERSON, ASK_HELPER, "take_time"}


def test_an_own_tool_runs_and_the_turn_goes_on():
    (called, returned, said), asked = steps(user(cue_text("slow", "n")))
    assert isinstance(called, Called)
    (call,) = called.calls
    assert (call.tool, call.arguments) == ("take_time", {"for": "n"})
    assert isinstance(returned, Returned)
    assert returned.message["content"] == "done n"
    assert returned.message["toolCallId"] == call.id
    assert said.message["content"] == "n: done n"
    assert asked[1].messages[1:] == (called.message, returned.message)


def test_a_question_stops_the_turn():
    (called, paused), asked = steps(user(cue_text("question", "n")))
    assert isinstance(paused, Paused)
    assert (paused.kind, paused.question) == ("question", "What shall n be?")
    assert (paused.call,) == called.calls
    assert json.loads(json.dumps(paused.pending)) == paused.pending
    assert read_call(paused.pending["call"]) == paused.call
    assert len(asked) == 1


def test_a_pages_tool_stops_the_turn_where_it_is_enabled():
    (called, paused), _ = steps(user(cue_text("client_tool", "n")), page_tools=(FORM,))
    assert isinstance(paused, Paused)
    assert (paused.kind, paused.call.arguments) == ("client", {"title": "n"})
    assert (paused.call,) == called.calls
    (said,), _ = steps(user(cue_text("client_tool", "n")))
    assert said.message["content"] == "n: noted."


@pytest.mark.parametrize(
    ("answer", "content"),
    [("text", "text"), ("", ""), (MISSING, "null"), (None, "null"), ({"b": [1]}, '{"b":[1]}')],
)
def test_an_answer_is_the_result_of_its_call(answer, content):
    asking = user(cue_text("question", "n"))
    (called, paused), _ = steps(asking)
    resumed = Resumed(pending=paused.pending, admitted=None, answer=answer)
    (returned, said), (asked,) = steps(asking, called.message, resumed=resumed)
    assert returned.message == {
        "id": "msg-0",
        "role": "tool",
        "toolCallId": paused.call.id,
        "content": content,
    }
    assert asked.messages[-1] == returned.message
    assert said.message["content"] == f"n: {content}"


@pytest.mark.parametrize(
    "value", [None, {}, {"tool": "t", "arguments": [], "callId": "c"}, {"tool": 1}, "call"]
)
def test_a_kept_call_that_is_none_is_not_run(value):
    assert read_call(value) is None
    pending = {"kind": "question", "call": value, "rest": [], "nested": None}
    resumed = Resumed(pending=pending, admitted=None, answer="x")
    with pytest.raises(ValueError, match="not one that this agent wrote"):
        steps(user("x"), resumed=resumed)


def test_a_call_is_kept_as_it_was():
    call = Call(tool="t", arguments={"a": [None]}, id="c")
    assert read_call(call.to_json()) == call


def test_only_the_newest_cue_counts():
    messages = (user(cue_text("fail", "n1")), user(cue_text("plain", "n2")))
    (said,), _ = steps(*messages)
    assert said.message["content"] == "n2: noted."


def test_what_the_page_gave_is_repeated_as_data():
    given = {"state": {"b": 1, "a": "x"}}
    (said,), (asked,) = steps(user(cue_text("repeat", "n")), given=given)
    assert json.loads(said.message["content"].removeprefix("n: ")) == given
    assert "x" not in asked.system


def test_a_failure_is_raised():
    with pytest.raises(ModelError):
        steps(user(cue_text("fail", "n")))


def test_a_model_that_never_ends_is_asked_so_often_and_no_more():
    def always(request):
        return ModelReply(calls=(ToolCall("take_time", {"for": "n"}),))

    found, asked = steps(user("x"), agent=ReferenceAgent(model=always, own_tools=QUICK))
    assert len(asked) == MAX_ROUNDS
    assert len(found) == 2 * MAX_ROUNDS


def test_the_model_is_deterministic():
    request = ModelRequest(
        system="s", messages=(user(cue_text("question", "n")),), tools={ASK_PERSON: ""}, given={}
    )
    assert scripted_model(request) == scripted_model(request)
