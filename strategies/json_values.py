"""
Strategies of JSON values: texts with Unicode's corners, numbers, names, values of any shape.

What is drawn may hold slots (:mod:`.edits`): ``{canary}`` stands in texts so
that whoever quotes one is found out. A brace that was drawn as such is written
``{brace}``, so that filling the slots gives back what was drawn.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import SearchStrategy

    from hostproof.reference_impl.values import Json, Record

T = TypeVar("T")

CANARY: Final = "{canary}"
MOST_OPTIONAL: Final = 4
"""How many members that may be left off are drawn for one object, at most."""

CORNERS: Final = (
    "\x00",
    "\x1b[31m",
    "\x7f",
    "\x85",
    "\r\n",
    " \t\n",
    "\\",
    '"',
    "'; --",
    "<b>&amp;</b>",
    "%s%n",
    "${x}",
    "{0.__class__}",
    "../../x",
    "__proto__",
    "constructor",
    "null",
    "e\u0301",
    "\u0130\u00df\ufb00",
    "\u0663\uff11\u2167",
    "\u00a0\u2028\u2029",
    "\u200b\u200d\u2060\ufeff",
    "\u202e\u2066",
    "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\ufdd0\uffff",
    "\U0010ffff",
)
"""Texts that programs stumble over: controls, quotes, templates, marks, pairs, no characters."""

LONG: Final = "x" * 300

NUMBER_CORNERS: Final = (
    -1,
    0.5,
    -0.0,
    2**31,
    -(2**31) - 1,
    2**53,
    2**53 + 1,
    2**63,
    -(2**64),
    10**300,
    5e-324,
    1.7976931348623157e308,
)

NAMES: Final = (
    "a",
    "",
    "x-{canary}",
    "type",
    "id",
    "role",
    "messages",
    "resume",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "\u00e9\U0001f600",
    "\x00",
)


def chosen(items: Sequence[T]) -> SearchStrategy[T]:
    """One of *items*, the first the simplest; the strategy's own text does not spell them out."""
    return st.sampled_from(range(len(items))).map(lambda at: items[at])


def escaped(text: str) -> str:
    """Write a drawn text so that none of it is taken for a slot."""
    return text.replace("{", "{brace}")


_PLAIN: Final = st.text(max_size=8).map(escaped)
_CORNERS: Final = st.sampled_from([escaped(corner) for corner in CORNERS])


@cache
def texts() -> SearchStrategy[str]:
    """Texts: short ones of any characters, marked ones, the corners, a long one."""
    return st.one_of(st.just(""), _PLAIN, marked_texts(), _CORNERS, chosen([LONG]))


@cache
def marked_texts() -> SearchStrategy[str]:
    """Texts with the canary in them."""
    return st.one_of(
        st.just(CANARY),
        _PLAIN.map(lambda text: CANARY + text),
        _CORNERS.map(lambda text: text + CANARY),
    )


@cache
def spoken_texts() -> SearchStrategy[str]:
    """Texts that say something: they are never white space alone."""
    return texts().map(lambda text: f"Say {text}.")


@cache
def numbers() -> SearchStrategy[int | float]:
    """Numbers that a double holds: small ones first, then the corners."""
    return st.one_of(
        st.integers(0, 9),
        st.sampled_from(NUMBER_CORNERS),
        st.integers(-(2**64), 2**64),
        st.floats(allow_nan=False, allow_infinity=False),
    )


@cache
def scalars() -> SearchStrategy[Json]:
    """Null, booleans, numbers and texts."""
    return st.one_of(st.none(), st.booleans(), numbers(), texts())


@cache
def names() -> SearchStrategy[str]:
    """Names of members, those of objects' own machinery among them."""
    return st.one_of(st.sampled_from(NAMES), texts())


def containers(inner: SearchStrategy[Json]) -> SearchStrategy[Json]:
    """Arrays and objects of *inner*."""
    return st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    )


@cache
def json_values() -> SearchStrategy[Json]:
    """JSON values of any shape that I-JSON admits, up to three levels of many parts."""
    return st.one_of(st.none(), some_values())


@cache
def some_values() -> SearchStrategy[Json]:
    """JSON values of any shape but null."""
    small = st.one_of(scalars(), containers(scalars()))
    simple = st.one_of(st.just(False), st.just(True))
    return st.one_of(simple, numbers(), texts(), containers(small), deep_values())


@cache
def deep_values() -> SearchStrategy[Json]:
    """Values that are nested deeply, as far as a body of theirs may be."""
    return st.builds(nested, st.sampled_from([4, 20, 100]), st.booleans())


def nested(levels: int, is_list: bool) -> Json:
    """Build a value of so many levels, of arrays or of objects."""
    value: Json = CANARY
    for _ in range(levels):
        value = [value] if is_list else {"a": value}
    return value


@cache
def wrong_lists() -> SearchStrategy[list[Json]]:
    """Arrays with the canary in them."""
    return st.lists(scalars(), max_size=2).map(lambda items: [CANARY, *items])


@cache
def wrong_objects() -> SearchStrategy[dict[str, Json]]:
    """Objects with the canary in a name and in a value, and no member that anyone asks for."""
    others = st.dictionaries(st.sampled_from(("a", "x-b", "__proto__")), scalars(), max_size=2)
    return others.map(lambda members: {CANARY: CANARY, **members})


def objects(
    required: Mapping[str, SearchStrategy[Json]],
    *,
    fixed: Mapping[str, Json] = MappingProxyType({}),
    optional: Mapping[str, SearchStrategy[Json]] = MappingProxyType({}),
) -> SearchStrategy[Record]:
    """
    Objects of given members, in any order but for the first.

    Args:
        required: members that are always there.
        fixed: members that are always there and always the same; they come first.
        optional: members of which a few are there, rarely more than two.
    """
    names = tuple(required)
    needed = st.tuples(*required.values())
    if not optional:
        return needed.map(lambda values: {**fixed, **dict(zip(names, values, strict=True))})
    pairs = [_named(name, value) for name, value in optional.items()]
    extra = st.lists(st.one_of(pairs), max_size=min(len(pairs), MOST_OPTIONAL))
    return st.tuples(needed, extra).map(
        lambda drawn: {**fixed, **dict(zip(names, drawn[0], strict=True)), **dict(drawn[1])}
    )


def _named(name: str, values: SearchStrategy[Json]) -> SearchStrategy[tuple[str, Json]]:
    return values.map(lambda value: (name, value))
