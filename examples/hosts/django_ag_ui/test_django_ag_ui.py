"""What the suite says of this host: its known faults by name, and nothing else."""

from __future__ import annotations

from pathlib import Path

from examples.hosts.judged import check, judged

HERE = Path(__file__).parent
KNOWN = {
    "live.no-server-error": "HTTP 500 for a result of no call, data that is no base64, no context",
    "effect.odd-entries-run-nothing": "[no, yes] to one interrupt: the last one counts",
    "ag-ui.in-12-no-context": "HTTP 500 where context is left off",
    "ag-ui.int-06-skips-unknown-entries": "RUN_ERROR for an entry that answers nothing",
    "ag-ui.int-10-no-success-while-open": "a message while paused ends as success",
    "ag-ui.gen-01-as-the-schema-says": "a denied result has a member of its own",
}
NO_SERVER_RECORD = {
    "effect.replay-runs-nothing",
    "effect.race-runs-once",
    "effect.bound-to-its-thread",
    "effect.forged-approval-runs-nothing",
    "effect.bound-to-its-caller",
}


def test_the_known_faults_are_found_and_nothing_else(tmp_path: Path) -> None:
    check(judged(HERE, "hostproof.toml", tmp_path), KNOWN, NO_SERVER_RECORD)
