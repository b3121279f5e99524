"""
Last-byte synchronisation: requests whose ends arrive together.

Each request goes onto a connection of its own, all of it but its last byte.
Once all are that far, the last bytes go at once, so that the host has them
within a fraction of the time that one request takes. Nothing waits for a
request that fails before, and nothing waits for ever.

The requests may go to several targets: two processes of one host, say.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.target import Limits

FEWEST: Final = 2
MOST: Final = 16
"""How many requests may race."""


class Start:
    """
    The moment when all last bytes go: when nobody is missing any more, or time is up.

    Args:
        racers: how many requests take part.
        seconds: how long one that is there waits for the others.
    """

    def __init__(self, racers: int, seconds: float) -> None:
        self._missing = racers
        self._seconds = seconds
        self._now = asyncio.Event()

    def one_less(self) -> None:
        """Count one request that is there, or that never will be."""
        self._missing -= 1
        if self._missing <= 0:
            self._now.set()

    async def wait(self) -> None:
        """Wait until the last bytes go."""
        try:
            async with asyncio.timeout(self._seconds):
                await self._now.wait()
        except TimeoutError:
            self._now.set()


class LastByte:
    """The last byte of one request: it waits for the start, or gives up its place."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._is_counted = False

    async def wait(self) -> None:
        """Wait for the start: all of the request but its last byte is on the wire."""
        self.leave()
        await self._start.wait()

    def leave(self) -> None:
        """Let nobody wait for this request, now or later."""
        if not self._is_counted:
            self._is_counted = True
            self._start.one_less()


@runtime_checkable
class Racing(Protocol):
    """A target whose requests can be held back."""

    async def send_held(self, request: Request, limits: Limits, last: LastByte) -> Exchange:
        """
        Send *request* on a connection of its own; its last byte waits for the start.

        Raises:
            TargetError: as for ``send``.
        """
        ...


async def race(entries: Sequence[tuple[Racing, Request]], limits: Limits) -> list[Exchange]:
    """
    Send requests so that their last bytes go at once, and record what comes back.

    Limits are those of one exchange, and count from when its connection is
    opened; up to half of ``head_seconds`` is spent on bringing all to the start.

    Args:
        entries: each request with the target it goes to, 2 to 16 of them.
        limits: of each exchange.

    Returns:
        The exchanges, in the order of *entries*.

    Raises:
        TargetError: the number is out of range, a request has no body, or one
            cannot be written; then the others are sent all the same.
    """
    if not FEWEST <= len(entries) <= MOST:
        raise TargetError(f"a race has {FEWEST} to {MOST} requests, not {len(entries)}")
    if not all(request.body for _, request in entries):
        raise TargetError("a request without a body has no last byte to hold back: give it one")
    start = Start(len(entries), limits.head_seconds / 2)

    async def one(target: Racing, request: Request) -> Exchange:
        last = LastByte(start)
        try:
            return await target.send_held(request, limits, last)
        finally:
            last.leave()

    ended = await asyncio.gather(*(one(*entry) for entry in entries), return_exceptions=True)
    exchanges: list[Exchange] = []
    for exchange in ended:
        if isinstance(exchange, BaseException):
            raise exchange
        exchanges.append(exchange)
    return exchanges
