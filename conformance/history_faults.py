"""
Faults of what is stored of a thread: results without calls, calls without results, lost pauses.

Each host keeps the thread wrong in one way; what it does otherwise is right.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.conformance.agui_faults import rewrites
from hostproof.conformance.agui_input_faults import rereads
from hostproof.conformance.fault_agents import WrappedAgent
from hostproof.conformance.fault_inputs import noting, sent, sent_messages
from hostproof.conformance.fault_ledgers import LedgerAround
from hostproof.conformance.fault_sessions import SessionsAround
from hostproof.conformance.inside_reading import records
from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.agent_steps import Call, Called, Paused, Returned
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from hostproof.reference_impl.agent_steps import Step, Turn
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.ledger import Spent
    from hostproof.reference_impl.scripted_model import ModelReply, ModelRequest
    from hostproof.reference_impl.sessions import StoredPause, StoredThread, ThreadKey
    from hostproof.reference_impl.values import Record

SHOWN: str = "live-"
"""What the ids of interrupts begin with on the wire, where the store has others."""


class PagesHistory(SessionsAround):
    """Takes what a page says was said before into the thread."""

    def load(self, key: ThreadKey) -> StoredThread:
        """Read the thread, with the page's history behind it."""
        stored = self.inner.load(key)
        return replace(stored, messages=(*stored.messages, *_earlier()))

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add the page's history and what was said."""
        self.inner.save(key, [*_earlier(), *said], pause)


def _earlier() -> list[Record]:
    """Give the page's assistant and tool messages before its newest."""
    return [one for one in sent_messages()[:-1] if one.get("role") in ("assistant", "tool")]


def keeps_the_pages_history(parts: HostParts) -> HostParts:
    """Take a page's history as it comes, results of no call too."""
    return replace(noting(parts), sessions=PagesHistory(parts.sessions))


def makes_up_call_ids(parts: HostParts) -> HostParts:
    """Give a result that names no call an id, and keep it."""

    def mend(body: Record) -> Record:
        messages = [
            {**one, "toolCallId": parts.mint("call")}
            if one.get("role") == "tool" and "toolCallId" not in one
            else one
            for one in records(body.get("messages"))
        ]
        return {**body, "messages": messages}

    return replace(noting(parts, mend), sessions=PagesHistory(parts.sessions))


class Incomplete(WrappedAgent):
    """Goes on with the first answer of several, and forgets the calls behind it."""

    __slots__ = ()

    def changed(self, turn: Turn) -> Turn:
        """Change the turn."""
        resumed = turn.resumed
        if resumed is None:
            return turn
        return replace(turn, resumed=replace(resumed, pending={**resumed.pending, "rest": []}))


class Repeating(WrappedAgent):
    """Gives the model the results of an earlier answer once more."""

    __slots__ = ()

    def changed(self, turn: Turn) -> Turn:
        """Change the turn."""
        if turn.resumed is None:
            return turn
        again = [one for one in turn.messages if one["role"] == "tool"]
        return replace(turn, messages=(*turn.messages, *again))


class Doubling(WrappedAgent):
    """Gives the result of an answered call twice."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn."""
        async for step in ReferenceAgent.__call__(self, turn):
            yield step
            if isinstance(step, Returned) and turn.resumed is not None:
                yield Returned({**step.message, "id": turn.mint("msg")}, step.nested)


class ResultsUnkept(SessionsAround):
    """Keeps what was said after an answer, but not the result of its call."""

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages, without results where the request answered a pause."""
        kept = [one for one in said if not sent().get("resume") or one["role"] != "tool"]
        self.inner.save(key, kept, pause)


def streams_and_forgets(parts: HostParts) -> HostParts:
    """Stream the result of an approved call, and never store it."""
    return replace(noting(parts), sessions=ResultsUnkept(parts.sessions))


class Single(WrappedAgent):
    """Keeps one call of a reply and loses its siblings."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn with a model whose replies lose all calls but one."""
        right = self.model

        def model(request: ModelRequest) -> ModelReply:
            reply = right(request)
            return replace(reply, calls=reply.calls[-1:])

        async for step in ReferenceAgent.__call__(replace(self, model=model), turn):
            yield step


class ClientPauseKept(SessionsAround):
    """Keeps a page's open call after its result has come."""

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages, and leave a pause for the page as it was."""
        before = self.inner.load(key).pause
        for_the_page = before is not None and before.pending.get("kind") == "client"
        self.inner.save(key, said, before if pause is None and for_the_page else pause)


def never_settles_client_calls(parts: HostParts) -> HostParts:
    """Leave a page's call pending for good."""
    return replace(parts, sessions=ClientPauseKept(parts.sessions))


class AskingAgain(WrappedAgent):
    """Has the page run its tool once more, under another id, when the result has come."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn."""
        async for step in ReferenceAgent.__call__(self, turn):
            yield step
            resumed = turn.resumed
            if resumed is None or resumed.pending["kind"] != "client":
                continue
            kept = resumed.pending["call"]
            call = Call(tool=kept["tool"], arguments=kept["arguments"], id=turn.mint("call"))
            function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
            made = {"id": call.id, "type": "function", "function": function}
            message = {"id": turn.mint("msg"), "role": "assistant", "toolCalls": [made]}
            yield Called(message, (call,))
            yield Paused("client", call, "", {**resumed.pending, "call": call.to_json()})
            return


def announces_another_id(parts: HostParts) -> HostParts:
    """Show an interrupt under an id that is not stored, and know it by that alone."""

    def rewrite(value: Record) -> Sequence[Record]:
        outcome = value.get("outcome")
        if not is_record(outcome) or outcome.get("type") != "interrupt":
            return [value]
        shown = [{**one, "id": SHOWN + one["id"]} for one in outcome["interrupts"]]
        return [value | {"outcome": {**outcome, "interrupts": shown}}]

    def reread(body: Record) -> Record:
        if not body.get("resume"):
            return body
        entries = [
            {
                **entry,
                "interruptId": entry["interruptId"].removeprefix(SHOWN)
                if entry["interruptId"].startswith(SHOWN)
                else "unknown",
            }
            for entry in body["resume"]
        ]
        return {**body, "resume": entries}

    return rewrites(rewrite)(rereads(reread)(parts))


class ClaimsKept(SessionsAround):
    """Takes a pause that a page's state claims for one of its own."""

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages, and the pause of the state."""
        from hostproof.reference_impl.sessions import StoredPause  # noqa: PLC0415 - it needs a host

        state = sent().get("state")
        claimed = state.get("pending") if is_record(state) else None
        if pause is None and is_record(claimed):
            pause = StoredPause(suspension=claimed, pending=claimed)
        self.inner.save(key, said, pause)


def merges_a_pages_state(parts: HostParts) -> HostParts:
    """Let a page's state write over the host's own records of the thread."""
    return replace(noting(parts), sessions=ClaimsKept(parts.sessions))


class DeclinedKept(SessionsAround):
    """Keeps a pause that was answered with a no."""

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages, and keep the pause where the answer was a no."""
        entries = records(sent().get("resume"))
        declined = any(
            is_record(entry.get("payload")) and entry["payload"].get("approved") is False
            for entry in entries
        )
        before = self.inner.load(key).pause
        self.inner.save(key, said, before if pause is None and declined else pause)


class NeverTold(LedgerAround):
    """A ledger that does not say how a request was spent."""

    def how_spent(self, request: str) -> Spent | None:
        """Say nothing."""
        del request
        return None


def has_no_way_out(parts: HostParts) -> HostParts:
    """Leave a declined pause open: nothing but a yes ever frees the thread."""
    kept = DeclinedKept(parts.sessions)
    return replace(noting(parts), sessions=kept, ledger=NeverTold(parts.ledger))
