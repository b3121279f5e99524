"""
The shapes of events: a strict JSON Schema of ours, and which clause each departure breaks.

Pure. The schema (``agui_events.schema.json``) closes every object that is not open
by meaning, and allows null only where it is data. A breach names the place by
members of the schema alone, and quotes no value.

Source: AG-UI 1.1, schema; architecture, Design Principles; model, Absent means absent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from hostproof.conformance.checking import key_text, schema_of
from hostproof.reference_impl.values import is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.exceptions import ValidationError

    from hostproof.reference_impl.values import Json, Record

SCHEMA: Final = "agui_events.schema.json"

EXTRA: Final = "a member that the schema does not have"
MISSING: Final = "a member left out that the schema requires"
NULL: Final = "null where a member is to be left out"
WRONG: Final = "a value that the schema does not allow"

RESERVED_PARTS: Final = re.compile(
    r"(reasoning|tool[-_]?call|assistant)([-_]?part)?", re.IGNORECASE
)
"""Types of parts whose names are kept for a later version."""

PATCHES: Final = {"STATE_DELTA": "delta", "ACTIVITY_DELTA": "patch"}
_SUBAGENT: Final = frozenset({"SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeBreach:
    """
    An event that is not as the schema describes it.

    Attributes:
        clause: the clause that this breaks.
        place: the member, such as ``outcome.interrupts[0].id``; "" for the event.
        text: what is wrong, in a few words of ours.
    """

    clause: str
    place: str
    text: str


@cache
def event_types() -> frozenset[str]:
    """Name the types that the schema describes."""
    known: Any = schema_of(SCHEMA)["properties"]["type"]["enum"]
    return frozenset(known)


@cache
def _validator(kind: str) -> Draft202012Validator:
    parts = schema_of(SCHEMA)["$defs"]
    return Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": parts})


@cache
def _member_names() -> frozenset[str]:
    """Name every member that the schema knows anywhere."""
    parts: Any = schema_of(SCHEMA)["$defs"].values()
    return frozenset(name for part in parts for name in part.get("properties", {}))


def shape_breaches(event: Json) -> tuple[ShapeBreach, ...]:
    """List what is wrong with the shape of one event, each once, in the schema's order."""
    if not is_record(event):
        return (ShapeBreach(clause="SSE-02", place="", text="data that is no JSON object"),)
    kind = event.get("type")
    if not is_text(kind):
        return (ShapeBreach(clause="GEN-01", place="type", text="no type, or one that is no text"),)
    if kind not in event_types():
        return (ShapeBreach(clause="GEN-02", place="type", text="a type that is none of the 31"),)
    found = _validator(kind).iter_errors(event)
    return tuple(dict.fromkeys(breach for error in found for breach in _breaches(kind, error)))


def _breaches(kind: str, error: ValidationError) -> Iterator[ShapeBreach]:
    path: tuple[str | int, ...] = tuple(error.absolute_path)
    instance: Any = error.instance
    rule: Any = error.schema
    if error.validator == "additionalProperties":
        for name in sorted(instance.keys() - rule["properties"].keys()):
            place = (*path, name) if name in _member_names() else path
            yield _breach(_of_extra(kind, path, name), place, EXTRA)
    elif error.validator == "required":
        wanted: Any = error.validator_value
        for name in wanted:
            if name not in instance:
                yield _breach(_of_missing(kind, path, name), (*path, name), MISSING)
    elif error.validator == "dependentRequired":
        yield _breach("RSN-05", path, "a type of an encrypted value without the value")
    elif instance is None and _is_optional(kind, error):
        yield _breach(_of_null(kind, path, rule), path, NULL)
    else:
        yield _breach(_of_value(kind, path, error), path, WRONG)


def _breach(clause: str, path: tuple[str | int, ...], text: str) -> ShapeBreach:
    return ShapeBreach(clause=clause, place=key_text(path), text=text)


def _is_optional(kind: str, error: ValidationError) -> bool:
    """Say whether what an error is about is an optional member, by its way through the schema."""
    parts: Any = schema_of(SCHEMA)["$defs"]
    node: Any = parts[kind]
    holder: Any = None
    for step in error.absolute_schema_path:
        while isinstance(node, dict) and "$ref" in node:
            node = parts[node["$ref"].rpartition("/")[2]]
        if step in ("properties", "items"):
            holder = node if step == "properties" else None
        node = node[step]
    name = error.absolute_path[-1] if error.absolute_path else None
    return holder is not None and name not in holder.get("required", ())


def _inside(kind: str, path: tuple[str | int, ...]) -> str | None:
    """Give the clause of a part of an event that has one of its own."""
    first = path[0] if path else None
    if first is not None and PATCHES.get(kind) == first:
        return "SNAP-03"
    if kind == "RUN_STARTED" and first == "input":
        return "IN-17"
    return None


def _of_extra(kind: str, path: tuple[str | int, ...], name: str) -> str:
    if kind == "SUBAGENT_FINISHED" and path == ("outcome",) and name == "interruptIds":
        return "SUB-06"
    return _inside(kind, path) or "GEN-01"


def _of_missing(kind: str, path: tuple[str | int, ...], name: str) -> str:
    where = (kind, *path, name)
    if kind in _SUBAGENT and where == (kind, "subagentRunId"):
        return "SUB-01"
    return _inside(kind, (*path, name)) or _MISSING.get(where, "GEN-01")


_MISSING: Final[dict[tuple[str | int, ...], str]] = {
    ("REASONING_MESSAGE_START", "role"): "RSN-02",
    ("ACTIVITY_DELTA", "activityType"): "ACT-02",
    ("RUN_FINISHED", "outcome", "type"): "LIFE-03",
    ("RUN_FINISHED", "outcome", "interrupts"): "INT-02",
    ("SUBAGENT_FINISHED", "outcome", "type"): "SUB-06",
}


def _of_null(kind: str, path: tuple[str | int, ...], rule: Record) -> str:
    if path[-1] == "subagentRunId":
        return "SUB-01"
    if path[-1] == "metadata" and rule.get("type") == "object":
        return "META-01"
    return _inside(kind, path) or "GEN-03"


_VALUES: Final[dict[tuple[str | int, ...], str]] = {
    ("RUN_FINISHED", "outcome"): "LIFE-03",
    ("RUN_FINISHED", "outcome", "type"): "LIFE-03",
    ("SUBAGENT_FINISHED", "outcome"): "SUB-06",
    ("SUBAGENT_FINISHED", "outcome", "type"): "SUB-06",
    ("REASONING_MESSAGE_START", "role"): "RSN-02",
    ("TOOL_CALL_RESULT", "content"): "TOOL-03",
}


def _of_value(kind: str, path: tuple[str | int, ...], error: ValidationError) -> str:
    inside = _inside(kind, path)
    if inside is not None:
        return inside
    if error.validator == "minItems":
        return "INT-02"
    if path == ("subagentRunId",) and error.instance is None:
        return "SUB-01"
    if path and path[-1] == "metadata":
        return "META-01"
    if "content" in path and path[-1] == "type" and is_text(error.instance):
        if RESERVED_PARTS.fullmatch(error.instance):
            return "TOOL-11"
        if kind == "TOOL_CALL_RESULT":
            return "TOOL-03"
    return _VALUES.get((kind, *path), "GEN-01")
