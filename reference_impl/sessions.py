"""
What outlives a request: threads with their messages and pauses, and who holds a thread.

A thread belongs to its caller: its key is (caller, thread id), so someone
else's thread id is simply a thread of one's own. Everything is in one SQLite
file (WAL), which several processes of one host may share. A run's hold on its
thread is a lease that ends with its process (:mod:`.leases`).

Source: contract, "Host" (docs/contract.md).
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from hostproof.reference_impl.host_errors import StoreError
from hostproof.reference_impl.leases import ProcessMark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostproof.reference_impl.values import Json, Record

SCHEMA_VERSION: Final = 1
APPLICATION_ID: Final = 0x686F7374
BUSY_SECONDS: Final = 5.0

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS messages (
  caller TEXT NOT NULL, thread TEXT NOT NULL, place INTEGER NOT NULL, message TEXT NOT NULL,
  PRIMARY KEY (caller, thread, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pauses (
  caller TEXT NOT NULL, thread TEXT NOT NULL, suspension TEXT NOT NULL, pending TEXT NOT NULL,
  PRIMARY KEY (caller, thread)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (
  caller TEXT NOT NULL, thread TEXT NOT NULL, run TEXT NOT NULL, process TEXT NOT NULL,
  PRIMARY KEY (caller, thread)
) WITHOUT ROWID;
"""


class ThreadKey(NamedTuple):
    """Names one thread: whose it is, and its id."""

    caller: str
    thread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPause:
    """A pause as it is kept: the record of the wire, and what was asked."""

    suspension: Json
    pending: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredThread:
    """What the host holds of a thread: what was said (AG-UI messages), and the pause."""

    messages: tuple[Record, ...] = ()
    pause: StoredPause | None = None


class Sessions(Protocol):
    """Keeps threads, one run at a time."""

    def hold(self, key: ThreadKey, run: str) -> bool:
        """Take the thread for a run; false when a run of a living process holds it."""

    def release(self, key: ThreadKey, run: str) -> None:
        """Give the thread back, if *run* still holds it."""

    def load(self, key: ThreadKey) -> StoredThread:
        """Read what is held of a thread; an unknown one is empty."""

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause, both or neither."""

    def pauses(self) -> list[tuple[ThreadKey, StoredPause]]:
        """List every open pause."""

    def close(self) -> None:
        """Let go of the store; what this process holds ends."""


class SqliteSessions:
    """
    Sessions in one SQLite file, or in memory.

    Raises:
        StoreError: the file is not a store of this version, or cannot be opened.
    """

    def __init__(self, path: str = ":memory:") -> None:
        self._process = ProcessMark.beside(None if path == ":memory:" else path)
        try:
            self._database = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare()
        except sqlite3.Error as error:
            self._process.end()
            raise StoreError(
                f"the session store cannot be used: {error}. Choose a file that can be written, "
                "or move this one away to begin anew."
            ) from error
        except StoreError:
            self._database.close()
            self._process.end()
            raise

    def _prepare(self) -> None:
        version = self._one("PRAGMA user_version")
        application = self._one("PRAGMA application_id")
        tables = self._one("SELECT count(*) FROM sqlite_master")
        if (application, version) != (APPLICATION_ID, SCHEMA_VERSION) and tables:
            raise StoreError(
                f"the file is no session store of version {SCHEMA_VERSION}; choose another file."
            )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        with self._transaction():
            for statement in _SCHEMA.split(";"):
                self._database.execute(statement)
            self._database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _one(self, statement: str) -> int:
        value: int = self._database.execute(statement).fetchone()[0]
        return value

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def hold(self, key: ThreadKey, run: str) -> bool:
        """Take the thread for a run; false when a run of a living process holds it."""
        with self._transaction():
            row = self._database.execute(
                "SELECT process FROM leases WHERE caller = ? AND thread = ?", key
            ).fetchone()
            if row is not None and self._process.is_alive(row[0]):
                return False
            self._database.execute(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", (*key, run, self._process.name)
            )
        return True

    def release(self, key: ThreadKey, run: str) -> None:
        """Give the thread back, if *run* still holds it."""
        self._database.execute(
            "DELETE FROM leases WHERE caller = ? AND thread = ? AND run = ? AND process = ?",
            (*key, run, self._process.name),
        )

    def load(self, key: ThreadKey) -> StoredThread:
        """Read what is held of a thread; an unknown one is empty."""
        rows = self._database.execute(
            "SELECT message FROM messages WHERE caller = ? AND thread = ? ORDER BY place", key
        )
        messages = tuple(json.loads(row[0]) for row in rows)
        pause = self._database.execute(
            "SELECT suspension, pending FROM pauses WHERE caller = ? AND thread = ?", key
        ).fetchone()
        return StoredThread(messages=messages, pause=None if pause is None else _pause(*pause))

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause, both or neither."""
        with self._transaction():
            (count,) = self._database.execute(
                "SELECT count(*) FROM messages WHERE caller = ? AND thread = ?", key
            ).fetchone()
            self._database.executemany(
                "INSERT INTO messages VALUES (?, ?, ?, ?)",
                [(*key, count + at, json.dumps(message)) for at, message in enumerate(said)],
            )
            if pause is None:
                self._database.execute("DELETE FROM pauses WHERE caller = ? AND thread = ?", key)
            else:
                self._database.execute(
                    "INSERT OR REPLACE INTO pauses VALUES (?, ?, ?, ?)",
                    (*key, json.dumps(pause.suspension), json.dumps(pause.pending)),
                )

    def pauses(self) -> list[tuple[ThreadKey, StoredPause]]:
        """List every open pause."""
        rows = self._database.execute(
            "SELECT caller, thread, suspension, pending FROM pauses ORDER BY caller, thread"
        )
        return [(ThreadKey(row[0], row[1]), _pause(row[2], row[3])) for row in rows]

    def close(self) -> None:
        """Let go of the store; what this process holds ends."""
        self._database.execute("DELETE FROM leases WHERE process = ?", (self._process.name,))
        self._database.close()
        self._process.end()


def _pause(suspension: str, pending: str) -> StoredPause:
    return StoredPause(suspension=json.loads(suspension), pending=json.loads(pending))
