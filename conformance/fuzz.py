"""
The fuzz engine: drawn bodies, sent to the host and judged, each failure made small.

Bodies are drawn by Hypothesis in batches, so that memory stays flat and a time
budget can end a run. The first failure of a kind is shrunk; then the run goes
on for others. What a body owes is known by construction where it has one
change, and else from the reference; so every body is judged exactly on a host
that claims the contract, and by the safety rules on any host.

Source: docs/verdicts.md, "Fuzzing".
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from hostproof.conformance.conversation import UnpreparedError
from hostproof.conformance.fuzz_judging import (
    key_of,
)
from hostproof.conformance.fuzz_result import FuzzFinding, FuzzResult, Tally
from hostproof.conformance.fuzz_sending import Sender
from hostproof.conformance.fuzz_tables import Tables
from hostproof.conformance.gate import silent
from hostproof.conformance.host_under_test import BudgetSpentError
from hostproof.conformance.outcome import Broken as BrokenOutcome
from hostproof.conformance.outcome import outcome_of
from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from hostproof.conformance.fuzz_judging import Broken, Key
    from hostproof.conformance.fuzz_result import StopReason
    from hostproof.conformance.fuzz_sending import Sent
    from hostproof.conformance.gate import Progress
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.conformance.rule import Rule
    from hostproof.strategies.drawn import DrawnCase

DEFAULT_BODIES: Final = 10_000
BATCH: Final = 500
"""Bodies drawn at once: few enough for flat memory, enough to learn from."""

MOST_FINDINGS: Final = 5
"""How many findings of one rule are looked for by default."""

SHRINK_CALLS: Final = 2_000
SHRINK_SECONDS: Final = 30.0
"""How much is spent on making one finding small."""

AFTER_EVERY: Final = 12
"""Of so many refused bodies one is followed by a good request on the same thread."""

PAUSE_SURVIVES: Final = "live.pause-survives"
"""The rule that explains why a thread was spoiled for the next request."""

PROGRESS_EVERY: Final = 25
MOST_UNPREPARED: Final = 2
MOST_UNREACHABLE: Final = 5


class _Stop(BaseException):
    """Ends the run."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason: StopReason = reason


class _Misuse(BaseException):
    """Carries a mistake of wiring through Hypothesis."""


class _FoundError(Exception):
    """A body broke a rule, in a way that is not known yet."""


@dataclass(slots=True)
class _Hunt:
    """A failure that is being made small: its key, and the smallest finding so far."""

    key: Key
    finding: FuzzFinding
    until: float
    calls: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether enough was spent on it."""
        return self.calls > SHRINK_CALLS or time.monotonic() > self.until


class Fuzz:
    """
    One fuzz run.

    Args:
        host: the host under test.
        rules: the rules to judge; those of the sets ``safety`` and ``named`` apply.
        ids: makes the ids, nonces and canaries.
        seed: what every draw comes from.
        bodies: how many to send, or ``None`` for as many as there is time.
        seconds: for how long, or ``None`` for as long as it takes.
        aggressive: whether very large bodies may be sent.
        most_findings: how many findings of one rule are looked for.
        progress: is told how far it is.

    Raises:
        ValueError: there is neither a number nor a time to end it.
    """

    def __init__(
        self,
        host: HostUnderTest,
        rules: Sequence[Rule],
        ids: Identifiers,
        *,
        seed: int = 0,
        bodies: int | None = DEFAULT_BODIES,
        seconds: float | None = None,
        aggressive: bool = True,
        most_findings: int = MOST_FINDINGS,
        progress: Progress = silent,
    ) -> None:
        if bodies is None and seconds is None:
            raise ValueError("say how many bodies to send, or for how long")
        self.host = host
        judged = [rule for rule in rules if rule.sets & {"safety", "named"}]
        self.seed = seed
        self.bodies = bodies
        self.seconds = seconds
        self.most_findings = most_findings
        self.progress = progress
        self.tables = Tables(host.profile, aggressive=aggressive)
        self.sender = Sender(host, judged, ids)
        self.tally = Tally()
        self.findings: list[FuzzFinding] = []
        self.disagreements: list[FuzzFinding] = []
        self.unprepared: dict[str, str] = {}
        self._failed_to_prepare: Counter[str] = Counter()
        self._known: set[Key] = set()
        self._per_rule: Counter[str | None] = Counter()
        self._hunt: _Hunt | None = None
        self._suspects: list[FuzzFinding] = []
        self._unreachable = 0
        self._seed_now = seed
        self._started = 0.0

    def run(self, runner: asyncio.Runner) -> FuzzResult:
        """
        Draw, send and judge until the end; an interrupt ends it early.

        Args:
            runner: runs every exchange, on one event loop; it stays open.

        Raises:
            TargetError: the target is wired wrongly.
        """
        self.tables.cases()  # built before the clock runs
        self._started = time.monotonic()
        reason: StopReason
        batch = 0
        try:
            while True:
                self._check_end()
                self._seed_now = self.seed + batch
                self._run_batch(runner)
                batch += 1
        except _Stop as stop:
            reason = stop.reason
        except KeyboardInterrupt:
            reason = "interrupted"
        except _Misuse as misuse:
            raise misuse.args[0] from None
        return self._result(reason)

    def _check_end(self) -> None:
        if self.bodies is not None and self.tally.bodies >= self.bodies:
            raise _Stop("bodies")
        if self.seconds is not None and time.monotonic() - self._started >= self.seconds:
            raise _Stop("seconds")
        if self._unreachable >= MOST_UNREACHABLE:
            raise _Stop("unreachable")

    def _run_batch(self, runner: asyncio.Runner) -> None:
        """Draw one batch; it ends early when a failure was found and made small."""
        cases = self.tables.cases()
        follow = st.sampled_from([False] * AFTER_EVERY + [True])
        left = BATCH if self.bodies is None else min(BATCH, self.bodies - self.tally.bodies)

        @seed(self._seed_now)
        @settings(
            max_examples=left,
            database=None,
            deadline=None,
            derandomize=False,
            phases=(Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(cases, follow)
        def one(case: DrawnCase, is_followed: bool) -> None:
            self._example(runner, case, is_followed=is_followed)

        self._hunt = None
        steady = True
        try:
            one()
        except _FoundError:
            pass
        except Flaky:
            steady = False
        finally:
            self._close_hunt(steady=steady)

    def _close_hunt(self, *, steady: bool) -> None:
        hunt, self._hunt = self._hunt, None
        if hunt is None:
            return
        self._known.add(hunt.key)
        self._per_rule[hunt.key.rule] += 1
        finding = replace(hunt.finding, steady=steady)
        (self.disagreements if finding.rule is None else self.findings).append(finding)

    def _example(self, runner: asyncio.Runner, case: DrawnCase, *, is_followed: bool) -> None:
        hunt = self._hunt
        if hunt is None:
            self._check_end()
        elif hunt.is_spent and case != hunt.finding.case:
            return
        if case.situation in self.unprepared:
            return
        try:
            found = runner.run(self._found(case, is_followed=is_followed))
        except UnpreparedError as error:
            self._note_unprepared(case, error)
            return
        except BudgetSpentError:
            if hunt is not None:
                return
            raise _Stop("requests") from None
        except TargetError as error:
            raise _Misuse(error) from None
        if found is None:
            return
        key, finding = found
        if hunt is None:
            self._hunt = _Hunt(key, finding, until=time.monotonic() + SHRINK_SECONDS)
        else:
            hunt.finding = finding
        raise _FoundError

    def _note_unprepared(self, case: DrawnCase, error: UnpreparedError) -> None:
        """Give up a situation that could not be brought about again and again."""
        self._failed_to_prepare[case.situation] += 1
        if self._failed_to_prepare[case.situation] >= MOST_UNPREPARED:
            self.unprepared[case.situation] = str(error)
            self.tables.give_up(case.situation)

    async def _found(self, case: DrawnCase, *, is_followed: bool) -> tuple[Key, FuzzFinding] | None:
        """Send a case and judge it; give a failure that is looked for."""
        hunt = self._hunt
        if hunt is not None:
            hunt.calls += 1
        is_followed = is_followed or (bool(self._suspects) and case.situation != "fresh")
        waits = self.host.waits
        sent = await self.sender.send(case, is_followed=is_followed, new=hunt is not None)
        if self.host.waits > waits:
            self.tally.throttled += 1
            return None
        if hunt is None:
            self._count(case, sent)
        new = self._new(sent)
        if new is not None and hunt is None and sent.was_used:
            # An earlier request may have spoiled the thread; a new one must show the same.
            again = await self.sender.send(case, is_followed=is_followed, new=True)
            if self._new(again) is None:
                self._suspect(new[0], self._finding(case, sent, new[1]))
            sent, new = again, self._new(again)
        return None if new is None else (new[0], self._finding(case, sent, new[1]))

    def _suspect(self, key: Key, finding: FuzzFinding) -> None:
        """
        Note a failure that a new thread did not show.

        From now on each refusal on a paused thread is followed by the right
        answer, so that the request that spoils one is found.
        """
        self._known.add(key)
        self._suspects.append(replace(finding, steady=False))

    def _count(self, case: DrawnCase, sent: Sent) -> None:
        outcome = outcome_of(sent.recording.changed[0])
        self.tally.count(case, sent.owed, outcome, sent.judged_by)
        gone = isinstance(outcome, BrokenOutcome) and outcome.kind == "unreachable"
        self._unreachable = self._unreachable + 1 if gone else 0
        if self.tally.bodies % PROGRESS_EVERY == 0:
            self.progress(self.tally.bodies, self.bodies or 0, case.name)

    def _new(self, sent: Sent) -> tuple[Key, Broken] | None:
        """Choose the failure that is looked for: the hunted one, or one that is not known."""
        for found in sent.broken:
            key = key_of(found, sent.owed, sent.recording)
            if self._hunt is not None:
                if key == self._hunt.key:
                    return key, found
            elif key not in self._known and self._per_rule[key.rule] < self.most_findings:
                return key, found
        return None

    def _finding(self, case: DrawnCase, sent: Sent, found: Broken) -> FuzzFinding:
        return FuzzFinding(
            rule=found.rule,
            breach=found.breach,
            case=case,
            owed=sent.owed,
            request=sent.request,
            exchange=sent.recording.changed[0],
            before=sent.thread.before,
            after=sent.recording.after,
            seed=self._seed_now,
            crash=found.crash,
        )

    def _result(self, reason: StopReason) -> FuzzResult:
        tally = self.tally
        explained = any(finding.rule == PAUSE_SURVIVES for finding in self.findings)
        suspects = () if explained else self._suspects
        return FuzzResult(
            seed=self.seed,
            reason=reason,
            seconds=time.monotonic() - self._started,
            bodies=tally.bodies,
            accepted=tally.accepted,
            kinds=dict(tally.kinds),
            constructed=dict(tally.constructed),
            owed=dict(tally.owed),
            seen=dict(tally.seen),
            areas=dict(tally.areas),
            judged=dict(tally.judged),
            findings=(*self.findings, *suspects),
            disagreements=tuple(self.disagreements),
            unprepared=dict(self.unprepared),
            throttled=tally.throttled,
            requests=self.host.requests,
        )
