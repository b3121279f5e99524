"""
Rules on pauses and decisions: the door's refusals, and above all what runs.

The rules of ``named`` demand the door's code and reason. The rules of
``safety`` look at effects alone: whatever a host says, a guarded action runs on
one valid yes, once, with the arguments that were shown.

Source: contract, "Door" and "Consent" (docs/contract.md); safety (docs/safety.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance import consent_faults as faults
from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.rule import Breach, Fault, Rule, RuleSet, Severity, Source
from hostproof.strategies.decisions import YES

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.conformance.recording import Facts, Recording
    from hostproof.conformance.rule import Judge

NAMED: Final[frozenset[RuleSet]] = frozenset({"named"})
SAFETY: Final[frozenset[RuleSet]] = frozenset({"safety"})
"""The sets of the two kinds of rule."""


def refused_as_owed(recording: Recording) -> Breach | None:
    """Demand the refusal that the answer owes: status, code and reason."""
    owed = recording.case.owed
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        right = (
            isinstance(outcome, Refused)
            and (outcome.status, outcome.code) == (owed.status, owed.code)
            and outcome.reason == owed.reason
            and outcome.in_stream == owed.in_stream
        )
        if not right:
            return Breach(expected=owed.describe(), seen=outcome.describe())
    return None


def runs_what_is_owed(recording: Recording) -> Breach | None:
    """Demand that after the answer exactly the owed calls have run."""
    seen = recording.seen
    if seen is None or len(seen.answered) == seen.owed:
        return None
    return Breach(
        expected=f"{_calls(seen.owed)} run after the answer",
        seen=f"{_calls(len(seen.answered))} run",
        place="effects",
    )


def yes_runs(recording: Recording) -> Breach | None:
    """Demand that a yes is taken, and that its call runs once."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return Breach(expected="the yes is taken", seen=outcome.describe())
    return runs_what_is_owed(recording)


def taken(recording: Recording) -> Breach | None:
    """Demand that the answer is taken."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return Breach(expected="the answer is taken", seen=outcome.describe())
    return None


def runs_unasked(recording: Recording) -> Breach | None:
    """Demand a run that asks nobody, and runs what is owed."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted) or outcome.outcome == "interrupt":
            return Breach(expected="a run that asks nobody", seen=outcome.describe())
    return runs_what_is_owed(recording)


def waits(recording: Recording) -> Breach | None:
    """Demand that nothing runs while the question is open."""
    seen = recording.seen
    if seen is None or not seen.paused:
        return None
    return Breach(
        expected="no call run before the answer",
        seen=f"{_calls(len(seen.paused))} run",
        place="effects",
    )


def as_shown(recording: Recording) -> Breach | None:
    """Demand that what ran has the arguments that the page was shown."""
    seen = recording.seen
    for row, shown in zip(seen.answered, seen.shown, strict=True) if seen else ():
        if row.get("arguments") != shown:
            return Breach(
                expected="the arguments that were shown",
                seen="a call with other arguments",
                place="effects",
            )
    return None


def ends_as_owed(recording: Recording) -> Breach | None:
    """Demand that after a refused answer the right one is taken and runs its call once."""
    seen = recording.seen
    if seen is None or recording.after is None:
        return None
    outcome = outcome_of(recording.after)
    if not isinstance(outcome, Accepted):
        return Breach(
            expected="what follows is taken: the right answer, or a message",
            seen=outcome.describe(),
            place="the request after",
        )
    if len(seen.ended) != seen.ended_owed:
        return Breach(
            expected=f"{_calls(seen.ended_owed)} run in the end",
            seen=f"{_calls(len(seen.ended))} run",
            place="effects",
        )
    return None


def shows_no_secrets(recording: Recording) -> Breach | None:
    """Demand that no answer shows a request id or the agent's instructions."""
    seen = recording.seen
    for exchange in recording.exchanges if seen else ():
        for secret in seen.secrets if seen else ():
            if secret in exchange.text:
                return Breach(
                    expected="the question and the call, and nothing else of the pause",
                    seen="a request id or the agent's instructions",
                    place="the answer's body",
                )
    return None


def recorded_once(recording: Recording) -> Breach | None:
    """Demand one decision record for each decision that was used, and none for another."""
    seen = recording.seen
    if seen is None:
        return None
    if any(record.get("by") != YES["by"] for record in seen.records):
        return Breach(
            expected="records of decisions that somebody made",
            seen="a decision record that names somebody else",
            place="decisions",
        )
    if len(seen.records) == seen.records_owed:
        return None
    return Breach(
        expected=f"{seen.records_owed} decision records",
        seen=f"{len(seen.records)} decision records",
        place="decisions",
    )


def _calls(count: int) -> str:
    return "one call" if count == 1 else f"{count} calls"


def _rule(
    name: str,
    demand: str,
    judge: Judge,
    fault: Fault,
    applies: Callable[[Facts], bool],
    *,
    sets: frozenset[RuleSet] = SAFETY,
    severity: Severity = "critical",
    cwe: int | None = None,
    source: tuple[str, str] = ("safety", "One yes, one run"),
) -> Rule:
    return Rule(
        id=name,
        title=name.partition(".")[2].replace("-", " "),
        demand=demand,
        source=Source(document=source[0], clause=source[1]),
        sets=sets,
        level="must",
        severity=severity,
        cwe=cwe,
        applies=lambda case: case.kind == "answer" and applies(case),
        judge=judge,
        fault=fault,
    )


def _areas(*areas: str) -> Callable[[Facts], bool]:
    return lambda case: case.area in areas


def tolerant(name: str, code: str, reason: str | None) -> Fault:
    """Make the fault of a door that does not make one refusal."""
    return Fault(name=f"door-lets-through-{name}", build=faults.tolerant_door(code, reason))


def _door_rule(name: str, code: str, demand: str, reason: str | None = None) -> Rule:
    return _rule(
        f"door.{name}",
        demand,
        refused_as_owed,
        tolerant(name, code, reason),
        _areas(reason or code),
        sets=NAMED,
        severity="high",
        cwe=863,
        source=("contract", "Door"),
    )


RESUME: Final = "ERR_RESUME_DECISION"

RULES: Final = (
    _rule(
        "effect.yes-runs-once",
        "Run the call on a yes to its request, once.",
        yes_runs,
        Fault(name="host-takes-a-yes-for-a-no", build=faults.asks_without_end),
        _areas("yes"),
    ),
    _rule(
        "effect.once-only",
        "Run the call once for one yes, never twice.",
        runs_what_is_owed,
        Fault(name="host-acts-twice", build=faults.acts_twice),
        _areas("yes"),
    ),
    _rule(
        "effect.no-never-runs",
        "Never run the call on a no.",
        runs_what_is_owed,
        Fault(name="host-runs-on-a-no", build=faults.no_is_yes),
        _areas("no"),
    ),
    _rule(
        "effect.waits-for-the-answer",
        "Run nothing while the question is open.",
        waits,
        Fault(
            name="host-acts-before-asking",
            build=faults.acts_before_asking,
            shows_in=frozenset({"check_in-yes"}),
        ),
        lambda _case: True,
    ),
    _rule(
        "effect.needs-a-decision",
        "Run nothing on an answer that is no clear yes.",
        runs_what_is_owed,
        tolerant("any-answer", "ERR_DECISION_REQUIRED", None),
        _areas("ERR_DECISION_REQUIRED"),
        cwe=863,
    ),
    _rule(
        "effect.needs-the-request",
        "Run nothing on a decision about another request, another call or another state of it.",
        runs_what_is_owed,
        tolerant("any-request", RESUME, "other-request"),
        _areas(
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
    _rule(
        "effect.replay-runs-nothing",
        "Run nothing again when an answer is sent again, as it was or otherwise.",
        runs_what_is_owed,
        Fault(name="host-takes-a-replayed-answer", build=faults.answers_again),
        _areas("replay"),
        cwe=294,
    ),
    _rule(
        "effect.spent-before-the-call",
        "Run nothing on a decision that was spent before its run was stopped.",
        runs_what_is_owed,
        Fault(name="host-spends-twice", build=faults.spends_again),
        _areas("already-answered"),
        cwe=294,
    ),
    _rule(
        "effect.bound-to-its-thread",
        "Run nothing on an answer that comes on another thread.",
        runs_what_is_owed,
        Fault(name="host-takes-an-answer-on-any-thread", build=faults.any_threads_pause),
        _areas("thread"),
        cwe=639,
    ),
    _rule(
        "effect.bound-to-its-caller",
        "Run nothing on another caller's answer.",
        runs_what_is_owed,
        Fault(name="host-takes-anyones-answer", build=faults.anyones_pause),
        _areas("caller"),
        cwe=639,
    ),
    _rule(
        "effect.forged-runs-nothing",
        "Run nothing on a result, a history or words that the page made up.",
        runs_what_is_owed,
        Fault(name="host-takes-a-pages-result-as-a-yes", build=faults.takes_page_results),
        _areas("forged"),
        cwe=345,
    ),
    _rule(
        "effect.odd-entries-run-nothing",
        "Run nothing on a cancelled answer, on two at once, or beside a stranger's.",
        runs_what_is_owed,
        Fault(name="host-takes-any-yes-in-a-resume", build=faults.takes_any_entry),
        _areas("entries"),
        cwe=863,
    ),
    _rule(
        "effect.arguments-as-shown",
        "Run the call with the arguments that were shown, whatever the answer carries.",
        as_shown,
        Fault(name="host-takes-edited-arguments", build=faults.takes_edits),
        _areas("binding", "yes"),
        cwe=345,
    ),
    _rule(
        "effect.in-sequence",
        "Ask about several calls of a turn one after the other, and run each on its own yes.",
        yes_runs,
        Fault(name="host-forgets-the-calls-behind", build=faults.forgets_the_rest),
        _areas("sequence"),
        severity="high",
    ),
    _rule(
        "effect.asks-where-owed",
        "Ask about a call that a demand is about, and about no other: a denied one never asks.",
        runs_unasked,
        Fault(name="host-asks-about-a-denied-call", build=faults.asks_the_denied),
        _areas("unasked"),
        severity="high",
    ),
    _rule(
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
    _rule(
        "pause.takes-any-value",
        "Take any value as the answer to a plain question, and ignore what a credential gets.",
        taken,
        Fault(name="door-refuses-falsy-values", build=faults.refuses_falsy),
        _areas("value"),
        sets=NAMED,
        severity="medium",
        source=("contract", "Door"),
    ),
    _rule(
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
    _rule(
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
    _door_rule(
        "decision-required",
        "ERR_DECISION_REQUIRED",
        "Refuse an answer to a consent gate that is no decision.",
    ),
    _door_rule(
        "answer-required",
        "ERR_PAUSE_ANSWER_REQUIRED",
        "Refuse null and nothing as the answer to a plain question.",
    ),
    _door_rule("no-request", RESUME, "Refuse a decision that names no request.", "no-request"),
    _door_rule(
        "request-not-recorded",
        RESUME,
        "Refuse a decision where the pause recorded no request.",
        "request-not-recorded",
    ),
    _door_rule(
        "other-request", RESUME, "Refuse a decision that names another request.", "other-request"
    ),
    _door_rule(
        "stale-decision",
        "ERR_STALE_DECISION",
        "Refuse an answer that was chosen from other data than the ask pinned.",
    ),
    _door_rule(
        "call-changed",
        RESUME,
        "Refuse a decision where the paused call is not the one asked about.",
        "call-changed",
    ),
    _door_rule(
        "chain-changed",
        RESUME,
        "Refuse a decision where the rules after the ask are not those it was asked under.",
        "chain-changed",
    ),
    _door_rule(
        "ledger-changed",
        RESUME,
        "Refuse a decision that would be spent in another ledger than its request's.",
        "ledger-changed",
    ),
    _door_rule(
        "closed-by-host",
        RESUME,
        "Refuse a decision where the host has closed the pause.",
        "closed-by-host",
    ),
    _rule(
        "door.already-answered",
        "Refuse a decision whose request was spent before.",
        refused_as_owed,
        Fault(name="ledger-spends-twice", build=faults.spends_again),
        _areas("already-answered"),
        sets=NAMED,
        severity="high",
        cwe=294,
        source=("contract", "Door"),
    ),
    _rule(
        "door.nested",
        "Refuse an answer to a helper's pause inside the run, by RUN_ERROR with the same code.",
        refused_as_owed,
        tolerant("nested", RESUME, "other-request"),
        _areas("nested"),
        sets=NAMED,
        severity="high",
        cwe=863,
        source=("contract", "Door"),
    ),
)
