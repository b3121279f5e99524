"""Sequences on the reference host: no disagreement, and each missing check of the door is found."""

import asyncio
import json
from dataclasses import replace

import pytest

from hostproof.conformance.door_faults import DOOR_FAULTS
from hostproof.conformance.embedded_profile import embedded_profile
from hostproof.conformance.host_under_test import HostUnderTest
from hostproof.conformance.http_target import HttpTarget
from hostproof.conformance.kept import KeptError
from hostproof.conformance.kept_sequence import (
    KeptSequence,
    is_sequence_id,
    keep_sequence,
    kept_of,
    load_sequence,
    replay_sequence,
    sequence_id,
)
from hostproof.conformance.sequence_batch import BATCH, run_sequences
from hostproof.conformance.sequence_run import UnfitHostError, check_fit, perform
from hostproof.conformance.sequence_shrink import shrunk
from hostproof.conformance.sequence_stand import (
    EmbeddedStand,
    NoRestartError,
    SharedStand,
    silent_logs,
)
from hostproof.reference_impl.embedded import SETUPS, build_host
from hostproof.reference_impl.serving import served
from hostproof.strategies.sequence_steps import Answer, Control, Restart, Result, Say, every_kind
from hostproof.strategies.thread_state import EVERY_REFUSAL

TARGET = {"target": "the embedded reference host", "created": "2025-01-01T00:00:00Z"}


def performed(steps, fault=None):
    return asyncio.run(perform(steps, EmbeddedStand(fault)))


def test_the_reference_host_and_the_model_agree():
    told = []
    result = run_sequences(
        300, 11, EmbeddedStand(), progress=lambda done, count: told.append((done, count))
    )
    assert result.failure is None, result.failure.report()
    assert result.steady
    assert told[0] == (BATCH, 300)
    assert told[-1] == (300, 300)
    assert result.sequences == 300
    assert result.mean_length >= 6
    assert result.restarted > 5
    assert every_kind() - result.kinds.keys() == set()
    assert set(EVERY_REFUSAL) - result.refusals.keys() == set()
    assert "ERR_STALE_DECISION" in result.table()


@pytest.mark.parametrize("name", DOOR_FAULTS)
def test_a_check_that_is_not_made_is_found_in_a_few_steps(name):
    result = run_sequences(1_000, 5, EmbeddedStand(DOOR_FAULTS[name]))
    assert result.failure is not None
    assert result.steady
    assert len(result.failure.steps) <= 5
    assert performed(result.failure.steps) is None


def test_the_same_seed_draws_the_same_sequences():
    first, second = (run_sequences(40, 3, EmbeddedStand()) for _ in range(2))
    assert first.kinds == second.kinds
    assert first.refusals == second.refusals


FORGED = Answer(request="forged")


def test_a_disagreement_tells_the_steps_and_both_sides():
    failure = performed((Say(), FORGED, Say(cue="plain")), DOOR_FAULTS["other-request"])
    assert failure is not None
    assert failure.report() == (
        "a sequence of 3 steps disagrees at step 2:\n"
        "   1. alice/one: says the cue check_in\n"
        "      came back  accepted (RUN_FINISHED, interrupt)\n"
        "      has run    nothing\n"
        "   2. alice/one: answers yes, requestId forged\n"
        "      came back  accepted (RUN_FINISHED, success)\n"
        "  expected  refused (HTTP 409, ERR_RESUME_DECISION, other-request)\n"
        "  seen      accepted (RUN_FINISHED, success); has run: pay 10 (asked for by step 1)"
    )


def test_what_runs_twice_is_seen_by_its_effects():
    failure = performed((Say(), Answer()), DOOR_FAULTS["runs-twice"])
    assert failure is not None
    assert failure.expected == "has run on alice/one: pay 10 (asked for by step 1)"
    assert failure.seen.count("pay 10") == 2


def test_a_pause_that_is_lost_is_seen():
    def forgets(parts):
        right = parts.write_refusal

        def write(refusal):
            for key, _pause in parts.sessions.pauses():
                parts.sessions.save(key, [], None)
            return right(refusal)

        return replace(parts, write_refusal=write)

    failure = performed((Say(), FORGED), forgets)
    assert failure is not None
    assert failure.expected == "alice/one waits on its pause (checkIn)"
    assert failure.seen == "open pauses: 0"


def test_threads_that_the_callers_share_are_seen():
    def shares(parts):
        right = parts.identify

        def identify(headers):
            return right(headers).replace("bob", "alice")

        return replace(parts, identify=identify)

    failure = performed((Say(), Answer(caller="bob", interrupt="other-caller")), shares)
    assert failure is not None
    assert failure.expected.startswith("refused (HTTP 409, ERR_NO_PENDING_ASK")


def test_a_failure_is_shrunk_as_data():
    noise = (
        Say(caller="bob", thread="two", cue="two_in_sequence"),
        Answer(caller="bob", thread="two"),
        Restart(),
        Say(caller="alice", thread="two", history="forged"),
        Result(),
    )
    told = Answer(caller="alice", thread="two", request="other-caller", artifact="right")
    steps = (*noise, told, *noise)
    stand = EmbeddedStand(DOOR_FAULTS["other-request"])

    async def both():
        failure = await perform(steps, stand)
        assert failure is not None
        return await shrunk(failure, stand)

    assert asyncio.run(both()).steps == (Say(), Answer(request="other-caller"))


def test_a_pause_survives_a_restart_on_its_file():
    steps = (Say(), Restart(), FORGED, Restart(), Answer(), Restart(), Answer(), Say(cue="plain"))
    assert performed(steps) is None


def test_an_operator_s_close_holds_under_every_ledger():
    assert (
        performed(
            (
                Say(),
                Control(command="redeploy-ledger"),
                Control(command="close-pause"),
                Control(command="redeploy-back"),
                Answer(),
                Say(cue="plain"),
            )
        )
        is None
    )


def test_a_mended_call_is_the_one_that_was_asked_about():
    mended = (Control(command="tamper-call"), Control(command="mend-call"))
    steps = (Say(cue="two_in_sequence"), Answer(), *mended, Answer())
    assert performed(steps) is None
    assert performed((Say(cue="ask_detail"), mended[1], *mended, Answer())) is None


def test_a_failing_sequence_is_kept_and_performed_again(tmp_path):
    fault = DOOR_FAULTS["other-request"]
    failure = performed((Say(), FORGED), fault)
    kept = kept_of(failure, seed=7, **TARGET)
    path = keep_sequence(kept, tmp_path)
    assert path.name == f"{kept.id}.json"
    assert is_sequence_id(kept.id)
    assert kept.id == sequence_id((Say(), FORGED))
    assert load_sequence(kept.id, tmp_path) == kept
    assert [one.name for one in tmp_path.iterdir()] == [path.name]

    def became(fault):
        return asyncio.run(replay_sequence(kept, EmbeddedStand(fault))).became

    assert became(fault) == "still failing"
    assert became(None) == "fixed"
    assert became(DOOR_FAULTS["already-answered"]) == "fixed"
    assert became(lambda parts: replace(parts, door=None)) == "changed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "another version"),
        ({"format": "x"}, "no kept sequence"),
        ({"seed": True}, "seed must be"),
        ({"target": None}, "target must be a text"),
        ({"steps": [{"do": "fly"}]}, "a step does one of"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path, change, said):
    kept = KeptSequence(
        id=sequence_id((Say(),)), seed=None, expected="", seen="", steps=(Say(),), **TARGET
    )
    path = keep_sequence(kept, tmp_path)
    path.write_text(json.dumps(kept.to_json() | change))
    with pytest.raises(KeptError, match=said):
        load_sequence(kept.id, tmp_path)


def test_what_cannot_be_loaded_is_said(tmp_path):
    for name, said in (("x", "begins with sequence-"), ("sequence-0", "no sequence")):
        with pytest.raises(KeptError, match=said):
            load_sequence(name, tmp_path)
    (tmp_path / "sequence-1.json").write_text("{")
    with pytest.raises(KeptError, match="no JSON"):
        load_sequence("sequence-1", tmp_path)
    (tmp_path / "file").write_text("")
    kept = KeptSequence(id="sequence-2", seed=None, expected="", seen="", steps=(), **TARGET)
    with pytest.raises(KeptError, match="cannot be kept"):
        keep_sequence(kept, tmp_path / "file")


def test_a_host_that_stands_serves_every_sequence():
    host = build_host(inspect=True)
    with silent_logs(), served(host.app) as url:
        profile = embedded_profile(url, host.tokens)

        async def both():
            target = HttpTarget(f"{url}{SETUPS[0].path}")
            try:
                stand = SharedStand(HostUnderTest(target, profile, profile.limits.exchange))
                for steps in ((Say(), FORGED, Answer()), (Say(cue="nested"), FORGED, Answer())):
                    for _ in range(2):
                        assert await perform(steps, stand) is None
                with pytest.raises(NoRestartError):
                    await perform((Restart(),), stand)
            finally:
                await target.aclose()

        asyncio.run(both())
    host.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"observation": None}, r"\[observation\]"),
        ({"callers": {}}, "two callers"),
        ({"cues": {}}, "cues.check_in"),
    ],
)
def test_a_host_that_cannot_be_compared_is_told_what_to_declare(change, said):
    stand = EmbeddedStand()
    stand.profile = replace(stand.profile, **change)
    with pytest.raises(UnfitHostError, match=said):
        check_fit(stand)
