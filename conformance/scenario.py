"""
One case performed: the control run, the one change, and a good request afterwards.

Each case has threads of its own. A situation (a pause, say) is brought about by
the profile's cues, on a twin thread for the control and on the case's own for
the change, so that nothing but the change differs.

Source: docs/verdicts.md, "How a case is judged".
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Final

from hostproof.conformance.answer_looking import Looking
from hostproof.conformance.case import ASKING_RUNS, HUNG_UP
from hostproof.conformance.conversation import (
    CALLS,
    FORM_OFFER,
    Conversation,
    UnpreparedError,
    body_text,
)
from hostproof.conformance.effect_sources import NoEffectsError, rows_in_streams, rows_of
from hostproof.conformance.guarded_tool import guarded_tool, rows_of_yes
from hostproof.conformance.inside_reading import records
from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.recording import Recording
from hostproof.conformance.style import InexpressibleError, open_calls, questions_of
from hostproof.reference_impl.values import is_record
from hostproof.strategies.changes import Change
from hostproof.strategies.decisions import entry
from hostproof.strategies.edits import edited, slots_in
from hostproof.strategies.inside_changes import FORGED
from hostproof.strategies.wire_changes import WireChange, changed_text

if TYPE_CHECKING:
    from hostproof.conformance.case import Case
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.conformance.profile import Profile
    from hostproof.reference_impl.values import Json, Record

AT_ONCE: Final = 2
HANG_UP_SECONDS: Final = 10.0
POLL_SECONDS: Final = 0.2


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
        self.slots: dict[str, str] = {}
        self.asked = False
        self.asked_aside = False
        self.unasked: tuple[Record, ...] = ()
        self.yes_seen = False

    async def perform(self) -> Recording:
        """Perform the case; what the host does is recorded, never raised."""
        facts = self.case.facts(self.canary)
        try:
            control, changed, after = await self._exchanges()
        except UnpreparedError as error:
            return Recording(case=facts, unprepared=str(error))
        except InexpressibleError as error:
            return Recording(case=facts, missing=str(error))
        return Recording(
            case=facts,
            control=control,
            changed=changed,
            after=after,
            inside=self.inside,
            fetched=self._fetched(),
            asked=self.asked,
            asked_aside=self.asked_aside,
            unasked=self.unasked,
            ran=(*self.unasked, *rows_inside(self.inside)),
            yes_seen=self.yes_seen,
        )

    async def _exchanges(
        self,
    ) -> tuple[Exchange | None, tuple[Exchange, ...], Exchange | None]:
        if self.case.change is None:
            return await self._plain_run()
        await self._fill_slots(self.case.change)
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
            self.inside = await self._look(thread, changed)
        after: Exchange | None = None
        if isinstance(outcome_of(changed), Accepted):
            return control, (changed,), None
        if self.case.situation == "spoiled":
            await self.host.control("close-pause", thread.id)
            after = await self.host.send_good(self._request(thread.message("after")))
        else:
            after = await self.host.send_good(self._good_request(thread, "after"))
        return control, (changed,), after

    async def _fill_slots(self, change: object) -> None:
        """
        Fill what a change names of the host, and of the place where its URLs lead.

        Raises:
            InexpressibleError: that is not to be had.
        """
        edits = change.edits if isinstance(change, Change) else ()
        named = slots_in([edit.value for edit in edits])
        if "guarded" in named:
            guarded = await guarded_tool(self.host, self.ids)
            self.slots["guarded"] = guarded.tool
            self.slots["forged_interrupt"] = guarded.interrupt_of(self.canary)
        if "listener" in named:
            if self.host.listener is None:
                raise InexpressibleError("a target on this machine, which can reach a listener")
            self.slots["listener"] = self.host.listener.origin

    def _fetched(self) -> int | None:
        """Count what was fetched from the case's own URLs; ``None`` where it has none."""
        listener = self.host.listener if "listener" in self.slots else None
        return None if listener is None else listener.asked_for(self.canary)

    async def _plain_run(
        self,
    ) -> tuple[Exchange | None, tuple[Exchange, ...], Exchange | None]:
        thread = self._conversation("thread")
        if self.case.id in ASKING_RUNS:
            return None, (await self._asking_run(thread),), None
        if self.case.id == HUNG_UP:
            return None, (await self._after_hanging_up(thread),), None
        cue = {"failing-run": "fail", "concurrent-run": "slow"}.get(self.case.id, "plain")
        wanted = AT_ONCE if self.case.id == "concurrent-run" else 1
        bodies = [thread.message(f"run-{at}", cue) for at in range(wanted)]
        requests = [self._request(one) for one in bodies]
        if wanted == 1:
            changed: tuple[Exchange, ...] = (await self.host.send(requests[0]),)
        else:
            changed = tuple(await self.host.send_at_once(requests))
        for body, exchange in zip(bodies, changed, strict=True):
            thread.note(body, exchange)
        after = await self.host.send_good(self._request(thread.message("after")))
        return None, changed, after

    async def _after_hanging_up(self, thread: Conversation) -> Exchange:
        """
        Hang up on a run in the middle of a call, and send the thread's next message.

        The run may go on without us for a while, and hold its thread meanwhile.

        Raises:
            InexpressibleError: the run made no call.
        """
        run = self._request(thread.message("run", "slow"))
        left = await self.host.hang_up(run, "TOOL_CALL_START")
        if not any(event.type == "TOOL_CALL_START" for event in left.events):
            raise InexpressibleError("a slow run that makes a call: declare cues.slow so")
        loop = asyncio.get_running_loop()
        patience = loop.time() + HANG_UP_SECONDS
        for number in count():
            body = thread.message(f"next-{number}")
            exchange = await self.host.send_once(self._request(body))
            if not isinstance(outcome_of(exchange), Refused) or loop.time() > patience:
                break
            await asyncio.sleep(POLL_SECONDS)
        self.host.note_refused([exchange])
        if self.host.profile.observation is not None:
            self.inside = await self._look(thread, exchange)
        return exchange

    async def _asking_run(self, thread: Conversation) -> Exchange:
        """
        Have the host ask something, and leave it unanswered.

        Raises:
            UnpreparedError: it made no call at all.
        """
        body = self._asking(thread, client=self.case.id == "client-call-run")
        exchange = await self.host.send(self._request(body))
        outcome = outcome_of(exchange)
        asks = isinstance(outcome, Accepted) and outcome.outcome == "interrupt"
        calls = [event for event in exchange.events if event.type in CALLS]
        asked = questions_of(exchange, self.host.profile.pause)
        self.asked = bool(asked)
        self.asked_aside = self.asked and self.host.profile.pause.kind == "custom"
        if self.case.id == "paused-run":
            thread.note(body, exchange)
            self.unasked = await self._looking(thread).if_shown(thread)
        if isinstance(outcome, Accepted) and not (asks or calls or asked or self.unasked):
            raise UnpreparedError("the cue led to no call and no question")
        return exchange

    def _asking(self, thread: Conversation, *, client: bool) -> Record:
        if client:
            return thread.message("pause", "client_tool", tools=[FORM_OFFER])
        cue = "check_in" if self.case.id == "paused-run" else asking_cue(self.host.profile)
        return thread.message("pause", cue)

    async def _look(self, thread: Conversation, changed: Exchange) -> Record:
        """
        Read the observation of a thread; what ran of forged calls from wherever it is shown.

        Raises:
            UnpreparedError: the host shows none.
        """
        profile = self.host.profile
        document = await self.host.observe(thread.id)
        if document is None and profile.observation is not None:
            raise UnpreparedError("the observation shows nothing of the thread")
        inside = {} if document is None else document
        if self.case.area != FORGED:
            return inside
        self.yes_seen = bool(await rows_of_yes(self.host, self.ids))
        if profile.effects is None:
            return inside
        marks = [*thread.nonces, self.canary]
        if profile.effects.kind == "stream":
            rows = rows_in_streams([changed], profile.effects.place, marks)
        else:
            try:
                found = await self.host.effect_rows()
            except NoEffectsError as error:
                raise InexpressibleError(f"effects that can be read: {error}") from None
            rows = rows_of(found, [thread.id], marks)
        return {**inside, "effects": [*rows_inside(inside), *rows]}

    def _looking(self, thread: Conversation) -> Looking:
        return Looking(
            self.host, self.canary, own=thread.id, beside="", callers=(self.host.main_caller,)
        )

    def _conversation(self, name: str) -> Conversation:
        return Conversation.begun(self.host.profile, self.ids, self.case.id, name)

    def _request(self, body: Json) -> Request:
        return self.host.run_request(self.case.endpoint, body_text(body))

    def _good_body(self, thread: Conversation, run: str) -> Record:
        """Write the request that is right for the situation: a message, or the answer."""
        return good_body(thread, run, self.canary)

    def _good_request(self, thread: Conversation, run: str = "run") -> Request:
        return self._request(self._good_body(thread, run))

    def changed_request(self, thread: Conversation) -> Request:
        """Build the request with its one change."""
        good = self._good_body(thread, "run")
        change = self.case.change
        if isinstance(change, WireChange):
            return self._wire_request(change, body_text(good))
        assert isinstance(change, Change)  # noqa: S101 - a plain run is not asked for here
        slots = {
            "canary": self.canary,
            "plain": thread.cue("plain", "changed"),
            "last": str(max(len(good["messages"]) - 1, 0)),
            **thread.slots,
            **self.slots,
        }
        if "repeat" in self.host.profile.cues:
            slots["repeat"] = thread.cue("repeat", "repeat")
        body = edited(good, change.edits, slots)
        by_yes = self.case.situation == "question" and asking_cue(self.host.profile) != "question"
        if by_yes or self.case.area == FORGED:
            body = _with_the_hosts_yes(body, self.canary, thread.words.yes)
        return self._request(body)

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

    async def _thread(self, name: str) -> Conversation:
        """
        Make a thread of the case's situation.

        Raises:
            UnpreparedError: the host did not pause.
        """
        thread = self._conversation(name)
        if self.case.situation == "fresh":
            return thread
        body = self._asking(thread, client=self.case.situation == "client-call")
        exchange = await self.host.send_good(self._request(body))
        paused(thread, body, exchange, client=self.case.situation == "client-call")
        return thread


def rows_inside(inside: Record | None) -> list[Record]:
    """Give what an observation shows to have run."""
    return records(None if inside is None else inside.get("effects"))


def asking_cue(profile: Profile) -> str:
    """Name the cue that makes the host ask: a plain question where it has one."""
    return "question" if "question" in profile.cues else "check_in"


def good_body(thread: Conversation, run: str, marker: str) -> Record:
    """Write the request that is right for a thread as it stands: a message, or the answer."""
    if thread.client_call:
        return thread.result(run, marker)
    if thread.is_open:
        payload = marker if asking_cue(thread.profile) == "question" else "{yes}"
        return thread.answer(run, [entry(payload)], marker)
    return thread.message(run)


def paused(thread: Conversation, body: Record, exchange: Exchange, *, client: bool) -> None:
    """
    Take what a pause handed out: one question, or one open call of the page's.

    Raises:
        UnpreparedError: the run did not pause so.
    """
    outcome = outcome_of(exchange)
    if not isinstance(outcome, Accepted):
        raise UnpreparedError(f"the cue to pause was answered with {outcome.describe()}")
    thread.note(body, exchange)
    if not client:
        if len(thread.asked) != 1 or not thread.is_open:
            raise UnpreparedError("the cue for a question ended without one question")
        return
    calls = open_calls(exchange)
    if len(calls) != 1:
        raise UnpreparedError("the cue for a page's tool left not one call open")
    thread.client_call = calls[0]


def _with_the_hosts_yes(body: Json, marker: str, yes: Json) -> Json:
    """Put the host's yes where a table's answer is the marker: a consent gate takes no marker."""
    entries = body.get("resume") if is_record(body) else None
    if not isinstance(entries, list):
        return body
    said = [
        {**one, "payload": yes} if is_record(one) and one.get("payload") == marker else one
        for one in entries
    ]
    return {**body, "resume": said}


def _wrong_like(value: str, canary: str) -> str:
    """Make a header value of the same form that is nobody's."""
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {canary}" if space else canary
