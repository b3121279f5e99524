"""
A host killed in the middle of an answer, started again, and answered again.

A kill is one SIGKILL of a process with at least one yes in flight: it has
arrived, as the process told, and the end of its run has not come back. Several
answers are in flight at once; the file says for each which moment was hit. A
kill is counted once, for the first yes in flight; the other answers are
checked all the same, and counted apart.
"""

import asyncio
import random
import secrets
import sys
import uuid
from collections import Counter
from dataclasses import dataclass

from hostproof.conformance.exchange import Request
from hostproof.reference_impl.result_texts import OUTCOME_UNKNOWN, reads_as_not_run
from hostproof.reference_impl.values import Record
from tests.processes import HostProcess
from tests.slow_host import ARRIVED, TOKEN_VARIABLE, WAIT_SECONDS
from tests.soak.scale import scaled
from tests.stored import check_readable, effects_of, how_spent, pending_of, said_on
from tests.talk import LIMITS, NO, YES, Talk, ran, refusal_of

KILLS = 300
ENOUGH = 30
AT_ONCE_CHAINS = 2
SPENT_BEFORE = (409, "ERR_RESUME_DECISION", "already-answered")
GONE = (409, "ERR_NO_PENDING_ASK", None)

BEFORE = "before the spend"
BETWEEN = "between spend and effect"
AFTER = "after the effect"
KEPT = "after all was kept"
DECLINED = "after a declined spend"


@dataclass(slots=True)
class Sample:
    """One answer: to which pause, what it says, and which moment of it was hit."""

    thread: str
    request_id: str
    call_id: str
    arguments: Record
    answer: Request
    approved: bool
    moment: str = ""


class Chain:
    """One file, and one process on it after the other."""

    def __init__(self, path, seed):
        self.path = path
        self.token = secrets.token_urlsafe(24)
        self.talk = Talk({"alice": self.token})
        self.random = random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.samples: Counter[str] = Counter()
        self.misses = 0
        self.threads: list[Sample] = []

    async def perform(self, kills):
        left: list[Sample] = []
        while sum(self.kills.values()) < kills:
            host, target = await self.start()
            try:
                for sample in left:
                    await self.check(target, sample)
                left = await self.kill(host, target)
            finally:
                await target.aclose()
                host.kill()
                await host.stop()
        host, target = await self.start()
        try:
            for sample in left:
                await self.check(target, sample)
        finally:
            await target.aclose()
            await host.stop()
        check_readable(self.path)
        for sample in self.threads:
            assert len(effects_of(self.path, sample.thread)) <= 1

    async def start(self):
        command = [sys.executable, "-m", "tests.slow_host", str(self.path)]
        host = await HostProcess.start(command, {TOKEN_VARIABLE: self.token})
        return host, host.target()

    async def paused(self, target, approved):
        thread, nonce = str(uuid.uuid4()), f"n{secrets.token_hex(5)}"
        interrupt = await self.talk.pause(target, thread, "check_in", nonce)
        pending = pending_of(self.path, thread)
        return Sample(
            thread=thread,
            request_id=pending["request"]["id"],
            call_id=pending["call"]["callId"],
            arguments=pending["call"]["arguments"],
            answer=self.talk.answer(thread, interrupt, YES if approved else NO),
            approved=approved,
        )

    async def kill(self, host, target):
        """Send answers, kill the process at a random moment, and give those it was in."""
        wanted = [True] * self.random.randint(1, 3) + [False] * self.random.randint(0, 1)
        samples = [await self.paused(target, approved) for approved in wanted]
        sent = [asyncio.create_task(target.send(one.answer, LIMITS)) for one in samples]
        await host.printed(ARRIVED, len(samples))
        # The moment is drawn, not waited for: up to about what an answer takes.
        await asyncio.sleep(self.random.uniform(0, 3.5 * WAIT_SECONDS))
        host.kill()
        exchanges = await asyncio.gather(*sent)
        await host.ended()
        in_flight = []
        for sample, exchange in zip(samples, exchanges, strict=True):
            if any(event.is_terminal for event in exchange.events):
                assert exchange.events[-1].type == "RUN_FINISHED"
                assert self.effects(sample) == ([sample.arguments] if sample.approved else [])
            else:
                sample.moment = self.moment(sample)
                in_flight.append(sample)
        self.threads += samples
        self.samples.update(sample.moment for sample in in_flight)
        counted = next((sample for sample in in_flight if sample.approved), None)
        if counted is None:
            self.misses += 1
        else:
            self.kills[counted.moment] += 1
        return in_flight

    def effects(self, sample):
        return effects_of(self.path, sample.thread)

    def moment(self, sample):
        """Read from the file how far an answer came."""
        how = how_spent(self.path, sample.request_id)
        effects = self.effects(sample)
        is_open = pending_of(self.path, sample.thread) is not None
        if how is None:
            assert (effects, is_open) == ([], True)
            return BEFORE
        assert how == ("approved" if sample.approved else "declined")
        if not sample.approved:
            assert effects == []
            return DECLINED if is_open else KEPT
        assert effects in ([], [sample.arguments])
        if not effects:
            assert is_open
            return BETWEEN
        return AFTER if is_open else KEPT

    async def check(self, target, sample):
        """Give the same answer again, then a message, then the answer once more."""
        before = self.effects(sample)
        again = await target.send(sample.answer, LIMITS)
        if sample.moment == BEFORE:
            assert ran(again), again.text
            assert self.effects(sample) == ([sample.arguments] if sample.approved else [])
        else:
            assert refusal_of(again) == (GONE if sample.moment == KEPT else SPENT_BEFORE)
            assert self.effects(sample) == before
        if sample.moment in (BETWEEN, AFTER, DECLINED):
            (result,) = [
                said["content"]
                for said in said_on(self.path, sample.thread)
                if said.get("toolCallId") == sample.call_id
            ]
            assert reads_as_not_run(result) if not sample.approved else result == OUTCOME_UNKNOWN
        acted = self.effects(sample)
        assert ran(await target.send(self.talk.cue(sample.thread, "plain", "n1"), LIMITS))
        assert refusal_of(await target.send(sample.answer, LIMITS)) == GONE
        assert self.effects(sample) == acted


def test_a_kill_never_runs_an_action_twice(tmp_path):
    chains = [Chain(tmp_path / f"{at}.db", seed=at) for at in range(AT_ONCE_CHAINS)]
    each = scaled(KILLS) // AT_ONCE_CHAINS

    async def run():
        async with asyncio.TaskGroup() as tasks:
            for chain in chains:
                tasks.create_task(chain.perform(each))

    asyncio.run(run())
    kills = sum((chain.kills for chain in chains), Counter())
    samples = sum((chain.samples for chain in chains), Counter())
    misses = sum(chain.misses for chain in chains)
    print(  # noqa: T201 - the counts are what this test is asked to show
        f"\n{kills.total()} kills with a yes in flight: {dict(kills.most_common())}; "
        f"{misses} more hit none\n  answers in flight: {dict(samples.most_common())}"
    )
    for moment in (BEFORE, BETWEEN, AFTER):
        assert kills[moment] >= scaled(ENOUGH)
