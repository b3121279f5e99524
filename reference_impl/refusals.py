"""
The catalogue of refusals, and the exception that carries one.

The catalogue is data (``refusals.json``, described by ``refusals.schema.json``):
every code of the contract with its status, its meaning, where it is decided
and where the demand comes from. A code is never reused.

Source: contract, "Refusals" (docs/contract.md).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Decided = Literal["host", "reader", "plan", "door"]
"""Where a code is decided, in the order in which a host decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """
    One named no.

    Attributes:
        code: the stable name, ``ERR_...``.
        status: the HTTP status it is answered with before the stream has begun.
        meaning: what was wrong, in one sentence.
        decided: which step of a host decides it.
        source: document and clause the demand comes from.
        reasons: the closed list of reasons it may carry, with their meanings.
    """

    code: str
    status: int
    meaning: str
    decided: Decided
    source: str
    reasons: Mapping[str, str]


@cache
def catalogue() -> Mapping[str, CatalogueEntry]:
    """Read the catalogue: code to entry, in the order in which a host decides."""
    document = json.loads(_package_text("refusals.json"))
    return MappingProxyType(
        {
            row["code"]: CatalogueEntry(
                code=row["code"],
                status=row["status"],
                meaning=row["meaning"],
                decided=row["decided"],
                source=row["source"],
                reasons=MappingProxyType(dict(row.get("reasons", {}))),
            )
            for row in document["refusals"]
        }
    )


def catalogue_schema() -> dict[str, Any]:
    """Read the JSON Schema that the catalogue's file keeps."""
    schema: dict[str, Any] = json.loads(_package_text("refusals.schema.json"))
    return schema


def _package_text(name: str) -> str:
    return files("hostproof.reference_impl").joinpath(name).read_text(encoding="utf-8")


class Refusal(Exception):  # noqa: N818 - the field's own word; a refusal is an answer, no error
    """
    A named no: what is refused, never the value that was refused.

    The caller can change the field named and ask again; nothing was run and
    nothing was kept.

    Attributes:
        code: a code of the catalogue, an application's own, or ``None`` where
            the contract names no code (typed asks).
        status: the HTTP status, or ``None`` where there is no code.
        field: the member refused, as a path (``messages[0].id``), or ``None``.
        reason: one of the code's reasons, or ``None``.
        properties: names of properties that were not asked. They come from
            outside, so no text and no wire may carry them.
        members: further facts a problem document carries (``gate``, ``tool``,
            ``middleware``, ``received``, ``toolCallId``).
    """

    def __init__(
        self,
        code: str | None,
        status: int | None,
        message: str,
        *,
        field: str | None = None,
        reason: str | None = None,
        properties: tuple[str, ...] = (),
        members: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code: Final = code
        self.status: Final = status
        self.field: Final = field
        self.reason: Final = reason
        self.properties: Final = properties
        self.members: Final[Mapping[str, str]] = MappingProxyType(dict(members or {}))

    @property
    def message(self) -> str:
        """The sentence for a person; it quotes nothing that was sent."""
        return str(self.args[0])


def refuse(
    code: str,
    message: str,
    *,
    field: str | None = None,
    reason: str | None = None,
    members: Mapping[str, str] | None = None,
) -> Refusal:
    """
    Make a refusal of the catalogue; the status is the catalogue's.

    Raises:
        KeyError: *code* or *reason* is not in the catalogue.
    """
    entry = catalogue()[code]
    if reason is not None and reason not in entry.reasons:
        raise KeyError(f"{code} has no reason {reason!r}")
    return Refusal(code, entry.status, message, field=field, reason=reason, members=members)


def malformed(field: str | None, message: str) -> Refusal:
    """Refuse the request's shape, naming the *field*."""
    return refuse("ERR_INVALID_RUN_INPUT", message, field=field)
