"""
JSON Patch (RFC 6902) on plain values, to see whether a host's deltas apply.

Pure: a patch gives a new value, or says that it does not apply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from hostproof.reference_impl.values import Json, Record

_INDEX: Final = re.compile(r"0|[1-9][0-9]*")

MOST_PARTS: Final = 1_000_000
DEEPEST: Final = 256
"""Values that one patch copies at most, and levels of one value."""


class PatchError(Exception):
    """The patch does not apply; the message names the operation and quotes nothing."""


class PatchTooLargeError(Exception):
    """The patch makes more of a value than is followed here; nothing is said of it."""


def patched(value: Json, patch: list[Record]) -> Json:
    """
    Apply a patch whose operations are well-formed.

    Raises:
        PatchError: an operation points at nothing, or a test fails.
        PatchTooLargeError: its copies grow without measure.
    """
    copier = _Copier()
    holder: Record = {"": copier.copied(value)}
    for number, operation in enumerate(patch):
        try:
            _apply(holder, operation, copier)
        except (LookupError, TypeError) as error:
            raise PatchError(f"operation {number} points at nothing") from error
    return holder.get("")


@dataclass(slots=True)
class _Copier:
    """Copies values, so many parts in all and so deep: a few copies of copies would be endless."""

    left: int = MOST_PARTS

    def copied(self, value: Json, level: int = 0) -> Json:
        self.left -= 1
        if self.left < 0 or level > DEEPEST:
            raise PatchTooLargeError("the patch copies too much")
        if isinstance(value, list):
            return [self.copied(one, level + 1) for one in value]
        if is_record(value):
            return {name: self.copied(one, level + 1) for name, one in value.items()}
        return value


def _apply(holder: Record, operation: Record, copier: _Copier) -> None:
    op, path = operation["op"], _steps(operation["path"])
    if op == "add":
        _put(holder, path, copier.copied(operation["value"]))
    elif op == "remove":
        _take(holder, path)
    elif op == "replace":
        _take(holder, path)
        _put(holder, path, copier.copied(operation["value"]))
    elif op == "move":
        _put(holder, path, _take(holder, _steps(operation["from"])))
    elif op == "copy":
        _put(holder, path, copier.copied(_look(holder, _steps(operation["from"]))))
    elif not _equal(_look(holder, path), operation["value"]):
        raise PatchError("a test fails")


def _steps(pointer: str) -> list[str]:
    return ["", *(one.replace("~1", "/").replace("~0", "~") for one in pointer.split("/")[1:])]


def _look(value: Json, steps: list[str]) -> Json:
    for step in steps:
        value = value[_place(value, step)]
    return value


def _put(holder: Record, steps: list[str], value: Json) -> None:
    inner = _look(holder, steps[:-1])
    if isinstance(inner, list):
        at = len(inner) if steps[-1] == "-" else _index(steps[-1])
        if at > len(inner):
            raise IndexError
        inner.insert(at, value)
    elif is_record(inner):
        inner[steps[-1]] = value
    else:
        raise TypeError


def _take(holder: Record, steps: list[str]) -> Json:
    inner = _look(holder, steps[:-1])
    return inner.pop(_place(inner, steps[-1]))


def _place(value: Json, step: str) -> int | str:
    """Give the index or name of a step in a value that has members."""
    if isinstance(value, list):
        return _index(step)
    if is_record(value):
        return step
    raise TypeError


def _index(step: str) -> int:
    if _INDEX.fullmatch(step) is None or len(step) > 9:
        raise IndexError
    return int(step)


def _equal(one: Json, other: Json) -> bool:
    """Compare as RFC 6902 does: true is no number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if is_record(one) and is_record(other):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    return bool(one == other)
