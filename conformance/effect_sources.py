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
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hostproof.conformance.asgi_app import attribute_named
from hostproof.conformance.target import TargetError
from hostproof.reference_impl.values import Json, Record, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.profile_parts import EffectsAt

COMMAND_SECONDS: Final = 10.0
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
        return await asyncio.to_thread(_of_file, (folder or Path()) / at.place)
    if at.kind == "command":
        return await asyncio.to_thread(_of_command, at.words, folder)
    return await asyncio.to_thread(_of_function, at.place)


def _of_file(path: Path) -> list[Record]:
    try:
        return rows_in(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError):
        raise NoEffectsError(f"the file {path.name} cannot be read as text") from None


def _of_command(words: Sequence[str], folder: Path | None) -> list[Record]:
    try:
        ran = subprocess.run(  # noqa: S603 - the user's own command
            list(words), cwd=folder, capture_output=True, timeout=COMMAND_SECONDS, check=False
        )
    except OSError:
        raise NoEffectsError(f"the command {words[0]} cannot be started") from None
    except subprocess.TimeoutExpired:
        raise NoEffectsError(f"the command {words[0]} took over {COMMAND_SECONDS:g} s") from None
    if ran.returncode != 0:
        raise NoEffectsError(f"the command {words[0]} ended with {ran.returncode}")
    return rows_in(ran.stdout.decode("utf-8", "replace"))


def _of_function(name: str) -> list[Record]:
    try:
        found = attribute_named(name)
    except TargetError as error:
        raise NoEffectsError(str(error)) from None
    if not callable(found):
        raise NoEffectsError(f"{name} is no function")
    try:
        given = found()
    except Exception as error:  # noqa: BLE001 - it is the user's
        raise NoEffectsError(f"{name} raised {type(error).__name__}") from None
    return _checked(given)


def rows_in(text: str) -> list[Record]:
    """
    Read rows from a text: a JSON list, an object with ``effects``, or an object a line.

    Raises:
        NoEffectsError: it is none of these.
    """
    try:
        return _checked(json.loads(text))
    except (ValueError, RecursionError):
        pass
    try:
        return _checked([json.loads(line) for line in text.splitlines() if line.strip()])
    except (ValueError, RecursionError):
        raise NoRowsError("it is neither a JSON list of effects nor one object a line") from None


def _checked(document: Json) -> list[Record]:
    rows = document.get("effects", [document]) if is_record(document) else document
    if not isinstance(rows, list | tuple) or not all(map(is_record, rows)):
        raise NoEffectsError("it gives no list of objects, one for each execution")
    return [dict(row) for row in rows]


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
