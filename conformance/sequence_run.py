"""
A sequence performed on a host, and compared with the model after every step.

What is compared: the answer (accepted, or refused with which code and reason),
what has run on every thread that was touched, and which pauses are open.

Source: docs/verdicts.md; docs/observation.md.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.outcome import Accepted, Broken, Refused, outcome_of
from hostproof.conformance.sequence_bodies import Bodies, HandedOut, handed_out
from hostproof.conformance.sequence_report import (
    Disagreement,
    SeenStep,
    effects_text,
    owed_status,
    owed_text,
)
from hostproof.reference_impl.values import Json, Record, is_number, is_record, is_text
from hostproof.reports.printable import clipped, printable
from hostproof.strategies.sequence_steps import Control, Restart
from hostproof.strategies.thread_model import stepped
from hostproof.strategies.thread_plans import PLANS, Effect
from hostproof.strategies.thread_state import Done, Place, Refuses, Runs, World, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostproof.conformance.outcome import Outcome
    from hostproof.conformance.sequence_stand import Stand, Standing
    from hostproof.strategies.sequence_steps import Step, Steps
    from hostproof.strategies.thread_state import Owed

PLACES: Final = tuple(
    Place(caller, thread) for caller in ("alice", "bob") for thread in ("one", "two")
)
"""Every thread a sequence may touch."""


class UnfitHostError(Exception):
    """The host cannot be compared with the model; the message says what to declare."""


class _Differs(Exception):  # noqa: N818 - it ends a sequence, and is told as a disagreement
    def __init__(self, expected: str, seen: str) -> None:
        super().__init__(expected, seen)
        self.expected = expected
        self.seen = seen


def check_fit(stand: Stand) -> None:
    """
    Check that a host can be compared with the model.

    Raises:
        UnfitHostError: it lacks a second caller, cues, or the observation.
    """
    profile = stand.profile
    if profile.observation is None:
        raise UnfitHostError("sequences are judged by what ran: declare [observation]")
    if len(profile.callers) < 2:
        raise UnfitHostError("sequences have two callers: declare two [callers.NAME]")
    missing = [cue for cue in PLANS if cue not in profile.cues]
    if missing:
        raise UnfitHostError(f"sequences need a cue: declare cues.{missing[0]}")


async def perform(
    steps: Steps, stand: Stand, *, made: list[SeenStep] | None = None
) -> Disagreement | None:
    """
    Perform a sequence, and give the first disagreement, or ``None``.

    Args:
        steps: the sequence.
        stand: gives it a host.
        made: is filled with the steps as they are made.

    Raises:
        BudgetSpentError: the profile's number of requests is used up.
        NoRestartError: the sequence restarts a host that cannot be restarted.
        UnfitHostError: the host cannot be compared.
    """
    check_fit(stand)
    seen: list[SeenStep] = [] if made is None else made
    async with stand.opened(steps) as standing:
        run = _Performance(standing, stand)
        try:
            for step in steps:
                await run.make(step, seen)
            await run.compare(PLACES)
        except _Differs as differs:
            return Disagreement(
                steps=steps, made=tuple(seen), expected=differs.expected, seen=differs.seen
            )
    return None


class _Performance:
    """One sequence on its way."""

    def __init__(self, standing: Standing, stand: Stand) -> None:
        self._standing = standing
        self._callers = dict(zip(("alice", "bob"), stand.profile.callers, strict=False))
        self._is_named = "named" in stand.profile.sets
        self._world = World()
        self._bodies = Bodies(Identifiers(secrets.token_hex(8)), stand.profile.cues)

    async def make(self, step: Step, seen: list[SeenStep]) -> None:
        """
        Make a step and compare.

        Raises:
            _Differs: the host and the model disagree.
        """
        before = self._world
        self._world, owed = stepped(before, step)
        seen.append(SeenStep(step=step, owed=owed))
        if isinstance(step, Restart):
            await self._standing.restart()
            seen[-1] = replace(seen[-1], seen="restarted")
            await self.compare(self._world.threads)
            return
        place = place_of(step)
        if isinstance(step, Control):
            done = await self._standing.host.control(
                step.command, self._bodies.thread(place), self._callers[place.caller]
            )
            came, given = "done" if done else "nothing to do", None
            agrees = isinstance(owed, Done) and done is not owed.nothing
        else:
            body = self._bodies.body(before, step)
            headers = self._standing.host.caller_headers(self._callers[place.caller])
            request = self._standing.host.run_request("main", body, caller=headers)
            exchange = await self._standing.host.send(request)
            outcome = outcome_of(exchange)
            came, given = outcome.describe(), handed_out(exchange)
            agrees = self._agrees(outcome, owed)
        seen[-1] = replace(seen[-1], seen=came)
        if not agrees:
            ran = effects_text(self._effects(await self._observed(place)))
            raise _Differs(owed_text(owed), f"{came}; has run: {ran}")
        self._note_pause(place, given)
        await self.compare(self._world.threads)
        ran = effects_text(self._world.thread(place).effects)
        seen[-1] = replace(seen[-1], ran=ran)

    def _agrees(self, outcome: Outcome, owed: Owed) -> bool:
        if isinstance(owed, Runs):
            return isinstance(outcome, Accepted)
        if not isinstance(owed, Refuses):
            return isinstance(outcome, Broken) or (
                isinstance(outcome, Refused) and outcome.code is None
            )
        if not isinstance(outcome, Refused):
            return False
        if not self._is_named:
            return True
        told = (outcome.code, outcome.reason, outcome.in_stream, outcome.status)
        return told == (owed.code, owed.reason, owed.in_stream, owed_status(owed))

    def _note_pause(self, place: Place, given: HandedOut | None) -> None:
        """Note what a new pause handed out."""
        pending = self._world.thread(place).pending
        if pending is None or pending.name in self._bodies.handed_out:
            return
        is_client = pending.gate == "client"
        if given is None or given.call is None or (given.interrupt is None) != is_client:
            raise _Differs(f"a run that pauses ({pending.gate})", "a run that pauses otherwise")
        self._bodies.handed_out[pending.name] = given

    async def compare(self, places: Iterable[Place]) -> None:
        """
        Compare what ran on threads and what is open there.

        Raises:
            _Differs: the host and the model disagree.
        """
        for place in places:
            document = await self._observed(place)
            thread = self._world.thread(place)
            where = f"{place.caller}/{place.thread}"
            ran = self._effects(document)
            if ran != thread.effects:
                raise _Differs(
                    f"has run on {where}: {effects_text(thread.effects)}",
                    f"has run on {where}: {effects_text(ran)}",
                )
            self._compare_pause(place, document.get("pauses"))

    def _compare_pause(self, place: Place, pauses: Json) -> None:
        pending = self._world.thread(place).pending
        where = f"{place.caller}/{place.thread}"
        expected = "nothing" if pending is None else f"its pause ({pending.gate})"
        shown = pauses if isinstance(pauses, list) else []
        if len(shown) != (pending is not None) or not all(map(is_record, shown)):
            raise _Differs(f"{where} waits on {expected}", f"open pauses: {len(shown)}")
        if pending is None:
            return
        given = self._bodies.handed_out[pending.name]
        request = _member(_member(_member(shown[0], "pending"), "request"), "id")
        if given.request is None and is_text(request):
            given = replace(given, request=request)
            self._bodies.handed_out[pending.name] = given
        same = given.interrupt in (None, shown[0].get("interruptId")) or pending.is_spoiled
        if not same or shown[0].get("kind", pending.gate) != pending.gate:
            raise _Differs(f"{where} waits on {expected}", f"{where} waits on another pause")

    async def _observed(self, place: Place) -> Record:
        document = await self._standing.host.observe(
            self._bodies.thread(place), self._callers[place.caller]
        )
        if document is None:
            raise _Differs("the observation", "no observation document")
        return document

    def _effects(self, document: Record) -> tuple[Effect, ...]:
        """Read what ran, in the model's terms."""
        rows = document.get("effects")
        return tuple(self._effect(row) for row in (rows if isinstance(rows, list) else []))

    def _effect(self, row: Json) -> Effect:
        arguments = _member(row, "arguments")
        amount, tool = _member(arguments, "amount"), _member(row, "tool")
        return Effect(
            tool=clipped(printable(tool), 40) if is_text(tool) else "",
            amount=amount if is_number(amount) else None,
            asked_at=self._bodies.asked_at(_member(arguments, "to")),
        )


def _member(value: Json, name: str) -> Json:
    return value.get(name) if is_record(value) else None
