"""A hundred thousand drawn bodies against the reference host, in this process."""

import pytest

from hostproof.conformance.fuzz_result import table
from hostproof.strategies.hostile import CHANGES
from tests.conformance.fuzzing import fuzz_embedded
from tests.soak.scale import scaled

BODIES = 100_000
LEAST = 100
OWED = {change.code for change in CHANGES if change.code is not None}


@pytest.fixture(scope="module")
def result():
    return fuzz_embedded(bodies=scaled(BODIES), requests=10 * BODIES, seed=20_000)


def test_nothing_breaks_and_every_code_is_owed_often(result, capsys):
    with capsys.disabled():
        print("", *table(result), sep="\n")  # noqa: T201 - the table is what one runs it for

    assert result.reason == "bodies"
    assert result.findings == ()
    assert result.disagreements == ()
    assert result.accepted >= result.bodies / 10
    assert {code for code in OWED if result.owed.get(code, 0) < scaled(LEAST)} == set()
