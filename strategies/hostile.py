"""
Strategies of hostile bodies: a valid one, and the changes of the tables made to it.

What a single change owes is right by construction, whatever body it was made
to: no reference decides it. What several changes at once, or bytes damaged at
random, owe is not decided here.

Every hostile value carries ``{canary}``, unless it can hold none.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from hypothesis import strategies as st

from hostproof.strategies.accepted_changes import ACCEPTED_CHANGES
from hostproof.strategies.bodies import AGENTS, Allowed, answers, client_results, run_inputs
from hostproof.strategies.drawn import ACCEPTED, ByteOp, DrawnCase, Expectation
from hostproof.strategies.edits import edited, filled
from hostproof.strategies.json_values import CANARY, chosen, json_values, objects
from hostproof.strategies.plan_changes import PLAN_CHANGES
from hostproof.strategies.reader_changes import CODE as READER_CODE
from hostproof.strategies.reader_changes import READER_CHANGES
from hostproof.strategies.variation import varied
from hostproof.strategies.wire_changes import WIRE_CHANGES, WireChange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

    from hostproof.reference_impl.values import Json, Record
    from hostproof.strategies.changes import Change, EndpointName, Situation
    from hostproof.strategies.edits import Edit

T = TypeVar("T")

CHANGES: Final[tuple[Change, ...]] = (*ACCEPTED_CHANGES, *READER_CHANGES, *PLAN_CHANGES)
"""Every change to a body's value."""

SITUATIONS: Final[tuple[Situation, ...]] = ("fresh", "question", "client-call", "spoiled")
PAUSED_AT: Final[EndpointName] = "main"
"""The agent whose threads are paused."""

_SHARES: Final = {READER_CODE: 6, None: 3}
"""How often a code's changes are drawn, against once for any other code."""
_WIRE_SHARES: Final[dict[str | None, int]] = {"ERR_INVALID_JSON": 6}

_SLOTS_KEPT: Final = {
    name: f"{{{name}}}"
    for name in ("thread", "run", "plain", "canary", "interrupt", "call", "brace")
}
_IS_ASCII: Final = st.sampled_from([True, False])
_NO_WAY: Final = (KeyError, IndexError, TypeError, ValueError)
_TOKENS: Final = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u0000", b"\\ud800", b"null", b"true",
    b"NaN", b"1e400", b"-0", b"00", b"9" * 400, b"\x00", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"/**/", b'"a":1,"a":2,', b"[" * 200, b'{"a":' * 200,
)  # fmt: skip
_SHAPED: Final = (
    "threadId", "runId", "messages", "tools", "context", "resume", "state", "parentRunId",
)  # fmt: skip


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


class _Places:
    """Where a case may be sent to, and the valid bodies there, each strategy made once."""

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
        return self._bases[place, speaks]


def valid_bodies(
    *,
    endpoints: Mapping[EndpointName, Allowed] = AGENTS,
    situations: Sequence[Situation] = SITUATIONS,
) -> SearchStrategy[DrawnCase]:
    """Cases that change nothing: each owes a run."""
    places = _Places(endpoints, situations)

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
    places = _Places(endpoints, situations)
    possible = _possible(changes, places)
    picks = _picks(_by_share(possible))
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
    places = _Places(endpoints, situations)
    possible = _possible(changes, places)
    variants = {change.id: varied(change) for change in possible}
    picks = _picks(_by_share(possible))
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


def wire_bodies(
    *,
    endpoints: Mapping[EndpointName, Allowed] = AGENTS,
    changes: Sequence[WireChange] = WIRE_CHANGES,
) -> SearchStrategy[DrawnCase]:
    """
    Cases with one change below the JSON value, made to the request for a new message.

    Raises:
        ValueError: there are no *changes*.
    """
    if not changes:
        raise ValueError("there are no changes to draw from")
    places = _Places(endpoints, ("fresh",))
    picks = _picks(_wire_by_share(changes))

    @st.composite
    def cases(draw: DrawFn) -> DrawnCase:
        change = draw(picks)
        place = draw(places.unspoiled)
        base = draw(places.base(place, speaks=True))
        return DrawnCase(
            kind="wire",
            changes=(change.id,),
            area=change.code or "accepted",
            endpoint=place[0],
            body={"threadId": None, **base, "x-marker": CANARY, "forwardedProps": {}},
            owed=Expectation(code=change.code),
            wire=change,
        )

    return cases()


def byte_ops() -> SearchStrategy[ByteOp]:
    """Random changes to bytes."""
    at = st.integers(0, 4_000)
    return st.builds(
        ByteOp,
        op=st.sampled_from(["flip", "put", "insert", "remove", "cut", "repeat"]),
        at=at,
        count=st.integers(1, 60),
        to=at,
        data=st.one_of(
            st.sampled_from(_TOKENS), st.sampled_from([bytes([1 << bit]) for bit in range(8)])
        ),
    )


def damaged_bodies(*, bodies: SearchStrategy[DrawnCase]) -> SearchStrategy[DrawnCase]:
    """Drawn *bodies* whose bytes are damaged at random, up to three times."""
    return st.builds(_damaged, bodies, st.lists(byte_ops(), min_size=1, max_size=3))


def shapes(*, endpoints: Mapping[EndpointName, Allowed] = AGENTS) -> SearchStrategy[DrawnCase]:
    """JSON values of any shape, some with a run's members, sent as bodies."""
    members = objects(
        {}, fixed={"x-marker": CANARY}, optional={name: json_values() for name in _SHAPED}
    )
    return st.builds(
        lambda body, endpoint: DrawnCase(kind="shape", body=body, endpoint=endpoint),
        st.one_of(json_values(), members),
        st.sampled_from(list(endpoints)),
    )


def raw_bodies(
    *,
    endpoints: Mapping[EndpointName, Allowed] = AGENTS,
    situations: Sequence[Situation] = SITUATIONS,
    changes: Sequence[WireChange] = WIRE_CHANGES,
) -> SearchStrategy[DrawnCase]:
    """Hostility below the JSON value: the table's, damage at random, values of any shape."""
    valid = valid_bodies(endpoints=endpoints, situations=situations)
    return st.one_of(
        shapes(endpoints=endpoints),
        wire_bodies(endpoints=endpoints, changes=changes),
        damaged_bodies(bodies=valid),
    )


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


def _damaged(case: DrawnCase, ops: list[ByteOp]) -> DrawnCase:
    return DrawnCase(
        kind="bytes",
        endpoint=case.endpoint,
        situation=case.situation,
        body={**case.body, "x-marker": CANARY},
        is_ascii=case.is_ascii,
        ops=tuple(ops),
    )


def _possible(changes: Sequence[Change], places: _Places) -> list[Change]:
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


def _wire_by_share(changes: Sequence[WireChange]) -> list[list[WireChange]]:
    """Group changes by their code; the large ones are few, they take as long as many others."""
    light = [change for change in changes if not change.aggressive]
    codes = dict.fromkeys(change.code for change in light)
    groups = [
        [change for change in light if change.code == code]
        for code in codes
        for _ in range(_WIRE_SHARES.get(code, 2))
    ]
    large = [change for change in changes if change.aggressive]
    return [*groups, large] if large else groups


def _picks(groups: Sequence[Sequence[T]]) -> SearchStrategy[T]:
    """Choose one of the *groups*, then one of its items."""
    return chosen([chosen(group) for group in groups]).flatmap(lambda one: one)


def _places_of(change: Change, places: _Places) -> SearchStrategy[tuple[EndpointName, Situation]]:
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
