"""What a fuzz run found, as verdicts: the same findings, reports and kept cases as the gate's."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from hostproof.conformance.case import all_cases
from hostproof.conformance.recording import Facts, Owed, Recording
from hostproof.conformance.verdict import CaseFinding, RuleVerdict
from hostproof.reference_impl.refusals import catalogue
from hostproof.reports.document import CodeCount, Fuzz

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.fuzz_result import FuzzFinding, FuzzResult
    from hostproof.conformance.rule import Rule


def fuzz_verdicts(result: FuzzResult, rules: Sequence[Rule]) -> list[RuleVerdict]:
    """Give a verdict for each rule that drawn bodies are judged by, in the rules' order."""
    return [_verdict(rule, result) for rule in rules if _is_drawn_for(rule)]


def _is_drawn_for(rule: Rule) -> bool:
    """Say whether a rule judges changed requests; those on runs and answers are the gate's."""
    return bool(rule.sets & {"safety", "named"}) and any(
        rule.applies(case.facts()) for case in all_cases() if case.kind in ("body", "wire")
    )


def _verdict(rule: Rule, result: FuzzResult) -> RuleVerdict:
    cases = result.judged.get(rule.id, 0)
    found = [_finding(one) for one in result.findings if one.rule == rule.id]
    if any(one.steady for one in found):
        return RuleVerdict(rule=rule, verdict="failed", cases=cases, findings=tuple(found))
    if found:
        reason = ("unsteady", "a failure that did not repeat")
        return RuleVerdict(
            rule=rule,
            verdict="inconclusive",
            cases=cases,
            reason=reason,
            findings=tuple(found),
        )
    if not cases:
        reason = ("no-case", "no body that was sent is judged by it: send more")
        return RuleVerdict(rule=rule, verdict="not-judged", cases=0, reason=reason)
    return RuleVerdict(rule=rule, verdict="passed", cases=cases)


def _finding(found: FuzzFinding) -> CaseFinding:
    name = f"drawn-{hashlib.sha256(found.request.body).hexdigest()[:10]}"
    facts = Facts(
        id=name,
        area=found.case.area or found.case.kind,
        kind="body",
        situation=found.case.situation,
        endpoint=found.case.endpoint,
        owed=found.owed or Owed(code=None, status=200),
        canary="",
    )
    before = () if found.before is None else (found.before,)
    recording = Recording(case=facts, others=before, changed=(found.exchange,))
    return CaseFinding(
        case=name, breach=found.breach, recording=recording, again=None, steady=found.steady
    )


def fuzz_counts(result: FuzzResult, *, is_named: bool) -> Fuzz:
    """Give the counts for the result document; codes are owed by hosts that claim the contract."""
    return Fuzz(
        bodies=result.bodies,
        accepted=result.accepted,
        per_code=tuple(
            CodeCount(code=code, owed=result.owed.get(code, 0), seen=result.seen.get(code, 0))
            for code in catalogue()
            if is_named and (result.owed.get(code) or result.seen.get(code))
        ),
    )
