"""JSON text as JavaScript reads it."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl import js_json
from tests.golden import exactly

SCALARS = st.none() | st.booleans() | st.floats() | st.integers(-(2**53), 2**53) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)
TEXTS = st.text(alphabet='[]{},:"\\ \n0123456789-+.eEtrufalsn\ud800x') | VALUES.map(
    lambda value: json.dumps(js_json.encode_numbers(value))
)


def outcome(read, text):
    try:
        return exactly(read(text))
    except ValueError:
        return "no JSON"


@given(TEXTS)
def test_the_reading_for_deep_texts_agrees_with_the_plain_one(text):
    assert outcome(js_json._parse_deep, text) == outcome(js_json.parse, text)


@given(VALUES)
def test_numbers_json_cannot_write_come_back(value):
    text = json.dumps(js_json.encode_numbers(value), allow_nan=False)

    assert exactly(js_json.decode_numbers(json.loads(text))) == exactly(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"b":1,"a":2,"b":3}', {"b": 3, "a": 2}),
        ("1e400", math.inf),
        ("-0", -0.0),
        ("9007199254740993", 9007199254740992),
        ("1" * 400, math.inf),
        ('"\\ud800"', "\ud800"),
        ('{"10":1,"x":2,"9":3}', {"9": 3, "10": 1, "x": 2}),
    ],
)
def test_it_reads_as_javascript_does(text, value):
    read = js_json.parse(text)

    assert exactly(read) == exactly(value)
    assert json.dumps(read) == json.dumps(value)


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "\ufeff1", "", " ", "01", "1 2", "{", "[1,]"])
def test_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):  # noqa: PT011 - any text will do
        js_json.parse(text)


@pytest.mark.parametrize("levels", [3_000, 100_000])
def test_depth_is_bounded_by_memory_alone(levels):
    value = js_json.parse('[{"a":' * levels + "1" + "}]" * levels)

    depth = 0
    while isinstance(value, list):
        value = value[0]["a"]
        depth += 1
    assert (depth, value) == (levels, 1)
