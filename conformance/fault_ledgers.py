"""Ledgers around others: a fault changes one method and leaves the rest as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostproof.reference_impl.ledger import DecisionRecord, Ledger, Spent
    from hostproof.reference_impl.values import Record


class LedgerAround:
    """Hands every call on to the ledger it is put around."""

    def __init__(self, inner: Ledger) -> None:
        self.inner = inner

    @property
    def store_id(self) -> str | None:
        """Names the store."""
        return self.inner.store_id

    def spend(self, record: DecisionRecord) -> bool:
        """Spend a request with its decision."""
        return self.inner.spend(record)

    def close_request(self, request: str) -> bool:
        """Spend a request from the host's side."""
        return self.inner.close_request(request)

    def how_spent(self, request: str) -> Spent | None:
        """Say how a request was spent."""
        return self.inner.how_spent(request)

    def records(self) -> list[Record]:
        """List every decision record."""
        return self.inner.records()

    def close(self) -> None:
        """Let go of the store."""
        self.inner.close()


class SpendsAlways(LedgerAround):
    """A ledger that spends a request as often as it is asked to, unless the host closed it."""

    def spend(self, record: DecisionRecord) -> bool:
        """Say yes, unless the request was closed."""
        return self.inner.spend(record) or self.inner.how_spent(record.request) != "closed"


class SpendsWhatWasClosed(LedgerAround):
    """A ledger that spends a request which the host has closed."""

    def spend(self, record: DecisionRecord) -> bool:
        """Say yes to a closed request."""
        return self.inner.spend(record) or self.inner.how_spent(record.request) == "closed"
