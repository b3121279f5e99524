"""Two thousand sequences on the reference host, and never a disagreement with the model."""

import os

from hostproof.conformance.sequence_batch import run_sequences
from hostproof.conformance.sequence_stand import EmbeddedStand
from hostproof.strategies.sequence_steps import every_kind
from hostproof.strategies.thread_state import EVERY_REFUSAL
from tests.soak.scale import scaled

SEQUENCES = 2_000
AT_LEAST = 20
SEED = int(os.environ.get("HOSTPROOF_SOAK_SEED", "20250101"))


def test_sequences(capsys):
    result = run_sequences(scaled(SEQUENCES), SEED, EmbeddedStand())
    with capsys.disabled():
        print(f"\n{result.table()}")  # noqa: T201 - the table is what the run is for
    assert result.failure is None, result.failure.report()
    assert result.sequences == scaled(SEQUENCES)
    assert result.mean_length >= 6
    least = AT_LEAST if scaled(AT_LEAST) >= AT_LEAST else max(1, scaled(AT_LEAST) // 2)
    seldom = {name for name in every_kind() if result.kinds.get(name, 0) < least}
    assert seldom == set()
    seldom = {name for name in EVERY_REFUSAL if result.refusals.get(name, 0) < least}
    assert seldom == set()
