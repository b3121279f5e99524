"""
One case performed: the control run, the one change, and a good request afterwards.

Each case has threads of its own. A situation (a pause, say) is brought about by
the profile's cues, on a twin thread for the control and on the case's own for
the change, so that nothing but the change differs.

Source: docs/verdicts.md, "How a case is judged".
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.conformance.case import ASKING_RUNS
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.recording import Recording
from hostproof.reference_impl.values import Json, Record, is_record, is_text
from hostproof.strategies.changes import Change, user_message
from hostproof.strategies.edits import edited
from hostproof.strategies.plan_changes import FORM
from hostproof.strategies.wire_changes import WireChange, changed_text

if TYPE_CHECKING:
    from hostproof.conformance.case import Case
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers

PROTOCOL_VERSION: Final = "1.0"
AT_ONCE: Final = 2
CALLS: Final = ("TOOL_CALL_START", "TOOL_CALL_CHUNK")


class UnpreparedError(Exception):
    """A situation could not be brought about; the message says what the host did."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as a case needs it: its *id*, and what the pause on it handed out."""

    id: str
    slots: dict[str, str]


def body_text(body: Json) -> bytes:
    """Write a body the way the suite does: compact, in ASCII, names in order."""
    return json.dumps(body, separators=(",", ":")).encode("ascii")


class Scenario:
    """
    Performs one case.

    Args:
        host: the host under test.
        case: the case.
        ids: makes the ids; the same give the same bytes.
    """

    def __init__(self, host: HostUnderTest, case: Case, ids: Identifiers) -> None:
        self.host = host
        self.case = case
        self.ids = ids
        self.canary = ids.canary(case.id)
        self.inside: Record | None = None

    async def perform(self) -> Recording:
        """Perform the case; what the host does is recorded, never raised."""
        facts = self.case.facts(self.canary)
        waits_before = self.host.waits
        try:
            control, changed, after = await self._exchanges()
        except UnpreparedError as error:
            return Recording(case=facts, unprepared=str(error))
        return Recording(
            case=facts,
            control=control,
            changed=changed,
            after=after,
            throttled=self.host.waits > waits_before,
            inside=self.inside,
        )

    async def _exchanges(
        self,
    ) -> tuple[Exchange | None, tuple[Exchange, ...], Exchange | None]:
        if self.case.change is None:
            return await self._plain_run()
        twin = await self._thread("twin")
        control = await self.host.send_good(self._good_request(twin))
        if not isinstance(outcome_of(control), Accepted):
            return control, (), None
        thread = await self._thread("own")
        if self.case.situation == "spoiled" and not await self.host.control(
            "spoil-pause", thread.id
        ):
            raise UnpreparedError("the control command spoil-pause was not carried out")
        changed = await self.host.send(self.changed_request(thread))
        if self.case.looks_inside:
            self.inside = await self._look(thread)
        after: Exchange | None = None
        if isinstance(outcome_of(changed), Accepted):
            return control, (changed,), None
        if self.case.situation == "spoiled":
            await self.host.control("close-pause", thread.id)
            after = await self.host.send_good(self._message_request(thread, "after"))
        else:
            after = await self.host.send_good(self._good_request(thread, "after"))
        return control, (changed,), after

    async def _plain_run(
        self,
    ) -> tuple[Exchange | None, tuple[Exchange, ...], Exchange | None]:
        thread = Thread(self.ids.uuid(self.case.id, "thread"), {})
        if self.case.id in ASKING_RUNS:
            return None, (await self._asking_run(thread),), None
        cue = {"failing-run": "fail", "concurrent-run": "slow"}.get(self.case.id, "plain")
        wanted = AT_ONCE if self.case.id == "concurrent-run" else 1
        requests = [self._message_request(thread, f"run-{at}", cue) for at in range(wanted)]
        changed = tuple(await asyncio.gather(*(self.host.send(one) for one in requests)))
        after = await self.host.send_good(self._message_request(thread, "after"))
        return None, changed, after

    async def _asking_run(self, thread: Thread) -> Exchange:
        """
        Have the host ask something, and leave it unanswered.

        Raises:
            UnpreparedError: it made no call at all.
        """
        client = self.case.id == "client-call-run"
        body = self._message_body(thread, "run", "client_tool" if client else "check_in")
        if client:
            body["tools"] = [FORM | {"description": "A form."}]
        exchange = await self.host.send(self.host.run_request(self.case.endpoint, body_text(body)))
        outcome = outcome_of(exchange)
        asks = isinstance(outcome, Accepted) and outcome.outcome == "interrupt"
        calls = [event for event in exchange.events if event.type in CALLS]
        if isinstance(outcome, Accepted) and not asks and not calls:
            raise UnpreparedError("the cue led to no call and no question")
        return exchange

    async def _look(self, thread: Thread) -> Record:
        """
        Read the observation of a thread.

        Raises:
            UnpreparedError: the host shows none.
        """
        document = await self.host.observe(thread.id)
        if document is None:
            raise UnpreparedError("the observation shows nothing of the thread")
        return document

    def _cue(self, name: str, *names: str) -> str:
        nonce = self.ids.nonce(self.case.id, *names)
        return self.host.profile.cues[name].replace("{nonce}", nonce)

    def _body(self, thread: Thread, run: str, **members: Json) -> Record:
        return {
            "threadId": thread.id,
            "runId": self.ids.uuid(self.case.id, thread.id, run),
            "protocolVersion": PROTOCOL_VERSION,
            "messages": [],
            "tools": [],
            "context": [],
            "state": {},
            "forwardedProps": {},
        } | members

    def _message_body(self, thread: Thread, run: str, cue: str = "plain") -> Record:
        message_id = self.ids.uuid(self.case.id, thread.id, run, "message")
        message = user_message(self._cue(cue, thread.id, run), message_id)
        return self._body(thread, run, messages=[message])

    def _message_request(self, thread: Thread, run: str, cue: str = "plain") -> Request:
        body = body_text(self._message_body(thread, run, cue))
        return self.host.run_request(self.case.endpoint, body)

    def _good_body(self, thread: Thread, run: str) -> Record:
        """Write the request that is right for the situation: a message, or the answer."""
        if "interrupt" in thread.slots:
            entry = {
                "interruptId": thread.slots["interrupt"],
                "status": "resolved",
                "payload": self.canary,
            }
            return self._body(thread, run, resume=[entry])
        if "call" in thread.slots:
            result = {
                "id": self.ids.uuid(self.case.id, thread.id, run, "result"),
                "role": "tool",
                "toolCallId": thread.slots["call"],
                "content": self.canary,
            }
            return self._body(thread, run, messages=[result])
        return self._message_body(thread, run)

    def _good_request(self, thread: Thread, run: str = "run") -> Request:
        return self.host.run_request(self.case.endpoint, body_text(self._good_body(thread, run)))

    def changed_request(self, thread: Thread) -> Request:
        """Build the request with its one change."""
        good = self._good_body(thread, "run")
        change = self.case.change
        if isinstance(change, WireChange):
            return self._wire_request(change, body_text(good))
        assert isinstance(change, Change)  # noqa: S101 - a plain run is not asked for here
        slots = {
            "canary": self.canary,
            "plain": self._cue("plain", thread.id, "changed"),
            "last": str(max(len(good["messages"]) - 1, 0)),
            **self._repeat(thread),
            **thread.slots,
        }
        return self.host.run_request(
            self.case.endpoint, body_text(edited(good, change.edits, slots))
        )

    def _repeat(self, thread: Thread) -> dict[str, str]:
        """Give the cue to repeat what the page gave, where the host has one."""
        cues = self.host.profile.cues
        return {"repeat": self._cue("repeat", thread.id, "repeat")} if "repeat" in cues else {}

    def _wire_request(self, change: WireChange, text: bytes) -> Request:
        caller: tuple[tuple[str, str], ...] | None = None
        if change.identity == "none":
            caller = ()
        elif change.identity == "wrong":
            right = self.host.caller_headers()
            caller = tuple((name, _wrong_like(value, self.canary)) for name, value in right)
        return self.host.run_request(
            self.case.endpoint,
            changed_text(text, change),
            method=change.method,
            headers=change.headers,
            caller=caller,
        )

    async def _thread(self, name: str) -> Thread:
        """
        Make a thread of the case's situation.

        Raises:
            UnpreparedError: the host did not pause.
        """
        thread = Thread(self.ids.uuid(self.case.id, name), {})
        if self.case.situation == "fresh":
            return thread
        client = self.case.situation == "client-call"
        body = self._message_body(thread, "pause", "client_tool" if client else "question")
        if client:
            body["tools"] = [FORM | {"description": "A form."}]
        exchange = await self.host.send_good(
            self.host.run_request(self.case.endpoint, body_text(body))
        )
        thread.slots.update(pause_slots(exchange, client=client))
        return thread


def pause_slots(exchange: Exchange, *, client: bool) -> dict[str, str]:
    """
    Read what a pause handed out: the interrupt's id, or the id of the page's open call.

    Raises:
        UnpreparedError: the run did not pause so.
    """
    outcome = outcome_of(exchange)
    if not isinstance(outcome, Accepted):
        raise UnpreparedError(f"the cue to pause was answered with {outcome.describe()}")
    if client:
        started = [
            event.value.get("toolCallId")
            for event in exchange.events
            if event.type == "TOOL_CALL_START"
        ]
        if len(started) != 1 or not is_text(started[0]):
            raise UnpreparedError("the cue for a page's tool started not one call")
        return {"call": started[0]}
    stated = outcome.finished.get("outcome")
    interrupts = stated.get("interrupts") if is_record(stated) else None
    first = interrupts[0] if isinstance(interrupts, list) and len(interrupts) == 1 else None
    interrupt_id = first.get("id") if is_record(first) else None
    if not is_text(interrupt_id):
        raise UnpreparedError("the cue for a question ended without one interrupt")
    return {"interrupt": interrupt_id}


def _wrong_like(value: str, canary: str) -> str:
    """Make a header value of the same form that is nobody's."""
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {canary}" if space else canary
