"""Hostile bodies: each change owes what its table says, on every body it is made to."""

import json
from collections import Counter
from typing import get_args

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from hostproof.reference_impl.values import trim
from hostproof.strategies import hostile, raw
from hostproof.strategies.bodies import AGENTS
from hostproof.strategies.changes import WRONG
from hostproof.strategies.drawn import ByteOp, DrawnCase, Kind
from hostproof.strategies.edits import slots_in
from hostproof.strategies.fuzzed import fuzzed_bodies
from hostproof.strategies.json_values import CANARY as CANARY_SLOT
from hostproof.strategies.places import PAUSED_AT, SITUATIONS
from hostproof.strategies.plan_changes import PLAN_CHANGES
from hostproof.strategies.reader_changes import READER_CHANGES
from hostproof.strategies.variation import varied
from hostproof.strategies.wire_changes import WIRE_CHANGES
from tests.strategies.drawing import SMALL, drawn
from tests.strategies.expecting import CANARY, owed_by_reference, text_of

READ_BY_BYTES = [
    change
    for change in WIRE_CHANGES
    if (change.method, change.identity, dict(change.headers)) == ("POST", "right", {})
]


@pytest.mark.parametrize("change", hostile.CHANGES, ids=lambda change: change.id)
@settings(max_examples=6)
@given(data=st.data())
def test_a_change_owes_what_its_table_says(change, data):
    case = data.draw(hostile.changed_bodies(changes=[change]))
    owed = owed_by_reference(case)

    assert case.changes == (change.id,)
    assert owed is not None
    assert case.owed is not None
    assert (owed.code, owed.field) == (case.owed.code, case.owed.field)
    assert owed.code == change.code


@pytest.mark.parametrize("change", READ_BY_BYTES, ids=lambda change: change.id)
@settings(max_examples=4)
@given(data=st.data())
def test_a_change_below_the_value_owes_what_its_table_says(change, data):
    case = data.draw(raw.wire_bodies(changes=[change]))
    owed = owed_by_reference(case)

    assert owed is not None
    assert owed.code == change.code


@settings(max_examples=300)
@given(hostile.several_changes() | raw.raw_bodies())
def test_of_several_faults_only_the_reference_says_what_is_owed(case):
    if case.kind in ("several", "bytes", "shape"):
        assert case.owed is None

    owed_by_reference(case)


def test_each_of_several_changes_that_could_be_made_is_named():
    case = find(hostile.several_changes(), lambda case: len(case.changes) == 3, settings=SMALL)

    assert case.name.count("+") == 2


def _hostile_values(change):
    """Give what a change puts in, but for what can hold no text of its own."""
    for edit in change.edits:
        if edit.op != "remove" and edit.path != "/messages":
            yield edit.value


@pytest.mark.parametrize("change", [*READER_CHANGES, *PLAN_CHANGES], ids=lambda change: change.id)
def test_a_hostile_value_carries_a_canary_where_it_can(change):
    for value in _hostile_values(change):
        assert "canary" in slots_in(value) or _is_bare(value), value


def _is_bare(value):
    """Say whether all of a value's texts are words that are wrong as they stand."""
    texts = [value] if isinstance(value, str) else []
    parts = (
        [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    )
    return all(text in FIXED or not trim(text) or len(set(text)) == 1 for text in texts) and all(
        map(_is_bare, parts)
    )


FIXED = {
    "__proto__", "RESOLVED", "canceled", "resolved", "cancelled", "USER", "user ", "function",
    "system", "m-in", "m-tool", "m-assistant", "m-user", "assistant", "tool", "user", "text", "a",
    "c-1", "look", '{"q": 1}', "Earlier words.", "done", "{interrupt}", "{plain}",
}  # fmt: skip


@settings(max_examples=200)
@given(
    st.sampled_from([*READER_CHANGES, *PLAN_CHANGES]).flatmap(
        lambda change: st.tuples(st.just(change), varied(change))
    )
)
def test_another_value_of_the_kind_keeps_its_place_and_its_canary(drawn):
    change, edits = drawn

    for edit, own in zip(edits, change.edits, strict=True):
        assert (edit.op, edit.path) == (own.op, own.path)
        if "canary" in slots_in(own.value):
            assert "canary" in slots_in(edit.value)


def test_values_vary_where_the_row_allows():
    number = next(one for one in READER_CHANGES if one.id == "tools-number")

    find(varied(number), lambda edits: edits[0].value != WRONG["number"], settings=SMALL)


@pytest.fixture(scope="module")
def many():
    return drawn(fuzzed_bodies(), 2_000)


def test_each_code_is_owed_often(many):
    counts = Counter(case.owed.code for case in many if case.owed is not None)

    assert {change.code for change in hostile.CHANGES if counts[change.code] < 5} == set()


def test_each_kind_is_drawn(many):
    kinds = Counter(case.kind for case in many)

    assert {kind for kind, count in kinds.items() if count >= 10} == set(get_args(Kind))


def test_each_place_is_reached(many):
    places = {(case.endpoint, case.situation) for case in many}
    paused = {(PAUSED_AT, situation) for situation in SITUATIONS}

    assert places == {(endpoint, "fresh") for endpoint in AGENTS} | paused


def test_most_changes_are_made_soon(many):
    made = {name for case in many for name in case.changes}
    known = {change.id for change in hostile.CHANGES} | {change.id for change in WIRE_CHANGES}

    assert len(made & known) > len(known) / 2


def test_nothing_is_drawn_for_a_situation_that_is_not_offered():
    with pytest.raises(ValueError, match="none of the changes"):
        hostile.changed_bodies(changes=[PLAN_CHANGES[-1]], situations=["fresh"])


def test_a_raw_body_holds_a_canary_unless_all_of_it_was_replaced():
    found = find(
        raw.damaged_bodies(bodies=hostile.valid_bodies()),
        lambda case: CANARY.encode() in text_of(case),
        settings=SMALL,
    )

    assert CANARY_SLOT in json.dumps(found.body)


def test_what_is_found_is_made_small():
    found = find(
        fuzzed_bodies(),
        lambda case: case.owed is not None and case.owed.code == "ERR_INVALID_RUN_INPUT",
        settings=SMALL,
    )

    assert found.kind == "changed"
    assert len(text_of(found)) < 150


def test_a_case_says_what_was_drawn():
    case = find(hostile.changed_bodies(changes=[READER_CHANGES[0]]), lambda _: True, settings=SMALL)

    assert repr(case) == ("<changed 'body-null' to main, fresh, owes ERR_INVALID_RUN_INPUT: null>")


@pytest.mark.parametrize(
    ("op", "made"),
    [
        (ByteOp(op="flip", at=1, data=b"\x01"), b"0032"),
        (ByteOp(op="put", at=1, data=b"xy"), b"0xy3"),
        (ByteOp(op="insert", at=4, data=b"x"), b"0123x"),
        (ByteOp(op="remove", at=1, count=2), b"03"),
        (ByteOp(op="cut", at=2), b"01"),
        (ByteOp(op="repeat", at=1, count=2, to=3), b"012123"),
    ],
)
def test_bytes_are_damaged_as_said(op, made):
    if op.op == "flip":
        made = b"0023"

    assert op.applied(b"0123") == made


@given(raw.byte_ops(), st.binary(max_size=40))
def test_any_bytes_can_be_damaged(op, text):
    assert isinstance(op.applied(text), bytes)


def test_a_slot_without_a_filling_is_told():
    with pytest.raises(KeyError, match="interrupt"):
        DrawnCase(kind="valid", body={"a": "{interrupt}"}).text({})
