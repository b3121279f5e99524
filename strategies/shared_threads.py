"""
Two callers on one thread id: what the first left there, the second must not come by.

The first puts a marker into a thread, the second sends a message to a thread of that id. A host
that refuses either keeps the rule.

Source: safety, "Whose a thread is" (docs/safety.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hostproof.strategies.reader_changes import CODE as MALFORMED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hostproof.reference_impl.values import Json
    from hostproof.strategies.changes import EndpointName

SHARED: Final = "shared-thread"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedThread:
    """
    One thread id that two callers use.

    Attributes:
        id: its stable name.
        thread: the thread id; ``None`` for one of the case's own.
        members: more members of the first caller's request.
        first: which agent the first caller's request is sent to.
        second: which agent the second caller's is sent to.
        code: the refusal that both owe, ``None`` where they are to be accepted.
        area: what it is about; rules choose their cases by it.
    """

    id: str
    thread: str | None = None
    members: Mapping[str, Json] = field(default_factory=dict)
    first: EndpointName = "main"
    second: EndpointName = "main"
    code: str | None = None
    area: str = SHARED

    @property
    def must_run(self) -> bool:
        """Whether a refusal of the first request leaves nothing to judge."""
        return self.thread is None


def _shared() -> Iterator[SharedThread]:
    yield SharedThread(id="thread-of-another-caller")
    endpoints: tuple[EndpointName, ...] = ("carrying", "main")
    for endpoint in endpoints:
        yield SharedThread(
            id=f"state-of-another-caller-{endpoint}",
            members={"state": {"page": "{canary}"}},
            first="carrying",
            second=endpoint,
        )
    yield SharedThread(id="empty-thread-of-two-callers", thread="", code=MALFORMED)
    yield SharedThread(id="blank-thread-of-two-callers", thread="   ")


SHARED_THREADS: Final[tuple[SharedThread, ...]] = tuple(_shared())
"""Every case of two callers on one thread id."""
