"""The turn planner and the stored pause record, against the vectors and on any value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl.function_ops import OPS
from hostproof.reference_impl.reader import read_run_input
from hostproof.reference_impl.refusals import Refusal, catalogue
from hostproof.reference_impl.suspension import read_suspension
from hostproof.reference_impl.turn import (
    Awaiting,
    Carried,
    Facts,
    Held,
    MessageTurn,
    Plan,
    Rules,
    Validator,
    plan_turn,
)
from hostproof.reference_impl.values import MISSING
from tests.golden import exactly, vectors
from tests.strategies import (
    MARKERS,
    RUN_INPUTS,
    any_values,
    json_values,
    marked,
    nested,
    shown,
    spelled,
)

FACTS = Facts(keeps_pauses=True, keeps_conversation=True)
PLANNED = {code for code, entry in catalogue().items() if entry.decided in ("reader", "plan")}


def planned_as(vector, plan):
    if "refused" in vector.expect:
        with pytest.raises(Refusal) as refused:
            plan()
        seen = {name: getattr(refused.value, name) for name in ("code", "status", "field")}
        assert seen == vector.expect["refused"]
        return
    result = plan()
    assert exactly(result) == exactly(vector.expect["ok"])
    if "key-order" in vector.tags:
        assert list(result["accepted"]) == list(vector.expect["ok"]["accepted"])


@pytest.mark.parametrize("vector", vectors("plan", "planFromBody"), ids=str)
def test_plan_vectors(vector):
    names = ("body", "held", "facts", "rules")
    request = dict(zip(names, vector.args, strict=False))
    planned_as(vector, lambda: OPS["plan_turn"](request))


@pytest.mark.parametrize("vector", vectors("plan", "planAgUiTurn"), ids=str)
def test_plan_vectors_of_requests_read_by_other_means(vector):
    request, held, facts, rules = vector.args
    assert (held, rules) == ({}, {})
    plan: Plan[object] = plan_turn(
        request,
        Held(),
        Facts(keeps_pauses=facts["keepsPauses"], keeps_conversation=facts["keepsConversation"]),
        Rules(),
    )

    assert plan.turn == MessageTurn(vector.expect["ok"]["turn"]["message"])


@pytest.mark.parametrize("vector", vectors("suspension", "readAgUiSuspension"), ids=str)
def test_suspension_vectors(vector):
    read = read_suspension(*vector.args or (MISSING,))

    assert exactly(read) == exactly(vector.expect["ok"])
    assert ("undefined" in vector.expect) == (read is None)


SUSPENSIONS = st.fixed_dictionaries(
    {"version": st.just(1), "runId": st.just("r0"), "rootAgent": st.booleans()},
    optional={
        "interruptId": st.sampled_from(["i1", "i2"]),
        "call": st.fixed_dictionaries(
            {"toolCallId": st.just("c1"), "client": st.booleans(), "mount": st.just([])}
        ),
    },
).map(lambda record: {**record, "scopes": []})
HELD = st.builds(
    lambda suspension, pending: Held(awaiting=Awaiting(suspension=suspension, pending=pending)),
    SUSPENSIONS | SUSPENSIONS | any_values(),
    st.sampled_from([{"checkIn": {"id": "q1"}}, {"ask": {"id": "q2"}}, {}]) | any_values(),
)


def accept(value, context):
    return value


def refuse(value, context):
    raise ValueError("no", value)


def accepting(state: Validator | None, context: Validator | None) -> dict[Carried, Validator]:
    chosen: dict[Carried, Validator | None] = {"state": state, "context": context}
    return {name: validator for name, validator in chosen.items() if validator is not None}


RULES: st.SearchStrategy[Rules[object]] = st.builds(
    lambda names, state, context: Rules(
        frontend_tools=dict.fromkeys(names, dict),
        accept=accepting(state, context),
    ),
    st.lists(st.sampled_from(["a", "b", "A"])),
    st.sampled_from([None, accept, refuse]),
    st.sampled_from([None, accept, refuse]),
)
FACTS_DRAWN = st.builds(
    Facts,
    keeps_pauses=st.booleans(),
    keeps_conversation=st.booleans(),
    thread=st.none() | st.just("t1") | st.just(MISSING),
)


@given(RUN_INPUTS | any_values(), st.just(Held()) | HELD, FACTS_DRAWN, RULES)
def test_any_request_is_planned_or_refused_and_nothing_changes(body, held, facts, rules):
    try:
        request = read_run_input(body)
    except Refusal:
        request = body  # the planner takes nothing on trust
    awaiting = held.awaiting or Awaiting()
    before = [spelled(value) for value in (request, awaiting.suspension, awaiting.pending)]
    try:
        plan_turn(request, held, facts, rules)
    except Refusal as refusal:
        assert refusal.code in PLANNED
    assert [spelled(v) for v in (request, awaiting.suspension, awaiting.pending)] == before


@given(RUN_INPUTS, st.just(Held()) | HELD, FACTS_DRAWN, RULES, MARKERS)
def test_a_refusal_quotes_nothing(body, held, facts, rules, marker):
    for value in (marked(body, marker), {**body, "state": marked(body, marker)}):
        try:
            plan_turn(read_run_input(value), held, facts, rules)
        except Refusal as refusal:
            assert marker not in shown(refusal)


@given(any_values())
def test_any_stored_record_is_read_or_is_none(value):
    read = read_suspension(value)
    assert read is None or read is value


@pytest.mark.parametrize("levels", [3_000, 100_000])
def test_what_is_never_read_may_nest_far(levels):
    body = {
        "threadId": "t1",
        "runId": "r1",
        "messages": [{"id": "m1", "role": "user", "content": "hi"}],
        "forwardedProps": nested(levels),
    }

    plan: Plan[object] = plan_turn(read_run_input(body), Held(), FACTS, Rules())

    assert plan.turn == MessageTurn("hi")


def test_a_validator_that_answers_later_is_a_wiring_mistake():
    async def later(value, context):
        return value

    request = {**GOOD, "state": {"a": 1}}
    with pytest.raises(TypeError, match="plain def"):
        plan_turn(read_run_input(request), Held(), FACTS, Rules(accept={"state": later}))


GOOD = {
    "threadId": "t1",
    "runId": "r1",
    "messages": [{"id": "m1", "role": "user", "content": "hi"}],
}


@given(json_values(), MARKERS)
def test_a_validators_own_error_never_shows(value, marker):
    def validator(given, context):
        raise ValueError(marker, given)

    request = read_run_input({**GOOD, "state": {"value": value}})
    with pytest.raises(Refusal) as refused:
        plan_turn(request, Held(), FACTS, Rules(accept={"state": validator}))

    assert refused.value.code == "ERR_STATE_REFUSED"
    assert marker not in shown(refused.value)
