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
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from hostproof.reference_impl.host_errors import StoreError
from hostproof.reference_impl.leases import ProcessMark
from hostproof.reference_impl.sqlite_store import IN_MEMORY, SqliteStore, read_stored
from hostproof.reference_impl.values import Json, Record, is_record

if TYPE_CHECKING:
    from collections.abc import Sequence

LOG: Final = logging.getLogger("hostproof.host")

_TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS messages (
      caller TEXT NOT NULL, thread TEXT NOT NULL, place INTEGER NOT NULL, message TEXT NOT NULL,
      PRIMARY KEY (caller, thread, place)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS pauses (
      caller TEXT NOT NULL, thread TEXT NOT NULL, suspension TEXT NOT NULL, pending TEXT NOT NULL,
      PRIMARY KEY (caller, thread)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS leases (
      caller TEXT NOT NULL, thread TEXT NOT NULL, run TEXT NOT NULL, process TEXT NOT NULL,
      PRIMARY KEY (caller, thread)
    ) WITHOUT ROWID
    """,
)


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
        """Give the thread back, if *run* still holds it; never fails."""

    def load(self, key: ThreadKey) -> StoredThread:
        """Read what is held of a thread; an unknown one is empty."""

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause, both or neither."""

    def pauses(self) -> list[tuple[ThreadKey, StoredPause]]:
        """List every open pause."""

    def close(self) -> None:
        """Let go of the store; what this process holds ends."""


class SqliteSessions(SqliteStore):
    """
    Sessions in one SQLite file, or in memory.

    Raises:
        StoreError: the file is not a store of this version, or cannot be used.
    """

    def __init__(self, path: str = IN_MEMORY) -> None:
        self._running: dict[ThreadKey, str] = {}  # the runs of this process that go on
        self._ended: set[tuple[ThreadKey, str]] = set()  # those whose lease is still to be taken
        try:
            self._process = ProcessMark.beside(None if path == IN_MEMORY else path)
        except OSError as error:
            raise StoreError(
                f"the store {path} cannot be used: {error.strerror}. Choose a file in a folder "
                "that can be written."
            ) from error
        try:
            super().__init__(path, _TABLES)
        except StoreError:
            self._process.end()
            raise

    def hold(self, key: ThreadKey, run: str) -> bool:
        """Take the thread for a run; false when a run of a living process holds it."""
        with self._turns:
            with self.transaction():
                for ended in self._ended:
                    self._drop(*ended)
                row = self.row("SELECT process FROM leases WHERE caller = ? AND thread = ?", key)
                if row is not None and self._process.is_alive(str(row[0])):
                    return False
                self.execute(
                    "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)",
                    (*key, run, self._process.name),
                )
            self._ended.clear()
            self._running[key] = run
            return True

    def release(self, key: ThreadKey, run: str) -> None:
        """
        Give the thread back, if *run* still holds it; never fails.

        Where the store cannot be written, this process may take the thread
        again, and others once this one has written its next lease.
        """
        with self._turns:
            if self._running.get(key) != run:
                return
            del self._running[key]
            try:
                self._drop(key, run)
            except StoreError:
                self._ended.add((key, run))
                LOG.warning("a lease could not be given back yet", exc_info=True)

    def _drop(self, key: ThreadKey, run: str) -> None:
        self.execute(
            "DELETE FROM leases WHERE caller = ? AND thread = ? AND run = ? AND process = ?",
            (*key, run, self._process.name),
        )

    def load(self, key: ThreadKey) -> StoredThread:
        """
        Read what is held of a thread; an unknown one is empty.

        A pause that cannot be read as JSON is kept, as one that nobody of ours wrote.
        """
        rows = self.rows(
            "SELECT message FROM messages WHERE caller = ? AND thread = ? ORDER BY place", key
        )
        pause = self.row(
            "SELECT suspension, pending FROM pauses WHERE caller = ? AND thread = ?", key
        )
        return StoredThread(
            messages=tuple(message for row in rows if is_record(message := read_stored(row[0]))),
            pause=None if pause is None else _pause(pause[0], pause[1]),
        )

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause, both or neither."""
        with self.transaction():
            row = self.row("SELECT max(place) FROM messages WHERE caller = ? AND thread = ?", key)
            place = 0 if row is None or row[0] is None else row[0] + 1
            for at, message in enumerate(said):
                self.execute(
                    "INSERT INTO messages VALUES (?, ?, ?, ?)",
                    (*key, place + at, json.dumps(message)),
                )
            if pause is None:
                self.execute("DELETE FROM pauses WHERE caller = ? AND thread = ?", key)
            else:
                self.execute(
                    "INSERT OR REPLACE INTO pauses VALUES (?, ?, ?, ?)",
                    (*key, json.dumps(pause.suspension), json.dumps(pause.pending)),
                )

    def pauses(self) -> list[tuple[ThreadKey, StoredPause]]:
        """List every open pause."""
        rows = self.rows(
            "SELECT caller, thread, suspension, pending FROM pauses ORDER BY caller, thread", ()
        )
        return [(ThreadKey(row[0], row[1]), _pause(row[2], row[3])) for row in rows]

    def close(self) -> None:
        """Let go of the store; what this process holds ends."""
        with suppress(StoreError):  # the leases end with the mark anyway
            self.execute("DELETE FROM leases WHERE process = ?", (self._process.name,))
        super().close()
        self._process.end()


def _pause(suspension: str, pending: str) -> StoredPause:
    return StoredPause(suspension=read_stored(suspension), pending=read_stored(pending))
