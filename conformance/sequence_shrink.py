"""
A failing sequence made as short and as plain as it can be while it still fails.

A sequence is data, so steps are left off and members made plain, and what comes
of that is performed again. The same failure gives the same result each time.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from hostproof.conformance.sequence_run import perform
from hostproof.strategies.sequence_steps import Restart, Say, step_from_json, step_to_json
from hostproof.strategies.thread_state import Place, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostproof.conformance.sequence_report import Disagreement
    from hostproof.conformance.sequence_stand import Stand
    from hostproof.reference_impl.values import Record
    from hostproof.strategies.sequence_steps import Step, Steps

MOST_PERFORMED: Final = 1_000
"""How often a sequence is performed at most while it is shrunk."""


async def shrunk(failure: Disagreement, stand: Stand) -> Disagreement:
    """
    Shrink a failing sequence: every sequence that is tried is performed.

    Raises:
        BudgetSpentError: the profile's number of requests is used up.
    """
    steps = failure.steps[: len(failure.made)]
    best = await perform(steps, stand) or failure
    left = MOST_PERFORMED
    is_better = True
    while is_better and left > 0:
        is_better = False
        for tried in chain(_shorter(best.steps), _plainer(best.steps)):
            left -= 1
            found = await perform(tried, stand)
            if found is not None:
                best, is_better = found, True
                break
            if left <= 0:
                break
    return best


def _shorter(steps: Steps) -> Iterator[Steps]:
    """Sequences without some neighbouring steps, many at first."""
    length = len(steps) // 2
    while length > 0:
        for at in range(len(steps) - length, -1, -1):
            yield (*steps[:at], *steps[at + length :])
        length //= 2


def _plainer(steps: Steps) -> Iterator[Steps]:
    """Sequences of the same length, one thing plainer: all of a thread moved, or one member."""
    main = Say()
    for step in steps:
        if not isinstance(step, Restart):
            for place in (Place(main.caller, step.thread), Place(step.caller, main.thread)):
                if place != place_of(step):
                    yield tuple(_moved(one, place_of(step), place) for one in steps)
    for at, step in enumerate(steps):
        written = step_to_json(step)
        for name in written:
            if name != "do":
                plain = step_from_json(written | _default(step, name))
                if plain != step:
                    yield (*steps[:at], plain, *steps[at + 1 :])


def _default(step: Step, name: str) -> Record:
    return {name: step_to_json(type(step)())[name]}


def _moved(step: Step, here: Place, there: Place) -> Step:
    """Move a step to another thread, where it is on this one."""
    if isinstance(step, Restart) or place_of(step) != here:
        return step
    return step_from_json(step_to_json(step) | {"caller": there.caller, "thread": there.thread})
