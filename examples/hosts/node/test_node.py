"""What the suite says of this host: its known faults by name, and nothing else."""

from __future__ import annotations

from pathlib import Path

from examples.hosts.judged import check, judged

HERE = Path(__file__).parent
KNOWN = {
    "leak.event": "RUN_ERROR repeats an interrupt's id",
    "leak.exception-text": "a call without a function: JavaScript's words",
    "ag-ui.first-event": "a result before RUN_STARTED",
    "ag-ui.life-07-silent-after-the-end": "RUN_FINISHED after each turn of the model, then more",
    "ag-ui.in-01-refuses-invalid-input": "calls in the history are not checked",
    "ag-ui.tool-04-skips-media-in-results": "400 for a result that is a list of parts",
    "ag-ui.in-12-no-tools": "400 where tools is left off",
    "ag-ui.in-12-no-context": "400 where context is left off",
    "ag-ui.ver-01-declares-its-version": "no protocolVersion",
    "ag-ui.int-06-skips-unknown-entries": "refuses an entry that answers nothing",
    "ag-ui.tool-06-page-calls-are-no-interrupt": "a call of the page's ends as an interrupt",
    "ag-ui.gen-01-as-the-schema-says": "tells the unchecked calls of the history again",
    "ag-ui.gen-06-message-ids": "a result under the id of the assistant's message",
}
NO_SERVER_RECORD = {
    "effect.replay-runs-nothing",
    "effect.race-runs-once",
    "effect.bound-to-its-thread",
    "effect.forged-approval-runs-nothing",
}


def test_the_known_faults_are_found_and_nothing_else(tmp_path: Path) -> None:
    check(judged(HERE, "hostproof.toml", tmp_path), KNOWN, NO_SERVER_RECORD)
