"""Texts, numbers and values of any shape: what they promise, what they reach, how they shrink."""

import json
import math

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from hostproof.reference_impl.ijson import read_ijson
from hostproof.reference_impl.values import trim
from hostproof.strategies import json_values as values
from hostproof.strategies.drawn import BRACE, body_text
from hostproof.strategies.edits import filled
from tests.strategies.drawing import SMALL, drawn

MARK = "hp0123456789abcdef00"
SLOTS = {"canary": MARK, **BRACE}


def written(value):
    return filled(value, SLOTS)


@given(values.json_values(), st.booleans())
def test_every_value_is_ijson_and_reads_back(value, is_ascii):
    text = body_text(written({"x": value}), is_ascii=is_ascii)

    assert read_ijson(text) == json.loads(text, parse_int=float)


@given(st.text())
def test_an_escaped_text_is_filled_to_itself(text):
    assert written(values.escaped(text)) == text


@given(values.marked_texts())
def test_a_marked_text_holds_the_canary(text):
    assert MARK in written(text)


@given(values.spoken_texts())
def test_a_spoken_text_says_something(text):
    assert trim(written(text))


@given(values.numbers())
def test_a_number_is_a_finite_double(number):
    assert math.isfinite(float(number))


@given(values.some_values())
def test_some_value_is_never_null(value):
    assert value is not None


@given(values.wrong_lists() | values.wrong_objects())
def test_a_wrong_container_holds_the_canary(value):
    assert MARK in json.dumps(written(value))


def test_texts_reach_every_corner():
    texts = [written(text) for text in drawn(values.texts(), 2_000)]

    missed = {
        corner
        for corner in (*values.CORNERS, values.LONG, MARK)
        if not any(corner in text for text in texts)
    }

    assert missed == set()


CORNERS = {
    "a list with a canary": lambda value: isinstance(value, list) and MARK in json.dumps(value),
    "a canary in a name": lambda value: isinstance(value, dict) and any(MARK in n for n in value),
    "__proto__": lambda value: isinstance(value, dict) and "__proto__" in value,
    "an empty name": lambda value: isinstance(value, dict) and "" in value,
    "a deep value": lambda value: isinstance(value, list | dict) and written_depth(value) > 90,
    "minus zero": lambda value: isinstance(value, float) and repr(value) == "-0.0",
    "a large integer": lambda value: isinstance(value, int) and value > 2**63,
    "null": lambda value: value is None,
    "false": lambda value: value is False,
}


def written_depth(value):
    return json.dumps(value).count("[") + json.dumps(value).count("{")


def test_values_reach_their_corners():
    found = [written(value) for value in drawn(values.json_values(), 3_000)]

    assert {name for name, wanted in CORNERS.items() if any(map(wanted, found))} == set(CORNERS)


@pytest.mark.parametrize(
    ("strategy", "wanted", "least"),
    [
        (values.texts(), lambda _: True, ""),
        (values.marked_texts(), lambda _: True, "{canary}"),
        (values.numbers(), lambda number: number > 2, 3),
        (values.json_values(), lambda _: True, None),
        (values.json_values(), lambda value: isinstance(value, list), []),
        (values.wrong_objects(), lambda _: True, {"{canary}": "{canary}"}),
    ],
)
def test_what_is_found_is_made_small(strategy, wanted, least):
    assert find(strategy, wanted, settings=SMALL) == least


def test_optional_members_are_there_and_not_there():
    strategy = values.objects({"a": st.just(1)}, fixed={"z": 0}, optional={"b": st.just(2)})

    assert find(strategy, lambda _: True, settings=SMALL) == {"z": 0, "a": 1}
    assert find(strategy, lambda drawn: "b" in drawn, settings=SMALL) == {"z": 0, "a": 1, "b": 2}
