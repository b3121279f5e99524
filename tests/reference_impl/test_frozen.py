"""The frozen copy: it reads like the plain value and nothing writes to it."""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from enum import IntEnum, StrEnum
from operator import methodcaller
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl.frozen import FrozenArray, FrozenRecord, frozen_copy, thawed

DEEP = 100_000

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
CONTAINERS = st.lists(JSON, max_size=4) | st.dictionaries(st.text(), JSON, max_size=4)

WRITES_OF_BOTH = [
    methodcaller("clear"),
    methodcaller("pop"),
    lambda view: setattr(view, "extra", 1),
    lambda view: setattr(view, "_members", {}),
    lambda view: setattr(view, "_items", ()),
    lambda view: delattr(view, "_items"),
    lambda view: delattr(view, "_members"),
]
RECORD_WRITES = [
    *WRITES_OF_BOTH,
    lambda view: view.__setitem__("a", 1),
    lambda view: view.__delitem__("a"),
    lambda view: view.__ior__({"a": 1}),
    lambda view: view.pop("a", None),
    methodcaller("popitem"),
    lambda view: view.setdefault("a", 1),
    lambda view: view.update(a=1),
    lambda view: dict.__setitem__(view, "a", 1),
    lambda view: dict.update(view, a=1),
    dict.clear,
]
ARRAY_WRITES = [
    *WRITES_OF_BOTH,
    lambda view: view.__setitem__(0, 1),
    lambda view: view.__setitem__(slice(None), []),
    lambda view: view.__delitem__(0),
    lambda view: view.__iadd__([1]),
    lambda view: view.__imul__(2),
    lambda view: view.append(1),
    lambda view: view.extend([1]),
    lambda view: view.insert(0, 1),
    lambda view: view.remove(1),
    methodcaller("reverse"),
    lambda view: view.sort(),
    lambda view: list.append(view, 1),
    list.sort,
    lambda view: list.__setitem__(view, slice(None), []),
]


@given(JSON)
def test_reads_as_the_value_it_copies(value: Any) -> None:
    view = frozen_copy(value)
    assert view == value
    assert value == view
    assert frozen_copy(view) is view
    assert thawed(view) == value
    assert type(thawed(view)) is type(value)


@given(st.dictionaries(st.text(), JSON))
def test_a_record_is_read_like_a_dictionary(value: dict[str, Any]) -> None:
    view = frozen_copy(value)
    assert list(view) == list(value)
    assert len(view) == len(value)
    assert list(view.items()) == list(value.items())
    assert list(view.values()) == list(value.values())
    assert all(name in view and view.get(name) == value[name] for name in value)
    assert dict(view) == value
    assert {**view} == value


@given(st.lists(JSON))
def test_an_array_is_read_like_a_list(value: list[Any]) -> None:
    view = frozen_copy(value)
    assert list(view) == value
    assert len(view) == len(value)
    assert list(reversed(view)) == value[::-1]
    assert view[1:] == value[1:]
    assert isinstance(view[1:], FrozenArray)
    assert all(view[at] == item and item in view for at, item in enumerate(value))


@given(CONTAINERS)
def test_no_method_writes(value: Any) -> None:
    before = copy.deepcopy(value)
    view = frozen_copy(value)
    writes: list[Any] = RECORD_WRITES if isinstance(value, dict) else ARRAY_WRITES
    for write in writes:
        with pytest.raises(TypeError):
            write(view)
    view.__class__.__init__(view, {"a": 1})  # neither does making it once more
    assert view == before
    assert value == before


@given(CONTAINERS)
def test_the_copy_shares_nothing_with_the_value(value: Any) -> None:
    before = copy.deepcopy(value)
    view = frozen_copy(value)
    value.clear()
    assert view == before
    written = thawed(view)
    written.clear()
    assert view == before


def test_inner_parts_are_frozen_and_shared_parts_copied_once() -> None:
    inner: list[Any] = [{"a": []}]
    view = frozen_copy({"one": inner, "two": inner})
    assert view["one"] is view["two"]
    with pytest.raises(TypeError, match="frozen copy"):
        view["one"].append(1)
    with pytest.raises(TypeError, match="frozen copy"):
        view["one"][0].update(b=1)
    with pytest.raises(TypeError, match="frozen copy"):
        view["one"][0]["a"] += [1]
    around = frozen_copy([view])
    assert around[0] is view


def test_a_view_is_no_dictionary_and_no_list() -> None:
    record, array = frozen_copy({}), frozen_copy([])
    assert isinstance(record, Mapping)
    assert isinstance(array, Sequence)
    assert not isinstance(record, dict | MutableMapping)
    assert not isinstance(array, list | MutableSequence)
    match frozen_copy({"ids": ["x", 2]}):
        case {"ids": [first, *_]}:
            assert first == "x"
        case _:
            pytest.fail("match patterns read a view")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({}, []),
        ([], {}),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ([1], [2]),
        ([1], [1, 1]),
        ([1], (1,)),
        ([[]], [{}]),
        ([[]], ["[]"]),
        ([1], "1"),
        ({}, None),
    ],
)
def test_what_differs_is_not_equal(left: Any, right: Any) -> None:
    view = frozen_copy(left)
    assert view != right
    assert right != view
    assert [view] != [right]


def test_equality_keeps_what_python_says_of_plain_values() -> None:
    nan = math.nan
    assert frozen_copy([True, 1.0]) == [1, 1]
    assert frozen_copy([nan]) != [float("nan")]
    assert frozen_copy({"a": frozen_copy([1])}) == frozen_copy({"a": [1]})


@pytest.mark.parametrize("value", [{}, []])
def test_a_view_has_no_hash_and_its_text_quotes_nothing(value: Any) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(frozen_copy(value))
    marker = "marker-7f3a"
    assert marker not in repr(frozen_copy({marker: [marker]}))
    assert marker not in repr(frozen_copy([marker]))


def test_copying_a_view_answers_it() -> None:
    for view in (frozen_copy({"a": [1]}), frozen_copy([{}])):
        assert copy.copy(view) is view
        assert copy.deepcopy(view) is view


def test_depth_is_no_limit() -> None:
    listed: Any = []
    record: Any = {}
    for _ in range(DEEP):
        listed = [listed]
        record = {"a": record}
    for value in (listed, record):
        view = frozen_copy(value)
        assert view == frozen_copy(value)
        assert frozen_copy(thawed(view)) == view
        del view


def test_subclasses_become_plain() -> None:
    class Word(StrEnum):
        YES = "yes"

    class Number(IntEnum):
        ONE = 1

    class Share(float):
        pass

    value = OrderedDict({Word.YES: [Word.YES, Number.ONE, True, Share(0.5)]})
    view = frozen_copy(value)
    assert type(view) is FrozenRecord
    assert type(next(iter(view))) is str
    assert [type(item) for item in view["yes"]] == [str, int, bool, float]


@pytest.mark.parametrize(
    "value",
    [object(), b"", (), {1, 2}, print, {1: 2}, {None: 1}, [object()], {"a": [{"b": 1j}]}],
    ids=repr,
)
def test_what_is_no_json_cannot_be_copied(value: Any) -> None:
    with pytest.raises(TypeError, match="copied"):
        frozen_copy(value)


def test_what_holds_itself_cannot_be_copied() -> None:
    listed: list[Any] = []
    listed.append({"a": [listed]})
    record: dict[str, Any] = {}
    record["a"] = record
    for value in (listed, record):
        with pytest.raises(ValueError, match="holds itself"):
            frozen_copy(value)
