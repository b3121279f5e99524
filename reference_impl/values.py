"""
JSON values, with the few facts of JavaScript that the contract rests on.

The contract was first written in JavaScript, so lengths, cuts, white space,
key order and the spelling of numbers are that language's. A value is plain
Python: ``None``, ``bool``, ``int``, ``float``, ``str``, ``list``, ``dict``.
A member that is left off is :data:`MISSING`, which is not ``None``.

Everything here works level by level and never recurses, so depth is bounded
by memory alone.
"""

from __future__ import annotations

import math
import re
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Json: TypeAlias = Any
"""Any JSON value, not yet checked. It is narrowed once, by the rule that reads it."""

Record: TypeAlias = dict[str, Json]


class Missing(Enum):
    """The type of :data:`MISSING`: a member that is not there, unlike ``null``."""

    MISSING = "missing"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing.MISSING

MAX_EXACT_INTEGER: Final = 2**53
"""Up to here every integer is a double (RFC 7493, section 2.2)."""

WHITE_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What ECMAScript trims: U+FEFF is in; U+001C to U+001F and U+0085 are not."""

_WHITE_SPACE_RUN: Final = re.compile(f"[{WHITE_SPACE}]+")
_ARRAY_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def is_record(value: Json) -> TypeGuard[Record]:
    """Say whether *value* is a JSON object (an array and ``null`` are not)."""
    return isinstance(value, dict)


def is_text(value: Json) -> TypeGuard[str]:
    """Say whether *value* is a JSON string."""
    return isinstance(value, str)


def is_number(value: Json) -> TypeGuard[int | float]:
    """Say whether *value* is a JSON number; a boolean is not one."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_texts(value: Json) -> TypeGuard[list[str]]:
    """Say whether *value* is a JSON array of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def utf16_length(text: str) -> int:
    """Count the UTF-16 code units of *text*, as JavaScript's ``length`` does."""
    if text.isascii():
        return len(text)
    return len(text) + sum(character > "\uffff" for character in text)


def utf16_cut(text: str, units: int) -> str:
    """
    Keep the first *units* UTF-16 code units of *text*.

    A cut through a pair leaves half a character, as JavaScript's ``slice`` does.
    """
    if text.isascii():
        return text[:units]
    encoded = text.encode("utf-16-le", "surrogatepass")[: units * 2]
    return encoded.decode("utf-16-le", "surrogatepass")


def trim(text: str) -> str:
    """Take ECMAScript white space off both ends of *text*."""
    return text.strip(WHITE_SPACE)


def fold_white_space(text: str) -> str:
    """Make every run of ECMAScript white space one space, and trim."""
    return trim(_WHITE_SPACE_RUN.sub(" ", text))


def number_text(number: int | float) -> str:
    """
    Spell a number as ECMAScript's ``Number::toString`` does (a double's shortest digits).

    Raises:
        OverflowError: *number* is an integer that no double holds.
    """
    double = float(number)
    if math.isnan(double):
        return "NaN"
    if math.isinf(double):
        return "Infinity" if double > 0 else "-Infinity"
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    mantissa, _, exponent = f"{abs(double)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _decimal(digits, point)


def _decimal(digits: str, point: int) -> str:
    """Place the decimal point before *digits*[*point*], in ECMAScript's layouts."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    power = point - 1
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{tail}e{'+' if power > 0 else '-'}{abs(power)}"


def is_truthy(value: Json) -> bool:
    """Say whether JavaScript takes *value* for true: every array and object is."""
    if isinstance(value, list | dict):
        return True
    return bool(value) and not (isinstance(value, float) and math.isnan(value))


def string_text(value: Json) -> str:
    """
    Spell *value* as JavaScript's ``String()`` does, at any depth.

    An array is its items with commas between them, ``null`` among them empty;
    an object is always ``[object Object]``.

    Raises:
        TypeError: *value* holds something that is no JSON value.
        OverflowError: it holds an integer that no double holds.
    """
    if not isinstance(value, list):
        return "undefined" if value is MISSING else _string_word(value)
    words: list[str] = []
    pending: list[Json] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list) and item:
            pending.extend(reversed(item))
        else:
            words.append("" if item in (None, MISSING, []) else _string_word(item))
    return ",".join(words)


def _string_word(item: Json) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        return "[object Object]"
    return number_text(item) if is_number(item) else _scalar(item)


def in_key_order(record: Mapping[str, Json]) -> Record:
    """
    Copy *record* with its keys in JavaScript's order.

    Array indices (0 to 2**32 - 2, written plainly) come first, by value; the
    rest follow in the order they were added.
    """
    indices = [key for key in record if _is_array_index(key)]
    if not indices:
        return dict(record)
    rest = (key for key in record if not _is_array_index(key))
    return {key: record[key] for key in (*sorted(indices, key=int), *rest)}


def _is_array_index(key: str) -> bool:
    return _ARRAY_INDEX.fullmatch(key) is not None and int(key) < 2**32 - 1


_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
_NEEDS_ESCAPE: Final = re.compile('["\\\\\x00-\x1f\ud800-\udfff]')


def quoted(text: str) -> str:
    """Spell a string as ``JSON.stringify`` does: lone surrogates as escapes, the rest raw."""
    if _LONE_SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    escaped = _NEEDS_ESCAPE.sub(
        lambda found: _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}", text
    )
    return f'"{escaped}"'


def json_text(value: Json) -> str:
    """
    Write *value* as ``JSON.stringify`` does, without spaces, at any depth.

    A number that is not finite becomes ``null``; keys come in JavaScript's order.

    Raises:
        TypeError: *value* holds something that is no JSON value.
    """
    return "".join(_pieces(value))


def _pieces(value: Json) -> Iterator[str]:
    pending: list[Json | _Raw] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, _Raw):
            yield item
        elif isinstance(item, list):
            pending.append(_Raw("]"))
            for at in range(len(item) - 1, -1, -1):
                pending.append(item[at])
                if at:
                    pending.append(_Raw(","))
            pending.append(_Raw("["))
        elif isinstance(item, dict):
            ordered = list(in_key_order(item).items())
            pending.append(_Raw("}"))
            for at in range(len(ordered) - 1, -1, -1):
                key, member = ordered[at]
                pending.append(member)
                pending.append(_Raw(f"{',' if at else ''}{quoted(key)}:"))
            pending.append(_Raw("{"))
        else:
            yield _scalar(item)


class _Raw(str):
    """Text that is written as it stands."""


def _scalar(item: Json) -> str:
    if item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return quoted(item)
    if isinstance(item, int | float):
        return number_text(item) if math.isfinite(item) else "null"
    raise TypeError(f"{type(item).__name__} is no JSON value")
