"""JSON as a store must keep it: every corner of text and number, halves of characters too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hostproof.reference_impl.values import Json

CORNERS = (
    "",
    "\x00",
    "\x7f",
    "\u2028\u2029",
    "\ufeff",
    "\U0001f600",
    "e\u0301",
    "\u00e9",
    "\ud83d",
    "\ude00 behind",
    "\uffff",
    "__proto__",
    '"\\/',
)


def in_units(text: str) -> str:
    """Put two halves that stand together into one character, as UTF-16 has them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


TEXTS = (st.text(st.characters(exclude_categories=()), max_size=12) | st.sampled_from(CORNERS)).map(
    in_units
)
NUMBERS = (
    st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0, -0.0, 1.0, 5e-324, 1.7976931348623157e308, 1e21, 1e-7])
)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
RECORDS = st.dictionaries(TEXTS, VALUES, max_size=5)

WHOLE_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Texts that UTF-8 can write."""

WHOLE_VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WHOLE_TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WHOLE_TEXTS, inner, max_size=4),
    max_leaves=10,
)
WHOLE_RECORDS = st.dictionaries(WHOLE_TEXTS, WHOLE_VALUES, max_size=5)


def bits(value: Json) -> Json:
    """Spell a value so that nothing that differs is alike: 1 and 1.0, 0.0 and -0.0, true and 1."""
    if isinstance(value, dict):
        return [(key, bits(member)) for key, member in value.items()]
    if isinstance(value, list):
        return [bits(item) for item in value]
    return type(value).__name__, repr(value)
