"""
What a host shows to whoever may look inside: the observation document.

It is off unless the host is asked for it, and never part of a page's view.

Source: docs/observation.md.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hostproof.reference_impl.scripted_model import ModelRequest
    from hostproof.reference_impl.sessions import Sessions, ThreadKey
    from hostproof.reference_impl.values import Record

VERSION: Final = 1
MOST_KEPT: Final = 10_000
"""The newest so many are kept of effects and of model requests."""


@dataclass(slots=True)
class Observation:
    """
    Gathers what happens inside a host.

    Attributes:
        enabled: whether anything is gathered.
        effects: executions of guarded actions, oldest first.
        model_requests: what the model was given, oldest first.
    """

    enabled: bool = False
    effects: deque[Record] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
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

    def document(self, sessions: Sessions, key: ThreadKey | None = None) -> Record:
        """Write the observation, of one thread or of all."""
        pauses = [
            {
                "caller": where.caller,
                "thread": where.thread,
                "interruptId": pause.suspension.get("interruptId")
                if isinstance(pause.suspension, dict)
                else None,
            }
            for where, pause in sessions.pauses()
            if key in (None, where)
        ]
        return {
            "format": "hostproof-observation",
            "version": VERSION,
            "effects": [row for row in self.effects if _is_of(row, key)],
            "pauses": pauses,
            "modelRequests": [row for row in self.model_requests if _is_of(row, key)],
            "messages": [] if key is None else list(sessions.load(key).messages),
            "decisions": [],
        }


def _is_of(row: Record, key: ThreadKey | None) -> bool:
    return key is None or (row["caller"], row["thread"]) == tuple(key)
