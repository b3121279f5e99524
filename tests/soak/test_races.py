"""Many answers to one pause at one moment: one wins, the action runs once or never."""

import asyncio
import random
import secrets
import uuid
from collections import Counter
from contextlib import AsyncExitStack

import pytest

from hostproof.conformance.exchange import Request
from hostproof.conformance.http_target import HttpTarget
from hostproof.conformance.last_byte import race
from tests.processes import running, serve_command
from tests.soak.scale import scaled
from tests.talk import LIMITS, NO, YES, Talk, ran, refusal_of

AT_ONCE = 8
REFUSALS = {
    (409, "ERR_CONCURRENT_RUN", None),
    (409, "ERR_NO_PENDING_ASK", None),
    (409, "ERR_RESUME_DECISION", "already-answered"),
}
NAMES = ("alice", "inspector")


class Rounds:
    """Rounds against the processes of one host, and what came of them."""

    def __init__(self, urls, tokens, seed):
        self.targets = [HttpTarget(url) for url in urls]
        self.tokens = tokens
        self.talk = Talk(tokens)
        self.random = random.Random(seed)
        self.wins: Counter[bool] = Counter()
        self.losses: Counter[tuple[str, str | None]] = Counter()
        self.places: Counter[int] = Counter()
        self.processes: Counter[int] = Counter()

    async def observe(self, query):
        request = Request(
            method="GET",
            path=f"/hostproof/observation{query}",
            headers=(("authorization", f"Bearer {self.tokens['inspector']}"),),
        )
        exchange = await self.targets[0].send(request, LIMITS)
        assert exchange.status == 200, exchange.text[:500]
        return exchange.json

    async def round(self):
        """Bring one thread to a pause, answer it eight times at once, and look what was done."""
        thread, nonce = str(uuid.uuid4()), f"n{secrets.token_hex(5)}"
        asked = self.random.choice(self.targets)
        interrupt = await self.talk.pause(asked, thread, "check_in", nonce)
        yeses = self.random.randint(3, 5)
        answers = [YES] * yeses + [NO] * (AT_ONCE - yeses)
        self.random.shuffle(answers)
        at = [self.targets[place % len(self.targets)] for place in range(AT_ONCE)]
        self.random.shuffle(at)
        requests = [self.talk.answer(thread, interrupt, answer) for answer in answers]
        exchanges = await race(list(zip(at, requests, strict=True)), LIMITS)
        (winner,) = [place for place, exchange in enumerate(exchanges) if ran(exchange)]
        for place, exchange in enumerate(exchanges):
            if place != winner:
                refusal = refusal_of(exchange)
                assert refusal in REFUSALS
                self.losses[refusal[1:]] += 1
        approved = answers[winner]["approved"]
        self.wins[approved] += 1
        self.places[winner] += 1
        self.processes[self.targets.index(at[winner])] += 1
        seen = await self.observe(f"?caller=alice&thread={thread}")
        arguments = [effect["arguments"] for effect in seen["effects"]]
        assert arguments == ([{"to": nonce, "amount": 10}] if approved else [])
        assert seen["pauses"] == []
        after = self.talk.cue(thread, "plain", nonce)
        assert ran(await self.random.choice(self.targets).send(after, LIMITS))

    async def perform(self, rounds):
        try:
            for _ in range(rounds):
                await self.round()
            decisions = (await self.observe("?caller=alice&thread=none"))["decisions"]
        finally:
            for target in self.targets:
                await target.aclose()
        assert Counter(one["approved"] for one in decisions) == self.wins

    def told(self):
        rounds = sum(self.wins.values())
        losses = ", ".join(
            f"{code}{f' ({reason})' if reason else ''} {number}"
            for (code, reason), number in self.losses.most_common()
        )
        return (
            f"\n{rounds} rounds of {AT_ONCE} answers at once, {len(self.targets)} process(es): "
            f"yes won {self.wins[True] / rounds:.1%}, no won {self.wins[False] / rounds:.1%}\n"
            f"  losers: {losses}\n"
            f"  wins by place: {[self.places[place] for place in range(AT_ONCE)]}, "
            f"by process: {[self.processes[at] for at in range(len(self.targets))]}"
        )


@pytest.mark.parametrize(("processes", "rounds"), [(1, 2_000), (2, 500)])
def test_one_answer_wins_and_acts_at_most_once(tmp_path, processes, rounds):
    tokens = {name: secrets.token_urlsafe(24) for name in NAMES}
    environ = {f"HOSTPROOF_TOKEN_{name.upper()}": token for name, token in tokens.items()}
    command = serve_command(tmp_path / "host.db", "--inspect")

    async def run():
        async with AsyncExitStack() as stack:
            hosts = [
                await stack.enter_async_context(running(command, environ)) for _ in range(processes)
            ]
            done = Rounds([host.url for host in hosts], tokens, seed=rounds)
            await done.perform(scaled(rounds))
            return done

    done = asyncio.run(run())
    print(done.told())  # noqa: T201 - the shares are what this test is asked to show
    assert min(done.wins[True], done.wins[False]) * 4 >= scaled(rounds)
