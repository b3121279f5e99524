"""
Strategies of JSON values: texts with Unicode's corners, numbers, names, values of any shape.

What is drawn may hold slots (:mod:`.edits`): ``{canary}`` stands in texts so
that whoever quotes one is found out. A brace that was drawn as such is written
``{brace}``, so that filling the slots gives back what was drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from hostproof.reference_impl.values import Json

CANARY: Final = "{canary}"

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

LONG: Final = "x" * 2_000

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


def escaped(text: str) -> str:
    """Write a drawn text so that none of it is taken for a slot."""
    return text.replace("{", "{brace}")


_PLAIN: Final = st.text(max_size=8).map(escaped)
_CORNERS: Final = st.sampled_from([escaped(corner) for corner in CORNERS])


def texts() -> SearchStrategy[str]:
    """Texts: short ones of any characters, marked ones, the corners, a long one."""
    return st.one_of(_PLAIN, marked_texts(), _CORNERS, st.just(LONG))


def marked_texts() -> SearchStrategy[str]:
    """Texts with the canary in them."""
    return st.one_of(
        st.just(CANARY),
        _PLAIN.map(lambda text: CANARY + text),
        _CORNERS.map(lambda text: text + CANARY),
    )


def spoken_texts() -> SearchStrategy[str]:
    """Texts that say something: they are never white space alone."""
    return texts().map(lambda text: f"Say {text}.")


def numbers() -> SearchStrategy[int | float]:
    """Numbers that a double holds: small ones first, then the corners."""
    return st.one_of(
        st.integers(0, 9),
        st.sampled_from(NUMBER_CORNERS),
        st.integers(-(2**64), 2**64),
        st.floats(allow_nan=False, allow_infinity=False),
    )


def scalars() -> SearchStrategy[Json]:
    """Null, booleans, numbers and texts."""
    return st.one_of(st.none(), st.booleans(), numbers(), texts())


def names() -> SearchStrategy[str]:
    """Names of members, those of objects' own machinery among them."""
    return st.one_of(st.sampled_from(NAMES), texts())


def containers(inner: SearchStrategy[Json]) -> SearchStrategy[Json]:
    """Arrays and objects of *inner*."""
    return st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    )


def json_values() -> SearchStrategy[Json]:
    """JSON values of any shape that I-JSON admits, up to three levels of many parts."""
    leaves = scalars()
    small = st.one_of(leaves, containers(leaves))
    return st.one_of(leaves, containers(small), deep_values())


def deep_values() -> SearchStrategy[Json]:
    """Values that are nested deeply, as far as a body of theirs may be."""
    return st.builds(nested, st.sampled_from([4, 20, 100]), st.booleans())


def nested(levels: int, is_list: bool) -> Json:
    """Build a value of so many levels, of arrays or of objects."""
    value: Json = CANARY
    for _ in range(levels):
        value = [value] if is_list else {"a": value}
    return value


def wrong_lists() -> SearchStrategy[list[Json]]:
    """Arrays with the canary in them."""
    return st.lists(scalars(), max_size=2).map(lambda items: [CANARY, *items])


def wrong_objects() -> SearchStrategy[dict[str, Json]]:
    """Objects with the canary in a name and in a value, and no member that anyone asks for."""
    others = st.dictionaries(st.sampled_from(("a", "x-b", "__proto__")), scalars(), max_size=2)
    return others.map(lambda members: {CANARY: CANARY, **members})
