"""
Strategies of hostile bodies: a valid one, and the changes of the tables made to it.

What a single change owes is right by construction, whatever body it was made
to: no reference decides it. What several changes at once, or bytes damaged at
random, owe is not decided here.

Every hostile value carries ``{canary}``, unless it can hold none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from hostproof.strategies.accepted_changes import ACCEPTED_CHANGES
from hostproof.strategies.bodies import AGENTS, Allowed
from hostproof.strategies.drawn import ACCEPTED, DrawnCase, Expectation
from hostproof.strategies.edits import edited, filled, slots_in
from hostproof.strategies.inside_changes import INSIDE_CHANGES
from hostproof.strategies.json_values import chosen
from hostproof.strategies.places import PAUSED_AT, SITUATIONS, Places, picks_of
from hostproof.strategies.plan_changes import PLAN_CHANGES
from hostproof.strategies.reader_changes import CODE as READER_CODE
from hostproof.strategies.reader_changes import READER_CHANGES
from hostproof.strategies.variation import varied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

    from hostproof.reference_impl.values import Json, Record
    from hostproof.strategies.changes import Change, EndpointName, Situation
    from hostproof.strategies.edits import Edit

OF_THE_HOST: Final = frozenset({"guarded", "forged_interrupt", "listener"})
"""Slots that only a run of the gate can fill: they name something of the host's, or of ours."""


def _can_be_drawn(change: Change) -> bool:
    """Say whether nothing of the host's is named, and its pause, if any, is where ours are."""
    named = slots_in([edit.value for edit in change.edits])
    return not named & OF_THE_HOST and (change.situation == "fresh" or change.endpoint == PAUSED_AT)


CHANGES: Final[tuple[Change, ...]] = (
    *ACCEPTED_CHANGES,
    *READER_CHANGES,
    *PLAN_CHANGES,
    *filter(_can_be_drawn, INSIDE_CHANGES),
)
"""Every change to a body's value that can be made without a look at the host."""

_SHARES: Final = {READER_CODE: 6, None: 3}
"""How often a code's changes are drawn, against once for any other code."""

_SLOTS_KEPT: Final = {
    name: f"{{{name}}}"
    for name in ("thread", "run", "plain", "canary", "interrupt", "call", "brace")
}
_IS_ASCII: Final = st.sampled_from([True, False])
_NO_WAY: Final = (KeyError, IndexError, TypeError, ValueError)


def valid_bodies(
    *,
    endpoints: Mapping[EndpointName, Allowed] = AGENTS,
    situations: Sequence[Situation] = SITUATIONS,
) -> SearchStrategy[DrawnCase]:
    """Cases that change nothing: each owes a run."""
    places = Places(endpoints, situations)

    @st.composite
    def cases(draw: DrawFn) -> DrawnCase:
        place = draw(places.unspoiled)
        return DrawnCase(
            kind="valid",
            area="accepted",
            endpoint=place[0],
            situation=place[1],
            body=draw(places.base(place, speaks=False)),
            owed=ACCEPTED,
            is_ascii=draw(_IS_ASCII),
        )

    return cases()


def changed_bodies(
    *,
    endpoints: Mapping[EndpointName, Allowed] = AGENTS,
    situations: Sequence[Situation] = SITUATIONS,
    changes: Sequence[Change] = CHANGES,
) -> SearchStrategy[DrawnCase]:
    """
    Cases with one change of the tables, and what it owes.

    A change to a body's shape is made at every endpoint and in every situation;
    the others where the table says.

    Raises:
        ValueError: none of *changes* can be made there.
    """
    places = Places(endpoints, situations)
    possible = _possible(changes, places)
    picks = picks_of(_by_share(possible))
    variants = {change.id: varied(change) for change in possible}

    @st.composite
    def cases(draw: DrawFn) -> DrawnCase:
        change = draw(picks)
        place = draw(_places_of(change, places))
        base = draw(places.base(place, speaks=change.code == READER_CODE))
        edits = draw(variants[change.id])
        last = _last(base)
        body = edited(base, [edit for edit in edits if not _is_idle(edit, base)], last)
        field = None if change.field is None else filled(change.field, last)
        return DrawnCase(
            kind="accepted" if change.code is None else "changed",
            changes=(change.id,),
            area=change.area,
            endpoint=place[0],
            situation=place[1],
            body=body,
            owed=Expectation(code=change.code, field=field),
            is_ascii=draw(_IS_ASCII),
        )

    return cases()


def several_changes(
    *,
    endpoints: Mapping[EndpointName, Allowed] = AGENTS,
    situations: Sequence[Situation] = SITUATIONS,
    changes: Sequence[Change] = CHANGES,
) -> SearchStrategy[DrawnCase]:
    """
    Cases with two or three changes at once; which of them decides is not said here.

    A change whose place an earlier one took away is left out.

    Raises:
        ValueError: none of *changes* can be made there.
    """
    places = Places(endpoints, situations)
    possible = _possible(changes, places)
    variants = {change.id: varied(change) for change in possible}
    picks = picks_of(_by_share(possible))
    more = {
        place: st.lists(
            chosen([change for change in possible if _is_for(change, place)]),
            min_size=1,
            max_size=2,
        )
        for place in places.all
        if any(_is_for(change, place) for change in possible)
    }

    @st.composite
    def cases(draw: DrawFn) -> DrawnCase:
        first = draw(picks)
        place = draw(_places_of(first, places))
        base = draw(places.base(place, speaks=True))
        made: list[str] = []
        body: Json = base
        for change in (first, *draw(more[place])):
            try:
                body = edited(body, draw(variants[change.id]), _last(body))
            except _NO_WAY:
                continue
            made.append(change.id)
        return DrawnCase(
            kind="several",
            changes=tuple(made),
            endpoint=place[0],
            situation=place[1],
            body=body,
            is_ascii=draw(_IS_ASCII),
        )

    return cases()


def _possible(changes: Sequence[Change], places: Places) -> list[Change]:
    """Choose the changes that can be made in some place."""
    found = [
        change
        for change in changes
        if (change.endpoint, change.situation) in places.all or change.code == READER_CODE
    ]
    if not found:
        raise ValueError("none of the changes can be made at these endpoints")
    return found


def _by_share(changes: Sequence[Change]) -> list[list[Change]]:
    """Group changes by their code, each group as often as it is to be drawn."""
    codes = list(dict.fromkeys(change.code for change in changes))
    return [
        [change for change in changes if change.code == code]
        for code in codes
        for _ in range(_SHARES.get(code, 1))
    ]


def _places_of(change: Change, places: Places) -> SearchStrategy[tuple[EndpointName, Situation]]:
    if change.code == READER_CODE:
        return places.unspoiled
    return st.just((change.endpoint, change.situation))


def _is_for(change: Change, place: tuple[EndpointName, Situation]) -> bool:
    """Say whether a change can be made there: what it fills its slots with is at hand."""
    return change.code == READER_CODE or (change.endpoint, change.situation) == place


def _last(body: Json) -> dict[str, str]:
    """Fill ``{last}`` with the place of the newest message, and leave the other slots."""
    messages = body.get("messages") if isinstance(body, dict) else None
    count = len(messages) if isinstance(messages, list) else 0
    return {**_SLOTS_KEPT, "last": str(max(count - 1, 0))}


def _is_idle(edit: Edit, base: Record) -> bool:
    """Say whether an edit takes away an optional member that was not drawn."""
    name = edit.path[1:]
    return edit.op == "remove" and "/" not in name and name not in base
