"""What the suite says of this host: its known faults by name, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.hosts.judged import check, judged

HERE = Path(__file__).parent
BOTH = {
    "live.no-cut-answer": "a lone surrogate, or forwardedProps as text: the connection drops",
    "effect.race-runs-once": "answers at once run the call once each",
    "leak.body": "a 422 repeats the value that it refuses",
    "leak.exception-text": "a state that is a text: RUN_ERROR with Python's words",
    "leak.amplification": "200 kB are answered with over 2 MB",
    "ag-ui.in-04-takes-unknown-parts": "422 for a content part of an unknown type",
    "ag-ui.ver-01-declares-its-version": "no protocolVersion",
    "ag-ui.state-01-whole-snapshots": "runs at once: a snapshot without what was streamed",
    "ag-ui.pass-02-prefixed-names": "a CUSTOM event with a bare name",
    "ag-ui.tr-03-ends-cleanly": "the dropped connections above",
}
KNOWN = {
    "hostproof.toml": BOTH
    | {
        "ag-ui.int-01-says-it-is-interrupted": "a pause is a CUSTOM event, and the run a success",
        "ag-ui.int-10-no-success-while-open": "a request without an answer ends as success",
    },
    "outcome.toml": BOTH
    | {
        "effect.odd-entries-run-nothing": "one entry is applied whatever interrupt it names",
        "effect.several-at-once": "an answer to two questions at once gives RUN_ERROR",
    },
}


@pytest.mark.parametrize("profile", KNOWN)
def test_the_known_faults_are_found_and_nothing_else(profile: str, tmp_path: Path) -> None:
    run = judged(HERE, profile, tmp_path)

    check(run, KNOWN[profile])
    cases = run.cases("leak.exception-text")
    assert "state-text" in cases
    assert ("check_in-answered-nothing" in cases) == (profile == "outcome.toml")
