"""The elicitation mapper: the golden vectors, and what holds for any ask and any content."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hostproof.reference_impl.elicitation import (
    REVISIONS,
    elicitation_answer,
    elicitation_request,
)
from hostproof.reference_impl.refusals import Refusal
from tests.golden import Vector, exactly, vectors

if TYPE_CHECKING:
    from collections.abc import Callable

DEEPEST = 100_000
LATER = "2027-01-31"
TITLED = (*REVISIONS[1:], LATER)
ALL = vectors("elicitation", "elicitationOf") + vectors("answer", "answerFromElicitation")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "elicitationOf": elicitation_request,
    "answerFromElicitation": elicitation_answer,
}

# The golden vectors


@pytest.mark.parametrize("vector", ALL, ids=str)
def test_vector(vector: Vector) -> None:
    outcome = outcome_of(FUNCTIONS[vector.fn], *vector.args)
    if isinstance(outcome, Refusal):
        seen = {"refused": {"code": outcome.code, "status": outcome.status}}
        seen["refused"]["field"] = outcome.field
        if outcome.properties:
            assert outcome.field is None
            seen["refused"]["field"] = ", ".join(outcome.properties)
        assert dict(outcome.members) == (vector.detail or {})
    else:
        seen = {"ok": outcome}
    assert exactly(seen) == exactly(vector.expect)
    if "key-order" in vector.tags:
        assert repr(exactly(seen)) == repr(exactly(vector.expect))


def test_all_vectors_are_here() -> None:
    assert len(ALL) == 149 + 197


# Revisions and labels


def an_ask(*fields: Any, **members: Any) -> dict[str, Any]:
    ids = [field["id"] for field in fields]
    ask = {"requestId": "q1", "question": "When?", "fields": [*fields], "supplied": {}}
    return {**ask, "missing": ids, **members}


def a_choice(choices: list[Any], **members: Any) -> dict[str, Any]:
    return {"id": "f", "type": "string", "enum": choices, **members}


@pytest.mark.parametrize(
    "revision",
    [
        *("2024-11-05", "2025-03-26", "2025-06-17", "2025-09-01", "2026-07-27", "2027-13-01"),
        *("2027-02-30", "20270131", "2027-W01-1", "2027-01-31 ", "2027-01-31\n", "2026-07-28\n"),
        *("", "draft", "latest", None, 20250618, True, [], {}, "2027-01-31T00:00:00"),
    ],
)
def test_a_revision_without_elicitation_is_a_mistake(revision: Any) -> None:
    with pytest.raises(ValueError, match=", ".join(REVISIONS)):
        elicitation_request(an_ask(), revision=revision)
    with pytest.raises(ValueError, match=", ".join(REVISIONS)):
        elicitation_request(None, revision=revision)


@pytest.mark.parametrize(
    ("field", "names", "titles"),
    [
        (a_choice(["a", "b"]), {"enum": ["a", "b"]}, {"enum": ["a", "b"]}),
        (
            a_choice(["a", "b"], labels=["A", "B"]),
            {"enum": ["a", "b"], "enumNames": ["A", "B"]},
            {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
        ),
        (
            a_choice(["a", "b"], labels=["A"]),
            {"enum": ["a", "b"], "enumNames": ["A"]},
            {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "b"}]},
        ),
        (
            a_choice(["a"], labels=["", "B"]),
            {"enum": ["a"], "enumNames": ["", "B"]},
            {"oneOf": [{"const": "a", "title": ""}]},
        ),
        (
            a_choice([1, "1", True], labels=["one", "uno", "yes"]),
            {"enum": ["1", "1", "true"], "enumNames": ["one", "uno", "yes"]},
            {"oneOf": [{"const": "1", "title": "one"}, {"const": "true", "title": "yes"}]},
        ),
        (a_choice(["a"], labels=[]), {"enum": ["a"], "enumNames": []}, {"enum": ["a"]}),
        (a_choice([], labels=["A"]), {"enum": [], "enumNames": ["A"]}, {"enum": []}),
        (a_choice([10**400, -(10**400)]), *[{"enum": ["Infinity", "-Infinity"]}] * 2),
    ],
)
def test_labels_are_spelled_by_revision(
    field: dict[str, Any], names: dict[str, Any], titles: dict[str, Any]
) -> None:
    def property_of(**options: Any) -> Any:
        return elicitation_request(an_ask(field), **options)["requestedSchema"]["properties"]["f"]

    assert property_of() == property_of(revision=REVISIONS[0]) == {"type": "string", **names}
    for revision in TITLED:
        assert property_of(revision=revision) == {"type": "string", **titles}


# Asks of another shape


WRONG: dict[str, list[Any]] = {
    "requestId": [None, 1, [], {}],
    "question": [None, 1, [], {}],
    "refused": [None, "x", 1, []],
    "missing": [None, "f", [1], [None], {"f": 1}],
    "supplied": [None, "f", ["f"], 0],
    "fields": [None, "f", {}, ["f"], [None], [[]], [{}]],
}
WRONG_IN_FIELD: dict[str, list[Any]] = {
    "id": [None, 1, [], {}],
    "enum": ["a", 1, {}, False],
    "labels": [None, "A", [1], {}],
    "description": [1, [], {}, False],
}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        *(({name: value}, None) for name, values in WRONG.items() for value in values),
        *(
            ({"fields": [{**a_choice(["a"]), name: value}]}, None if name == "id" else "f")
            for name, values in WRONG_IN_FIELD.items()
            for value in values
        ),
    ],
)
def test_an_ask_of_another_shape_is_refused(change: dict[str, Any], field: str | None) -> None:
    for ask in (an_ask(**change), an_ask(**{"supplied": {"f": 1}, **change})):
        for outcome in outcomes_of(ask, {}):
            assert isinstance(outcome, Refusal)
            assert outcome.field == field


@pytest.mark.parametrize("name", ["requestId", "fields", "supplied", "missing"])
def test_an_ask_without_a_member_is_refused(name: str) -> None:
    ask = an_ask({"id": "f"})
    del ask[name]
    for outcome in outcomes_of(ask, {}):
        assert isinstance(outcome, Refusal)


@pytest.mark.parametrize("number", [10**400, -(10**400), float("inf"), float("nan")])
def test_a_number_past_all_doubles_is_no_answer(number: float) -> None:
    outcome = outcome_of(elicitation_answer, an_ask({"id": "f"}), {"f": number})
    assert isinstance(outcome, Refusal)
    assert outcome.field == "f"


# Any ask, any content

json_texts = st.text(st.characters(exclude_categories=()))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([10**400, -(10**400), 2**53 + 1])
    | json_texts,
    lambda inner: st.lists(inner) | st.dictionaries(json_texts, inner),
    max_leaves=12,
)
field_ids = st.text(min_size=1).filter(lambda id_: "." not in id_) | st.sampled_from(
    ["__proto__", "constructor", "toString", "10", "2", "01", "a", "b"]
)
entry_fields = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "number", "boolean"])}, optional={"description": st.text()}
)
format_fields = st.fixed_dictionaries(
    {
        "type": st.just("string"),
        "format": st.sampled_from(["instant", "zone", "time-range"]),
    },
    optional={"description": st.text(), "strict": st.booleans()},
)
choices = st.fixed_dictionaries(
    {"type": st.just("string"), "enum": st.lists(st.text(), min_size=1, max_size=4, unique=True)},
    optional={"description": st.text(), "labels": st.lists(st.text(), max_size=5)},
)
format_choices = st.builds(lambda field, choice: {**field, **choice}, format_fields, choices)
fields_of_any_kind = entry_fields | format_fields | choices | format_choices


@st.composite
def well_formed_asks(draw: st.DrawFn) -> dict[str, Any]:
    ids = draw(st.lists(field_ids, max_size=5, unique=True))
    ask = {
        "requestId": draw(st.text()),
        "question": draw(st.text()),
        "fields": [{"id": id_, **draw(fields_of_any_kind)} for id_ in ids],
        "supplied": {id_: draw(json_values) for id_ in ids if draw(st.integers(0, 4)) == 0},
        "missing": [id_ for id_ in ids if draw(st.booleans())],
    }
    if draw(st.booleans()):
        ask["refused"] = {"reason": draw(st.text())}
    return ask


@st.composite
def near_asks(draw: st.DrawFn) -> dict[str, Any]:
    """An ask with one or two members put out of shape, or taken out, or doubled."""
    ask = draw(well_formed_asks())
    for _ in range(draw(st.integers(1, 2))):
        fields = ask.get("fields")
        places = [ask]
        if isinstance(fields, list) and fields:
            places += [field for field in fields if isinstance(field, dict)]
            if draw(st.integers(0, 3)) == 0:
                fields.append(draw(st.sampled_from(fields)))
        place = draw(st.sampled_from(places))
        names = sorted({*place, "enum", "labels", "format", "refused"})
        name = draw(st.sampled_from(names))
        if draw(st.booleans()):
            place[name] = draw(json_values)
        else:
            place.pop(name, None)
    return ask


any_asks = well_formed_asks() | near_asks() | json_values


def names_near(ask: Any) -> list[str]:
    fields = ask.get("fields") if isinstance(ask, dict) else None
    texts = (
        [field.get("id") for field in fields or () if isinstance(field, dict)]
        if isinstance(fields, list)
        else []
    )
    return [
        f"{id_}{end}"
        for id_ in texts
        if isinstance(id_, str)
        for end in ("", ".from", ".to", ".other")
    ]


@st.composite
def asks_and_contents(draw: st.DrawFn) -> tuple[Any, Any]:
    ask = draw(any_asks)
    near = names_near(ask)
    names = st.sampled_from(near) | json_texts if near else json_texts
    values = st.text() | st.integers() | json_values
    return ask, draw(st.dictionaries(names, values, max_size=6) | json_values)


def outcome_of(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call *function*: its result, or the refusal it raised (nothing else may come)."""
    try:
        return function(*args, **options)
    except Refusal as refusal:
        outcome = refusal
    assert outcome.code is None
    assert outcome.status is None
    return outcome


def outcomes_of(ask: Any, content: Any) -> list[Any]:
    return [
        *(outcome_of(elicitation_request, ask, revision=revision) for revision in REVISIONS),
        outcome_of(elicitation_answer, ask, content),
    ]


def texts_of(refusal: Refusal) -> str:
    return "\n".join([str(refusal), repr(refusal), repr(refusal.args), refusal.message])


@given(any_asks, st.sampled_from([*REVISIONS, LATER]))
def test_any_ask_gives_a_request_or_a_refusal(ask: Any, revision: str) -> None:
    before = repr(ask)
    outcome = outcome_of(elicitation_request, ask, revision=revision)
    assert repr(ask) == before
    if isinstance(outcome, Refusal):
        assert outcome.field is None or outcome.field in names_near(ask)
        assert not outcome.properties
    else:
        schema = outcome["requestedSchema"]
        assert schema["properties"].keys() <= set(names_near(ask))
        assert set(schema.get("required", ())) <= schema["properties"].keys()


@given(asks_and_contents())
def test_any_content_gives_an_answer_or_a_refusal(drawn: tuple[Any, Any]) -> None:
    ask, content = drawn
    before = repr(drawn)
    outcome = outcome_of(elicitation_answer, ask, content)
    assert repr(drawn) == before
    if isinstance(outcome, Refusal):
        assert outcome.field is None or outcome.field in names_near(ask)
        assert not outcome.members
    else:
        assert outcome["requestId"] == ask["requestId"]
        assert outcome["values"].keys() <= {field["id"] for field in ask["fields"]}
        assert not outcome["values"].keys() & ask["supplied"].keys()


def deep(kind: str, levels: int) -> Any:
    value: Any = "x"
    for level in range(levels):
        in_list = kind == "lists" or (kind == "both" and level % 2)
        value = [value] if in_list else {"a": value}
    return value


ASK_MEMBERS = ("requestId", "question", "fields", "supplied", "missing", "refused")
FIELD_MEMBERS = ("type", "format", "enum", "labels", "strict", "description")
DEEP_PLACES = (
    "ask",
    "content",
    "value",
    "unasked",
    "reason",
    "member",
    *ASK_MEMBERS,
    *FIELD_MEMBERS,
)


def placed(place: str, value: Any) -> tuple[Any, Any]:
    """An ask and a content of which *value* is one part."""
    field = a_choice(["a"])
    if place in ASK_MEMBERS:
        return an_ask(field, **{place: value}), {"f": "a"}
    if place in FIELD_MEMBERS:
        return an_ask({**field, place: value}), {"f": "a"}
    parts = {
        "ask": (value, {}),
        "content": (an_ask(field), value),
        "value": (an_ask(field), {"f": value}),
        "unasked": (an_ask(field), {"g": value}),
        "reason": (an_ask(field, refused={"reason": value}), {}),
        "member": (an_ask(a_choice([value, [None, value]], labels=["A"])), {"f": "a"}),
    }
    return parts[place]


@settings(deadline=None)
@given(
    st.sampled_from(DEEP_PLACES),
    st.sampled_from(["lists", "objects", "both"]),
    st.integers(0, DEEPEST),
)
def test_depth_is_no_matter(place: str, kind: str, levels: int) -> None:
    outcomes_of(*placed(place, deep(kind, levels)))


@pytest.mark.parametrize("place", DEEP_PLACES)
def test_the_deepest_in_each_place(place: str) -> None:
    for kind in ("lists", "objects", "both"):
        outcomes_of(*placed(place, deep(kind, DEEPEST)))


# A refusal quotes nothing

markers = st.text(string.ascii_uppercase + string.digits, min_size=12, max_size=12)


def marked(value: Any, marker: str, kept: set[str]) -> Any:
    """Put *marker* into every text and key of *value*, but for the keys *kept* at its top."""
    if isinstance(value, str):
        return f"{value}{marker}"
    if isinstance(value, list):
        return [marked(item, marker, set()) for item in value]
    if isinstance(value, dict):
        return {
            key if key in kept else f"{key}{marker}": marked(member, marker, set())
            for key, member in value.items()
        }
    return value


@given(asks_and_contents(), markers)
def test_a_refusal_says_nothing_of_the_content(drawn: tuple[Any, Any], marker: str) -> None:
    ask, content = drawn
    content = marked(content, marker, set(names_near(ask)))
    outcome = outcome_of(elicitation_answer, ask, content)
    if isinstance(outcome, Refusal):
        assert marker not in texts_of(outcome)
        assert marker not in repr((outcome.field, outcome.reason, dict(outcome.members)))
        assert not outcome.properties or outcome.field is None


@given(near_asks(), markers)
def test_no_text_of_a_refusal_comes_from_the_ask(ask: dict[str, Any], marker: str) -> None:
    fields = ask.get("fields")
    ask = marked(ask, marker, {*ask})
    if isinstance(fields, list):
        ask["fields"] = [
            {
                key: value if key in ("type", "format") else marked(value, marker, set())
                for key, value in field.items()
                if key in ("id", *FIELD_MEMBERS)
            }
            if isinstance(field, dict)
            else field
            for field in fields
        ]
    for outcome in outcomes_of(ask, {"z": 1}):
        if isinstance(outcome, Refusal):
            assert marker not in texts_of(outcome)


# Round trip


@st.composite
def asks_and_answers(draw: st.DrawFn) -> tuple[Any, str, Any, dict[str, Any], dict[str, Any]]:
    """An ask, a revision, its schema, a content that fits it, and the values that this means."""
    ask, revision = draw(well_formed_asks()), draw(st.sampled_from([*REVISIONS, LATER]))
    schema = elicitation_request(ask, revision=revision)["requestedSchema"]
    content: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for id_ in (field["id"] for field in ask["fields"]):
        names = [f"{id_}{end}" for end in ("", ".other", ".from", ".to")]
        names = [name for name in names if name in schema["properties"]]
        if not set(names) & set(schema.get("required", ())) and not draw(st.booleans()):
            continue
        ways = [[name] for name in names if not name.endswith((".from", ".to"))]
        ways += [[f"{id_}.from", f"{id_}.to"]] if f"{id_}.from" in names else []
        if not ways:
            continue
        way = draw(st.sampled_from(ways))
        given_ = [draw(fitting(schema["properties"][name])) for name in way]
        content.update(zip(way, given_, strict=True))
        values[id_] = "/".join(given_) if len(way) == 2 else given_[0]
    return ask, revision, schema, content, values


def fitting(spelled: Any) -> st.SearchStrategy[Any]:
    if "oneOf" in spelled:
        return st.sampled_from([branch["const"] for branch in spelled["oneOf"]])
    if "enum" in spelled:
        return st.sampled_from(spelled["enum"])
    numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
    return {"string": st.text(), "number": numbers, "boolean": st.booleans()}[spelled["type"]]


@given(asks_and_answers())
def test_what_fits_the_schema_comes_back_as_values(
    drawn: tuple[Any, str, Any, dict[str, Any], dict[str, Any]],
) -> None:
    ask, _, schema, content, values = drawn
    Draft202012Validator(schema).validate(content)
    answer = elicitation_answer(ask, content)
    assert exactly(answer) == exactly({"requestId": ask["requestId"], "values": values})


@pytest.mark.parametrize("revision", [*REVISIONS, LATER])
def test_a_choice_given_twice_can_be_answered(revision: str) -> None:
    ask = an_ask(a_choice(["a", "a", "b"], labels=["A", "again", "B"]))
    schema = elicitation_request(ask, revision=revision)["requestedSchema"]
    Draft202012Validator(schema).validate({"f": "a"})
    assert elicitation_answer(ask, {"f": "a"})["values"] == {"f": "a"}


# The closed dialect of each revision


def closed(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": {"title": TEXT, "description": TEXT, **properties},
    }


TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
COUNT = {"type": "integer", "minimum": 0}
BRANCHES = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["const", "title"],
        "properties": {"const": TEXT, "title": TEXT},
    },
}


def dialect(revision: str) -> Draft202012Validator:
    """
    What a form may hold and no more: the published definitions are open, so they prove nothing.

    ``enumNames`` is left out where the revision calls it legacy.
    """
    titled = revision != REVISIONS[0]
    numbers = {"enum": ["number", "integer"]}
    bounds = {"minimum": {"type": "number"}, "maximum": {"type": "number"}}
    lengths = {"minLength": COUNT, "maxLength": COUNT}
    formats = {"format": {"enum": ["email", "uri", "date", "date-time"]}}
    text_default = {"default": TEXT} if titled else {}
    number_default = {"default": {"type": "number"}} if titled else {}
    is_text = {"const": "string"}
    primitives = [
        closed("type", type=is_text, **lengths, **formats, **text_default),
        closed("type", type=numbers, **bounds, **number_default),
        closed("type", type={"const": "boolean"}, default={"type": "boolean"}),
    ]
    if titled:
        primitives += [
            closed("type enum", type=is_text, enum=TEXTS, **text_default),
            closed("type oneOf", type=is_text, oneOf=BRANCHES, **text_default),
        ]
    else:
        primitives.append(closed("type enum", type=is_text, enum=TEXTS, enumNames=TEXTS))
    form = {
        "type": "object",
        "additionalProperties": False,
        "required": ["type", "properties"],
        "properties": {
            "type": {"const": "object"},
            "properties": {"type": "object", "additionalProperties": {"anyOf": primitives}},
            "required": {**TEXTS, "uniqueItems": True},
            **({"$schema": TEXT} if titled else {}),
        },
    }
    return Draft202012Validator(
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["message", "requestedSchema"],
            "properties": {"message": TEXT, "requestedSchema": form},
        }
    )


DIALECTS = {revision: dialect(revision) for revision in (*REVISIONS, LATER)}


@pytest.mark.parametrize("revision", [*REVISIONS, LATER])
def test_the_dialect_is_closed(revision: str) -> None:
    def takes(**spelled: Any) -> bool:
        form = {"type": "object", "properties": {"f": spelled}}
        return DIALECTS[revision].is_valid({"message": "", "requestedSchema": form})

    titled = revision in TITLED
    assert takes(type="string", format="date-time")
    assert takes(type="string", enum=["a"])
    assert takes(type="string", oneOf=[{"const": "a", "title": "A"}]) is titled
    assert takes(type="string", enum=["a"], enumNames=["A"]) is not titled
    assert takes(type="string", default="a") is titled
    for spelled in (
        *({}, {"enum": ["a"]}, {"type": "string", "pattern": "a"}, {"type": ["string", "null"]}),
        *({"type": "number", "enum": [1]}, {"type": "string", "format": "time"}),
        *({"type": "string", "enum": ["a"], "format": "date"}, {"type": "object"}),
    ):
        assert not takes(**spelled)


@given(well_formed_asks(), st.sampled_from([*REVISIONS, LATER]))
def test_a_well_formed_ask_is_within_the_closed_dialect(ask: Any, revision: str) -> None:
    request = elicitation_request(ask, revision=revision)
    DIALECTS[revision].validate(request)
    Draft202012Validator.check_schema(request["requestedSchema"])
