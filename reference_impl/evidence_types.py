"""
The shapes of check-in evidence, and what scorers and assemblers are handed.

Evidence is plain JSON under the contract's own names. What is handed to a
scorer or an assembler is a frozen value.

Source: contract, "Check-in" (docs/contract.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, Protocol, TypedDict

from hostproof.reference_impl.values import MISSING, Json, Record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence


class ContextUnit(TypedDict):
    """One piece of what the run has read; *channel* is ``system``, ``task`` or ``result``."""

    id: str
    channel: str
    text: str


class Driver(ContextUnit):
    """A unit with its *score*: how much it drove the choice of this tool, from 0 to 1."""

    score: float


class Frame(TypedDict):
    """A unit in short: a *summary* of at most 160 UTF-16 code units."""

    channel: str
    summary: str


class TrailCall(TypedDict):
    """A tool that was run, and whether its result reads as ok."""

    name: str
    ok: bool


class Trail(TypedDict):
    """The run so far. *iteration* is as the host gave it, and off where it gave none."""

    iteration: NotRequired[Json]
    toolCalls: list[TrailCall]
    summary: str


class Evidence(TypedDict):
    """What a person is shown with the ask: always what the call will do, the rest where built."""

    willDo: str
    read: NotRequired[list[Frame]]
    drivers: NotRequired[list[Driver]]
    trail: NotRequired[Trail]


class CancelSignal(Protocol):
    """Says whether the run was cancelled. It is handed on, and read by nobody here."""

    @property
    def cancelled(self) -> bool:
        """Whether whoever is working for the run should stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """The tool that is asked about: its *name*, and its *description* for a person."""

    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolText:
    """The tool as a scorer sees it: its *name*, and name, description and arguments as *text*."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceInput:
    """
    What an assembler works from.

    Attributes:
        tool: the tool that is asked about.
        args: the call's arguments, plain or a frozen copy.
        iteration: the run's iteration, counted from 1; :data:`MISSING` where it is not known.
        history: the conversation so far, oldest first: messages with ``role``,
            ``content``, and for a tool's result ``toolName`` and ``notDispatched``.
        signal: the run's cancel signal, or ``None``.
    """

    tool: Tool
    args: Mapping[str, Json]
    iteration: Json = MISSING
    history: Sequence[Record] = ()
    signal: CancelSignal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerInput:
    """What a scorer ranks: *units* against the *tool*; *signal* is the run's, or ``None``."""

    tool: ToolText
    units: Sequence[ContextUnit]
    signal: CancelSignal | None = None


class Scorer(Protocol):
    """Ranks units by how much they drove the choice of the tool, at once or awaited."""

    def __call__(self, given: ScorerInput, /) -> list[Driver] | Awaitable[list[Driver]]:
        """Answer the drivers, the strongest first."""


class Assembler(Protocol):
    """Builds evidence, at once or awaited; it may call the *scorer* it is handed."""

    def __call__(self, given: EvidenceInput, scorer: Scorer, /) -> Evidence | Awaitable[Evidence]:
        """Answer the evidence, as plain JSON."""
