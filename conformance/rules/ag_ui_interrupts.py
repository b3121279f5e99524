"""
Rules of the set ``ag-ui`` on runs that ask: interrupts, their answers, and the page's own calls.

What is judged where an interrupt is left unanswered binds a host that can tell; the
control run, an answer without history, has shown that this one can. The reference
refuses unknown entries and cancelled answers by design; those rules are proved on a
variant that takes them.

Source: AG-UI 1.0, patterns/interrupt-resume, events/tool-calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance import agui_interrupt_faults as faults
from hostproof.conformance.agui_content import unanswered_calls
from hostproof.conformance.agui_faults import ends_as, unbroken
from hostproof.conformance.agui_input_faults import skips_unknown_entries, takes_cancelled
from hostproof.conformance.agui_reading import reading_of
from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.rule import Breach, Fault, Unseen
from hostproof.conformance.rules.ag_ui import ag_ui_rule, named, runs_as_control
from hostproof.conformance.rules.consent import (
    ends_as_owed,
    runs_only_what_is_covered,
)
from hostproof.conformance.tolerance import tolerant_plan
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from hostproof.conformance.agui_reading import Reading
    from hostproof.conformance.recording import Facts, Recording
    from hostproof.conformance.rule import Judge, Rule

PAGE: Final = "patterns/interrupt-resume"
RESUMING: Final = f"{PAGE}, Resuming"
FRONTEND: Final = "events/tool-calls, Frontend tools"

UNCOVERED: Final = ("forged-words", "forged-result", "forged-history", "yes-to-one-of-two")
"""Requests that bring no entry for an interrupt that is open."""

UNKNOWN: Final = (
    "resume-with-nothing-open-main",
    "interrupt-right-and-other",
    "interrupt-other-and-right",
    "yes-with-a-stranger",
    "yes-stranger-first",
)
"""Requests with an entry for an interrupt that was not raised."""


def says_it_is_interrupted(recording: Recording) -> Breach | None:
    """
    Demand the interrupt outcome of a run that leaves a call of the host's own open.

    A run that leaves a call to the page must not end so, whatever else it leaves (TOOL-06).
    """
    for exchange in recording.changed:
        reading, outcome = reading_of(exchange), outcome_of(exchange)
        if reading is None or not isinstance(outcome, Accepted):
            continue
        left = set(unanswered_calls(reading, 0, len(reading.events)))
        open_call = bool(left) and not left & _page_calls(reading)
        if outcome.outcome != "interrupt" and (open_call or recording.asked_aside):
            what = "a call left open" if open_call else "the question in an event of its own"
            return Breach(
                expected="RUN_FINISHED with the interrupt outcome",
                seen=f"{outcome.describe()} with {what}",
                place="outcome",
            )
    return None


def answered_before_the_run(recording: Recording) -> Breach | None:
    """Demand a refusal before the run, or a run that ends in the interrupt again."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        begun = any(event.type == "RUN_STARTED" for event in exchange.events)
        if isinstance(outcome, Refused) and begun:
            return Breach(
                expected="a refusal before the run, or the interrupt again",
                seen="a run that began and failed",
            )
    return None


def never_succeeds(recording: Recording) -> Breach | None:
    """Demand that no run ends as success while the interrupt is open."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if isinstance(outcome, Accepted) and outcome.outcome == "success":
            return Breach(expected="no success while an interrupt is open", seen=outcome.describe())
    return None


def where_it_can_tell(judge: Judge) -> Judge:
    """Judge only where the host can tell that the interrupt is open."""

    def judge_told(recording: Recording) -> Breach | Unseen | None:
        if recording.seen is not None and not recording.seen.can_tell:
            return Unseen("a host that can tell what is open: here a history closes it")
        return judge(recording)

    return judge_told


def _page_calls(reading: Reading) -> set[str]:
    """Name the calls of tools that the request offers."""
    tools = reading.input.get("tools")
    names = [one.get("name") for one in tools if is_record(one)] if isinstance(tools, list) else []
    return {
        event["toolCallId"]
        for event in reading.events
        if event.get("type") in ("TOOL_CALL_START", "TOOL_CALL_CHUNK")
        and event.get("toolCallName") in names
        and isinstance(event.get("toolCallId"), str)
    }


def leaves_page_calls(recording: Recording) -> Breach | None:
    """Demand that a call of the page's is not answered by the host."""
    for exchange in recording.changed:
        reading = reading_of(exchange)
        calls = _page_calls(reading) if reading else set()
        for index, event in enumerate(reading.events if reading else ()):
            listed = event.get("messages")
            given = [event] if event.get("type") == "TOOL_CALL_RESULT" else []
            given += [one for one in listed if is_record(one)] if isinstance(listed, list) else []
            if any(str(one.get("toolCallId")) in calls for one in given):
                return Breach(
                    expected="no result for a call of the page's",
                    seen="a result",
                    place=f"events[{index}]",
                )
    return None


def page_calls_are_success(recording: Recording) -> Breach | None:
    """Demand that a run that left a call to the page is not called interrupted."""
    for exchange in recording.changed:
        reading, outcome = reading_of(exchange), outcome_of(exchange)
        if reading is None or not isinstance(outcome, Accepted) or not _page_calls(reading):
            continue
        if outcome.outcome == "interrupt":
            return Breach(expected="success, or no outcome", seen=outcome.describe())
    return None


def _uncovered(case: Facts) -> bool:
    return case.kind == "answer" and case.id in UNCOVERED


RULES: Final[tuple[Rule, ...]] = (
    ag_ui_rule(
        "int-01-says-it-is-interrupted",
        f"{PAGE}, Interrupting",
        "End a run that stopped to ask with the interrupt outcome, never as success.",
        says_it_is_interrupted,
        Fault(
            name="host-reports-a-pause-as-success",
            build=ends_as("interrupt", {"type": "success"}),
            shows_in=frozenset({"paused-run"}),
        ),
        severity="high",
        applies=named("paused-run"),
    ),
    ag_ui_rule(
        "int-05-takes-the-answer",
        RESUMING,
        "Take the entries of a covered resume as the answers the run stopped for.",
        runs_as_control,
        Fault(
            name="host-takes-only-a-yes",
            build=faults.refuses_every_no,
            shows_in=frozenset({"check_in-no"}),
        ),
        level="should",
        applies=lambda case: (
            case.kind == "answer" and (case.area in ("yes", "no") or case.area == "value")
        ),
    ),
    ag_ui_rule(
        "int-05-takes-cancelled",
        RESUMING,
        "Take an entry that abandons its interrupt as the answer it is.",
        runs_as_control,
        Fault(name="host-refuses-to-be-cancelled", build=unbroken, mended=takes_cancelled),
        level="should",
        applies=named("cancel-bare"),
    ),
    ag_ui_rule(
        "int-06-skips-unknown-entries",
        f"{RESUMING} (unrecognised entry); Error Handling",
        "Go on without an entry for an interrupt that was not raised.",
        runs_as_control,
        Fault(name="host-refuses-unknown-entries", build=unbroken, mended=skips_unknown_entries),
        level="guide",
        applies=named(*UNKNOWN),
    ),
    ag_ui_rule(
        "int-07-no-act-on-silence",
        f"{RESUMING} (uncovered interrupt)",
        "Perform nothing on the strength of an entry that is not there.",
        where_it_can_tell(runs_only_what_is_covered),
        Fault(
            name="host-takes-silence-for-a-yes",
            build=faults.takes_silence_for_a_yes,
            shows_in=frozenset({"forged-words"}),
        ),
        severity="critical",
        applies=_uncovered,
    ),
    ag_ui_rule(
        "int-08-silence-abandons-nothing",
        f"{RESUMING} (uncovered interrupt)",
        "Keep an interrupt open that a request did not answer.",
        where_it_can_tell(ends_as_owed),
        Fault(
            name="host-abandons-what-is-not-answered",
            build=faults.abandons_what_is_not_answered,
            shows_in=frozenset({"forged-words"}),
        ),
        severity="high",
        applies=_uncovered,
    ),
    ag_ui_rule(
        "int-09-refuses-or-asks-again",
        f"{RESUMING} (uncovered interrupt)",
        "Refuse an uncovered input before the run, or end it in the interrupt again.",
        where_it_can_tell(answered_before_the_run),
        Fault(
            name="host-refuses-inside-the-run",
            build=faults.refuses_inside_the_run,
            shows_in=frozenset({"forged-words"}),
        ),
        level="guide",
        applies=_uncovered,
    ),
    ag_ui_rule(
        "int-10-no-success-while-open",
        f"{RESUMING} (uncovered interrupt)",
        "End no run as success while an interrupt that is known to be open is unanswered.",
        where_it_can_tell(never_succeeds),
        Fault(
            name="host-goes-on-without-the-answer",
            build=tolerant_plan("ERR_AWAITING_DECISION"),
            shows_in=frozenset({"forged-words"}),
        ),
        severity="high",
        applies=_uncovered,
    ),
    ag_ui_rule(
        "tool-05-leaves-the-pages-calls",
        FRONTEND,
        "Leave a call of the page's unanswered.",
        leaves_page_calls,
        Fault(name="host-answers-for-the-page", build=faults.answers_the_page),
        applies=named("client-call-run"),
    ),
    ag_ui_rule(
        "tool-06-page-calls-are-no-interrupt",
        FRONTEND,
        "End a run that leaves a call to the page as success, or without outcome.",
        page_calls_are_success,
        Fault(
            name="host-interrupts-for-the-page",
            build=ends_as(
                "success",
                {"type": "interrupt", "interrupts": [{"id": "hp-i", "reason": "page"}]},
            ),
        ),
        applies=named("client-call-run"),
    ),
)
