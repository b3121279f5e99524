"""
Where sequences are performed: a host that stands, or a reference host of its own for each.

The reference host runs in this process, in memory unless a sequence restarts
it: then on a file that outlives it.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from hostproof.conformance.asgi_target import AsgiTarget
from hostproof.conformance.embedded_profile import embedded_profile
from hostproof.conformance.embedded_run import EMBEDDED_NAME, LOGS
from hostproof.conformance.fault_agents import agent_of
from hostproof.conformance.host_under_test import HostUnderTest
from hostproof.reference_impl.embedded import LOOK_INSIDE, SETUPS, build_host, new_tokens
from hostproof.strategies.sequence_steps import Restart

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.rule import Build
    from hostproof.reference_impl.embedded import EmbeddedHost
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.tools import OwnTool
    from hostproof.reference_impl.values import Record
    from hostproof.strategies.sequence_steps import Steps

ORIGIN: Final = "http://127.0.0.1"
IN_MEMORY: Final = ":memory:"


class Standing(Protocol):
    """A host while one sequence is performed on it."""

    @property
    def host(self) -> HostUnderTest:
        """The host, to send requests to."""

    async def restart(self) -> None:
        """End the host's process, and begin another on the same database."""


class Stand(Protocol):
    """Gives each sequence a host."""

    @property
    def name(self) -> str:
        """What is tested, for reports."""

    @property
    def profile(self) -> Profile:
        """The host's profile."""

    @property
    def restarts(self) -> bool:
        """Whether the host can be restarted."""

    def opened(self, steps: Steps) -> AbstractAsyncContextManager[Standing]:
        """Open the host for a sequence."""


class NoRestartError(Exception):
    """The sequence restarts the host, and this one cannot be restarted here."""


@dataclass(frozen=True, slots=True)
class SharedStand:
    """A host that stands already, and serves every sequence on threads of its own."""

    host: HostUnderTest
    name: str = ""

    @property
    def profile(self) -> Profile:
        """The host's profile."""
        return self.host.profile

    @property
    def restarts(self) -> bool:
        """Whether the host can be restarted: not from here."""
        return False

    @asynccontextmanager
    async def opened(self, steps: Steps) -> AsyncIterator[Standing]:
        """Give the host for a sequence."""
        del steps
        yield self

    async def restart(self) -> None:
        """
        Not offered.

        Raises:
            NoRestartError: always.
        """
        raise NoRestartError("this host cannot be restarted here: leave restarts out")


class EmbeddedStand:
    """
    A reference host in this process for each sequence; right, or with one *fault*.

    Its actions take no time, so that many sequences take little.
    """

    restarts: Final = True

    def __init__(self, fault: Build | None = None, *, name: str = EMBEDDED_NAME) -> None:
        self.name = name
        self._fault = fault
        self._tokens = new_tokens("alice", "bob", LOOK_INSIDE)
        self.profile = embedded_profile(ORIGIN, self._tokens)

    def build(self, database: str) -> EmbeddedHost:
        """Put a host together on a database."""
        return build_host(tokens=self._tokens, database=database, inspect=True, fault=self._parts)

    def _parts(self, parts: HostParts) -> HostParts:
        quick = at_once(parts)
        return quick if self._fault is None else self._fault(quick)

    @asynccontextmanager
    async def opened(self, steps: Steps) -> AsyncIterator[Standing]:
        """Serve a host for a sequence, and take it down afterwards."""
        outlives = any(isinstance(step, Restart) for step in steps)
        with silent_logs(), _database(outlives=outlives) as database:
            standing = _EmbeddedStanding(build=lambda: self.build(database), profile=self.profile)
            try:
                yield standing
            finally:
                await standing.close()


@dataclass(slots=True)
class _EmbeddedStanding:
    build: Callable[[], EmbeddedHost]
    profile: Profile
    served: EmbeddedHost = field(init=False)
    host: HostUnderTest = field(init=False)

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.served = self.build()
        target = AsgiTarget(self.served.app, path=SETUPS[0].path)
        self.host = HostUnderTest(target, self.profile, self.profile.limits.exchange)

    async def restart(self) -> None:
        await self.close()
        self._begin()

    async def close(self) -> None:
        await self.host.target.aclose()
        self.served.close()


@contextmanager
def _database(*, outlives: bool) -> Iterator[str]:
    if not outlives:
        yield IN_MEMORY
        return
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        yield str(Path(folder) / "host.sqlite")


@contextmanager
def silent_logs() -> Iterator[None]:
    """Silence the host's own log while the block runs: sequences break runs on purpose."""
    logs = [logging.getLogger(name) for name in LOGS]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    try:
        yield
    finally:
        for log, was in zip(logs, before, strict=True):
            log.disabled = was


def at_once(parts: HostParts) -> HostParts:
    """Let every action of the reference agent take no time."""
    agent = agent_of(parts)
    tools = {name: _quick(tool) for name, tool in agent.own_tools.items()}
    return replace(parts, agent=replace(agent, own_tools=tools))


def _quick(tool: OwnTool) -> OwnTool:
    async def run(arguments: Record) -> str:
        await asyncio.sleep(0)
        return f"done for {arguments.get('to', 'nobody')}"

    return replace(tool, run=run)
