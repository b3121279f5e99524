"""
One answer case performed: a pause, the one answer, and what has run before and after it.

The control is a twin thread whose pause is answered with a yes, which must run
its call. What counts is the effects that can be seen, not what the reply said.

Source: docs/verdicts.md, "How a case is judged".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.answer_looking import Looking
from hostproof.conformance.conversation import Conversation, UnpreparedError, body_text
from hostproof.conformance.guarded_tool import guarded_tool
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.recording import Recording, Seen
from hostproof.conformance.style import InexpressibleError, questions_of
from hostproof.strategies.decisions import SAYS_YES, AnswerCase, entry
from hostproof.strategies.edits import filled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.case import Case
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.conformance.style import Asked
    from hostproof.reference_impl.values import Json, Record
    from hostproof.strategies.decisions import Follow

TWO_CALLS: Final = frozenset({"two_in_sequence", "two_at_once"})
NOT_GUARDED: Final = frozenset({"question", "credential"})
MOST_PAUSES: Final = 3
PLACES: Final = ("{interrupt}", "{second_interrupt}", "{third_interrupt}")
"""The slots of the questions that may be open at once."""


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
        self.unasked: tuple[Record, ...] = ()
        self.twin: tuple[Record, ...] = ()
        self.follow: Follow = case.change.follow
        other = case.change.thread == "other"
        all_callers = case.change.caller == "other"
        self.looking = Looking(
            host,
            self.canary,
            own=ids.uuid(case.id, "own"),
            beside=self._other_thread() if other else "",
            callers=tuple(host.profile.callers) if all_callers else (host.main_caller,),
        )

    async def perform(self) -> Recording:
        """Perform the case; what the host does is recorded, never raised."""
        facts = self.case.facts(self.canary)
        try:
            if not self.answer.asks:
                return await self._unasked()
            control, self.twin = await self._control() if self.answer.has_twin else (None, ())
            if control is not None and not isinstance(outcome_of(control), Accepted):
                if self.answer.cue == "two_at_once":
                    return Recording(case=facts, missing="two questions that can be answered")
                return Recording(case=facts, control=control, ran=self.twin)
            changed, after, seen = await self._own(self.twin)
        except UnpreparedError as error:
            return Recording(
                case=facts,
                unprepared=str(error),
                others=tuple(self.others),
                unasked=self.unasked,
                ran=(*self.twin, *self.unasked),
            )
        except InexpressibleError as error:
            return Recording(case=facts, missing=str(error))
        return Recording(
            case=facts,
            control=control,
            changed=changed,
            after=after,
            others=tuple(self.others),
            seen=seen,
            inside=self.looking.noted.document,
        )

    async def _unasked(self) -> Recording:
        """Perform a case whose cue is to ask nobody."""
        thread = self._conversation("own")
        offered = await self._offered()
        changed = await self._said(thread, "run", self.answer.cue, offered)
        answered = await self.looking.at(thread)
        after = await self._follow(thread)
        seen = Seen(
            owed=self.answer.effects,
            shown=tuple(thread.shown_for(row) for row in answered),
            answered=answered,
            ended=await self.looking.at(thread),
            ended_owed=self.answer.effects,
        )
        facts = self.case.facts(self.canary)
        return Recording(
            case=facts,
            changed=(changed,),
            after=after,
            seen=seen,
            inside=self.looking.noted.document,
            asked=bool(questions_of(changed, self.host.profile.pause)),
        )

    async def _control(self) -> tuple[Exchange, tuple[Record, ...]]:
        """Answer the twin's pauses with a yes each, to the end."""
        thread = await self._paused("twin")
        exchange = await self._yes(thread, 0)
        for at in range(MOST_PAUSES):
            if not thread.is_open or not isinstance(outcome_of(exchange), Accepted):
                break
            exchange = await self._yes(thread, at + 1)
        return exchange, await self.looking.at(thread)

    async def _own(
        self, control: tuple[Record, ...]
    ) -> tuple[tuple[Exchange, ...], Exchange | None, Seen]:
        answer, noted = self.answer, self.looking.noted
        noted.pauses.clear()
        thread = await self._paused("own")
        paused = await self.looking.at(thread)
        if answer.stopped:
            await self._command("stop-after-spend", thread)
        before = paused
        for number, setup in enumerate(answer.setup):
            before = await self._set_up(thread, setup, f"setup-{number}")
        if answer.again:
            await self._ask_again(thread)
        if answer.aside:
            await self._said(self._conversation("aside"), "aside", "plain")
        for command in answer.commands:
            await self._command(command, thread)
        if answer.aside or "restart" in answer.commands:
            paused = await self.looking.at(thread)
        asked, held = thread.asked, tuple(noted.pauses)
        changed = await self._answers(thread)
        won = self._won(changed)
        owed = int(any(won)) if answer.at_once else answer.effects
        answered = await self.looking.at(thread)
        for command in answer.undo:
            await self.host.control(command, thread.id)
        if answer.may_be_refused and not _taken(changed):
            self.follow = "answerable"
        after = await self._follow(thread)
        ended = await self.looking.at(thread)
        seen = Seen(
            owed=owed,
            most=answer.most,
            counted=self.host.profile.counts_effects,
            won=won,
            shown=tuple(thread.shown_for(row) for row in answered),
            control=control,
            control_owed=self._effects_of_yes() if answer.has_twin else 0,
            paused=paused,
            before=len(before),
            held=held,
            shown_tools=tuple(thread.tools.get(str(row.get("callId"))) for row in answered),
            answered=answered,
            ended=ended,
            ended_owed=self._owed_in_the_end(owed),
            answerable=self.follow in ("answerable", "remaining"),
            unanswered=self.follow == "remaining" or (answer.resume is None and not answer.at_once),
            not_approved=self._not_approved(asked, thread),
            can_tell=self.host.profile.history == "server" or not answer.sends_results,
            secrets=(*noted.requests, *sorted(noted.instructions)),
            records=tuple(row for row in noted.decisions if row.get("request") in noted.requests),
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
            body |= filled(dict(answer.members), {"canary": self.canary})
        else:
            slots = {"canary": self.canary, **thread.slots}
            body = place.body("answer", filled(list(answer.messages), slots), **answer.members)
        caller = None
        if answer.caller == "other":
            _, second, *_ = self.host.profile.callers.values()
            caller = second.headers
        exchange = await self.host.send(
            self.host.run_request(answer.endpoint, body_text(body), caller=caller)
        )
        place.note(body, exchange)
        return exchange

    async def _set_up(
        self, thread: Conversation, sent: tuple[Record, ...], run: str
    ) -> tuple[Record, ...]:
        """Send an answer that comes before the case's own and must be taken; see what it ran."""
        body = thread.answer(run, sent, self.canary)
        exchange = await self.host.send(self._request(body))
        self.others.append(exchange)
        if self.answer.stopped:
            return ()
        thread.note(body, exchange)
        ran = await self.looking.at(thread)
        outcome = outcome_of(exchange)
        if self.answer.breaks and not ran:
            raise UnpreparedError("the run that was to break behind its call made none")
        if not self.answer.breaks and not isinstance(outcome, Accepted):
            raise UnpreparedError(f"an answer before it was {outcome.describe()}")
        return ran

    async def _ask_again(self, thread: Conversation) -> None:
        """
        Have the cue's question asked once more, with the first one's answer behind it.

        Raises:
            UnpreparedError: it was not asked.
        """
        earlier = thread.earlier = thread.slots.get("interrupt", "")
        self.others.append(await self._said(thread, "pause-again", self.answer.cue))
        if not thread.is_open:
            raise UnpreparedError(f"the cue {self.answer.cue} asked once, and not again")
        if not earlier or thread.slots.get("interrupt") == earlier:
            raise InexpressibleError("questions that are named otherwise each time")

    async def _offered(self) -> Sequence[Record]:
        """
        Give the page's tools that go with the cue.

        Raises:
            InexpressibleError: they take the name of a guarded tool, which is not known.
        """
        if not self.answer.offered:
            return ()
        slots = {"canary": self.canary, "guarded": (await guarded_tool(self.host, self.ids)).tool}
        offered: list[Record] = filled(list(self.answer.offered), slots)
        return offered

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
        answerable = self.follow in ("answerable", "remaining")
        if not answerable or self.answer.cue in NOT_GUARDED:
            return owed
        if self.answer.may_be_refused:
            return self._effects_of_yes()
        return self._effects_of_yes() if self.answer.cue == "two_at_once" else owed + 1

    def _records_owed(self) -> int:
        """Count the decisions that are used: those of the setup, the answer, and what follows."""
        if self.answer.cue in NOT_GUARDED:
            return 0
        used = len(self.answer.setup)
        used += self.answer.code is None or bool(self.answer.at_once)
        return used + (self.follow == "answerable")

    async def _follow(self, thread: Conversation) -> Exchange | None:
        follow = self.follow
        if follow == "nothing":
            return None
        if follow == "closed":
            await self.host.control("close-pause", thread.id)
        if follow in ("answerable", "remaining"):
            body = thread.answer("after", self._still_right(thread), self.canary)
            exchange = await self.host.send(self._request(body))
            thread.note(body, exchange)
            return exchange
        cue = self.answer.cue if follow == "asked-again" else "plain"
        return await self._said(thread, "after", cue)

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

        Where it did not pause, what ran instead is seen first.

        Raises:
            UnpreparedError: the host did not pause.
        """
        thread = self._conversation(name)
        exchange = await self._said(thread, "pause", self.answer.cue)
        self.others.append(exchange)
        wanted = 2 if self.answer.cue == "two_at_once" else 1
        if not thread.is_open or len(thread.asked) < wanted:
            if self.answer.cue not in NOT_GUARDED:
                self.unasked = await self.looking.if_shown(thread)
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

    async def _said(
        self, thread: Conversation, run: str, cue: str, offered: Sequence[Record] = ()
    ) -> Exchange:
        body = thread.message(run, cue)
        body["tools"] += offered
        exchange = await self.host.send_good(self._request(body))
        thread.note(body, exchange)
        return exchange

    def _request(self, body: Json) -> Request:
        return self.host.run_request(self.answer.endpoint, body_text(body))

    def _other_thread(self) -> str:
        return self.ids.uuid(self.case.id, "other")


def _taken(changed: tuple[Exchange, ...]) -> bool:
    return all(isinstance(outcome_of(exchange), Accepted) for exchange in changed)
