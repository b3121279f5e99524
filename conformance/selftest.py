"""
The self-test: each seeded fault is caught by its rule, and the unbroken host passes everything.

Source: docs/verdicts.md, "Proof that each check can fail".
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.conformance.embedded_run import embedded
from hostproof.conformance.gate import Gate, RuleVerdict
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.target import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.rule import Rule, StyledBuild

FAULTY_LIMITS: Final = Limits(
    deadline_seconds=1.0, head_seconds=0.5, max_bytes=1_000_000, grace_seconds=0.3
)
"""Limits for a host that is broken on purpose: nothing of ours takes this long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultResult:
    """
    What a rule said of the host with its own fault.

    Attributes:
        rule: the rule.
        verdict: its verdict; ``failed`` means that the fault is caught.
    """

    rule: Rule
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
    Run the gate on the unbroken host, then each rule on the host with its fault.

    What the reference breaks by design is tried on the variant that keeps it, and what
    it cannot be judged by on the styled host.
    """
    total = len(rules) + 1
    kept = [rule for rule in rules if rule.fault.mended is None and rule.fault.styled is None]
    with embedded() as profile:
        unbroken = asyncio.run(_verdicts(profile, kept, frozenset(), None))
    for rule in rules:
        if rule not in kept:
            with _right_for(rule) as profile:
                unbroken += asyncio.run(_verdicts(profile, [rule], rule.fault.shows_in, None))
    progress(1, total, "the unbroken host")
    results = []
    for at, rule in enumerate(rules):
        with _wrong_for(rule) as profile:
            (verdict,) = asyncio.run(_verdicts(profile, [rule], rule.fault.shows_in, FAULTY_LIMITS))
        results.append(FaultResult(rule=rule, verdict=verdict))
        progress(at + 2, total, rule.fault.name)
    return SelftestResult(unbroken=tuple(unbroken), faults=tuple(results))


def _right_for(rule: Rule) -> AbstractContextManager[Profile]:
    """Serve the host that keeps a rule."""
    return embedded(rule.fault.mended) if rule.fault.styled is None else _styled(None)


def _wrong_for(rule: Rule) -> AbstractContextManager[Profile]:
    """Serve the host with a rule's fault."""
    wrong = rule.fault.styled
    return embedded(rule.fault.build) if wrong is None else _styled(wrong)


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
