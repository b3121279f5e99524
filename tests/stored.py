"""What a host's file holds, read from outside and without changing it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hostproof.reference_impl.values import Json

JSON_COLUMNS = (
    ("messages", "message"),
    ("pauses", "suspension"),
    ("pauses", "pending"),
    ("effects", "arguments"),
    ("spent", "record"),
)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file to be read only."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        yield database


@contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file to be written; what is written is kept when the block ends."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        yield database


def rows(path: Path, statement: str, *values: Json) -> list[tuple[Json, ...]]:
    """Read rows."""
    with reading(path) as database:
        return database.execute(statement, values).fetchall()


def pending_of(path: Path, thread: str) -> Json:
    """Read what was asked on a thread; ``None`` where nothing is."""
    found = rows(path, "SELECT pending FROM pauses WHERE thread = ?", thread)
    return json.loads(found[0][0]) if found else None


def how_spent(path: Path, request: str) -> str | None:
    """Read how a request was spent."""
    found = rows(path, "SELECT how FROM spent WHERE request = ?", request)
    return found[0][0] if found else None


def effects_of(path: Path, thread: str) -> list[Json]:
    """Read the arguments of every execution on a thread."""
    found = rows(path, "SELECT arguments FROM effects WHERE thread = ? ORDER BY place", thread)
    return [json.loads(row[0]) for row in found]


def said_on(path: Path, thread: str) -> list[Json]:
    """Read what was said on a thread."""
    found = rows(path, "SELECT message FROM messages WHERE thread = ? ORDER BY place", thread)
    return [json.loads(row[0]) for row in found]


def check_readable(path: Path) -> None:
    """Check that the file is sound, and that all its JSON can be read."""
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    for table, column in JSON_COLUMNS:
        for (text,) in rows(path, f"SELECT {column} FROM {table}"):  # noqa: S608 - names of ours
            assert text is None or json.loads(text) is not None
