"""
The seam between rules and wires: a target takes a request and gives its exchange.

A target never raises for what the host does, however hostile; that is what an
exchange is for. It raises for what its user did: a :class:`TargetError`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

from hostproof.conformance.sse import DEFAULT_MAX_EVENT_BYTES

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange, Request


class TargetError(Exception):
    """
    The target cannot be used as it was given: a mistake of wiring, not of the host.

    Attributes:
        message: one line that says what is wrong and the way out.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    How long to wait for one exchange, and how much to take.

    Attributes:
        deadline_seconds: for all of it.
        head_seconds: for the response head, connecting and sending included.
        max_bytes: of the response body, as received and again as decoded.
        max_events: of its stream; what small events cost is not their bytes.
        max_event_bytes: of one event; a larger one is left out of the events.
        stop_after_terminal: whether the end of the body has only
            *grace_seconds* to arrive once a terminal event did.
        grace_seconds: see there.
        stop_at: the type of an event at which we hang up; "" for none.

    Raises:
        ValueError: a number is not above zero.
    """

    deadline_seconds: float = 30.0
    head_seconds: float = 15.0
    max_bytes: int = 8 * 1024 * 1024
    max_events: int = 100_000
    max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES
    stop_after_terminal: bool = True
    grace_seconds: float = 2.0
    stop_at: str = ""

    def __post_init__(self) -> None:
        for limit in fields(self):
            if limit.name in ("stop_after_terminal", "stop_at"):
                continue
            if not getattr(self, limit.name) > 0:
                raise ValueError(f"the limit {limit.name} must be above zero")


class Target(Protocol):
    """A host that can be sent requests. Many may be on their way at once."""

    async def send(self, request: Request, limits: Limits) -> Exchange:
        """
        Send *request* and record what comes back, within *limits*.

        Raises:
            TargetError: the request or the target is wired wrongly.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and tasks. Nothing may be sent afterwards."""
        ...

    def describe(self) -> str:
        """Say in a few words what is tested, for reports; without secrets."""
        ...
