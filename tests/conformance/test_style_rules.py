"""Rules on hosts of every style: what they must not demand of one, and what proves nothing."""

from __future__ import annotations

import json

import pytest

from hostproof.conformance.recording import Seen
from hostproof.conformance.rule import Breach, Unseen
from hostproof.conformance.rules.ag_ui_interrupts import says_it_is_interrupted
from hostproof.conformance.rules.consent import (
    each_on_its_own,
    runs_only_what_is_covered,
    runs_what_is_owed,
    seen_to_run,
)
from hostproof.conformance.rules.consent import waits as waits_alone
from hostproof.conformance.rules.forged_input import asks_before_it_runs
from hostproof.conformance.rules.stored_history import one_result_each
from tests.conformance.recorded import FINISHED, POST, STARTED, recording, stream

INTERRUPTED = FINISHED | {
    "outcome": {"type": "interrupt", "interrupts": [{"id": "i", "reason": "r"}]}
}
OFFERING = {"threadId": "t", "tools": [{"name": "confirm", "description": "d"}]}


def begun(call_id, name):
    return {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": name}


def result(call_id):
    named = {"messageId": f"m-{call_id}", "toolCallId": call_id}
    return {"type": "TOOL_CALL_RESULT", "content": "x", **named}


def run(*events, offers=False):
    body = OFFERING if offers else {"threadId": "t"}
    request = type(POST)(path="/agui", body=json.dumps(body).encode())
    return stream(STARTED, *events, request=request)


PAY, CONFIRM = begun("p", "pay"), begun("c", "confirm")


@pytest.mark.parametrize(
    ("exchange", "aside", "holds"),
    [
        (run(PAY, INTERRUPTED), False, True),
        (run(PAY, INTERRUPTED), True, True),
        (run(PAY, FINISHED), False, False),
        (run(FINISHED), True, False),
        (run(PAY, result("p"), FINISHED), False, True),
        # A run that leaves a call to the page has to end so, whatever else it leaves.
        (run(PAY, CONFIRM, FINISHED, offers=True), False, True),
        (run(PAY, result("p"), CONFIRM, FINISHED, offers=True), False, True),
        (run(PAY, CONFIRM, FINISHED), False, False),
        (run(PAY, CONFIRM, result("c"), FINISHED, offers=True), False, False),
    ],
)
def test_a_run_that_stopped_to_ask_says_so(exchange, aside, holds):
    found = says_it_is_interrupted(recording(exchange, asked_aside=aside))
    assert (found is None) is holds


waits = seen_to_run(waits_alone)
ROW = {"tool": "pay", "arguments": {"amount": 10}, "callId": "p"}
BIG = {"amount": 20}
OTHER = {"tool": "pay", "arguments": BIG, "callId": "q"}


@pytest.mark.parametrize(
    ("judge", "seen", "found"),
    [
        (runs_what_is_owed, Seen(owed=0, control=(ROW,), control_owed=1), type(None)),
        (runs_what_is_owed, Seen(owed=0, control_owed=1), Unseen),
        (runs_what_is_owed, Seen(owed=0, control_owed=0), type(None)),
        (runs_what_is_owed, Seen(owed=1, control_owed=1), Breach),
        (runs_what_is_owed, Seen(owed=0, control_owed=1, answered=(ROW,)), Breach),
        (waits, Seen(owed=1, control=(ROW,), control_owed=1), type(None)),
        (waits, Seen(owed=1, control_owed=1), Unseen),
        (waits, Seen(owed=0, control_owed=0), Unseen),
        (waits, Seen(owed=1, control_owed=1, paused=(ROW,)), Breach),
        (each_on_its_own, Seen(owed=2, answered=(ROW, OTHER)), type(None)),
        (each_on_its_own, Seen(owed=1, answered=(ROW,), not_approved=(BIG,)), type(None)),
        (each_on_its_own, Seen(owed=1, answered=(OTHER,), not_approved=(BIG,)), Breach),
        (each_on_its_own, Seen(owed=1, answered=(ROW, OTHER)), Breach),
        (each_on_its_own, Seen(owed=1, answered=({"callId": "p"},)), Unseen),
        (runs_only_what_is_covered, Seen(owed=0, most=1, answered=(ROW,)), type(None)),
        (runs_only_what_is_covered, Seen(owed=0, most=1, answered=(ROW, OTHER)), Breach),
    ],
)  # fmt: skip
def test_nothing_is_proved_where_not_even_a_yes_is_seen_to_run(judge, seen, found):
    assert isinstance(judge(recording(run(FINISHED), seen=seen)), found)


@pytest.mark.parametrize(
    ("events", "asked", "holds"),
    [
        ([PAY, result("p"), FINISHED], False, False),
        ([PAY, result("p"), FINISHED], True, True),
        ([PAY, result("p"), INTERRUPTED], False, True),
    ],
)
def test_a_result_that_says_that_a_call_waits_is_no_run_unasked(events, asked, holds):
    assert (asks_before_it_runs(recording(run(*events), asked=asked)) is None) is holds


@pytest.mark.parametrize(
    ("asking", "answered", "holds"),
    [
        (run(PAY, result("p"), CONFIRM, FINISHED, offers=True), run(result("p"), FINISHED), True),
        (run(PAY, CONFIRM, FINISHED, offers=True), run(result("p"), FINISHED), True),
        (run(PAY, INTERRUPTED), run(result("p"), FINISHED), True),
        (run(PAY, INTERRUPTED), run(result("p"), result("p"), FINISHED), False),
        (run(PAY, result("p"), INTERRUPTED), run(result("p"), FINISHED), False),
        (run(PAY, result("p"), CONFIRM, FINISHED), run(result("p"), FINISHED), False),
    ],
)
def test_a_result_that_says_that_a_call_waits_is_not_its_result(asking, answered, holds):
    assert (one_result_each(recording(answered, others=(asking,))) is None) is holds
