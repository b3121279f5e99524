"""
A rule: one thing a host must do, with its source, how it is judged, and its seeded faults.

A rule is a function over one recording, declared where it stands; the faults
that break it stand beside it. Everything else (the docs, the reports, the
self-test, the coverage) is made from the declaration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from hostproof.conformance.recording import Facts, Recording

if TYPE_CHECKING:
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.styled_parts import StyledParts

Level = Literal["must", "should", "guide"]
Severity = Literal["low", "medium", "high", "critical"]
RuleSet = Literal["safety", "ag-ui", "named"]

RULE_SETS: Final[tuple[RuleSet, ...]] = ("safety", "named", "ag-ui")
RULESET_VERSION: Final = "0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a demand comes from: a *document*, and the *clause* in it."""

    document: str
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """
    A rule broken, as seen in one recording.

    Attributes:
        expected: what the rule demands here.
        seen: what the host did.
        place: where in the answer it was seen, or ``None``.
        ran: whether something has run that must not have: no 429 on the way excuses that.
    """

    expected: str
    seen: str
    place: str | None = None
    ran: bool = False


@dataclass(frozen=True, slots=True)
class Unseen:
    """A rule that one recording cannot show to hold or to be broken: *what* would be needed."""

    what: str


Judge: TypeAlias = Callable[[Recording], Breach | Unseen | None]
"""Reads one recording; gives the breach, what it lacks, or ``None`` where the rule holds."""

Build: TypeAlias = "Callable[[HostParts], HostParts]"
StyledBuild: TypeAlias = "Callable[[StyledParts], StyledParts]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """
    A variant of the right host with one rule broken.

    Attributes:
        name: what it does wrong.
        build: replaces parts of the right host; ``None`` where it is the styled host's.
        shows_in: cases in which it shows; empty means all of the rule's.
        mended: for a rule that the right host breaks by design, the variant that
            keeps it; the fault is then the right host as it is.
        styled: for a rule that the right host cannot be judged by (it asks one thing at
            a time), what replaces parts of the right styled host.
    """

    name: str
    build: Build | None = None
    shows_in: frozenset[str] = frozenset()
    mended: Build | None = None
    styled: StyledBuild | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """
    One rule.

    Attributes:
        id: its stable id.
        title: what it is about, in a few words.
        demand: what a host must do, in one sentence.
        source: where that is demanded.
        sets: the rule sets it counts in.
        level: how hard the demand is.
        severity: how bad a breach is.
        cwe: the weakness a breach is an instance of, or ``None``.
        applies: chooses its cases.
        judge: judges one recording.
        on_control: whether it judges even where the control run failed.
        on_unasked: whether it judges even where the situation was not brought about, since a
            guarded action ran where the host was to ask.
        contractual: whether its answer hangs on the facts an endpoint declares.
        fault: its first seeded fault.
        more_faults: others that break it, each in a way of its own.
    """

    id: str
    title: str
    demand: str
    source: Source
    sets: frozenset[RuleSet]
    level: Level
    severity: Severity
    cwe: int | None
    applies: Callable[[Facts], bool]
    judge: Judge
    fault: Fault
    on_control: bool = False
    on_unasked: bool = False
    contractual: bool = False
    more_faults: tuple[Fault, ...] = ()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Every seeded fault of it."""
        return (self.fault, *self.more_faults)
