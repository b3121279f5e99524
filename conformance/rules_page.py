"""
The page of the rules, made from their declarations.

    python -m hostproof.conformance.rules_page > docs/rules.md

A test holds that the committed page is what this gives.
"""

from __future__ import annotations

import sys

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.rule import RULE_SETS, RULESET_VERSION, Rule
from hostproof.reference_impl.refusals import catalogue

ABOUT = {
    "safety": "What any host must keep, whatever its style.",
    "named": "The contract: status, code and field of every refusal.",
    "ag-ui": "AG-UI 1.0, for hosts that declare a protocol version or claim one.",
}


def rules_page() -> str:
    """Write the page."""
    lines = [
        "# Rules",
        "",
        (
            f"Rule set version {RULESET_VERSION}, {len(all_rules())} rules. This page is made from "
            "the rules' declarations"
        ),
        "(`python -m hostproof.conformance.rules_page > docs/rules.md`).",
        "",
    ]
    for rule_set in RULE_SETS:
        rules = [rule for rule in all_rules().values() if rule_set in rule.sets]
        lines += [f"## {rule_set}", "", ABOUT[rule_set], ""]
        lines += [
            "| rule | demand | level | severity | source | seeded faults |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_row(rule) for rule in rules]
        lines.append("")
    lines += ["## Refusals", "", "| code | status | decided | meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{entry.code}` | {entry.status} | {entry.decided} | {entry.meaning} |"
        for entry in catalogue().values()
    ]
    return "\n".join(lines) + "\n"


def _row(rule: Rule) -> str:
    cwe = "" if rule.cwe is None else f", CWE-{rule.cwe}"
    source = f"{rule.source.document}, {rule.source.clause}"
    faults = ", ".join(f"`{fault.name}`" for fault in rule.faults)
    return (
        f"| `{rule.id}` | {rule.demand} | {rule.level} | {rule.severity}{cwe} | {source} "
        f"| {faults} |"
    )


if __name__ == "__main__":
    sys.stdout.write(rules_page())
