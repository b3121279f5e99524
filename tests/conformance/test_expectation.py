"""What the reference says that a body owes, and where nobody can say."""

import json
from dataclasses import replace

import pytest

from hostproof.conformance.expectation import Standing, expected_by_reference
from hostproof.conformance.profile_parts import Endpoint
from hostproof.conformance.recording import Owed

MAIN = Endpoint(
    keeps_pauses=True, state="not-carried", context="not-carried", client_tools=("show_form",)
)
VALIDATED = replace(MAIN, state="validated", good_state={"page": "a"}, bad_state={"page": 7})
FRESH = Standing(thread="t")
ASKED = Standing(situation="question", thread="t", slots={"interrupt": "i"})
CALLED = Standing(situation="client-call", thread="t", slots={"call": "c"})
SPOILED = Standing(situation="spoiled", thread="t", slots={"interrupt": "i"})


def text(**members):
    said = [{"id": "m", "role": "user", "content": "hello"}]
    return json.dumps({"threadId": "t", "runId": "r", "messages": said} | members).encode()


def answer(**members):
    return text(resume=[{"interruptId": "i", "status": "resolved"} | members])


RESULT = text(messages=[{"id": "m", "role": "tool", "toolCallId": "c", "content": ""}])


@pytest.mark.parametrize(
    ("data", "endpoint", "standing", "code"),
    [
        (text(), MAIN, FRESH, None),
        (b"{", MAIN, FRESH, "ERR_INVALID_JSON"),
        (b" " * 5_000_000, MAIN, FRESH, "ERR_REQUEST_TOO_LARGE"),
        (b"{}", MAIN, FRESH, "ERR_INVALID_RUN_INPUT"),
        (text(state={"a": 1}), MAIN, FRESH, "ERR_STATE_NOT_CARRIED"),
        (text(state={"a": 1}), replace(MAIN, state="free"), FRESH, None),
        (text(state={"page": "a"}), VALIDATED, FRESH, None),
        (text(state={"page": 7}), VALIDATED, FRESH, "ERR_STATE_REFUSED"),
        (text(tools=[{"name": "show_form"}]), MAIN, FRESH, None),
        (text(tools=[{"name": "other"}]), MAIN, FRESH, "ERR_TOOL_NOT_ALLOWED"),
        (text(), MAIN, ASKED, "ERR_AWAITING_DECISION"),
        (text(threadId="other"), MAIN, ASKED, None),
        (answer(payload=0), MAIN, ASKED, None),
        (answer(), MAIN, ASKED, "ERR_PAUSE_ANSWER_REQUIRED"),
        (answer(payload=0), MAIN, FRESH, "ERR_NO_PENDING_ASK"),
        (answer(payload=0), MAIN, SPOILED, "ERR_AWAITING_DECISION"),
        (RESULT, MAIN, CALLED, None),
        (RESULT, MAIN, FRESH, "ERR_UNKNOWN_TOOL_CALL"),
    ],
)
def test_what_a_body_owes(data, endpoint, standing, code):
    owed = expected_by_reference(data, endpoint, standing)

    assert owed is not None
    assert owed.code == code


def test_a_refusal_has_its_status_and_its_field():
    owed = expected_by_reference(b"{}", MAIN, FRESH)

    assert owed == Owed(code="ERR_INVALID_RUN_INPUT", status=400, field="threadId")


def test_a_value_that_only_the_hosts_validator_knows_owes_nothing():
    assert expected_by_reference(text(state={"page": "b"}), VALIDATED, FRESH) is None


def test_what_is_decided_before_the_validator_is_owed_all_the_same():
    data = text(state={"page": "b"}, tools=[{"name": "other"}])
    owed = expected_by_reference(data, VALIDATED, FRESH)

    assert owed is not None
    assert owed.code == "ERR_TOOL_NOT_ALLOWED"
