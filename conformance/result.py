"""
Verdicts, waived where the profile says so, put into a result document with its exit code.

Source: docs/verdicts.md, "Waivers" and "Exit codes".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from hostproof.conformance.rule import RULESET_VERSION
from hostproof.reports.document import (
    Actions,
    Exit,
    Fuzz,
    Reason,
    ResultDocument,
    RuleResult,
    Run,
    Source,
    Suite,
    Target,
    Waiver,
    summarise,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hostproof.conformance import profile_parts
    from hostproof.conformance.profile import Profile
    from hostproof.conformance.rule import Rule
    from hostproof.conformance.verdict import CaseFinding, RuleVerdict
    from hostproof.reports.document import FailOn, Verdict
    from hostproof.reports.finding import Finding

OK: Final = 0
FAILED: Final = 1
UNUSABLE: Final = 2
OUR_FAULT: Final = 3
INTERRUPTED: Final = 130

LEVELS: Final = ("guide", "should", "must")
SEVERITIES: Final = ("low", "medium", "high", "critical")


def counts(rule: Rule, fail_on: FailOn) -> bool:
    """Say whether a failure of *rule* counts for the exit code."""
    return (
        rule.level != "guide"
        and LEVELS.index(rule.level) >= LEVELS.index(fail_on.level)
        and SEVERITIES.index(rule.severity) >= SEVERITIES.index(fail_on.severity)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """How a run went, apart from its verdicts."""

    mode: str
    started: str
    seconds: float
    finished: bool
    seed: int
    requests: int
    kind: str
    target: str


def result_document(
    verdicts: Sequence[RuleVerdict],
    profile: Profile,
    facts: RunFacts,
    show: Callable[[str, Sequence[CaseFinding]], tuple[Finding, ...]],
    *,
    redact: Callable[[str], str],
    fuzz: Fuzz | None = None,
    tools: Sequence[str] | None = None,
    today: date | None = None,
) -> ResultDocument:
    """
    Put a run into a document.

    Args:
        verdicts: what the rules said, in catalogue order.
        profile: whose waivers and demands hold.
        facts: how the run went.
        show: makes the findings of a rule ready to be shown.
        redact: takes the callers' secrets out of a reason, which may hold a host's words.
        fuzz: what was fuzzed, if that was done.
        tools: the tool of each guarded action that ran; ``None`` where none was looked for.
        today: the day on which waivers must hold; the machine's by default.
    """
    day = today or date.today()
    waivers = {waiver.rule: waiver for waiver in profile.waivers}
    rules = tuple(
        _rule_result(verdict, waivers.get(verdict.rule.id), profile.fail_on, show, redact, day)
        for verdict in verdicts
    )
    return ResultDocument(
        suite=Suite(name="hostproof", version=version("hostproof"), ruleset=RULESET_VERSION),
        run=Run(
            mode="fuzz" if facts.mode == "fuzz" else "gate",
            started=facts.started,
            seconds=round(facts.seconds, 3),
            finished=facts.finished,
            seed=facts.seed,
            requests=facts.requests,
            fail_on=profile.fail_on,
        ),
        target=Target(
            kind=facts.kind, name=facts.target, profile=profile.name, ag_ui=profile.ag_ui
        ),
        sets=profile.sets,
        rules=rules,
        summary=summarise(rules),
        actions=actions_of(tools, shown=profile.shows_effects),
        fuzz=fuzz,
        exit=exit_of(rules, profile, finished=facts.finished),
    )


def actions_of(tools: Sequence[str] | None, *, shown: bool) -> Actions:
    """
    Count the guarded actions that a run triggered, by tool, as far as they were observed.

    Args:
        tools: of each that was seen; ``None`` where none was looked for.
        shown: whether the host shows what ran at all.
    """
    if tools is None:
        return Actions(triggered=0, note="")
    if not shown:
        return Actions(triggered=0, note="nothing shows what ran: declare effects")
    counted = sorted(Counter(tools).items())
    note = ", ".join(f"{tool} {count}" for tool, count in counted)
    return Actions(triggered=len(tools), note=note or "none was observed")


def _rule_result(
    verdict: RuleVerdict,
    waiver: profile_parts.Waiver | None,
    fail_on: FailOn,
    show: Callable[[str, Sequence[CaseFinding]], tuple[Finding, ...]],
    redact: Callable[[str], str],
    day: date,
) -> RuleResult:
    rule = verdict.rule
    holds = waiver is not None and (waiver.until is None or day <= waiver.until)
    stated: Verdict = verdict.verdict
    if holds and stated == "failed":
        stated = "waived"
    reason = (
        None
        if verdict.reason is None
        else Reason(code=verdict.reason[0], text=redact(verdict.reason[1]))
    )
    return RuleResult(
        id=rule.id,
        title=rule.title,
        demand=rule.demand,
        source=Source(document=rule.source.document, clause=rule.source.clause, url=None),
        sets=tuple(sorted(rule.sets)),
        level=rule.level,
        severity=rule.severity,
        cwe=rule.cwe,
        verdict=stated,
        counts=counts(rule, fail_on),
        reason=reason,
        waiver=_shown(waiver, stale=stated == "passed"),
        cases=verdict.cases,
        seconds=0.0,
        findings=show(rule.id, verdict.findings),
    )


def _shown(waiver: profile_parts.Waiver | None, *, stale: bool) -> Waiver | None:
    if waiver is None:
        return None
    return Waiver(
        kind=waiver.kind,
        why=waiver.why,
        until=None if waiver.until is None else waiver.until.isoformat(),
        clause=waiver.clause,
        stale=stale,
    )


def exit_of(rules: Sequence[RuleResult], profile: Profile, *, finished: bool) -> Exit:
    """Give the exit code and why: the first of the reasons that applies."""
    if not finished:
        return Exit(code=INTERRUPTED, why="interrupted; the results are partial")
    failed = [rule.id for rule in rules if rule.verdict == "failed" and rule.counts]
    if failed:
        return Exit(code=FAILED, why=f"failed: {_some(failed)}")
    judged = [rule for rule in rules if rule.verdict in ("passed", "failed")]
    if not judged:
        return Exit(code=UNUSABLE, why="nothing was judged")
    if len(judged) < profile.min_judged:
        why = f"{len(judged)} rules were judged, and the profile demands {profile.min_judged}"
        return Exit(code=UNUSABLE, why=why)
    unclear = [rule.id for rule in rules if rule.verdict == "inconclusive"]
    if unclear and not profile.allow_inconclusive:
        return Exit(code=UNUSABLE, why=f"inconclusive: {_some(unclear)}")
    counted = "one rule" if len(judged) == 1 else f"{len(judged)} rules"
    unseen = sum(rule.verdict == "not-judged" for rule in rules)
    rest = f"; {unseen} not judged" if unseen else ""
    return Exit(code=OK, why=f"{counted} judged, none failed that counts{rest}")


def _some(ids: Sequence[str], most: int = 5) -> str:
    more = len(ids) - most
    return ", ".join(ids[:most]) + (f" and {more} more" if more > 0 else "")
