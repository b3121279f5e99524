"""
Judgements that rules share: the refusal that is owed, and a run that is accepted.

Pure: each reads one recording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.rule import Breach

if TYPE_CHECKING:
    from hostproof.conformance.recording import Recording


def owed_refusal(recording: Recording) -> Breach | None:
    """Demand the refusal that the case owes: its status, its code and its field."""
    owed = recording.case.owed
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        right = (
            isinstance(outcome, Refused)
            and not outcome.in_stream
            and (outcome.status, outcome.code) == (owed.status, owed.code)
            and (outcome.field == owed.field or recording.case.kind == "wire")
        )
        # A HEAD has no body to name the code in.
        if exchange.request.method == "HEAD" and isinstance(outcome, Refused):
            right = outcome.status == owed.status
        if not right:
            return Breach(expected=owed.describe(), seen=outcome.describe())
    return None


def accepted(recording: Recording) -> Breach | None:
    """Demand a run that finishes."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return Breach(expected=recording.case.owed.describe(), seen=outcome.describe())
    return None
