"""
One SQLite file of ours: opened, checked, and spoken to in short transactions.

Sessions, ledger and effects may share a file; each opens it for itself. Writes
are durable when a transaction ends (WAL, synchronous), and a file that is not
ours, of another version, locked, read-only or broken is a clear error. A store
may be used from several threads: they take turns.

Source: contract, "Ledger" (docs/contract.md).
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

from hostproof.reference_impl.host_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostproof.reference_impl.values import Json

SCHEMA_VERSION: Final = 2
APPLICATION_ID: Final = 0x686F7374
BUSY_SECONDS: Final = 5.0
POLL_SECONDS: Final = 0.01
PRIMARY_CODE: Final = 0xFF
"""The part of SQLite's error codes that says the kind."""
IN_MEMORY: Final = ":memory:"


class SqliteStore:
    """
    A connection to one file of ours.

    Args:
        path: the file, or ``:memory:``.
        tables: what to create where it is not there yet.

    Raises:
        StoreError: the file is no store of this version, or cannot be used.
    """

    def __init__(self, path: str, tables: Sequence[str]) -> None:
        self._path = path
        self._turns = threading.RLock()
        with self._told():
            self._database = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            with self._told():
                self._prepare(tables)
        except StoreError:
            self._database.close()
            raise

    def _prepare(self, tables: Sequence[str]) -> None:
        # What is no UTF-8 is nothing of ours: whoever reads the row has to see it.
        self._database.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        # Before anything is written to it, and in one view: another process may begin it now.
        self._database.execute("BEGIN")
        self._check_is_ours()
        self._database.execute("COMMIT")
        if self._path != IN_MEMORY:
            self._write_ahead()
            self._database.execute("PRAGMA synchronous = FULL")
        with self.transaction():
            self._check_is_ours()
            for table in tables:
                self._database.execute(table)
            self._database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _write_ahead(self) -> None:
        """Have the file written ahead; here SQLite does not wait for others, so we do."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._database.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                is_busy = error.sqlite_errorcode & PRIMARY_CODE == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() > deadline:
                    raise
                time.sleep(POLL_SECONDS)
            else:
                return

    def _check_is_ours(self) -> None:
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        (count,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        is_new = (application, version, count) == (0, 0, 0)
        if not is_new and (application, version) != (APPLICATION_ID, SCHEMA_VERSION):
            raise StoreError(
                f"{self._path} is no store of version {SCHEMA_VERSION}: choose another file."
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn SQLite's errors into one that says the way out."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            raise StoreError(
                f"the store {self._path} cannot be used: {error}. Choose a file that can be "
                "written, or move this one away to begin anew."
            ) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """
        Write all of the block, or nothing.

        Raises:
            StoreError: the store cannot be written.
            sqlite3.IntegrityError: a row is there already.
        """
        with self._turns, self._told():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def execute(self, statement: str, values: Sequence[Any]) -> None:
        """
        Run one statement.

        Raises:
            StoreError: the store cannot be used.
            sqlite3.IntegrityError: a row is there already.
        """
        with self._turns, self._told():
            self._database.execute(statement, values)

    def rows(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """
        Read rows.

        Raises:
            StoreError: the store cannot be used.
        """
        with self._turns, self._told():
            return self._database.execute(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[Any]) -> tuple[Any, ...] | None:
        """
        Read one row, or ``None``.

        Raises:
            StoreError: the store cannot be used.
        """
        found = self.rows(statement, values)
        return found[0] if found else None

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


def read_stored(text: Json) -> Json:
    """Read what is stored: JSON in ASCII; anything else is nothing of ours, and reads as null."""
    if not isinstance(text, str) or not text.isascii():
        return None
    try:
        return json.loads(text, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return None


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
