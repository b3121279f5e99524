"""
The host under test: a target with its profile, asked in the host's own terms.

It knows endpoints, callers, cues and control; it counts requests, keeps to the
budget, and waits when the host asks for it. It judges nothing.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.exchange import Exchange, Request
from hostproof.conformance.http_target import HttpTarget
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.target import Limits, Target

JSON_HEADERS: Final = {
    "content-type": "application/json",
    "accept": "text/event-stream",
}
MOST_WAITS: Final = 2
LONGEST_WAIT_SECONDS: Final = 5.0
TOO_MANY: Final = 429


class BudgetSpentError(Exception):
    """The run has sent as many requests as the profile allows."""


class HostUnderTest:
    """
    Sends requests to the host of a profile.

    Args:
        target: how the host is reached.
        profile: what it is and can do.
        limits: of one exchange.
        spare: whether to leave out floods and bombs.

    Attributes:
        requests: how many were sent so far.
        waits: how often the host asked us to slow down.
    """

    def __init__(
        self, target: Target, profile: Profile, limits: Limits, *, spare: bool = False
    ) -> None:
        self.target = target
        self.profile = profile
        self.limits = limits
        self.spare = spare
        self.requests = 0
        self.waits = 0

    def path_of(self, endpoint: str) -> str:
        """Give the path of an endpoint on the target's origin; "" for the target's own."""
        return self.profile.endpoint_path(self.profile.endpoints[endpoint])

    def caller_headers(self, caller: str | None = None) -> tuple[tuple[str, str], ...]:
        """Give the headers of a caller, the main one by default; none where there are none."""
        for one in self.profile.everyone:
            if caller in (None, one.name):
                return one.headers
        return ()

    def run_request(
        self,
        endpoint: str,
        body: bytes,
        *,
        method: str = "POST",
        headers: Mapping[str, str | None] | None = None,
        caller: tuple[tuple[str, str], ...] | None = None,
    ) -> Request:
        """Build a request for a run; *headers* replace the usual ones, ``None`` leaves one off."""
        chosen: dict[str, str | None] = {**JSON_HEADERS, **(headers or {})}
        kept = tuple((name, value) for name, value in chosen.items() if value is not None)
        identity = self.caller_headers() if caller is None else caller
        return Request(
            method=method, path=self.path_of(endpoint), headers=(*kept, *identity), body=body
        )

    async def send(self, request: Request) -> Exchange:
        """
        Send a request; a 429 is waited out a little.

        Raises:
            BudgetSpentError: the profile's number of requests is used up.
        """
        for _ in range(MOST_WAITS):
            exchange = await self._once(request)
            if exchange.status != TOO_MANY:
                return exchange
            self.waits += 1
            await asyncio.sleep(_wait_of(exchange))
        return await self._once(request)

    async def send_good(self, request: Request) -> Exchange:
        """
        Send a request that does no harm twice: once more where the connection was dropped.

        A host may close an idle connection just as we use it; that is no fault of its.

        Raises:
            BudgetSpentError: as :meth:`send`.
        """
        exchange = await self.send(request)
        return await self.send(request) if exchange.end == "reset" else exchange

    async def _once(self, request: Request, target: Target | None = None) -> Exchange:
        if self.requests >= self.profile.limits.requests:
            raise BudgetSpentError(
                f"the budget of {self.profile.limits.requests} requests is spent: "
                "raise limits.requests"
            )
        self.requests += 1
        limits = self.limits
        if request.method != "POST":
            limits = replace(limits, stop_after_terminal=False)
        return await (target or self.target).send(request, limits)

    async def control(self, command: str, thread: str) -> bool:
        """Run a control command on the main caller's thread; false when the host did not."""
        control = self.profile.control
        if control is None:
            return False
        caller = next(iter(self.profile.callers), "")
        body = {"command": command, "caller": caller, "thread": thread}
        identity = self.profile.identity(control.caller)
        path = self.profile.path_of(control.url)
        request = Request(
            path=path or "",
            headers=(
                ("content-type", "application/json"),
                *(() if identity is None else identity.headers),
            ),
            body=json.dumps(body).encode(),
        )
        if path is not None:
            exchange = await self._once(request)
        else:
            elsewhere = HttpTarget(control.url)
            try:
                exchange = await self._once(request, elsewhere)
            finally:
                await elsewhere.aclose()
        answer = exchange.json
        return is_record(answer) and answer.get("done") is True


def _wait_of(exchange: Exchange) -> float:
    """Read ``Retry-After`` in seconds, within reason."""
    given = exchange.header("retry-after") or ""
    seconds = float(given) if given.isdecimal() else 1.0
    return min(seconds, LONGEST_WAIT_SECONDS)
