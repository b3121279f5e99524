"""
Reading a result document: check it against the schema, then make values of it.

A document may come from another program, another version or another year, so
every error says where it is wrong and what is allowed there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NoReturn,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

from hostproof.reports.document import FORMAT, VERSION, Json, ResultDocument, summarise
from hostproof.reports.printable import clipped, printable

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_SHOWN: Final = 200  # characters of a document that an error quotes, at most
_CREDENTIALS: Final = re.compile(r"://[^/?#\s]*@")


class DocumentError(ValueError):
    """
    Something is no result document that this version reads.

    Attributes:
        place: a JSON pointer (RFC 6901) to what is wrong; empty for the whole document.
        problem: what is wrong with it, and what is allowed.
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(place, problem)
        self.place = place
        self.problem = problem

    def __str__(self) -> str:
        place = clipped(printable(self.place), _SHOWN) or "the document"
        return f"not a result document: {place} {self.problem}"


@cache
def result_schema() -> dict[str, Json]:
    """Read the JSON Schema of the result document."""
    text = files("hostproof.reports").joinpath("result.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Json] = json.loads(text)
    return schema


def read_document(source: str | bytes | Mapping[str, Json]) -> ResultDocument:
    """
    Read a result document from its JSON text, or from the parsed object.

    Raises:
        DocumentError: *source* is no result document, a newer one, or at odds with itself.
    """
    value = _parsed(source) if isinstance(source, str | bytes) else source
    if not isinstance(value, Mapping) or value.get("format") != FORMAT:
        raise DocumentError("/format", f'must be "{FORMAT}"')
    value = dict(value)
    _check_version(value.get("version"))
    error = best_match(_validator().iter_errors(value))
    if error is not None:
        raise DocumentError(_pointer(error), _problem(error))
    document = cast("ResultDocument", _built(ResultDocument, value))
    for place, problem in _incoherences(document):
        raise DocumentError(place, problem)
    return document


def _parsed(text: str | bytes) -> Json:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise DocumentError("", "is nested too deeply") from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DocumentError("", f"must be JSON text in UTF-8{where}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _check_version(version: Json) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise DocumentError("/version", f"must be a whole number, at most {VERSION}")
    if version > VERSION:
        shown = clipped(str(version), 20) if version < 10**20 else "a huge number"
        raise DocumentError(
            "/version",
            f"is {shown}, but this version reads {VERSION} at most; update hostproof to read it",
        )


@cache
def _validator() -> Validator:
    """Make the validator; a pattern covers the whole string (Python's ``$`` does not)."""
    checker = extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, validators={"pattern": _whole_pattern}
    )
    return cast("Validator", checker(result_schema()))


def _whole_pattern(
    _validator: Validator, pattern: str, instance: Json, _schema: Json
) -> Iterator[ValidationError]:
    if isinstance(instance, str) and re.fullmatch(pattern, instance) is None:
        yield ValidationError(f"does not match {pattern}")


def _pointer(error: ValidationError) -> str:
    parts = (str(part).replace("~", "~0").replace("/", "~1") for part in error.absolute_path)
    return "".join(f"/{part}" for part in parts)


def _problem(error: ValidationError) -> str:
    """Say what is allowed, from the schema: never what a host may have written."""
    phrase = _PHRASES.get(str(error.validator), _other)
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    description = schema.get("description", "")
    return phrase(error, schema) + (f" ({description})" if description else "")


def _unknown_members(error: ValidationError, schema: Mapping[str, Json]) -> str:
    known = schema.get("properties", {})
    unknown = ", ".join(sorted(name for name in cast("Any", error.instance) if name not in known))
    shown = clipped(printable(unknown), _SHOWN)
    return f"has unknown members: {shown}; allowed are {', '.join(known)}"


def _missing_members(error: ValidationError, schema: Mapping[str, Json]) -> str:
    missing = [
        name for name in schema.get("required", []) if name not in cast("Any", error.instance)
    ]
    return f"lacks {', '.join(missing)}"


def _type(error: ValidationError, _schema: Mapping[str, Json]) -> str:
    names = error.validator_value
    return f"must be of type {names if isinstance(names, str) else ' or '.join(cast('Any', names))}"


def _value(error: ValidationError, _schema: Mapping[str, Json]) -> str:
    return f"must be {json.dumps(error.validator_value)}"


def _choice(error: ValidationError, _schema: Mapping[str, Json]) -> str:
    return f"must be one of {', '.join(map(str, cast('Any', error.validator_value)))}"


def _other(error: ValidationError, _schema: Mapping[str, Json]) -> str:
    return f"must keep {error.validator} {json.dumps(error.validator_value)}"


_PHRASES: Final[dict[str, Callable[[ValidationError, Mapping[str, Json]], str]]] = {
    "additionalProperties": _unknown_members,
    "required": _missing_members,
    "type": _type,
    "const": _value,
    "enum": _choice,
}


def _built(kind: Any, value: Json) -> Any:
    """Make a value of type *kind*, one of those in the document's fields, of checked JSON."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return cast("Any", kind)(
            **{
                member.name: _built(
                    hints[member.name], value[member.metadata.get("member", member.name)]
                )
                for member in fields(kind)
            }
        )
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return tuple(_built(arguments[0], item) for item in value)
    if origin is Literal:
        return value
    if NoneType in arguments:
        return None if value is None else _built(arguments[0], value)
    return kind(value)  # str, bool; int and float, since JSON Schema takes 1.0 for an integer


def _incoherences(document: ResultDocument) -> Iterator[tuple[str, str]]:
    """Find what a schema cannot say, as place and problem."""
    if not _is_date(document.run.started, datetime.fromisoformat):
        yield "/run/started", "must be a real instant"
    if _CREDENTIALS.search(document.target.name):
        yield "/target/name", "must not carry credentials"
    if not math.isfinite(document.run.seconds):
        yield "/run/seconds", "must be finite"
    ids: set[str] = set()
    for at, rule in enumerate(document.rules):
        if rule.id in ids:
            yield f"/rules/{at}/id", "must not repeat the id of a rule before it"
        ids.add(rule.id)
        if not math.isfinite(rule.seconds):
            yield f"/rules/{at}/seconds", "must be finite"
        until = rule.waiver.until if rule.waiver else None
        if until is not None and not _is_date(until, date.fromisoformat):
            yield f"/rules/{at}/waiver/until", "must be a real date"
    if document.summary != summarise(document.rules):
        yield "/summary", "must count the verdicts of the rules"


def _is_date(text: str, parse: Callable[[str], object]) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
