"""Sessions around others: a fault changes one method and leaves the rest as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.reference_impl.sessions import Sessions, StoredPause, StoredThread, ThreadKey
    from hostproof.reference_impl.values import Record


class SessionsAround:
    """Hands every call on to the sessions it is put around."""

    def __init__(self, inner: Sessions) -> None:
        self.inner = inner

    def hold(self, key: ThreadKey, run: str) -> bool:
        """Take the thread for a run."""
        return self.inner.hold(key, run)

    def release(self, key: ThreadKey, run: str) -> None:
        """Give the thread back."""
        self.inner.release(key, run)

    def load(self, key: ThreadKey) -> StoredThread:
        """Read what is held of a thread."""
        return self.inner.load(key)

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause."""
        self.inner.save(key, said, pause)

    def pauses(self) -> list[tuple[ThreadKey, StoredPause]]:
        """List every open pause."""
        return self.inner.pauses()

    def close(self) -> None:
        """Let go of the store."""
        self.inner.close()


class Unleased(SessionsAround):
    """Everyone may run."""

    def hold(self, key: ThreadKey, run: str) -> bool:
        """Say yes, and hold nothing."""
        del key, run
        return True


class NeverReleased(SessionsAround):
    """A thread on which a request was refused stays held."""

    def __init__(self, inner: Sessions) -> None:
        super().__init__(inner)
        self._ran: set[ThreadKey] = set()

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages, and note that the thread ran."""
        super().save(key, said, pause)
        self._ran.add(key)

    def release(self, key: ThreadKey, run: str) -> None:
        """Give the thread back only after a run."""
        if key in self._ran:
            super().release(key, run)


class Remembering(SessionsAround):
    """Knows the calls that this process has paused on."""

    def __init__(self, inner: Sessions) -> None:
        super().__init__(inner)
        self.calls: set[str] = set()

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause."""
        if pause is not None:
            self.calls.add(pause.pending["call"]["callId"])
        super().save(key, said, pause)


class Forgetful(SessionsAround):
    """Keeps pauses in memory, beside a store that keeps the messages."""

    def __init__(self, inner: Sessions) -> None:
        super().__init__(inner)
        self._pauses: dict[ThreadKey, StoredPause | None] = {}

    def load(self, key: ThreadKey) -> StoredThread:
        """Read what is held of a thread."""
        return replace(super().load(key), pause=self._pauses.get(key))

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages to the store, and set the pause in memory."""
        self._pauses[key] = pause
        super().save(key, said, None)

    def pauses(self) -> list[tuple[ThreadKey, StoredPause]]:
        """List every open pause."""
        return [(key, pause) for key, pause in self._pauses.items() if pause is not None]
