"""
The self-test: each seeded fault is caught by its rule, and the unbroken host passes everything.

Source: docs/verdicts.md, "Proof that each check can fail".
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.conformance.embedded_run import embedded
from hostproof.conformance.gate import Gate
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.target import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.rule import Fault, Rule, StyledBuild
    from hostproof.conformance.verdict import RuleVerdict

FAULTY_LIMITS: Final = Limits(
    deadline_seconds=4.0, head_seconds=3.0, max_bytes=1_000_000, grace_seconds=0.3
)
"""Limits for a host that is broken on purpose: nothing of ours takes this long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultResult:
    """
    What a rule said of the host with a fault of its own.

    Attributes:
        rule: the rule.
        fault: the fault.
        verdict: its verdict; ``failed`` means that the fault is caught.
    """

    rule: Rule
    fault: Fault
    verdict: RuleVerdict

    @property
    def is_caught(self) -> bool:
        """Whether the rule found its fault."""
        return self.verdict.verdict == "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelftestResult:
    """What the self-test found: the unbroken host's verdicts, and every fault's."""

    unbroken: tuple[RuleVerdict, ...]
    faults: tuple[FaultResult, ...]

    @property
    def false_alarms(self) -> list[RuleVerdict]:
        """Rules that did not pass the unbroken host."""
        return [verdict for verdict in self.unbroken if verdict.verdict != "passed"]

    @property
    def missed(self) -> list[FaultResult]:
        """Faults that their rule did not find."""
        return [result for result in self.faults if not result.is_caught]

    @property
    def holds(self) -> bool:
        """Whether every fault is caught and the unbroken host passes."""
        return not self.false_alarms and not self.missed


def selftest(
    rules: Sequence[Rule], progress: Callable[[int, int, str], None] = lambda *_told: None
) -> SelftestResult:
    """
    Run the gate on the unbroken host, then each rule on the host with each of its faults.

    What the reference breaks by design is tried on the variant that keeps it, and what
    it cannot be judged by on the styled host.
    """
    seeded = [(rule, fault) for rule in rules for fault in rule.faults]
    total = len(seeded) + 1
    kept = [rule for rule in rules if rule.fault.mended is None and rule.fault.styled is None]
    with embedded() as profile:
        unbroken = asyncio.run(_verdicts(profile, kept, frozenset(), None))
    for rule in rules:
        if rule not in kept:
            with _right_for(rule) as profile:
                unbroken += asyncio.run(_verdicts(profile, [rule], rule.fault.shows_in, None))
    progress(1, total, "the unbroken host")
    results = []
    for at, (rule, fault) in enumerate(seeded):
        with _broken_by(fault) as profile:
            (verdict,) = asyncio.run(_verdicts(profile, [rule], fault.shows_in, FAULTY_LIMITS))
        results.append(FaultResult(rule=rule, fault=fault, verdict=verdict))
        progress(at + 2, total, fault.name)
    return SelftestResult(unbroken=tuple(unbroken), faults=tuple(results))


def _right_for(rule: Rule) -> AbstractContextManager[Profile]:
    """Serve the host that keeps a rule."""
    return embedded(rule.fault.mended) if rule.fault.styled is None else _styled(None)


def _broken_by(fault: Fault) -> AbstractContextManager[Profile]:
    """Serve the host with a fault."""
    return embedded(fault.build) if fault.styled is None else _styled(fault.styled)


def _styled(fault: StyledBuild | None) -> AbstractContextManager[Profile]:
    """Serve the styled host in its usual style; what it needs is there, or nothing is served."""
    from hostproof.conformance.styled_run import styled  # noqa: PLC0415
    from hostproof.reference_impl.styled_setup import StyledSetup  # noqa: PLC0415

    return styled(StyledSetup(), fault)


async def _verdicts(
    profile: Profile, rules: Sequence[Rule], only: frozenset[str], limits: Limits | None
) -> list[RuleVerdict]:
    async with opened_host(profile, Leave(), limits=limits) as host:
        gate = Gate(host, list(rules), "selftest", only=only)
        await gate.perform()
        return gate.verdicts()
