"""
What guarded actions did: one row for each execution, durable before the action goes on.

Source: docs/observation.md.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Protocol

from hostproof.reference_impl.sqlite_store import IN_MEMORY, SqliteStore, read_stored

if TYPE_CHECKING:
    from hostproof.reference_impl.sessions import ThreadKey
    from hostproof.reference_impl.values import Record

_TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS effects (
      place INTEGER PRIMARY KEY, caller TEXT NOT NULL, thread TEXT NOT NULL, tool TEXT NOT NULL,
      arguments TEXT NOT NULL, call TEXT NOT NULL
    )
    """,
)


class Effects(Protocol):
    """Keeps executions of guarded actions."""

    def add(self, key: ThreadKey, tool: str, arguments: Record, call_id: str) -> None:
        """Keep one execution."""

    def of(self, key: ThreadKey | None = None) -> list[Record]:
        """List executions, oldest first: of one thread or of all."""

    def close(self) -> None:
        """Let go of the store."""


class SqliteEffects(SqliteStore):
    """
    Effects in one SQLite file, or in memory.

    Raises:
        StoreError: the file is not a store of this version, or cannot be used.
    """

    def __init__(self, path: str = IN_MEMORY) -> None:
        super().__init__(path, _TABLES)

    def add(self, key: ThreadKey, tool: str, arguments: Record, call_id: str) -> None:
        """Keep one execution."""
        with self.transaction():
            self.execute(
                "INSERT INTO effects (caller, thread, tool, arguments, call)"
                " VALUES (?, ?, ?, ?, ?)",
                (*key, tool, json.dumps(arguments), call_id),
            )

    def of(self, key: ThreadKey | None = None) -> list[Record]:
        """
        List executions, oldest first: of one thread or of all.

        Arguments that cannot be read are null: an execution is never left out.
        """
        columns = "SELECT caller, thread, tool, arguments, call FROM effects"
        if key is None:
            rows = self.rows(f"{columns} ORDER BY place", ())
        else:
            rows = self.rows(f"{columns} WHERE caller = ? AND thread = ? ORDER BY place", key)
        return [
            {
                "caller": row[0],
                "thread": row[1],
                "tool": row[2],
                "arguments": read_stored(row[3]),
                "callId": row[4],
            }
            for row in rows
        ]
