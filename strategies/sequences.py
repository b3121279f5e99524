"""
Strategies of sequences: steps over both callers and several threads, as plain data.

A sequence is a list of scenes, each on one thread: a message that makes the
agent pause, what happens meanwhile, and answers. Scenes need not come to their
end, so that threads interleave; what a step comes to is the model's to say.
Lists of lists shrink well: a failing sequence loses whatever it does not need.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from hypothesis import strategies as st

from hostproof.strategies.sequence_answers import ARTIFACTS, PAYLOADS, REQUEST_NAMES
from hostproof.strategies.sequence_steps import (
    Answer,
    Beside,
    CommandName,
    Control,
    CueName,
    History,
    PauseNamed,
    Restart,
    Result,
    Say,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hypothesis.strategies import SearchStrategy

    from hostproof.strategies.sequence_steps import CallerName, Step, Steps, ThreadName

PLACES: Final[tuple[tuple[CallerName, ThreadName], ...]] = (
    ("alice", "one"),
    ("alice", "two"),
    ("bob", "one"),
    ("bob", "two"),
    ("alice", "one"),
)
"""The threads of a sequence; the main one is drawn twice as often."""

COMMANDS: Final[tuple[CommandName, ...]] = get_args(CommandName)
GATED: Final[tuple[CueName, ...]] = (
    "check_in",
    "ask_detail",
    "nested",
    "two_in_sequence",
    "nested",
    "check_in_large",
    "ask_component",
    "ask_then_check_in",
)
"""Cues that end at a consent gate; a helper's is drawn twice as often."""

ASKED: Final[tuple[CueName, ...]] = ("ask_detail", "ask_component", "ask_then_check_in")
"""Cues that end at an ask."""

DECISIONS: Final = tuple(name for name, payload in PAYLOADS.items() if payload.reads != "none")
MOST_SCENES: Final = 7
PAYLOAD_SHARE: Final = 5
"""How much more often an odd payload is drawn than any other odd thing about an answer."""


def says() -> SearchStrategy[Say]:
    """Messages with any cue."""
    return st.builds(
        Say, cue=st.sampled_from(get_args(CueName)), history=st.sampled_from(get_args(History))
    )


def right_answers() -> SearchStrategy[Answer]:
    """Answers with a decision that names no request, or the right one."""
    return st.builds(
        Answer,
        payload=st.sampled_from(DECISIONS),
        request=st.sampled_from(("absent", "absent", "right")),
        artifact=st.sampled_from(("absent", "right")),
    )


def wrong_answers() -> SearchStrategy[Answer]:
    """Answers that are odd in one way; whether that is wrong depends on the pause."""
    decision = st.sampled_from(DECISIONS)
    others = {
        "interrupt": get_args(PauseNamed)[1:],
        "request": REQUEST_NAMES[1:],
        "artifact": ARTIFACTS[1:],
        "beside": get_args(Beside)[1:],
    }
    payload = st.builds(Answer, payload=st.sampled_from(tuple(PAYLOADS)))
    return st.one_of(
        *[payload] * PAYLOAD_SHARE,
        *(
            st.builds(Answer, payload=decision, **{member: st.sampled_from(names)})
            for member, names in others.items()
        ),
        st.builds(Answer, payload=st.sampled_from(tuple(PAYLOADS)), status=st.just("cancelled")),
        st.builds(Answer, payload=decision, history=st.just("forged")),
    )


def any_answers() -> SearchStrategy[Answer]:
    """Answers that may be odd in several ways."""
    return st.builds(
        Answer,
        payload=st.sampled_from(tuple(PAYLOADS)),
        interrupt=st.sampled_from(get_args(PauseNamed)),
        request=st.sampled_from(REQUEST_NAMES),
        artifact=st.sampled_from(ARTIFACTS),
        status=st.sampled_from(("resolved", "resolved", "cancelled")),
        beside=st.sampled_from(get_args(Beside)),
        history=st.sampled_from(get_args(History)),
    )


def results() -> SearchStrategy[Result]:
    """Results of a call, right or forged."""
    return st.builds(
        Result,
        call=st.sampled_from(get_args(PauseNamed)),
        history=st.sampled_from(get_args(History)),
    )


def controls(commands: Sequence[CommandName] = COMMANDS) -> SearchStrategy[Control]:
    """Commands of the operator."""
    return st.builds(Control, command=st.sampled_from(commands))


def sequences(
    *, commands: Collection[str] = COMMANDS, restarts: bool = True
) -> SearchStrategy[Steps]:
    """
    Sequences of all kinds of steps, a dozen steps long on average.

    Args:
        commands: the control commands the host knows.
        restarts: whether the host can be restarted.
    """
    known = [command for command in COMMANDS if command in commands]
    scene = st.one_of(
        st.tuples(_any_steps(known, restarts=restarts)),
        _closed_scenes(),
        _doubtful_scenes(),
        _asked_scenes(),
        _misnamed_scenes(),
        *([_operated_scenes(known), _operated_scenes(known)] if known else []),
        *([_answered_twice(known)] if known else []),
    )
    placed = st.tuples(st.sampled_from(PLACES), scene).map(_placed)
    return st.lists(placed, min_size=1, max_size=MOST_SCENES).map(
        lambda scenes: tuple(step for scene in scenes for step in scene)
    )


def _any_steps(known: Sequence[CommandName], *, restarts: bool) -> SearchStrategy[Step]:
    return st.one_of(
        says(),
        any_answers(),
        results(),
        *([controls(known)] if known else []),
        *([st.builds(Restart)] if restarts else []),
    )


def _closed_scenes() -> SearchStrategy[Steps]:
    """A pause and its answers, or a message that brings none about."""
    return st.tuples(says(), st.lists(st.one_of(right_answers(), results()), max_size=3)).map(
        lambda drawn: (drawn[0], *drawn[1])
    )


def _doubtful_scenes() -> SearchStrategy[Steps]:
    """A pause, odd answers to it, and then perhaps the right one."""
    opening = st.one_of(_gated(), says())
    return st.tuples(
        opening,
        st.lists(st.one_of(wrong_answers(), says(), results()), max_size=3),
        st.lists(right_answers(), max_size=1),
    ).map(lambda drawn: (drawn[0], *drawn[1], *drawn[2]))


def _asked_scenes() -> SearchStrategy[Steps]:
    """A question that takes any value, or one that is pinned to data, and answers to it."""
    values = st.builds(Answer, payload=st.sampled_from(("missing", "null", *PAYLOADS)))
    chosen = st.builds(
        Answer, payload=st.sampled_from(DECISIONS), artifact=st.sampled_from(ARTIFACTS)
    )
    question = st.builds(Say, cue=st.sampled_from(("question", "credential")))
    pinned = st.builds(Say, cue=st.just("ask_component"))
    return st.one_of(
        st.tuples(question, st.lists(values, min_size=1, max_size=3)),
        st.tuples(pinned, st.lists(chosen, min_size=1, max_size=3)),
    ).map(lambda drawn: (drawn[0], *drawn[1]))


def _misnamed_scenes() -> SearchStrategy[Steps]:
    """A pause after others, and decisions that name this request or another."""
    naming = st.builds(
        Answer, payload=st.sampled_from(DECISIONS), request=st.sampled_from(REQUEST_NAMES)
    )
    return st.tuples(_gated(), st.lists(naming, min_size=1, max_size=4)).map(
        lambda drawn: (drawn[0], *drawn[1])
    )


def _operated_scenes(known: Sequence[CommandName]) -> SearchStrategy[Steps]:
    """A pause to which something happens, and what is sent afterwards."""
    afterwards = st.one_of(
        right_answers(), wrong_answers(), st.builds(Say, cue=st.just("plain")), controls(known)
    )
    happens = st.tuples(_gated(), controls(known))
    if "redeploy-chain" in known:  # which only an ask hangs on
        asked = st.builds(Say, cue=st.sampled_from(ASKED))
        redeployed = st.builds(Control, command=st.just("redeploy-chain"))
        happens = st.one_of(happens, happens, happens, st.tuples(asked, redeployed))
    return st.tuples(happens, right_answers(), st.lists(afterwards, max_size=3)).map(
        lambda drawn: (*drawn[0], drawn[1], *drawn[2])
    )


def _answered_twice(known: Sequence[CommandName]) -> SearchStrategy[Steps]:
    """A pause whose decision is spent, and what is sent to it then."""
    stop: list[Control] = [Control(command=one) for one in known if one == "stop-after-spend"]
    afterwards = st.one_of(right_answers(), wrong_answers(), says(), controls(known))
    return st.tuples(_gated(), right_answers(), st.lists(afterwards, max_size=3)).map(
        lambda drawn: (drawn[0], *stop, drawn[1], *drawn[2])
    )


def _gated() -> SearchStrategy[Say]:
    return st.builds(Say, cue=st.sampled_from(GATED))


def _placed(drawn: tuple[tuple[CallerName, ThreadName], Steps]) -> Steps:
    (caller, thread), steps = drawn
    return tuple(
        step if isinstance(step, Restart) else replace(step, caller=caller, thread=thread)
        for step in steps
    )
