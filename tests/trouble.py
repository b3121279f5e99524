"""Ways in which a store's file cannot be used, brought about from outside and undone again."""

from __future__ import annotations

import os
import resource
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOBODY = 65_534


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a write transaction of another connection on a file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file of this process grow, or be written behind its first byte."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def as_nobody() -> Iterator[None]:
    """Do the block as somebody whom permissions bind; root they do not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
