"""
Edits: a change to a JSON value as data, which can be printed and applied.

A path is a JSON Pointer (RFC 6901) into the body. In paths, fields and values
a name in braces stands for what is only known when the case is built:
``{canary}``, ``{last}`` (the index of the newest message), ``{interrupt}``,
``{call}``, ``{plain}`` (the text of the plain cue).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.reference_impl.values import Json, Record

_SLOT: Final = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Edit:
    """
    One edit.

    Attributes:
        op: ``set`` a member (``""`` sets the whole body), ``remove`` it, or
            ``insert`` an item into an array.
        path: where, as a JSON Pointer.
        value: what to put there.
    """

    op: Literal["set", "remove", "insert"]
    path: str
    value: Json = None


def put(path: str, value: Json) -> Edit:
    """Set the member at *path*."""
    return Edit("set", path, value)


def drop(path: str) -> Edit:
    """Remove the member at *path*."""
    return Edit("remove", path)


def insert(path: str, value: Json) -> Edit:
    """Insert an item before the one at *path*."""
    return Edit("insert", path, value)


def filled(value: Json, slots: Mapping[str, str]) -> Json:
    """
    Copy *value* with every slot in its texts and names filled.

    Raises:
        KeyError: a slot has no filling.
    """
    if isinstance(value, str):
        return _SLOT.sub(lambda found: slots[found[1]], value) if "{" in value else value
    if isinstance(value, list):
        return [filled(item, slots) for item in value]
    if isinstance(value, Mapping):
        return {filled(name, slots): filled(member, slots) for name, member in value.items()}
    return value


def slots_in(value: Json) -> frozenset[str]:
    """Name the slots in *value*."""
    if isinstance(value, str):
        return frozenset(_SLOT.findall(value))
    if isinstance(value, list):
        return frozenset[str]().union(*(slots_in(item) for item in value))
    if isinstance(value, Mapping):
        parts = [part for item in value.items() for part in item]
        return frozenset[str]().union(*(slots_in(part) for part in parts))
    return frozenset()


def edited(body: Record, edits: Sequence[Edit], slots: Mapping[str, str]) -> Json:
    """
    Copy *body* with *edits* made to it in order, their slots filled.

    Raises:
        KeyError, IndexError: a path leads nowhere, or a slot has no filling.
    """
    root: Record = {"body": _copied(body)}
    for edit in edits:
        path = filled(edit.path, slots)
        *steps, last = ["body", *path.split("/")[1:]] if path else ["body"]
        holder: Json = root
        for step in steps:
            holder = holder[int(step)] if isinstance(holder, list) else holder[step]
        value = filled(edit.value, slots)
        if isinstance(holder, list):
            at = int(last)
            if edit.op == "insert":
                holder.insert(at, value)
            elif edit.op == "remove":
                del holder[at]
            else:
                holder[at] = value
        elif edit.op == "remove":
            del holder[last]
        else:
            holder[last] = value
    return root["body"]


def _copied(value: Json) -> Json:
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return value
