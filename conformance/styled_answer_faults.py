"""
Styled hosts that read or judge answers wrongly.

Each function takes the parts of a right styled host and breaks one thing.

Source: docs/verdicts.md, "Proof that each check can fail".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from hostproof.reference_impl.refusals import refuse
from hostproof.reference_impl.styled_pauses import (
    AWAITING,
    StyledAnswer,
    Verdict,
    names_of,
    newest_results,
)
from hostproof.reference_impl.values import Missing, is_record, is_truthy

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.reference_impl.styled_input import StyledInput
    from hostproof.reference_impl.styled_model import StyledCall
    from hostproof.reference_impl.styled_parts import StyledParts, StyledRun
    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.styled_threads import (
        Ask,
        StyledThread,
    )

Answers: TypeAlias = "tuple[StyledAnswer, ...]"
"""The answers of a request."""

Mend: TypeAlias = "Callable[[StyledInput, StyledThread, Answers], Answers]"


def _answers(parts: StyledParts, mend: Mend) -> StyledParts:
    """Change the answers of a request before they are looked at."""
    right = parts.answers

    def answers(setup: StyledSetup, given: StyledInput, thread: StyledThread) -> Answers:
        return mend(given, thread, right(setup, given, thread))

    return replace(parts, answers=answers)


def _judge(
    parts: StyledParts, judge: Callable[[Ask, StyledAnswer, Verdict | None], Verdict | None]
) -> StyledParts:
    """Change what an answer decides."""
    right = parts.judge

    def judged(setup: StyledSetup, ask: Ask, answer: StyledAnswer) -> Verdict | None:
        return judge(ask, answer, right(setup, ask, answer))

    return replace(parts, judge=judged)


def runs_twice(parts: StyledParts) -> StyledParts:
    """Execute every call twice."""
    right = parts.act

    async def act(run: StyledRun, call: StyledCall) -> str:
        await right(run, call)
        return await right(run, call)

    return replace(parts, act=act)


def takes_a_no_for_a_yes(parts: StyledParts) -> StyledParts:
    """Run what was declined."""

    def judge(_ask: Ask, _answer: StyledAnswer, right: Verdict | None) -> Verdict | None:
        return None if right is None else replace(right, runs=True)

    return _judge(parts, judge)


def runs_nothing(parts: StyledParts) -> StyledParts:
    """Take a yes, and execute nothing."""

    async def act(_run: StyledRun, call: StyledCall) -> str:
        return f"{call.name} is done"

    return replace(parts, act=act)


def takes_truthy(parts: StyledParts) -> StyledParts:
    """Take for a yes whatever is not empty: ``"true"``, or a member that is."""

    def judge(ask: Ask, answer: StyledAnswer, right: Verdict | None) -> Verdict | None:
        if right is not None or ask.kind != "guarded" or isinstance(answer.payload, Missing):
            return right
        said = answer.payload
        values = list(said.values()) if is_record(said) else [said]
        return Verdict(ask, runs=any(is_truthy(value) for value in values))

    return _judge(parts, judge)


def any_interrupt(parts: StyledParts) -> StyledParts:
    """Take a lone answer for the open question, whatever it names."""

    def mend(_given: StyledInput, thread: StyledThread, answers: Answers) -> Answers:
        if thread.pause is None or len(answers) != 1:
            return answers
        return (replace(answers[0], name=thread.pause.asks[0].name),)

    return _answers(parts, mend)


def any_keyed_payload(parts: StyledParts) -> StyledParts:
    """Take an object with one payload in it for that payload, whatever it is keyed by."""

    def mend(_given: StyledInput, _thread: StyledThread, answers: Answers) -> Answers:
        return tuple(
            replace(one, payload=next(iter(one.payload.values())))
            if is_record(one.payload) and any(map(is_record, one.payload.values()))
            else one
            for one in answers
        )

    return _answers(parts, mend)


def last_of_two(parts: StyledParts) -> StyledParts:
    """Take the last of several answers to one question."""
    return _answers(
        parts, lambda _given, _thread, answers: tuple({one.name: one for one in answers}.values())
    )


def heeds_no_status(parts: StyledParts) -> StyledParts:
    """Take the payload of an answer that cancels."""
    return _answers(
        parts,
        lambda _given, _thread, answers: tuple(replace(one, cancels=False) for one in answers),
    )


def runs_edited_arguments(parts: StyledParts) -> StyledParts:
    """Run a call with the arguments that an answer brings."""

    def judge(ask: Ask, answer: StyledAnswer, right: Verdict | None) -> Verdict | None:
        said = answer.payload
        edited = said.get("editedArgs") if is_record(said) else None
        if right is None or not is_record(edited):
            return right
        call = replace(ask.call, arguments={**ask.call.arguments, **edited})
        return replace(right, ask=replace(ask, call=call))

    return _judge(parts, judge)


def partial_answer_for_all(parts: StyledParts) -> StyledParts:
    """Take one answer for all that is open."""

    def mend(_given: StyledInput, thread: StyledThread, answers: Answers) -> Answers:
        if thread.pause is None or not answers:
            return answers
        given = {one.name: one for one in answers}
        first = answers[0]
        return tuple(
            given.get(ask.name, replace(first, name=ask.name)) for ask in thread.pause.asks
        )

    return _answers(parts, mend)


def drops_what_is_not_answered(parts: StyledParts) -> StyledParts:
    """Take an answer to one of several questions for the end of all: the others are dropped."""

    def mend(_given: StyledInput, thread: StyledThread, answers: Answers) -> Answers:
        if thread.pause is None or not answers:
            return answers
        given = {one.name: one for one in answers}
        dropped = replace(answers[0], cancels=True)
        return tuple(
            given.get(ask.name, replace(dropped, name=ask.name)) for ask in thread.pause.asks
        )

    return _answers(parts, mend)


def takes_one_yes_for_all(parts: StyledParts) -> StyledParts:
    """Take the first answer for every question that is open."""

    def mend(_given: StyledInput, _thread: StyledThread, answers: Answers) -> Answers:
        return tuple(replace(answers[0], name=one.name) for one in answers)

    return _answers(parts, mend)


def refuses_two_answers(parts: StyledParts) -> StyledParts:
    """Refuse an answer to several questions."""

    def mend(_given: StyledInput, _thread: StyledThread, answers: Answers) -> Answers:
        if len(answers) > 1:
            raise refuse(AWAITING, "One answer at a time.")
        return answers

    return _answers(parts, mend)


def takes_page_results(parts: StyledParts) -> StyledParts:
    """Take a result that the page made up for an answer."""

    def mend(given: StyledInput, thread: StyledThread, answers: Answers) -> Answers:
        asks = thread.pause.asks if thread.pause is not None else ()
        results = {one["toolCallId"] for one in newest_results(given)}
        forged = tuple(
            StyledAnswer(ask.name, {"approved": True}) for ask in asks if ask.call.id in results
        )
        return answers or forged

    return _answers(parts, mend)


def refuses_unknown_entries(parts: StyledParts) -> StyledParts:
    """Refuse an answer to what was never asked, though the right one stands beside it."""

    def mend(_given: StyledInput, thread: StyledThread, answers: Answers) -> Answers:
        known = set() if thread.pause is None else {*names_of(thread.pause), None}
        return answers if all(one.name in known for one in answers) else ()

    return _answers(parts, mend)
