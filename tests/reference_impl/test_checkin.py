"""Check-in: decisions, declined results and the demand, by the contract's vectors."""

from __future__ import annotations

import asyncio
import copy
import functools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl.checkin import (
    approve,
    checked_demand,
    decline,
    declined_parts,
    declined_result,
    is_decision,
    looks_like_decision,
    should_check_in,
)
from hostproof.reference_impl.frozen import FrozenRecord, frozen_copy
from hostproof.reference_impl.result_texts import DECLINED, reads_as_not_run
from hostproof.reference_impl.values import MISSING
from tests.golden import Vector, exactly, vectors

MARKER = "marker-7f3a"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(MARKER),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def first(vector: Vector) -> Any:
    return vector.args[0] if vector.args else MISSING


def checked_decision(make: Any, vector: Vector) -> None:
    if "threw" in vector.expect:
        assert vector.expect["threw"]["name"] == "TypeError"
        with pytest.raises(TypeError, match="request"):
            make(first(vector), at=0)
    else:
        decision = make(first(vector), at=0)
        assert exactly(decision) == exactly(vector.expect["ok"])
        assert list(decision) == list(vector.expect["ok"])


@pytest.mark.parametrize("vector", vectors("checkin", "checkInApproved"), ids=str)
def test_approve(vector: Vector) -> None:
    checked_decision(approve, vector)


@pytest.mark.parametrize("vector", vectors("checkin", "checkInDeclined"), ids=str)
def test_decline(vector: Vector) -> None:
    checked_decision(decline, vector)


@pytest.mark.parametrize("vector", vectors("checkin", "isCheckInDecision"), ids=str)
def test_is_decision(vector: Vector) -> None:
    assert is_decision(first(vector)) is vector.expect["ok"]


@pytest.mark.parametrize("vector", vectors("checkin", "looksLikeDecision"), ids=str)
def test_looks_like_decision(vector: Vector) -> None:
    assert looks_like_decision(first(vector)) is vector.expect["ok"]


@pytest.mark.parametrize("vector", vectors("checkin", "declinedResult"), ids=str)
def test_declined_result(vector: Vector) -> None:
    parts = vector.expect["ok"]
    assert exactly(declined_parts(first(vector))) == exactly(parts)
    told = f": {parts['note']}" if "note" in parts else ""
    assert declined_result(first(vector)) == DECLINED + told


def raises(_arguments: Any, _context: Any) -> bool:
    raise RuntimeError


def writes(arguments: Any, _context: Any) -> bool:
    arguments["written"] = 1
    return False


async def later() -> bool:
    return True


PREDICATES = {
    "undefined": MISSING,
    "always": "always",
    "never": lambda _arguments, _context: False,
    "trips": lambda _arguments, _context: True,
    "truthy": lambda _arguments, _context: 1,
    "promise": lambda _arguments, _context: later(),
    "returns-undefined": lambda _arguments, _context: None,
    "throws": raises,
    "writes": writes,
}


def demanded(kind: Any) -> Any:
    return kind["literal"] if isinstance(kind, dict) else PREDICATES[kind]


def argued(arguments: Any) -> Any:
    return {"held": object()} if arguments == {"$uncloneable": True} else arguments


@pytest.mark.parametrize("vector", vectors("checkin", "shouldCheckIn"), ids=str)
def test_should_check_in(vector: Vector) -> None:
    kind, arguments = vector.args
    assert should_check_in(demanded(kind), argued(arguments)) is vector.expect["ok"]


@given(st.sampled_from([approve, decline]), JSON, st.integers())
def test_a_decision_changes_nothing_and_an_error_quotes_nothing(
    make: Any, value: Any, at: int
) -> None:
    for candidate in (
        value,
        {"request": value, "by": MARKER},
        {"request": {"id": value}, "by": value, "note": value, "value": value},
    ):
        before = copy.deepcopy(candidate)
        try:
            decision = make(candidate, at=at)
        except TypeError as error:
            assert MARKER not in str(error)
        else:
            assert decision["at"] == at
            assert decision["requestId"] == candidate["request"]["id"]
            assert is_decision(decision) is isinstance(decision.get("by"), str)
        assert exactly(candidate) == exactly(before)


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ([], ""),
        ([None, 1.5, True, "a"], ",1.5,true,a"),
        ([[], [[]], [1, [2]]], ",,1,2"),
        ({"a": 1}, "[object Object]"),
        ([{}], "[object Object]"),
        (math.inf, "Infinity"),
        (1e21, "1e+21"),
    ],
)
def test_an_odd_note_is_spelled_as_javascript_spells_it(note: Any, text: str) -> None:
    assert declined_parts(note) == {"declined": True, "note": text}
    assert reads_as_not_run(declined_result(note))


@pytest.mark.parametrize("note", [MISSING, None, False, 0, -0.0, math.nan, ""], ids=repr)
def test_a_note_that_is_false_is_left_off(note: Any) -> None:
    assert declined_parts(note) == {"declined": True}
    decision = decline({"request": {"id": "k"}, "note": note, "value": note}, at=1)
    assert decision == {"requestId": "k", "approved": False, "at": 1}


def test_a_predicate_reads_a_frozen_copy_and_the_context() -> None:
    arguments = {"amount": 700, "to": ["rent"]}
    seen: list[Any] = []

    def demand(view: Any, context: Any) -> bool:
        seen.extend((view, context))
        return bool(view["amount"] > 500 and view["to"] == ["rent"])

    assert should_check_in(demand, arguments, "context") is True
    assert isinstance(seen[0], FrozenRecord)
    assert seen == [arguments, "context"]


def test_a_copy_that_is_shared_is_handed_on() -> None:
    shared = frozen_copy({"a": 1})
    assert should_check_in(lambda view, _context: view is shared, shared)


@pytest.mark.parametrize(
    "write",
    [
        lambda view: view.update(a=2),
        lambda view: view["l"].append(1),
        lambda view: view["l"].sort(),
        lambda view: dict.__setitem__(view, "a", 2),
        lambda view: list.append(view["l"], 1),
    ],
)
def test_writing_trips_and_changes_nothing(write: Any) -> None:
    arguments = {"a": 1, "l": [2]}

    def demand(view: Any, _context: Any) -> bool:
        write(view)
        return False

    assert should_check_in(demand, arguments) is True
    assert arguments == {"a": 1, "l": [2]}


def test_what_is_no_exception_passes_through() -> None:
    def demand(_arguments: Any, _context: Any) -> bool:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        should_check_in(demand, {})


class Callable:
    def __call__(self, _arguments: Any, _context: Any) -> bool:
        return False


class LaterCallable:
    async def __call__(self, _arguments: Any, _context: Any) -> bool:
        return True

    async def method(self, _arguments: Any, _context: Any) -> bool:
        return True


async def asks_later(_arguments: Any, _context: Any) -> bool:
    return True


async def yields_later(_arguments: Any, _context: Any) -> Any:
    yield True


def yields(_arguments: Any, _context: Any) -> Any:
    yield True


LATER = [
    asks_later,
    yields_later,
    yields,
    functools.partial(asks_later),
    functools.partial(functools.partial(asks_later)),
    LaterCallable(),
    LaterCallable().method,
    functools.partial(LaterCallable()),
]


@pytest.mark.parametrize("demand", LATER, ids=lambda demand: type(demand).__name__)
def test_a_predicate_that_answers_later_is_refused_and_trips(demand: Any) -> None:
    with pytest.raises(TypeError, match="at once"):
        checked_demand(demand)
    assert should_check_in(demand, {}) is True


@pytest.mark.parametrize(
    "demand",
    [
        MISSING,
        "always",
        raises,
        Callable(),
        Callable().__call__,
        functools.partial(raises),
        functools.partial(lambda _first, _arguments, _context: True, 1),
        lambda *_given: True,
        max,
    ],
    ids=repr,
)
def test_a_demand_that_holds_is_answered_as_it_is(demand: Any) -> None:
    assert checked_demand(demand) is demand


@pytest.mark.parametrize("demand", ["", "never", "Always", MARKER])
def test_another_word_is_refused_and_trips(demand: str) -> None:
    with pytest.raises(ValueError, match="always") as caught:
        checked_demand(demand)
    assert MARKER not in str(caught.value)
    assert should_check_in(demand, {}) is True


@pytest.mark.parametrize("demand", [None, True, False, 0, [], {}, lambda: True, len], ids=repr)
def test_what_is_no_demand_is_refused_and_trips(demand: Any) -> None:
    with pytest.raises(TypeError, match="check-in"):
        checked_demand(demand)
    assert should_check_in(demand, {}) is True
