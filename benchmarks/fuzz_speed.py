"""
How many bodies are drawn in a second, and how many are fuzzed against the reference host.

    python benchmarks/fuzz_speed.py [--rounds N] [--json FILE]

Drawn: Hypothesis draws a case and its bytes are written. Fuzzed: it is sent to
the reference host in this process, judged by construction, by the reference
and by the safety rules. Each round is timed by itself and the median is given;
the first, in which everything is built, is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from hostproof.conformance.asgi_target import AsgiTarget
from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.embedded_profile import embedded_profile
from hostproof.conformance.fuzz import BATCH, Fuzz
from hostproof.conformance.host_under_test import HostUnderTest
from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.target import Limits
from hostproof.reference_impl.embedded import build_host
from hostproof.strategies.fuzzed import fuzzed_bodies
from hostproof.strategies.hostile import changed_bodies, several_changes, valid_bodies
from hostproof.strategies.raw import raw_bodies

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from hostproof.strategies.drawn import DrawnCase

SLOTS = {
    "thread": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "run": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "plain": "hostproof: say n0123456789",
    "canary": "hp0123456789abcdef00",
    "interrupt": "interrupt-0123456789abcdef01234567",
    "call": "call-0123456789abcdef01234567",
}
KINDS = {
    "every kind": fuzzed_bodies,
    "valid": valid_bodies,
    "one change": changed_bodies,
    "several changes": several_changes,
    "below the value": raw_bodies,
}


def draw(cases: SearchStrategy[DrawnCase], seed: int) -> tuple[int, int]:
    """Draw one batch; give the number of bodies and of their bytes."""
    drawn = written = 0

    @hypothesis.seed(seed)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def one(case: DrawnCase) -> None:
        nonlocal drawn, written
        drawn += 1
        written += len(case.text(SLOTS))

    one()
    return drawn, written


def drawing(cases: SearchStrategy[DrawnCase], rounds: int) -> dict[str, float]:
    """Time the drawing of so many batches."""
    rates: list[float] = []
    sizes: list[float] = []
    for seed in range(rounds + 1):
        started = time.perf_counter()
        drawn, written = draw(cases, seed)
        rates.append(drawn / (time.perf_counter() - started))
        sizes.append(written / drawn)
    return {"per_second": statistics.median(rates[1:]), "bytes": statistics.median(sizes[1:])}


def fuzzing(rounds: int) -> dict[str, float]:
    """Time so many runs of one batch against the reference host."""
    rates: list[float] = []
    for seed in range(rounds + 1):
        host = build_host(inspect=True)
        profile = embedded_profile("http://127.0.0.1", host.tokens)
        profile = replace(profile, limits=replace(profile.limits, requests=100 * BATCH))
        target = AsgiTarget(host.app, path="/agui")
        under_test = HostUnderTest(target, profile, Limits())
        rules = list(all_rules().values())
        fuzz = Fuzz(under_test, rules, Identifiers(str(seed)), seed=seed, bodies=BATCH)
        with asyncio.Runner() as runner:
            result = fuzz.run(runner)
            runner.run(target.aclose())
        host.close()
        assert not result.findings, result.findings
        rates.append(result.bodies / result.seconds)
    return {"per_second": statistics.median(rates[1:])}


def main() -> int:
    """Measure, print the table, and write the figures where asked."""
    parser = argparse.ArgumentParser(description="Time the drawing and fuzzing of bodies.")
    parser.add_argument("--rounds", type=int, default=7, help="batches to time")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    given_arguments = parser.parse_args()
    rounds = given_arguments.rounds
    figures = {f"drawn: {name}": drawing(cases(), rounds) for name, cases in KINDS.items()}
    figures["fuzzed against the reference"] = fuzzing(rounds)
    width = max(map(len, figures))
    for name, figure in figures.items():
        size = f"{figure['bytes']:10.0f} bytes each" if "bytes" in figure else ""
        print(f"{name:{width}}  {figure['per_second']:7.0f} a second{size}")
    if given_arguments.json is not None:
        given_arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
