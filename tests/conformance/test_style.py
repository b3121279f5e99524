"""How a host pauses and is answered: words, places, and what has no place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hostproof.conformance.answer_words import USUAL, Words, made_from, opposite
from hostproof.conformance.conversation import Conversation
from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.profile import profile_from
from hostproof.conformance.style import (
    AnswerStyle,
    Asked,
    InexpressibleError,
    PauseStyle,
    answer_members,
    open_calls,
    questions_of,
    worded,
    words_of,
)
from hostproof.reference_impl.values import MISSING
from hostproof.strategies.decisions import entry
from tests.conformance.recorded import FINISHED, STARTED, problem, stream

# Words.


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        (None, *(USUAL.yes, USUAL.no)),
        ({}, USUAL.yes, USUAL.no),
        ({"type": "boolean"}, True, False),
        ({"enum": ["approve", "reject"]}, "approve", "reject"),
        ({"enum": ["later", "never"]}, USUAL.yes, USUAL.no),
        ({"enum": []}, USUAL.yes, USUAL.no),
        (
            {"properties": {"accepted": {"type": "boolean"}}},
            {"accepted": True},
            {"accepted": False},
        ),
        ({"properties": {"ok": {"type": "boolean"}}}, {"ok": True}, {"ok": False}),
        (
            {"properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"}}},
            USUAL.yes,
            USUAL.no,
        ),
        (
            {
                "properties": {"a": {"type": "boolean"}, "confirmed": {"type": "boolean"}},
                "required": ["a"],
            },
            {"a": False, "confirmed": True},
            {"a": False, "confirmed": False},
        ),
        (
            {
                "properties": {
                    "approved": {"type": "boolean"},
                    "n": {"type": ["integer", "null"], "minimum": 2},
                    "odd": {"type": [{}, "file", "null"]},
                    "none": {"type": []},
                },
                "required": ["approved", "n", "odd", "none"],
            },
            {"approved": True, "n": 2, "odd": None, "none": "hostproof"},
            {"approved": False, "n": 2, "odd": None, "none": "hostproof"},
        ),
        ({"properties": {"by": {"type": "string"}}}, USUAL.yes, USUAL.no),
        ({"properties": ["approved"]}, USUAL.yes, USUAL.no),
        # one boolean beside others may mean anything; one that says no is turned round
        (
            {"properties": {"remember": {"type": "boolean"}, "note": {"type": "string"}}},
            USUAL.yes,
            USUAL.no,
        ),
        ({"properties": {"deny": {"type": "boolean"}}}, {"deny": False}, {"deny": True}),
        (
            {"properties": {"rejected": {"type": "boolean"}, "reason": {"type": "string"}}},
            {"rejected": False},
            {"rejected": True},
        ),
        (
            {
                "properties": {
                    "decision": {"enum": ["approve", "reject"]},
                    "remember": {"type": "boolean"},
                },
                "required": ["decision", "remember"],
            },
            {"decision": "approve", "remember": False},
            {"decision": "reject", "remember": False},
        ),
        ({"anyOf": [{"type": "string"}, {"type": "boolean"}]}, True, False),
        (
            {
                "properties": {"approved": {"type": "boolean"}, "n": {"type": ["integer", "null"]}},
                "required": ["n"],
            },
            {"n": 0, "approved": True},
            {"n": 0, "approved": False},
        ),
        ("approved", USUAL.yes, USUAL.no),
    ],
)
def test_a_schema_gives_the_words(schema, yes, no):
    assert made_from(schema) == Words(yes, no)


TYPES = ("string", "boolean", "array", "object", "null", "integer", "number")
SIMPLE = st.one_of(
    st.sampled_from(TYPES).map(lambda t: {"type": t}),
    st.lists(st.sampled_from(TYPES), min_size=1, unique=True).map(lambda t: {"type": t}),
    st.builds(
        lambda kind, least: {"type": kind, "minimum": least},
        st.sampled_from(["integer", "number"]),
        st.integers(-5, 5),
    ),
    st.lists(st.text(), min_size=1).map(lambda choices: {"enum": choices}),
    st.text().map(lambda value: {"const": value}),
)


@given(
    st.sampled_from(["approved", "confirmed", "accepted", "allow"]),
    st.dictionaries(st.text(max_size=4), SIMPLE, max_size=4),
)
def test_what_is_made_of_a_schema_is_taken_by_it(key, others):
    members = {**others, key: {"type": "boolean"}}
    schema = {"type": "object", "properties": members, "required": sorted(members)}
    words = made_from(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid(words.yes)
    assert validator.is_valid(words.no)
    assert words.yes != words.no
    assert words.key in members


@pytest.mark.parametrize(
    ("style", "schema", "words"),
    [
        (AnswerStyle(), {"type": "boolean"}, Words(True, False)),
        (
            AnswerStyle(yes={"ok": True, "n": 1}),
            None,
            Words({"ok": True, "n": 1}, {"ok": False, "n": 1}),
        ),
        (AnswerStyle(yes=True), {"properties": {"a": {"type": "boolean"}}}, Words(True, False)),
        (AnswerStyle(yes="go", no="stop"), None, Words("go", "stop")),
        (AnswerStyle(no={"no": 1}), None, Words(USUAL.yes, {"no": 1})),
        (
            AnswerStyle(yes={"decision": {"approved": True, "why": "x"}}),
            None,
            Words(
                {"decision": {"approved": True, "why": "x"}},
                {"decision": {"approved": False, "why": "x"}},
            ),
        ),
        (AnswerStyle(yes="accept"), None, Words("accept", "deny")),
        (
            AnswerStyle(yes={"approved": True}),
            {"properties": {"approved": {"type": "boolean"}, "n": {"type": "number"}}},
            Words({"approved": True}, {"approved": False}),
        ),
    ],
)
def test_a_profiles_own_words_win(style, schema, words):
    assert words_of(style, Asked("i", "", schema)) == words


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (USUAL, "approved"),
        (Words(True, False), None),
        (Words({"a": True, "b": True}, {"a": True, "b": False}), "b"),
        (Words({"a": True, "b": True}, {"a": False, "b": False}), None),
        (Words({"type": "accept"}, {"type": "decline"}), None),
        (Words({"a": True}, False), "a"),
    ],
)
def test_the_telling_member(words, key):
    assert words.key == key


ACCEPT = Words({"accepted": True, "by": "x"}, {"accepted": False, "by": "x"})
EDITS = {"properties": {"answer": {"properties": {"editedArgs": {"type": "object"}}}}}


@pytest.mark.parametrize(
    ("payload", "words", "schema", "said"),
    [
        ("{yes}", ACCEPT, None, ACCEPT.yes),
        ("{no}", Words(True, False), None, False),
        ("yes", ACCEPT, None, "yes"),
        (None, ACCEPT, None, None),
        ([1], ACCEPT, None, [1]),
        ({"{yes}": True, "note": "n"}, ACCEPT, None, {**ACCEPT.yes, "note": "n"}),
        ({"{no}": True, "by": "y"}, ACCEPT, None, {"accepted": False, "by": "y"}),
        ({"{key}": 1}, ACCEPT, None, {"accepted": 1, "by": "x"}),
        ({"{key}": None, "by": 7}, ACCEPT, None, {"accepted": None, "by": 7}),
        ({"approved": True}, ACCEPT, None, {"approved": True}),
        ({"{yes}": True, "editedArgs": {}}, Words(True, False), None, None),
        ({"{key}": 1}, Words("go", "stop"), None, None),
        ({"{yes}": True, "editedArgs": {}}, ACCEPT, EDITS, None),
    ],
)
def test_the_hosts_words_are_put_in(payload, words, schema, said):
    if said is None and payload is not None:
        with pytest.raises(InexpressibleError):
            worded(payload, words, schema)
    else:
        assert worded(payload, words, schema) == said


# Answers.


def resolved(name, payload):
    return {"interruptId": name, "status": "resolved", "payload": payload}


ONE, TWO = (
    (
        Asked(
            "i",
        ),
    ),
    (Asked("i"), Asked("j")),
)
YES = {"approved": True}
RESUME, COMMAND = AnswerStyle(kind="resume"), AnswerStyle(kind="command")
MESSAGE = AnswerStyle(kind="tool-message")


@pytest.mark.parametrize(
    ("style", "asked", "entries", "members"),
    [
        (RESUME, ONE, [resolved("i", YES)], {"resume": [resolved("i", YES)]}),
        (RESUME, ONE, [], {"resume": []}),
        (COMMAND, ONE, [resolved("i", YES)], YES),
        (COMMAND, (Asked(""),), [resolved("", YES)], YES),
        (COMMAND, (), [resolved("i", YES)], YES),
        (COMMAND, ONE, [resolved("stranger", YES)], {"stranger": YES}),
        (COMMAND, ONE, [resolved("i", YES), resolved("x", 1)], {"i": YES, "x": 1}),
        (COMMAND, TWO, [resolved("i", YES)], {"i": YES}),
        (COMMAND, TWO, [resolved("j", 1), resolved("i", 2)], {"j": 1, "i": 2}),
        (MESSAGE, ONE, [resolved("i", YES)], [("i", '{"approved": true}')]),
        (MESSAGE, ONE, [resolved("i", "words")], [("i", "words")]),
        (MESSAGE, ONE, [resolved("i", None)], [("i", "null")]),
        (MESSAGE, TWO, [resolved("j", 1), resolved("i", [])], [("j", "1"), ("i", "[]")]),
        (MESSAGE, ONE, [resolved("i", "true")], [("i", "true")]),
    ],
)
def test_an_answer_stands_where_the_host_looks_for_it(style, asked, entries, members):
    given = answer_members(style, entries, asked)
    if style.kind == "command":
        members = {"forwardedProps": {"command": {"resume": members}}}
    elif style.kind == "tool-message":
        members = {
            "messages": [
                {"role": "tool", "toolCallId": name, "content": content}
                for name, content in members
            ]
        }
    assert given == members


CANCELLED = {"interruptId": "i", "status": "cancelled"}


@pytest.mark.parametrize(
    ("style", "asked", "entries"),
    [
        (COMMAND, ONE, [CANCELLED]),
        (MESSAGE, ONE, [CANCELLED]),
        (COMMAND, ONE, [resolved("i", 1), resolved("i", 2)]),
        (MESSAGE, ONE, [resolved("i", 1), resolved("i", 1)]),
        (COMMAND, (Asked(""),), [resolved("", YES), resolved("x", YES)]),
        (COMMAND, (Asked(""), Asked("")), [resolved("", YES)]),
        (AnswerStyle(kind="tool-message", yes=True), ONE, [resolved("i", "true")]),
        (AnswerStyle(kind="tool-message", yes=True), ONE, [resolved("i", "false")]),
    ],
)
def test_what_has_no_place_is_not_sent(style, asked, entries):
    with pytest.raises(InexpressibleError):
        answer_members(style, entries, asked)


# Questions.


def interrupts(*ids):
    listed = [{"id": one, "reason": "r", "toolCallId": f"c-{one}"} for one in ids]
    return FINISHED | {"outcome": {"type": "interrupt", "interrupts": listed}}


def custom(name="on_interrupt", value=None):
    return {"type": "CUSTOM", "name": name, "value": value}


def begun(call_id, name):
    return {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": name}


def result(call_id):
    return {"type": "TOOL_CALL_RESULT", "toolCallId": call_id, "messageId": "m", "content": ""}


def chunk(call_id=None, name=None, delta=None):
    named = {"toolCallId": call_id, "toolCallName": name, "delta": delta}
    return {"type": "TOOL_CALL_CHUNK"} | {n: v for n, v in named.items() if v is not None}


INTERRUPT, CUSTOM = PauseStyle(), PauseStyle(kind="custom")
CALL = PauseStyle(kind="call", tool="confirm")


@pytest.mark.parametrize(
    ("style", "events", "asked"),
    [
        (INTERRUPT, [interrupts("i", "j")], [("i", "c-i"), ("j", "c-j")]),
        (INTERRUPT, [interrupts("i", "i")], [("i", "c-i")]),
        (INTERRUPT, [FINISHED], []),
        (INTERRUPT, [custom(), FINISHED], []),
        (CUSTOM, [custom(), FINISHED], [("", "")]),
        (CUSTOM, [custom(value={"id": "i"}), FINISHED], [("i", "")]),
        (CUSTOM, [custom(value={"id": 7}), custom(value="x"), FINISHED], [("", ""), ("", "")]),
        (CUSTOM, [custom(), interrupts("i", "j")], [("i", "c-i"), ("j", "c-j")]),
        (CUSTOM, [custom("other"), interrupts("i")], []),
        (CUSTOM, [interrupts("i")], []),
        (CALL, [begun("p", "pay"), begun("c", "confirm"), FINISHED], [("c", "c")]),
        (CALL, [begun("c", "confirm"), result("c"), FINISHED], []),
        (CALL, [chunk("c", "confirm"), chunk("c", delta="{}"), FINISHED], [("c", "c")]),
        (CALL, [chunk("p", "pay"), chunk("p", delta="{}"), chunk(delta="x"), FINISHED], []),
        (CALL, [begun("a", "confirm"), begun("b", "confirm"), FINISHED], [("a", "a"), ("b", "b")]),
        (CALL, [begun("c", "confirm"), {"type": "RUN_ERROR", "message": "no"}], []),
    ],
)  # fmt: skip
def test_what_a_run_asked(style, events, asked):
    found = questions_of(stream(STARTED, *events), style)
    assert [(one.id, one.call) for one in found] == asked


def test_a_refusal_asks_nothing():
    for style in (INTERRUPT, CUSTOM, CALL):
        assert questions_of(problem(), style) == ()


def test_any_tools_open_calls():
    events = [begun("a", "x"), chunk("b", "y"), begun("c", "z"), result("a"), FINISHED]
    assert open_calls(stream(STARTED, *events)) == ["b", "c"]


# A thread in a style.


def conversation(**members):
    profile = profile_from({"version": 1, **members}, environ={})
    return Conversation.begun(profile, Identifiers("seed"), "case", "own")


@given(st.lists(st.text(max_size=5), min_size=1, max_size=5), st.booleans())
def test_arguments_are_put_together_from_any_pieces(texts, names_again):
    """A call in chunks is shown whole, whether or not each chunk names it."""
    arguments = {"to": "".join(texts)}
    written = json.dumps(arguments)
    size = max(len(written) // len(texts), 1)
    first, *pieces = [written[at : at + size] for at in range(0, len(written), size)]
    again = "p" if names_again else None
    thread = conversation()
    chunks = [chunk("p", "pay", first), *(chunk(again, delta=piece) for piece in pieces)]
    thread.note({}, stream(STARTED, *chunks, FINISHED))
    assert thread.shown == {"p": arguments}


def test_an_answer_names_what_the_style_names():
    by_call = conversation(pause={"kind": "interrupt"}, answer={"kind": "tool-message"})
    by_id = conversation(pause={"kind": "interrupt"}, answer={"parent_run": True})
    asking = stream(STARTED, interrupts("i", "j"))
    for thread in (by_call, by_id):
        thread.note({"runId": "r-1"}, asking)
        assert thread.is_open
    assert (by_call.slots["interrupt"], by_call.slots["second_interrupt"]) == ("c-i", "c-j")
    assert (by_id.slots["interrupt"], by_id.slots["second_call"]) == ("i", "c-j")
    entry = {"interruptId": "{interrupt}", "status": "resolved", "payload": "{yes}"}
    assert by_id.answer("a", [entry], "canary")["parentRunId"] == "r-1"
    (said,) = by_call.answer("a", [entry], "canary")["messages"]
    assert (said["toolCallId"], said["content"]) == ("c-i", '{"approved": true}')


@pytest.mark.parametrize(("first", "slot"), [("h", "h"), ("i", None), ("", None)])
def test_an_earlier_question_is_named_where_it_has_an_id_of_its_own(first, slot):
    thread = conversation(pause={"kind": "interrupt"})
    thread.note({}, stream(STARTED, interrupts("i")))
    thread.earlier = first
    assert thread.slots.get("earlier_interrupt") == slot


def test_a_slot_that_the_pause_does_not_fill_is_not_sent():
    thread = conversation(pause={"kind": "interrupt"})
    thread.note({}, stream(STARTED, interrupts("i")))
    entry = {"interruptId": "{second_interrupt}", "status": "resolved", "payload": "{yes}"}
    with pytest.raises(InexpressibleError):
        thread.answer("a", [entry], "canary")


def test_a_missing_yes_is_no_null():
    assert AnswerStyle().yes is MISSING
    assert words_of(AnswerStyle(yes=None), Asked("i")).yes is None


@given(
    st.recursive(
        st.booleans() | st.text() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_yes_turned_round_says_yes_nowhere(yes):
    waiting = [opposite(yes)]
    while waiting:
        one = waiting.pop()
        assert one is not True
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()


def test_nothing_in_a_hosts_own_words_is_a_slot():
    profile = profile_from({"version": 1, "answer": {"yes": {"approved": True, "by": "{user}"}}})
    conversation = Conversation.begun(profile, Identifiers("seed"), "case", "own")
    (said,) = conversation.filled([entry("{yes}", interruptId="i")], "canary")
    assert said["payload"] == {"approved": True, "by": "{user}"}
