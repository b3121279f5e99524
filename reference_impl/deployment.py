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

    def put(self, key: ThreadKey, deployed: Deployed) -> None:
        """Put something else in the place of what serves a thread."""
        before = self.instead.get(key)
        self.instead[key] = deployed
        if before is not None and before.ledger is not deployed.ledger:
            self._let_go(before)

    def put_back(self, key: ThreadKey) -> bool:
        """Serve a thread as every other again; false where it is."""
        before = self.instead.pop(key, None)
        if before is not None:
            self._let_go(before)
        return before is not None

    def close(self) -> None:
        """Let go of every ledger that was put in the place of the usual one."""
        for key in list(self.instead):
            self.put_back(key)

    def _let_go(self, deployed: Deployed) -> None:
        if deployed.ledger is not self.usual.ledger:
            deployed.ledger.close()
