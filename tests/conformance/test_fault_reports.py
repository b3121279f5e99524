"""The table of reported faults: every row has a rule that judges it, and the fault that it is."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.fault_reports import REPORTS
from hostproof.conformance.fault_reports_page import fault_reports_page
from hostproof.conformance.reported_faults import REPORTED

ROOT = Path(__file__).parent.parent.parent
RULES = all_rules()
MOST_NOT_JUDGED = 10


def test_the_committed_page_is_what_the_table_gives():
    page = (ROOT / "docs" / "fault-reports.md").read_text("utf-8")

    assert page == fault_reports_page(), (
        "python -m hostproof.conformance.fault_reports_page > docs/fault-reports.md"
    )


def test_every_row_stands_once_and_in_order():
    rows = [report.row for report in REPORTS]

    assert rows == sorted(set(rows))
    assert len(rows) == 86


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.row)
def test_a_row_names_rules_and_faults_that_belong_together(report):
    assert re.search(r"[\w.-]+/[\w.-]+(#\d+|@\w+| \d)|^measured on ", report.source)
    assert report.shown_by or report.left_out
    for rule, fault in report.shown_by:
        assert fault in {one.name for one in RULES[rule].faults}


def test_few_rows_are_not_judged():
    assert sum(not report.shown_by for report in REPORTS) <= MOST_NOT_JUDGED


def test_no_fault_shows_two_rows():
    faults = Counter(fault for report in REPORTS for _, fault in report.shown_by)

    assert max(faults.values()) == 1


def test_every_fault_that_was_added_for_a_report_stands_beside_one():
    named = {fault for report in REPORTS for _, fault in report.shown_by}
    added = {fault.name for faults in REPORTED.values() for fault in faults}

    assert added <= named
    assert set(REPORTED) <= set(RULES)
