"""``hostproof selftest``: proof that every rule can fail, and does not fail a right host."""

from __future__ import annotations

import sys
import time

import click

from hostproof.conformance.catalogue import all_rules, rule_of
from hostproof.conformance.commands.shared import ending_well, shown_progress
from hostproof.conformance.result import FAILED, OK
from hostproof.conformance.selftest import selftest as perform


@click.command()
@click.option(
    "--rule", "only", multiple=True, metavar="ID", help="Try this rule only. May be repeated."
)
@click.option("--verbose", is_flag=True, help="List every fault, caught ones too.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def selftest(only: tuple[str, ...], *, verbose: bool, quiet: bool) -> None:
    """
    Try the suite on itself.

    The unbroken reference host must pass every rule, and each seeded fault
    must be caught by its rule.
    """
    with ending_well():
        chosen = [rule_of(rule_id) for rule_id in only] or list(all_rules().values())
        begun = time.monotonic()
        with shown_progress("faults", quiet=quiet) as progress:
            result = perform(chosen, progress)
        seconds = time.monotonic() - begun
        for alarm in result.false_alarms:
            click.echo(f"false alarm: {alarm.rule.id} {alarm.verdict} on the unbroken host")
        for missed in result.missed:
            click.echo(f"missed: {missed.fault.name} ({missed.rule.id} {missed.verdict.verdict})")
        if verbose:
            for tried in result.faults:
                mark = "caught" if tried.is_caught else "MISSED"
                click.echo(f"{mark}  {tried.rule.id:28} {tried.fault.name}")
        caught = len(result.faults) - len(result.missed)
        passed = len(result.unbroken) - len(result.false_alarms)
        click.echo(
            f"{caught} of {len(result.faults)} faults caught, {passed} of "
            f"{len(result.unbroken)} rules passed on the unbroken host, {seconds:.1f} s"
        )
        sys.exit(OK if result.holds else FAILED)
