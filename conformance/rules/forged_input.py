"""
Rules of the set ``safety`` on what runs unasked, what runs later, and what a reply gives away.

Source: safety (docs/safety.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance import forged_faults, input_faults, resume_faults
from hostproof.conformance.agui_faults import event, inserts
from hostproof.conformance.inside_reading import calls, records, rows, sent_body
from hostproof.conformance.outcome import Accepted, Broken, outcome_of
from hostproof.conformance.rule import Breach, Fault, Unseen
from hostproof.conformance.rules.consent import EFFECTS, UNSEEN
from hostproof.conformance.rules.model_requests import in_areas, inside_rule
from hostproof.conformance.style import PauseStyle, questions_of
from hostproof.reference_impl.values import is_text
from hostproof.strategies.inside_changes import FORGED, WITH_CONTEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.recording import Recording
    from hostproof.reference_impl.values import Record

ONE_YES: Final = "One yes, one run"
GUARDED_NAME: Final = "guarded-name"
"""The area of cues that come with a page's tool named like the guarded one."""


def runs_nothing_inside(recording: Recording) -> Breach | Unseen | None:
    """Demand that no guarded action has run on the thread, where one of a yes was seen to run."""
    found = _runs_unasked(rows(recording, "effects"))
    return UNSEEN if found is None and not recording.yes_seen else found


def _runs_unasked(effects: Sequence[Record]) -> Breach | None:
    if not effects:
        return None
    return Breach(
        expected="no call run that nobody was asked about",
        seen=f"{len(effects)} run",
        place=EFFECTS,
        ran=True,
    )


def asks_before_it_runs(recording: Recording) -> Breach | Unseen | None:
    """
    Demand that a run that is to ask first runs no call, and gives no result of one, before.

    A run that neither asked nor is seen to have run anything shows nothing.
    """
    if recording.seen is not None:
        return _runs_unasked(recording.seen.answered)
    if recording.unasked:
        return _runs_unasked(recording.unasked)
    for exchange in () if recording.asked else recording.changed:
        outcome = outcome_of(exchange)
        done = [one for one in exchange.events if one.type == "TOOL_CALL_RESULT"]
        if isinstance(outcome, Accepted) and outcome.outcome == "success" and done:
            return Breach(
                expected="a run that stops to ask",
                seen="a call with its result, and no question",
                place="events",
            )
        if not (isinstance(outcome, Accepted) and outcome.outcome == "interrupt"):
            return Unseen("a question that a cue leads to: see to cues.check_in, and to pause")
    return None


def resumed_run_ends(recording: Recording) -> Breach | None:
    """Demand that a run that goes on after a right answer is told to its end."""
    answers = [recording.control, *recording.changed]
    for exchange in answers:
        outcome = None if exchange is None else outcome_of(exchange)
        if isinstance(outcome, Broken):
            return Breach(
                expected="a run that goes on to its terminal event",
                seen=outcome.describe(),
                place="the answer's run",
            )
    return None


def goes_on_with_context(recording: Recording) -> Breach | None:
    """Demand that an answer that was taken with context settles its question."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if isinstance(outcome, Accepted) and outcome.outcome == "interrupt":
            return Breach(
                expected="a run that goes on with the answer, or a refusal",
                seen="the question once more",
                place="outcome",
            )
    return None


def shows_its_call(recording: Recording) -> Breach | None:
    """Demand that a call that is asked about was shown on the run that asks."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        shown = set(_calls_shown(exchange))
        asked = questions_of(exchange, PauseStyle()) if isinstance(outcome, Accepted) else ()
        for question in asked:
            if question.call and question.call not in shown:
                return Breach(
                    expected="the call that is asked about, before the question",
                    seen="a question about a call that was never shown",
                    place="outcome",
                )
    return None


def _calls_shown(exchange: Exchange) -> Iterator[str]:
    for one in exchange.events:
        if one.type in ("TOOL_CALL_START", "TOOL_CALL_CHUNK"):
            yield str(one.members.get("toolCallId"))
        elif one.type == "MESSAGES_SNAPSHOT":
            yield from (call["id"] for call in calls(records(one.members.get("messages"))))


def names_no_other_thread(recording: Recording) -> Breach | None:
    """Demand that no refusal names another thread than the request's."""
    control = recording.control
    other = None if control is None else sent_body(control).get("threadId")
    for exchange in recording.changed if is_text(other) and other else ():
        if sent_body(exchange).get("threadId") == other:
            continue
        if not isinstance(outcome_of(exchange), Accepted) and str(other) in exchange.text:
            return Breach(
                expected="a refusal that names no thread of others",
                seen="the id of another thread",
                place="the body",
            )
    return None


def patches_no_prototype(recording: Recording) -> Breach | None:
    """Demand that no delta of the state leads out of the state's own members."""
    for exchange in recording.exchanges:
        for index, one in enumerate(exchange.events):
            operations = records(one.members.get("delta")) if one.type == "STATE_DELTA" else []
            paths = [operation.get(name) for operation in operations for name in ("path", "from")]
            steps = {step for path in paths if is_text(path) for step in path.split("/")}
            if "__proto__" in steps or {"constructor", "prototype"} <= steps:
                return Breach(
                    expected="deltas that stay in the state",
                    seen="a path through the prototype",
                    place=f"events[{index}]",
                )
    return None


RULES: Final = (
    inside_rule(
        "effect.forged-approval-runs-nothing",
        "Run nothing on an approval of what was never asked, whatever call comes with it.",
        runs_nothing_inside,
        (
            Fault(
                name="host-runs-what-an-approval-brings",
                build=forged_faults.believes_answers,
                shows_in=frozenset({"inside-approval-of-nothing"}),
            ),
            Fault(
                name="host-takes-the-answer-for-the-record",
                build=forged_faults.believes_ids,
                shows_in=frozenset(
                    {"inside-approval-of-a-call-in-history", "inside-approval-of-the-newest-call"}
                ),
            ),
            Fault(
                name="host-runs-an-approved-history",
                build=forged_faults.believes_history,
                shows_in=frozenset(
                    {"inside-approved-call-in-history", "inside-newest-is-an-approval"}
                ),
            ),
        ),
        in_areas(FORGED),
        clause=ONE_YES,
        reads=("effects",),
        cwe=345,
    ),
    inside_rule(
        "effect.never-unasked",
        "Ask before a guarded call is run.",
        asks_before_it_runs,
        (
            Fault(
                name="host-switches-a-gate-off",
                build=resume_faults.ungated,
                shows_in=frozenset({"paused-run"}),
            ),
        ),
        lambda case: case.id == "paused-run" or case.area == GUARDED_NAME,
        clause=ONE_YES,
        cwe=636,
    ),
    inside_rule(
        "live.resumed-run-ends",
        "Bring a run that goes on after an answer to its terminal event.",
        resumed_run_ends,
        (
            Fault(
                name="host-answers-an-answer-with-nothing",
                build=input_faults.answers_with_nothing,
                shows_in=frozenset({"check_in-yes"}),
            ),
        ),
        lambda case: case.kind == "answer" and case.area in ("yes", "no"),
        clause="Failures inside a run",
        severity="high",
        on_control=True,
    ),
    inside_rule(
        "pause.taken-with-context",
        "Go on with an answer that is taken, whatever context and state come with it.",
        goes_on_with_context,
        (Fault(name="host-asks-again-for-context", build=resume_faults.Distracted.of),),
        in_areas(WITH_CONTEXT),
        clause="Nothing lost",
        severity="high",
    ),
    inside_rule(
        "pause.shows-its-call",
        "Show a call before it is asked about.",
        shows_its_call,
        (
            Fault(
                name="host-asks-about-a-call-it-never-showed",
                build=input_faults.never_shows_calls,
            ),
        ),
        lambda case: case.id == "paused-run",
        clause=ONE_YES,
        severity="medium",
    ),
    inside_rule(
        "leak.other-threads",
        "Name no other thread in a refusal.",
        names_no_other_thread,
        (
            Fault(
                name="host-lists-its-threads",
                build=input_faults.lists_threads,
                shows_in=frozenset({"resume-with-nothing-open-main"}),
            ),
        ),
        lambda case: case.kind in ("body", "answer"),
        clause="What an error shows",
        severity="high",
        cwe=200,
    ),
    inside_rule(
        "state.patches-no-prototype",
        "Send no delta whose path leads through the prototype of an object.",
        patches_no_prototype,
        (
            Fault(
                name="host-patches-the-prototype",
                build=inserts(
                    start=[
                        event("STATE_SNAPSHOT", snapshot={}),
                        event(
                            "STATE_DELTA",
                            delta=[{"op": "add", "path": "/__proto__/polluted", "value": 1}],
                        ),
                    ]
                ),
                shows_in=frozenset({"plain-run"}),
            ),
        ),
        lambda _case: True,
        clause="Names are data",
        severity="high",
        cwe=1321,
        on_control=True,
    ),
)
