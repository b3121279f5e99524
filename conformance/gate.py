"""
The gate: every case once, in order, and every rule judged over what was recorded.

A failure must repeat: the case is performed again on threads of its own, and
what does not fail again is unsteady. What the profile does not offer is not
judged, with what to declare; what could not be tried is inconclusive.

Source: docs/verdicts.md.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from hostproof.conformance.answer_scenario import AnswerScenario
from hostproof.conformance.case import Case, all_cases
from hostproof.conformance.host_under_test import (
    GONE,
    BudgetSpentError,
    HostGoneError,
    HostUnderTest,
    noting_waits,
)
from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.missing import missing_for
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.recording import Recording
from hostproof.conformance.rule import Breach, Rule
from hostproof.conformance.scenario import Scenario
from hostproof.conformance.shared_scenario import SharedScenario
from hostproof.conformance.verdict import CaseFinding, RuleVerdict, judged, summed
from hostproof.strategies.shared_threads import SharedThread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from hostproof.conformance.recording import Facts

PLAIN_RUN: Final = "plain-run"
MOST_REPEATED: Final = 10
"""Cases of one rule that are performed again, and findings of it that are kept and shown."""


class Progress(Protocol):
    """Is told how far a run is."""

    def __call__(self, done: int, total: int, case: str, /) -> None:
        """Hear that *done* of *total* cases are performed; *case* is the newest."""


def silent(_done: int, _total: int, _case: str, /) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Gate:
    """
    One run of the gate; what is recorded stays, so that an interrupted run can be judged.

    Attributes:
        host: the host under test.
        rules: the rules to judge, in order.
        seed: makes every id, nonce and canary of the run.
        recordings: what was recorded so far, by case.
        repeated: what was recorded again, by case.
        skipped: why a case was not performed, by case.
        cases: those that some rule needs, in order; the plain run is always one.
        facts: what rules know of them beforehand, by case.
    """

    host: HostUnderTest
    rules: Sequence[Rule]
    seed: str
    progress: Progress = silent
    only: frozenset[str] = frozenset()
    recordings: dict[str, Recording] = field(default_factory=dict)
    repeated: dict[str, Recording] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    cases: list[Case] = field(init=False, default_factory=list)
    facts: dict[str, Facts] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for case in all_cases():
            facts = case.facts()
            is_wanted = (not self.only or case.id in self.only) and any(
                rule.applies(facts) for rule in self.rules
            )
            if is_wanted or case.id == PLAIN_RUN:
                self.cases.append(case)
                self.facts[case.id] = facts

    async def perform(self) -> None:
        """
        Perform every case, then again those in which a rule was broken.

        Those that restart the host come when all else is done: it may not come back.
        """
        plain, *rest = cases = self.cases
        self.recordings[plain.id] = await self._one(plain, "first")
        self.progress(1, len(cases), plain.id)
        if not self.plain_run_is_good:
            await self._again([plain])
            return
        wanted = [case for case in rest if not self._is_skipped(case)]
        for is_alone in (False, True):
            await self._all([case for case in wanted if case.is_alone is is_alone], len(cases))
            await self._again(self._to_repeat())

    @property
    def plain_run_is_good(self) -> bool:
        """Whether the plain run was accepted; without it nothing else can be judged."""
        recording = self.recordings.get(PLAIN_RUN)
        return recording is not None and all(
            isinstance(outcome_of(exchange), Accepted) for exchange in recording.changed
        )

    def _is_skipped(self, case: Case) -> bool:
        missing = missing_for(case, self.host.profile)
        if missing is None and self.host.spare and _needs_leave(case):
            missing = "leave for floods and races off this machine: give --aggressive"
        if missing is not None:
            self.skipped[case.id] = missing
        return missing is not None

    def _to_repeat(self) -> list[Case]:
        """Choose those to perform again now: the first that broke each rule, as many as kept."""
        broken: Counter[str] = Counter()
        chosen = []
        for case in self.cases:
            recording = self.recordings.get(case.id)
            named = self._broken_in(recording) if recording is not None else []
            broken.update(named)
            is_kept = any(broken[name] <= MOST_REPEATED for name in named)
            if is_kept and case.id not in self.repeated:
                chosen.append(case)
        return chosen

    def _broken_in(self, recording: Recording) -> list[str]:
        return [
            rule.id
            for rule in self.rules
            if rule.applies(recording.case)
            and judged(rule, recording, self.host.profile)[0] == "failed"
        ]

    async def _all(self, cases: Sequence[Case], total: int) -> None:
        done = len(self.recordings) + len(self.skipped)

        async def perform(case: Case) -> None:
            nonlocal done
            self.recordings[case.id] = await self._one(case, "first")
            done += 1
            self.progress(done, total, case.id)

        await self._side_by_side(perform, cases)

    async def _again(self, cases: Sequence[Case]) -> None:
        async def repeat(case: Case) -> None:
            self.repeated[case.id] = await self._one(case, "again")

        await self._side_by_side(repeat, cases)

    async def _side_by_side(
        self, perform: Callable[[Case], Awaitable[None]], cases: Sequence[Case]
    ) -> None:
        """
        Perform cases, so many at a time as the profile allows, and then those that must be alone.

        The first error is raised.
        """
        turn = asyncio.Semaphore(self.host.profile.limits.concurrency)

        async def one(case: Case) -> None:
            async with turn:
                await perform(case)

        try:
            async with asyncio.TaskGroup() as group:
                for case in cases:
                    if not case.is_alone:
                        group.create_task(one(case))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        for case in cases:
            if case.is_alone:
                await perform(case)

    async def _one(self, case: Case, attempt: str) -> Recording:
        if self.host.is_gone:
            return Recording(case=case.facts(), unprepared=GONE)
        ids = Identifiers(f"{self.seed}/{attempt}")
        try:
            return await performed(self.host, case, ids)
        except (BudgetSpentError, HostGoneError) as error:
            return Recording(case=case.facts(), unprepared=str(error))

    def tools_run(self) -> list[str]:
        """Name the tool of every guarded action that the run has triggered, as observed."""
        performed = [*self.recordings.values(), *self.repeated.values()]
        rows = [*(self.host.yes_rows or ())]
        for one in performed:
            rows += one.ran
            if one.seen is not None:
                rows += [*one.seen.control, *one.seen.ended]
        return [str(row.get("tool") or "unnamed") for row in rows]

    def verdicts(self) -> list[RuleVerdict]:
        """Judge every rule over what was recorded."""
        return [self._verdict(rule) for rule in self.rules]

    def _verdict(self, rule: Rule) -> RuleVerdict:
        facts_missing = self._set_missing(rule)
        if facts_missing is not None:
            return RuleVerdict(rule=rule, verdict="not-judged", cases=0, reason=facts_missing)
        findings: list[CaseFinding] = []
        reasons: list[tuple[str, str]] = []
        missing: list[tuple[str, str]] = []
        passed = 0
        for case in self.cases:
            if not rule.applies(self.facts[case.id]) or (self.only and case.id not in self.only):
                continue
            if case.id in self.skipped:
                missing.append(("not-declared", f"needs {self.skipped[case.id]}"))
                continue
            recording = self.recordings.get(case.id)
            if recording is None:
                reasons.append(self._unperformed())
                continue
            state, found = judged(rule, recording, self.host.profile)
            if state == "passed":
                passed += 1
            elif state == "missing":
                missing.append(("not-declared", f"needs {found}"))
            elif state == "inconclusive":
                reasons.append(("control-failed", str(found)))
            elif isinstance(found, Breach):
                findings.append(self._finding(rule, case, found, recording))
        return summed(rule, passed, findings, reasons, missing)

    def _finding(self, rule: Rule, case: Case, breach: Breach, recording: Recording) -> CaseFinding:
        again = self.repeated.get(case.id)
        steady = again is not None and judged(rule, again, self.host.profile)[0] == "failed"
        return CaseFinding(
            case=case.id, breach=breach, recording=recording, again=again, steady=steady
        )

    def _unperformed(self) -> tuple[str, str]:
        if self.recordings and not self.plain_run_is_good:
            return ("plain-run-failed", "the plain run failed, and everything builds on it")
        return ("interrupted", "the run was interrupted before its turn")

    def _set_missing(self, rule: Rule) -> tuple[str, str] | None:
        if "ag-ui" not in rule.sets or self.host.profile.ag_ui is not None:
            return None
        recording = self.recordings.get(PLAIN_RUN)
        declared = recording is not None and any(
            event.type == "RUN_STARTED" and "protocolVersion" in event.value
            for exchange in recording.changed
            for event in exchange.events
        )
        if declared or recording is None:
            return None
        return (
            "no-protocol-version",
            "the host declares no protocolVersion: claim one with ag_ui in the profile",
        )


async def performed(host: HostUnderTest, case: Case, ids: Identifiers) -> Recording:
    """
    Perform one case.

    Raises:
        BudgetSpentError: the profile's number of requests is used up.
        HostGoneError: the host did not come back after a restart.
    """
    scenario: AnswerScenario | SharedScenario | Scenario
    if case.kind == "answer":
        scenario = AnswerScenario(host, case, ids)
    elif isinstance(case.change, SharedThread):
        scenario = SharedScenario(host, case, ids)
    else:
        scenario = Scenario(host, case, ids)
    with noting_waits() as waits:
        recording = await scenario.perform()
    return replace(recording, throttled=waits.count > 0)


def _needs_leave(case: Case) -> bool:
    """Say whether a case floods its host, or sends requests so that they meet."""
    return any(getattr(case.change, name, False) for name in ("aggressive", "at_once"))
