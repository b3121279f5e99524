"""
Consent requests: one per pause, and bound to the exact call that a yes would run.

A request's id is minted by the host and cannot be guessed. What it is bound to
is a digest over the call (its tool, arguments, call id and caller) in canonical
JSON (RFC 8785), and for an ask also the names of the rules from the one that
asked to the end of the chain. The request names the ledger it must be spent in.

Source: contract, "Consent" (docs/contract.md); RFC 8785.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import rfc8785

from hostproof.reference_impl.values import Json, Record, is_record, is_text, is_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

Gate = Literal["checkIn", "ask"]
"""A tool's own demand, or a middleware's question."""


class UnbindableError(ValueError):
    """The call's arguments have no canonical form (RFC 8785), so no consent can be bound to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedCall:
    """
    The call a consent request is about.

    Attributes:
        tool: the tool's name.
        arguments: what it would be called with.
        call_id: the call's id.
        caller: whom it is made for.
    """

    tool: str
    arguments: Record
    call_id: str
    caller: str

    def digest(self) -> str:
        """
        Give the digest that a request is bound to, as hexadecimal SHA-256.

        Raises:
            UnbindableError: the arguments have no canonical form.
        """
        bound: Record = {
            "tool": self.tool,
            "arguments": self.arguments,
            "callId": self.call_id,
            "caller": self.caller,
        }
        try:
            canonical = rfc8785.dumps(bound)
        except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError):
            raise UnbindableError("the arguments have no canonical form (RFC 8785)") from None
        return hashlib.sha256(canonical).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentRequest:
    """
    One request for consent.

    Attributes:
        id: names it; a decision quotes it.
        gate: which kind of gate asks.
        call: the digest of the call it is bound to.
        chain: for an ask, the names of the rules from the one that asked on.
        ledger: the store id of the ledger it must be spent in, or ``None``
            where that ledger could prove nothing.
    """

    id: str
    gate: Gate
    call: str
    chain: tuple[str, ...] | None
    ledger: str | None

    def to_json(self) -> Record:
        """Write it as it is kept in a pause."""
        return {
            "id": self.id,
            "gate": self.gate,
            "call": self.call,
            "chain": None if self.chain is None else list(self.chain),
            "ledger": self.ledger,
        }


def mint_request(
    request_id: str,
    gate: Gate,
    call: GatedCall,
    *,
    chain: Sequence[str] | None,
    ledger: str | None,
) -> ConsentRequest:
    """
    Make the request of a pause.

    Args:
        request_id: fresh, and nobody's to guess.
        gate: which kind of gate asks.
        call: what a yes would run.
        chain: for an ask, the names of the rules from the one that asked on.
        ledger: the store id of the host's ledger.

    Raises:
        UnbindableError: the call's arguments have no canonical form.
    """
    return ConsentRequest(
        id=request_id,
        gate=gate,
        call=call.digest(),
        chain=None if chain is None else tuple(chain),
        ledger=ledger,
    )


def read_consent_request(value: Json) -> ConsentRequest | None:
    """Read a kept request; ``None`` where it is not one we wrote."""
    if not is_record(value) or not is_text(value.get("id")) or not _is_id(value["id"]):
        return None
    gate, chain, ledger = value.get("gate"), value.get("chain"), value.get("ledger")
    if not is_text(value.get("call")) or not (ledger is None or is_text(ledger)):
        return None
    if gate == "checkIn" and chain is None:
        return ConsentRequest(
            id=value["id"], gate="checkIn", call=value["call"], chain=None, ledger=ledger
        )
    if gate == "ask" and is_texts(chain):
        return ConsentRequest(
            id=value["id"], gate="ask", call=value["call"], chain=tuple(chain), ledger=ledger
        )
    return None


def _is_id(text: str) -> bool:
    """Say whether a text can name a request: printable ASCII, as every id that is minted."""
    return text != "" and text.isascii() and text.isprintable()
