"""
Any object, copied as the plain JSON it stands for, every value read once.

Source: contract, "Reader", on replaced readers (docs/contract.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hostproof.reference_impl.values import MAX_EXACT_INTEGER, MISSING, Json, Record

MAX_DEPTH: Final = 512
"""Deeper than this is not written: Python's own JSON writer stops below 1,000 levels."""


def plain_json(value: object) -> Json:
    """
    Copy *value* as plain JSON.

    A number that is not finite becomes ``null``, a missing member is left off,
    and a missing item of a list becomes ``null``, as JSON's own rules have it.

    Raises:
        ValueError: JSON cannot hold it: a cycle, more than :data:`MAX_DEPTH`
            levels, a name that is no string, an integer that no double holds,
            or an object that is no JSON value.
    """
    root: list[Json] = [None]
    pending: list[tuple[list[Json] | Record, Any, object, int]] = [(root, 0, value, 1)]
    while pending:
        holder, place, item, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels, or a cycle")
        if isinstance(item, Mapping):
            members = [(key, member) for key, member in item.items() if member is not MISSING]
            record: Record = {_name(key): None for key, _ in members}
            holder[place] = record
            pending.extend((record, key, member, depth + 1) for key, member in members)
        elif isinstance(item, Sequence) and not isinstance(item, str | bytes | bytearray):
            items = list(item)
            listed: list[Json] = [None] * len(items)
            holder[place] = listed
            pending.extend((listed, at, member, depth + 1) for at, member in enumerate(items))
        else:
            holder[place] = _scalar(item)
    return root[0]


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError("a member's name is no string")  # noqa: TRY004 - one kind for "no JSON"
    return str.__str__(key)


def _scalar(item: object) -> Json:
    if item is None or item is MISSING:
        return None
    if isinstance(item, bool):
        return item
    if isinstance(item, str):
        return str.__str__(item)
    if isinstance(item, int):
        return _integer(item)
    if isinstance(item, float):
        return _double(item)
    raise ValueError(f"{type(item).__name__} is no JSON value")


def _integer(item: int) -> Json:
    if abs(item) <= MAX_EXACT_INTEGER:
        return int(item)
    try:
        return int(float(item))
    except OverflowError:
        raise ValueError("an integer that no double holds") from None


def _double(item: float) -> Json:
    if not math.isfinite(item):
        return None
    return 0 if item == 0 else float(item)
