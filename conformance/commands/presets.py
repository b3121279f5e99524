"""``hostproof presets``: the kinds of host that are known, or the profile of one."""

from __future__ import annotations

import click

from hostproof.conformance.checking import Problem
from hostproof.conformance.commands.shared import ending_well
from hostproof.conformance.preset import about, preset_names, preset_text
from hostproof.conformance.profile import ProfileError


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
def presets(name: str | None) -> None:
    """List the presets, or print the preset NAME: a profile to start from."""
    with ending_well():
        if name is not None:
            try:
                click.echo(preset_text(name), nl=False)
            except Problem as problem:
                raise ProfileError(name, "", problem.text) from None
            return
        width = max(map(len, preset_names()))
        for one in preset_names():
            click.echo(f"{one:{width}}  {about(one)}")
