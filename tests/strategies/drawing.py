"""Draw many values once, so that many tests can look whether something was among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

SMALL = settings(database=None, max_examples=2_000, derandomize=True)
"""How a test finds the smallest value of a kind."""


def drawn(strategy: SearchStrategy[T], count: int) -> list[T]:
    """Give as many values as a run of *count* examples draws; always the same."""
    values: list[T] = []

    @hypothesis.seed(0)
    @settings(
        database=None,
        deadline=None,
        derandomize=False,
        max_examples=count,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def gather(value: T) -> None:
        values.append(value)

    gather()
    return values
