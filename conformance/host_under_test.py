"""
The host under test: a target with its profile, asked in the host's own terms.

It knows endpoints, callers, cues and control; it counts requests, keeps to the
budget, and waits when the host asks for it. It judges nothing.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from hostproof.conformance.effect_sources import NoEffectsError, rows_in, rows_outside
from hostproof.conformance.exchange import Exchange, Request
from hostproof.conformance.http_target import HttpTarget
from hostproof.conformance.last_byte import Racing, race
from hostproof.conformance.set_up import prepared
from hostproof.conformance.target import TargetError
from hostproof.reference_impl.values import is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from hostproof.conformance.guarded_tool import Guarded
    from hostproof.conformance.listener import Listener
    from hostproof.conformance.profile import Profile
    from hostproof.conformance.target import Limits, Target
    from hostproof.reference_impl.values import Json, Record

JSON_HEADERS: Final = {
    "content-type": "application/json",
    "accept": "text/event-stream",
}
MOST_WAITS: Final = 2
LONGEST_WAIT_SECONDS: Final = 5.0
GONE: Final = "the host did not come back after a restart"
OK: Final = 200
TOO_MANY: Final = 429


class BudgetSpentError(Exception):
    """The run has sent as many requests as the profile allows."""


class HostGoneError(TargetError):
    """The host did not come back after a restart; the message says what became of it."""


@dataclass(slots=True)
class Waits:
    """How often the host asked to slow down what is sent here: *count*."""

    count: int = 0


_noting: ContextVar[Waits | None] = ContextVar("waits", default=None)
"""Where a case's own waits are counted: cases run side by side."""


@contextmanager
def noting_waits() -> Iterator[Waits]:
    """Count how often the host asks to slow down what is sent in here, and nowhere else."""
    waits = Waits()
    token = _noting.set(waits)
    try:
        yield waits
    finally:
        _noting.reset(token)


class HostUnderTest:
    """
    Sends requests to the host of a profile.

    Args:
        target: how the host is reached.
        profile: what it is and can do.
        limits: of one exchange.
        spare: whether to leave out floods and bombs.
        folder: where the profile is: its commands are run there.
        restart: ends the host's process and begins it again, where it is the suite's.

    Attributes:
        requests: how many were sent so far.
        waits: how often the host asked us to slow down.
        is_gone: whether it did not come back after a restart.
        guarded: what was seen of a tool that asks first; ``None`` before anybody looked.
        yes_rows: what was seen to run on a plain yes to it; ``None`` before anybody looked.
        learning: held while somebody looks.
        listener: where a page's URLs lead, for a target on this machine.
    """

    def __init__(
        self,
        target: Target,
        profile: Profile,
        limits: Limits,
        *,
        spare: bool = False,
        folder: Path | None = None,
        restart: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.target = target
        self.profile = profile
        self.limits = limits
        self.spare = spare
        self.folder = folder
        self._restart = restart
        self.requests = 0
        self.waits = 0
        self.is_gone = False
        self.guarded: Guarded | None = None
        self.yes_rows: tuple[Record, ...] | None = None
        self.learning = asyncio.Lock()
        self.listener: Listener | None = None

    def path_of(self, endpoint: str) -> str:
        """Give the path of an endpoint on the target's origin; "" for the target's own."""
        return self.profile.endpoint_path(self.profile.endpoints[endpoint])

    def caller_headers(self, caller: str | None = None) -> tuple[tuple[str, str], ...]:
        """Give the headers of a caller, the main one by default; none where there are none."""
        identity = self.profile.identity(caller or self.main_caller)
        return () if identity is None else identity.headers

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

    async def glance(self, request: Request, seconds: float) -> Exchange:
        """
        Send a request whose answer may never end, and wait for it no longer than *seconds*.

        Raises:
            BudgetSpentError: as :meth:`send`.
        """
        self._spend(1)
        seconds = min(seconds, self.limits.deadline_seconds)
        limits = replace(
            self.limits,
            deadline_seconds=seconds,
            head_seconds=min(seconds, self.limits.head_seconds),
            stop_after_terminal=False,
        )
        return await self.target.send(request, limits)

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
            self._note_waits(1)
            await asyncio.sleep(_wait_of(exchange))
        return await self._once(request)

    async def send_at_once(self, requests: Sequence[Request]) -> list[Exchange]:
        """
        Send requests side by side; a 429 to one of them is a refusal, and not waited out.

        Raises:
            BudgetSpentError: as :meth:`send`.
        """
        exchanges = list(await asyncio.gather(*map(self._once, requests)))
        self.note_refused(exchanges)
        return exchanges

    async def send_once(self, request: Request) -> Exchange:
        """
        Send a request; a 429 is an answer like any other.

        Raises:
            BudgetSpentError: as :meth:`send`.
        """
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

    async def hang_up(self, request: Request, at: str) -> Exchange:
        """
        Send a request, and hang up at the first event of a type.

        Raises:
            BudgetSpentError: as :meth:`send`.
        """
        self._spend(1)
        return await self.target.send(request, replace(self.limits, stop_at=at))

    async def race(
        self, requests: Sequence[Request], others: Sequence[Target] = ()
    ) -> list[Exchange]:
        """
        Send requests so that their last bytes go at once; a 429 is a refusal, and not waited out.

        Args:
            requests: 2 to 16 requests, each with a body.
            others: replicas of the host; requests go to it and to them in turn.

        Raises:
            BudgetSpentError: the profile's number of requests does not allow as many.
            TargetError: a target's requests cannot be held back, or as for a race.
        """
        if self.spare:
            raise TargetError("races off this machine need leave: give --aggressive.")
        targets = (self.target, *others)
        entries: list[tuple[Racing, Request]] = []
        for at, request in enumerate(requests):
            target = targets[at % len(targets)]
            if not isinstance(target, Racing):
                raise TargetError(f"requests to {target.describe()} cannot be held back")
            entries.append((target, request))
        self._spend(len(requests))
        exchanges = await race(entries, self.limits)
        self.note_refused(exchanges)
        return exchanges

    def _note_waits(self, count: int) -> None:
        self.waits += count
        noted = _noting.get()
        if noted is not None:
            noted.count += count

    def note_refused(self, exchanges: Sequence[Exchange]) -> None:
        """Count the 429s of requests sent at once, where they left none to be served."""
        refused = sum(exchange.status == TOO_MANY for exchange in exchanges)
        if all(exchange.status != OK for exchange in exchanges):
            self._note_waits(refused)

    def _spend(self, requests: int) -> None:
        if self.requests + requests > self.profile.limits.requests:
            raise BudgetSpentError(
                f"the budget of {self.profile.limits.requests} requests is spent: "
                "raise limits.requests"
            )
        self.requests += requests

    async def _once(self, request: Request, target: Target | None = None) -> Exchange:
        self._spend(1)
        limits = self.limits
        if request.method != "POST":
            limits = replace(limits, stop_after_terminal=False)
        return await (target or self.target).send(request, limits)

    @property
    def main_caller(self) -> str:
        """The name of the caller whose headers are sent by default; "" where there is none."""
        return next(iter(self.profile.callers), "")

    async def control(self, command: str, thread: str, caller: str | None = None) -> bool:
        """Run a control command on a thread, the main caller's by default; false if not done."""
        control = self.profile.control
        if control is None:
            return False
        body = {"command": command, "caller": caller or self.main_caller, "thread": thread}
        answer = await self._inside(
            "POST", control.url, "", control.caller, json.dumps(body).encode()
        )
        return is_record(answer) and answer.get("done") is True

    async def restart(self, thread: str) -> bool:
        """
        Restart the host, with nothing else on its way; false where that is not offered.

        Raises:
            HostGoneError: its process does not come back.
        """
        if "restart" in self.profile.control_commands:
            return await self.control("restart", thread)
        if self._restart is None:
            return False
        try:
            await self._restart()
        except TargetError as error:
            self.is_gone = True
            raise HostGoneError(f"{GONE}: {error}") from None
        await self.target.aclose()  # its connections are gone
        self.target = prepared(HttpTarget(self.profile.target.url or ""), self.profile.setup)
        return True

    async def aclose(self) -> None:
        """Let go of the target."""
        await self.target.aclose()

    async def observe(self, thread: str | None, caller: str | None = None) -> Record | None:
        """Read the observation of a thread, or of all; ``None`` where there is no such."""
        observation = self.profile.observation
        if observation is None:
            return None
        named = {"caller": caller or self.main_caller, "thread": thread}
        query = "" if thread is None else f"?{urlencode(named)}"
        answer = await self._inside("GET", observation.url, query, observation.caller, b"")
        return answer if is_record(answer) and _is_observation(answer) else None

    async def effect_rows(self) -> list[Record]:
        """
        Read all that has run from the profile's source of effects.

        Raises:
            NoEffectsError: it cannot be read, or the profile has none.
        """
        at = self.profile.effects
        if at is None or at.kind == "stream":
            raise NoEffectsError("the profile names no source that can be read")
        if at.kind != "url":
            return await rows_outside(at, self.folder)
        exchange = await self._asked_inside("GET", at.place, "", at.caller, b"")
        if exchange.status != OK:
            what = "was not answered" if exchange.status is None else f"said {exchange.status}"
            raise NoEffectsError(f"the url {what}")
        return rows_in(exchange.text, "the url")

    async def _inside(
        self, method: str, url: str, query: str, caller: str | None, body: bytes
    ) -> Json:
        """Ask the host's own door for observation and control, and read its JSON."""
        return (await self._asked_inside(method, url, query, caller, body)).json

    async def _asked_inside(
        self, method: str, url: str, query: str, caller: str | None, body: bytes
    ) -> Exchange:
        """Ask the host's own door, wherever it is."""
        identity = self.profile.identity(caller)
        path = self.profile.path_of(url)
        request = Request(
            method=method,
            path=(path or "") + query,
            headers=(
                ("content-type", "application/json"),
                *(() if identity is None else identity.headers),
            ),
            body=body,
        )
        if path is not None:
            return await self._once(request)
        elsewhere = HttpTarget(url)
        try:
            return await self._once(request, elsewhere)
        finally:
            await elsewhere.aclose()


def _is_observation(document: Record) -> bool:
    """Say whether a document has the members that are read of an observation, in their form."""
    lists = {
        name: document.get(name, []) for name in ("effects", "pauses", "modelRequests", "decisions")
    }
    if not all(isinstance(rows, list) and all(map(is_record, rows)) for rows in lists.values()):
        return False
    pending = [row.get("pending", {}) for row in lists["pauses"]]
    return (
        all(is_text(row.get("callId")) for row in lists["effects"])
        and all(is_text(row.get("system", "")) for row in lists["modelRequests"])
        and all(is_record(one) and _is_request(one.get("request")) for one in pending)
    )


def _is_request(value: Json) -> bool:
    return not is_record(value) or is_text(value.get("id"))


def _wait_of(exchange: Exchange) -> float:
    """Read ``Retry-After`` in seconds, within reason."""
    given = exchange.header("retry-after") or ""
    seconds = float(given) if given.isdecimal() else 1.0
    return min(seconds, LONGEST_WAIT_SECONDS)
