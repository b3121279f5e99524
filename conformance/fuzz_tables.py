"""What may be drawn for a host: the endpoints, situations and changes that its profile offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from hypothesis import strategies as st

from hostproof.conformance.case import Case
from hostproof.conformance.missing import missing_for, named_facts_missing
from hostproof.reference_impl.values import MISSING
from hostproof.strategies.bodies import Allowed, page_contexts
from hostproof.strategies.changes import Change, EndpointName, Situation
from hostproof.strategies.drawn import body_text
from hostproof.strategies.fuzzed import fuzzed_bodies
from hostproof.strategies.hostile import CHANGES
from hostproof.strategies.json_values import json_values
from hostproof.strategies.places import PAUSED_AT, SITUATIONS
from hostproof.strategies.plan_changes import FORM
from hostproof.strategies.wire_changes import WIRE_CHANGES, WireChange

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.profile_parts import Endpoint
    from hostproof.reference_impl.values import Json
    from hostproof.strategies.drawn import DrawnCase

_FORM_NAME: Final[str] = FORM["name"]


class Tables:
    """
    The changes that can be drawn for a host.

    Args:
        profile: what the host is and can do.
        aggressive: whether very large bodies may be sent.

    Raises:
        ValueError: the profile has no endpoint of a name that the tables know.
    """

    def __init__(self, profile: Profile, *, aggressive: bool) -> None:
        self._profile = profile
        self._endpoints: dict[EndpointName, Allowed] = {
            name: allowed_at(profile.endpoints[name])
            for name in get_args(EndpointName)
            if name in profile.endpoints
        }
        if "main" not in self._endpoints:
            raise ValueError("the profile has no endpoint named main: declare [endpoints.main]")
        self._situations = [one for one in SITUATIONS if self._offers(one)]
        self._wire = [
            change
            for change in WIRE_CHANGES
            if missing_for(_case(change), profile) is None and (aggressive or not change.aggressive)
        ]
        self._drawn: SearchStrategy[DrawnCase] | None = None

    def give_up(self, situation: Situation) -> None:
        """Draw no more for a situation."""
        self._situations = [one for one in self._situations if one != situation]
        self._drawn = None

    def cases(self) -> SearchStrategy[DrawnCase]:
        """Give the strategy of the cases that can be tried."""
        if self._drawn is None:
            self._drawn = fuzzed_bodies(
                endpoints=self._endpoints,
                situations=self._situations,
                changes=[change for change in CHANGES if self._fits(change)],
                wire_changes=self._wire,
            )
        return self._drawn

    def _offers(self, situation: Situation) -> bool:
        """Say whether threads of a situation can be brought about."""
        if situation == "fresh":
            return True
        probe = Change(
            id="probe", area="", code=None, edits=(), situation=situation, endpoint=PAUSED_AT
        )
        return missing_for(_case(probe), self._profile) is None

    def _fits(self, change: Change) -> bool:
        case = _case(change)
        if missing_for(case, self._profile) is not None:
            return False
        if "named" in self._profile.sets and named_facts_missing(case, self._profile) is not None:
            return False
        tools = self._profile.endpoints[change.endpoint].client_tools
        return _FORM_NAME in tools or not _offers_the_form(change)


def allowed_at(endpoint: Endpoint) -> Allowed:
    """Say what a page may decide at an endpoint, as far as its profile tells."""
    return Allowed(
        keeps_conversation=endpoint.keeps_conversation,
        client_tools=endpoint.client_tools if endpoint.keeps_pauses else (),
        states=_taken(endpoint.state, endpoint.good_state, json_values()),
        contexts=_taken(endpoint.context, endpoint.good_context, page_contexts()),
    )


def _taken(carried: str, good: Json, free: SearchStrategy[Json]) -> SearchStrategy[Json] | None:
    if carried == "free":
        return free
    return st.just(good) if carried == "validated" and good is not MISSING else None


def _case(change: Change | WireChange) -> Case:
    return Case(id=change.id, area="", change=change)


def _offers_the_form(change: Change) -> bool:
    return any(_FORM_NAME.encode() in body_text(edit.value) for edit in change.edits)
