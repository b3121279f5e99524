"""
One answer case performed: a pause, the one answer, and what has run before and after it.

The control is a twin thread whose pause is answered with a yes, which must run
its call. What counts is the observation's effects, not what the reply said.

Source: docs/verdicts.md, "How a case is judged".
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.recording import Recording, Seen
from hostproof.conformance.scenario import PROTOCOL_VERSION, UnpreparedError, body_text
from hostproof.reference_impl.values import Json, Record, is_record, is_text
from hostproof.strategies.changes import user_message
from hostproof.strategies.decisions import YES, AnswerCase, entry
from hostproof.strategies.edits import filled

if TYPE_CHECKING:
    from hostproof.conformance.case import Case
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers

ENDPOINT: Final = "main"
TWO_CALLS: Final = frozenset({"two_in_sequence"})
TWO_PAUSES: Final = frozenset({"two_in_sequence", "ask_then_check_in"})
NOT_GUARDED: Final = frozenset({"question", "credential"})
MOST_PAUSES: Final = 3


@dataclass(slots=True)
class PausedThread:
    """
    A thread on its way: its id, what its pauses handed out, and the calls it was shown.

    Attributes:
        id: the thread's id.
        slots: the open interrupt and call, as the newest pause handed them out.
        shown: the arguments of every call that the page was shown, by call id.
        requests: ids of the consent requests of its pauses, from the observation.
        instructions: the agent's instructions, from the observation.
        decisions: the decision records that the observation shows.
        inside: the newest observation.
        runs: how many runs were asked for.
    """

    id: str
    slots: dict[str, str] = field(default_factory=dict)
    shown: dict[str, Record] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    instructions: set[str] = field(default_factory=set)
    decisions: list[Record] = field(default_factory=list)
    inside: Record | None = None
    runs: int = 0

    def keep(self, document: Record) -> None:
        """Take what the observation shows of the thread."""
        for pause in document.get("pauses", []):
            request = pause.get("pending", {}).get("request")
            if is_record(request) and request["id"] not in self.requests:
                self.requests.append(request["id"])
        self.instructions |= {
            row["system"] for row in document.get("modelRequests", []) if row.get("system")
        }
        self.decisions = document.get("decisions", [])
        self.inside = document

    def note(self, exchange: Exchange) -> None:
        """Take what a run handed out."""
        pieces: dict[str, str] = {}
        for event in exchange.events:
            call_id = event.value.get("toolCallId") if is_record(event.value) else None
            if event.type == "TOOL_CALL_START" and is_text(call_id):
                pieces[call_id] = ""
            elif event.type == "TOOL_CALL_ARGS" and is_text(call_id):
                pieces[call_id] = pieces.get(call_id, "") + str(event.value.get("delta", ""))
        for call_id, text in pieces.items():
            self.shown[call_id] = _arguments(text)
        outcome = outcome_of(exchange)
        if isinstance(outcome, Accepted):
            interrupt = _first_interrupt(outcome.finished)
            if interrupt is not None:
                self.slots["interrupt"] = interrupt["id"]
                self.slots["call"] = str(interrupt.get("toolCallId", ""))

    def shown_call(self, call_id: str) -> Record:
        """Give the arguments that the page was shown for a call."""
        return self.shown.get(call_id, {})


class AnswerScenario:
    """
    Performs one answer case.

    Args:
        host: the host under test.
        case: the case; its change is an :class:`AnswerCase`.
        ids: makes the ids; the same give the same bytes.
    """

    def __init__(self, host: HostUnderTest, case: Case, ids: Identifiers) -> None:
        assert isinstance(case.change, AnswerCase)  # noqa: S101 - the gate has looked
        self.host = host
        self.case = case
        self.answer = case.change
        self.ids = ids
        self.canary = ids.canary(case.id)
        self.others: list[Exchange] = []

    async def perform(self) -> Recording:
        """Perform the case; what the host does is recorded, never raised."""
        facts = self.case.facts(self.canary)
        waits_before = self.host.waits
        try:
            if not self.answer.asks:
                return await self._unasked()
            control, twin = await self._control()
            if not isinstance(outcome_of(control), Accepted):
                return Recording(case=facts, control=control)
            changed, after, seen, inside = await self._own(twin)
        except UnpreparedError as error:
            return Recording(case=facts, unprepared=str(error))
        return Recording(
            case=facts,
            control=control,
            changed=changed,
            after=after,
            others=tuple(self.others),
            seen=seen,
            inside=inside,
            throttled=self.host.waits > waits_before,
        )

    async def _unasked(self) -> Recording:
        """Perform a case whose cue is to ask nobody."""
        thread = PausedThread(self.ids.uuid(self.case.id, "own"))
        changed = await self.host.send_good(self._message(thread, "run", self.answer.cue))
        thread.note(changed)
        answered = await self._look(thread)
        after = await self._follow(thread)
        seen = Seen(
            owed=self.answer.effects,
            shown=tuple(thread.shown_call(row["callId"]) for row in answered),
            answered=answered,
            ended=await self._look(thread),
            ended_owed=self.answer.effects,
        )
        facts = self.case.facts(self.canary)
        return Recording(
            case=facts, changed=(changed,), after=after, seen=seen, inside=thread.inside
        )

    async def _control(self) -> tuple[Exchange, tuple[Record, ...]]:
        """Answer the twin's pauses with a yes each, to the end."""
        thread = await self._paused("twin")
        exchange = await self._yes(thread)
        for _ in range(MOST_PAUSES):
            outcome = outcome_of(exchange)
            if not isinstance(outcome, Accepted) or outcome.outcome != "interrupt":
                break
            thread.note(exchange)
            exchange = await self._yes(thread)
        return exchange, await self._look(thread)

    async def _own(
        self, control: tuple[Record, ...]
    ) -> tuple[tuple[Exchange, ...], Exchange | None, Seen, Record | None]:
        answer = self.answer
        thread = await self._paused("own")
        paused = await self._look(thread)
        if answer.stopped:
            await self._command("stop-after-spend", thread)
        for number, setup in enumerate(answer.setup):
            await self._set_up(thread, setup, f"setup-{number}")
        for command in answer.commands:
            await self._command(command, thread)
        changed = await self._answers(thread)
        won = self._won(changed)
        owed = int(any(won)) if answer.at_once else answer.effects
        for exchange in changed:
            thread.note(exchange)
        answered = await self._look(thread)
        for command in answer.undo:
            await self.host.control(command, thread.id)
        after = await self._follow(thread)
        ended = await self._look(thread)
        seen = Seen(
            owed=owed,
            won=won,
            shown=tuple(thread.shown_call(row["callId"]) for row in answered),
            control=control,
            control_owed=self._effects_of_yes(),
            paused=paused,
            answered=answered,
            ended=ended,
            ended_owed=self._owed_in_the_end(owed),
            secrets=(*thread.requests, *sorted(thread.instructions)),
            records=tuple(row for row in thread.decisions if row.get("request") in thread.requests),
            records_owed=self._records_owed(),
        )
        return changed, after, seen, thread.inside

    async def _answers(self, thread: PausedThread) -> tuple[Exchange, ...]:
        """Send the answer that the case is about, or those that are sent at once."""
        if not self.answer.at_once:
            return (await self.host.send(self._request(thread)),)
        slots = self._slots(thread)
        requests = [
            self._answer(thread, f"race-{number}", filled(list(entries), slots))
            for number, entries in enumerate(self.answer.at_once)
        ]
        return tuple(await self.host.race(requests))

    async def _set_up(self, thread: PausedThread, sent: Record, run: str) -> None:
        exchange = await self.host.send(
            self._answer(thread, run, [filled(sent, self._slots(thread))])
        )
        self.others.append(exchange)
        if self.answer.stopped:
            return
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            raise UnpreparedError(f"an answer before it was {outcome.describe()}")
        thread.note(exchange)
        await self._look(thread)

    def _won(self, changed: tuple[Exchange, ...]) -> tuple[bool, ...]:
        """Say of the answers at once that were taken whether each was a yes."""
        sent = self.answer.at_once
        return tuple(
            entries[0]["payload"]["approved"] is True
            for entries, exchange in zip(sent, changed, strict=False)
            if isinstance(outcome_of(exchange), Accepted)
        )

    def _effects_of_yes(self) -> int:
        if self.answer.cue in NOT_GUARDED:
            return 0
        return 2 if self.answer.cue in TWO_CALLS else 1

    def _owed_in_the_end(self, owed: int) -> int:
        asked_again = self.answer.follow == "answerable"
        return owed + (asked_again and self.answer.cue not in NOT_GUARDED)

    def _records_owed(self) -> int:
        """Count the decisions that are used: those of the setup, the answer, and what follows."""
        if self.answer.cue in NOT_GUARDED:
            return 0
        used = len(self.answer.setup)
        used += self.answer.code is None or bool(self.answer.at_once)
        return used + (self.answer.follow == "answerable")

    async def _follow(self, thread: PausedThread) -> Exchange | None:
        follow = self.answer.follow
        if follow == "nothing":
            return None
        if follow == "closed":
            await self.host.control("close-pause", thread.id)
        if follow == "answerable":
            return await self.host.send(self._answer(thread, "after", [self._right(thread)]))
        return await self.host.send_good(self._message(thread, "after", "plain"))

    async def _command(self, command: str, thread: PausedThread) -> None:
        if not await self.host.control(command, thread.id):
            raise UnpreparedError(f"the control command {command} was not carried out")

    async def _paused(self, name: str) -> PausedThread:
        """
        Make a thread that the case's cue has paused.

        Raises:
            UnpreparedError: the host did not pause.
        """
        thread = PausedThread(self.ids.uuid(self.case.id, name))
        exchange = await self.host.send_good(self._message(thread, "pause", self.answer.cue))
        thread.note(exchange)
        self.others.append(exchange)
        if "interrupt" not in thread.slots:
            raise UnpreparedError(
                f"the cue {self.answer.cue} was answered with {outcome_of(exchange).describe()}, "
                "not with an interrupt"
            )
        return thread

    async def _yes(self, thread: PausedThread) -> Exchange:
        right = self._right(thread)
        return await self.host.send_good(self._answer(thread, f"yes-{thread.runs}", [right]))

    def _right(self, thread: PausedThread) -> Record:
        payload: Json = YES if self.answer.cue not in NOT_GUARDED else "a value"
        return filled(entry(payload), self._slots(thread))  # type: ignore[no-any-return]

    def _slots(self, thread: PausedThread) -> dict[str, str]:
        return {"canary": self.canary, **thread.slots}

    def _body(self, thread_id: str, run: str, **members: Json) -> Record:
        return {
            "threadId": thread_id,
            "runId": self.ids.uuid(self.case.id, thread_id, run),
            "protocolVersion": PROTOCOL_VERSION,
            "messages": [],
            "tools": [],
            "context": [],
            "state": {},
            "forwardedProps": {},
        } | members

    def _message(self, thread: PausedThread, run: str, cue: str) -> Request:
        nonce = self.ids.nonce(self.case.id, thread.id, run)
        text = self.host.profile.cues[cue].replace("{nonce}", nonce)
        message = user_message(text, self.ids.uuid(self.case.id, thread.id, run, "message"))
        body = body_text(self._body(thread.id, run, messages=[message]))
        return self.host.run_request(ENDPOINT, body)

    def _answer(self, thread: PausedThread, run: str, resume: list[Json]) -> Request:
        thread.runs += 1
        return self.host.run_request(ENDPOINT, body_text(self._body(thread.id, run, resume=resume)))

    def _request(self, thread: PausedThread) -> Request:
        """Build the answer that the case is about."""
        answer, slots = self.answer, self._slots(thread)
        thread_id = thread.id if answer.thread == "same" else self._other_thread()
        members: Record = {"messages": filled(list(answer.messages), slots)}
        if answer.resume is not None:
            members["resume"] = filled(list(answer.resume), slots)
        body = body_text(self._body(thread_id, "answer", **members))
        caller = None
        if answer.caller == "other":
            _, second, *_ = self.host.profile.callers.values()
            caller = second.headers
        return self.host.run_request(ENDPOINT, body, caller=caller)

    async def _look(self, thread: PausedThread) -> tuple[Record, ...]:
        """
        Read the observation: note what is kept of the thread, and give its effects.

        Effects are looked for wherever the answer could have brought them about.

        Raises:
            UnpreparedError: the host shows none.
        """
        rows: list[Record] = []
        for thread_id, caller in self._places(thread):
            document = await self.host.observe(thread_id, caller)
            if document is None or not isinstance(document.get("effects"), list):
                raise UnpreparedError("the observation shows no effects")
            rows += document["effects"]
            if caller == self.host.main_caller and thread_id == thread.id:
                thread.keep(document)
        return tuple(rows)

    def _places(self, thread: PausedThread) -> list[tuple[str, str]]:
        ids, callers = [thread.id], [self.host.main_caller]
        if self.answer.thread == "other":
            ids.append(self._other_thread())
        if self.answer.caller == "other":
            callers = list(self.host.profile.callers)
        return [(thread_id, caller) for thread_id in ids for caller in callers]

    def _other_thread(self) -> str:
        return self.ids.uuid(self.case.id, "other")


def _arguments(text: str) -> Record:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _first_interrupt(finished: Json) -> Record | None:
    outcome = finished.get("outcome") if is_record(finished) else None
    interrupts = outcome.get("interrupts") if is_record(outcome) else None
    if not isinstance(interrupts, list) or not interrupts:
        return None
    first = interrupts[0]
    return first if is_record(first) and is_text(first.get("id")) else None
