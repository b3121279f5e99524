"""
Ids, nonces and canaries of one run: fresh in every run, the same again in a replay.

All are made from the run's seed and a name, so a case can be built again byte
for byte, and no two cases share a thread.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import Final

CANARY_LENGTH: Final = 20
"""Characters of a canary; the tables of changes count on it."""


@dataclass(frozen=True, slots=True)
class Identifiers:
    """Makes the names of one run from its *seed*."""

    seed: str

    def _digest(self, kind: str, *names: str) -> bytes:
        text = "\x00".join((self.seed, kind, *names))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def uuid(self, *names: str) -> str:
        """Make an id in the form of a UUID, which every host takes."""
        return str(uuid.UUID(bytes=self._digest("id", *names), version=4))

    def canary(self, *names: str) -> str:
        """Make a marker of :data:`CANARY_LENGTH` characters that occurs nowhere else."""
        return "hp" + self._digest("canary", *names).hex()[: CANARY_LENGTH - 2]

    def nonce(self, *names: str) -> str:
        """Make a word that tells one scenario from another."""
        return "n" + self._digest("nonce", *names).hex()[:10]
