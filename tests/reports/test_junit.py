"""The JUnit report: its structure, its counts, and that it is always XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given

from hostproof.reports.document import Exit, ResultDocument
from hostproof.reports.junit import junit_xml
from tests.reports.samples import HOSTILE, a_document, a_rule, documents, every_verdict, hostile

_read = partial(ET.fromstring)


def _parsed(document: ResultDocument) -> ET.Element:
    return _read(junit_xml(document))


def _case(root: ET.Element, name: str) -> ET.Element:
    case = root.find(f".//testcase[@name='{name}']")
    assert case is not None
    return case


def _message(case: ET.Element, tag: str) -> str:
    outcome = case.find(tag)
    assert outcome is not None
    return outcome.get("message", "")


def test_one_suite_a_set_and_one_case_a_rule() -> None:
    root = _parsed(every_verdict())
    assert root.tag == "testsuites"
    assert root.attrib == {
        "name": "hostproof",
        "tests": "10",
        "failures": "2",
        "errors": "2",
        "skipped": "4",
        "time": "12.340",
    }
    assert [suite.get("name") for suite in root] == ["safety", "ag-ui"]
    assert [suite.get("tests") for suite in root] == ["9", "1"]
    assert root[0].get("timestamp") == "2026-10-07T10:00:00Z"
    assert root[0].get("time") == "2.250"


def test_each_verdict_has_its_outcome() -> None:
    root = _parsed(every_verdict())
    failed = _case(root, "safety.one-run")
    assert failed.get("classname") == "hostproof.safety"
    assert _message(failed, "failure") == (
        "One yes, one run (must, critical): the action ran twice"
    )
    failure = failed.find("failure")
    assert failure is not None
    assert failure.text is not None
    lines = failure.text.splitlines()
    assert "expected: the action runs once" in lines
    assert "repeat: hostproof replay 0a1b2c" in lines
    assert 'body: {"resume":[{}]}' in lines
    guide = _case(root, "ag-ui.guide")
    assert _message(guide, "skipped").startswith("failed, but does not count")
    assert guide.find("failure") is None
    assert guide.find("system-out") is not None
    assert _message(_case(root, "safety.race"), "error").startswith("inconclusive: unsteady")
    assert _message(_case(root, "safety.foreign"), "skipped").startswith("not judged: no-effects")
    waived = _message(_case(root, "safety.replay"), "skipped")
    assert waived == "waived: the client owns the history"
    assert [child.tag for child in _case(root, "safety.good-run")] == ["properties"]


def test_a_case_names_its_rule_and_source() -> None:
    case = _case(_parsed(every_verdict()), "safety.stale")
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert properties == {
        "rule": "safety.stale",
        "title": "One yes, one run",
        "source": "Contract, Resume",
        "source.url": "https://example.org/c#resume",
        "sets": "safety",
        "level": "must",
        "severity": "critical",
        "cwe": "CWE-837",
        "verdict": "passed",
        "waiver.stale": "true",
    }


def test_a_green_run_is_green() -> None:
    root = _parsed(a_document(a_rule()))
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    assert len(root) == 1


@pytest.mark.parametrize("finished", [True, False])
def test_a_run_that_ended_badly_is_never_green(finished: bool) -> None:
    document = a_document(a_rule(), exit=Exit(code=2, why="nothing was judged"))
    root = _parsed(replace(document, run=replace(document.run, finished=finished)))
    assert root.get("errors") == "1"
    message = _message(_case(root, "finished"), "error")
    assert message.startswith("exit 2: nothing was judged")
    assert ("partial" in message) is not finished


def test_a_rule_of_no_claimed_set_keeps_its_own() -> None:
    root = _parsed(a_document(a_rule(sets=("named",))))
    assert [suite.get("name") for suite in root] == ["named"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_becomes_escapes(text: str) -> None:
    root = _parsed(hostile(text))
    for element in root.iter():
        assert all(value.isprintable() for value in element.attrib.values())
        assert all(line.isprintable() for line in (element.text or "").split("\n"))


@given(documents())
def test_the_report_is_deterministic_xml_whose_counts_are_right(document: ResultDocument) -> None:
    text = junit_xml(document)
    assert text == junit_xml(document)
    root = _read(text)
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert len(root.findall(f".//testcase/{tag}")) == int(root.get(name, ""))
    assert len(root.findall(".//testcase")) == int(root.get("tests", ""))
    is_bad = root.get("failures") != "0" or root.get("errors") != "0"
    assert is_bad or (document.run.finished and document.exit.code == 0)
