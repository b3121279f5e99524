"""The benchmarks run; how fast anything is, is for them to say, and no test's business."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_the_gates_benchmark_sends_what_the_gate_sends(tmp_path):
    """Races and control requests too: all that is sent passes through it."""
    found = tmp_path / "figures.json"
    subprocess.run(
        [sys.executable, BENCHMARKS / "gate_speed.py", "--rounds", "1", "--json", found],
        check=True,
        capture_output=True,
        timeout=300,
    )
    figures = json.loads(found.read_text())
    assert figures
    assert "requests" in json.dumps(figures)
