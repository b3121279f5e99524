"""What the suite says of this host: its known faults by name, and nothing else."""

from __future__ import annotations

from pathlib import Path

from examples.hosts.judged import check, judged

HERE = Path(__file__).parent
KNOWN = {
    "live.no-server-error": "HTTP 500 for 10 000 levels of brackets",
    "live.no-cut-answer": "a lone surrogate in an id: 200, and no byte",
    "leak.exception-text": "a failure inside is told in Python's words",
    "ag-ui.meta-03-takes-metadata": "RUN_ERROR for a tool with metadata",
    "ag-ui.tr-03-ends-cleanly": "the answer without a byte, above",
}


def test_the_known_faults_are_found_and_nothing_else(tmp_path: Path) -> None:
    run = judged(HERE, "hostproof.toml", tmp_path)

    check(run, KNOWN)
    assert {"lone-surrogate-in-threadId", "lone-surrogate-in-runId"} <= run.cases(
        "live.no-cut-answer"
    )
