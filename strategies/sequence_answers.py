"""
What the answers of a sequence hold, by name, and how each reads to a gate and to a question.

How a payload reads is stated with it, so it is right by construction: nothing
here asks what the reference implementation makes of it.

Source: contract, "Door" (docs/contract.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from hostproof.reference_impl.values import MISSING, Json, Missing, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

Reads = Literal["yes", "no", "none"]
"""To a consent gate: a decision that says yes, one that says no, no decision at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """
    One payload.

    Attributes:
        value: what is sent; ``MISSING`` for an entry without a payload.
        reads: what it is to a consent gate.
    """

    value: Json | Missing
    reads: Reads = "none"

    @property
    def says_something(self) -> bool:
        """Whether it is a value, which a plain question asks for."""
        return self.value is not MISSING and self.value is not None


def _yes(**members: Json) -> Record:
    return {"approved": True, "by": "ann"} | members


PAYLOADS: Final[Mapping[str, Payload]] = MappingProxyType(
    {
        "yes": Payload(value=_yes(), reads="yes"),
        "no": Payload(value={"approved": False, "by": "ann", "note": "not now"}, reads="no"),
        "yes-with-more": Payload(
            value=_yes(by="bert", note="go", at=1, arguments={"amount": 1}), reads="yes"
        ),
        "no-by-nobody": Payload(value={"approved": False, "by": ""}, reads="no"),
        "missing": Payload(value=MISSING),
        "null": Payload(value=None),
        "true": Payload(value=True),
        "one": Payload(value=1),
        "zero": Payload(value=0),
        "false": Payload(value=False),
        "text-true": Payload(value="true"),
        "text": Payload(value="yes, please go on"),
        "empty-text": Payload(value=""),
        "empty-object": Payload(value={}),
        "empty-list": Payload(value=[]),
        "list-of-yes": Payload(value=[_yes()]),
        "yes-inside": Payload(value={"decision": _yes()}),
        "text-of-yes": Payload(value='{"approved": true, "by": "ann"}'),
        "approved-text": Payload(value=_yes(approved="true")),
        "approved-one": Payload(value=_yes(approved=1)),
        "approved-null": Payload(value=_yes(approved=None)),
        "approved-by-nobody": Payload(value={"approved": True}),
        "approved-by-null": Payload(value=_yes(by=None)),
        "approved-by-number": Payload(value=_yes(by=7)),
        "other-case": Payload(value={"Approved": True, "By": "ann"}),
    }
)
"""Payloads by name, the simplest first."""

RequestName = Literal[
    "absent", "right", "null", "empty", "number", "object", "forged", "earlier",
    "other-thread", "other-caller",
]  # fmt: skip
"""
What a decision names as its request: nothing, which the host fills in; that of
the newest pause; a value of a wrong type; an invented one; that of another pause.
"""

REQUEST_NAMES: Final[tuple[RequestName, ...]] = get_args(RequestName)

UNNAMED: Final[Mapping[str, Json]] = MappingProxyType(
    {"null": None, "empty": "", "number": 7, "object": {"id": "r"}}
)
"""Request ids that name none."""

ArtifactName = Literal["absent", "right", "other", "number", "null"]
"""
What a decision says it was chosen from: nothing; the data that the question was
asked about; other data; values that are no reference.
"""

ARTIFACTS: Final[tuple[ArtifactName, ...]] = get_args(ArtifactName)
STALE: Final[ArtifactName] = "other"
"""The artifact that is another than the one asked about."""
