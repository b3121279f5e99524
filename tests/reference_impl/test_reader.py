"""The request reader, against the vectors and on any value."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl.reader import (
    MAX_ID_LENGTH,
    ReaderRequest,
    read_request,
    read_run_input,
    run_input_reader,
)
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.values import MISSING
from tests.golden import exactly, vectors
from tests.strategies import MARKERS, RUN_INPUTS, any_values, marked, nested, shown

NOT_PYTHON = {"tojson", "tojson-throws", "then-getter-throws", "function", "extras"}
"""What a replaced reader can do in JavaScript only: toJSON, a getter on ``then``, functions."""


def check(vector, read):
    """Hold what *read* gives to what the vector expects."""
    expect = vector.expect
    if "refused" in expect:
        with pytest.raises(Refusal) as refused:
            read()
        seen = {name: getattr(refused.value, name) for name in ("code", "status", "field")}
        assert seen == expect["refused"]
        return
    read_value = read()
    assert exactly(read_value) == exactly(expect["ok"])
    if "key-order" in vector.tags:
        assert json.dumps(read_value) == json.dumps(expect["ok"])


@pytest.mark.parametrize("vector", vectors("reader", "readAgUiRunInput"), ids=str)
def test_run_input_vectors(vector):
    if "threw" in vector.expect:
        assert vector.expect["threw"]["name"] == "SyntaxError"
        with pytest.raises(ValueError):  # noqa: PT011 - the text is no JSON
            _ = vector.args
        return
    check(vector, lambda: read_run_input(*vector.args or (MISSING,)))


class Awaitable:
    def __await__(self):
        yield


class Getter(dict[str, object]):
    """A mapping whose members fail when they are read."""

    def items(self):
        raise ValueError("secret")


def raises(error):
    def reader(request):
        raise error

    return reader


def cycle(request):
    value: dict[str, object] = {}
    value["self"] = value
    return value


def wrap(request):
    body = request.body
    mapped = {"threadId": body.get("thread", MISSING), "runId": body.get("run", MISSING)}
    content = body.get("text", MISSING)
    return {**mapped, "messages": [{"id": "m", "role": "user", "content": content}]}


async def later(request):
    return request.body


READERS = {
    "default": run_input_reader,
    "same": lambda request: request.body,
    "wrap": wrap,
    "refuse-named": raises(Refusal("ERR_APP_BODY", 415, "The application says no.")),
    "throw-error": raises(ValueError("secret")),
    "throw-string": raises(Exception("secret")),
    "throw-type-error": raises(TypeError("secret")),
    "throw-undefined": raises(Exception()),
    "throw-null": raises(Exception(None)),
    "getter-throws": lambda request: Getter(),
    "cycle": cycle,
    "bigint": lambda request: {**request.body, "state": 10**400},
    "deep": lambda request: {**request.body, "state": nested(100_000)},
    "promise": later,
    "thenable": lambda request: Awaitable(),
    "undefined": lambda request: MISSING,
    "null": lambda request: None,
}


@pytest.mark.parametrize(
    "vector",
    [one for one in vectors("reader", "readAgUiRequest") if one.args[0] not in NOT_PYTHON],
    ids=str,
)
def test_replaced_reader_vectors(vector):
    mode, body = vector.args

    def read():
        return read_request(READERS[mode], ReaderRequest(body=body))

    if "threw" in vector.expect:
        with pytest.raises(TypeError, match="plain def"):
            read()
        return
    check(vector, read)


def test_the_vectors_left_out_are_those_that_only_javascript_has():
    left_out = [v for v in vectors("reader", "readAgUiRequest") if v.args[0] in NOT_PYTHON]

    assert [v.args[0] for v in left_out] == ["extras", "tojson-throws", "then-getter-throws"]


@given(any_values())
def test_any_value_is_read_or_refused(value):
    try:
        read_run_input(value)
    except Refusal as refusal:
        assert (refusal.code, refusal.status) == ("ERR_INVALID_RUN_INPUT", 400)


@given(RUN_INPUTS)
def test_reading_is_idempotent_and_changes_nothing(body):
    before = copy.deepcopy(body)
    try:
        read = read_run_input(body)
    except Refusal:
        return
    finally:
        assert exactly(body) == exactly(before)
    assert exactly(read_run_input(read)) == exactly(read)


@given(RUN_INPUTS, MARKERS)
def test_a_refusal_quotes_nothing(body, marker):
    for value in (marked(body, marker), {**body, **marked(body, marker)}):
        try:
            read_run_input(value)
        except Refusal as refusal:
            assert marker not in shown(refusal)


@given(RUN_INPUTS, MARKERS)
def test_a_readers_own_error_never_shows(body, marker):
    def reader(request):
        raise ValueError(marker, request.body)

    with pytest.raises(Refusal) as refused:
        read_request(reader, ReaderRequest(body=body))

    assert marker not in shown(refused.value)


def answering(answer):
    return lambda request: answer


@given(any_values())
def test_a_replaced_reader_may_answer_anything(value):
    with_members = {"threadId": "t", "runId": "r", "messages": [], "state": value}
    for answer in (value, with_members):
        try:
            read_request(answering(answer), ReaderRequest(body=None))
        except Refusal as refusal:
            assert refusal.code == "ERR_INVALID_RUN_INPUT"


def test_a_reader_cannot_show_the_check_one_thing_and_the_plan_another():
    class Shifty(dict[str, object]):
        reads = 0

        def __getitem__(self, key):
            self.reads += 1
            return super().__getitem__(key) if self.reads == 1 else "../etc"

    body = Shifty({"threadId": "t1", "runId": "r1", "messages": []})

    read = read_request(lambda request: body, ReaderRequest(body=None))

    assert type(read) is dict
    assert read["threadId"] == read["threadId"] == "t1"


@given(st.text(st.sampled_from("aA0.é\U0001f600\u0130"), min_size=120, max_size=130))
def test_ids_are_measured_in_utf_16_and_spelled_in_ascii(name):
    body = {"threadId": name, "runId": "r", "messages": []}
    length = len(name.encode("utf-16-le")) // 2
    if name.isascii() and name[0] != "." and length <= MAX_ID_LENGTH:
        assert read_run_input(body)["threadId"] == name
    else:
        with pytest.raises(Refusal) as refused:
            read_run_input(body)
        assert refused.value.field == "threadId"
