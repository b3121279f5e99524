"""What the suite says of this host: its known faults by name, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.hosts.judged import check, judged

HERE = Path(__file__).parent
BOTH = {
    "effect.odd-entries-run-nothing": "[no, yes] to one interrupt: the last one counts",
    "leak.body": "a 422 repeats the value that it refuses",
    "leak.event": "RUN_ERROR repeats an interrupt's id",
    "ag-ui.int-06-skips-unknown-entries": "RUN_ERROR for an entry that answers nothing",
    "ag-ui.int-10-no-success-while-open": "a message while paused ends as success",
}
KNOWN = {
    "hostproof.toml": BOTH
    | {"live.no-server-error": "HTTP 500 for a result of no call, and for data that is no base64"},
    "kept.toml": BOTH
    | {
        "effect.race-runs-once": "answers at once run the call once each",
        "pause.survives-an-answer": "after a message while paused the yes is refused",
        "ag-ui.int-08-silence-abandons-nothing": "the same, by the specification",
        "ag-ui.int-09-refuses-or-asks-again": "an answer to one of two begins a run and fails",
        "ag-ui.pass-02-prefixed-names": "a CUSTOM event with a bare name",
    },
}
NO_SERVER_RECORD = {
    "effect.replay-runs-nothing",
    "effect.race-runs-once",
    "effect.bound-to-its-thread",
    "effect.forged-approval-runs-nothing",
}
WAIVED = {"hostproof.toml": NO_SERVER_RECORD, "kept.toml": set[str]()}


@pytest.mark.parametrize("profile", KNOWN)
def test_the_known_faults_are_found_and_nothing_else(profile: str, tmp_path: Path) -> None:
    run = judged(HERE, profile, tmp_path)

    check(run, KNOWN[profile], WAIVED[profile])
    if profile == "hostproof.toml":
        assert "history-tool" in run.cases("live.no-server-error")
