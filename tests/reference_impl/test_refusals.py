"""The catalogue of refusals, and that the code names only what is in it."""

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from hostproof.reference_impl.refusals import Refusal, catalogue, catalogue_schema, refuse
from tests.golden import AREAS, area

PACKAGE = Path(str(files("hostproof.reference_impl")))
DOCUMENT = json.loads((PACKAGE / "refusals.json").read_text())


def test_the_catalogue_keeps_its_own_schema():
    jsonschema.Draft202012Validator.check_schema(catalogue_schema())
    jsonschema.Draft202012Validator(catalogue_schema()).validate(DOCUMENT)


@pytest.mark.parametrize(
    "change",
    [
        {"status": 200},
        {"code": "err_lower"},
        {"meaning": "no capital, no stop"},
        {"decided": "later"},
        {"source": "somewhere"},
        {"reasons": {}},
        {"extra": 1},
    ],
    ids=str,
)
def test_the_schema_refuses_a_wrong_row(change):
    rows = [{**DOCUMENT["refusals"][0], **change}, *DOCUMENT["refusals"][1:]]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**DOCUMENT, "refusals": rows}, catalogue_schema())


def test_no_code_stands_there_twice():
    codes = [row["code"] for row in DOCUMENT["refusals"]]

    assert len(codes) == len(set(codes)) == len(catalogue()) == 26


def test_every_code_of_the_vectors_is_in_the_catalogue_with_its_status():
    seen = {
        (refused["code"], refused["status"])
        for name in AREAS
        for vector in area(name)
        if (refused := vector.expect.get("refused")) and refused["code"] is not None
    }

    ours = {(code, entry.status) for code, entry in catalogue().items()}
    apps = {pair for pair in seen if pair[0].startswith("ERR_APP_")}
    assert seen - apps <= ours


def test_every_code_the_source_names_is_in_the_catalogue():
    root = PACKAGE.parent
    named = {
        code
        for folder in ("reference_impl", "strategies", "conformance", "reports")
        for path in (root / folder).rglob("*.py")
        for code in re.findall(r"\bERR_[A-Z_]+[A-Z]\b", path.read_text())
    }

    assert named - {"ERR_APP"} <= set(catalogue())


def test_a_refusal_outside_the_catalogue_is_a_mistake_of_ours():
    with pytest.raises(KeyError):
        refuse("ERR_NOTHING", "No.")
    with pytest.raises(KeyError):
        refuse("ERR_RESUME_DECISION", "No.", reason="because")


def test_a_refusal_carries_its_facts_apart():
    refusal = refuse(
        "ERR_RESUME_DECISION", "No.", reason="other-request", members={"gate": "checkIn"}
    )

    assert isinstance(refusal, Refusal)
    assert (refusal.status, refusal.reason, refusal.message) == (409, "other-request", "No.")
    assert dict(refusal.members) == {"gate": "checkIn"}
