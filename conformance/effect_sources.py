"""
Where the effects of a host can be read: a URL, a file, a command, a function, or the stream.

A source gives rows, one for each execution of a guarded action: ``tool``,
``arguments`` and ``callId`` where it knows them. A row belongs to a scenario if
it names the scenario's thread, or carries one of its nonces.

Source: docs/profile.md, "Effects".
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from hostproof.conformance.asgi_app import attribute_named
from hostproof.conformance.target import TargetError
from hostproof.reference_impl.values import Json, Record, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.profile_parts import EffectsAt

COMMAND_SECONDS: Final = 10.0
"""Longest time that a file, a command or a function is given."""

MOST_BYTES: Final = 16_000_000
"""Most that is read of a source."""

MOST_DEPTH: Final = 100
"""How deep the values of a row may be nested."""

POLL_SECONDS: Final = 0.005
CHUNK_BYTES: Final = 65_536
WRITING_SECONDS: Final = (0.02, 0.1, 0.3)
"""How long a host is given to end a line that it is writing, each time it is looked at."""

NONCE: Final = "{nonce}"


class NoEffectsError(Exception):
    """The source shows no effects; the message says why, and quotes none of its content."""


class NoRowsError(NoEffectsError):
    """A text is no list of effects; one that is being written may be in a moment."""


async def rows_outside(at: EffectsAt, folder: Path | None) -> list[Record]:
    """
    Read a source that is no URL and not the stream.

    Args:
        at: the source.
        folder: what a file's path is relative to, and where a command is run.

    Raises:
        NoEffectsError: it cannot be read, or is no list of objects.
    """
    for pause in WRITING_SECONDS:
        try:
            return await _rows_now(at, folder)
        except NoRowsError:
            await asyncio.sleep(pause)
    return await _rows_now(at, folder)


async def _rows_now(at: EffectsAt, folder: Path | None) -> list[Record]:
    if at.kind == "file":
        path = at.place if folder is None else folder / at.place
        name = f"the file {os.path.basename(at.place)}"  # noqa: PTH119 - it may be no path at all
        return await _on_worker(name, lambda: _of_file(path, name))
    if at.kind == "command":
        name = f"the command {at.words[0]}"
        printed = await _printed(at.words, folder, name)
        return await _on_worker(name, lambda: rows_in(printed.decode("utf-8", "replace"), name))
    return await _on_worker(at.place, lambda: _of_function(at.place))


async def _on_worker(name: str, read: Callable[[], list[Record]]) -> list[Record]:
    """
    Read on a thread that may hang, or raise what it likes: it holds up neither us nor our end.

    Raises:
        NoEffectsError: it took too long, or raised.
    """
    loop = asyncio.get_running_loop()
    waited: asyncio.Future[list[Record]] = loop.create_future()

    def tell(rows: list[Record], error: NoEffectsError | None) -> None:
        if waited.done():
            return
        if error is None:
            waited.set_result(rows)
        else:
            waited.set_exception(error)

    def work() -> None:
        rows: list[Record] = []
        problem: NoEffectsError | None = None
        try:
            rows = read()
        except NoEffectsError as error:
            problem = error
        except BaseException as error:  # noqa: BLE001 - the user's function, SystemExit and all
            problem = NoEffectsError(f"{name} raised {type(error).__name__}")
        with suppress(RuntimeError):  # the run is over, and nobody waits
            loop.call_soon_threadsafe(tell, rows, problem)

    threading.Thread(target=work, name="hostproof-effects", daemon=True).start()
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            return await waited
    except TimeoutError:
        raise _too_slow(name) from None


def _of_file(path: Path | str, name: str) -> list[Record]:
    try:
        # A pipe that nobody writes to would block already when it is opened.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(number, "rb") as file:  # noqa: PTH123 - it is open already
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise NoEffectsError(f"{name} cannot be read: it is no regular file")
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise _too_large(name)
        return rows_in(data.decode("utf-8"), name)
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        raise NoEffectsError(f"{name} cannot be read as text") from None


async def _printed(words: Sequence[str], folder: Path | None, name: str) -> bytes:
    """Run a command, and give what it printed; it is killed if it takes, or prints, too much."""
    try:
        process = subprocess.Popen(  # noqa: S603, ASYNC220 - the user's own command
            list(words),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        raise NoEffectsError(f"{name} cannot be started") from None
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    try:
        printed = await _read(process, process.stdout.fileno(), name)
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
    if process.returncode != 0:
        raise NoEffectsError(f"{name} ended with {process.returncode}")
    return printed


async def _read(process: subprocess.Popen[bytes], output: int, name: str) -> bytes:
    """Read what a process prints until it ends; what it leaves behind is not waited for."""
    os.set_blocking(output, False)
    deadline = time.monotonic() + COMMAND_SECONDS
    printed = bytearray()
    while True:
        has_ended = process.poll() is not None
        while data := _available(output):
            printed += data
            if len(printed) > MOST_BYTES:
                raise _too_large(name)
            await asyncio.sleep(0)
        if has_ended:
            return bytes(printed)
        if time.monotonic() > deadline:
            raise _too_slow(name)
        await asyncio.sleep(POLL_SECONDS)


def _available(output: int) -> bytes:
    try:
        return os.read(output, CHUNK_BYTES)
    except BlockingIOError:
        return b""


def _of_function(name: str) -> list[Record]:
    try:
        found = attribute_named(name)
    except TargetError as error:
        raise NoEffectsError(str(error)) from None
    if not callable(found):
        raise NoEffectsError(f"{name} is no function")
    return _checked(_plain(found(), name), name)


def _plain(given: object, name: str) -> Json:
    """Make plain JSON of what a function gave; what JSON has no form for becomes text."""
    try:
        text = json.dumps(given, default=str)
    except Exception:  # noqa: BLE001 - its own objects are asked for their text
        raise NoEffectsError(f"{name} gives what is no JSON") from None
    if len(text) > MOST_BYTES:
        raise _too_large(name)
    plain: Any = json.loads(text)
    return plain


def rows_in(text: str, name: str = "it") -> list[Record]:
    """
    Read rows from a text: a JSON list, an object with ``effects``, or an object a line.

    Args:
        text: what the source says.
        name: what the source is called in an error.

    Raises:
        NoEffectsError: it is none of these.
    """
    try:
        return _checked(json.loads(text), name)
    except (ValueError, RecursionError):
        pass
    try:
        # JSON strings may hold every other line end as it is.
        lines = [line for line in text.split("\n") if line.strip()]
        return _checked([json.loads(line) for line in lines], name)
    except (ValueError, RecursionError):
        raise NoRowsError(
            f"{name} is neither a JSON list of effects nor one object a line"
        ) from None


def _checked(document: Json, name: str) -> list[Record]:
    rows = document.get("effects", [document]) if is_record(document) else document
    if not isinstance(rows, list) or not all(map(is_record, rows)):
        raise NoEffectsError(f"{name} gives no list of objects, one for each execution")
    if _is_deep(rows):
        raise NoEffectsError(f"{name} gives values that are nested over {MOST_DEPTH} deep")
    return rows


def _is_deep(rows: list[Json]) -> bool:
    inside = rows
    for _ in range(MOST_DEPTH):
        inside = [
            value
            for one in inside
            if isinstance(one, dict | list)
            for value in (one.values() if isinstance(one, dict) else one)
        ]
        if not inside:
            return False
    return True


def _too_slow(name: str) -> NoEffectsError:
    return NoEffectsError(f"{name} took over {COMMAND_SECONDS:g} s")


def _too_large(name: str) -> NoEffectsError:
    return NoEffectsError(f"{name} gives over {MOST_BYTES // 1_000_000} MB")


def rows_of(rows: Iterable[Record], threads: Sequence[str], marks: Sequence[str]) -> list[Record]:
    """Choose the rows of a scenario: those that name a thread of it, or carry one of its marks."""
    chosen = []
    for row in rows:
        text = json.dumps(row, ensure_ascii=False, default=str)
        if row.get("thread") in threads or any(mark in text for mark in marks):
            chosen.append(row)
    return chosen


def rows_in_streams(
    exchanges: Iterable[Exchange], result: str, nonces: Sequence[str]
) -> list[Record]:
    """
    Read effects off results in streams: each call whose result says that it ran, once.

    A result that is told again cannot be told from a call that ran again, so a
    call counts once.

    Args:
        exchanges: every answer of the scenario.
        result: what a guarded tool's result contains, with its nonce's place.
        nonces: of the scenario.
    """
    marks = [result.replace(NONCE, nonce) for nonce in nonces]
    names: dict[str, str] = {}
    ran: dict[str, Record] = {}
    for exchange in exchanges:
        for event in exchange.events:
            call_id, content = event.members.get("toolCallId"), event.members.get("content")
            if not is_text(call_id):
                continue
            if is_text(event.members.get("toolCallName")):
                names[call_id] = event.members["toolCallName"]
            if event.type == "TOOL_CALL_RESULT" and any(mark in str(content) for mark in marks):
                ran[call_id] = {"tool": names.get(call_id, ""), "callId": call_id}
    return list(ran.values())
