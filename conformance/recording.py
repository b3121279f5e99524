"""
What happened when a case was performed: the exchanges that rules read.

Source: docs/verdicts.md, "How a case is judged".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange

CaseKind: TypeAlias = Literal["body", "wire", "run"]
"""A change to the body's value; a change below it; a plain run, with nothing changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """
    What an answer is owed by the contract.

    Attributes:
        code: the refusal's code; ``None`` where the request is to be accepted.
        status: its HTTP status; 200 where it is to be accepted.
        field: the member it names, or ``None``.
    """

    code: str | None
    status: int
    field: str | None = None

    def describe(self) -> str:
        """Say it in words."""
        if self.code is None:
            return "accepted (a run that finishes)"
        named = "" if self.field is None else f", field {self.field}"
        return f"refused (HTTP {self.status}, {self.code}{named})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    What a rule may know of a case beside its exchanges.

    Attributes:
        id: the case's name.
        area: what it is about.
        kind: where it changes something.
        situation: where the thread stands before it.
        endpoint: which agent it is sent to.
        owed: what the contract owes it.
        canary: the marker in every hostile value of it.
    """

    id: str
    area: str
    kind: CaseKind
    situation: str
    endpoint: str
    owed: Owed
    canary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """
    One performed case.

    Attributes:
        case: what was done.
        control: the accepted request that the change starts from, performed on
            a thread of its own; ``None`` where the case is itself a good run.
        changed: the answers to the request with its one change; usually one.
        after: a good request on the same thread afterwards, or ``None`` where
            none makes sense.
        unprepared: why the situation could not be brought about, or ``""``.
        throttled: whether the host asked us to slow down (429).
    """

    case: Facts
    control: Exchange | None = None
    changed: tuple[Exchange, ...] = ()
    after: Exchange | None = None
    unprepared: str = ""
    throttled: bool = False

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Every exchange, in the order in which it was made."""
        parts = (self.control, *self.changed, self.after)
        return tuple(part for part in parts if part is not None)
