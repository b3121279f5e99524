"""
JSON text read as JavaScript's ``JSON.parse`` reads it.

This is the reading that the contract's own documents saw: the last of two
equal names wins (at the first one's place), ``1e400`` is infinite, lone
surrogates stay, ``NaN`` is no JSON, every number is a double. A host reads
I-JSON instead (:mod:`hostproof.reference_impl.ijson`).

Numbers JSON cannot write travel as ``{"$number": "Infinity"}`` and so on.

Source: contract, "Function program" (docs/contract.md); ECMA-262, JSON.parse.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.values import MAX_EXACT_INTEGER, Json, Record, in_key_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NUMBER_KEY: Final = "$number"

_WRITTEN: Final = {
    "Infinity": math.inf,
    "-Infinity": -math.inf,
    "NaN": math.nan,
    "-0": -0.0,
}


def parse(text: str) -> Json:
    """
    Read one JSON text.

    Raises:
        ValueError: *text* is no JSON.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=lambda pairs: in_key_order(dict(pairs)),
            parse_int=_integer,
            parse_constant=_not_json,
        )
    except RecursionError:
        return _parse_deep(text)


_TOKEN: Final = re.compile(
    r"[ \t\n\r]*(?:(?P<mark>[\[\]{},:])"
    r'|(?P<scalar>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
    r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))"
)


def _parse_deep(text: str) -> Json:
    """Read a text that nests deeper than the interpreter recurses: the same, with a stack."""
    holders: list[list[Json] | Record] = []
    names: list[str] = []
    state = "value"
    value: Json = None
    for mark, scalar in _tokens(text):
        if mark in ("[", "{") and state in ("value", "value or ]"):
            holders.append([] if mark == "[" else {})
            state = "value or ]" if mark == "[" else "name or }"
            continue
        if mark == ":" and state == ":":
            state = "value"
            continue
        if mark == "," and state == "after" and holders:
            state = "value" if isinstance(holders[-1], list) else "name"
            continue
        if scalar.startswith('"') and state in ("name", "name or }"):
            names.append(json.loads(scalar))
            state = ":"
            continue
        if scalar and state in ("value", "value or ]"):
            value = json.loads(scalar, parse_int=_integer)
        elif _closes(mark, state, holders):
            closed = holders.pop()
            value = closed if isinstance(closed, list) else in_key_order(closed)
        else:
            raise ValueError("not a JSON text")
        state = "after"
        if holders:
            holder = holders[-1]
            if isinstance(holder, list):
                holder.append(value)
            else:
                holder[names.pop()] = value
    if holders or state != "after":
        raise ValueError("the JSON text breaks off")
    return value


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Split *text* into marks and scalars, one of each pair empty."""
    at = 0
    end = len(text.rstrip(" \t\n\r"))
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError("not a JSON text")
        at = found.end()
        yield found["mark"] or "", found["scalar"] or ""


def _closes(mark: str, state: str, holders: list[list[Json] | Record]) -> bool:
    if not holders or mark != ("]" if isinstance(holders[-1], list) else "}"):
        return False
    return state in ("after", f"value or {mark}", f"name or {mark}")


def _integer(digits: str) -> int | float:
    if len(digits) < len(str(MAX_EXACT_INTEGER)):
        number = int(digits)
        return -0.0 if digits == "-0" else number
    double = float(digits)
    return int(double) if math.isfinite(double) else double


def _not_json(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def decode_numbers(value: Json) -> Json:
    """Copy *value*, every ``{"$number": ...}`` in it made the number it stands for."""
    return _mapped(value, lambda item: _WRITTEN.get(item[NUMBER_KEY]) if _stands(item) else None)


def encode_numbers(value: Json) -> Json:
    """Copy *value*, every number JSON cannot write made a ``{"$number": ...}``."""
    return _mapped(value, _encoded)


def _stands(item: Json) -> bool:
    return (
        isinstance(item, dict)
        and len(item) == 1
        and isinstance(item.get(NUMBER_KEY), str)
        and item[NUMBER_KEY] in _WRITTEN
    )


def _encoded(item: Json) -> Record | None:
    if not isinstance(item, float):
        return None
    if math.isnan(item):
        return {NUMBER_KEY: "NaN"}
    if math.isinf(item):
        return {NUMBER_KEY: "Infinity" if item > 0 else "-Infinity"}
    if item == 0 and math.copysign(1, item) < 0:
        return {NUMBER_KEY: "-0"}
    return None


def _mapped(value: Json, replaced: Callable[[Json], Json | None]) -> Json:
    """Copy *value* level by level; what *replaced* answers stands in for an item."""
    root: list[Json] = [value]
    pending: list[tuple[list[Json] | Record, Json]] = [(root, 0)]
    while pending:
        holder, at = pending.pop()
        item = holder[at]
        answer = replaced(item)
        if answer is not None:
            holder[at] = answer
        elif isinstance(item, dict):
            holder[at] = copied = dict(item)
            pending.extend((copied, key) for key in copied)
        elif isinstance(item, list):
            holder[at] = listed = list(item)
            pending.extend((listed, index) for index in range(len(listed)))
    return root[0]
