"""The resume door: its order, its kinds of pauses, and what its refusals never say."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl.consent import GatedCall, mint_request
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.resume import (
    Admitted,
    DoorFacts,
    StaleDecisionRefusal,
    admit,
    already_answered,
    closed_by_host,
    demands_decision,
    type_name,
)
from hostproof.reference_impl.values import MISSING
from tests.drawn_json import RECORDS, VALUES

ID = "request-5ecret"
CHAIN = ("rows", "audit")


def call(caller="alice"):
    return GatedCall(tool="assign", arguments={"to": "n1"}, call_id="call-1", caller=caller)


class Case:
    """An answer that is taken, to be broken in as many ways as wanted."""

    def __init__(self, gate="ask"):
        chain = CHAIN if gate == "ask" else None
        request = mint_request(ID, gate, call(), chain=chain, ledger="store")
        self.pending = {
            "kind": gate,
            "call": {"tool": "assign", "arguments": {"to": "n1"}, "callId": "call-1"},
            "request": request.to_json(),
        }
        if gate == "ask":
            self.pending |= {"middleware": "rows", "component": {"propsRef": "rows-1"}}
        self.answer = {
            "requestId": ID,
            "approved": True,
            "by": "somebody",
            "value": {"ref": "rows-1"},
        }
        self.facts: dict[str, Any] = {
            "caller": "alice",
            "chain": CHAIN,
            "ledger": "store",
            "closed": False,
        }

    def admit(self):
        return admit(self.pending, self.answer, DoorFacts(**self.facts))

    def refusal(self):
        with pytest.raises(Refusal) as caught:
            self.admit()
        return caught.value


def no_decision(case):
    case.answer["approved"] = "true"


def no_request(case):
    del case.answer["requestId"]


def request_not_recorded(case):
    case.pending["request"] = None


def other_request(case):
    if "requestId" in case.answer:
        case.answer["requestId"] = "request-other"


def stale(case):
    case.answer["value"] = {"ref": "rows-2"}


def call_changed(case):
    case.pending["call"]["arguments"] = {"to": "n2"}


def chain_changed(case):
    case.facts["chain"] = (*CHAIN, "new")


def ledger_changed(case):
    case.facts["ledger"] = "another"


def closed_by_the_host(case):
    case.facts["closed"] = True


ORDER = [
    (no_decision, "ERR_DECISION_REQUIRED", None),
    (no_request, "ERR_RESUME_DECISION", "no-request"),
    (request_not_recorded, "ERR_RESUME_DECISION", "request-not-recorded"),
    (other_request, "ERR_RESUME_DECISION", "other-request"),
    (stale, "ERR_STALE_DECISION", None),
    (call_changed, "ERR_RESUME_DECISION", "call-changed"),
    (chain_changed, "ERR_RESUME_DECISION", "chain-changed"),
    (ledger_changed, "ERR_RESUME_DECISION", "ledger-changed"),
    (closed_by_the_host, "ERR_RESUME_DECISION", "closed-by-host"),
]
NAMES = [broken.__name__ for broken, _, _ in ORDER]


@pytest.mark.parametrize("gate", ["ask", "checkIn"])
@pytest.mark.parametrize("approved", [True, False])
def test_the_right_answer_is_taken(gate, approved):
    case = Case(gate)
    case.answer["approved"] = approved
    admitted = case.admit()
    assert admitted.answer is case.answer
    assert admitted.request is not None
    assert (admitted.request.id, admitted.approved) == (ID, approved)


@pytest.mark.parametrize(("broken", "code", "reason"), ORDER, ids=NAMES)
def test_each_refusal_alone(broken, code, reason):
    case = Case()
    broken(case)
    refusal = case.refusal()
    assert (refusal.code, refusal.reason) == (code, reason)
    assert refusal.members["gate"] == "ask"
    assert refusal.members["tool"] == "assign"
    assert refusal.members["middleware"] == "rows"


@pytest.mark.parametrize("at", range(len(ORDER) - 1), ids=NAMES[:-1])
def test_of_two_neighbours_the_earlier_is_said(at):
    case = Case()
    for broken, _, _ in ORDER[at : at + 2]:
        broken(case)
    refusal = case.refusal()
    assert (refusal.code, refusal.reason) == ORDER[at][1:]


@pytest.mark.parametrize("at", range(len(ORDER)), ids=NAMES)
def test_of_all_that_is_wrong_from_here_on_the_first_is_said(at):
    case = Case()
    for broken, _, _ in reversed(ORDER[at:]):
        broken(case)
    refusal = case.refusal()
    assert (refusal.code, refusal.reason) == ORDER[at][1:]


@pytest.mark.parametrize(
    ("broken", "is_taken"),
    [(chain_changed, True), (stale, True), (ledger_changed, False), (call_changed, False)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_check_in_has_neither_chain_nor_artifact(broken, is_taken):
    case = Case("checkIn")
    broken(case)
    if is_taken:
        assert case.admit().approved
    else:
        case.refusal()


def test_a_request_of_the_other_gate_is_not_this_pauses():
    case = Case()
    case.pending["request"] = Case("checkIn").pending["request"]
    assert case.refusal().reason == "request-not-recorded"


def test_a_request_whose_ledger_proves_nothing_is_spent_in_any():
    case = Case()
    case.pending["request"]["ledger"] = None
    ledger_changed(case)
    assert case.admit().approved


def test_a_yes_of_another_caller_is_about_another_call():
    case = Case()
    case.facts["caller"] = "bob"
    assert case.refusal().reason == "call-changed"


@pytest.mark.parametrize(
    ("pinned", "chosen", "is_stale"),
    [
        ("rows-1", "rows-2", True),
        ("rows-1", "rows-1", False),
        ("rows-1", None, False),
        ("rows-1", 1, False),
        (None, "rows-2", False),
        (1, "rows-2", False),
    ],
)
def test_only_two_artifacts_that_differ_are_stale(pinned, chosen, is_stale):
    case = Case()
    case.pending["component"] = {"propsRef": pinned}
    case.answer["value"] = {"ref": chosen}
    if not is_stale:
        assert case.admit().approved
        return
    refusal = case.refusal()
    assert isinstance(refusal, StaleDecisionRefusal)
    assert (refusal.asked, refusal.answered) == (pinned, chosen)
    shown = json.dumps([refusal.message, dict(refusal.members)])
    assert "rows-1" not in shown
    assert "rows-2" not in shown


@pytest.mark.parametrize("value", [False, 0, "", [], {}, "text", True, {"approved": True}])
def test_a_question_takes_any_value(value):
    admitted = admit({"kind": "question"}, value, DoorFacts(**Case().facts))
    assert admitted == Admitted(answer=value)
    assert not admitted.approved


@pytest.mark.parametrize("value", [None, MISSING])
def test_a_question_takes_no_nothing(value):
    pending = {"kind": "question", "call": {"tool": "ask_person", "callId": "call-1"}}
    with pytest.raises(Refusal) as caught:
        admit(pending, value, DoorFacts(**Case().facts))
    assert caught.value.code == "ERR_PAUSE_ANSWER_REQUIRED"
    assert dict(caught.value.members) == {"tool": "ask_person", "toolCallId": "call-1"}


@pytest.mark.parametrize("value", [None, MISSING, "anything", {"approved": False}])
@pytest.mark.parametrize("kind", ["credential", "client"])
def test_the_other_pauses_take_whatever_comes(kind, value):
    assert admit({"kind": kind}, value, DoorFacts(**Case().facts)) == Admitted(answer=value)


@pytest.mark.parametrize(
    "pending", [None, [], "checkIn", {}, {"kind": "banana"}, {"kind": ["ask"]}]
)
def test_a_pause_of_no_kind_of_ours_takes_nothing(pending):
    with pytest.raises(Refusal) as caught:
        admit(pending, Case().answer, DoorFacts(**Case().facts))
    assert caught.value.code == "ERR_AWAITING_DECISION"
    assert demands_decision(pending) is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (MISSING, "nothing"),
        (None, "null"),
        (True, "a boolean"),
        ("true", "a string"),
        (1, "a number"),
        (0.5, "a number"),
        ([], "an array"),
        ({"by": "somebody"}, "an object"),
        ({"approved": 1, "by": "somebody"}, "an object"),
    ],
)
def test_what_is_no_decision_is_named_by_its_type(value, name):
    case = Case()
    case.answer = value
    refusal = case.refusal()
    assert refusal.code == "ERR_DECISION_REQUIRED"
    assert refusal.members["received"] == name == type_name(value)


KINDS = st.sampled_from(["checkIn", "ask", "question", "credential", "client", "other"])
PENDINGS = VALUES | st.builds(
    lambda kind, some, members: {**some, "kind": kind, **members},
    KINDS,
    RECORDS,
    st.fixed_dictionaries(
        {},
        optional={
            "call": VALUES | st.just(Case().pending["call"]),
            "request": VALUES
            | st.just(Case().pending["request"])
            | st.just(Case("checkIn").pending["request"]),
            "component": VALUES | st.fixed_dictionaries({"propsRef": VALUES}),
            "middleware": VALUES | st.just("rows"),
        },
    ),
)
ANSWERS = (
    VALUES
    | st.just(MISSING)
    | st.fixed_dictionaries(
        {},
        optional={
            "requestId": VALUES | st.just(ID),
            "approved": st.booleans() | VALUES,
            "by": VALUES | st.just("somebody"),
            "value": VALUES | st.fixed_dictionaries({"ref": VALUES}),
        },
    )
)
FACTS = st.builds(
    DoorFacts,
    caller=st.sampled_from(["alice", "bob"]),
    chain=st.sampled_from([CHAIN, (), None]),
    ledger=st.sampled_from(["store", "another", None]),
    closed=st.booleans(),
)


@given(PENDINGS, ANSWERS, FACTS)
def test_any_answer_to_any_pause_is_taken_or_refused(pending, answer, facts):
    try:
        admitted = admit(pending, answer, facts)
    except Refusal as refusal:
        assert refusal.code
        assert ID not in json.dumps([refusal.message, refusal.field, dict(refusal.members)])
        return
    assert isinstance(admitted, Admitted)
    assert admitted.answer is answer
    if demands_decision(pending) is None:
        assert admitted.request is None
    else:
        assert admitted.request is not None
        assert answer["requestId"] == admitted.request.id == ID
        assert facts.caller == "alice"
        assert not facts.closed


@pytest.mark.parametrize("broken", [broken for broken, _, _ in ORDER], ids=NAMES)
def test_no_refusal_names_a_request(broken):
    case = Case()
    broken(case)
    refusal = case.refusal()
    assert ID not in json.dumps([refusal.message, dict(refusal.members)])
    assert "request-other" not in json.dumps([refusal.message, dict(refusal.members)])


@pytest.mark.parametrize("gate", ["ask", "checkIn"])
@pytest.mark.parametrize(
    ("made", "reason"), [(already_answered, "already-answered"), (closed_by_host, "closed-by-host")]
)
def test_what_the_ledger_says_is_refused_like_the_doors(made, reason, gate):
    case = Case(gate)
    refusal = made(case.pending)
    assert (refusal.code, refusal.status, refusal.reason) == ("ERR_RESUME_DECISION", 409, reason)
    closed_by_the_host(case)
    assert dict(refusal.members) == dict(case.refusal().members)
