"""Every case on every legal combination of pause, answer, history and effects, and every fault."""

from __future__ import annotations

import pytest

from hostproof.conformance.styled_faults import SEEDED
from hostproof.conformance.styled_run import styled
from tests.conformance.test_styles import LEGAL, RULES, expected, named, passed, verdicts_of, wrong
from tests.soak.scale import scaled

EVERY = max(len(LEGAL) // scaled(len(LEGAL)), 1)
"""One combination of so many is tried."""


@pytest.mark.parametrize("setup", LEGAL[::EVERY], ids=named)
def test_a_right_host_of_any_style_passes_every_case(setup):
    with styled(setup) as profile:
        verdicts = verdicts_of(profile)
    assert wrong(verdicts) == {}
    assert expected(setup) - passed(verdicts) == set()


@pytest.mark.parametrize("fault", SEEDED, ids=lambda fault: fault.name)
def test_a_fault_is_found_among_all_cases_of_its_rule(fault):
    with styled(fault.setups[0], fault.build) as profile:
        verdicts = verdicts_of(profile, [RULES[fault.rule]])
    assert verdicts[fault.rule].verdict == "failed"
