"""
What the rules on consent share: judgements over an answer's recording, and their declaration.

The rules of ``named`` demand the door's code and reason. The rules of
``safety`` look at effects alone.

Source: contract, "Door" and "Consent" (docs/contract.md); safety (docs/safety.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.rule import (
    Breach,
    Fault,
    Rule,
    RuleSet,
    Severity,
    Source,
    Unseen,
)
from hostproof.reference_impl.values import is_record
from hostproof.strategies.decisions import YES

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.conformance.recording import Facts, Recording, Seen
    from hostproof.conformance.rule import Judge
    from hostproof.reference_impl.values import Json

NAMED: Final[frozenset[RuleSet]] = frozenset({"named"})
SAFETY: Final[frozenset[RuleSet]] = frozenset({"safety"})
"""The sets of the two kinds of rule."""

EFFECTS: Final = "effects"
"""Where what ran is seen."""


UNSEEN: Final = Unseen("effects that show the call of the control's yes: see that they do")
"""Where not even a yes is seen to run anything, nothing seen proves nothing."""


def seen_to_run(judge: Judge) -> Judge:
    """Hold a rule for kept only where effects are seen at all: those of a yes, if one was said."""

    def judge_seen(recording: Recording) -> Breach | Unseen | None:
        found = judge(recording)
        seen = recording.seen
        if found is not None or seen is None or seen.control:
            return found
        shown = (*seen.paused, *seen.answered, *seen.ended)
        return UNSEEN if seen.control_owed or not shown else None

    return judge_seen


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


def runs_what_is_owed(recording: Recording) -> Breach | Unseen | None:
    """Demand that after the answer exactly the owed calls have run, or no more than may."""
    seen = recording.seen
    if seen is None:
        return None
    ran = len(seen.answered)
    if ran == seen.owed == 0 and seen.control_owed and not seen.control:
        return UNSEEN
    if ran == seen.owed or (seen.most is not None and ran <= seen.most):
        return None
    owed = _calls(seen.owed) if seen.most is None else f"at most {_calls(seen.most)}"
    return Breach(
        expected=f"{owed} run after the answer",
        seen=f"{_calls(ran)} run",
        place=EFFECTS,
        ran=ran > (seen.owed if seen.most is None else seen.most),
    )


def counted(judge: Judge) -> Judge:
    """Judge only where an action that ran twice can be told from a result that is told twice."""

    def judge_counted(recording: Recording) -> Breach | Unseen | None:
        if recording.seen is not None and not recording.seen.counted:
            return Unseen("effects that are counted: declare observation, or effects outside it")
        return judge(recording)

    return judge_counted


def yes_runs(recording: Recording) -> Breach | Unseen | None:
    """Demand that a yes is taken, and that its call runs once."""
    return taken(recording, "the yes is taken") or runs_what_is_owed(recording)


def taken(recording: Recording, expected: str = "the answer is taken") -> Breach | None:
    """Demand that the answer is taken."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return Breach(expected=expected, seen=outcome.describe())
    return None


def runs_unasked(recording: Recording) -> Breach | Unseen | None:
    """Demand a run that asks nobody, and runs what is owed."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted) or outcome.outcome == "interrupt" or recording.asked:
            asks = " with a question" if recording.asked else ""
            return Breach(expected="a run that asks nobody", seen=outcome.describe() + asks)
    return runs_what_is_owed(recording)


def runs_at_most_once(recording: Recording) -> Breach | None:
    """Demand that answers sent at once run the call at most once."""
    seen = recording.seen
    if seen is None or len(seen.answered) <= 1:
        return None
    return Breach(
        expected="at most one call run after answers sent at once",
        seen=f"{_calls(len(seen.answered))} run",
        place=EFFECTS,
        ran=True,
    )


def one_answer_wins(recording: Recording) -> Breach | None:
    """Demand that of answers sent at once one is taken, and that its call runs only on a yes."""
    seen = recording.seen
    if seen is None:
        return None
    if len(seen.won) != 1:
        return Breach(expected="one answer is taken", seen=f"{len(seen.won)} answers are taken")
    owed = 1 if seen.won[0] else 0
    if len(seen.answered) == owed:
        return None
    return Breach(
        expected=f"{_calls(owed)} run after the winning {'yes' if owed else 'no'}",
        seen=f"{_calls(len(seen.answered))} run",
        place=EFFECTS,
        ran=len(seen.answered) > owed,
    )


def waits(recording: Recording) -> Breach | Unseen | None:
    """Demand that nothing runs while the question is open."""
    ran = recording.unasked if recording.seen is None else recording.seen.paused
    if not ran:
        return None
    return Breach(
        expected="no call run before the answer",
        seen=f"{_calls(len(ran))} run" + ("" if recording.seen else ", and no question"),
        place=EFFECTS,
        ran=True,
    )


def as_shown(recording: Recording) -> Breach | Unseen | None:
    """Demand that what ran has the arguments that the page was shown."""
    seen = recording.seen
    compared = 0
    for row, tool in zip(seen.answered, seen.shown_tools, strict=False) if seen else ():
        if tool and row.get("tool") not in (None, tool, *_tools_of(seen)):
            return Breach(
                expected="the tool that was shown", seen="another tool", place=EFFECTS, ran=True
            )
    for row, shown in zip(seen.answered, seen.shown, strict=True) if seen else ():
        if shown is None or not is_record(row.get("arguments")):
            continue
        compared += 1
        if row["arguments"] != shown:
            return Breach(
                expected="the arguments that were shown",
                seen="a call with other arguments",
                place=EFFECTS,
                ran=True,
            )
    if seen is None or compared:
        return None
    if seen.answered or not any(is_record(row.get("arguments")) for row in seen.control):
        return Unseen("effects with their arguments, of calls that the page was shown")
    return None


def _tools_of(seen: Seen | None) -> list[Json]:
    """Name what ran on a plain yes: effects may call a tool otherwise than the stream does."""
    return [row.get("tool") for row in seen.control] if seen else []


def ends_as_owed(recording: Recording) -> Breach | None:
    """Demand that what was not answered can be answered, once, and that the thread goes on."""
    seen = recording.seen
    if seen is None or recording.after is None:
        return None
    refused = any(isinstance(outcome_of(one), Refused) for one in recording.changed)
    owed = seen.ended_owed
    if seen.answerable and not refused and not seen.unanswered:
        return None
    outcome = outcome_of(recording.after)
    if not isinstance(outcome, Accepted):
        return Breach(
            expected="what follows is taken: the right answer, or a message",
            seen=outcome.describe(),
            place="the request after",
        )
    ran = len(seen.ended)
    if not seen.answerable or ran == owed:
        return None
    return Breach(
        expected=f"{_calls(owed)} run in the end",
        seen=f"{_calls(ran)} run",
        place=EFFECTS,
        ran=ran > owed,
    )


def runs_nothing_again(recording: Recording) -> Breach | None:
    """Demand that an answer that is sent again runs nothing, whatever the one before it ran."""
    seen = recording.seen
    more = 0 if seen is None else len(seen.answered) - max(seen.before, seen.owed)
    if more <= 0:
        return None
    return Breach(
        expected="an answer that is sent again runs nothing",
        seen=f"{_calls(more)} more run",
        place=EFFECTS,
        ran=True,
    )


def runs_nothing_later(recording: Recording) -> Breach | None:
    """Demand that a message after the answer runs nothing of what was answered."""
    seen = recording.seen
    if seen is None or seen.answerable or len(seen.ended) <= len(seen.answered):
        return None
    return Breach(
        expected="a later message runs nothing",
        seen=f"{_calls(len(seen.ended) - len(seen.answered))} more run",
        place=EFFECTS,
        ran=True,
    )


def runs_only_the_approved(recording: Recording) -> Breach | Unseen | None:
    """Demand that of several calls none has run but those that the answer says yes to."""
    seen = recording.seen
    for row in seen.answered if seen else ():
        if not is_record(row.get("arguments")):
            return Unseen("effects with their arguments")
        if row["arguments"] in (seen.not_approved if seen else ()):
            return Breach(
                expected="only calls that the answer says yes to",
                seen="a call run that it does not",
                place=EFFECTS,
                ran=True,
            )
    return None


def runs_only_what_is_covered(recording: Recording) -> Breach | Unseen | None:
    """Demand that nothing has run but what the answer says yes to."""
    return runs_what_is_owed(recording) or runs_only_the_approved(recording)


def each_on_its_own(recording: Recording) -> Breach | Unseen | None:
    """Demand that several answers in one are taken, and each call runs on its own yes."""
    return yes_runs(recording) or runs_only_the_approved(recording)


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


def consent_rule(
    name: str,
    demand: str,
    judge: Judge,
    fault: Fault,
    applies: Callable[[Facts], bool],
    *,
    sets: frozenset[RuleSet] = SAFETY,
    severity: Severity = "critical",
    cwe: int | None = None,
    on_unasked: bool = False,
    source: tuple[str, str] = ("safety", "One yes, one run"),
) -> Rule:
    """Declare a rule on answers to a pause; by default one of ``safety`` on effects."""
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
        on_unasked=on_unasked,
    )


def areas(*names: str) -> Callable[[Facts], bool]:
    """Choose the cases of these areas."""
    return lambda case: case.area in names
