"""
What a host shows to whoever may look inside: the observation document.

It is off unless the host is asked for it, and never part of a page's view.

Source: docs/observation.md.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.values import Record, is_record

if TYPE_CHECKING:
    from hostproof.reference_impl.effects import Effects
    from hostproof.reference_impl.ledger import Ledger
    from hostproof.reference_impl.scripted_model import ModelRequest
    from hostproof.reference_impl.sessions import Sessions, StoredPause, ThreadKey

VERSION: Final = 1
MOST_KEPT: Final = 10_000
"""The newest so many model requests are kept."""


@dataclass(slots=True)
class Observation:
    """
    Gathers what the model is given, and writes the document.

    Attributes:
        enabled: whether anything is gathered.
        model_requests: what the model was given, oldest first.
    """

    enabled: bool = False
    model_requests: deque[Record] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))

    def model_asked(self, key: ThreadKey, request: ModelRequest) -> None:
        """Gather one request to the model."""
        if self.enabled:
            self.model_requests.append(
                {
                    "caller": key.caller,
                    "thread": key.thread,
                    "system": request.system,
                    "messages": list(request.messages),
                    "tools": dict(request.tools),
                    "given": dict(request.given),
                }
            )

    def document(
        self,
        sessions: Sessions,
        ledger: Ledger,
        effects: Effects,
        key: ThreadKey | None = None,
    ) -> Record:
        """Write the observation, of one thread or of all; decisions are always all."""
        if key is None:
            kept = sessions.pauses()
        else:
            pause = sessions.load(key).pause
            kept = [] if pause is None else [(key, pause)]
        return {
            "format": "hostproof-observation",
            "version": VERSION,
            "effects": effects.of(key),
            "pauses": [_shown(where, pause) for where, pause in kept],
            "modelRequests": [row for row in self.model_requests if _is_of(row, key)],
            "messages": [] if key is None else list(sessions.load(key).messages),
            "decisions": [
                record for record in ledger.records() if key in (None, _owner(record, key))
            ],
        }


def _owner(record: Record, key: ThreadKey | None) -> ThreadKey | None:
    """Decision records name a caller and no thread: they are shown to that caller's threads."""
    return key if key is not None and record["caller"] == key.caller else None


def _shown(where: ThreadKey, pause: StoredPause) -> Record:
    suspension = pause.suspension if is_record(pause.suspension) else {}
    pending = pause.pending if is_record(pause.pending) else {}
    return {
        "caller": where.caller,
        "thread": where.thread,
        "interruptId": suspension.get("interruptId"),
        "kind": pending.get("kind"),
        "pending": pending,
    }


def _is_of(row: Record, key: ThreadKey | None) -> bool:
    return key is None or (row["caller"], row["thread"]) == tuple(key)
