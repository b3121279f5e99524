"""
A refusal as an HTTP problem document (RFC 9457), and as the event that ends a run.

Both carry the same members, and neither carries what was sent.

Source: contract, "Host" (docs/contract.md); RFC 9457, 3.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.refusals import Refusal, catalogue

if TYPE_CHECKING:
    from hostproof.reference_impl.values import Record

MEDIA_TYPE: Final = "application/problem+json"
METADATA_KEY: Final = "hostproof"
FALLBACK_STATUS: Final = 400
"""For an application's refusal that names no status of an error."""


def problem_members(refusal: Refusal) -> Record:
    """Give the facts of a refusal that may be shown, beside its code: field, reason and so on."""
    shown = {"field": refusal.field, "reason": refusal.reason, **refusal.members}
    return {name: value for name, value in shown.items() if value is not None}


def problem_status(refusal: Refusal) -> int:
    """Give the HTTP status of a refusal."""
    status = refusal.status
    return status if status is not None and 400 <= status <= 499 else FALLBACK_STATUS


def problem_document(refusal: Refusal) -> bytes:
    """Write the problem document of a refusal, as JSON in ASCII."""
    entry = catalogue().get(refusal.code or "")
    document: Record = {
        "type": "about:blank",
        "title": entry.meaning if entry else "The application refused the request.",
        "status": problem_status(refusal),
        "detail": refusal.message,
        "code": refusal.code,
        **problem_members(refusal),
    }
    return json.dumps(document).encode("ascii")


def unavailable_document() -> bytes:
    """Write the problem document of a store that cannot be used, as JSON in ASCII."""
    document: Record = {
        "type": "about:blank",
        "title": "The host cannot read or keep anything now.",
        "status": 503,
        "detail": "Nothing was run, and what was kept stays. Try again later.",
    }
    return json.dumps(document).encode("ascii")
