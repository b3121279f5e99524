"""
Strategies of hostility below the JSON value: the table's, damage at random, values of any shape.

What a change of the table owes is right by construction. What damaged bytes
and values of any shape owe is not decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from hostproof.strategies.bodies import AGENTS, Allowed
from hostproof.strategies.drawn import ByteOp, DrawnCase, Expectation
from hostproof.strategies.hostile import valid_bodies
from hostproof.strategies.json_values import CANARY, json_values, objects
from hostproof.strategies.places import SITUATIONS, Places, picks_of
from hostproof.strategies.wire_changes import WIRE_CHANGES, WireChange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

    from hostproof.strategies.changes import EndpointName, Situation

_WIRE_SHARES: Final[dict[str | None, int]] = {"ERR_INVALID_JSON": 6}
_TOKENS: Final = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u0000", b"\\ud800", b"null", b"true",
    b"NaN", b"1e400", b"-0", b"00", b"9" * 400, b"\x00", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"/**/", b'"a":1,"a":2,', b"[" * 200, b'{"a":' * 200,
)  # fmt: skip
_SHAPED: Final = (
    "threadId", "runId", "messages", "tools", "context", "resume", "state", "parentRunId",
)  # fmt: skip


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
    places = Places(endpoints, ("fresh",))
    picks = picks_of(_wire_by_share(changes))

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


def _damaged(case: DrawnCase, ops: list[ByteOp]) -> DrawnCase:
    return DrawnCase(
        kind="bytes",
        endpoint=case.endpoint,
        situation=case.situation,
        body={**case.body, "x-marker": CANARY},
        is_ascii=case.is_ascii,
        ops=tuple(ops),
    )


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
