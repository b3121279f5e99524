"""The report on a terminal: what it says, how wide it is, and that no host's text controls it."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from rich.cells import cell_len
from rich.console import Console

from hostproof.reports.document import CodeCount, Fuzz, Reason, ResultDocument
from hostproof.reports.terminal import print_report
from tests.reports.samples import (
    HOSTILE,
    a_body,
    a_document,
    a_finding,
    a_rule,
    documents,
    every_verdict,
    hostile,
)

RAW = ("    curl ", "    repeat    hostproof replay ")


def _printed(document: ResultDocument, width: int = 80) -> str:
    file = io.StringIO()
    print_report(document, Console(file=file, width=width, force_terminal=False))
    return file.getvalue()


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _check_safe(shown: str) -> None:
    for line in shown.split("\n"):
        assert line.isprintable()
        if not line.startswith(RAW):
            assert cell_len(line) <= 80
            assert line == line.rstrip()


def test_the_report_says_what_was_tested_and_how_it_ended() -> None:
    lines = _printed(every_verdict()).splitlines()
    assert lines[:6] == [
        "hostproof 0.1.0, rules 0.1, gate",
        "target    http://127.0.0.1:8000/agui (http)",
        "profile   hostproof.toml, AG-UI 1.0 claimed",
        "sets      safety, ag-ui",
        "run       2026-10-07T10:00:00Z, 12.3 s, 412 requests",
        "actions   7 real guarded actions triggered: the guarded tool deploy",
    ]
    assert lines[7:11] == [
        "           passed  failed  waived  not judged  inconclusive",
        "safety          2       2       1           2             2",
        "ag-ui           0       1       0           0             1",
        "all rules       2       3       1           2             2",
    ]
    assert lines[-1] == "exit 1: 2 rules failed at or above must, medium"


def test_a_failure_is_shown_in_full() -> None:
    lines = _printed(every_verdict()).splitlines()
    start = lines.index("safety.one-run  One yes, one run")
    assert lines[start - 2] == "Failed (3)"
    assert lines[start + 1 : lines.index("", start)] == [
        "  weight    must, critical, CWE-837",
        "  demand    An approved action runs once, however often the approval is sent.",
        "  source    Contract, Resume, https://example.org/c#resume",
        "  case      the same approval twice",
        "    expected  the action runs once",
        "    seen      the action ran twice",
        "    place     /resume/0",
        '    body      {"resume":[{}]}',
        "    repeat    hostproof replay 0a1b2c",
        f"    {a_finding().curl}",
    ]


def test_every_verdict_without_a_judgement_is_shown_with_its_reason() -> None:
    shown = _squeezed(_printed(every_verdict()))
    for part in (
        "weight guide, critical; does not count for the exit code",
        "waiver expired: known until 2020-01-31: the client owns the history [History]",
        "Unsteady: failed, and not again (inconclusive) (1) safety.race",
        "case the same approval twice (did not repeat)",
        "sent POST http://127.0.0.1:8000/agui got 200, text/event-stream, complete {}",
        "got no status, text/event-stream, cut",
        "Inconclusive (1) 1 control-failed: the control run was refused ag-ui.order",
        "2 no-effects: declare [effects] in the profile safety.foreign, safety.forged",
        "Waived (1) 1 by design: the client owns the history [History] safety.replay",
        "can go (1) 1 known until 2027-01-31: the client owns the history [History] safety.stale",
    ):
        assert part in shown


def test_a_green_run_fits_on_one_screen() -> None:
    green = tuple(a_rule(f"safety.rule-{at}") for at in range(150))
    reasons = [Reason(code="no-effects", text="declare [effects]"), Reason(code="b", text="c")]
    unseen = tuple(
        a_rule(f"ag-ui.rule-{at}", sets=("ag-ui",), verdict="not-judged", reason=reasons[at % 2])
        for at in range(60)
    )
    shown = _printed(a_document(*green, *unseen))
    assert len(shown.splitlines()) <= 24
    assert "and 26 more" in shown


def test_an_interrupted_run_says_that_it_is_partial() -> None:
    document = every_verdict()
    shown = _printed(replace(document, run=replace(document.run, finished=False, seed=7)))
    assert "Interrupted: these results are partial." in shown
    assert "seed 7" in shown


def test_fuzzing_shows_the_codes_that_fell_short() -> None:
    document = a_document()
    counts = [CodeCount(code=f"ERR_{at}", owed=10, seen=min(at, 10)) for at in range(12)]
    shown = _printed(
        replace(
            document,
            sets=("safety",),
            run=replace(document.run, mode="fuzz"),
            fuzz=Fuzz(bodies=200, accepted=80, per_code=tuple(counts)),
        )
    )
    assert "200 bodies, 80 accepted; 65 of 120 refusals" in _squeezed(shown)
    assert "ERR_4: 4 of 10" in shown
    assert "ERR_5: " not in shown
    assert "and 5 more codes" in shown
    assert "all rules" not in shown


def test_many_findings_and_long_bodies_are_cut() -> None:
    body = a_body(data="\n".join(f"line {at}" for at in range(50)), cut=True, size=999)
    finding = a_finding(body=body, curl="curl " + "x" * 5000, note="n" * 700)
    shown = _printed(a_document(a_rule(verdict="failed", findings=(finding,) * 8)))
    assert shown.count("hostproof replay") == 5
    assert "and 3 more findings" in shown
    assert "line 11" in shown
    assert "line 12" not in shown
    assert "(38 more lines)" in shown
    assert "the whole body has 999 bytes" in shown
    assert "too long to show here (5005 characters)" in shown
    assert "(100 more characters)" in _squeezed(shown)


def test_one_long_line_of_a_body_is_cut_as_it_stands_on_the_page() -> None:
    finding = a_finding(body=a_body(data="word " * 400))
    lines = _printed(a_document(a_rule(verdict="failed", findings=(finding,)))).splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("    body      word"))
    assert all(line.startswith(" " * 14 + "word") for line in lines[at + 1 : at + 12])
    assert lines[at + 12].strip() == "... (19 more lines)"


def test_a_further_finding_takes_two_lines() -> None:
    first = a_finding(case="one", seen="it ran twice")
    same = a_finding(case="two", seen="it ran twice", replay="again-2")
    other = a_finding(case="three", seen="it " + "ran and " * 20, replay="again-3")
    findings = (first, same, other, *(a_finding(case=f"more-{at}") for at in range(4)))
    shown = _printed(a_document(a_rule(verdict="failed", findings=findings)))
    lines = shown.splitlines()
    assert shown.count("    expected") == shown.count("    body") == 1
    at = lines.index("  case      two")
    assert lines[at + 1] == "    repeat    hostproof replay again-2"
    assert lines[at + 2].startswith("  case      three: it ran and ran")
    assert lines[at + 2].endswith(" ...")
    assert len(lines[at + 2]) <= 80
    assert lines[at + 3] == "    repeat    hostproof replay again-3"
    assert "  and 2 more findings" in lines


def test_a_further_finding_that_did_not_repeat_says_so() -> None:
    findings = (a_finding(case="one"), a_finding(case="two", steady=False))
    shown = _printed(a_document(a_rule(verdict="failed", findings=findings)))
    assert "  case      two (did not repeat)" in shown


def test_a_long_command_stays_on_one_line() -> None:
    curl = "curl --data '" + "word " * 300 + "' http://127.0.0.1:8000/agui"
    shown = _printed(a_document(a_rule(verdict="failed", findings=(a_finding(curl=curl),))))
    assert f"    {curl}" in shown.splitlines()


def test_a_command_that_does_not_print_is_marked() -> None:
    finding = a_finding(curl="curl 'a\nb\x1b[2J'")
    shown = _printed(a_document(a_rule(verdict="failed", findings=(finding,))))
    assert "    curl 'a\\nb\\x1b[2J'" in shown.splitlines()
    assert "not to be copied" in shown
    assert "not to be copied" not in _printed(every_verdict())


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_never_controls_the_terminal(text: str) -> None:
    shown = _printed(hostile(text))
    _check_safe(shown)
    assert not re.search("^exit 0", shown, re.MULTILINE)
    assert shown.count("\n    curl ") in {0, 2}


@given(documents())
def test_any_document_prints_safely_within_the_width(document: ResultDocument) -> None:
    _check_safe(_printed(document, width=200))


def test_a_narrow_terminal_is_kept_to() -> None:
    lines = [line for line in _printed(hostile("word " * 50), width=40).splitlines() if line]
    assert all(len(line) <= 62 for line in lines if not line.startswith(RAW))


def test_no_escape_sequences_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    file = io.StringIO()
    print_report(every_verdict(), Console(file=file, width=80))
    assert "\x1b" not in file.getvalue()


def test_colour_on_a_terminal_unless_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    file = io.StringIO()
    print_report(every_verdict(), Console(file=file, force_terminal=True, color_system="standard"))
    assert "\x1b[1;31m" in file.getvalue()
    assert f"    {a_finding().curl}" in file.getvalue().splitlines()
    monkeypatch.setenv("NO_COLOR", "1")
    file = io.StringIO()
    print_report(every_verdict(), Console(file=file, force_terminal=True, color_system="standard"))
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", file.getvalue())


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_poor_encoding_gets_escapes(encoding: str) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    print_report(hostile("宽 ü"), Console(file=file, width=80))
    file.flush()
    assert b"\\u5bbd" in raw.getvalue()


def test_the_default_is_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(a_document())
    assert "exit 0: nothing failed" in capsys.readouterr().out
