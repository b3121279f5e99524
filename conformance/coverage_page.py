"""
The page of AG-UI's clauses, made from their table.

    python -m hostproof.conformance.coverage_page > docs/ag-ui-coverage.md

A test holds that the committed page is what this gives.
"""

from __future__ import annotations

import sys

from hostproof.conformance.ag_ui_coverage import NOT_OBSERVABLE, ROWS, Row


def coverage_page() -> str:
    """Write the page."""
    judged = len(ROWS) - len(NOT_OBSERVABLE)
    lines = [
        "# AG-UI, clause by clause",
        "",
        (
            f"What the AG-UI specification 1.1 asks of a host: {len(ROWS)} clauses, {judged} of "
            "them judged by rules of the set `ag-ui`,"
        ),
        (
            f"{len(NOT_OBSERVABLE)} not observable from outside. What binds clients only is not "
            "here. This page is made from a table"
        ),
        "(`python -m hostproof.conformance.coverage_page > docs/ag-ui-coverage.md`).",
        "",
        "A keyword in parentheses is no word of the text: it states the thing as a fact.",
        "",
        "| clause | page, heading | keyword | a host | judged by |",
        "|---|---|---|---|---|",
        *(_row(row) for row in ROWS),
    ]
    return "\n".join(lines) + "\n"


def _row(row: Row) -> str:
    rules = ", ".join(f"`ag-ui.{name}`" for name in row.rules)
    judged = f"{rules} ({row.why})" if rules and row.why else rules or f"not observable: {row.why}"
    return f"| {row.clause} | {row.where} | {row.keyword} | {row.demand} | {judged} |"


if __name__ == "__main__":
    sys.stdout.write(coverage_page())
