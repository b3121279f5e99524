"""
Threads that wait on an answer, kept for the next request that needs one.

A refused request leaves its pause as it was, so the thread serves again; one
whose pause was answered, or may be lost, is given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hostproof.conformance.conversation import FORM_OFFER, Conversation, UnpreparedError, body_text
from hostproof.conformance.scenario import asking_cue, good_body, paused

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.reference_impl.values import Record
    from hostproof.strategies.changes import EndpointName, Situation


@dataclass(slots=True, kw_only=True)
class StandingThread:
    """
    A thread in the state that a case wants.

    Attributes:
        conversation: what its client keeps of it.
        endpoint: the agent it belongs to.
        situation: what is pending on it.
        before: the exchange that brought it about, or ``None`` where none did.
        refused: how many requests were refused on it since.
    """

    conversation: Conversation
    endpoint: EndpointName
    situation: Situation
    before: Exchange | None = None
    refused: int = 0

    @property
    def id(self) -> str:
        """Its id."""
        return self.conversation.id

    @property
    def slots(self) -> dict[str, str]:
        """What its pause handed out."""
        return self.conversation.slots


class PausedThreads:
    """
    Brings threads about, and keeps those that still wait.

    Args:
        host: the host under test.
        ids: makes the ids, each from a number that is used once.
    """

    def __init__(self, host: HostUnderTest, ids: Identifiers) -> None:
        self._host = host
        self._ids = ids
        self._kept: dict[tuple[EndpointName, Situation], StandingThread] = {}
        self._made = 0

    def name(self) -> str:
        """Give a number that was not given before, as a text."""
        self._made += 1
        return str(self._made)

    async def take(
        self, endpoint: EndpointName, situation: Situation, *, new: bool = False
    ) -> StandingThread:
        """
        Give a thread of a situation: a kept one, unless a *new* one is wanted.

        Raises:
            UnpreparedError: the host did not pause.
            BudgetSpentError: there is no request left.
        """
        kept = self._kept.pop((endpoint, situation), None)
        if kept is not None and not new:
            return kept
        conversation = Conversation.begun(self._host.profile, self._ids, "thread", self.name())
        thread = StandingThread(conversation=conversation, endpoint=endpoint, situation=situation)
        if situation != "fresh":
            await self._pause(thread)
        return thread

    def keep(self, thread: StandingThread) -> None:
        """Keep a thread whose pause a refused request has left as it was."""
        thread.refused += 1
        if thread.situation != "fresh":
            self._kept[thread.endpoint, thread.situation] = thread

    async def _pause(self, thread: StandingThread) -> None:
        client = thread.situation == "client-call"
        members: Record = {"tools": [FORM_OFFER]} if client else {}
        cue = "client_tool" if client else asking_cue(self._host.profile)
        body = thread.conversation.message(self.name(), cue, **members)
        thread.before = await self._host.send(self._request(thread, body))
        paused(thread.conversation, body, thread.before, client=client)
        if thread.situation == "spoiled" and not await self._host.control("spoil-pause", thread.id):
            raise UnpreparedError("the control command spoil-pause was not carried out")

    def cue(self, name: str) -> str:
        """Write a cue with a nonce of its own."""
        return self._host.profile.cues[name].replace("{nonce}", self._ids.nonce(self.name()))

    def good_request(self, thread: StandingThread, marker: str) -> Request:
        """Write the request that is right for the thread as it stands: a message, or the answer."""
        return self._request(thread, good_body(thread.conversation, self.name(), marker))

    def _request(self, thread: StandingThread, body: Record) -> Request:
        return self._host.run_request(thread.endpoint, body_text(body))
