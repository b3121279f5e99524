"""
A host that the suite starts itself, and stops by its process when the run is over.

Source: docs/profile.md, "The host's process".
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import tempfile
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import httpx

from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

READY_SECONDS: Final = 30.0
STOP_SECONDS: Final = 5.0
POLL_SECONDS: Final = 0.05
LAST_WORDS: Final = 300


class OwnedProcess:
    """
    A host's process, started by the suite; it can be ended and begun again.

    Args:
        command: the words to run, without a shell.
        ready: the URL to poll; any HTTP answer will do.
        folder: where to run it; here by default.
        ready_seconds: how long to wait until it answers.
        stop_seconds: how long to wait, when it is told to end, before it is killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        ready: str,
        folder: Path | None = None,
        *,
        ready_seconds: float = READY_SECONDS,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self._command = list(command)
        self._ready = ready
        self._folder = folder
        self._ready_seconds = ready_seconds
        self._stop_seconds = stop_seconds
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id; 0 where it does not run."""
        return 0 if self._process is None else self._process.pid

    async def start(self) -> None:
        """
        Start the command, and wait until *ready* answers.

        Raises:
            TargetError: it cannot be started, ends early, or does not answer in time;
                or something answers already.
        """
        if await _answers(self._ready):
            raise TargetError(
                f"something answers at {self._ready} already: "
                "stop it, or leave --start out to test it."
            )
        shown = shlex.join(self._command)
        with tempfile.TemporaryFile() as output:
            try:
                self._process = subprocess.Popen(  # noqa: S603, ASYNC220 - the user's own command
                    self._command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=self._folder,
                    start_new_session=True,
                )
            except OSError as error:
                raise TargetError(f"`{shown}` cannot be started: {error.strerror}.") from error
            await _until_ready(
                self._process, self._ready, shown, output.fileno(), self._ready_seconds
            )

    async def stop(self) -> None:
        """End it, and those it started; nothing where it does not run."""
        if self._process is not None:
            await _stop(self._process, self._stop_seconds)
            self._process = None

    async def restart(self) -> None:
        """
        End it and begin again.

        Raises:
            TargetError: as for :meth:`start`.
        """
        await self.stop()
        await self.start()


@asynccontextmanager
async def owned_process(
    command: Sequence[str],
    ready: str,
    folder: Path | None = None,
    *,
    ready_seconds: float = READY_SECONDS,
    stop_seconds: float = STOP_SECONDS,
) -> AsyncIterator[OwnedProcess]:
    """
    Start a command as :class:`OwnedProcess` does, and stop it when the block ends.

    Raises:
        TargetError: as for :meth:`OwnedProcess.start`.
    """
    process = OwnedProcess(
        command, ready, folder, ready_seconds=ready_seconds, stop_seconds=stop_seconds
    )
    try:
        await process.start()
        yield process
    finally:
        await process.stop()


async def _until_ready(
    process: subprocess.Popen[bytes], ready: str, shown: str, output: int, seconds: float
) -> None:
    deadline = time.monotonic() + seconds
    while not await _answers(ready):
        if process.poll() is not None:
            lines = _last_words(output).split("\n")
            said = next((line for line in reversed(lines) if line.strip()), "nothing")
            raise TargetError(
                f"`{shown}` ended with {process.returncode} before it answered; it said: {said}"
            )
        if time.monotonic() > deadline:
            raise TargetError(
                f"`{shown}` did not answer at {ready} within {seconds:g} seconds: "
                "is it the right port? Name another URL to poll with --ready."
            )
        await asyncio.sleep(POLL_SECONDS)


async def _answers(url: str) -> bool:
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=1.0) as client:
            await client.get(url)
    except httpx.ReadTimeout:
        return True
    except httpx.HTTPError:
        return False
    return True


def _last_words(output: int) -> str:
    size = os.lseek(output, 0, os.SEEK_END)
    os.lseek(output, max(0, size - LAST_WORDS), os.SEEK_SET)
    return os.read(output, LAST_WORDS).decode("utf-8", "replace")


async def _stop(process: subprocess.Popen[bytes], seconds: float) -> None:
    """End the process and those it started, its group: gently first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not _signalled(process.pid, number):
            break
        deadline = time.monotonic() + seconds
        # The first process may be gone, and one that it started not.
        while process.poll() is None or _signalled(process.pid, 0):
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(POLL_SECONDS)
    process.wait()


def _signalled(group: int, number: int) -> bool:
    """Send a signal to a group of processes; false when nobody is in it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True
