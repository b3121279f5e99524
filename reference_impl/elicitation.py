"""
A typed ask carried as an MCP elicitation, and the elicitation's content carried back.

Both directions stand on one table of names (:func:`_ways`), so that they
cannot drift. MCP's form holds texts, numbers, booleans and choices of texts;
it has no range, so a field becomes the properties that a person can fill in:

========================  ==========================================================
field                     properties
========================  ==========================================================
text, number, boolean     ``<id>``
text with choices         ``<id>``, a choice
``instant``               ``<id>``, a ``date-time``
``zone``, other formats   ``<id>``, a text
``time-range``            ``<id>.from`` and ``<id>.to``, read back as ``from/to``
a format and choices      ``<id>``, a choice, and unless ``strict`` also free entry:
                          ``<id>.other``, for a range ``<id>.from`` and ``<id>.to``
========================  ==========================================================

Nothing is judged here that the answer's own door judges: neither whether a
value fits its field nor whether an answer is missing.

Source: contract, "Elicitation" (docs/contract.md); MCP, schema of each revision.
"""

from __future__ import annotations

import math
from datetime import date
from functools import partial
from itertools import zip_longest
from typing import Final, Literal, NamedTuple, NotRequired, TypeAlias, TypedDict

from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.values import (
    MISSING,
    Json,
    Missing,
    Record,
    in_key_order,
    is_number,
    is_record,
    is_text,
    is_texts,
    number_text,
)

REVISIONS: Final = ("2025-06-18", "2025-11-25", "2026-07-28")
"""The MCP revisions that have elicitation, oldest first. A later date is spelled as the newest."""

Value: TypeAlias = str | int | float | bool
"""What one property of an elicitation's content may hold."""

_refusal: Final = partial(Refusal, None, None)


class TitledChoice(TypedDict):
    """One labelled choice, as revisions from 2025-11-25 spell it."""

    const: str
    title: str


class ElicitedProperty(TypedDict):
    """One way to answer a field; ``description`` is the ask's own, so ``null`` stays ``null``."""

    type: Literal["string", "number", "boolean"]
    format: NotRequired[Literal["date-time"]]
    description: NotRequired[str | None]
    enum: NotRequired[list[str]]
    enumNames: NotRequired[list[str]]
    oneOf: NotRequired[list[TitledChoice]]


class RequestedSchema(TypedDict):
    """The flat schema of an elicitation; ``required`` is left off where nothing is."""

    type: Literal["object"]
    properties: dict[str, ElicitedProperty]
    required: NotRequired[list[str]]


class ElicitationRequest(TypedDict):
    """What a form elicitation asks; ``message`` is left off where the ask has no question."""

    message: NotRequired[str]
    requestedSchema: RequestedSchema


class ElicitationAnswer(TypedDict):
    """The answer to an ask: its request id, and a value for each field that was answered."""

    requestId: str
    values: dict[str, Value]


def elicitation_request(awaiting: Json, *, revision: str = REVISIONS[0]) -> ElicitationRequest:
    """
    Spell a pending ask as an MCP elicitation.

    Every field that is not supplied yet is asked. A property is required where
    it is the only way to answer a missing field. On a re-ask the refusal's
    reason comes before the question. Choices that are no texts are spelled as
    JavaScript's ``String`` does.

    Labels are ``enumNames`` up to 2025-06-18, as they stand. Later they are
    titles in a ``oneOf``: a choice past the labels is titled by its value, a
    label past the choices is dropped, and a choice given twice is offered once
    (two equal branches of a ``oneOf`` would let no answer pass). Without
    labels, or without choices, it stays ``enum``.

    Args:
        awaiting: the ask, any JSON value: ``{requestId, fields, supplied,
            missing, question?, refused?: {reason?}}``, a field being ``{id,
            type?, format?, enum?, labels?, strict?, description?}``.
        revision: the MCP revision that client and server agreed on.

    Raises:
        Refusal: MCP cannot carry the field that ``field`` names, or the ask has
            another shape. For a name used twice, ``members["property"]`` is it.
        ValueError: *revision* has no elicitation, or is no revision.

    Source: contract, "Elicitation" (docs/contract.md).
    """
    titled = _has_titles(revision)
    open_fields = _open_fields(awaiting)
    ids = {field["id"] for field in awaiting["fields"]}
    missing = set(awaiting["missing"])
    properties: dict[str, ElicitedProperty] = {}
    required: list[str] = []
    for field in open_fields:
        ways = _ways(field)
        for name in ways.names:
            spelled = _choice(field, titled) if name == ways.choice else _entry(field)
            if name in properties or (name != field["id"] and name in ids):
                raise _refusal(
                    "two ways to answer would share one property of the elicitation",
                    field=field["id"],
                    members={"property": name},
                )
            properties[name] = spelled
        if field["id"] in missing and (ways.choice is None or not ways.entry):
            required += ways.names
    schema: RequestedSchema = {"type": "object", "properties": in_key_order(properties)}
    if required:
        schema["required"] = required
    if "refused" in awaiting:
        reason = _spelled(awaiting["refused"].get("reason", MISSING))
        question = _spelled(awaiting.get("question", MISSING))
        return {"message": f"{reason}\n\n{question}", "requestedSchema": schema}
    if "question" in awaiting:
        return {"message": awaiting["question"], "requestedSchema": schema}
    return {"requestedSchema": schema}


def elicitation_answer(awaiting: Json, content: Json) -> ElicitationAnswer:
    """
    Read the content of an accepted elicitation as the answer to its ask.

    Args:
        awaiting: the ask, any JSON value, as :func:`elicitation_request` takes it.
        content: what the client sent, any JSON value.

    Raises:
        Refusal: a choice and free entry for one field, or half a range
            (``field``: the field's id); a value that is no text, finite number
            or boolean (``field``: its property); properties that were not asked
            (``properties``, in JavaScript's key order); content that is no
            object, or an ask of another shape. The text quotes nothing sent.

    Source: contract, "Elicitation" (docs/contract.md).
    """
    open_fields = _open_fields(awaiting)
    if not is_record(content):
        raise _refusal("an elicitation's content must be an object")
    asked: set[str] = set()
    values: dict[str, Value] = {}
    for field in open_fields:
        ways = _ways(field)
        asked.update(ways.names)
        value = _answered(field, ways, content)
        if value is not MISSING:
            values[field["id"]] = value
    unasked = tuple(name for name in in_key_order(content) if name not in asked)
    if unasked:
        raise _refusal("the content has properties that were not asked", properties=unasked)
    return {"requestId": awaiting["requestId"], "values": in_key_order(values)}


def _has_titles(revision: Json) -> bool:
    if revision not in REVISIONS and not _is_later(revision):
        allowed = ", ".join(REVISIONS)
        raise ValueError(f"elicitation needs the MCP revision {allowed} or a later date")
    return bool(revision >= REVISIONS[1])


def _is_later(revision: Json) -> bool:
    try:
        plain = date.fromisoformat(revision).isoformat()
    except (TypeError, ValueError):
        return False
    return bool(revision == plain > REVISIONS[-1])


def _open_fields(awaiting: Json) -> list[Record]:
    """Check the shape of the whole ask, and choose the fields that are not supplied yet."""
    if not is_record(awaiting):
        raise _refusal("the ask must be an object")
    fields, supplied = awaiting.get("fields"), awaiting.get("supplied")
    if not is_text(awaiting.get("requestId")):
        raise _refusal("the ask's requestId must be text")
    if not is_text(awaiting.get("question", "")):
        raise _refusal("the ask's question must be text")
    if not is_record(awaiting.get("refused", {})):
        raise _refusal("the ask's refused must be an object")
    if not is_texts(awaiting.get("missing")):
        raise _refusal("the ask's missing must be a list of texts")
    if not is_record(supplied):
        raise _refusal("the ask's supplied must be an object")
    if not isinstance(fields, list):
        raise _refusal("the ask's fields must be a list")
    for field in fields:
        _check_field(field)
    return [field for field in fields if field["id"] not in supplied]


def _check_field(field: Json) -> None:
    if not is_record(field) or not is_text(field.get("id")):
        raise _refusal("a field of the ask must be an object whose id is text")
    if not isinstance(field.get("enum"), list | None):
        raise _refusal("a field's enum must be a list", field=field["id"])
    if not is_texts(field.get("labels", [])):
        raise _refusal("a field's labels must be a list of texts", field=field["id"])
    if not isinstance(field.get("description"), str | None):
        raise _refusal("a field's description must be text", field=field["id"])


class _Ways(NamedTuple):
    """The properties that answer one field: a choice, free entry, or either."""

    choice: str | None
    entry: list[str]

    @property
    def names(self) -> list[str]:
        return self.entry if self.choice is None else [self.choice, *self.entry]


def _ways(field: Record) -> _Ways:
    id_, is_range = field["id"], field.get("format") == "time-range"
    ends = [f"{id_}.from", f"{id_}.to"]
    if "enum" not in field:
        return _Ways(None, ends if is_range else [id_])
    if "format" not in field or field.get("strict") is True:
        return _Ways(id_, [])
    return _Ways(id_, ends if is_range else [f"{id_}.other"])


def _entry(field: Record) -> ElicitedProperty:
    spelled: ElicitedProperty = {"type": "string"}
    if field.get("type") in ("number", "boolean"):
        spelled["type"] = field["type"]
    elif field.get("format") in ("instant", "time-range"):
        spelled["format"] = "date-time"
    if "description" in field:
        spelled["description"] = field["description"]
    return spelled


def _choice(field: Record, titled: bool) -> ElicitedProperty:
    if field.get("type") != "string":
        raise _refusal("an elicitation carries choices of texts only", field=field["id"])
    spelled: ElicitedProperty = {"type": "string"}
    if "description" in field:
        spelled["description"] = field["description"]
    choices = [_spelled(choice) for choice in field["enum"] or ()]
    labels = field.get("labels", [])
    if titled and choices and labels:
        titles: dict[str, str] = {}
        for choice, label in zip_longest(choices, labels[: len(choices)]):
            titles.setdefault(choice, choice if label is None else label)
        spelled["oneOf"] = [{"const": const, "title": title} for const, title in titles.items()]
        return spelled
    spelled["enum"] = choices
    if "labels" in field and not titled:
        spelled["enumNames"] = list(labels)
    return spelled


def _answered(field: Record, ways: _Ways, content: Record) -> Value | Missing:
    entered = [name for name in ways.entry if name in content]
    if ways.choice in content:
        if entered:
            raise _refusal("answer with a choice or your own value, not both", field=field["id"])
        return _primitive(field["id"], content)
    if not entered:
        return MISSING
    if len(entered) < len(ways.entry):
        raise _refusal("a time range needs its start and its end", field=field["id"])
    values = [_primitive(name, content) for name in entered]
    return values[0] if len(values) == 1 else "/".join(map(_spelled, values))


def _primitive(name: str, content: Record) -> Value:
    value = content[name]
    if isinstance(value, str | bool) or (is_number(value) and math.isfinite(_double(value))):
        return value
    raise _refusal("an answer must be text, a finite number, true or false", field=name)


def _double(number: float) -> float:
    """Read a number as JSON text of it would be read: past all doubles it is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _spelled(value: Json) -> str:
    """Spell any value as JavaScript's ``String`` does, at any depth."""
    pieces: list[str] = []
    pending: list[Json] = [value]
    while pending:
        item = pending.pop()
        if not isinstance(item, list):
            pieces.append(_scalar(item))
            continue
        for at in range(len(item) - 1, -1, -1):  # its members, commas between, null as nothing
            pending.append("" if item[at] is None else item[at])
            if at:
                pending.append(",")
    return "".join(pieces)


def _scalar(item: Json) -> str:
    if is_text(item):
        return item
    if is_number(item):
        return number_text(_double(item))
    if is_record(item):
        return "[object Object]"
    return {None: "null", True: "true", False: "false", MISSING: "undefined"}[item]
