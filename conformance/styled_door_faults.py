"""
Styled hosts that keep, find, open or spend pauses wrongly.

Each function takes the parts of a right styled host and breaks one thing.

Source: docs/verdicts.md, "Proof that each check can fail".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.styled_pauses import (
    AWAITING,
    Message,
    StyledAnswer,
    names_of,
    newest_results,
)
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.reference_impl.styled_input import StyledInput
    from hostproof.reference_impl.styled_model import StyledCall
    from hostproof.reference_impl.styled_parts import StyledParts, StyledRun
    from hostproof.reference_impl.styled_pauses import Judge, Wanted
    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.styled_threads import (
        OpenPause,
        StyledKey,
        StyledMemory,
        StyledThread,
    )
    from hostproof.reference_impl.values import Record

Answers: TypeAlias = "tuple[StyledAnswer, ...]"
"""The answers of a request."""


def _on_refusal(
    parts: StyledParts, code: str, then: Callable[[StyledThread, Refusal], Wanted]
) -> StyledParts:
    """Do something else where a request is refused with *code*."""
    right = parts.wanted

    def wanted(
        setup: StyledSetup,
        given: StyledInput,
        thread: StyledThread,
        answers: Answers,
        judge: Judge,
    ) -> Wanted:
        try:
            return right(setup, given, thread, answers, judge)
        except Refusal as refusal:
            if refusal.code != code:
                raise
            return then(thread, refusal)

    return replace(parts, wanted=wanted)


def forgets_to_spend(parts: StyledParts) -> StyledParts:
    """Leave open what was answered, and take messages all the same."""
    return _on_refusal(
        replace(parts, spend=lambda _thread, _pause: None),
        AWAITING,
        lambda _thread, _refusal: Message(),
    )


def spends_after_the_call(parts: StyledParts) -> StyledParts:
    """Use up an answer when its call is through, and look at no lock."""
    right = parts.act

    async def act(run: StyledRun, call: StyledCall) -> str:
        result = await right(run, call)
        run.thread.pause = None
        return result

    def spend(thread: StyledThread, pause: OpenPause) -> None:
        thread.spent |= {ask.name: ask for ask in pause.asks}

    return replace(parts, act=act, spend=spend, hold=lambda _thread: True)


def _elsewhere(
    parts: StyledParts, is_searched: Callable[[StyledKey, StyledKey], bool]
) -> StyledParts:
    """Look for the pause that an answer is about on other threads too."""
    right = parts.thread_of

    def thread_of(memory: StyledMemory, key: StyledKey, given: StyledInput) -> StyledThread:
        own = right(memory, key, given)
        if own.pause is not None:
            return own
        for other in list(memory.threads.values()):
            if is_searched(key, other.key) and other.pause is not None and _names(given, other):
                return other
        return own

    return replace(parts, thread_of=thread_of)


def _names(given: StyledInput, thread: StyledThread) -> bool:
    """Say whether a request brings an answer for a thread."""
    names = {one["interruptId"] for one in given.resume}
    names |= {one["toolCallId"] for one in newest_results(given)}
    commands = is_record(given.forwarded) and "command" in given.forwarded
    return commands or (thread.pause is not None and bool(names & names_of(thread.pause)))


def any_thread(parts: StyledParts) -> StyledParts:
    """Take an answer on any thread of its caller's."""
    return _elsewhere(parts, lambda key, other: key.caller == other.caller)


def any_caller(parts: StyledParts) -> StyledParts:
    """Take anyone's answer on the thread."""
    return _elsewhere(parts, lambda key, other: key.thread == other.thread)


def _drops(thread: StyledThread, refusal: Refusal) -> Wanted:
    thread.pause = None
    raise refusal


def loses_the_pause(parts: StyledParts) -> StyledParts:
    """Drop what is open when a request does not answer it."""
    return _on_refusal(parts, AWAITING, _drops)


def loses_the_pause_on_no_decision(parts: StyledParts) -> StyledParts:
    """Drop what is open when an answer is no decision."""
    return _on_refusal(parts, "ERR_DECISION_REQUIRED", _drops)


def goes_on_while_paused(parts: StyledParts) -> StyledParts:
    """Run a message while something is open, and keep it open."""
    return _on_refusal(parts, AWAITING, lambda _thread, _refusal: Message())


def runs_before_asking(parts: StyledParts) -> StyledParts:
    """Execute a call, and then ask about it."""
    right = parts.ask

    def ask(
        run: StyledRun, calls: tuple[StyledCall, ...], nonce: str, behind: tuple[StyledCall, ...]
    ) -> list[Record]:
        for call in calls:
            run.parts.record(run.parts.memory.ran(run.thread.key, call))
        return right(run, calls, nonce, behind)

    return replace(parts, ask=ask)


def forgets_the_calls_behind(parts: StyledParts) -> StyledParts:
    """End the turn with the first answer."""
    right = parts.ask
    return replace(parts, ask=lambda run, calls, nonce, _behind: right(run, calls, nonce, ()))


def crashes_on_unknown_results(parts: StyledParts) -> StyledParts:
    """Break on the result of a call that nobody made."""

    def crash(_thread: StyledThread, _refusal: Refusal) -> Wanted:
        raise RuntimeError("no such call")

    return _on_refusal(parts, "ERR_UNKNOWN_TOOL_CALL", crash)
