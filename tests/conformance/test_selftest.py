"""The self-test: every fault is caught, the right host is not blamed, and it can fail itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.commands.serve import fault_of
from hostproof.conformance.embedded_run import embedded
from hostproof.conformance.gate import Gate
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.rule import Breach, Fault
from hostproof.conformance.selftest import selftest

if TYPE_CHECKING:
    from hostproof.conformance.recording import Recording

RULES = all_rules()


def test_every_fault_is_caught_and_the_unbroken_host_passes():
    told: list[tuple[int, int, str]] = []
    result = selftest(list(RULES.values()), lambda *one: told.append(one))
    assert [missed.fault.name for missed in result.missed] == []
    assert [(alarm.rule.id, alarm.verdict) for alarm in result.false_alarms] == []
    assert result.holds
    seeded = [fault for rule in RULES.values() for fault in rule.faults]
    assert [tried.fault for tried in result.faults] == seeded
    assert [done for done, _, _ in told] == list(range(1, len(seeded) + 2))


def test_a_rule_that_never_fails_is_reported_as_missed():
    blind = replace(RULES["reader.run-id"], judge=lambda _recording: None)
    result = selftest([blind])
    assert not result.holds
    (missed,) = result.missed
    assert (missed.rule.id, missed.verdict.verdict) == ("reader.run-id", "passed")
    assert result.false_alarms == []


def test_a_rule_that_always_fails_is_a_false_alarm():
    def always(_recording: Recording) -> Breach:
        return Breach(expected="more", seen="less")

    result = selftest([replace(RULES["reader.run-id"], judge=always)])
    assert not result.holds
    assert [alarm.verdict for alarm in result.false_alarms] == ["failed"]
    assert result.missed == []


def test_a_fault_that_breaks_nothing_is_missed():
    harmless = Fault(name="does-nothing", build=lambda parts: parts)
    result = selftest([replace(RULES["host.method"], fault=harmless)])
    assert [fault.verdict.verdict for fault in result.missed] == ["passed"]


def test_each_fault_of_a_rule_is_tried():
    harmless = Fault(name="does-nothing", build=lambda parts: parts)
    result = selftest([replace(RULES["host.method"], more_faults=(harmless,))])
    assert [tried.is_caught for tried in result.faults] == [True, False]
    assert [missed.fault.name for missed in result.missed] == ["does-nothing"]


def test_a_fault_that_breaks_everything_is_no_proof():
    """Where the control run fails too, the rule has judged nothing, and its fault is missed."""

    def build(parts):
        return replace(parts, plan=_no_plan)

    everything = Fault(name="breaks-everything", build=build)
    result = selftest([replace(RULES["host.method"], fault=everything)])
    (missed,) = result.missed
    assert missed.verdict.verdict == "inconclusive"


@pytest.mark.parametrize("fault", ["host-takes-edited-arguments", "host-acts-before-asking"])
def test_a_fault_of_the_agent_spoils_no_control_of_other_rules(fault):
    """The host with one fault is the right one in all else, so that nothing is inconclusive."""
    build = fault_of(fault).build

    async def verdicts():
        with embedded(build) as profile:
            async with opened_host(profile, Leave()) as host:
                gate = Gate(host, [one for one in RULES.values() if "named" in one.sets], "seed")
                await gate.perform()
                return gate.verdicts()

    found = asyncio.run(verdicts())
    assert [one.rule.id for one in found if one.verdict == "inconclusive"] == []


def _no_plan(*_given):
    raise RuntimeError
