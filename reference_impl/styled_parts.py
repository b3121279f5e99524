"""
What the styled host is made of: every step of a request as a part that may be replaced alone.

A fault is a function from the parts of a right host to those of a wrong one.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from starlette.responses import Response, StreamingResponse

from hostproof.reference_impl import styled_events as events
from hostproof.reference_impl.ijson import read_ijson
from hostproof.reference_impl.styled_input import StyledInput, read_input
from hostproof.reference_impl.styled_model import StyledAsked, StyledReply, styled_model
from hostproof.reference_impl.styled_pauses import (
    Judge,
    StyledAnswer,
    Wanted,
    answers_in,
    judged,
    wanted,
)
from hostproof.reference_impl.styled_refusals import refused
from hostproof.reference_impl.styled_threads import (
    OpenPause,
    StyledKey,
    StyledMemory,
    StyledThread,
)

if TYPE_CHECKING:
    from hostproof.reference_impl.http_request import Headers
    from hostproof.reference_impl.refusals import Refusal
    from hostproof.reference_impl.styled_model import StyledCall
    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.values import Json, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledRun:
    """
    One run that is going on.

    Attributes:
        parts: the host's.
        setup: its style.
        thread: the thread it is of.
        given: its input.
        said: the messages that it adds, in order.
    """

    parts: StyledParts
    setup: StyledSetup
    thread: StyledThread
    given: StyledInput
    said: list[Record] = field(default_factory=list)

    @property
    def messages(self) -> tuple[Record, ...]:
        """The conversation as it stands: whoever keeps it, and what the run adds."""
        own = self.setup.history == "client"
        return (*(self.given.messages if own else self.thread.messages), *self.said)


Act: TypeAlias = "Callable[[StyledRun, StyledCall], Awaitable[str]]"
"""Executes a guarded call, and gives its result."""


def mint(prefix: str) -> str:
    """Make a fresh id that nobody can guess."""
    return f"{prefix}-{secrets.token_hex(12)}"


def read(setup: StyledSetup, body: Json) -> StyledInput:
    """Read a body as the setup has it."""
    return read_input(body, uuid_threads=setup.uuid_threads)


def thread_of(memory: StyledMemory, key: StyledKey, _given: StyledInput) -> StyledThread:
    """Give the thread of a request: its agent's, its caller's, and of its id."""
    return memory.thread(key)


def hold(thread: StyledThread) -> bool:
    """Take a thread for a run; false where one is going on."""
    if thread.busy:
        return False
    thread.busy = True
    return True


def spend(thread: StyledThread, pause: OpenPause) -> None:
    """Use up what was open: no answer to it counts from here on."""
    thread.pause = None
    thread.spent |= {ask.name: ask for ask in pause.asks}


async def act(run: StyledRun, call: StyledCall) -> str:
    """Execute a guarded call: the effect is kept first, then it takes its time."""
    run.parts.record(run.parts.memory.ran(run.thread.key, call))
    await asyncio.sleep(run.setup.call_seconds)
    return f"paid {call.arguments['to']}: {call.arguments['amount']}"


def unkept(_row: Record) -> None:
    """Keep an effect nowhere else than in memory."""


def write_stream(body: AsyncIterator[bytes]) -> Response:
    """Answer an accepted run with its events."""
    return StreamingResponse(
        body, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledParts:
    """
    What the host is made of; each part may be replaced alone.

    Attributes:
        identify: the caller's name, from the headers, or a refusal.
        ask: opens a pause on calls, and gives the events that end its run.
        memory: threads, effects and requests to the model.
        record: is told of every effect.
        mint: makes fresh ids.
        parse: the body's bytes as a JSON value.
        read: that value as a checked input.
        thread_of: the thread that a request is about.
        answers: the answers that it brings.
        judge: what one answer decides.
        wanted: what the request asks for, or a refusal.
        hold: takes the thread for a run.
        spend: uses up what was open, before anything runs.
        model: answers a person.
        act: executes a guarded call.
        encode: one event as bytes.
        failure: the event that ends a run that broke, from its exception.
        write_refusal: a refusal as a response.
        write_stream: a run's events as a response.
    """

    identify: Callable[[Headers], str]
    ask: Callable[[StyledRun, tuple[StyledCall, ...], str, tuple[StyledCall, ...]], list[Record]]
    memory: StyledMemory = field(default_factory=StyledMemory)
    record: Callable[[Record], None] = unkept
    mint: Callable[[str], str] = mint
    parse: Callable[[bytes], Json] = read_ijson
    read: Callable[[StyledSetup, Json], StyledInput] = read
    thread_of: Callable[[StyledMemory, StyledKey, StyledInput], StyledThread] = thread_of
    answers: Callable[[StyledSetup, StyledInput, StyledThread], tuple[StyledAnswer, ...]] = (
        answers_in
    )
    judge: Judge = judged
    wanted: Callable[
        [StyledSetup, StyledInput, StyledThread, tuple[StyledAnswer, ...], Judge], Wanted
    ] = wanted
    hold: Callable[[StyledThread], bool] = hold
    spend: Callable[[StyledThread, OpenPause], None] = spend
    model: Callable[[StyledAsked], StyledReply] = styled_model
    act: Act = act
    encode: Callable[[Record], bytes] = events.encoded
    failure: Callable[[Exception], Record] = lambda _error: events.failed()
    write_refusal: Callable[[StyledSetup, Refusal, StyledInput | None], Response] = refused
    write_stream: Callable[[AsyncIterator[bytes]], Response] = write_stream


StyledFault: TypeAlias = Callable[[StyledParts], StyledParts]
"""Replaces parts of a right host, so that it breaks one rule."""
