"""One drawn case sent: its slots filled, what it owes worked out, and what came of it judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostproof.conformance.expectation import Standing, expected_by_reference
from hostproof.conformance.fuzz_judging import (
    applied_rules,
    broken_rules,
    disagreement,
    facts_of,
    is_decidable,
    owed_by_construction,
)
from hostproof.conformance.outcome import Refused, outcome_of
from hostproof.conformance.paused_threads import PausedThreads
from hostproof.conformance.recording import Recording
from hostproof.reference_impl.reader import RUN_ID_ALPHABET
from hostproof.reference_impl.values import is_record, is_text
from hostproof.strategies.drawn import BRACE
from hostproof.strategies.edits import filled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.fuzz_judging import Broken
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.conformance.paused_threads import StandingThread
    from hostproof.conformance.recording import Owed
    from hostproof.conformance.rule import Rule
    from hostproof.strategies.drawn import DrawnCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """
    A case as it was sent.

    Attributes:
        recording: what came of it.
        owed: what it owed, or ``None`` where nothing that is declared decides it.
        thread: the thread it was written for.
        was_used: whether other requests had been refused on that thread before.
        request: the request.
        judged_by: the ids of the rules it was judged by.
        broken: the rules it broke.
    """

    recording: Recording
    owed: Owed | None
    thread: StandingThread
    was_used: bool
    request: Request
    judged_by: tuple[str, ...]
    broken: tuple[Broken, ...]


class Sender:
    """
    Sends drawn cases to a host and judges them.

    Args:
        host: the host under test.
        rules: the rules that may be judged.
        ids: makes the ids, nonces and canaries.
    """

    def __init__(self, host: HostUnderTest, rules: Sequence[Rule], ids: Identifiers) -> None:
        self.host = host
        self.rules = rules
        self.ids = ids
        self.is_named = "named" in host.profile.sets
        self.threads = PausedThreads(host, ids)

    async def send(self, case: DrawnCase, *, is_followed: bool, new: bool) -> Sent:
        """
        Send a case to a thread of its situation, and judge what comes.

        Args:
            case: the case.
            is_followed: whether a refusal is followed by a good request on the same thread.
            new: whether the thread must be a new one.

        Raises:
            UnpreparedError: the situation could not be brought about.
            BudgetSpentError: there is no request left.
            TargetError: the target is wired wrongly.
        """
        thread = await self.threads.take(case.endpoint, case.situation, new=new)
        was_used = thread.refused > 0
        slots = {
            "thread": thread.id,
            "run": self.ids.uuid("run", self.threads.name()),
            "plain": self.threads.cue("plain"),
            "canary": self.ids.canary(self.threads.name()),
            **thread.slots,
        }
        request = self._request(case, slots)
        owed = owed_by_construction(case)
        broken: list[Broken] = []
        if self.is_named and is_decidable(case):
            standing = Standing(situation=case.situation, thread=thread.id, slots=thread.slots)
            endpoint = self.host.profile.endpoints[case.endpoint]
            expected = expected_by_reference(request.body, endpoint, standing)
            if owed is None:
                owed = expected
            elif expected is not None:
                differs = disagreement(owed, expected, with_field=case.kind != "wire")
                broken += [] if differs is None else [differs]
        exchange = await self.host.send(request)
        after = await self._after(case, thread, exchange, slots, is_followed=is_followed)
        recording = Recording(
            case=facts_of(case, owed, slots["canary"]), changed=(exchange,), after=after
        )
        is_owed = self.is_named and owed is not None
        applied = applied_rules(recording, self.rules, is_owed=is_owed)
        broken += broken_rules(recording, applied)
        return Sent(
            recording=recording,
            owed=owed,
            thread=thread,
            was_used=was_used,
            request=request,
            judged_by=tuple(rule.id for rule in applied),
            broken=tuple(broken),
        )

    def _request(self, case: DrawnCase, slots: dict[str, str]) -> Request:
        text = case.text(slots)
        if case.wire is None:
            return self.host.run_request(case.endpoint, text)
        caller: tuple[tuple[str, str], ...] | None = None
        if case.wire.identity != "right":
            right = self.host.caller_headers() if case.wire.identity == "wrong" else ()
            caller = tuple(
                (name, f"{value.partition(' ')[0]} {slots['canary']}") for name, value in right
            )
        return self.host.run_request(
            case.endpoint, text, method=case.wire.method, headers=case.wire.headers, caller=caller
        )

    async def _after(
        self,
        case: DrawnCase,
        thread: StandingThread,
        exchange: Exchange,
        slots: dict[str, str],
        *,
        is_followed: bool,
    ) -> Exchange | None:
        """After a refusal, ask for what is right on the same thread, or keep it for another."""
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Refused) or outcome.in_stream:
            return None
        if not is_followed or case.situation == "spoiled":
            self.threads.keep(thread)
            return None
        if case.situation == "fresh" and is_record(case.body):
            given = filled(case.body.get("threadId"), {**slots, **BRACE})
            if is_text(given) and RUN_ID_ALPHABET.fullmatch(given) and thread.id in given:
                thread.conversation.id = given[:128]
        return await self.host.send(self.threads.good_request(thread, slots["canary"]))
