"""
One answer case performed: a pause, the one answer, and what has run before and after it.

The control is a twin thread whose pause is answered with a yes, which must run
its call. What counts is the effects that can be seen, not what the reply said.

Source: docs/verdicts.md, "How a case is judged".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hostproof.conformance.conversation import Conversation, UnpreparedError, body_text
from hostproof.conformance.effect_sources import NoEffectsError, rows_in_streams, rows_of
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.recording import Recording, Seen
from hostproof.conformance.style import InexpressibleError
from hostproof.reference_impl.values import Json, Record, is_record
from hostproof.strategies.decisions import SAYS_YES, AnswerCase, entry
from hostproof.strategies.edits import filled

if TYPE_CHECKING:
    from hostproof.conformance.case import Case
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.conformance.style import Asked

ENDPOINT: Final = "main"
TWO_CALLS: Final = frozenset({"two_in_sequence", "two_at_once"})
NOT_GUARDED: Final = frozenset({"question", "credential"})
MOST_PAUSES: Final = 3
PLACES: Final = ("{interrupt}", "{second_interrupt}", "{third_interrupt}")
"""The slots of the questions that may be open at once."""


@dataclass(slots=True)
class Noted:
    """
    What the observation showed of a thread so far.

    Attributes:
        requests: ids of the consent requests of its pauses.
        instructions: the agent's instructions.
        decisions: the decision records.
        document: the newest observation.
    """

    requests: list[str] = field(default_factory=list)
    instructions: set[str] = field(default_factory=set)
    decisions: list[Record] = field(default_factory=list)
    document: Record | None = None

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
        self.document = document


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
        self.noted = Noted()

    async def perform(self) -> Recording:
        """Perform the case; what the host does is recorded, never raised."""
        facts = self.case.facts(self.canary)
        waits_before = self.host.waits
        try:
            if not self.answer.asks:
                return await self._unasked()
            control, twin = await self._control() if self.answer.area != "both" else (None, ())
            if control is not None and not isinstance(outcome_of(control), Accepted):
                if self.answer.cue == "two_at_once":
                    return Recording(case=facts, missing="two questions that can be answered")
                return Recording(case=facts, control=control)
            changed, after, seen = await self._own(twin)
        except UnpreparedError as error:
            return Recording(case=facts, unprepared=str(error))
        except InexpressibleError as error:
            return Recording(case=facts, missing=str(error))
        return Recording(
            case=facts,
            control=control,
            changed=changed,
            after=after,
            others=tuple(self.others),
            seen=seen,
            inside=self.noted.document,
            throttled=self.host.waits > waits_before,
        )

    async def _unasked(self) -> Recording:
        """Perform a case whose cue is to ask nobody."""
        thread = self._conversation("own")
        changed = await self._said(thread, "run", self.answer.cue)
        answered = await self._look(thread)
        after = await self._follow(thread)
        seen = Seen(
            owed=self.answer.effects,
            shown=tuple(thread.shown_for(row) for row in answered),
            answered=answered,
            ended=await self._look(thread),
            ended_owed=self.answer.effects,
        )
        facts = self.case.facts(self.canary)
        return Recording(
            case=facts, changed=(changed,), after=after, seen=seen, inside=self.noted.document
        )

    async def _control(self) -> tuple[Exchange, tuple[Record, ...]]:
        """Answer the twin's pauses with a yes each, to the end."""
        thread = await self._paused("twin")
        exchange = await self._yes(thread, 0)
        for at in range(MOST_PAUSES):
            if not thread.is_open or not isinstance(outcome_of(exchange), Accepted):
                break
            exchange = await self._yes(thread, at + 1)
        return exchange, await self._look(thread)

    async def _own(
        self, control: tuple[Record, ...]
    ) -> tuple[tuple[Exchange, ...], Exchange | None, Seen]:
        answer = self.answer
        thread = await self._paused("own")
        paused = await self._look(thread)
        if answer.stopped:
            await self._command("stop-after-spend", thread)
        for number, setup in enumerate(answer.setup):
            await self._set_up(thread, setup, f"setup-{number}")
        for command in answer.commands:
            await self._command(command, thread)
        asked = thread.asked
        changed = await self._answers(thread)
        won = self._won(changed)
        owed = int(any(won)) if answer.at_once else answer.effects
        answered = await self._look(thread)
        for command in answer.undo:
            await self.host.control(command, thread.id)
        after = await self._follow(thread)
        ended = await self._look(thread)
        seen = Seen(
            owed=owed,
            most=answer.most,
            counted=self.host.profile.counts_effects,
            won=won,
            shown=tuple(thread.shown_for(row) for row in answered),
            control=control,
            control_owed=0 if self.answer.area == "both" else self._effects_of_yes(),
            paused=paused,
            answered=answered,
            ended=ended,
            ended_owed=self._owed_in_the_end(owed),
            answerable=answer.follow in ("answerable", "remaining"),
            unanswered=answer.follow == "remaining"
            or (answer.resume is None and not answer.at_once),
            not_approved=self._not_approved(asked, thread),
            can_tell=self.host.profile.history == "server" or not answer.sends_results,
            secrets=(*self.noted.requests, *sorted(self.noted.instructions)),
            records=tuple(
                row for row in self.noted.decisions if row.get("request") in self.noted.requests
            ),
            records_owed=self._records_owed(),
        )
        return changed, after, seen

    async def _answers(self, thread: Conversation) -> tuple[Exchange, ...]:
        """Send the answer that the case is about, or those that are sent at once."""
        if not self.answer.at_once:
            return (await self._answer(thread),)
        bodies = [
            thread.answer(f"race-{number}", entries, self.canary)
            for number, entries in enumerate(self.answer.at_once)
        ]
        exchanges = tuple(await self.host.race([self._request(body) for body in bodies]))
        for body, exchange in zip(bodies, exchanges, strict=True):
            thread.note(body, exchange)
        return exchanges

    async def _answer(self, thread: Conversation) -> Exchange:
        """Send the answer that the case is about, and take what it hands out."""
        answer = self.answer
        place = thread if answer.thread == "same" else thread.on(self._other_thread())
        if answer.resume is not None:
            body = place.answer("answer", answer.resume, self.canary)
        else:
            slots = {"canary": self.canary, **thread.slots}
            body = place.body("answer", filled(list(answer.messages), slots), **answer.members)
        caller = None
        if answer.caller == "other":
            _, second, *_ = self.host.profile.callers.values()
            caller = second.headers
        exchange = await self.host.send(
            self.host.run_request(ENDPOINT, body_text(body), caller=caller)
        )
        place.note(body, exchange)
        return exchange

    async def _set_up(self, thread: Conversation, sent: tuple[Record, ...], run: str) -> None:
        body = thread.answer(run, sent, self.canary)
        exchange = await self.host.send(self._request(body))
        self.others.append(exchange)
        if self.answer.stopped:
            return
        thread.note(body, exchange)
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            raise UnpreparedError(f"an answer before it was {outcome.describe()}")
        await self._look(thread)

    def _won(self, changed: tuple[Exchange, ...]) -> tuple[bool, ...]:
        """Say of the answers at once that were taken whether each was a yes."""
        sent = self.answer.at_once
        return tuple(
            entries[0]["payload"] == "{yes}"
            for entries, exchange in zip(sent, changed, strict=False)
            if isinstance(outcome_of(exchange), Accepted)
        )

    def _effects_of_yes(self) -> int:
        if self.answer.cue in NOT_GUARDED:
            return 0
        return 2 if self.answer.cue in TWO_CALLS else 1

    def _owed_in_the_end(self, owed: int) -> int:
        answerable = self.answer.follow in ("answerable", "remaining")
        if not answerable or self.answer.cue in NOT_GUARDED:
            return owed
        return self._effects_of_yes() if self.answer.cue == "two_at_once" else owed + 1

    def _records_owed(self) -> int:
        """Count the decisions that are used: those of the setup, the answer, and what follows."""
        if self.answer.cue in NOT_GUARDED:
            return 0
        used = len(self.answer.setup)
        used += self.answer.code is None or bool(self.answer.at_once)
        return used + (self.answer.follow == "answerable")

    async def _follow(self, thread: Conversation) -> Exchange | None:
        follow = self.answer.follow
        if follow == "nothing":
            return None
        if follow == "closed":
            await self.host.control("close-pause", thread.id)
        if follow in ("answerable", "remaining"):
            body = thread.answer("after", self._still_right(thread), self.canary)
            exchange = await self.host.send(self._request(body))
            thread.note(body, exchange)
            return exchange
        return await self._said(thread, "after", "plain")

    async def _command(self, command: str, thread: Conversation) -> None:
        if command == "restart":
            done = await self.host.restart(thread.id)
        else:
            done = await self.host.control(command, thread.id)
        if not done:
            raise UnpreparedError(f"the control command {command} was not carried out")

    async def _paused(self, name: str) -> Conversation:
        """
        Make a thread that the case's cue has paused.

        Raises:
            UnpreparedError: the host did not pause.
        """
        thread = self._conversation(name)
        exchange = await self._said(thread, "pause", self.answer.cue)
        self.others.append(exchange)
        wanted = 2 if self.answer.cue == "two_at_once" else 1
        if not thread.is_open or len(thread.asked) < wanted:
            raise UnpreparedError(
                f"the cue {self.answer.cue} was answered with {outcome_of(exchange).describe()}, "
                f"not with {'a pause' if wanted == 1 else 'two questions at once'}"
            )
        return thread

    async def _yes(self, thread: Conversation, number: int) -> Exchange:
        body = thread.answer(f"yes-{number}", self._right(thread), self.canary)
        exchange = await self.host.send_good(self._request(body))
        thread.note(body, exchange)
        return exchange

    def _right(self, thread: Conversation) -> list[Record]:
        """Write a yes to everything that is open."""
        payload: Json = "a value" if self.answer.cue in NOT_GUARDED else "{yes}"
        return [entry(payload, interruptId=place) for place in PLACES[: len(thread.asked)]]

    def _still_right(self, thread: Conversation) -> list[Record]:
        """Write a yes to what the answer left open: all of it, or what it did not cover."""
        right = self._right(thread)
        if self.answer.follow == "remaining" and not thread.is_open:
            return right[len(self.answer.resume or ()) :]
        return right

    def _not_approved(self, asked: tuple[Asked, ...], thread: Conversation) -> tuple[Record, ...]:
        """Give the arguments of those calls asked about that the answer says no yes to."""
        approved = {
            one["interruptId"]
            for one in self.answer.resume or ()
            if one.get("payload") == SAYS_YES and one["status"] == "resolved"
        }
        return tuple(
            thread.shown[one.call]
            for place, one in zip(PLACES, asked, strict=False)
            if place not in approved and one.call in thread.shown
        )

    def _conversation(self, name: str) -> Conversation:
        return Conversation.begun(self.host.profile, self.ids, self.case.id, name)

    async def _said(self, thread: Conversation, run: str, cue: str) -> Exchange:
        body = thread.message(run, cue)
        exchange = await self.host.send_good(self._request(body))
        thread.note(body, exchange)
        return exchange

    def _request(self, body: Json) -> Request:
        return self.host.run_request(ENDPOINT, body_text(body))

    async def _look(self, thread: Conversation) -> tuple[Record, ...]:
        """
        See what has run on a thread, and note what the observation shows of it.

        Effects are looked for wherever the answer could have brought them about.

        Raises:
            UnpreparedError: the host shows none.
        """
        source = self.host.profile.effects
        if self.host.profile.observation is not None:
            rows = await self._observed(thread, needs_effects=source is None)
            if source is None:
                return rows
        if source is None:
            raise UnpreparedError("nothing shows what ran")
        if source.kind == "stream":
            return tuple(rows_in_streams(thread.exchanges, source.place, thread.nonces))
        try:
            found = await self.host.effect_rows()
        except NoEffectsError as error:
            raise UnpreparedError(f"the effects cannot be read: {error}") from None
        marks = [*thread.nonces, self.canary] if thread.id == self._own_thread() else thread.nonces
        return tuple(rows_of(found, thread.id, marks))

    async def _observed(self, thread: Conversation, *, needs_effects: bool) -> tuple[Record, ...]:
        rows: list[Record] = []
        for thread_id, caller in self._places(thread):
            document = await self.host.observe(thread_id, caller)
            effects = document.get("effects") if document is not None else None
            if document is None or (needs_effects and not isinstance(effects, list)):
                raise UnpreparedError("the observation shows no effects")
            rows += effects if isinstance(effects, list) else []
            if caller == self.host.main_caller and thread_id == thread.id:
                self.noted.keep(document)
        return tuple(rows)

    def _places(self, thread: Conversation) -> list[tuple[str, str]]:
        ids, callers = [thread.id], [self.host.main_caller]
        if self.answer.thread == "other":
            ids.append(self._other_thread())
        if self.answer.caller == "other":
            callers = list(self.host.profile.callers)
        return [(thread_id, caller) for thread_id in ids for caller in callers]

    def _own_thread(self) -> str:
        return self.ids.uuid(self.case.id, "own")

    def _other_thread(self) -> str:
        return self.ids.uuid(self.case.id, "other")
