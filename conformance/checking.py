"""
Checking a value against a JSON Schema, and saying in one line what is wrong with it.

The schema's descriptions and keywords make the errors: which key, what is
wrong, what is allowed. An error never quotes a value, which may be a secret.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from jsonschema import Draft202012Validator

from hostproof.reports.printable import clipped, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonschema.exceptions import ValidationError

    from hostproof.reference_impl.values import Json

Key: TypeAlias = tuple[str | int, ...]
"""Where in a document something is: member names and array indices, outermost first."""

MAX_LEVELS: Final = 64
"""Deepest document that is read."""

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_SHOWN: Final = 60  # characters of a key that an error quotes, at most
_TYPES: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "a table",
    "null": "null",
}
_RANKS: Final = ("additionalProperties", "propertyNames", "required", "type")


class Problem(Exception):  # noqa: N818 - whoever reads a document makes an error of it
    """
    What is wrong with a document, and where.

    Attributes:
        key: where; empty for the whole of it.
        text: what is wrong, and what is allowed. Quotes no value.
    """

    def __init__(self, key: Key, text: str) -> None:
        super().__init__(key, text)
        self.key = key
        self.text = text

    def __str__(self) -> str:
        return f"{key_text(self.key)}: {self.text}" if self.key else self.text


def key_text(key: Key) -> str:
    """Write a key as ``callers.alice.headers`` or ``waivers[0].until``, on one line."""
    written = ""
    for part in key:
        if isinstance(part, int):
            written += f"[{part}]"
        else:
            written += f".{_member_text(part)}" if written else _member_text(part)
    return written


def _member_text(name: str) -> str:
    if _BARE.fullmatch(name):
        return clipped(name, _SHOWN)
    return f'"{clipped(printable(name), _SHOWN)}"'


@cache
def schema_of(name: str) -> dict[str, Json]:
    """Read the schema *name*, a file of this package."""
    text = files("hostproof.conformance").joinpath(name).read_text(encoding="utf-8")
    schema: dict[str, Json] = json.loads(text)
    return schema


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema_of(name))


def plain_value(value: object, key: Key = ()) -> Json:
    """
    Copy *value* as plain JSON; a date or a time becomes its ISO text.

    Raises:
        Problem: something in it is no such value, not finite, or too deep.
    """
    if len(key) > MAX_LEVELS:
        raise Problem(key[:1], f"is nested too deeply: at most {MAX_LEVELS} levels are read")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Problem(key, "must be a finite number")
        return value
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain_value(item, (*key, at)) for at, item in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: plain_value(member, (*key, name)) for name, member in value.items()}
    raise Problem(key, "is no text, number, true, false, date, array or table")


def check(value: Json, schema: str) -> None:
    """
    Check *value*, a plain one, against the file *schema*.

    Raises:
        Problem: the first thing that is wrong, in the document's order; but
            first its version, and in a table an unknown key.
    """
    found = list(_validator(schema).iter_errors(value))
    if found:
        error = min(found, key=lambda one: _order(one, value))
        raise _problem(error) from None


def _order(error: ValidationError, value: Json) -> tuple[bool, list[int], int]:
    is_of_a_version = list(error.absolute_path) == ["version"]
    places = []
    for part in error.absolute_path:
        places.append(part if isinstance(part, int) else list(value).index(part))
        value = value[part]
    keyword = "propertyNames" if _is_of_a_name(error) else str(error.validator)
    rank = _RANKS.index(keyword) if keyword in _RANKS else len(_RANKS)
    return not is_of_a_version, places, rank


def _is_of_a_name(error: ValidationError) -> bool:
    return "propertyNames" in error.absolute_schema_path


def _problem(error: ValidationError) -> Problem:
    key: Key = tuple(error.absolute_path)
    rule: Any = error.schema
    instance: Any = error.instance
    limit: Any = error.validator_value
    if _is_of_a_name(error):
        return Problem((*key, str(instance)), f"cannot be a name. {rule['description']}")
    if error.validator == "additionalProperties":
        unknown = next(name for name in instance if name not in rule["properties"])
        meant = suggestion(unknown, rule["properties"])
        return Problem((*key, unknown), f"is no key that is known here: {meant}")
    if error.validator == "required":
        missing = next(name for name in limit if name not in instance)
        return Problem((*key, missing), f"is missing. {_described(rule['properties'][missing])}")
    return Problem(key, f"{_demand(str(error.validator), limit)}. {rule['description']}")


def _described(member: dict[str, Json]) -> str:
    allowed = member.get("enum") or ([member["const"]] if "const" in member else [])
    choices = f" Allowed: {listed(allowed)}." if allowed else ""
    return f"{member['description']}{choices}"


def check_names(section: str, names: Iterable[str]) -> None:
    """
    Take the *names* in a section, whose letter case does not tell them apart.

    Raises:
        Problem: two differ in case alone.
    """
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise Problem(
                (section, name), f"differs from {other} in case alone: choose another name"
            )


def suggestion(given: str, known: Iterable[str]) -> str:
    """Say which of *known* is meant by *given*, or list them all."""
    names = list(known)
    near = difflib.get_close_matches(given[:_SHOWN], names, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {listed(names)}"


def listed(values: Iterable[Json]) -> str:
    """List values as a reader would: ``must, should``."""
    return ", ".join(one if isinstance(one, str) else json.dumps(one) for one in values)


_DEMANDS: Final = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be above {}",
    "maxLength": "must have at most {} characters",
    "minLength": "must not be empty",
    "minItems": "must not be empty",
    "minProperties": "must not be empty",
    "uniqueItems": "must not name anything twice",
    "pattern": "is not written as it must be",
}


def _demand(keyword: str, limit: Any) -> str:
    if keyword == "type":
        return f"must be {' or '.join(_TYPES[one] for one in _as_list(limit))}"
    if keyword == "enum":
        return f"must be one of {listed(limit)}"
    if keyword == "const":
        return f"must be {json.dumps(limit)}"
    return _DEMANDS[keyword].format(limit)


def _as_list(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types
