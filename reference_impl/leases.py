"""
Whether the process that holds something is still alive, as far as this machine can tell.

A process marks itself by a locked file beside the store. The operating system
drops the lock when the process ends, however it ends, so a mark whose lock can
be had belongs to nobody any more.

Source: contract, "Host" (docs/contract.md): a lease ends with its process.
"""

from __future__ import annotations

import errno
import os
import re
import uuid
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

_NAME: Final = re.compile(r"[0-9a-f]{32}")


class ProcessMark:
    """
    The mark of this process, and the reader of others'.

    Attributes:
        name: what a lease names as its holder.
    """

    def __init__(self, folder: Path | None, stem: str) -> None:
        self.name = uuid.uuid4().hex
        self._folder = folder
        self._stem = stem
        self._lock = None if folder is None else self._lock_of(self.name)
        if self._lock is not None:
            self._lock.acquire(timeout=0)

    @classmethod
    def beside(cls, store: str | None) -> ProcessMark:
        """
        Mark this process beside the file *store*; ``None`` where no other can see the store.

        Raises:
            OSError: the folder is not there, or cannot be written.
        """
        if store is None:
            return cls(None, "")
        path = Path(store).absolute()
        if not path.parent.is_dir():  # it is not ours to make
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path.parent)
        return cls(path.parent, path.name)

    def _path_of(self, name: str) -> Path:
        assert self._folder is not None  # noqa: S101 - only a marked process asks
        return self._folder / f"{self._stem}.{name}.lock"

    def _lock_of(self, name: str) -> FileLock:
        return FileLock(self._path_of(name), thread_local=False)

    def is_alive(self, name: str) -> bool:
        """Say whether the process of that *name* still runs; what a dead one left is removed."""
        if name == self.name:
            return True
        if self._folder is None or _NAME.fullmatch(name) is None:
            return False
        if not self._path_of(name).exists():
            return False
        lock = self._lock_of(name)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
        self._path_of(name).unlink(missing_ok=True)
        return False

    def end(self) -> None:
        """Give up the mark; what it holds is free from now on."""
        if self._lock is not None:
            self._lock.release()
            self._path_of(self.name).unlink(missing_ok=True)
            self._lock = None
