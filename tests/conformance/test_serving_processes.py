"""``hostproof serve`` as processes: tokens from the environment, one file for two, and the end."""

import asyncio
import subprocess

import click
import pytest

from hostproof.conformance.commands.serve import given_tokens, token_variable
from hostproof.conformance.last_byte import race
from tests.processes import HostProcess, running, serve_command
from tests.stored import effects_of, rows, said_on
from tests.talk import LIMITS, NO, YES, Talk, ran, refusal_of

ALICE = "a-token-of-alice-0123"
BOB = "a-token-of-bob-0123456"
ENVIRON = {token_variable("alice"): ALICE}
TALK = Talk({"alice": ALICE})


def test_tokens_are_read_from_the_environment():
    environ = {"HOSTPROOF_TOKEN_ALICE": ALICE, "HOSTPROOF_TOKEN_BOB": "", "OTHER": "x"}
    assert given_tokens(["alice", "bob", "inspector"], environ) == {"alice": ALICE}
    assert given_tokens(["alice"], {}) == {}


@pytest.mark.parametrize(
    "token",
    [
        "short",
        "x" * 15,
        "with spaces in it all",
        "tab\tin a token, long",
        "t\u00f6ken" * 5,
        "=" * 20,
    ],
)
def test_what_is_no_token_is_told_and_not_shown(token):
    with pytest.raises(click.UsageError, match="HOSTPROOF_TOKEN_BOB") as caught:
        given_tokens(["alice", "bob"], {"HOSTPROOF_TOKEN_BOB": token})
    assert token not in caught.value.message


def test_two_callers_need_two_tokens():
    environ = {"HOSTPROOF_TOKEN_ALICE": ALICE, "HOSTPROOF_TOKEN_BOB": ALICE}
    with pytest.raises(click.UsageError, match="same token"):
        given_tokens(["alice", "bob"], environ)


def test_a_wrong_token_ends_the_command_before_it_serves(monkeypatch):
    monkeypatch.setenv("HOSTPROOF_TOKEN_BOB", "short")
    done = subprocess.run(serve_command(":memory:"), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "HOSTPROOF_TOKEN_BOB" in done.stderr


def test_a_token_that_was_given_is_not_printed():
    async def run():
        async with running(serve_command(":memory:", "--inspect"), ENVIRON) as host:
            target = host.target()
            try:
                good = await target.send(TALK.cue("t1", "plain", "n1"), LIMITS)
                bad = await target.send(Talk({"alice": BOB}).cue("t1", "plain", "n1"), LIMITS)
            finally:
                await target.aclose()
            return host.output(), good, bad

    printed, good, bad = asyncio.run(run())
    assert ran(good)
    assert refusal_of(bad)[1] == "ERR_IDENTITY_NOT_VERIFIED"
    assert ALICE not in printed
    assert "Bearer $HOSTPROOF_TOKEN_ALICE" in printed
    assert printed.count("Authorization: Bearer ") == 3


def test_it_ends_well_when_it_is_told_to(tmp_path):
    async def run():
        host = await HostProcess.start(serve_command(tmp_path / "host.db"))
        return await host.stop()

    assert asyncio.run(run()) == 0
    assert [one.name for one in tmp_path.iterdir()] == ["host.db"]


def test_two_processes_are_one_host(tmp_path):
    """They know the same callers, threads and pauses; of eight answers to both, one wins."""
    path = tmp_path / "host.db"

    async def run():
        command = serve_command(path)
        async with running(command, ENVIRON) as one, running(command, ENVIRON) as two:
            targets = [one.target(), two.target()]
            try:
                for number in range(5):
                    thread = f"t{number}"
                    interrupt = await TALK.pause(targets[0], thread, "check_in", "n1")
                    answers = [YES, NO, NO, YES] * 2
                    entries = [
                        (targets[at % 2], TALK.answer(thread, interrupt, answer))
                        for at, answer in enumerate(answers)
                    ]
                    exchanges = await race(entries, LIMITS)
                    (winner,) = [at for at, one in enumerate(exchanges) if ran(one)]
                    assert len(effects_of(path, thread)) == answers[winner]["approved"]
                    losers = [one for at, one in enumerate(exchanges) if at != winner]
                    assert {refusal_of(one)[0] for one in losers} == {409}
                    for target in targets:
                        assert ran(await target.send(TALK.cue(thread, "plain", "n2"), LIMITS))
                    assert len(said_on(path, thread)) == 8
            finally:
                for target in targets:
                    await target.aclose()

    asyncio.run(run())
    assert rows(path, "SELECT * FROM leases") == []


def test_a_killed_process_holds_nobody_up(tmp_path):
    """A run that its process never ended: the next process takes the thread, and what is left."""
    path = tmp_path / "host.db"

    async def run():
        async with running(serve_command(path), ENVIRON) as one:
            target = one.target()
            interrupt = await TALK.pause(target, "t1", "check_in", "n1")
            slow = asyncio.create_task(target.send(TALK.cue("t2", "slow", "n1"), LIMITS))
            while not rows(path, "SELECT * FROM leases WHERE thread = 't2'"):
                assert not slow.done()
                await asyncio.sleep(0.001)
            one.kill()
            assert (await slow).end in ("cut", "reset")
            await one.ended()
            await target.aclose()
        async with running(serve_command(path), ENVIRON) as two:
            target = two.target()
            try:
                assert ran(await target.send(TALK.cue("t2", "plain", "n1"), LIMITS))
                assert ran(await target.send(TALK.answer("t1", interrupt, YES), LIMITS))
            finally:
                await target.aclose()

    asyncio.run(run())
    assert len(effects_of(path, "t1")) == 1
    assert list(tmp_path.glob("*.lock")) == []
