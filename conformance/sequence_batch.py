"""
Many sequences drawn and performed, in batches: what was tried is counted, a failing one shrunk.

Needs Hypothesis. The same seed draws the same sequences with the same version of it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity

from hostproof.conformance.sequence_run import check_fit, perform
from hostproof.conformance.sequence_shrink import shrunk
from hostproof.strategies.sequence_steps import Restart
from hostproof.strategies.sequences import sequences
from hostproof.strategies.thread_state import Refuses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.conformance.sequence_report import Disagreement, SeenStep
    from hostproof.conformance.sequence_stand import Stand
    from hostproof.strategies.sequence_steps import Steps

BATCH: Final = 15
"""How many are drawn in one go: a batch goes on from what it drew before, a new one does not."""


class Progress(Protocol):
    """Is told how far a run is."""

    def __call__(self, done: int, count: int, /) -> None:
        """Hear that *done* of *count* sequences were performed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequencesResult:
    """
    What came of many sequences.

    Attributes:
        sequences: how many were performed, until one failed.
        steps: how many steps they made.
        kinds: how often each kind of step was made.
        refusals: how often each refusal was owed; again those that a RUN_ERROR says.
        restarted: how many sequences restarted the host.
        seconds: how long it took.
        failure: the first that failed, shrunk; or ``None``.
        steady: whether it failed again when it was performed once more.
    """

    sequences: int
    steps: int
    kinds: Mapping[str, int]
    refusals: Mapping[str, int]
    restarted: int
    seconds: float
    failure: Disagreement | None = None
    steady: bool = True

    @property
    def mean_length(self) -> float:
        """How long a sequence is, in the mean."""
        return self.steps / max(self.sequences, 1)

    def table(self) -> str:
        """Write the counts, one a line."""
        made = f"{self.sequences} sequences, {self.steps} steps (mean {self.mean_length:.1f})"
        lines = [f"{made}, {self.restarted} with a restart, {self.seconds:.0f} s"]
        for title, counts in (("steps", self.kinds), ("refusals", self.refusals)):
            lines.append(title)
            lines += [f"  {count:>7}  {name}" for name, count in sorted(counts.items())]
        return "\n".join(lines)


@dataclass(slots=True)
class _Counts:
    sequences: int = 0
    steps: int = 0
    restarted: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failure: Disagreement | None = None

    def add(self, steps: Steps, made: list[SeenStep]) -> None:
        self.sequences += 1
        self.steps += len(steps)
        self.restarted += any(isinstance(step, Restart) for step in steps)
        for one in made:
            self.kinds.update(one.step.kinds())
            if isinstance(one.owed, Refuses):
                self.refusals[one.owed.name] += 1
                if one.owed.in_stream:
                    self.refusals[f"{one.owed.name} (RUN_ERROR)"] += 1


def run_sequences(
    count: int,
    seed: int,
    stand: Stand,
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> SequencesResult:
    """
    Draw and perform sequences until one fails; that one is shrunk.

    Args:
        count: how many.
        seed: where they are drawn from.
        stand: gives each a host.
        batch: how many are drawn in one go.
        progress: is told how far it is.

    Raises:
        BudgetSpentError: the profile's number of requests is used up.
        UnfitHostError: the host cannot be compared with the model.
    """
    check_fit(stand)
    counts = _Counts()
    steady = True
    began = time.perf_counter()
    with asyncio.Runner() as runner:
        for at in range(0, count, batch):
            size = min(batch, count - at)
            _run_batch(size, seed + at, stand, runner, counts)
            if progress is not None:
                progress(at + size, count)
            if counts.failure is not None:
                counts.failure = runner.run(shrunk(counts.failure, stand))
                steady = runner.run(perform(counts.failure.steps, stand)) is not None
                break
    return SequencesResult(
        sequences=counts.sequences,
        steps=counts.steps,
        kinds=dict(counts.kinds),
        refusals=dict(counts.refusals),
        restarted=counts.restarted,
        seconds=time.perf_counter() - began,
        failure=counts.failure,
        steady=steady,
    )


def _run_batch(size: int, seed: int, stand: Stand, runner: asyncio.Runner, counts: _Counts) -> None:
    """Run one batch, up to the first sequence that fails."""
    commands = () if stand.profile.control is None else stand.profile.control.commands

    @hypothesis.settings(
        max_examples=size,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
    )
    @hypothesis.seed(seed)
    @hypothesis.given(sequences(commands=commands, restarts=stand.restarts))
    def perform_one(steps: Steps) -> None:
        if counts.failure is not None:
            return  # it is found; whatever else is drawn is not wanted
        made: list[SeenStep] = []
        counts.failure = runner.run(perform(steps, stand, made=made))
        counts.add(steps, made)

    perform_one()
