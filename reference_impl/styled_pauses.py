"""
The styled host's door: what a request asks for, given what its thread waits for.

Answers are read from their place in the request, matched with what is open,
and judged; nothing is changed here. A request that does not answer all that is
open is refused, and what is open stays.

Pure. Source: safety, "One yes, one run" and "Nothing lost" (docs/safety.md);
AG-UI 1.0, patterns/interrupt-resume, Resuming.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from hostproof.reference_impl.ijson import read_ijson
from hostproof.reference_impl.refusals import Refusal, refuse
from hostproof.reference_impl.styled_input import StyledInput, text_of
from hostproof.reference_impl.values import MISSING, Json, Missing, Record, is_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.styled_threads import Ask, OpenPause, StyledThread


@dataclass(frozen=True, slots=True)
class StyledAnswer:
    """
    One answer as a request has it.

    Attributes:
        name: what it answers; ``None`` for whatever is open.
        payload: what it says; ``MISSING`` for nothing.
        cancels: whether it abandons the question.
    """

    name: str | None
    payload: Json | Missing = MISSING
    cancels: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    What an answer decides.

    Attributes:
        ask: the question.
        runs: whether its call is to run.
        value: what a question was answered with, or a page's call.
    """

    ask: Ask
    runs: bool
    value: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A person said something."""


@dataclass(frozen=True, slots=True)
class Answer:
    """All that is open was answered."""

    pause: OpenPause
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """What was answered before is answered again."""

    ask: Ask


Wanted: TypeAlias = Message | Answer | Replay
"""What a request asks for."""

Judge: TypeAlias = "Callable[[StyledSetup, Ask, StyledAnswer], Verdict | None]"
"""Judges one answer; ``None`` where it is no decision."""

AWAITING: Final = "ERR_AWAITING_DECISION"
"""The code of a request that does not answer all that is open."""


def newest_results(given: StyledInput) -> list[Record]:
    """Give the tool messages that the request ends with, in order."""
    results: list[Record] = []
    for message in reversed(given.messages):
        if message["role"] != "tool":
            break
        results.insert(0, message)
    return results


def answers_in(
    setup: StyledSetup, given: StyledInput, thread: StyledThread
) -> tuple[StyledAnswer, ...]:
    """Read the answers of a request from where this host's answers stand."""
    pause = thread.pause
    if setup.answer == "tool-message" or (pause is not None and pause.is_pages):
        return tuple(
            StyledAnswer(one["toolCallId"], _said(text_of(one["content"])))
            for one in newest_results(given)
        )
    if setup.answer == "resume":
        return tuple(
            StyledAnswer(
                one["interruptId"], one.get("payload", MISSING), one["status"] == "cancelled"
            )
            for one in given.resume
        )
    return _commanded(given.forwarded, thread)


def _commanded(forwarded: Json, thread: StyledThread) -> tuple[StyledAnswer, ...]:
    """Read ``command.resume``: the payload itself, or an object with one for each interrupt."""
    command = forwarded.get("command") if is_record(forwarded) else None
    sent = command.get("resume") if is_record(command) else None
    if sent is None:
        return ()
    asks = thread.pause.asks if thread.pause is not None else ()
    if is_record(sent) and any(name in sent for name in (*thread.spent, *(a.name for a in asks))):
        return tuple(StyledAnswer(name, payload) for name, payload in sent.items())
    return (StyledAnswer(None, sent),) if len(asks) <= 1 else ()


def _said(text: str) -> Json:
    """Read the content of a tool message: JSON, or the text as it stands."""
    try:
        return read_ijson(text.encode("utf-8"))
    except Refusal:
        return text


def judged(setup: StyledSetup, ask: Ask, answer: StyledAnswer) -> Verdict | None:
    """
    Judge one answer by what this host takes for a yes and a no.

    Only the member that says so is looked at: whatever else an answer carries
    changes nothing.
    """
    if answer.cancels:
        return Verdict(ask, runs=False, value="cancelled")
    if ask.kind == "guarded":
        runs = decided(setup, answer.payload)
        return None if runs is None else Verdict(ask, runs)
    if ask.kind == "question" and (isinstance(answer.payload, Missing) or answer.payload is None):
        return None
    said = answer.payload
    return Verdict(ask, runs=True, value=said if isinstance(said, str) else _written(said))


def decided(setup: StyledSetup, payload: Json | Missing) -> bool | None:
    """Say whether a payload is a yes or a no; ``None`` where it is neither."""
    key = setup.key
    if key is None:
        words = {_written(setup.says_yes): True, _written(setup.says_no): False}
        return None if isinstance(payload, Missing) else words.get(_written(payload))
    said = payload.get(key) if is_record(payload) else None
    return said if isinstance(said, bool) else None


def _written(value: Json | Missing) -> str:
    return "" if isinstance(value, Missing) else json.dumps(value, sort_keys=True)


def wanted(
    setup: StyledSetup,
    given: StyledInput,
    thread: StyledThread,
    answers: tuple[StyledAnswer, ...],
    judge: Judge = judged,
) -> Wanted:
    """
    Say what a request asks for.

    Answers to what was never asked on the thread are left out. An answer to
    what was answered before counts where the request has nothing new to say.

    Raises:
        Refusal: it asks for nothing that the thread can give, or does not answer what is open.
    """
    pause = thread.pause
    if pause is None:
        return _unasked(given, thread, answers)
    known = [one for one in answers if one.name is None or one.name in names_of(pause)]
    if not known:
        raise refuse(AWAITING, "The thread waits for an answer, and this is none.")
    if len({one.name for one in known}) < len(known):
        raise refuse("ERR_UNKNOWN_INTERRUPT", "One question is answered more than once.")
    if len(known) < len(pause.asks):
        raise refuse(AWAITING, "The thread waits for more answers than there are.")
    if setup.parent_run and not pause.is_pages and given.parent_run != pause.run:
        raise refuse(AWAITING, "parentRunId has to name the run that asked.")
    named = {one.name or pause.asks[0].name: one for one in known}
    verdicts = [judge(setup, ask, named[ask.name]) for ask in pause.asks]
    if any(one is None for one in verdicts):
        raise refuse("ERR_DECISION_REQUIRED", "An answer is neither a yes nor a no.")
    return Answer(pause, tuple(one for one in verdicts if one is not None))


def names_of(pause: OpenPause) -> frozenset[str]:
    """Give what answers name the questions of a pause by."""
    return frozenset(ask.name for ask in pause.asks)


def _unasked(
    given: StyledInput, thread: StyledThread, answers: tuple[StyledAnswer, ...]
) -> Message | Replay:
    """Say what a request asks for where nothing is open."""
    newest = given.messages[-1] if given.messages else None
    if newest is not None and newest["role"] == "user" and text_of(newest["content"]).strip():
        return Message()
    for one in (
        *answers,
        *(StyledAnswer(result["toolCallId"]) for result in newest_results(given)),
    ):
        if one.name is None and thread.spent:
            return Replay(list(thread.spent.values())[-1])
        if one.name in thread.spent:
            return Replay(thread.spent[one.name])
    if newest is not None and newest["role"] == "tool":
        raise refuse("ERR_UNKNOWN_TOOL_CALL", "The newest message answers no call of the thread.")
    if answers:
        raise refuse("ERR_NO_PENDING_ASK", "The thread waits for no answer.")
    raise refuse("ERR_NO_USER_TURN", "The newest message is not a person's, or says nothing.")
