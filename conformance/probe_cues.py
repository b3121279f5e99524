"""
Whether a cue does what its name says, as far as a run or two can show.

Source: docs/profile.md, "Probe"; the cues of profile.schema.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.probe_findings import outcome_text
from hostproof.conformance.style import InexpressibleError
from hostproof.strategies.decisions import entry

if TYPE_CHECKING:
    from hostproof.conformance.conversation import Conversation
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.probe_asking import Asking

SLOW_SECONDS: Final = 0.1
"""Shortest run that another can be sent into."""

TWO: Final = ("two_at_once", "two_in_sequence")
ASKS_ONCE: Final = (
    "check_in_large",
    "ask_detail",
    "ask_component",
    "ask_then_check_in",
    "nested",
    "credential",
    "fail_after",
)
ASKS_NOTHING: Final = {"no_check_in": 1, "denied": 0}
"""Cues that ask nobody, and how many calls run."""

MOST_ASKED: Final = 2
CARRYING: Final = "carrying"
"""The endpoint that cases on state and context are sent to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    What a cue did.

    Attributes:
        name: the cue's; for a cue that does what another's name says, that one's.
        holds: whether it did what *name* says.
        text: what was seen.
    """

    name: str
    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class Cues:
    """Tries cues, in the way of asking and answering that was found."""

    asking: Asking

    async def tried(self, name: str) -> Seen:
        """
        Try a cue.

        Raises:
            EnoughError: no more runs may be sent.
        """
        if name in TWO:
            return await self._two(name)
        if name == "question":
            return await self._question()
        if name == "repeat":
            return await self._repeat()
        if name not in (*ASKS_ONCE, *ASKS_NOTHING, "fail", "slow"):
            return Seen(name=name, holds=True, text="not tried")
        thread = self.asking.thread()
        exchange = await self.asking.say(thread, name)
        said = outcome_of(exchange)
        if name == "fail":
            failed = isinstance(said, Refused) and said.in_stream
            return Seen(name=name, holds=failed, text=outcome_text(said))
        if name == "slow":
            return _slow(exchange)
        ran = await self.asking.count(thread)
        if name in ASKS_ONCE:
            holds = _questions(thread) == 1 and not ran
            return Seen(name=name, holds=holds, text=_described(thread, exchange, ran))
        is_quiet = isinstance(said, Accepted) and not thread.is_open
        holds = is_quiet and ran in (ASKS_NOTHING[name], None)
        return Seen(name=name, holds=holds, text=_described(thread, exchange, ran))

    async def _two(self, name: str) -> Seen:
        """See whether two calls are asked about at once, or one after the other."""
        thread = self.asking.thread()
        exchange = await self.asking.say(thread, name)
        asked = _questions(thread)
        if asked == 0:
            return Seen(name=name, holds=False, text=_described(thread, exchange, None))
        if asked > 1:
            found, how = TWO[0], f"asks {asked} questions at once"
            holds = asked == MOST_ASKED
            answers = 1
        else:
            found, how, holds, answers = TWO[1], "asks one question after another", True, MOST_ASKED
        said = ""
        for at in range(answers):
            if not thread.is_open:
                return Seen(name=name, holds=False, text="asks one question, and no second")
            try:
                exchange = await self.asking.decide(thread, "{yes}", f"decision-{at}")
            except InexpressibleError:
                said = "both cannot be answered in one request"
                break
            outcome = outcome_of(exchange)
            if not isinstance(outcome, Accepted):
                said = f"a yes to each was {outcome.describe()}"
                break
        if not said:
            ran = await self.asking.count(thread, MOST_ASKED)
            said = "" if ran is None else f"a yes to each ran {_calls(ran)}"
            holds = holds and (found == TWO[0] or ran in (MOST_ASKED, None))
        elif found == TWO[1]:
            holds = False
        return Seen(name=found, holds=holds, text="; ".join(filter(None, (how, said))))

    async def _question(self) -> Seen:
        """See whether one question is asked that any value answers."""
        thread = self.asking.thread()
        exchange = await self.asking.say(thread, "question")
        if _questions(thread) != 1:
            return Seen(name="question", holds=False, text=_described(thread, exchange, None))
        try:
            body = thread.answer("answer", [entry("hostproof")], "")
        except InexpressibleError as error:
            return Seen(name="question", holds=False, text=f"has no place for {error}")
        outcome = outcome_of(await self.asking.send(thread, body))
        text = f"asks; a text in answer was {outcome_text(outcome)}"
        return Seen(name="question", holds=isinstance(outcome, Accepted), text=text)

    async def _repeat(self) -> Seen:
        """See whether the context that the page gives is repeated, where the host carries it."""
        if CARRYING not in self.asking.profile.endpoints:
            text = f"not tried: it goes to an endpoint named {CARRYING}"
            return Seen(name="repeat", holds=True, text=text)
        thread = self.asking.thread()
        word = self.asking.ids.canary("repeat")
        body = thread.message("repeat", "repeat", context=[{"description": "page", "value": word}])
        exchange = await self.asking.send(thread, body, endpoint=CARRYING)
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return Seen(name="repeat", holds=False, text=outcome.describe())
        holds = word in exchange.text
        text = "repeats the context" if holds else "does not repeat the context"
        return Seen(name="repeat", holds=holds, text=text)


def _slow(exchange: Exchange) -> Seen:
    outcome = outcome_of(exchange)
    if not isinstance(outcome, Accepted):
        return Seen(name="slow", holds=False, text=outcome.describe())
    text = f"takes {exchange.seconds:.1f} s"
    return Seen(name="slow", holds=exchange.seconds >= SLOW_SECONDS, text=text)


def _questions(thread: Conversation) -> int:
    return len(thread.asked) if thread.is_open else 0


def _described(thread: Conversation, exchange: Exchange, ran: int | None) -> str:
    outcome = outcome_of(exchange)
    if not isinstance(outcome, Accepted):
        return outcome.describe()
    asked = _questions(thread)
    how = {0: "asks nothing", 1: "asks one question"}.get(asked, f"asks {asked} questions at once")
    return how if ran is None else f"{how}, and {_calls(ran)} ran"


def _calls(number: int) -> str:
    return {0: "no call", 1: "one call", 2: "two calls"}.get(number, f"{number} calls")
