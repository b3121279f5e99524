"""The command line: ``hostproof`` and its commands."""

from __future__ import annotations

import click

from hostproof.conformance.commands.fuzz import fuzz
from hostproof.conformance.commands.presets import presets
from hostproof.conformance.commands.probe import probe
from hostproof.conformance.commands.replay import replay
from hostproof.conformance.commands.rules import rules
from hostproof.conformance.commands.run import run
from hostproof.conformance.commands.selftest import selftest
from hostproof.conformance.commands.serve import serve

HELP = """Prove whether an agent host refuses what it must refuse.

\b
hostproof run                                the embedded reference host
hostproof run http://127.0.0.1:8000/agui     your own host
"""


@click.group(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hostproof", message="hostproof %(version)s")
def main() -> None:
    """Prove whether an agent host refuses what it must refuse."""


for command in (run, probe, fuzz, serve, selftest, rules, presets, replay):
    main.add_command(command)
