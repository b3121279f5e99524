"""
A host in a process of its own: started, waited for, stopped or killed by its process id.

What it prints goes to a file, so that nothing is ever blocked by a full pipe.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hostproof.conformance.http_target import HttpTarget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

READY_SECONDS = 30.0
POLL_SECONDS = 0.005
MOST_PRINTED = 1_000_000
ROOT = Path(__file__).parent.parent
BASE_URL = re.compile(rb"http://127\.0\.0\.1:([0-9]+)")


def serve_command(database: Path | str, *options: str) -> list[str]:
    """Write the command that serves the reference host on a free port."""
    host = [sys.executable, "-c", "from hostproof.conformance.cli import main; main()", "serve"]
    return [*host, "--port", "0", "--database", str(database), *options]


def talking_process(script: str, *arguments: Path | str) -> Any:
    """Run a script that prints lines and reads some; for a test to end."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class HostProcess:
    """One process; its base URL is in the first line that it prints."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str] | None = None):
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is stopped
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env={**os.environ, **(environ or {})},
        )
        self.url = ""

    @property
    def pid(self) -> int:
        return self._process.pid

    def output(self) -> str:
        """Give what it printed so far."""
        return self._printed().decode("utf-8", "replace")

    def _printed(self) -> bytes:
        # Read without moving: the process writes where the file's one position is.
        return os.pread(self._output.fileno(), MOST_PRINTED, 0)

    @classmethod
    async def start(
        cls, command: Sequence[str], environ: Mapping[str, str] | None = None
    ) -> HostProcess:
        """Start a command, and wait until its port takes connections."""
        host = cls(command, environ)
        try:
            await host._until_ready()
        except BaseException:
            await host.stop()
            raise
        return host

    async def _until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not await self._answers():
            assert self._process.poll() is None, self.output()
            assert time.monotonic() < deadline, self.output()
            await asyncio.sleep(POLL_SECONDS)

    async def _answers(self) -> bool:
        first, end, _ = self._printed().partition(b"\n")
        found = BASE_URL.search(first) if end else None
        if found is None:
            return False
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", int(found[1]))
        except OSError:
            return False
        writer.close()
        await writer.wait_closed()
        self.url = found[0].decode("ascii")
        return True

    def target(self) -> HttpTarget:
        """Give a target at its origin."""
        return HttpTarget(self.url)

    async def printed(self, line: bytes, times: int = 1) -> None:
        """Wait until it has printed a line so many times."""
        deadline = time.monotonic() + READY_SECONDS
        while self._printed().count(line) < times:
            assert self._process.poll() is None, self.output()
            assert time.monotonic() < deadline, self.output()
            await asyncio.sleep(POLL_SECONDS / 5)

    async def ended(self) -> int:
        """Wait for its end, and give its exit code."""
        deadline = time.monotonic() + READY_SECONDS
        while (code := self._process.poll()) is None:
            assert time.monotonic() < deadline, "the process does not end"
            await asyncio.sleep(POLL_SECONDS)
        return code

    def kill(self) -> None:
        """End it at once; it can do nothing about it."""
        self._process.send_signal(signal.SIGKILL)

    async def stop(self) -> int:
        """Tell it to end, and wait until it has."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return await self.ended()
        finally:
            if self._process.poll() is None:
                self.kill()
                self._process.wait()
            self._output.close()


@asynccontextmanager
async def running(
    command: Sequence[str], environ: Mapping[str, str] | None = None
) -> AsyncIterator[HostProcess]:
    """Run a host while the block runs."""
    host = await HostProcess.start(command, environ)
    try:
        yield host
    finally:
        await host.stop()
