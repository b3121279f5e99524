"""
A sequence as it was performed, and where it and the model disagree: values and their words.

Source: docs/verdicts.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostproof.reference_impl.refusals import catalogue
from hostproof.strategies.sequence_steps import step_text
from hostproof.strategies.thread_state import Done, Refuses, Runs, Stops

if TYPE_CHECKING:
    from hostproof.strategies.sequence_steps import Step, Steps
    from hostproof.strategies.thread_plans import Effect
    from hostproof.strategies.thread_state import Owed


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenStep:
    """
    One step that was made.

    Attributes:
        step: the step.
        owed: what it owed.
        seen: what came back, in words; "" before anything did.
        ran: what had run on its thread afterwards, in words.
    """

    step: Step
    owed: Owed
    seen: str = ""
    ran: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """
    A step at which the host did not do what must be.

    Attributes:
        steps: the sequence.
        made: the steps up to it, with what was seen.
        expected: what the model says, in words.
        seen: what the host did, in words.
    """

    steps: Steps
    made: tuple[SeenStep, ...]
    expected: str
    seen: str

    def report(self) -> str:
        """Write it for a reader: who sent what, what came back, what had run; then the two."""
        lines = [f"a sequence of {len(self.steps)} steps disagrees at step {len(self.made)}:"]
        for number, made in enumerate(self.made, start=1):
            lines.append(f"  {number:>2}. {step_text(made.step)}")
            lines.append(f"      came back  {made.seen or 'see below'}")
            lines += [f"      has run    {made.ran}"] if made.ran else []
        lines.append(f"  expected  {self.expected}")
        lines.append(f"  seen      {self.seen}")
        return "\n".join(lines)


def owed_text(owed: Owed) -> str:
    """Say what a step owes."""
    if isinstance(owed, Runs):
        return "accepted (a run that finishes)"
    if isinstance(owed, Stops):
        return "a run that is broken off between the spend and the call"
    if isinstance(owed, Done):
        return "nothing to do" if owed.nothing else "done"
    status = "RUN_ERROR" if owed.in_stream else f"HTTP {owed_status(owed)}"
    reason = f", {owed.reason}" if owed.reason else ""
    return f"refused ({status}, {owed.code}{reason})"


def owed_status(owed: Refuses) -> int:
    """Give the HTTP status of a refusal that is owed."""
    return 200 if owed.in_stream else catalogue()[owed.code].status


def effects_text(effects: tuple[Effect, ...]) -> str:
    """Say what has run; messages are counted from 1, as steps are."""
    if not effects:
        return "nothing"
    return ", ".join(
        f"{one.tool}{f' {one.amount}' if one.amount is not None else ''}"
        f" (asked for by step {one.asked_at + 1})"
        for one in effects
    )
