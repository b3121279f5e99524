"""
A probe: a host tried gently, and what was found; nothing is judged.

Few requests, on fresh threads: a GET, a plain run, how a pause shows and is
answered, a call of the page's, whether each cue does what its name says, and a
second caller. What the user's own profile says already is not doubted.

Source: docs/profile.md, "Probe".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.conversation import FORM_OFFER, offer
from hostproof.conformance.exchange import Request
from hostproof.conformance.findings import shown_words
from hostproof.conformance.host_under_test import BudgetSpentError
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.plain_run import check_is_agui
from hostproof.conformance.probe_answers import Answers
from hostproof.conformance.probe_asking import EnoughError
from hostproof.conformance.probe_cues import Cues
from hostproof.conformance.probe_findings import (
    Findings,
    declared_version,
    error_text,
    glance_text,
    outcome_text,
    plain_text,
    sureness,
    unanswered,
)
from hostproof.conformance.probe_reading import (
    CONFIRMATIONS,
    Known,
    custom_names,
    open_tools,
    pause_in,
    pause_text,
    payload_text,
    presets_like,
)
from hostproof.conformance.style import PauseStyle, open_calls, questions_of
from hostproof.conformance.target import TargetError
from hostproof.reference_impl.values import Missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.conformance.conversation import Conversation
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.probe_asking import Asking
    from hostproof.conformance.profile_parts import HistoryMode
    from hostproof.conformance.redaction import Redactor

GLANCE_SECONDS: Final = 5.0
FORM: Final = str(FORM_OFFER["name"])
TRIED_FIRST: Final = ("plain", "check_in", "client_tool")
"""Cues with a step of their own."""


class Probe:
    """
    Tries one host.

    Args:
        asking: sends the runs.
        name: what the host is called.
        known: what the user's profile says of its ways.
        cues: the cues that the user gave, and the plain one.
        redactor: keeps the callers' secrets out of what is told.
    """

    def __init__(
        self,
        asking: Asking,
        name: str,
        known: Known,
        cues: Mapping[str, str],
        redactor: Redactor,
    ) -> None:
        self.asking = asking
        self.name = name
        self.known = known
        self.redactor = redactor
        self.usual: list[str] = []
        self.found = Findings(
            cues={cue: cue for cue in cues}, pause=known.pause, history=known.history
        )

    async def perform(self) -> Findings:
        """
        Try the host, and say what was found.

        Raises:
            TargetError: it is no AG-UI host, or no run works.
        """
        found = self.found
        await self._glance()
        await self._plain()
        try:
            await self._pausing()
            await self._page_tool()
            await self._further()
            await self._second_caller()
        except (EnoughError, BudgetSpentError):
            self._tell("stopped", "enough was sent: what is not told was not tried")
        found.runs = self.asking.runs
        return found

    def _tell(self, heading: str, text: str) -> None:
        self.found.told.append((heading, shown_words(text, self.redactor)))

    def _leave_out(self, cue: str, why: str) -> None:
        self.found.cues.pop(cue, None)
        self.found.left_out[cue] = shown_words(why, self.redactor)

    # What it is.

    async def _glance(self) -> None:
        """Say what a GET gives; a stream that it opens is not waited for."""
        host = self.asking.host
        endpoint = self.asking.profile.main_endpoint.name
        request = Request(method="GET", path=host.path_of(endpoint), headers=host.caller_headers())
        exchange = await host.glance(request, GLANCE_SECONDS)
        self._tell("GET", glance_text(exchange))

    async def _plain(self) -> None:
        """
        Make a plain run.

        Raises:
            TargetError: it is not accepted.
        """
        asking = self.asking
        exchange = await asking.say(asking.thread(), "plain")
        check_is_agui(exchange, self.name, self.redactor)
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            said = ", saying ".join(filter(None, (outcome.describe(), error_text(exchange))))
            raise TargetError(
                f"{self.name}: a plain run was {shown_words(said, self.redactor)}. "
                "Nothing more can be found out until one works."
            )
        self.usual = custom_names(exchange)
        self.found.ag_ui = declared_version(exchange)
        self._tell("plain run", plain_text(exchange))

    # How it pauses, and is answered.

    async def _pausing(self) -> None:
        if "check_in" not in self.found.cues:
            self._tell("pauses", "not tried: no cue check_in was given")
            return
        asking = self.asking
        thread = asking.thread()
        exchange = await asking.say(thread, "check_in")
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            self._no_pause(f"the cue check_in was {outcome.describe()}")
            return
        ran = await asking.count(thread)
        if asking.trouble:
            self._tell("effects", f"cannot be read: {asking.trouble}")
        pause = self.known.pause or pause_in(exchange, self.usual)
        if ran and (pause is None or pause.kind != "interrupt"):
            self._no_pause("the call ran at once: nobody was asked")
            return
        if pause is None:
            exchange, pause = await self._with_confirmations(exchange)
        if pause is None or not questions_of(exchange, pause) or self._is_secret(pause):
            self._no_pause("the cue check_in led to no pause that is known")
            return
        self._tell("pauses", pause_text(exchange, pause))
        self.found.pause = pause
        asking.profile = replace(asking.profile, pause=pause)
        if ran:
            self._tell("answered by", "not tried: the call had run before anyone answered")
            return
        await self._answering(pause, exchange, thread)

    def _is_secret(self, pause: PauseStyle) -> bool:
        """Say whether the host's name for it holds a caller's secret: it must not be written."""
        names = pause.event + pause.tool
        return self.redactor.text(names) != names

    def _no_pause(self, why: str) -> None:
        self._tell("pauses", why)
        self._leave_out("check_in", why)

    async def _with_confirmations(self, before: Exchange) -> tuple[Exchange, PauseStyle | None]:
        """See whether it asks by a tool of the page's, under a name that is known."""
        offers = [offer(name) for name in CONFIRMATIONS]
        exchange = await self.asking.say(self.asking.thread(), "check_in", tools=offers)
        named = [tool for tool in open_tools(exchange) if tool in CONFIRMATIONS]
        if not named:
            return before, None
        return exchange, PauseStyle(kind="call", tool=named[0], offered=True)

    async def _answering(self, pause: PauseStyle, exchange: Exchange, thread: Conversation) -> None:
        thread.asked = questions_of(exchange, pause)
        answers = Answers(self.asking, pause, self.known, [])
        answered = await answers.find(thread)
        if answered is None:
            self._tell("answered by", unanswered(answers.trials))
            if any(trial.tells and trial.ran == 0 for trial in answers.trials):
                self._tell("", "a result was told, and no effect shown: is the nonce in them?")
            return
        trial, found = answered.trial, self.found
        found.history, found.answer = trial.place.history, trial.style
        found.by_schema = isinstance(trial.payload, Missing)
        is_shown = trial.ran is None and self.redactor.text(answered.stream) == answered.stream
        found.stream = answered.stream if is_shown else ""
        self.asking.profile = replace(
            self.asking.profile, answer=trial.style, history=trial.place.history
        )
        self._tell("answered by", f"{trial.place.describe()}; yes: {payload_text(trial.words.yes)}")
        self._tell("", sureness(answered))
        found.likes = presets_like(trial.place.history, pause, trial.style, trial.words)
        if trial.place.history == "client" and trial.ran is not None:
            await self._again()

    async def _again(self) -> None:
        """Send an answer a second time, where the client owns the history."""
        asking = self.asking
        thread = asking.thread()
        await asking.say(thread, "check_in")
        for run in ("decision", "again"):
            await asking.decide(thread, "{yes}", run)
        ran = await asking.count(thread, 1)
        self.found.replays = ran is not None and ran > 1
        if self.found.replays:
            self._tell("", "the same answer sent again ran the call again")

    # What else it does.

    async def _page_tool(self) -> None:
        if "client_tool" not in self.found.cues:
            return
        asking = self.asking
        sure: HistoryMode | None = self.found.history
        modes: tuple[HistoryMode, ...] = ("server", "client") if sure is None else (sure,)
        for mode in modes:
            thread = asking.thread(replace(asking.profile, history=mode))
            exchange = await asking.say(thread, "client_tool", tools=[FORM_OFFER])
            calls = open_calls(exchange, FORM)
            if len(calls) != 1:
                why = f"{FORM} was offered, and {len(calls)} calls of it were left open"
                self._tell("page's tool", why)
                self._leave_out("client_tool", why)
                return
            thread.client_call = calls[0]
            body = thread.result("result", "hostproof")
            outcome = outcome_of(await asking.send(thread, body))
            if isinstance(outcome, Accepted):
                break
        self.found.client_tools = (FORM,)
        if sure is None and isinstance(outcome, Accepted):
            self.found.history = mode
            asking.profile = replace(asking.profile, history=mode)
        self._tell("page's tool", f"{FORM} is called, its result was {outcome_text(outcome)}")

    async def _further(self) -> None:
        """Try each further cue; what does another's work is given that one's name."""
        cues, found = Cues(self.asking), self.found
        for cue in [name for name in found.cues if name not in TRIED_FIRST]:
            seen = await cues.tried(cue)
            is_taken = seen.name != cue and seen.name in found.cues
            becomes = f": {seen.name}" if seen.holds and seen.name != cue else ""
            self._tell(cue, seen.text + becomes)
            if not seen.holds or is_taken:
                self._leave_out(cue, seen.text)
            else:
                found.cues[cue] = seen.name

    async def _second_caller(self) -> None:
        callers = list(self.asking.profile.callers.values())
        if len(callers) < 2:
            return
        second = callers[1]
        asking = self.asking
        exchange = await asking.say(asking.thread(), "plain", caller=second.headers)
        said = outcome_text(outcome_of(exchange))
        self._tell("callers", f"a plain run of {second.name}'s was {said}")
