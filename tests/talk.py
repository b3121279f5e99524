"""Talk with a host: its cues, its interrupts and the answers to them, over any target."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

from hostproof.conformance.exchange import Exchange, Request
from hostproof.conformance.outcome import Accepted, Outcome, Refused, outcome_of
from hostproof.conformance.target import Limits
from hostproof.reference_impl.cues import cue_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.conformance.target import Target
    from hostproof.reference_impl.values import Json, Record

LIMITS = Limits(deadline_seconds=60, head_seconds=60)
YES: Record = {"approved": True, "by": "somebody"}
NO: Record = {"approved": False, "by": "somebody"}


class Talk:
    """One caller's words with a host; every run has an id of its own."""

    def __init__(self, tokens: Mapping[str, str], caller: str = "alice", path: str = "/agui"):
        self._token = tokens[caller]
        self._path = path

    def _request(self, thread: str, members: Record, path: str | None) -> Request:
        body = {
            "threadId": thread,
            "runId": str(uuid.uuid4()),
            "protocolVersion": "1.0",
            "messages": [],
            "tools": [],
            "context": [],
            "state": {},
            "forwardedProps": {},
        } | members
        return Request(
            path=path or self._path,
            headers=(
                ("content-type", "application/json"),
                ("authorization", f"Bearer {self._token}"),
            ),
            body=json.dumps(body).encode("ascii"),
        )

    def message(self, thread: str, text: str, path: str | None = None, **members: Json) -> Request:
        """Say a text."""
        message = {"id": str(uuid.uuid4()), "role": "user", "content": text}
        return self._request(thread, {"messages": [message], **members}, path)

    def cue(self, thread: str, name: str, nonce: str, **members: Json) -> Request:
        """Say a cue."""
        return self.message(thread, cue_text(name, nonce), **members)

    def answer(
        self, thread: str, interrupt: str, payload: Json, path: str | None = None
    ) -> Request:
        """Answer an interrupt."""
        entry = {"interruptId": interrupt, "status": "resolved", "payload": payload}
        return self._request(thread, {"resume": [entry]}, path)

    def result(self, thread: str, call: str, content: str) -> Request:
        """Give the result of a tool that the page runs."""
        message = {"id": str(uuid.uuid4()), "role": "tool", "toolCallId": call, "content": content}
        return self._request(thread, {"messages": [message]}, None)

    async def pause(self, target: Target, thread: str, name: str, nonce: str) -> str:
        """Bring a thread to a pause, and give the interrupt's id."""
        return interrupt_of(await target.send(self.cue(thread, name, nonce), LIMITS))


def interrupt_of(exchange: Exchange) -> str:
    """Give the id of the one interrupt a run ended with."""
    outcome = outcome_of(exchange)
    assert isinstance(outcome, Accepted), outcome
    assert outcome.outcome == "interrupt"
    (interrupt,) = outcome.finished["outcome"]["interrupts"]
    found: str = interrupt["id"]
    return found


def ran(exchange: Exchange) -> bool:
    """Say whether a run went to its end, without asking anything."""
    outcome = outcome_of(exchange)
    return isinstance(outcome, Accepted) and outcome.outcome == "success"


def refusal_of(exchange: Exchange) -> tuple[int, str | None, str | None]:
    """Give status, code and reason of a refusal, before the stream or in it."""
    outcome: Outcome = outcome_of(exchange)
    assert isinstance(outcome, Refused), (outcome, exchange.text[:500])
    if outcome.in_stream:
        reason = exchange.events[-1].value.get("metadata", {}).get("hostproof", {}).get("reason")
    else:
        reason = exchange.json.get("reason")
    return outcome.status, outcome.code, reason
