"""
How the styled host says no: one refusal in the shapes of many hosts.

What is malformed is refused by an HTTP status in every shape. What is refused
for its meaning may come as a stream that opens with RUN_ERROR. Nothing that
was sent is quoted.

Source: AG-UI 1.0, transports/http-sse, Errors; patterns/interrupt-resume, Resuming; RFC 9457.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from starlette.responses import Response, StreamingResponse

from hostproof.reference_impl import styled_events as events
from hostproof.reference_impl.problem import problem_status
from hostproof.reference_impl.styled_pauses import AWAITING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from hostproof.reference_impl.refusals import Refusal
    from hostproof.reference_impl.styled_input import StyledInput
    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.values import Json, Record

MEANING: Final = frozenset(
    {
        AWAITING,
        "ERR_CONCURRENT_RUN",
        "ERR_DECISION_REQUIRED",
        "ERR_NO_PENDING_ASK",
        "ERR_NO_USER_TURN",
        "ERR_UNKNOWN_INTERRUPT",
        "ERR_UNKNOWN_TOOL_CALL",
    }
)
"""Codes of what is refused for its meaning: the input itself is valid."""

UNPROCESSABLE: Final = 422
"""What frameworks answer to a body that their model rejects."""


def refused(setup: StyledSetup, refusal: Refusal, given: StyledInput | None) -> Response:
    """
    Write a refusal.

    Args:
        setup: the shape.
        refusal: what is refused.
        given: the input, where it could be read.
    """
    if setup.shape == "run-error" and given is not None and refusal.code in MEANING:
        begins = setup.started_before_error and refusal.code != AWAITING
        told = [events.started(setup, given)] if begins else []
        return streamed([*told, events.event("RUN_ERROR", message=refusal.message)])
    status = problem_status(refusal)
    malformed = refusal.code == "ERR_INVALID_RUN_INPUT"
    if setup.shape == "text":
        return Response(refusal.message, status, media_type="text/plain")
    if setup.shape == "html":
        page = f"<!doctype html><title>{status}</title><p>{refusal.message}</p>"
        return Response(page, status, media_type="text/html")
    if setup.shape in ("detail", "array") and malformed:
        rows = [_row(refusal)]
        return _json({"detail": rows} if setup.shape == "detail" else rows, UNPROCESSABLE)
    if setup.shape == "detail":
        return _json({"detail": refusal.message}, status)
    if setup.shape == "array":
        return _json([_row(refusal)], status)
    if setup.shape == "problem":
        document = {"title": "The request is refused.", "status": status, "detail": refusal.message}
        return _json(document, status, "application/problem+json")
    return _json({"error": refusal.message}, status)


def streamed(told: Sequence[Record]) -> Response:
    """Answer with a stream of these events."""

    async def body() -> AsyncIterator[bytes]:
        for one in told:
            yield events.encoded(one)

    return StreamingResponse(body(), media_type="text/event-stream")


def _row(refusal: Refusal) -> Record:
    place = ["body", *([refusal.field] if refusal.field else [])]
    return {"type": "value_error", "loc": place, "msg": refusal.message}


def _json(value: Json, status: int, media_type: str = "application/json") -> Response:
    return Response(json.dumps(value), status, media_type=media_type)
