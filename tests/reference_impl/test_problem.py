"""Refusals as problem documents: the same members on both ways, and nothing else."""

from __future__ import annotations

import json

import pytest

from hostproof.reference_impl.agui_events import failed, refused
from hostproof.reference_impl.problem import problem_document, problem_members, problem_status
from hostproof.reference_impl.refusals import Refusal, catalogue, refuse


def written(refusal):
    text = problem_document(refusal)
    assert text.isascii()
    return json.loads(text)


def test_every_code_of_the_catalogue_makes_a_document():
    for entry in catalogue().values():
        document = written(refuse(entry.code, "It is not allowed.", field="a[0].b"))
        assert document == {
            "type": "about:blank",
            "title": entry.meaning,
            "status": entry.status,
            "detail": "It is not allowed.",
            "code": entry.code,
            "field": "a[0].b",
        }


def test_members_are_shown_where_they_apply():
    full = Refusal("ERR_X", 409, "No.", field="f", reason="stale", members={"gate": "g"})
    assert problem_members(full) == {"field": "f", "reason": "stale", "gate": "g"}
    assert problem_members(Refusal("ERR_X", 409, "No.")) == {}
    document = written(full)
    assert (document["reason"], document["gate"]) == ("stale", "g")
    assert document["title"] == "The application refused the request."


@pytest.mark.parametrize(
    ("status", "shown"), [(400, 400), (499, 499), (None, 400), (200, 400), (500, 400), (302, 400)]
)
def test_an_applications_refusal_is_never_a_success_nor_a_fault_of_the_server(status, shown):
    refusal = Refusal("MINE", status, "No.")
    assert problem_status(refusal) == shown
    assert written(refusal)["status"] == shown


def test_a_refusal_in_the_stream_carries_the_same():
    refusal = Refusal("ERR_X", 409, "No.", field="f", reason="stale", members={"gate": "g"})
    event = refused(refusal).model_dump(mode="json", by_alias=True, exclude_none=True)
    assert (event["type"], event["code"], event["message"]) == ("RUN_ERROR", "ERR_X", "No.")
    assert event["metadata"] == {"hostproof": problem_members(refusal)}
    bare = refused(Refusal(None, None, "No.")).model_dump(by_alias=True, exclude_none=True)
    assert "metadata" not in bare
    assert "code" not in bare


def test_a_failure_names_its_incident_and_nothing_else():
    event = failed("incident-1").model_dump(mode="json", by_alias=True, exclude_none=True)
    assert event["metadata"] == {"hostproof": {"incident": "incident-1"}}
    assert "code" not in event
