"""Sequences are data: drawn, printed, written, read, and as plain as they can be when shrunk."""

import json
from random import Random

import pytest
from hypothesis import find, given, settings

from hostproof.reference_impl.checkin import looks_like_decision
from hostproof.strategies.sequence_answers import PAYLOADS
from hostproof.strategies.sequence_steps import (
    Answer,
    Control,
    Restart,
    Result,
    Say,
    every_kind,
    step_from_json,
    step_text,
    steps_from_json,
    steps_to_json,
)
from hostproof.strategies.sequences import sequences
from hostproof.strategies.thread_model import stepped
from hostproof.strategies.thread_state import Done, Refuses, Runs, Stops, World


@given(sequences())
def test_a_sequence_survives_json(steps):
    written = json.dumps(steps_to_json(steps))
    assert steps_from_json(json.loads(written)) == steps


@given(sequences())
def test_a_sequence_is_rebuilt_from_its_repr(steps):
    kinds = {kind.__name__: kind for kind in (Say, Answer, Result, Control, Restart)}
    assert eval(repr(steps), kinds) == steps  # noqa: S307 - our own repr
    assert all("\n" not in step_text(step) for step in steps)


@given(sequences())
def test_the_model_says_what_every_step_owes(steps):
    world = World()
    for step in steps:
        world, owed = stepped(world, step)
        assert isinstance(owed, Runs | Refuses | Stops | Done)
    assert world.at == len(steps)


@given(sequences(commands=("close-pause",), restarts=False))
def test_what_a_host_does_not_offer_is_not_drawn(steps):
    assert not any(isinstance(step, Restart) for step in steps)
    used = {step.command for step in steps if isinstance(step, Control)}
    assert used <= {"close-pause"}


@given(sequences(commands=(), restarts=False))
def test_a_host_without_control_gets_messages_and_answers(steps):
    assert all(isinstance(step, Say | Answer | Result) for step in steps)


@pytest.mark.parametrize("wanted", [Restart, Result, Control, Answer, Say])
def test_hypothesis_leaves_one_scene_at_most(wanted):
    found = find(
        sequences(),
        lambda steps: any(isinstance(step, wanted) for step in steps),
        settings=settings(max_examples=2_000, database=None),
        # Hypothesis may rarely stop a step short of the least; our own shrinking goes on there.
        random=Random(20_000),
    )
    assert len(found) <= 3


def test_payloads_read_as_the_reference_reads_them():
    for payload in PAYLOADS.values():
        assert looks_like_decision(payload.value) == (payload.reads != "none")
        if looks_like_decision(payload.value):
            assert payload.value["approved"] is (payload.reads == "yes")


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"do": "nothing"},
        {"do": "say", "cue": "no such cue"},
        {"do": "say", "cue": None},
        {"do": "say", "payload": "yes"},
        {"do": "answer", "payload": ["yes"]},
        {"do": "restart", "caller": "alice"},
        {"do": "control", "command": "__class__"},
    ],
)
def test_what_is_no_step_is_refused_without_quoting_it(broken):
    with pytest.raises(ValueError, match=r"one of|no such member") as refused:
        step_from_json(broken)
    assert "no such cue" not in str(refused.value)
    assert "__class__" not in str(refused.value)


def test_what_is_no_sequence_is_refused():
    with pytest.raises(ValueError, match="array of steps"):
        steps_from_json({"do": "say"})


def test_what_is_left_off_is_as_usual():
    assert step_from_json({"do": "answer"}) == Answer()


def test_every_kind_has_a_name():
    kinds = every_kind()
    assert {"restart", "say nested", "answer approved-text", "control spoil-pause"} <= kinds
    assert len(kinds) > 60
