"""
The set-up call: what a host wants to hear of a thread before its first run.

Some hosts serve only threads that were made by a call of their own. The profile says
that call once; it is made for each thread and caller, before the first request that
names the thread.

Source: docs/profile.md, "Set-up call".
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable
from urllib.parse import quote

from hostproof.conformance.exchange import Request
from hostproof.conformance.last_byte import Racing
from hostproof.conformance.target import Target
from hostproof.reference_impl.values import MISSING, Json, is_record, is_text

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.last_byte import LastByte
    from hostproof.conformance.profile_parts import SetUp
    from hostproof.conformance.target import Limits

THREAD: Final = "{thread}"
"""Stands for the thread's id, in the path and in the body."""

OWN_HEADERS: Final = frozenset({"content-type", "accept", "content-encoding", "last-event-id"})
"""Headers of a run that are no part of who calls."""


@runtime_checkable
class RacingTarget(Target, Racing, Protocol):
    """A target whose requests can be held back, too."""


class PreparingTarget:
    """
    A target that is told of each thread before its first run.

    A call that is refused is not made again; the run then shows what became of it.

    Args:
        inner: the target itself.
        call: the set-up call.
    """

    def __init__(self, inner: RacingTarget, call: SetUp) -> None:
        self._inner = inner
        self._call = call
        self._made: dict[tuple[str, tuple[tuple[str, str], ...]], asyncio.Task[Exchange]] = {}

    async def send(self, request: Request, limits: Limits) -> Exchange:
        """
        Send *request*, after the set-up call of its thread.

        Raises:
            TargetError: as for the target itself.
        """
        await self._prepare(request, limits)
        return await self._inner.send(request, limits)

    async def send_held(self, request: Request, limits: Limits, last: LastByte) -> Exchange:
        """
        Send *request* so that its last byte waits; its thread is known already.

        Raises:
            TargetError: as for the target itself.
        """
        return await self._inner.send_held(request, limits, last)

    def describe(self) -> str:
        """Name the target."""
        return self._inner.describe()

    async def aclose(self) -> None:
        """Let go of the target."""
        await self._inner.aclose()

    async def _prepare(self, request: Request, limits: Limits) -> None:
        thread = thread_in(request)
        if thread is None:
            return
        identity = tuple(
            (name, value) for name, value in request.headers if name.lower() not in OWN_HEADERS
        )
        made = self._made.get((thread, identity))
        if made is None:
            call = asked_for(self._call, thread, identity)
            made = asyncio.ensure_future(self._inner.send(call, limits))
            self._made[thread, identity] = made
        await asyncio.shield(made)


def thread_in(request: Request) -> str | None:
    """Name the thread of a run; ``None`` for what is no run of a thread."""
    if request.method != "POST":
        return None
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return None
    named = body.get("threadId") if is_record(body) else None
    return named if is_text(named) and named and named.isprintable() else None


def asked_for(call: SetUp, thread: str, identity: tuple[tuple[str, str], ...]) -> Request:
    """Write the set-up call of a thread."""
    body = b"" if call.body is MISSING else json.dumps(_named(call.body, thread)).encode("ascii")
    kept = (("content-type", "application/json"),) if body else ()
    path = call.path.replace(THREAD, quote(thread, safe=""))
    return Request(method=call.method, path=path, headers=(*kept, *identity), body=body)


def _named(value: Json, thread: str) -> Json:
    if is_text(value):
        return value.replace(THREAD, thread)
    if isinstance(value, list):
        return [_named(one, thread) for one in value]
    if is_record(value):
        return {name: _named(one, thread) for name, one in value.items()}
    return value


def prepared(target: RacingTarget, call: SetUp | None) -> RacingTarget:
    """Give a target that makes the profile's set-up call; the target itself where there is none."""
    return target if call is None else PreparingTarget(target, call)
