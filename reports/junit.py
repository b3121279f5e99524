"""
The report for CI servers: JUnit XML, one suite a rule set, one case a rule.

A rule that failed and counts is a failure; an inconclusive one is an error; one
that was not judged, was waived, or failed without counting is skipped, with the
reason. If the run ended badly and no rule shows it (interrupted, nothing
judged), a case of its own does, so a report is green only if the exit code is 0.

The same document always gives the same bytes.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Final

from hostproof.reports.printable import clipped, printable, printable_lines

if TYPE_CHECKING:
    from hostproof.reports.document import ResultDocument, RuleResult
    from hostproof.reports.finding import Finding

_TEXT: Final = 20_000  # characters of a finding's longer texts
_MESSAGE: Final = 500  # characters of a message


def junit_xml(document: ResultDocument) -> bytes:
    """Write *document* as JUnit XML, in UTF-8."""
    suites = [_suite(document, name, rules) for name, rules in _by_set(document).items()]
    if _hides_its_end(document, suites):
        suites.append(_end(document))
    root = ET.Element("testsuites", name=_clean(document.suite.name))
    _count(root, suites)
    root.set("time", f"{document.run.seconds:.3f}")
    root.extend(suites)
    ET.indent(root)
    text: str = ET.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _by_set(document: ResultDocument) -> dict[str, list[RuleResult]]:
    """Put each rule in one set: the first claimed one that it counts in, else its first."""
    groups: dict[str, list[RuleResult]] = {name: [] for name in document.sets}
    for rule in document.rules:
        claimed = [name for name in document.sets if name in rule.sets]
        groups.setdefault((claimed or rule.sets)[0], []).append(rule)
    return {name: rules for name, rules in groups.items() if rules}


def _suite(document: ResultDocument, name: str, rules: list[RuleResult]) -> ET.Element:
    suite = ET.Element("testsuite", name=_clean(name), timestamp=document.run.started)
    cases = [_case(document, name, rule) for rule in rules]
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(_children(cases, "failure")))
    suite.set("errors", str(_children(cases, "error")))
    suite.set("skipped", str(_children(cases, "skipped")))
    suite.set("time", f"{sum(rule.seconds for rule in rules):.3f}")
    _properties(suite, _run_properties(document))
    suite.extend(cases)
    return suite


def _run_properties(document: ResultDocument) -> dict[str, str]:
    run, target = document.run, document.target
    return {
        "target": target.name,
        "target.kind": target.kind,
        "profile": target.profile or "",
        "suite.version": document.suite.version,
        "ruleset": document.suite.ruleset,
        "mode": run.mode,
        "seed": "" if run.seed is None else str(run.seed),
        "finished": "true" if run.finished else "false",
        "exit": f"{document.exit.code}: {document.exit.why}",
    }


def _case(document: ResultDocument, suite: str, rule: RuleResult) -> ET.Element:
    case = ET.Element(
        "testcase",
        classname=_clean(f"{document.suite.name}.{suite}"),
        name=_clean(rule.id),
        time=f"{rule.seconds:.3f}",
    )
    _properties(case, _rule_properties(rule))
    text = "\n\n".join(_finding(document, finding) for finding in rule.findings)
    if rule.verdict == "failed" and rule.counts:
        _outcome(case, "failure", _broken(rule), f"{rule.demand}\n\n{text}")
    elif rule.verdict == "failed":
        _outcome(case, "skipped", f"failed, but does not count: {_broken(rule)}")
        _text(case, "system-out", text)
    elif rule.verdict == "inconclusive":
        _outcome(case, "error", f"inconclusive: {_reason(rule)}", text)
    elif rule.verdict == "not-judged":
        _outcome(case, "skipped", f"not judged: {_reason(rule)}")
    elif rule.verdict == "waived":
        _outcome(case, "skipped", f"waived: {rule.waiver.why if rule.waiver else ''}")
    return case


def _rule_properties(rule: RuleResult) -> dict[str, str]:
    source = rule.source
    properties = {
        "rule": rule.id,
        "title": rule.title,
        "source": f"{source.document}, {source.clause}",
        "source.url": source.url or "",
        "sets": ", ".join(rule.sets),
        "level": rule.level,
        "severity": rule.severity,
        "cwe": f"CWE-{rule.cwe}" if rule.cwe is not None else "",
        "verdict": rule.verdict,
        "waiver.stale": "true" if rule.waiver and rule.waiver.stale else "",
    }
    return {name: value for name, value in properties.items() if value}


def _broken(rule: RuleResult) -> str:
    seen = f": {rule.findings[0].seen}" if rule.findings else ""
    return f"{rule.title} ({rule.level}, {rule.severity}){seen}"


def _reason(rule: RuleResult) -> str:
    return f"{rule.reason.code}: {rule.reason.text}" if rule.reason else "no reason given"


def _finding(document: ResultDocument, finding: Finding) -> str:
    lines = {
        "case": finding.case,
        "expected": finding.expected,
        "seen": finding.seen,
        "place": finding.place,
        "note": finding.note,
        "body": finding.body and clipped(finding.body.data, _TEXT),
        "curl": finding.curl and clipped(finding.curl, _TEXT),
        "repeat": f"{document.suite.name} replay {finding.replay}",
        "steady": None if finding.steady else "no, the failure did not repeat",
    }
    return "\n".join(f"{label}: {text}" for label, text in lines.items() if text)


def _hides_its_end(document: ResultDocument, suites: list[ET.Element]) -> bool:
    shown = any(case.find(tag) is not None for suite in suites for case in suite for tag in _BAD)
    return not document.run.finished or (document.exit.code != 0 and not shown)


_BAD: Final = ("failure", "error")


def _end(document: ResultDocument) -> ET.Element:
    """Make a suite with one case, which says how the run ended."""
    name = f"{document.suite.name}.run"
    suite = ET.Element("testsuite", name=_clean(name), timestamp=document.run.started)
    suite.attrib.update({"tests": "1", "failures": "0", "errors": "1", "skipped": "0"})
    suite.set("time", "0.000")
    case = ET.SubElement(suite, "testcase", classname=_clean(name), name="finished", time="0.000")
    partial = "" if document.run.finished else "; the results are partial"
    _outcome(case, "error", f"exit {document.exit.code}: {document.exit.why}{partial}")
    return suite


def _outcome(case: ET.Element, tag: str, message: str, text: str = "") -> None:
    outcome = ET.SubElement(case, tag, message=_clean(clipped(message, _MESSAGE)))
    if tag != "skipped":
        outcome.set("type", tag if tag == "failure" else "inconclusive")
    if text:
        outcome.text = _clean_lines(text)


def _text(parent: ET.Element, tag: str, text: str) -> None:
    ET.SubElement(parent, tag).text = _clean_lines(text)


def _properties(parent: ET.Element, values: dict[str, str]) -> None:
    element = ET.SubElement(parent, "properties")
    for name, value in values.items():
        ET.SubElement(element, "property", name=name, value=_clean(value))


def _children(cases: list[ET.Element], tag: str) -> int:
    return sum(case.find(tag) is not None for case in cases)


def _count(root: ET.Element, suites: list[ET.Element]) -> None:
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))


def _clean(text: str) -> str:
    """Write what XML cannot hold, and what a log should not show, as escapes."""
    return printable(text)


def _clean_lines(text: str) -> str:
    return "\n".join(printable_lines(text))
