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


@asynccontextmanager
async def owned_process(
    command: Sequence[str],
    ready: str,
    folder: Path | None = None,
    *,
    ready_seconds: float = READY_SECONDS,
    stop_seconds: float = STOP_SECONDS,
) -> AsyncIterator[int]:
    """
    Start a command, wait until *ready* answers, and stop it when the block ends.

    Args:
        command: the words to run, without a shell.
        ready: the URL to poll; any HTTP answer will do.
        folder: where to run it; here by default.
        ready_seconds: how long to wait until it answers.
        stop_seconds: how long to wait, when it is told to end, before it is killed.

    Returns:
        The process id.

    Raises:
        TargetError: it cannot be started, ends early, or does not answer in time;
            or something answers already.
    """
    if await _answers(ready):
        raise TargetError(
            f"something answers at {ready} already: stop it, or leave --start out to test it."
        )
    shown = shlex.join(command)
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(  # noqa: S603, ASYNC220 - the user's own command
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            raise TargetError(f"`{shown}` cannot be started: {error.strerror}.") from error
        try:
            await _until_ready(process, ready, shown, output.fileno(), ready_seconds)
            yield process.pid
        finally:
            await _stop(process, stop_seconds)


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
