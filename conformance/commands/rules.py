"""``hostproof rules``: the catalogue of rules, or one of them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from hostproof.conformance.catalogue import all_rules, rule_of
from hostproof.conformance.commands.shared import ending_well

if TYPE_CHECKING:
    from hostproof.conformance.rule import Rule


@click.command()
@click.argument("rule_id", metavar="[ID]", required=False)
def rules(rule_id: str | None) -> None:
    """List the rules, or say everything about the rule ID."""
    with ending_well():
        if rule_id is not None:
            click.echo(described(rule_of(rule_id)))
            return
        width = max(map(len, all_rules()))
        for rule in all_rules().values():
            sets = ", ".join(sorted(rule.sets))
            click.echo(f"{rule.id:{width}}  {rule.level:6}  {rule.severity:8}  {sets}")


def described(rule: Rule) -> str:
    """Say everything about a rule, in lines of at most 80 columns."""
    cwe = "" if rule.cwe is None else f", CWE-{rule.cwe}"
    fields = {
        "level": f"{rule.level}, severity {rule.severity}{cwe}",
        "sets": ", ".join(sorted(rule.sets)),
        "source": f"{rule.source.document}, {rule.source.clause}",
        "fault" if len(rule.faults) == 1 else "faults": ", ".join(one.name for one in rule.faults),
    }
    lines = [
        *_wrapped(f"{rule.id}: ", rule.title),
        *_wrapped("  ", rule.demand),
        *(line for name, text in fields.items() for line in _wrapped(f"  {name:11}", text)),
    ]
    return "\n".join(lines)


def _wrapped(label: str, text: str) -> list[str]:
    """Write *text* beside its *label*, further lines below its first letter."""
    indent = " " * min(len(label), 13)
    return textwrap.wrap(text, 80, initial_indent=label, subsequent_indent=indent)
