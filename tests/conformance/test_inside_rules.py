"""Rules on what happens inside: what they read of an observation, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.inside_reading import holds, imbalance, instructions
from hostproof.conformance.recording import Facts, Owed, Recording
from hostproof.conformance.rule import Breach, Unseen
from tests.conformance.recorded import CANARY, FINISHED, STARTED, problem, ran, stream

RULES = all_rules()
CALL = {"id": "c-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
OTHER = {**CALL, "id": "c-2"}


def said(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "toolCalls": list(calls)}


def result(call_id: str = "c-1") -> dict[str, Any]:
    return {"role": "tool", "toolCallId": call_id, "content": "done"}


def recorded(area: str, inside: dict[str, Any] | None, **members: Any) -> Recording:
    facts = Facts(
        id=area,
        area=area,
        kind="body",
        situation="fresh",
        endpoint="main",
        owed=Owed(code=None, status=200),
        canary=CANARY,
    )
    return Recording(case=facts, inside=inside, changed=members.pop("changed", (ran(),)), **members)


def judged(rule: str, inside: dict[str, Any] | None, **members: Any) -> Breach | Unseen | None:
    return RULES[rule].judge(recorded("any", inside, **members))


def asked(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"modelRequests": list(requests)}


# Calls and their results.


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([], None),
        ([said(CALL), result()], None),
        ([said(CALL, OTHER), result("c-2"), result()], None),
        ([said(CALL)], "a call without a result"),
        ([said(CALL, OTHER), result()], "a call without a result"),
        ([result()], "a result of no call before it"),
        ([result(), said(CALL)], "a result of no call before it"),
        ([said(CALL), result(), result()], "two results of one call"),
        ([{"role": "tool", "content": "42"}], "a result of no call before it"),
        ([{"role": "assistant", "toolCalls": None}, {"role": "user", "content": "hi"}], None),
    ],
)
def test_calls_and_results_are_paired(messages, found):
    assert imbalance(messages) == found


def test_a_call_may_be_open_where_the_thread_waits():
    rule = "history.results-match-calls"
    waiting = {"messages": [said(CALL)], "pauses": [{"interruptId": "i-1"}]}

    assert judged(rule, waiting) is None
    assert isinstance(judged(rule, waiting | {"pauses": []}), Breach)
    assert isinstance(judged(rule, waiting | {"messages": [result()]}), Breach)


def test_the_same_tool_may_be_called_again_with_something_else():
    other = {"id": "c-3", "function": {"name": "look", "arguments": '{"q": 1}'}}
    spaced = {"id": "c-4", "function": {"name": "look", "arguments": "{ }"}}
    rule = "history.asks-a-page-once"

    assert judged(rule, {"messages": [said(CALL), result(), said(other)]}) is None
    assert isinstance(judged(rule, {"messages": [said(CALL), said(spaced)]}), Breach)


# What a model obeys.


def test_what_a_model_obeys_is_its_slot_and_messages_of_that_rank():
    request = {
        "system": "own",
        "messages": [
            {"role": "SYSTEM", "content": "one"},
            {"role": " Developer", "content": "two"},
            {"role": "user", "content": "three"},
        ],
    }

    assert list(instructions(request)) == ["own", "one", "two"]


def test_a_marker_is_found_in_names_and_texts_at_any_depth():
    assert holds({"a": [{"b": f"x {CANARY}"}]}, CANARY)
    assert holds({CANARY: 1}, CANARY)
    assert not holds({"a": ["hp", 1, None]}, CANARY)


def test_words_of_a_page_are_no_orders_wherever_they_stand_among_them():
    rule = "model.no-orders-from-a-page"
    by_the_page = {"role": "System", "content": [{"type": "text", "text": CANARY}]}

    assert isinstance(judged(rule, asked({"system": f"Own. {CANARY}"})), Breach)
    assert isinstance(judged(rule, asked({"messages": [by_the_page]})), Breach)
    assert judged(rule, asked({"messages": [{"role": "user", "content": CANARY}]})) is None


def test_a_host_may_have_no_instructions_but_not_lose_them():
    rule = "model.keeps-its-instructions"
    told, untold = {"system": "own"}, {"system": ""}

    assert judged(rule, asked(untold, untold)) is None
    assert judged(rule, asked(told, {"system": "own, at noon"})) is None
    assert judged(rule, asked(untold, told)) is None
    assert isinstance(judged(rule, asked(told, untold)), Breach)


def test_a_pages_tool_is_its_own_where_the_host_has_none_of_that_name():
    rule = "model.own-tools-stay"
    own, pages = {"tools": {"pay": "Pay."}}, {"tools": {"pay": CANARY}}

    assert judged(rule, asked(pages)) is None
    assert judged(rule, asked({"tools": {}}, pages)) is None
    assert isinstance(judged(rule, asked(own, pages)), Breach)


# What is taken is read.


def test_a_refusal_keeps_what_a_run_would_break():
    inside = asked({"messages": [], "tools": {}})

    for rule in ("model.sees-the-text", "model.sees-client-tools"):
        assert judged(rule, inside, changed=(problem(),)) is None
    assert isinstance(judged("model.sees-the-text", inside), Breach)


def test_a_run_that_asked_no_model_is_not_blamed():
    assert judged("model.sees-the-text", asked()) is None


# What is not shown is not judged.


@pytest.mark.parametrize(
    "rule",
    [rule for rule in RULES if rule.startswith(("model.", "history.results", "history.keeps"))]
    + [
        "history.settles-client-calls",
        "history.asks-a-page-once",
        "pause.stored-as-announced",
        "state.claims-no-records",
        "effect.forged-approval-runs-nothing",
    ],
)
def test_without_a_look_inside_a_rule_is_not_judged(rule):
    assert isinstance(judged(rule, None), Unseen)
    assert isinstance(judged(rule, {"version": 1}), Unseen)


# What a stream and a refusal show.


def test_a_run_that_asks_in_its_own_style_is_not_taken_for_one_that_does_not():
    done = {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c-1", "content": "paid"}
    unasked = (stream(STARTED, done, FINISHED),)
    rule = "effect.never-unasked"

    assert isinstance(judged(rule, None, changed=unasked), Breach)
    assert judged(rule, None, changed=unasked, asked=True) is None
    assert isinstance(judged(rule, None, changed=(ran(),)), Unseen)


@pytest.mark.parametrize(
    ("path", "leads_out"),
    [
        ("/__proto__/x", True),
        ("/a/constructor/prototype/x", True),
        ("/constructor", False),
        ("/a/b", False),
    ],
)
def test_a_delta_stays_in_the_state(path, leads_out):
    delta = {"type": "STATE_DELTA", "delta": [{"op": "add", "path": path, "value": 1}]}
    found = judged("state.patches-no-prototype", None, changed=(stream(STARTED, delta, FINISHED),))

    assert isinstance(found, Breach) == leads_out


def test_a_question_names_a_call_that_was_shown():
    rule = "pause.shows-its-call"
    interrupt = {"id": "i-1", "reason": "confirmation_required", "toolCallId": "c-1"}
    finished = {**FINISHED, "outcome": {"type": "interrupt", "interrupts": [interrupt]}}
    started = {"type": "TOOL_CALL_START", "toolCallId": "c-1", "toolCallName": "pay"}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m", **said(CALL)}]}

    assert isinstance(judged(rule, None, changed=(stream(STARTED, finished),)), Breach)
    for shown in (started, snapshot):
        assert judged(rule, None, changed=(stream(STARTED, shown, finished),)) is None
