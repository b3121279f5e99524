"""
The page of the reported faults, made from their table.

    python -m hostproof.conformance.fault_reports_page > docs/fault-reports.md

A test holds that the committed page is what this gives.
"""

from __future__ import annotations

import sys

from hostproof.conformance.fault_reports import REPORTS, Report


def fault_reports_page() -> str:
    """Write the page."""
    judged = sum(bool(report.shown_by) for report in REPORTS)
    lines = [
        "# Reported faults",
        "",
        (
            "Faults that people have met in real agent hosts, frameworks and libraries, told in "
            "our words. Beside each"
        ),
        (
            "stands the rule that judges a host by it, and the seeded fault: the reference host "
            "doing the same, which"
        ),
        (
            f"`hostproof selftest` shows to be caught. {len(REPORTS)} reports, {judged} of them "
            "judged. This page is made from a table"
        ),
        "(`python -m hostproof.conformance.fault_reports_page > docs/fault-reports.md`).",
        "",
        "| row | reported in | a host | rule | seeded fault | not tried |",
        "|---|---|---|---|---|---|",
        *(_row(report) for report in REPORTS),
    ]
    return "\n".join(lines) + "\n"


def _row(report: Report) -> str:
    rules = ", ".join(f"`{rule}`" for rule, _ in report.shown_by) or "not judged"
    faults = ", ".join(f"`{fault}`" for _, fault in report.shown_by)
    cells = (report.row, report.source, report.did, rules, faults, report.left_out)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(fault_reports_page())
