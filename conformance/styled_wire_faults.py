"""
Styled hosts that read, say or refuse something wrongly.

Each function takes the parts of a right styled host and breaks one thing.

Source: docs/verdicts.md, "Proof that each check can fail".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from hostproof.reference_impl import styled_events as events
from hostproof.reference_impl.refusals import Refusal, malformed
from hostproof.reference_impl.styled_model import StyledAsked, StyledCall, StyledReply
from hostproof.reference_impl.styled_refusals import streamed

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from hostproof.reference_impl.styled_input import StyledInput
    from hostproof.reference_impl.styled_parts import StyledParts
    from hostproof.reference_impl.styled_pauses import (
        Judge,
        StyledAnswer,
        Wanted,
    )
    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.styled_threads import (
        StyledThread,
    )
    from hostproof.reference_impl.values import Json, Record

Answers: TypeAlias = "tuple[StyledAnswer, ...]"
"""The answers of a request."""

SUCCESS: Final[Record] = {"type": "success"}


def runs_the_denied(parts: StyledParts) -> StyledParts:
    """Run, for a call that is denied, one that is not."""
    right = parts.model

    def free(call: StyledCall) -> StyledCall:
        if call.kind != "denied":
            return call
        return StyledCall("transfer", {**call.arguments, "amount": 5})

    def model(asked: StyledAsked) -> StyledReply:
        reply = right(asked)
        return replace(reply, calls=tuple(map(free, reply.calls)))

    return replace(parts, model=model)


def empty_when_busy(parts: StyledParts) -> StyledParts:
    """Answer a second run on a busy thread with a stream of no events."""
    right = parts.write_refusal

    def write(setup: StyledSetup, refusal: Refusal, given: StyledInput | None) -> Response:
        return (
            streamed([]) if refusal.code == "ERR_CONCURRENT_RUN" else right(setup, refusal, given)
        )

    return replace(parts, write_refusal=write)


def _outcome(parts: StyledParts, change: Callable[[Record], Json]) -> StyledParts:
    """Change the outcome of every run that names one."""
    right = parts.encode

    def encode(one: Record) -> bytes:
        return right({**one, "outcome": change(one["outcome"])} if "outcome" in one else one)

    return replace(parts, encode=encode)


def says_success(parts: StyledParts) -> StyledParts:
    """Say of a run that stopped to ask that it went well."""
    return _outcome(parts, lambda one: SUCCESS if one["type"] == "interrupt" else one)


def interrupts_for_the_page(parts: StyledParts) -> StyledParts:
    """Say of a run that left a call to the page that it was interrupted."""

    def change(one: Record) -> Json:
        pending = one.get("pendingToolCallIds")
        if not pending:
            return one
        return {"type": "interrupt", "interrupts": [{"id": pending[0], "reason": "page"}]}

    return _outcome(parts, change)


def fails_on_media(parts: StyledParts) -> StyledParts:
    """Refuse a message with a part that is no text."""
    right = parts.read

    def read(setup: StyledSetup, body: Json) -> StyledInput:
        given = right(setup, body)
        for at, message in enumerate(body["messages"]):
            content = message.get("content")
            if isinstance(content, list) and any(part["type"] != "text" for part in content):
                raise malformed(f"messages[{at}].content", "Only text is read here.")
        return given

    return replace(parts, read=read)


def quotes_the_body(parts: StyledParts) -> StyledParts:
    """Say in a refusal what was sent."""
    right = parts.read

    def read(setup: StyledSetup, body: Json) -> StyledInput:
        try:
            return right(setup, body)
        except Refusal as refusal:
            raise malformed(refusal.field, f"Not this: {ascii(body)[:2000]}") from None

    return replace(parts, read=read)


def quotes_answers(parts: StyledParts) -> StyledParts:
    """Say in a refusal what the answers were."""

    def wanted(
        setup: StyledSetup,
        given: StyledInput,
        thread: StyledThread,
        answers: Answers,
        judge: Judge,
    ) -> Wanted:
        try:
            return parts.wanted(setup, given, thread, answers, judge)
        except Refusal as refusal:
            text = f"{refusal.message} {given.resume!a}"
            raise Refusal(refusal.code, refusal.status, text) from None

    return replace(parts, wanted=wanted)


def tells_exceptions(parts: StyledParts) -> StyledParts:
    """Put an exception's own text on the wire."""
    return replace(parts, failure=lambda error: events.event("RUN_ERROR", message=repr(error)))


def echoes_null(parts: StyledParts) -> StyledParts:
    """Echo an optional member without a value as null."""
    right = parts.encode

    def encode(one: Record) -> bytes:
        given = one.get("input")
        return right(one if given is None else {**one, "input": {**given, "parentRunId": None}})

    return replace(parts, encode=encode)
