"""Consent requests: bound to one call, and to nothing else that looks like it."""

import contextlib
import copy
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hostproof.reference_impl.consent import (
    ConsentRequest,
    GatedCall,
    UnbindableError,
    mint_request,
    read_consent_request,
)
from tests.drawn_json import VALUES, WHOLE_RECORDS, WHOLE_TEXTS, WHOLE_VALUES
from tests.golden import exactly

CALL = GatedCall(
    tool="pay",
    arguments={"to": "n1", "amount": 10, "more": {"b": [1, 2], "a": None}},
    call_id="call-1",
    caller="alice",
)
REQUEST = ConsentRequest(
    id="request-1", gate="ask", call=CALL.digest(), chain=("one", "two"), ledger="store"
)
CALLS = st.builds(
    GatedCall,
    tool=WHOLE_TEXTS,
    arguments=WHOLE_RECORDS,
    call_id=WHOLE_TEXTS,
    caller=WHOLE_TEXTS,
)


def meaning(call):
    """Say what a call is, without its digest; -0 is 0, as canonical JSON has it."""

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(member) for key, member in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        return 0 if isinstance(value, float) and value == 0 else value

    return (call.tool, exactly(plain(call.arguments)), call.call_id, call.caller)


@given(CALLS, CALLS)
def test_two_calls_have_one_digest_only_where_they_are_one_call(one, other):
    assert (one.digest() == other.digest()) == (meaning(one) == meaning(other))


@given(CALLS, st.data())
def test_any_change_changes_the_digest(call, data):
    member = data.draw(st.sampled_from(["tool", "call_id", "caller", "arguments"]))
    draws = WHOLE_RECORDS if member == "arguments" else WHOLE_TEXTS
    changed = replace(call, **{member: data.draw(draws)})
    assume(meaning(changed) != meaning(call))
    assert changed.digest() != call.digest()


@given(CALLS, WHOLE_TEXTS, WHOLE_VALUES)
def test_one_argument_more_or_other_changes_the_digest(call, name, value):
    changed = replace(call, arguments={**call.arguments, name: value})
    assert (changed.digest() == call.digest()) == (meaning(changed) == meaning(call))


def respelled(value, order):
    """Turn every object round, and spell whole numbers as the other type."""
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: respelled(value[name], order) for name in names}
    if isinstance(value, list):
        return [respelled(item, order) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, int):
        return float(value)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


@given(CALLS, st.randoms(use_true_random=False))
def test_neither_key_order_nor_the_spelling_of_numbers_counts(call, order):
    again = replace(call, arguments=respelled(call.arguments, order))
    assert again.digest() == call.digest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        (None, False),
        ("1", 1),
        ([], {}),
        ([1, 2], [2, 1]),
        ("\u00e9", "e\u0301"),
    ],
)
def test_what_is_alike_in_python_or_to_the_eye_is_not(one, other):
    digests = {replace(CALL, arguments={"a": value}).digest() for value in (one, other)}
    assert len(digests) == 2


def test_members_do_not_run_into_each_other():
    one = replace(CALL, tool="pay", call_id="call-1")
    other = replace(CALL, tool="call-1", call_id="pay")
    assert one.digest() != other.digest()


def deep(levels):
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    ["\ud800", {"\ude00": 1}, 2**53 + 1, -(10**30), float("nan"), float("inf"), deep(100_000)],
    ids=["half", "half a name", "large", "small", "nan", "infinity", "deep"],
)
def test_what_has_no_canonical_form_cannot_be_asked_about(value):
    call = replace(CALL, arguments={"a": value})
    with pytest.raises(UnbindableError):
        call.digest()
    with pytest.raises(UnbindableError):
        mint_request("request-1", "checkIn", call, chain=None, ledger=None)


@given(VALUES)
def test_a_digest_is_had_or_refused(value):
    call = replace(CALL, arguments={"a": value})
    before = copy.deepcopy(call.arguments)
    with contextlib.suppress(UnbindableError):
        assert len(call.digest()) == 64
    assert exactly(call.arguments) == exactly(before)


@pytest.mark.parametrize(("gate", "chain"), [("checkIn", None), ("ask", ("one",)), ("ask", ())])
@pytest.mark.parametrize("ledger", [None, "store"])
def test_a_request_is_read_back_as_it_was_written(gate, chain, ledger):
    request = mint_request("request-1", gate, CALL, chain=chain, ledger=ledger)
    assert request.call == CALL.digest()
    assert read_consent_request(request.to_json()) == request


@pytest.mark.parametrize(
    "change",
    [
        {"id": None},
        {"id": ""},
        {"id": 1},
        {"id": "request-\ud800"},
        {"id": "request\x00"},
        {"gate": "client"},
        {"gate": None},
        {"gate": "checkIn"},
        {"call": None},
        {"call": 1},
        {"chain": None},
        {"chain": "one"},
        {"chain": ["one", 2]},
        {"ledger": 1},
        {"ledger": []},
    ],
    ids=repr,
)
def test_a_request_that_is_none_of_ours_is_none(change):
    assert read_consent_request(REQUEST.to_json() | change) is None


@pytest.mark.parametrize("member", ["id", "gate", "call", "chain"])
def test_a_request_with_a_member_left_off_is_none(member):
    written = REQUEST.to_json()
    del written[member]
    assert read_consent_request(written) is None


@given(VALUES)
def test_any_value_is_a_request_or_none(value):
    assert read_consent_request(value) is None
