"""Every kind of drawn case at once, as the fuzzer draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostproof.strategies.bodies import AGENTS, Allowed
from hostproof.strategies.hostile import CHANGES, changed_bodies, several_changes, valid_bodies
from hostproof.strategies.json_values import chosen
from hostproof.strategies.places import SITUATIONS
from hostproof.strategies.raw import raw_bodies
from hostproof.strategies.wire_changes import WIRE_CHANGES, WireChange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import SearchStrategy

    from hostproof.strategies.changes import Change, EndpointName, Situation
    from hostproof.strategies.drawn import DrawnCase


def fuzzed_bodies(
    *,
    endpoints: Mapping[EndpointName, Allowed] = AGENTS,
    situations: Sequence[Situation] = SITUATIONS,
    changes: Sequence[Change] = CHANGES,
    wire_changes: Sequence[WireChange] = WIRE_CHANGES,
) -> SearchStrategy[DrawnCase]:
    """Cases of every kind, the simplest first; half of them have one change."""
    valid = valid_bodies(endpoints=endpoints, situations=situations)
    changed = changed_bodies(endpoints=endpoints, situations=situations, changes=changes)
    several = several_changes(endpoints=endpoints, situations=situations, changes=changes)
    raw = raw_bodies(endpoints=endpoints, situations=situations, changes=wire_changes)
    kinds: list[SearchStrategy[DrawnCase]] = [valid, *[changed] * 5, several, several, raw, raw]
    return chosen(kinds).flatmap(lambda one: one)
