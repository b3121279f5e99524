"""Bytes under I-JSON's rules: the fast reading is the definition's, for any bytes."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hostproof.reference_impl.ijson import MAX_LEVELS, read_ijson, read_strictly
from hostproof.reference_impl.refusals import Refusal
from tests.golden import exactly

NAMES = st.text(max_size=3) | st.sampled_from(["a", "b:", "\\", '"', "", ":-0", "\u003a"])
NUMBERS = st.sampled_from(
    ["0", "-0", "-0.0", "-0e1", "1e400", "-1e400", "1e-400", "9" * 15, "9" * 16, "-" + "9" * 17]
    + ["9007199254740993", "1" * 400, "1.5", "0.1234567890123456789", "NaN", "Infinity", "01", "-"]
)
STRINGS = st.text(max_size=5).map(json.dumps) | st.sampled_from(
    ['"\\ud800"', '"\\ud83d\\ude00"', '"\\udc00\\ud800"', '"\\u003a"', '"\x01"', '"\\x"', "'x'"]
)


@st.composite
def names(draw):
    return json.dumps(draw(NAMES), ensure_ascii=draw(st.booleans()))


def _wrap(inner):
    spaces = st.sampled_from(["", " ", "\n\t"])
    return st.builds(
        lambda items, space: f"[{space}{f',{space}'.join(items)}]",
        st.lists(inner, max_size=4),
        spaces,
    ) | st.builds(
        lambda items, space: (
            "{" + f"{space},".join(f"{name}{space}:{item}" for name, item in items) + "}"
        ),
        st.lists(st.tuples(names() | st.sampled_from(['"a"', '"\\u0061"']), inner), max_size=4),
        spaces,
    )


TEXTS = st.recursive(NUMBERS | STRINGS | st.just("null"), _wrap, max_leaves=15)
BYTES = (
    TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.binary(max_size=20)
    | TEXTS.map(lambda text: text.encode("utf-16"))
    | TEXTS.map(lambda text: b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass"))
)


def outcome(read, data):
    try:
        return exactly(read(data))
    except Refusal as refusal:
        return (refusal.code, refusal.status, refusal.field)


@given(BYTES)
@example(b'{"a":1,"a":2,"b":"\\u003a"}')
@example(b"-0")
@example(b" -0 ")
@example(b'{"x":[1, -0]}')
@example(b'{"x":"-0", "y":[ -1]}')
@example(b'{"x": 9007199254740993}')
@example(b'{"x":"9007199254740993"}')
def test_the_fast_reading_is_the_definition(data):
    assert outcome(read_ijson, data) == outcome(read_strictly, data)


REFUSED = {
    "nothing": b"",
    "broken": b'{"a":',
    "byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "invalid UTF-8": b'{"a":"\xff"}',
    "overlong UTF-8": b'"\xc0\x80"',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "lone high surrogate": b'"\\ud800"',
    "lone low surrogate in a name": b'{"\\udc00":1}',
    "name twice": b'{"a":1,"a":1}',
    "name twice, spelled otherwise": b'{"a":1,"\\u0061":1}',
    "name twice deep inside": b'[{"x":{"a":1,"b":2,"a":3}}]',
    "name twice beside an escaped colon": b'{"a":1,"a":2,"b":"\\u003a"}',
    "NaN": b"[NaN]",
    "Infinity": b"[-Infinity]",
    "1e400": b"[1e400]",
    "an integer no double holds": b"1" * 400,
    "control character": b'"a\x01"',
    "trailing comma": b"[1,]",
    "two values": b"1 2",
    "comment": b"{} // x",
    "129 levels": b"[" * 129 + b"]" * 129,
    "129 levels of objects": b'{"a":' * 129 + b"1" + b"}" * 129,
    "10 000 levels": b"[" * 10_000 + b"]" * 10_000,
    "10 000 levels, broken": b"[" * 10_000,
}


@pytest.mark.parametrize("read", [read_ijson, read_strictly])
@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_i_json_is_refused(data, read):
    with pytest.raises(Refusal) as refused:
        read(data)

    assert (refused.value.code, refused.value.status) == ("ERR_INVALID_JSON", 400)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"[-0]", [-0.0]),
        (b"[9007199254740993]", [9007199254740992]),
        (b"[1e5, 1E-5, 1.0]", [100000, 0.00001, 1]),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'{"__proto__":{}}', {"__proto__": {}}),
        (b"[" * 128 + b"]" * 128, None),
    ],
)
def test_what_is_i_json_is_read(data, value):
    read = read_ijson(data)

    assert value is None or exactly(read) == exactly(value)


def test_the_limit_on_levels_can_be_set():
    assert read_ijson(b"[[[]]]", max_levels=3) == [[[]]]
    with pytest.raises(Refusal):
        read_ijson(b"[[[]]]", max_levels=2)
    read_ijson(b"[" * MAX_LEVELS + b"]" * MAX_LEVELS, max_levels=MAX_LEVELS)
    with pytest.raises(ValueError, match="max_levels"):
        read_ijson(b"[]", max_levels=MAX_LEVELS + 1)
