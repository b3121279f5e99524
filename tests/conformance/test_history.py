"""The conversation as a client keeps it: the same from whole events, chunks and snapshots."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from hostproof.conformance.history import messages_after
from tests.conformance.recorded import FINISHED, STARTED, stream

if TYPE_CHECKING:
    from hostproof.reference_impl.values import Json

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)


def pieces(text, cuts):
    """Cut a text; the pieces joined are the text."""
    ends = sorted({cut % (len(text) + 1) for cut in cuts} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)] or [""]


@st.composite
def items(draw):
    """Draw what a run adds: texts, calls in a message, and results; each with its messages."""
    made = []
    for at in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["text", "call", "result"]))
        made.append((kind, f"m{at}", draw(TEXTS), draw(st.lists(st.integers(0, 8), max_size=3))))
    return made


def messages_of(made):
    """Say, by construction, what a client holds after the items."""
    messages = []
    for kind, name, text, _ in made:
        if kind == "text":
            messages.append({"id": name, "role": "assistant", "content": text})
        elif kind == "call":
            function = {"name": "pay", "arguments": text}
            call = {"id": f"c-{name}", "type": "function", "function": function}
            messages.append({"id": name, "role": "assistant", "toolCalls": [call]})
        else:
            result = {"id": name, "role": "tool", "toolCallId": f"c-{name}", "content": text}
            messages.append(result)
    return messages


def whole(made):
    for kind, name, text, cuts in made:
        call = f"c-{name}"
        if kind == "text":
            yield {"type": "TEXT_MESSAGE_START", "messageId": name, "role": "assistant"}
            for piece in pieces(text, cuts):
                yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": piece}
            yield {"type": "TEXT_MESSAGE_END", "messageId": name}
        elif kind == "call":
            opens = {"toolCallId": call, "toolCallName": "pay", "parentMessageId": name}
            yield {"type": "TOOL_CALL_START", **opens}
            for piece in pieces(text, cuts):
                yield {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": piece}
            yield {"type": "TOOL_CALL_END", "toolCallId": call}
        else:
            named = {"messageId": name, "toolCallId": call}
            yield {"type": "TOOL_CALL_RESULT", **named, "content": text}


def in_chunks(made, *, names_each):
    for kind, name, text, cuts in made:
        if kind == "result":
            yield from whole([(kind, name, text, cuts)])
            continue
        first, *rest = pieces(text, cuts)
        opens = {"messageId": name, "role": "assistant"}
        again = {"messageId": name}
        if kind == "call":
            opens = {"toolCallId": f"c-{name}", "toolCallName": "pay", "parentMessageId": name}
            again = {"toolCallId": f"c-{name}"}
        event = {"type": "TEXT_MESSAGE_CHUNK" if kind == "text" else "TOOL_CALL_CHUNK"}
        yield {**event, **opens, "delta": first}
        for piece in rest:
            yield {**event, **(again if names_each else {}), "delta": piece}


def after(before, events):
    return messages_after(before, stream(STARTED, *events, FINISHED).events)


ASKED = {"id": "u", "role": "user", "content": "hello"}


@given(items(), st.booleans())
def test_whole_events_and_chunks_give_the_same_messages(made, names_each):
    expected = [ASKED, *messages_of(made)]
    assert after([ASKED], whole(made)) == expected
    assert after([ASKED], in_chunks(made, names_each=names_each)) == expected


@given(items(), items())
def test_two_runs_add_up(first, second):
    second = [(kind, f"n-{name}", text, cuts) for kind, name, text, cuts in second]
    one_by_one = after(after([ASKED], whole(first)), whole(second))
    assert one_by_one == after([ASKED], [*whole(first), *whole(second)])


@given(items(), items())
def test_a_snapshot_is_what_the_client_holds(before, restated):
    listed = messages_of(restated)
    events = [*whole(before), {"type": "MESSAGES_SNAPSHOT", "messages": listed}]
    assert after([ASKED], events) == listed


@given(items())
def test_what_is_given_stays_as_it_is(made):
    before = [copy.deepcopy(ASKED), *messages_of(made)]
    kept = copy.deepcopy(before)
    said = after(before, whole([("text", "new", "hello", [])]))
    said[0]["content"] = "changed"
    assert before == kept


def test_a_snapshot_that_is_none_changes_nothing():
    wrong: list[Json] = [None, {}, "x", [1], [ASKED, None]]
    for listed in wrong:
        assert after([ASKED], [{"type": "MESSAGES_SNAPSHOT", "messages": listed}]) == [ASKED]


def test_several_calls_of_one_message_stand_in_it():
    events = [
        {"type": "TOOL_CALL_START", "toolCallId": name, "toolCallName": "pay",
         "parentMessageId": "m"}
        for name in ("a", "b")
    ]  # fmt: skip
    (message,) = after([], events)
    assert [call["id"] for call in message["toolCalls"]] == ["a", "b"]


def test_a_call_without_a_message_gets_one():
    (message,) = after([], [{"type": "TOOL_CALL_START", "toolCallId": "a", "toolCallName": "pay"}])
    assert (message["role"], message["toolCalls"][0]["function"]["name"]) == ("assistant", "pay")


def test_events_of_others_add_nothing():
    others = [
        {"type": "CUSTOM", "name": "x.y", "value": 1},
        {"type": "STATE_SNAPSHOT", "snapshot": {}},
        {"type": "TEXT_MESSAGE_CHUNK", "delta": "no id"},
        {"type": "TOOL_CALL_CHUNK", "delta": "no id"},
        {"type": "TOOL_CALL_RESULT", "messageId": "m", "content": "no call"},
        "no json",
    ]
    assert after([ASKED], others) == [ASKED]
