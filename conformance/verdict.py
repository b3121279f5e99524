"""
Judging: one rule over one recording, and the verdict that its cases make together.

Pure: recordings in, verdicts out.

Source: docs/verdicts.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from hostproof.conformance.case import all_cases
from hostproof.conformance.missing import named_facts_missing
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.rule import Breach, Rule, Unseen

if TYPE_CHECKING:
    from hostproof.conformance.profile import Profile
    from hostproof.conformance.recording import Recording

NO_CASE: Final = ("no-case", "no case of this release tries it")

Verdict = Literal["passed", "failed", "not-judged", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFinding:
    """
    A rule broken in one case.

    Attributes:
        case: the case's id.
        breach: what was expected and what was seen.
        recording: what happened.
        again: what happened when it was performed again.
        steady: whether it was broken again, or enough other cases of the rule were.
    """

    case: str
    breach: Breach
    recording: Recording
    again: Recording | None
    steady: bool

    @property
    def is_repeated(self) -> bool:
        """Whether the case could be performed again."""
        return self.again is not None and not self.again.unprepared


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleVerdict:
    """
    A rule judged.

    Attributes:
        rule: the rule.
        verdict: before any waiver.
        cases: how many cases it was judged in.
        reason: why it is not judged or inconclusive: a code and a sentence.
        findings: where it was broken, in case order.
    """

    rule: Rule
    verdict: Verdict
    cases: int
    reason: tuple[str, str] | None = None
    findings: tuple[CaseFinding, ...] = ()


def judged(rule: Rule, recording: Recording, profile: Profile) -> tuple[str, Breach | str | None]:
    """
    Judge one rule over one recording.

    Returns:
        ``passed``; ``failed`` with the breach; ``inconclusive`` or ``missing``
        with why.
    """
    if recording.missing:
        return "missing", recording.missing
    if recording.unprepared:
        ran = rule.judge(recording) if rule.on_unasked and recording.unasked else None
        return (
            ("failed", ran) if isinstance(ran, Breach) else ("inconclusive", recording.unprepared)
        )
    if rule.contractual:
        case = next((one for one in all_cases() if one.id == recording.case.id), None)
        missing = None if case is None else named_facts_missing(case, profile)
        if missing is not None:
            return "missing", missing
    if recording.control is not None and not rule.on_control:
        control = outcome_of(recording.control)
        if not isinstance(control, Accepted):
            return "inconclusive", f"the control run was {control.describe()}"
    found = rule.judge(recording)
    if recording.throttled and not (isinstance(found, Breach) and found.ran):
        return "inconclusive", "the host asked to slow down (429)"
    if isinstance(found, Unseen):
        return "missing", found.what
    return ("passed", None) if found is None else ("failed", found)


def summed(
    rule: Rule,
    passed: int,
    findings: list[CaseFinding],
    reasons: list[tuple[str, str]],
    missing: list[tuple[str, str]],
) -> RuleVerdict:
    """
    Make the verdict on a rule of what its cases say.

    Args:
        rule: the rule.
        passed: in how many cases it held.
        findings: where it was broken.
        reasons: why a case could not be tried.
        missing: what the profile lacks for a case.
    """
    cases = passed + len(findings)
    steady = [finding for finding in findings if finding.steady]
    if steady:
        return RuleVerdict(rule=rule, verdict="failed", cases=cases, findings=tuple(findings))
    if findings:
        reason = ("unsteady", "a failure that did not repeat")
        if not any(finding.is_repeated for finding in findings):
            reason = ("not-repeated", "a failure, and the run ended before it was repeated")
        return RuleVerdict(
            rule=rule,
            verdict="inconclusive",
            cases=cases,
            reason=reason,
            findings=tuple(findings),
        )
    if reasons:
        return RuleVerdict(rule=rule, verdict="inconclusive", cases=cases, reason=reasons[0])
    if passed:
        return RuleVerdict(rule=rule, verdict="passed", cases=cases)
    (reason, _), *_ = Counter(missing).most_common(1) or [(NO_CASE, 0)]
    return RuleVerdict(rule=rule, verdict="not-judged", cases=0, reason=reason)
