"""
What is spent: every decision used, once, before the call it allows is run.

A request is spent by one atomic insertion, approvals and declines alike, and
the decision's record is written with it. Closing a pause from the host's side
spends its request too, so that no decision can run the call afterwards.

Source: contract, "Ledger" (docs/contract.md).
"""

from __future__ import annotations

import json
import sqlite3
import threading
import uuid
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeGuard

from hostproof.reference_impl.host_errors import StoreError
from hostproof.reference_impl.sqlite_store import SqliteStore, read_stored
from hostproof.reference_impl.values import (
    MISSING,
    Json,
    Record,
    is_number,
    is_record,
    is_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

Spent = Literal["approved", "declined", "closed", "unknown"]
"""How a request was spent; unknown by a row that is not one we wrote."""

_WAYS: Final[Mapping[Json, Spent]] = MappingProxyType(
    {"approved": "approved", "declined": "declined", "closed": "closed"}
)

_TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS ledger (store TEXT NOT NULL)
    """,
    """
    CREATE TABLE IF NOT EXISTS spent (
      request TEXT NOT NULL PRIMARY KEY, how TEXT NOT NULL, record TEXT
    )
    """,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord:
    """
    One used decision.

    Attributes:
        request: the request it answered.
        approved: yes or no.
        by: who decided, as the answer claims.
        caller: who was authenticated.
        at: when it was used, in milliseconds since the epoch.
        note: the answer's note, ``MISSING`` where it has none.
        value: the answer's value, ``MISSING`` where it has none.
    """

    request: str
    approved: bool
    by: str
    caller: str
    at: int
    note: Json = MISSING
    value: Json = MISSING

    def to_json(self) -> Record:
        """Write it as plain JSON."""
        written: Record = {
            "request": self.request,
            "approved": self.approved,
            "by": self.by,
            "caller": self.caller,
            "at": self.at,
        }
        given = {"note": self.note, "value": self.value}
        return written | {name: value for name, value in given.items() if value is not MISSING}


def is_record_of_ours(value: Json) -> TypeGuard[Record]:
    """Say whether a kept value is a decision record."""
    return (
        is_record(value)
        and all(is_text(value.get(name)) for name in ("request", "by", "caller"))
        and isinstance(value.get("approved"), bool)
        and is_number(value.get("at"))
    )


class Ledger(Protocol):
    """Spends requests, each once."""

    @property
    def store_id(self) -> str | None:
        """Names the store; ``None`` where it could prove nothing to another process."""

    def spend(self, record: DecisionRecord) -> bool:
        """Spend a request with its decision; false when it was spent before."""

    def close_request(self, request: str) -> bool:
        """Spend a request from the host's side; false when it was spent before."""

    def how_spent(self, request: str) -> Spent | None:
        """Say how a request was spent, or ``None``."""

    def records(self) -> list[Record]:
        """List every decision record, as plain JSON."""

    def close(self) -> None:
        """Let go of the store."""


class SqliteLedger(SqliteStore):
    """
    A ledger in one SQLite file, which several processes of one host may share.

    Raises:
        StoreError: the file cannot be used.
    """

    def __init__(self, path: str = ":memory:") -> None:
        super().__init__(path, _TABLES)
        with self.transaction():
            row = self.row("SELECT store FROM ledger", ())
            if row is None:
                self.execute("INSERT INTO ledger VALUES (?)", (uuid.uuid4().hex,))
                row = self.row("SELECT store FROM ledger", ())
        if row is None:
            raise StoreError("the ledger cannot be used: it does not keep its store id.")
        self._store_id = str(row[0])

    @property
    def store_id(self) -> str | None:
        """Names the store."""
        return self._store_id

    def spend(self, record: DecisionRecord) -> bool:
        """Spend a request with its decision; false when it was spent before."""
        how: Spent = "approved" if record.approved else "declined"
        return self._spent(record.request, how, record.to_json())

    def close_request(self, request: str) -> bool:
        """Spend a request from the host's side; false when it was spent before."""
        return self._spent(request, "closed", None)

    def _spent(self, request: str, how: Spent, record: Mapping[str, Json] | None) -> bool:
        written = None if record is None else json.dumps(record)
        try:
            with self.transaction():
                self.execute("INSERT INTO spent VALUES (?, ?, ?)", (request, how, written))
        except sqlite3.IntegrityError:
            return False
        return True

    def how_spent(self, request: str) -> Spent | None:
        """Say how a request was spent, or ``None``."""
        row = self.row("SELECT how FROM spent WHERE request = ?", (request,))
        return None if row is None else _WAYS.get(row[0], "unknown")

    def records(self) -> list[Record]:
        """List every decision record, as plain JSON; what is none of ours is left out."""
        rows = self.rows("SELECT record FROM spent WHERE record IS NOT NULL ORDER BY rowid", ())
        return [record for row in rows if is_record_of_ours(record := read_stored(row[0]))]


class MemoryLedger:
    """A ledger of this process alone, which proves nothing to another; for tests."""

    def __init__(self) -> None:
        self._spent: dict[str, tuple[Spent, Record | None]] = {}
        self._turns = threading.Lock()

    @property
    def store_id(self) -> str | None:
        """No store."""
        return None

    def spend(self, record: DecisionRecord) -> bool:
        """Spend a request with its decision; false when it was spent before."""
        how: Spent = "approved" if record.approved else "declined"
        return self._spend(record.request, how, record.to_json())

    def close_request(self, request: str) -> bool:
        """Spend a request from the host's side; false when it was spent before."""
        return self._spend(request, "closed", None)

    def _spend(self, request: str, how: Spent, record: Record | None) -> bool:
        with self._turns:
            if request in self._spent:
                return False
            self._spent[request] = (how, record)
            return True

    def how_spent(self, request: str) -> Spent | None:
        """Say how a request was spent, or ``None``."""
        spent = self._spent.get(request)
        return None if spent is None else spent[0]

    def records(self) -> list[Record]:
        """List every decision record, as plain JSON."""
        return [record for _how, record in self._spent.values() if record is not None]

    def close(self) -> None:
        """Nothing to let go of."""
