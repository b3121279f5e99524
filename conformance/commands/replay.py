"""``hostproof replay``: a failing case again, and whether it is fixed."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from hostproof.conformance.commands.shared import chosen_profile, ending_well, target_options
from hostproof.conformance.embedded_run import EMBEDDED_NAME, embedded
from hostproof.conformance.kept import CASES_FOLDER, load_case
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.replay import Replayed
from hostproof.conformance.replay import replay as repeat
from hostproof.conformance.result import FAILED, OK, UNUSABLE

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
        kept = load_case(case_id, folder)
        with ExitStack() as stack:
            chosen = chosen_profile(given)
            if chosen is None and kept.target != EMBEDDED_NAME:
                chosen = chosen_profile({**given, "target": kept.target})
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
        sys.exit(CODES[became.became])
