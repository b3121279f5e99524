"""The result document: its schema, reading it, and what reading refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from hostproof.reports import document as document_module
from hostproof.reports import finding as finding_module
from hostproof.reports.reading import DocumentError, read_document, result_schema
from tests.reports.samples import HOSTILE, documents, every_verdict, hostile

if TYPE_CHECKING:
    from hostproof.reports.document import ResultDocument

Change = Callable[[dict[str, Any]], object]


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema that describes an object, at any depth."""
    pending = [schema]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.values())
            if "additionalProperties" in item:
                yield item
        elif isinstance(item, list):
            pending.extend(item)


def test_the_schema_is_a_schema_that_describes_and_closes_every_object() -> None:
    schema = result_schema()
    Draft202012Validator.check_schema(schema)
    objects = list(_schemas(schema))
    assert len(objects) > 15
    for one in objects:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
        assert all(member["description"].endswith(".") for member in one["properties"].values())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("suite", document_module.Suite),
        ("run", document_module.Run),
        ("target", document_module.Target),
        ("source", document_module.Source),
        ("reason", document_module.Reason),
        ("waiver", document_module.Waiver),
        ("rule", document_module.RuleResult),
        ("actions", document_module.Actions),
        ("fuzz", document_module.Fuzz),
        ("exit", document_module.Exit),
        ("body", finding_module.Body),
        ("exchange", finding_module.Exchange),
        ("finding", finding_module.Finding),
    ],
)
def test_the_values_have_the_members_of_the_schema(name: str, kind: Any) -> None:
    members = list(result_schema()["$defs"][name]["properties"])
    assert [member.name for member in fields(kind)] == members


@given(documents())
def test_a_document_survives_being_written_and_read(document: ResultDocument) -> None:
    assert read_document(document.to_json()) == document
    assert read_document(document.to_text()) == document
    assert read_document(document.to_text().encode("ascii")) == document


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_survives_too(text: str) -> None:
    document = hostile(text)
    assert read_document(document.to_text()) == document


def test_whole_floats_are_read_as_integers() -> None:
    value = every_verdict().to_json()
    value["run"]["requests"] = 412.0
    value["run"]["seconds"] = 12
    run = read_document(value).run
    assert repr(run.requests) == "412"
    assert repr(run.seconds) == "12.0"


def _set(*path: str | int, to: Any) -> Change:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = to

    return change


def _drop(*path: str | int) -> Change:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        del value[path[-1]]

    return change


BAD: list[tuple[str, Change, str, str]] = [
    ("another format", _set("format", to="sarif"), "/format", "hostproof-result"),
    ("no format", _drop("format"), "/format", "hostproof-result"),
    ("a newer version", _set("version", to=2), "/version", "update hostproof"),
    ("a huge version", _set("version", to=10**5000), "/version", "update hostproof"),
    ("version true", _set("version", to=True), "/version", "whole number"),
    ("no version", _drop("version"), "/version", "whole number"),
    ("an unknown member", _set("extra", to=1), "", "extra"),
    ("a missing member", _drop("exit"), "", "lacks exit"),
    ("a wrong verdict", _set("rules", 0, "verdict", to="ok"), "/rules/0/verdict", "inconclusive"),
    ("a wrong type", _set("run", "finished", to="yes"), "/run/finished", "boolean"),
    ("a negative count", _set("run", "requests", to=-1), "/run/requests", "minimum 0"),
    ("endless seconds", _set("run", "seconds", to=float("inf")), "/run/seconds", "maximum"),
    ("seconds not a number", _set("run", "seconds", to=float("nan")), "/run/seconds", "finite"),
    (
        "a rule's seconds not a number",
        _set("rules", 0, "seconds", to=float("nan")),
        "/rules/0/seconds",
        "finite",
    ),
    (
        "a newline after an id",
        _set("rules", 1, "findings", 0, "replay", to="a\n"),
        "/rules/1/findings/0/replay",
        "pattern",
    ),
    (
        "a command in an id",
        _set("rules", 1, "findings", 0, "replay", to="a;rm -rf /"),
        "/rules/1/findings/0/replay",
        "pattern",
    ),
    (
        "another command",
        _set("rules", 1, "findings", 0, "curl", to="rm -rf /"),
        "/rules/1/findings/0/curl",
        "pattern",
    ),
    ("no failure to show", _set("rules", 1, "findings", to=[]), "/rules/1/findings", "one"),
    ("not judged without why", _set("rules", 3, "reason", to=None), "/rules/3/reason", "object"),
    ("waived without waiver", _set("rules", 7, "waiver", to=None), "/rules/7/waiver", "object"),
    ("a guide that counts", _set("rules", 2, "counts", to=True), "/rules/2/counts", "false"),
    (
        "a stale waiver of a failure",
        _set("rules", 9, "waiver", "stale", to=True),
        "/rules/9/verdict",
        '"passed"',
    ),
    ("passed with a reason", _set("rules", 0, "reason", to={}), "/rules/0/reason", "null"),
    ("no real instant", _set("run", "started", to="2026-13-07T10:00:00Z"), "/run/started", "real"),
    ("no UTC", _set("run", "started", to="2026-10-07T10:00:00+02:00"), "/run/started", "pattern"),
    (
        "no real date",
        _set("rules", 8, "waiver", "until", to="2026-02-30"),
        "/rules/8/waiver/until",
        "real",
    ),
    (
        "credentials",
        _set("target", "name", to="https://me:hunter2@example.org/"),
        "/target/name",
        "credentials",
    ),
    ("an id twice", _set("rules", 1, "id", to="safety.good-run"), "/rules/1/id", "repeat"),
    ("a wrong sum", _set("summary", "passed", to=99), "/summary", "verdicts"),
    ("an unknown exit code", _set("exit", "code", to=4), "/exit/code", "130"),
    (
        "fuzz numbers of a gate run",
        _set("fuzz", to={"bodies": 1, "accepted": 1, "per_code": []}),
        "/fuzz",
        "null",
    ),
]


@pytest.mark.parametrize(
    ("change", "place", "allowed"),
    [pytest.param(*row[1:], id=row[0]) for row in BAD],
)
def test_a_bad_document_is_refused_with_place_and_what_is_allowed(
    change: Change, place: str, allowed: str
) -> None:
    value = every_verdict().to_json()
    change(value)
    with pytest.raises(DocumentError) as caught:
        read_document(value)
    assert caught.value.place == place
    assert allowed in caught.value.problem
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        b"\xff\xfe\xff",
        "[" * 100_000,
        "9" * 5000,
        every_verdict().to_text().replace("12.34", "NaN"),
    ],
    ids=["empty", "cut", "array", "null", "bytes", "deep", "digits", "NaN"],
)
def test_what_is_no_document_at_all_is_refused(text: str | bytes) -> None:
    with pytest.raises(DocumentError):
        read_document(text)


def test_an_error_shows_hostile_names_as_escapes_and_cut() -> None:
    value = every_verdict().to_json()
    value["\x1b[2J" + "x" * 5000] = 1
    with pytest.raises(DocumentError) as caught:
        read_document(value)
    shown = str(caught.value)
    assert shown.isprintable()
    assert len(shown) < 1000
    assert shown.startswith("not a result document: the document has unknown members: \\x1b[2Jxx")


def test_a_pointer_escapes_the_names_in_it() -> None:
    assert DocumentError("/a~1b", "is odd").place == "/a~1b"


def test_seconds_that_are_not_finite_are_not_written() -> None:
    value = every_verdict()
    object.__setattr__(value.run, "seconds", float("nan"))
    with pytest.raises(ValueError, match="JSON compliant"):
        value.to_text()


def test_text_is_plain_json_in_ascii() -> None:
    text = hostile("\ud800 \u202e").to_text()
    assert text.isascii()
    assert text.endswith("}\n")
    assert json.loads(text)["format"] == "hostproof-result"
