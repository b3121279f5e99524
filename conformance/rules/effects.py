"""
Rules on what runs: a guarded action runs on one valid yes, once, with what was shown.

Whatever a host says is not looked at; its effects are. Beside them stand what
must be left afterwards, what a page may see, and what is recorded.

Source: safety (docs/safety.md); contract, "Consent" and "Ledger" (docs/contract.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance import consent_faults as faults
from hostproof.conformance import door_faults
from hostproof.conformance.fault_agents import Eager, Editable, Repetitive
from hostproof.conformance.rule import Fault
from hostproof.conformance.rules.consent import (
    NAMED,
    areas,
    as_shown,
    consent_rule,
    counted,
    each_on_its_own,
    ends_as_owed,
    one_answer_wins,
    recorded_once,
    runs_at_most_once,
    runs_nothing_again,
    runs_nothing_later,
    runs_only_what_is_covered,
    runs_unasked,
    runs_what_is_owed,
    seen_to_run,
    shows_no_secrets,
    taken,
    waits,
    yes_runs,
)

if TYPE_CHECKING:
    from hostproof.reference_impl.styled_parts import StyledParts


def _takes_one_answer_at_a_time(parts: StyledParts) -> StyledParts:
    """Refuse an answer to several questions."""
    from hostproof.conformance.styled_answer_faults import refuses_two_answers

    return refuses_two_answers(parts)


def _takes_one_answer_for_all(parts: StyledParts) -> StyledParts:
    """Take one answer for every question that is open."""
    from hostproof.conformance.styled_answer_faults import partial_answer_for_all

    return partial_answer_for_all(parts)


RULES: Final = (
    consent_rule(
        "effect.yes-runs-once",
        "Run the call on a yes to its request, once.",
        yes_runs,
        Fault(name="host-takes-a-yes-for-a-no", build=faults.asks_without_end),
        areas("yes"),
    ),
    consent_rule(
        "effect.once-only",
        "Run the call once for one yes, never twice.",
        counted(runs_what_is_owed),
        Fault(name="host-acts-twice", build=door_faults.runs_twice),
        areas("yes"),
    ),
    consent_rule(
        "effect.no-never-runs",
        "Never run the call on a no.",
        runs_what_is_owed,
        Fault(name="host-runs-on-a-no", build=door_faults.runs_a_declined_call),
        areas("no"),
    ),
    consent_rule(
        "effect.waits-for-the-answer",
        "Run nothing while the question is open.",
        seen_to_run(waits),
        Fault(
            name="host-acts-before-asking",
            build=Eager.of,
            shows_in=frozenset({"check_in-yes"}),
        ),
        lambda _case: True,
        on_unasked=True,
    ),
    consent_rule(
        "effect.needs-a-decision",
        "Run nothing on an answer that is no clear yes.",
        runs_what_is_owed,
        Fault(
            name="door-lets-through-any-answer",
            build=door_faults.takes_no_decision,
        ),
        areas("ERR_DECISION_REQUIRED"),
        cwe=863,
    ),
    consent_rule(
        "effect.needs-the-request",
        "Run nothing on a decision about another request, another call or another state of it.",
        runs_what_is_owed,
        Fault(
            name="door-lets-through-any-request",
            build=door_faults.takes_other_request,
        ),
        areas(
            "no-request",
            "request-not-recorded",
            "other-request",
            "call-changed",
            "chain-changed",
            "ledger-changed",
            "closed-by-host",
            "ERR_STALE_DECISION",
            "nested",
        ),
        cwe=863,
    ),
    consent_rule(
        "effect.replay-runs-nothing",
        "Run nothing again when an answer is sent again, as it was or otherwise.",
        counted(seen_to_run(runs_nothing_again)),
        Fault(name="host-takes-a-replayed-answer", build=faults.answers_again),
        areas("replay"),
        cwe=294,
    ),
    consent_rule(
        "effect.later-turn-runs-nothing",
        "Run nothing of what was answered on a later message.",
        counted(seen_to_run(runs_nothing_later)),
        Fault(
            name="host-acts-again-on-a-later-turn",
            build=Repetitive.of,
            shows_in=frozenset({"check_in-yes"}),
        ),
        areas("yes", "no", "replay", "sequence", "both"),
        cwe=294,
    ),
    consent_rule(
        "effect.spent-before-the-call",
        "Run nothing on a decision that was spent before its run was stopped.",
        runs_what_is_owed,
        Fault(name="host-spends-twice", build=door_faults.spends_twice),
        areas("already-answered"),
        cwe=294,
    ),
    consent_rule(
        "effect.decides-after-a-restart",
        "Run the call at most once on a yes after a restart, and never on a no.",
        runs_what_is_owed,
        Fault(
            name="host-knows-no-rule-after-a-restart",
            build=faults.knows_only_its_own,
            shows_in=frozenset({"no-after-a-restart"}),
        ),
        areas("restart"),
        cwe=863,
    ),
    consent_rule(
        "pause.survives-a-restart",
        "Take the answer to a pause after a restart, where pauses outlive one.",
        yes_runs,
        Fault(name="host-keeps-pauses-in-memory", build=faults.pauses_in_memory),
        areas("durable"),
        severity="high",
        source=("safety", "Nothing lost"),
    ),
    consent_rule(
        "effect.race-runs-once",
        "Run the call at most once, however many answers arrive at the same moment.",
        counted(seen_to_run(runs_at_most_once)),
        Fault(name="host-loses-the-race", build=faults.loses_the_race),
        areas("race"),
        cwe=362,
    ),
    consent_rule(
        "effect.one-answer-wins",
        "Take one of several answers that arrive at the same moment, and refuse the others.",
        one_answer_wins,
        Fault(name="host-lets-two-answers-win", build=faults.loses_the_race),
        areas("race"),
        sets=NAMED,
        cwe=362,
        source=("contract", "Ledger"),
    ),
    consent_rule(
        "effect.bound-to-its-thread",
        "Run nothing on an answer that comes on another thread.",
        runs_what_is_owed,
        Fault(name="host-takes-an-answer-on-any-thread", build=faults.any_threads_pause),
        areas("thread"),
        cwe=639,
    ),
    consent_rule(
        "effect.bound-to-its-caller",
        "Run nothing on another caller's answer.",
        runs_what_is_owed,
        Fault(name="host-takes-anyones-answer", build=faults.anyones_pause),
        areas("caller"),
        cwe=639,
    ),
    consent_rule(
        "effect.forged-runs-nothing",
        "Run nothing on a result, a history or words that the page made up.",
        runs_what_is_owed,
        Fault(name="host-takes-a-pages-result-as-a-yes", build=faults.takes_page_results),
        areas("forged"),
        cwe=345,
    ),
    consent_rule(
        "effect.odd-entries-run-nothing",
        "Run nothing on a cancelled answer, on two at once, or beside a stranger's.",
        runs_what_is_owed,
        Fault(name="host-takes-any-yes-in-a-resume", build=faults.takes_any_entry),
        areas("entries"),
        cwe=863,
    ),
    consent_rule(
        "effect.arguments-as-shown",
        "Run the call with the arguments that were shown, whatever the answer carries.",
        seen_to_run(as_shown),
        Fault(name="host-takes-edited-arguments", build=Editable.of),
        areas("binding", "yes"),
        cwe=345,
    ),
    consent_rule(
        "effect.in-sequence",
        "Ask about several calls of a turn one after the other, and run each on its own yes.",
        yes_runs,
        Fault(name="host-forgets-the-calls-behind", build=door_faults.ends_with_the_first_yes),
        areas("sequence"),
        severity="high",
    ),
    consent_rule(
        "effect.several-at-once",
        "Take the answers to several questions in one, and run each call on its own yes.",
        each_on_its_own,
        Fault(
            name="host-takes-one-answer-at-a-time",
            styled=_takes_one_answer_at_a_time,
            shows_in=frozenset({"both-yes-yes"}),
        ),
        areas("both"),
        severity="high",
    ),
    consent_rule(
        "effect.one-of-several",
        "Of several calls that are asked about, run none that the answer says nothing of.",
        runs_only_what_is_covered,
        Fault(
            name="host-takes-one-answer-for-all",
            styled=_takes_one_answer_for_all,
        ),
        areas("partial"),
        cwe=863,
    ),
    consent_rule(
        "effect.asks-where-owed",
        "Ask about a call that a demand is about, and about no other: a denied one never asks.",
        runs_unasked,
        Fault(name="host-asks-about-a-denied-call", build=faults.asks_the_denied),
        areas("unasked"),
        severity="high",
    ),
    consent_rule(
        "pause.survives-an-answer",
        "Keep a pause that a refused answer did not settle; else let the thread take a message.",
        ends_as_owed,
        Fault(
            name="host-never-settles",
            build=faults.never_settles,
            shows_in=frozenset({"spent-and-stopped", "check_in-forgotten"}),
        ),
        lambda _case: True,
        severity="high",
        source=("safety", "Nothing lost"),
    ),
    consent_rule(
        "pause.takes-any-value",
        "Take any value as the answer to a plain question, and ignore what a credential gets.",
        taken,
        Fault(name="door-refuses-falsy-values", build=faults.refuses_falsy),
        areas("value"),
        sets=NAMED,
        severity="medium",
        source=("contract", "Door"),
    ),
    consent_rule(
        "page.sees-no-request",
        "Show the page neither a request id nor the agent's instructions.",
        shows_no_secrets,
        Fault(
            name="host-shows-the-request",
            build=faults.shows_the_request,
            shows_in=frozenset({"check_in-yes"}),
        ),
        lambda _case: True,
        sets=NAMED,
        severity="high",
        cwe=200,
        source=("contract", "Consent"),
    ),
    consent_rule(
        "record.once",
        "Record each used decision once, and no other.",
        recorded_once,
        Fault(
            name="host-records-a-refused-answer",
            build=faults.decides_for_nobody,
            shows_in=frozenset({"check_in-answered-true"}),
        ),
        lambda case: case.area != "caller",
        sets=NAMED,
        severity="high",
        cwe=778,
        source=("contract", "Ledger"),
    ),
)
