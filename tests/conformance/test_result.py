"""Verdicts put into a document: waivers, what counts, and the exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import get_args

import pytest

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.profile import default_profile
from hostproof.conformance.profile_parts import Waiver
from hostproof.conformance.result import RunFacts, actions_of, counts, result_document
from hostproof.conformance.rule import Breach, Severity
from hostproof.conformance.verdict import CaseFinding, RuleVerdict
from hostproof.reports.document import FailOn
from hostproof.reports.reading import read_document
from tests.conformance.recorded import problem, recording
from tests.reports.samples import a_finding

RULES = all_rules()
DAY = date(2026, 6, 15)
FACTS = RunFacts(
    mode="gate",
    started="2026-06-15T10:00:00Z",
    seconds=1.23456,
    finished=True,
    seed=7,
    requests=12,
    kind="http",
    target="http://127.0.0.1:8000/agui",
)
FOUND = CaseFinding(
    case="thread-id-missing",
    breach=Breach(expected="a", seen="b"),
    recording=recording(problem()),
    again=None,
    steady=True,
)


def verdict(rule_id="reader.thread-id", stated="passed", reason=None, **members):
    rule = replace(RULES[rule_id], **members)
    found = (FOUND,) if stated == "failed" else ()
    if reason is None and stated in ("not-judged", "inconclusive"):
        reason = ("some-reason", "it could not be")
    return RuleVerdict(rule=rule, verdict=stated, cases=3, reason=reason, findings=found)


def document(*verdicts, finished=True, redact=str, **members):
    profile = replace(default_profile(), **members)
    made = result_document(
        verdicts,
        profile,
        replace(FACTS, finished=finished),
        lambda rule, found: tuple(a_finding(case=one.case) for one in found),
        redact=redact,
        today=DAY,
    )
    assert read_document(json.loads(made.to_text())) == made
    return made


def waiver(kind="known", until=None, rule="reader.thread-id", **members):
    return Waiver(rule=rule, kind=kind, why="reported", until=until, **members)


def test_a_run_is_described():
    made = document(verdict(), verdict("live.good-run", "failed"))
    assert made.run.seconds == 1.235
    assert made.target.name == FACTS.target
    assert made.summary.passed == made.summary.failed == 1
    assert [rule.id for rule in made.rules] == ["reader.thread-id", "live.good-run"]
    assert made.rules[1].findings
    assert made.exit.code == 1


# Exit codes, the first that applies.

GOOD, BAD = verdict(), verdict("live.good-run", "failed")
UNSURE, UNSEEN = verdict("live.answers", "inconclusive"), verdict("host.size", "not-judged")
GUIDE = verdict("leak.amplification", "failed")
CODES = {
    "all is well": ((GOOD,), {}, 0, "none failed that counts"),
    "one is not judged": ((GOOD, UNSEEN), {}, 0, "one rule judged"),
    "interrupted before all else": ((BAD, UNSURE), {"finished": False}, 130, "interrupted"),
    "failed before inconclusive": ((GOOD, BAD, UNSURE), {}, 1, "failed: live.good-run"),
    "failed before too few": ((BAD,), {"min_judged": 9}, 1, "failed"),
    "nothing at all": ((), {}, 2, "nothing was judged"),
    "nothing judged": ((UNSEEN,), {}, 2, "nothing was judged"),
    "only inconclusive": ((UNSURE,), {"allow_inconclusive": True}, 2, "nothing was judged"),
    "too few": ((GOOD,), {"min_judged": 2}, 2, "1 rules were judged, and the profile demands 2"),
    "just enough": ((GOOD, GUIDE), {"min_judged": 2}, 0, "2 rules judged"),
    "inconclusive": ((GOOD, UNSURE), {}, 2, "inconclusive: live.answers"),
    "inconclusive allowed": ((GOOD, UNSURE), {"allow_inconclusive": True}, 0, "one rule judged"),
    "a guide never fails": ((GUIDE,), {}, 0, "none failed that counts"),
    "too low to count": ((verdict("leak.body", "failed"),), {}, 0, "none failed that counts"),
    "low counts where it is asked to": (
        (verdict("leak.body", "failed"),),
        {"fail_on": FailOn(level="must", severity="low")},
        1,
        "failed: leak.body",
    ),
}


@pytest.mark.parametrize(("verdicts", "members", "code", "why"), CODES.values(), ids=CODES)
def test_the_exit_code(verdicts, members, code, why):
    found = document(*verdicts, **members).exit
    assert found.code == code
    assert why in found.why


def test_many_failures_are_counted_not_listed():
    failed = [verdict(rule_id, "failed") for rule_id in RULES if rule_id.startswith("reader.")]
    why = document(*failed).exit.why
    assert f"and {len(failed) - 5} more" in why


@pytest.mark.parametrize("level", ["must", "should", "guide"])
@pytest.mark.parametrize("severity", get_args(Severity))
def test_what_counts(level, severity):
    rule = replace(RULES["reader.thread-id"], level=level, severity=severity)
    order = get_args(Severity)
    for least in order:
        wanted = order.index(severity) >= order.index(least)
        assert counts(rule, FailOn(level="must", severity=least)) == (wanted and level == "must")
        assert counts(rule, FailOn(level="should", severity=least)) == (
            wanted and level in ("must", "should")
        )


# Waivers.

WAIVED = {
    "until later": (waiver(until=date(2026, 12, 31)), "waived", 2),
    "until today": (waiver(until=DAY), "waived", 2),
    "until yesterday": (waiver(until=date(2026, 6, 14)), "failed", 1),
    "by design": (waiver("by-design", clause="History"), "waived", 2),
    "another rule's": (waiver("by-design", rule="reader.run-id"), "failed", 1),
}


@pytest.mark.parametrize(("given", "stated", "code"), WAIVED.values(), ids=WAIVED)
def test_a_waived_failure(given, stated, code):
    made = document(verdict(stated="failed"), waivers=(given,))
    (rule,) = made.rules
    assert rule.verdict == stated
    assert made.exit.code == code
    assert rule.findings
    if given.rule == rule.id:
        assert rule.waiver is not None
        assert not rule.waiver.stale
        assert (rule.waiver.kind, rule.waiver.clause) == (given.kind, given.clause)
    else:
        assert rule.waiver is None


def test_a_waived_failure_beside_a_rule_that_passes_ends_well():
    given = waiver("by-design", rule="live.good-run")
    made = document(GOOD, BAD, waivers=(given,))
    assert made.exit.code == 0
    assert made.summary.waived == 1


@pytest.mark.parametrize("until", [date(2026, 12, 31), date(2020, 1, 1)])
def test_a_waiver_whose_rule_passes_is_stale_and_changes_no_exit_code(until):
    made = document(GOOD, waivers=(waiver(until=until),))
    (rule,) = made.rules
    assert (rule.verdict, made.exit.code) == ("passed", 0)
    assert rule.waiver is not None
    assert rule.waiver.stale
    assert rule.waiver.until == until.isoformat()


def test_what_could_not_be_tried_is_not_waived():
    made = document(UNSURE, waivers=(waiver("by-design", rule="live.answers"),))
    assert made.rules[0].verdict == "inconclusive"
    assert made.rules[0].waiver is not None
    assert not made.rules[0].waiver.stale


# What a host says is shown without secrets.


def test_a_reason_is_shown_without_secrets():
    unsure = verdict(stated="inconclusive", reason=("control-failed", "it said t0ken-of-alice"))
    made = document(unsure, redact=lambda text: text.replace("t0ken-of-alice", "[caller alice]"))
    assert made.rules[0].reason is not None
    assert made.rules[0].reason.text == "it said [caller alice]"


def test_actions_are_counted_by_tool():
    assert actions_of(["pay", "wipe", "pay"], shown=True).triggered == 3
    assert actions_of(["pay", "wipe", "pay"], shown=True).note == "pay 2, wipe 1"
    assert actions_of([], shown=True).triggered == 0
    assert "declare effects" in actions_of([], shown=False).note
    assert actions_of(None, shown=True).note == ""
