"""
Seeded faults of the styled host: what hosts in use get wrong, each in a style where it shows.

A fault replaces one part of a right host. It names the rule that has to find
it and a few of the rule's cases, so that the proof is quick.

Source: docs/verdicts.md, "Proof that each check can fail".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance import styled_answer_faults as answers
from hostproof.conformance import styled_door_faults as doors
from hostproof.conformance import styled_wire_faults as wire
from hostproof.reference_impl.styled_setup import StyledSetup

if TYPE_CHECKING:
    from hostproof.reference_impl.styled_parts import StyledFault

RESUMED: Final = StyledSetup()
COMMANDED: Final = StyledSetup(pause="custom", answer="command")
SAID: Final = StyledSetup(answer="tool-message")
CONFIRMED: Final = StyledSetup(pause="call", answer="tool-message")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededFault:
    """
    One fault.

    Attributes:
        name: what the host does wrong.
        rule: the id of the rule that finds it.
        build: replaces parts of the right host.
        setups: the styles in which it shows.
        cases: those in which it shows.
    """

    name: str
    rule: str
    build: StyledFault
    setups: tuple[StyledSetup, ...] = (RESUMED,)
    cases: frozenset[str]


def _fault(
    name: str,
    rule: str,
    build: StyledFault,
    *cases: str,
    setups: tuple[StyledSetup, ...] = (RESUMED,),
) -> SeededFault:
    return SeededFault(name=name, rule=rule, build=build, setups=setups, cases=frozenset(cases))


SEEDED: Final[tuple[SeededFault, ...]] = (
    _fault(
        "runs-twice",
        "effect.once-only",
        answers.runs_twice,
        "check_in-yes",
        setups=(RESUMED, replace(CONFIRMED, effects="observation")),
    ),
    _fault(
        "takes-a-no-for-a-yes",
        "effect.no-never-runs",
        answers.takes_a_no_for_a_yes,
        "check_in-no",
        setups=(replace(RESUMED, effects="stream"), COMMANDED, CONFIRMED),
    ),
    _fault(
        "runs-nothing-on-a-yes",
        "effect.yes-runs-once",
        answers.runs_nothing,
        "check_in-yes",
    ),
    _fault(
        "takes-truthy-payloads",
        "effect.needs-a-decision",
        answers.takes_truthy,
        "check_in-answered-approved-text",
        "check_in-answered-text-true",
        setups=(RESUMED, SAID, COMMANDED),
    ),
    _fault(
        "forgets-to-spend",
        "effect.replay-runs-nothing",
        doors.forgets_to_spend,
        "yes-then-yes",
        setups=(replace(RESUMED, history="client"), COMMANDED, CONFIRMED),
    ),
    _fault(
        "spends-after-the-call",
        "effect.race-runs-once",
        doors.spends_after_the_call,
        "race-of-yes-1",
        setups=(RESUMED, replace(SAID, history="client", effects="python"), COMMANDED),
    ),
    _fault(
        "answers-for-any-thread",
        "effect.bound-to-its-thread",
        doors.any_thread,
        "answer-on-another-thread",
        setups=(RESUMED, replace(CONFIRMED, history="client", effects="file")),
    ),
    _fault(
        "answers-for-any-caller",
        "effect.bound-to-its-caller",
        doors.any_caller,
        "another-callers-answer-on-the-same-thread",
        setups=(RESUMED, COMMANDED),
    ),
    _fault(
        "takes-any-interrupt-id",
        "effect.odd-entries-run-nothing",
        answers.any_interrupt,
        "yes-stranger-alone",
        setups=(RESUMED, SAID),
    ),
    _fault(
        "takes-a-keyed-strangers-payload",
        "effect.odd-entries-run-nothing",
        answers.any_keyed_payload,
        "yes-stranger-alone",
        setups=(COMMANDED,),
    ),
    _fault(
        "takes-the-last-of-two-entries",
        "effect.odd-entries-run-nothing",
        answers.last_of_two,
        "yes-no-and-yes",
    ),
    _fault(
        "takes-cancelled-for-a-yes",
        "effect.odd-entries-run-nothing",
        answers.heeds_no_status,
        "cancelled-with-a-yes",
    ),
    _fault(
        "runs-edited-arguments",
        "effect.arguments-as-shown",
        answers.runs_edited_arguments,
        "yes-with-edited-arguments",
        setups=(RESUMED, replace(CONFIRMED, chunks=True)),
    ),
    _fault(
        "loses-the-pause-on-a-plain-message",
        "ag-ui.int-08-silence-abandons-nothing",
        doors.loses_the_pause,
        "forged-words",
        setups=(RESUMED, COMMANDED, CONFIRMED),
    ),
    _fault(
        "loses-the-pause-on-no-decision",
        "pause.survives-an-answer",
        doors.loses_the_pause_on_no_decision,
        "check_in-answered-empty",
        setups=(RESUMED, SAID),
    ),
    _fault(
        "goes-on-while-paused",
        "ag-ui.int-10-no-success-while-open",
        doors.goes_on_while_paused,
        "forged-words",
        setups=(RESUMED, COMMANDED),
    ),
    _fault(
        "runs-before-asking",
        "effect.waits-for-the-answer",
        doors.runs_before_asking,
        "check_in-yes",
        setups=(RESUMED, COMMANDED, CONFIRMED),
    ),
    _fault(
        "partial-answer-runs-both",
        "effect.one-of-several",
        answers.partial_answer_for_all,
        "yes-to-one-of-two",
        setups=(RESUMED, SAID, COMMANDED),
    ),
    _fault(
        "acts-on-an-answer-that-is-not-there",
        "ag-ui.int-07-no-act-on-silence",
        answers.partial_answer_for_all,
        "yes-to-one-of-two",
    ),
    _fault(
        "both-answers-refused",
        "effect.several-at-once",
        answers.refuses_two_answers,
        "both-yes-yes",
        setups=(replace(RESUMED, effects="file"), COMMANDED),
    ),
    _fault(
        "takes-one-yes-for-all",
        "effect.several-at-once",
        answers.takes_one_yes_for_all,
        "both-yes-no",
        setups=(SAID, CONFIRMED),
    ),
    _fault(
        "forgets-the-calls-behind",
        "effect.in-sequence",
        doors.forgets_the_calls_behind,
        "two-yes-yes",
        setups=(RESUMED, CONFIRMED),
    ),
    _fault(
        "takes-a-pages-result-for-a-yes",
        "effect.forged-runs-nothing",
        answers.takes_page_results,
        "forged-result",
        setups=(RESUMED, replace(COMMANDED, history="client")),
    ),
    _fault(
        "asks-about-what-is-denied",
        "effect.asks-where-owed",
        wire.runs_the_denied,
        "denied-asks-nobody",
    ),
    _fault(
        "crashes-on-an-unknown-tool-message",
        "live.no-server-error",
        doors.crashes_on_unknown_results,
        "tool-result-of-no-call",
        setups=(replace(RESUMED, history="client", shape="array"),),
    ),
    _fault(
        "answers-a-busy-thread-with-nothing",
        "live.terminal-event",
        wire.empty_when_busy,
        "concurrent-run",
    ),
    _fault(
        "says-success-for-interrupted",
        "ag-ui.int-01-says-it-is-interrupted",
        wire.says_success,
        "paused-run",
        setups=(RESUMED, COMMANDED),
    ),
    _fault(
        "interrupts-for-the-page",
        "ag-ui.tool-06-page-calls-are-no-interrupt",
        wire.interrupts_for_the_page,
        "client-call-run",
        setups=(CONFIRMED,),
    ),
    _fault(
        "refuses-unknown-entries",
        "ag-ui.int-06-skips-unknown-entries",
        answers.refuses_unknown_entries,
        "yes-with-a-stranger",
    ),
    _fault(
        "fails-on-media",
        "ag-ui.in-05-skips-media",
        wire.fails_on_media,
        "part-image",
        setups=(replace(RESUMED, shape="run-error"),),
    ),
    _fault(
        "quotes-what-was-sent",
        "leak.body",
        wire.quotes_the_body,
        "thread-id-object",
        setups=(replace(RESUMED, shape="detail"), replace(COMMANDED, shape="html")),
    ),
    _fault(
        "quotes-in-run-error",
        "leak.event",
        wire.quotes_answers,
        "yes-stranger-alone",
        setups=(replace(RESUMED, shape="run-error"),),
    ),
    _fault(
        "tells-its-exceptions",
        "leak.exception-text",
        wire.tells_exceptions,
        "failing-run",
    ),
    _fault(
        "echoes-null",
        "ag-ui.in-17-echoes-an-input",
        wire.echoes_null,
        "plain-run",
        setups=(replace(RESUMED, echo_input=True),),
    ),
)
"""Every seeded fault of the styled host."""
