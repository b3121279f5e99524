"""``hostproof replay``: a failing case again, and whether it is fixed."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from hostproof.conformance.commands.options import target_options
from hostproof.conformance.commands.shared import chosen_profile, ending_well
from hostproof.conformance.embedded_run import EMBEDDED_NAME, embedded
from hostproof.conformance.kept import CASES_FOLDER, load_case
from hostproof.conformance.kept_sequence import is_sequence_id
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.replay import Replayed
from hostproof.conformance.replay import replay as repeat
from hostproof.conformance.result import FAILED, OK, UNUSABLE
from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from hostproof.conformance.profile import Profile

CODES = {"fixed": OK, "still failing": FAILED, "changed": FAILED, "not repeated": UNUSABLE}


@click.command()
@click.argument("case_id", metavar="ID")
@target_options
def replay(case_id: str, **given: Any) -> None:
    """
    Repeat the kept case ID: fixed, still failing, or changed.

    It is repeated against TARGET or the profile's host; without either, against
    the host it was found on, or the embedded one if it was found there.
    """
    with ending_well():
        folder = Path(given["keep_folder"]) if given["keep_folder"] else CASES_FOLDER
        if is_sequence_id(case_id):
            _replay_sequence(case_id, folder, given)
        kept = load_case(case_id, folder)
        with ExitStack() as stack:
            chosen = _chosen(given, kept.target)
            if chosen is None:
                profile, at = stack.enter_context(embedded()), None
            else:
                profile, at = chosen

            async def perform() -> Replayed:
                leave = Leave(remote=given["allow_remote"], aggressive=given["aggressive"])
                async with opened_host(profile, leave, folder=at) as host:
                    return await repeat(kept, host, Redactor(profile.everyone))

            became = asyncio.run(perform())
        click.echo(f"{kept.id}: {became.became}")
        click.echo(f"  rule      {kept.rule}, case {kept.case}")
        click.echo(f"  expected  {kept.expected}")
        click.echo(f"  then      {kept.seen}")
        click.echo(f"  now       {became.seen}")
        if became.became == "not repeated" and given["profile_path"] is None:
            click.echo("  hint      with --profile, name the one that it was found with")
        sys.exit(CODES[became.became])


def _chosen(given: dict[str, Any], target: str) -> tuple[Profile, Path | None] | None:
    """Choose the host: the one named here, or the one the case was found on."""
    chosen = chosen_profile(given)
    if chosen is None and target != EMBEDDED_NAME:
        return chosen_profile({**given, "target": target})
    return chosen


def _replay_sequence(case_id: str, folder: Path, given: dict[str, Any]) -> NoReturn:
    """Perform a kept sequence again, and end with what became of it."""
    from hostproof.conformance.kept_sequence import load_sequence, replay_sequence
    from hostproof.conformance.sequence_run import UnfitHostError
    from hostproof.conformance.sequence_stand import EmbeddedStand, NoRestartError, SharedStand

    kept = load_sequence(case_id, folder)
    chosen = _chosen(given, kept.target)

    async def perform() -> Replayed:
        if chosen is None:
            return await replay_sequence(kept, EmbeddedStand())
        profile, at = chosen
        leave = Leave(remote=given["allow_remote"], aggressive=given["aggressive"])
        async with opened_host(profile, leave, folder=at) as host:
            return await replay_sequence(kept, SharedStand(host, kept.target))

    try:
        became = asyncio.run(perform())
    except (NoRestartError, UnfitHostError) as error:
        raise TargetError(str(error)) from error
    click.echo(f"{kept.id}: {became.became}")
    click.echo(f"  expected  {kept.expected}")
    click.echo(f"  then      {kept.seen}")
    click.echo(f"  now       {became.seen}")
    sys.exit(CODES[became.became])
