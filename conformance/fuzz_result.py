"""What a fuzz run gives: counts, and the findings with the exact bytes that showed them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from hostproof.conformance.outcome import Accepted, Refused
from hostproof.reference_impl.refusals import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.outcome import Outcome
    from hostproof.conformance.recording import Owed
    from hostproof.conformance.rule import Breach
    from hostproof.strategies.drawn import DrawnCase

StopReason: TypeAlias = Literal["bodies", "seconds", "requests", "interrupted", "unreachable"]
"""
Why a run ended: so many bodies were sent; the time was over; the profile's
number of requests was used up; somebody interrupted it; or the host was gone.
"""

ACCEPTED: Final = "accepted"
UNDECIDED: Final = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzFinding:
    """
    A rule broken by a drawn body, as small as it could be made.

    Attributes:
        rule: the rule's id; ``None`` where our own reference disagrees with
            what a change owes by construction, which is our fault and not the host's.
        breach: what was expected and what was seen.
        case: the drawn case; its ``repr`` says what was drawn.
        owed: what the body owed by the contract, or ``None``.
        request: the request, with its exact bytes.
        exchange: what came back.
        before: the exchange that paused the thread, or ``None``.
        after: a good request afterwards, where that showed it.
        seed: of the batch that found it.
        steady: whether it showed each time the case was sent.
        crash: the type and place of an exception the host did not handle, or "".
    """

    rule: str | None
    breach: Breach
    case: DrawnCase
    owed: Owed | None
    request: Request
    exchange: Exchange
    before: Exchange | None = None
    after: Exchange | None = None
    seed: int = 0
    steady: bool = True
    crash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzResult:
    """
    What a fuzz run found, and how much it tried.

    Attributes:
        seed: what every draw came from.
        reason: why it ended.
        seconds: how long it took.
        bodies: how many drawn bodies were sent and judged, shrinking not counted.
        accepted: how many of these ended in a run.
        kinds: how many there were of each kind of case.
        constructed: what was owed by construction: codes, or ``accepted``.
        owed: the same, and what the reference decided; ``undecided`` for the rest.
        seen: what came: codes, ``accepted``, a status, or a way to break.
        areas: how many there were of each area of the tables.
        judged: how many were judged by each rule, by its id.
        findings: the rules that broke, in the order in which they were found.
        disagreements: where our reference and a change's own expectation differ.
        unprepared: situations that could not be brought about, and why.
        throttled: how many bodies were not judged because the host asked to slow down.
        requests: how many requests were sent in all.
    """

    seed: int
    reason: StopReason
    seconds: float
    bodies: int
    accepted: int
    kinds: Mapping[str, int]
    constructed: Mapping[str, int]
    owed: Mapping[str, int]
    seen: Mapping[str, int]
    areas: Mapping[str, int]
    judged: Mapping[str, int]
    findings: tuple[FuzzFinding, ...]
    disagreements: tuple[FuzzFinding, ...]
    unprepared: Mapping[str, str]
    throttled: int
    requests: int


@dataclass(slots=True)
class Tally:
    """Counts while a run goes on."""

    bodies: int = 0
    accepted: int = 0
    throttled: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    constructed: Counter[str] = field(default_factory=Counter)
    owed: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    areas: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)

    def count(
        self, case: DrawnCase, owed: Owed | None, outcome: Outcome, judged_by: Iterable[str]
    ) -> None:
        """Count one judged body, and the rules that judged it."""
        self.judged.update(judged_by)
        self.bodies += 1
        self.accepted += isinstance(outcome, Accepted)
        self.kinds[case.kind] += 1
        self.seen[seen_name(outcome)] += 1
        self.owed[UNDECIDED if owed is None else owed.code or ACCEPTED] += 1
        if case.owed is not None:
            self.constructed[case.owed.code or ACCEPTED] += 1
        if case.area:
            self.areas[case.area] += 1


def seen_name(outcome: Outcome) -> str:
    """Name what came of a request, for counting."""
    if isinstance(outcome, Accepted):
        return ACCEPTED
    if isinstance(outcome, Refused):
        return outcome.code or f"HTTP {outcome.status}"
    return outcome.kind


def table(result: FuzzResult) -> list[str]:
    """Write the counts as lines: what was owed, how often by construction, and what was seen."""
    known = [ACCEPTED, *catalogue()]
    counted = [*result.owed, *result.seen]
    others = [name for name in dict.fromkeys(counted) if name not in known]
    names = [name for name in (*known, *others) if name in counted]
    width = max(map(len, names), default=0)
    lines = [f"{'':{width}}  {'owed':>7}  {'by construction':>15}  {'seen':>7}"]
    lines += [
        f"{name:{width}}  {result.owed.get(name, 0):7d}  "
        f"{result.constructed.get(name, 0):15d}  {result.seen.get(name, 0):7d}"
        for name in names
    ]
    rate = result.bodies / result.seconds if result.seconds else 0.0
    share = 100 * result.accepted / result.bodies if result.bodies else 0.0
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(result.kinds.items()))
    lines.append(
        f"{result.bodies} bodies ({kinds}) in {result.seconds:.1f} s, {rate:.0f} a second; "
        f"{share:.1f} % accepted; ended by {result.reason}; seed {result.seed}"
    )
    lines.append(
        f"{len(result.findings)} findings, {len(result.disagreements)} disagreements "
        "between a change and the reference"
    )
    return lines
