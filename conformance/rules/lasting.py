"""
Rules of the set ``safety`` on what lasts: open questions, decisions, and threads left half-way.

Source: safety, "Nothing lost" and "One yes, one run" (docs/safety.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostproof.conformance import pause_faults as faults
from hostproof.conformance.case import HUNG_UP
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.rule import Breach, Fault, Unseen
from hostproof.conformance.rules.consent import (
    EFFECTS,
    areas,
    consent_rule,
    counted,
    runs_what_is_owed,
    seen_to_run,
    yes_runs,
)
from hostproof.conformance.rules.model_requests import inside_rule

if TYPE_CHECKING:
    from hostproof.conformance.recording import Recording
    from hostproof.reference_impl.values import Json, Record

LOST: tuple[str, str] = ("safety", "Nothing lost")


def stays_open(recording: Recording) -> Breach | Unseen | None:
    """Demand that a question that nobody answered is open at every look, and then answered."""
    seen = recording.seen
    if seen is not None and not all(seen.held):
        return Breach(expected="a question that waits", seen="nothing open", place="pauses")
    if seen is not None and seen.paused:
        return Breach(expected="no call run meanwhile", seen="a call run", place=EFFECTS, ran=True)
    return yes_runs(recording)


def kept_as_it_was(recording: Recording) -> Breach | Unseen | None:
    """Demand that an open pause is the same at every look."""
    seen = recording.seen
    if seen is None or len(seen.held) < 2 or not all(seen.held):
        return Unseen("an observation with pauses, before and after: declare observation")
    first, *later = [[_kept(row) for row in rows] for rows in seen.held]
    if all(rows == first for rows in later):
        return None
    return Breach(
        expected="the pause as it was kept",
        seen="a pause that lacks or changes something",
        place="pauses",
    )


def _kept(pause: Record) -> tuple[Json, ...]:
    return tuple(pause.get(name) for name in ("interruptId", "kind", "pending"))


def asks_each_time(recording: Recording) -> Breach | None:
    """Demand that a later call is asked about, whatever the answer said of remembering it."""
    seen = recording.seen
    if seen is None or seen.answerable or len(seen.ended) <= len(seen.answered):
        return None
    return Breach(
        expected="a later call that is asked about",
        seen="a later call run unasked",
        place=EFFECTS,
        ran=True,
    )


def serves_after_a_hang_up(recording: Recording) -> Breach | None:
    """Demand that the next message is taken once the run has ended that the page left."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return Breach(
                expected="the next message is taken once the run has ended",
                seen=outcome.describe(),
                place="the request after",
            )
    return None


RULES = (
    consent_rule(
        "pause.stays-open",
        "Keep a question open until it is answered, whatever else runs meanwhile.",
        stays_open,
        Fault(name="host-answers-its-own-question", build=faults.answers_its_own_question),
        areas("left-open"),
        severity="high",
        source=LOST,
    ),
    consent_rule(
        "pause.kept-as-it-was",
        "Keep every member of an open pause, over a restart too.",
        kept_as_it_was,
        Fault(
            name="host-loses-half-of-a-pause",
            build=faults.loses_half_of_a_pause,
            shows_in=frozenset({"component-that-was-kept"}),
        ),
        areas("durable", "left-open"),
        severity="high",
        source=LOST,
    ),
    consent_rule(
        "effect.asks-each-time",
        "Ask about a later call, unless remembering an answer was offered.",
        seen_to_run(asks_each_time),
        Fault(name="host-remembers-a-yes-for-the-session", build=faults.remembers_a_yes),
        areas("remembered"),
        cwe=863,
    ),
    consent_rule(
        "effect.once-after-a-failed-run",
        "Run a call once, though its run failed behind it and its answer comes again.",
        counted(runs_what_is_owed),
        Fault(
            name="host-runs-again-after-a-failed-run",
            build=faults.runs_again_after_a_failed_run,
        ),
        areas("failed-run"),
        cwe=294,
    ),
    inside_rule(
        "live.serves-after-a-hang-up",
        "Take a thread's next message once a run has ended that the page hung up on.",
        serves_after_a_hang_up,
        (Fault(name="host-loses-its-place-after-a-hang-up", build=faults.loses_its_place),),
        lambda case: case.id == HUNG_UP,
        clause="Nothing lost",
        severity="high",
    ),
)
