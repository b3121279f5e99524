"""
Finding out how a pause is answered: one way after another, each on a fresh paused thread.

A way counts if the run is accepted and the call ran exactly once, and a no in
its place runs nothing. Where no effects can be read, what the stream says is
all there is: then the results after a yes and after a no must differ.

Source: docs/profile.md, "Probe".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.outcome import Accepted, Broken, outcome_of
from hostproof.conformance.probe_reading import (
    Known,
    Place,
    payloads_for,
    places_for,
    results_text,
    spoken_text,
)
from hostproof.conformance.style import AnswerStyle, InexpressibleError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.answer_words import Words
    from hostproof.conformance.conversation import Conversation
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.outcome import Outcome
    from hostproof.conformance.probe_asking import Asking
    from hostproof.conformance.profile import Profile
    from hostproof.conformance.style import PauseStyle
    from hostproof.reference_impl.values import Json, Missing

MOST_TRIALS: Final = 20
MOST_SILENT: Final = 2
"""Ways that led to no answer at all, before no more are tried."""

PAUSES: Final = "check_in"
MAX_RESULT: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """
    One way to answer, tried with a yes.

    Attributes:
        place: where the answer went.
        payload: the yes; ``MISSING`` for what the response schema asks for.
        outcome: what the run amounted to; ``None`` where the style has no place for it.
        ran: how often the call ran; ``None`` where nothing shows it.
        results: what the run told of results, or where it told none, what it said.
        tells: whether those are results.
        words: the yes and the no.
        asks_again: whether something was open afterwards.
    """

    place: Place
    payload: Json | Missing
    outcome: Outcome | None = None
    ran: int | None = None
    results: str = ""
    tells: bool = False
    words: Words
    asks_again: bool = False

    @property
    def is_taken(self) -> bool:
        """Whether the run was accepted, and the call ran once as far as can be seen."""
        if not isinstance(self.outcome, Accepted):
            return False
        return self.ran == 1 or (self.ran is None and bool(self.results) and not self.asks_again)

    @property
    def comes_to(self) -> tuple[str, str, bool]:
        """What came of it, to tell places that differ from those that do not."""
        said = "" if self.outcome is None else self.outcome.describe()
        return self.place.kind, said, self.asks_again

    @property
    def style(self) -> AnswerStyle:
        """The answer's style."""
        return AnswerStyle(kind=self.place.kind, yes=self.payload, parent_run=self.place.parent_run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """
    How a pause is answered.

    Attributes:
        trial: the way that was found.
        sound: whether a no ran nothing.
        no_ran: how often the call ran on a no; ``None`` where nothing shows it.
        stream: what only the result of a call that ran contains, with ``{nonce}``, or "".
    """

    trial: Trial
    sound: bool
    no_ran: int | None
    stream: str = ""


@dataclass(slots=True)
class Answers:
    """
    Tries ways to answer.

    Attributes:
        asking: sends the runs.
        pause: how the host pauses.
        known: what the user said already.
        trials: those made so far.
    """

    asking: Asking
    pause: PauseStyle
    known: Known
    trials: list[Trial]

    async def find(self, asked: Conversation) -> Answered | None:
        """
        Try one way after another until one works.

        Every place is tried with the likeliest yes; then other words, first in
        the places that differ in what came of it. Where a no runs the call as
        well, other words are tried in that place and nowhere else.

        Args:
            asked: a thread that is paused, whose questions say what may be answered.

        Raises:
            EnoughError: no more runs may be sent.
        """
        first, *others = payloads_for(asked.asked, self.known)
        for place in places_for(self.pause, self.known):
            found = await self._way(place, first)
            if found is not None:
                return await self._sounder(found, others)
        for trial in sorted(self.trials, key=self._promise):
            for at, payload in enumerate(others):
                found = await self._way(trial.place, payload)
                if found is not None:
                    return await self._sounder(found, others[at + 1 :])
        return None

    async def _sounder(self, found: Answered, others: Sequence[Json | Missing]) -> Answered:
        """Give what was found; where a no ran the call as well, words that are told apart."""
        if found.sound:
            return found
        for payload in others:
            other = await self._way(found.trial.place, payload)
            if other is not None and other.sound:
                return other
        return found

    async def _way(self, place: Place, payload: Json | Missing) -> Answered | None:
        """Try one way, if more may be tried; ``None`` if it does not work."""
        if len(self.trials) >= MOST_TRIALS or self._is_silent():
            return None
        trial = await self._tried(place, payload)
        self.trials.append(trial)
        return await self._verified(trial) if trial.is_taken else None

    def _promise(self, trial: Trial) -> tuple[bool, bool]:
        """Put first what no plainer place came to as well, and then what was accepted."""
        same = next(one for one in self.trials if one.comes_to == trial.comes_to)
        return same is not trial, not isinstance(trial.outcome, Accepted)

    def _is_silent(self) -> bool:
        silent = [
            trial
            for trial in self.trials
            if isinstance(trial.outcome, Broken) and trial.outcome.kind == "silence"
        ]
        return len(silent) >= MOST_SILENT

    def _profile(self, place: Place, payload: Json | Missing) -> Profile:
        style = AnswerStyle(
            kind=place.kind, yes=payload, no=self.known.no, parent_run=place.parent_run
        )
        return replace(self.asking.profile, pause=self.pause, answer=style, history=place.history)

    async def _paused(self, profile: Profile) -> Conversation:
        thread = self.asking.thread(profile)
        await self.asking.say(thread, PAUSES)
        return thread

    async def _tried(self, place: Place, payload: Json | Missing) -> Trial:
        thread = await self._paused(self._profile(place, payload))
        trial = Trial(place=place, payload=payload, words=thread.words)
        if not thread.is_open:
            return trial
        try:
            exchange = await self.asking.decide(thread, "{yes}")
        except InexpressibleError:
            return trial
        outcome = outcome_of(exchange)
        ran = await self.asking.count(thread, 1 if isinstance(outcome, Accepted) else 0)
        results, tells = _told(exchange, thread)
        return replace(
            trial,
            outcome=outcome,
            ran=ran,
            results=results,
            tells=tells,
            asks_again=thread.is_open,
        )

    async def _verified(self, trial: Trial) -> Answered:
        """Answer with a no on a fresh thread."""
        thread = await self._paused(self._profile(trial.place, trial.payload))
        if not thread.is_open:
            return Answered(trial=trial, sound=False, no_ran=None)
        exchange = await self.asking.decide(thread, "{no}")
        ran = await self.asking.count(thread)
        said, tells = _told(exchange, thread)
        differs = said != trial.results
        return Answered(
            trial=trial,
            sound=differs if ran is None else ran == 0,
            no_ran=ran,
            stream=_telling(trial.results, said) if trial.tells and tells else "",
        )


def _told(exchange: Exchange, thread: Conversation) -> tuple[str, bool]:
    results = results_text(exchange, thread.nonces)
    return (results, True) if results else (spoken_text(exchange, thread.nonces), False)


def _telling(yes: str, no: str) -> str:
    """Give the result after a yes if it tells that a call ran: a no does not say it."""
    usable = "{nonce}" in yes and len(yes) <= MAX_RESULT and yes.isprintable()
    return yes if usable and yes.count("{nonce}") == 1 and yes not in no else ""
