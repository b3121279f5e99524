"""
Faults of hosts that people have reported, beside a rule's own: each shows that rule another way.

The catalogue adds them to the rules; ``fault_reports`` says which report each one is.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hostproof.conformance import (
    consent_faults,
    door_faults,
    history_faults,
    input_faults,
    pause_faults,
    resume_faults,
)
from hostproof.conformance.agui_faults import without
from hostproof.conformance.rule import Build, Fault
from hostproof.conformance.tolerance import tolerant_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.reference_impl.styled_parts import StyledParts


def _fault(name: str, build: Build, *cases: str) -> Fault:
    return Fault(name=name, build=build, shows_in=frozenset(cases))


def _drops_what_is_not_answered(parts: StyledParts) -> StyledParts:
    """Answer one of two questions, and drop the other."""
    from hostproof.conformance.styled_answer_faults import (  # noqa: PLC0415 - it needs the host
        drops_what_is_not_answered,
    )

    return drops_what_is_not_answered(parts)


REPORTED: Final[Mapping[str, tuple[Fault, ...]]] = MappingProxyType(
    {
        "ag-ui.int-08-silence-abandons-nothing": (
            Fault(
                name="host-drops-the-question-not-answered",
                styled=_drops_what_is_not_answered,
                shows_in=frozenset({"yes-to-one-of-two"}),
            ),
        ),
        "live.no-server-error": (
            _fault(
                "host-crashes-without-a-body",
                input_faults.crashes_without_a_body,
                "text-nothing",
                "text-brace",
                "body-null",
                "body-empty-object",
            ),
            _fault(
                "host-crashes-on-no-messages", input_faults.crashes_on_no_messages, "messages-none"
            ),
            _fault(
                "host-crashes-after-an-assistants-message",
                input_faults.crashes_after_an_assistant,
                "newest-assistant",
            ),
            _fault(
                "host-crashes-on-a-role-it-does-not-map",
                input_faults.crashes_on_unmapped_roles,
                "history-reasoning",
                "history-activity",
            ),
            _fault(
                "host-crashes-on-null-beside-calls",
                input_faults.crashes_on_null_content,
                "content-null-beside-calls",
            ),
            _fault(
                "host-crashes-on-an-answer-to-nothing",
                input_faults.crashes_on_an_answer_to_nothing,
                "resume-with-nothing-open-main",
                "yes-then-no",
            ),
            _fault(
                "host-finds-threads-in-a-prototype",
                input_faults.finds_threads_in_a_prototype,
                "thread-id-is-constructor",
                "thread-id-is-toString",
            ),
        ),
        "live.good-run": (
            _fault(
                "host-needs-the-whole-history", input_faults.needs_the_whole_history, "plain-run"
            ),
        ),
        "reader.accepts": (
            _fault(
                "reader-needs-state-and-props",
                input_faults.needs_state_and_props,
                "state-missing",
                "forwardedProps-missing",
            ),
            _fault("reader-refuses-null-state", input_faults.refuses_null_state, "state-null"),
            _fault("reader-refuses-null-resume", input_faults.refuses_null_resume, "resume-null"),
        ),
        "reader.thread-id": (
            _fault(
                "reader-runs-snake-case-ids-elsewhere",
                input_faults.runs_snake_case_elsewhere,
                "ids-in-snake-case",
            ),
            _fault(
                "reader-takes-an-empty-thread-id",
                input_faults.takes_an_empty_thread_id,
                "thread-id-empty",
            ),
        ),
        "plan.unknown-interrupt": (
            _fault(
                "host-asks-again-for-another-answer",
                input_faults.asks_again_for_another_answer,
                "interrupt-other",
            ),
        ),
        "effect.yes-runs-once": (
            _fault(
                "host-looks-for-a-yes-under-another-id", resume_faults.Misfiled.of, "check_in-yes"
            ),
            _fault(
                "host-invents-an-answer-after-a-yes", resume_faults.Inventing.of, "check_in-yes"
            ),
            _fault("host-loses-a-helpers-pause", resume_faults.Leading.of, "nested-yes"),
            _fault("host-inverts-the-decision", resume_faults.inverted, "check_in-yes"),
        ),
        "effect.no-never-runs": (
            _fault("host-resumes-without-its-rules", resume_faults.Unruled.of, "check_in-no"),
        ),
        "effect.waits-for-the-answer": (
            _fault(
                "host-acts-while-it-asks-and-not-after",
                resume_faults.ActingWhileAsking.of,
                "check_in-yes",
            ),
        ),
        "effect.needs-a-decision": (
            _fault(
                "door-takes-whatever-is-truthy",
                door_faults.takes_truthy,
                "check_in-answered-approved-text",
                "check_in-answered-approved-one",
            ),
        ),
        "effect.needs-the-request": (
            _fault(
                "host-takes-an-answer-about-another-version",
                door_faults.takes_stale,
                "answer-about-other-data",
            ),
            _fault(
                "host-runs-a-call-that-was-tampered-with",
                door_faults.runs_a_changed_call,
                "call-tampered",
            ),
        ),
        "effect.bound-to-its-caller": (
            _fault(
                "host-lets-anyone-answer-from-anywhere",
                consent_faults.anyones_pause_anywhere,
                "another-callers-answer-on-the-other-thread",
            ),
        ),
        "effect.never-unasked": (
            _fault(
                "host-lets-a-name-lift-the-gate",
                pause_faults.lets_a_name_lift_the_gate,
                "cue-with-a-guarded-tools-name",
            ),
        ),
        "leak.exception-text": (
            _fault(
                "host-tells-a-traceback-in-an-event",
                input_faults.tells_a_traceback,
                "plain-run",
            ),
        ),
        "effect.odd-entries-run-nothing": (
            _fault(
                "host-applies-an-answer-to-what-is-open-now",
                door_faults.takes_any_interrupt,
                "late-yes-to-an-earlier-question",
            ),
        ),
        "effect.arguments-as-shown": (
            _fault("host-runs-what-a-replay-proposes", resume_faults.Replaying.of, "check_in-yes"),
            _fault(
                "host-runs-the-tool-an-answer-names",
                resume_faults.Switching.of,
                "yes-with-another-tool",
            ),
        ),
        "effect.in-sequence": (
            _fault("host-uses-one-yes-for-all", resume_faults.OneForAll.of, "two-yes-no"),
            _fault(
                "host-starts-over-on-a-second-answer", resume_faults.Restarting.of, "two-yes-yes"
            ),
        ),
        "pause.survives-an-answer": (
            _fault(
                "host-wipes-a-pause-with-another-run",
                tolerant_plan("ERR_AWAITING_DECISION"),
                "forged-words",
            ),
            _fault("host-has-no-way-out-of-a-pause", history_faults.has_no_way_out, "check_in-no"),
            _fault(
                "host-is-stuck-after-a-failed-run",
                pause_faults.is_stuck_after_a_failed_run,
                "yes-again-after-a-failed-run",
            ),
        ),
        "ag-ui.in-09-the-inputs-thread": (
            _fault("host-reads-ids-in-snake-case", input_faults.reads_snake_case_only, "plain-run"),
        ),
        "ag-ui.life-07-silent-after-the-end": (
            _fault(
                "host-finishes-after-an-error", input_faults.errors_then_finishes, "failing-run"
            ),
        ),
        "ag-ui.int-01-says-it-is-interrupted": (
            _fault(
                "host-pauses-without-an-outcome", without("RUN_FINISHED", "outcome"), "paused-run"
            ),
        ),
    }
)
"""More faults, by the id of the rule that catches them."""
