"""Kept cases: what goes in comes out, nothing is lost, and every error names the way out."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hostproof.conformance.checking import schema_of
from hostproof.conformance.exchange import Event, Exchange, Request
from hostproof.conformance.kept import (
    KeptCase,
    KeptError,
    KeptExchange,
    KeptRequest,
    body_file,
    keep,
    kept_id,
    kept_ids,
    load_case,
)
from hostproof.conformance.kept_case import (
    ID_FORM,
    MAX_BODY,
    MAX_EVENTS,
    SCHEMA,
    from_document,
    to_document,
)
from hostproof.conformance.profile_parts import Caller
from hostproof.conformance.redaction import Redactor

TOKEN = "t0ken-of-alice"  # noqa: S105 - made up
ALICE = Caller(name="alice", headers=(("Authorization", f"Bearer {TOKEN}"),))
REDACTOR = Redactor([ALICE])
REQUEST = Request(
    path=f"/agui?t={TOKEN}",
    headers=(("content-type", "application/json"), *ALICE.headers),
    body=b'{"a": "\xff\0"}',
)
EXCHANGE = Exchange(
    request=REQUEST,
    status=200,
    headers=(("content-type", "text/event-stream"), ("x-echo", TOKEN)),
    body=f"data: {TOKEN}\n\n".encode() * 1000,
    events=(Event(data="{}", value={"type": "RUN_STARTED"}, offset=0, seconds=0.1),) * 500,
    end="cut",
    detail="it broke off",
    seconds=1.23456,
)
CASE = KeptCase(
    id=kept_id("resume.once", "two at once", REQUEST.body),
    rule="resume.once",
    case="two at once",
    mode="gate",
    seed=None,
    target="http://127.0.0.1:8000/agui",
    endpoint="main",
    created="2026-11-02T10:00:00Z",
    expected="one run",
    seen="two runs",
    requests=(KeptRequest.of(REQUEST, REDACTOR),),
    exchanges=(KeptExchange.of(EXCHANGE, REDACTOR),),
)


def test_the_schema_is_one_and_a_case_keeps_to_it():
    Draft202012Validator.check_schema(schema_of(SCHEMA))
    Draft202012Validator(schema_of(SCHEMA)).validate(to_document(CASE))


def test_a_case_comes_back_as_it_was_kept(tmp_path):
    folder = tmp_path / "deep" / "cases"
    path = keep(CASE, folder)
    assert path == folder / f"{CASE.id}.json"
    assert load_case(CASE.id, folder) == CASE
    assert kept_ids(folder) == (CASE.id,)
    assert CASE.requests[0].body == REQUEST.body


def test_no_secret_is_kept(tmp_path):
    path = keep(CASE, tmp_path)
    assert TOKEN not in path.read_text()
    (request,) = load_case(CASE.id, tmp_path).requests
    assert REDACTOR.restored(request.headers) == REQUEST.headers


def test_what_came_back_is_kept_in_short():
    (kept,) = CASE.exchanges
    assert (kept.status, kept.end, kept.seconds) == (200, "cut", 1.235)
    assert len(kept.events) == MAX_EVENTS
    assert len(kept.body) == MAX_BODY
    assert kept.body_bytes == len(EXCHANGE.body)


def test_a_body_that_cannot_be_typed_lies_beside_its_case(tmp_path):
    typed = replace(CASE.requests[0], body=b"{}")
    case = replace(CASE, requests=(typed, CASE.requests[0]))
    keep(case, tmp_path)
    assert body_file(case, 0, tmp_path) is None
    file = body_file(case, 1, tmp_path)
    assert file is not None
    assert file.read_bytes() == REQUEST.body
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{case.id}.1.body",
        f"{case.id}.json",
    ]


@pytest.mark.parametrize(
    "less", [{"requests": ()}, {"exchanges": ()}, {"seen": ""}, {"expected": ""}]
)
def test_a_case_is_not_replaced_by_one_that_says_less(tmp_path, less):
    keep(CASE, tmp_path)
    assert keep(replace(CASE, **less), tmp_path).exists()
    assert load_case(CASE.id, tmp_path) == CASE


def test_a_case_is_replaced_by_one_that_says_as_much(tmp_path):
    keep(replace(CASE, exchanges=()), tmp_path)
    newer = replace(CASE, seen="three runs")
    keep(CASE, tmp_path)
    keep(newer, tmp_path)
    assert load_case(CASE.id, tmp_path) == newer


def test_a_broken_file_is_set_aside(tmp_path):
    path = keep(CASE, tmp_path)
    path.write_text("{")
    keep(CASE, tmp_path)
    assert load_case(CASE.id, tmp_path) == CASE
    assert path.with_name(f"{path.name}.broken").read_text() == "{"
    assert kept_ids(tmp_path) == (CASE.id,)


def test_the_file_of_a_newer_version_stays(tmp_path):
    path = keep(CASE, tmp_path)
    newer = json.dumps({**to_document(CASE), "version": 2, "more": 1})
    path.write_text(newer)
    with pytest.raises(KeptError, match=r"another version.*update hostproof"):
        keep(CASE, tmp_path)
    assert path.read_text() == newer


def test_an_interrupted_write_leaves_what_was_there(tmp_path, monkeypatch):
    keep(CASE, tmp_path)

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    typed = replace(CASE, seen="other", requests=(replace(CASE.requests[0], body=b"{}"),))
    with pytest.raises(KeptError, match=r"No space left.*Choose a folder"):
        keep(typed, tmp_path)
    monkeypatch.undo()
    assert load_case(CASE.id, tmp_path) == CASE
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda case: case | {"mode": "auto"}, "mode: must be one of gate, fuzz"),
        (lambda case: case | {"seed": "x"}, "seed: must be a whole number or null"),
        (lambda case: case | {"id": "other"}, "id: is not the name of the file"),
        (lambda case: case | {"extra": 1}, "extra: is no key"),
        (lambda case: {k: v for k, v in case.items() if k != "rule"}, "rule: is missing"),
        (
            lambda case: case | {"requests": [case["requests"][0] | {"body": "\u00e9"}]},
            "requests[0].body: is no base64",
        ),
        (lambda case: [], "must be a table"),
    ],
)
def test_a_broken_file_is_named_with_the_way_out(tmp_path, change, words):
    path = keep(CASE, tmp_path)
    path.write_text(json.dumps(change(to_document(CASE))))
    with pytest.raises(KeptError) as caught:
        load_case(CASE.id, tmp_path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "Delete it and run the rule again" in str(caught.value)
    assert ".." not in str(caught.value).replace(str(path), "")


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 100_000, b"NaN"])
def test_garbage_is_a_broken_file(tmp_path, content):
    keep(CASE, tmp_path).write_bytes(content)
    with pytest.raises(KeptError, match="is broken"):
        load_case(CASE.id, tmp_path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / f"{CASE.id}.json").mkdir()
    with pytest.raises(KeptError, match="cannot be read"):
        load_case(CASE.id, tmp_path)


def test_an_unknown_id_names_those_near_it(tmp_path):
    with pytest.raises(KeptError, match=r"No case is kept in .*: a run keeps those that fail"):
        load_case("resume-once", tmp_path / "none")
    keep(CASE, tmp_path)
    with pytest.raises(KeptError, match=f"Near it: {CASE.id}"):
        load_case(CASE.id[:-1] + "x", tmp_path)
    for number in range(7):
        keep(replace(CASE, id=f"z{number}"), tmp_path)
    with pytest.raises(KeptError, match=r"There are resume.once-.* and 3 more"):
        load_case("QQQQQQQQQQQQQQ", tmp_path)


@pytest.mark.parametrize("case_id", ["", "../x", ".x", "a/b", "a\n", "x" * 101, "a\0"])
def test_what_is_no_id_never_names_a_file(tmp_path, case_id):
    for act in (lambda: load_case(case_id, tmp_path), lambda: keep(replace(CASE, id=case_id))):
        with pytest.raises(KeptError, match="is no id of a case"):
            act()


def test_a_file_in_the_folders_place_is_named(tmp_path):
    (tmp_path / "cases").write_text("")
    with pytest.raises(KeptError, match=r"cannot be kept in .*Choose a folder"):
        keep(CASE, tmp_path / "cases")


@given(st.text(), st.text(), st.binary())
def test_an_id_is_stable_short_and_a_file_name(rule, case, body):
    made = kept_id(rule, case, body)
    assert made == kept_id(rule, case, body)
    assert ID_FORM.fullmatch(made)
    assert len(made) <= 51
    assert made != kept_id(rule, case + "x", body) != kept_id(rule, case, body + b"x")


def test_an_id_is_the_same_on_every_machine():
    assert kept_id("resume.once", "two at once", b"{}") == "resume.once-2e417e6465"


@given(
    st.text(),
    st.text(),
    st.binary(),
    st.none() | st.integers(),
    st.lists(st.tuples(st.text(), st.text())).map(tuple),
)
def test_any_case_comes_back(expected, seen, body, seed, headers):
    request = KeptRequest(method="POST", path="", headers=headers, body=body)
    case = replace(
        CASE, expected=expected, seen=seen, seed=seed, mode="fuzz", requests=(request,) * 2
    )
    assert from_document(json.loads(json.dumps(to_document(case)))) == case
