"""
What a redeploy may change under an open pause: the chain of rules, and the ledger.

A host has one of each. A test may put others in their place for one thread, as
a redeploy would, without touching any other thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostproof.reference_impl.ledger import Ledger
    from hostproof.reference_impl.sessions import ThreadKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """What serves a thread: the names of the *chain*'s rules, in order, and the *ledger*."""

    chain: tuple[str, ...]
    ledger: Ledger


@dataclass(slots=True)
class Deployment:
    """
    What serves every thread, and what is put in its place for some.

    Attributes:
        usual: what serves a thread unless something else does.
        instead: what serves a thread in its place.
    """

    usual: Deployed
    instead: dict[ThreadKey, Deployed] = field(default_factory=dict)

    def of(self, key: ThreadKey) -> Deployed:
        """Give what serves a thread."""
        return self.instead.get(key, self.usual)
