"""
Threads that wait on an answer, kept for the next request that needs one.

A refused request leaves its pause as it was, so the thread serves again; one
whose pause was answered, or may be lost, is given up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostproof.conformance.scenario import PROTOCOL_VERSION, UnpreparedError, pause_slots
from hostproof.strategies.changes import user_message
from hostproof.strategies.drawn import body_text
from hostproof.strategies.plan_changes import FORM

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.reference_impl.values import Json, Record
    from hostproof.strategies.changes import EndpointName, Situation


@dataclass(slots=True, kw_only=True)
class StandingThread:
    """
    A thread in the state that a case wants.

    Attributes:
        id: its id.
        endpoint: the agent it belongs to.
        situation: what is pending on it.
        slots: what its pause handed out.
        before: the exchange that brought it about, or ``None`` where none did.
        refused: how many requests were refused on it since.
    """

    id: str
    endpoint: EndpointName
    situation: Situation
    slots: dict[str, str] = field(default_factory=dict)
    before: Exchange | None = None
    refused: int = 0


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
        thread = StandingThread(
            id=self._ids.uuid("thread", self.name()), endpoint=endpoint, situation=situation
        )
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
        members: Record = {"tools": [FORM | {"description": "A form."}]} if client else {}
        cue = "client_tool" if client else "question"
        thread.before = await self._host.send(self._message(thread, cue, **members))
        thread.slots.update(pause_slots(thread.before, client=client))
        if thread.situation == "spoiled" and not await self._host.control("spoil-pause", thread.id):
            raise UnpreparedError("the control command spoil-pause was not carried out")

    def cue(self, name: str) -> str:
        """Write a cue with a nonce of its own."""
        return self._host.profile.cues[name].replace("{nonce}", self._ids.nonce(self.name()))

    def good_request(self, thread: StandingThread, marker: str) -> Request:
        """Write the request that is right for the thread as it stands: a message, or the answer."""
        if "interrupt" in thread.slots:
            entry = {
                "interruptId": thread.slots["interrupt"],
                "status": "resolved",
                "payload": marker,
            }
            return self._request(thread, resume=[entry])
        if "call" in thread.slots:
            result = {
                "id": self._ids.uuid("result", self.name()),
                "role": "tool",
                "toolCallId": thread.slots["call"],
                "content": marker,
            }
            return self._request(thread, messages=[result])
        return self._message(thread, "plain")

    def _message(self, thread: StandingThread, cue: str, **members: Json) -> Request:
        message = user_message(self.cue(cue), self._ids.uuid("message", self.name()))
        return self._request(thread, messages=[message], **members)

    def _request(self, thread: StandingThread, **members: Json) -> Request:
        body: Record = {
            "threadId": thread.id,
            "runId": self._ids.uuid("run", self.name()),
            "protocolVersion": PROTOCOL_VERSION,
            "messages": [],
            "tools": [],
            "context": [],
            "state": {},
            "forwardedProps": {},
        } | members
        return self._host.run_request(thread.endpoint, body_text(body))
