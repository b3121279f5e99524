"""Valid bodies: the reference takes every one of them, and they are of every kind."""

import json

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from hostproof.reference_impl.reader import ROLES, read_run_input
from hostproof.reference_impl.values import utf16_length
from hostproof.strategies import bodies
from hostproof.strategies.drawn import BRACE
from hostproof.strategies.edits import filled
from hostproof.strategies.hostile import valid_bodies
from tests.strategies.drawing import SMALL, drawn
from tests.strategies.expecting import CANARY, HANDED_OUT, SLOTS, owed_by_reference

MAIN = bodies.AGENTS["main"]


def written(body):
    return filled(body, {**SLOTS, **HANDED_OUT["question"], **HANDED_OUT["client-call"], **BRACE})


@settings(max_examples=300)
@given(valid_bodies())
def test_the_reference_takes_every_valid_body(case):
    owed = owed_by_reference(case)

    assert owed is not None
    assert owed.code is None, owed


@given(
    st.sampled_from(list(bodies.AGENTS.values())).flatmap(
        lambda allowed: bodies.run_inputs(allowed=allowed)
    )
)
def test_a_new_message_has_ids_within_their_limits(body):
    read = read_run_input(written(body))

    assert SLOTS["thread"] in read["threadId"]
    assert SLOTS["run"] in read["runId"]
    assert all(utf16_length(message["id"]) <= 400 for message in read["messages"])


@given(bodies.answers(allowed=MAIN, interrupt_id="other"))
def test_an_answer_names_its_interrupt(body):
    (entry,) = body["resume"]

    assert entry["interruptId"] == "other"
    assert entry["payload"] is not None


@given(bodies.client_results(allowed=MAIN, call_id="other"))
def test_a_result_names_its_call(body):
    assert (body["messages"][-1]["role"], body["messages"][-1]["toolCallId"]) == ("tool", "other")


@given(bodies.answers(allowed=MAIN, speaks=True))
def test_an_answer_that_speaks_ends_with_a_person(body):
    assert body["messages"][-1]["role"] == "user"


@given(bodies.run_inputs(allowed=bodies.AGENTS["stateless"]))
def test_where_no_conversation_is_kept_there_is_one_message(body):
    assert len(body["messages"]) == 1
    assert not body.get("tools")


@pytest.fixture(scope="module")
def many():
    """Bodies with a new message for the agent that keeps all, their slots filled."""
    return [written(body) for body in drawn(bodies.run_inputs(allowed=MAIN), 2_000)]


def test_every_role_is_reached(many):
    roles = {message["role"] for body in many for message in body["messages"]}

    assert roles == ROLES - {"system", "developer"}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("tools", []),
        ("tools", None),
        ("context", []),
        ("context", None),
        ("state", []),
        ("state", {}),
        ("state", None),
        ("resume", []),
        ("resume", None),
        ("tools", [{"name": "show_form"}]),
        ("protocolVersion", "1.0"),
        ("forwardedProps", None),
        ("parentRunId", SLOTS["run"]),
    ],
    ids=ascii,
)
def test_optional_members_are_reached(many, name, wanted):
    assert any(name in body and body[name] == wanted for body in many)


def test_optional_members_are_left_off(many):
    optional = {"tools", "context", "state", "resume", "forwardedProps", "protocolVersion"}

    assert any(not optional & body.keys() for body in many)


PLACES = {
    "an id": lambda body: body["messages"][-1]["id"],
    "a content": lambda body: [message.get("content") for message in body["messages"]],
    "a part": lambda body: [
        message["content"]
        for message in body["messages"]
        if isinstance(message.get("content"), list)
    ],
    "a call": lambda body: [message.get("toolCalls") for message in body["messages"]],
    "a tool": lambda body: body.get("tools"),
    "forwarded": lambda body: body.get("forwardedProps"),
    "an unknown member": lambda body: body.get("x-note"),
    "a name": lambda body: list(body.get("__proto__", {})),
}


@pytest.mark.parametrize("place", PLACES)
def test_canaries_are_reached_everywhere(many, place):
    assert any(CANARY in json.dumps(PLACES[place](body)) for body in many)


@pytest.mark.parametrize("name", ["threadId", "runId"])
def test_the_longest_ids_are_reached(many, name):
    assert any(len(body[name]) == 128 for body in many)


def test_the_longest_message_ids_are_reached(many):
    ids = {message["id"] for body in many for message in body["messages"]}

    assert any(utf16_length(one) == 400 and not one.isascii() for one in ids)
    assert any(utf16_length(one) == 400 and CANARY in one for one in ids)


LEAST = {
    "threadId": "{thread}",
    "runId": "{run}",
    "messages": [{"role": "user", "id": "m", "content": "{plain}"}],
}


SMALLEST = {
    "run_inputs": LEAST,
    "answers": LEAST
    | {
        "messages": [],
        "resume": [{"interruptId": "{interrupt}", "status": "resolved", "payload": False}],
    },
    "client_results": LEAST
    | {"messages": [{"role": "tool", "id": "m", "toolCallId": "{call}", "content": ""}]},
}


@pytest.mark.parametrize("name", SMALLEST)
def test_what_is_found_is_made_small(name):
    strategy = getattr(bodies, name)(allowed=MAIN)

    assert find(strategy, lambda _: True, settings=SMALL) == SMALLEST[name]


def test_a_long_history_is_made_small():
    found = find(
        bodies.run_inputs(allowed=MAIN), lambda body: len(body["messages"]) > 2, settings=SMALL
    )

    assert found.keys() == LEAST.keys()
    assert [len(message) for message in found["messages"]] == [2, 3, 3]
