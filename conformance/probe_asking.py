"""
Asking a host gently: fresh threads, counted runs, and what has run on a thread.

Source: docs/profile.md, "Probe".
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from hostproof.conformance.conversation import Conversation, body_text
from hostproof.conformance.effect_sources import NoEffectsError, rows_in_streams, rows_of
from hostproof.strategies.decisions import entry

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange, Headers
    from hostproof.conformance.gate import Progress
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.conformance.profile import Profile
    from hostproof.reference_impl.values import Json, Record

MOST_RUNS: Final = 60
"""Runs of one probe; what reads effects is not counted."""

MOST_LOOKS: Final = 3
LOOK_SECONDS: Final = 0.2
"""Between two looks at effects that are still awaited."""

PLACES: Final = ("{interrupt}", "{second_interrupt}", "{third_interrupt}")
"""The slots of the questions that may be open at once."""

CASE: Final = "probe"


class EnoughError(Exception):
    """As many runs were sent as a probe may send."""


class Asking:
    """
    Sends the probe's runs, each thread a fresh one.

    Args:
        host: the host.
        ids: makes the ids.
        progress: is told of every run.

    Attributes:
        profile: what is known of the host so far.
        runs: how many were sent.
        trouble: why the effects cannot be read, or "".
    """

    def __init__(self, host: HostUnderTest, ids: Identifiers, progress: Progress) -> None:
        self.host = host
        self.ids = ids
        self.progress = progress
        self.profile = host.profile
        self.runs = 0
        self.threads = 0
        self.trouble = ""

    @property
    def left(self) -> int:
        """How many runs may still be sent."""
        return MOST_RUNS - self.runs

    def thread(self, profile: Profile | None = None) -> Conversation:
        """Begin a thread, spoken to as *profile* says, by default as far as is known."""
        self.threads += 1
        name = f"thread-{self.threads}"
        return Conversation.begun(profile or self.profile, self.ids, CASE, name)

    async def send(
        self,
        thread: Conversation,
        body: Record,
        *,
        caller: Headers | None = None,
        endpoint: str = "",
    ) -> Exchange:
        """
        Send a run, to the main endpoint by default, and take what it hands out.

        Raises:
            EnoughError: so many were sent that no more may be.
            BudgetSpentError: the profile allows no more requests.
        """
        if self.left <= 0:
            raise EnoughError
        self.runs += 1
        place = endpoint or self.profile.main_endpoint.name
        request = self.host.run_request(place, body_text(body), caller=caller)
        exchange = await self.host.send_good(request)
        thread.note(body, exchange)
        self.progress(self.runs, MOST_RUNS, CASE)
        return exchange

    async def say(
        self,
        thread: Conversation,
        cue: str,
        *,
        caller: Headers | None = None,
        **members: Json,
    ) -> Exchange:
        """Say a cue; *members* replace the request's own."""
        return await self.send(thread, thread.message(cue, cue, **members), caller=caller)

    async def decide(self, thread: Conversation, word: Json, run: str = "decision") -> Exchange:
        """
        Answer all that is open with a word, ``{yes}`` or ``{no}``.

        Raises:
            InexpressibleError: the host's style has no place for it.
        """
        entries = [entry(word, interruptId=place) for place in PLACES[: len(thread.asked)]]
        return await self.send(thread, thread.answer(run, entries, self.ids.canary(CASE)))

    async def count(self, thread: Conversation, wanted: int = 0) -> int | None:
        """
        Count what has run on a thread, and wait a little for as much as is *wanted*.

        Returns:
            ``None`` where nothing shows it; :attr:`trouble` says why if it should.
        """
        for look in range(MOST_LOOKS):
            rows = await self._rows(thread)
            if rows is None or len(rows) >= wanted or look == MOST_LOOKS - 1:
                return None if rows is None else len(rows)
            await asyncio.sleep(LOOK_SECONDS)
        return None

    async def _rows(self, thread: Conversation) -> list[Record] | None:
        at = self.profile.effects
        if at is None:
            return await self._observed(thread) if self.profile.observation else None
        if at.kind == "stream":
            return rows_in_streams(thread.exchanges, at.place, thread.nonces)
        try:
            return rows_of(await self.host.effect_rows(), [thread.id], thread.nonces)
        except NoEffectsError as error:
            self.trouble = str(error)
            return None

    async def _observed(self, thread: Conversation) -> list[Record] | None:
        document = await self.host.observe(thread.id)
        effects = document.get("effects") if document is not None else None
        if not isinstance(effects, list):
            self.trouble = "the observation shows none"
            return None
        return effects
