"""
Bytes to a JSON value under I-JSON's rules (RFC 7493), which no parser keeps alone.

A text is refused when it is not UTF-8, begins with a byte order mark, holds a
lone surrogate, names a member twice, writes a number that no finite double
holds, or nests deeper than the limit. Numbers are doubles: an integer beyond
2**53 is read as the double nearest to it, and ``-0`` stays negative.

:func:`read_strictly` is the definition, on the standard library.
:func:`read_ijson` gives the same, several times faster: it parses with orjson
(which takes duplicate names, and reads ``-0`` as 0) and proves from cheap
counts that no such text was there; where it cannot, the definition decides.

Source: contract, "Host" (docs/contract.md); RFC 7493, 2.
"""

from __future__ import annotations

import json
import math
import re
from typing import Final

import orjson

from hostproof.reference_impl.refusals import Refusal, refuse
from hostproof.reference_impl.values import MAX_EXACT_INTEGER, Json, Record

DEFAULT_MAX_LEVELS: Final = 128
MAX_LEVELS: Final = 240
"""The most levels a host may allow; both parsers read this deep."""

_CONTAINERS: Final = frozenset({dict, list})
_SAFE_DIGITS: Final = len(str(MAX_EXACT_INTEGER)) - 1
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPED_COLON: Final = b"\\u003"
_MINUS_ZERO: Final = re.compile(rb"-0(?:[ \t\r\n,\]}]|\Z)")
_LONG_NUMBER: Final = b"0" * (_SAFE_DIGITS + 1)
_DIGITS_FOLDED: Final = bytes.maketrans(b"123456789", b"000000000")


def read_ijson(data: bytes, *, max_levels: int = DEFAULT_MAX_LEVELS) -> Json:
    """
    Read one I-JSON text.

    Args:
        data: the bytes of the text.
        max_levels: the most levels of arrays and objects, 1 to :data:`MAX_LEVELS`.

    Raises:
        Refusal: ``ERR_INVALID_JSON`` (400).
        ValueError: *max_levels* is out of range.
    """
    _check_levels(max_levels)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise _invalid() from None
    again = _written(value, max_levels) if max_levels <= _WRITER_LEVELS else None
    if again is None or not _reads_alike(data, again):
        return read_strictly(data, max_levels=max_levels)
    return value


def read_strictly(data: bytes, *, max_levels: int = DEFAULT_MAX_LEVELS) -> Json:
    """
    Read one I-JSON text by the standard library: slow, and the definition.

    Raises:
        Refusal: ``ERR_INVALID_JSON`` (400).
        ValueError: *max_levels* is out of range.
    """
    _check_levels(max_levels)
    try:
        text = data.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_double,
            parse_constant=_constant,
        )
        if _SURROGATE_ESCAPE.search(text):
            # A pair was joined by the parser; what is left of one has no UTF-8.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise _invalid() from None
    _limit(value, max_levels)
    return value


def _check_levels(max_levels: int) -> None:
    if not 1 <= max_levels <= MAX_LEVELS:
        raise ValueError(f"max_levels must be 1 to {MAX_LEVELS}, not {max_levels}")


def _invalid() -> Refusal:
    return refuse("ERR_INVALID_JSON", "The body is no I-JSON text (RFC 7493) in UTF-8.")


def _written(value: Json, max_levels: int) -> bytes | None:
    """
    Write *value* again, or give ``None`` where it nests deeper than *max_levels*.

    The writer stops at a level of its own, so *value* is put inside as many
    lists as leave it *max_levels*: the writer then counts for us.
    """
    for _ in range(_WRITER_LEVELS - max_levels):
        value = [value]
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return None


def _writer_levels() -> int:
    """Find how many levels the writer writes; 0 when it has no limit of use here."""
    value: Json = []
    for levels in range(1, 2 * MAX_LEVELS):
        try:
            orjson.dumps(value)
        except orjson.JSONEncodeError:
            return levels - 1
        value = [value]
    return 0


_WRITER_LEVELS: Final = _writer_levels()


def _reads_alike(data: bytes, again: bytes) -> bool:
    """
    Say whether orjson's reading, written *again*, is surely the definition's.

    A name written twice is one colon lost when the value is written again,
    unless an escaped colon makes up for it. Numbers that read otherwise are
    minus zero and integers of 16 digits and more.
    """
    if again.count(b":") != data.count(b":") or _ESCAPED_COLON in data:
        return False
    return _LONG_NUMBER not in data.translate(_DIGITS_FOLDED) and not _MINUS_ZERO.search(data)


def _limit(value: Json, max_levels: int) -> None:
    level: list[Json] = [value] if type(value) in _CONTAINERS else []
    depth = 0
    while level:
        depth += 1
        if depth > max_levels:
            raise refuse("ERR_INVALID_JSON", f"The body nests deeper than {max_levels} levels.")
        level = [
            item
            for holder in level
            for item in (holder.values() if type(holder) is dict else holder)
            if type(item) in _CONTAINERS
        ]


def _members(pairs: list[tuple[str, Json]]) -> Record:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is named twice")
    return members


def _integer(digits: str) -> int | float:
    if digits == "-0":
        return -0.0
    if len(digits) <= _SAFE_DIGITS:
        return int(digits)
    return int(_double(digits))


def _double(digits: str) -> float:
    double = float(digits)
    if not math.isfinite(double):
        raise ValueError("a number that no finite double holds")
    return double


def _constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")
