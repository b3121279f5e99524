"""Where a body may be sent: an agent, and where its thread stands; and the valid bodies there."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from hypothesis import strategies as st

from hostproof.strategies.bodies import Allowed, answers, client_results, run_inputs
from hostproof.strategies.json_values import chosen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import SearchStrategy

    from hostproof.reference_impl.values import Record
    from hostproof.strategies.changes import EndpointName, Situation

T = TypeVar("T")

SITUATIONS: Final[tuple[Situation, ...]] = ("fresh", "question", "client-call", "spoiled")
PAUSED_AT: Final[EndpointName] = "main"
"""The agent whose threads are paused."""


@cache
def base_bodies(
    *, allowed: Allowed, situation: Situation, speaks: bool = False
) -> SearchStrategy[Record]:
    """
    Valid bodies for a situation.

    Args:
        allowed: what the endpoint lets a page decide.
        situation: where the thread stands.
        speaks: whether the newest message is always one whose content is read.
    """
    if situation == "fresh":
        return run_inputs(allowed=allowed)
    if situation == "client-call":
        return client_results(allowed=allowed)
    return answers(allowed=allowed, speaks=speaks)


class Places:
    """
    Where a case may be sent to, and the valid bodies there, each strategy made once.

    Attributes:
        all: each agent in each situation it can be in.
        unspoiled: draws one where a valid body is accepted.

    Raises:
        ValueError: there is no agent to send anything to.
    """

    def __init__(
        self, endpoints: Mapping[EndpointName, Allowed], situations: Sequence[Situation]
    ) -> None:
        self.all: list[tuple[EndpointName, Situation]] = [
            (endpoint, situation)
            for situation in situations
            for endpoint in endpoints
            if situation == "fresh" or endpoint == PAUSED_AT
        ]
        if not self.all:
            raise ValueError("there is no endpoint to send anything to")
        self._bases = {
            (place, speaks): base_bodies(
                allowed=endpoints[place[0]], situation=place[1], speaks=speaks
            )
            for place in self.all
            for speaks in (False, True)
        }
        # A fresh thread is the simpler, by one choice less: what is found shrinks to it.
        fresh = [st.just(place) for place in self.all if place[1] == "fresh"]
        paused = [place for place in self.all if place[1] not in ("fresh", "spoiled")]
        self.unspoiled = st.one_of(*fresh, *([chosen(paused)] if paused else []))

    def base(
        self, place: tuple[EndpointName, Situation], *, speaks: bool
    ) -> SearchStrategy[Record]:
        """Give the valid bodies for a place; see :func:`base_bodies`."""
        return self._bases[place, speaks]


def picks_of(groups: Sequence[Sequence[T]]) -> SearchStrategy[T]:
    """Choose one of the *groups*, then one of its items."""
    return chosen([chosen(group) for group in groups]).flatmap(lambda one: one)
