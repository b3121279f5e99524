"""``hostproof fuzz``: drawn hostile bodies, for a number or a time, shrunk where they find something."""

from __future__ import annotations

import asyncio
import math
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from hostproof.conformance.commands.options import judging_options, target_options
from hostproof.conformance.commands.shared import (
    check_writable,
    ending_well,
    shown_progress,
    stop,
    what_was_asked,
    write_reports,
)
from hostproof.conformance.opened_host import opened_host
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.result import OUR_FAULT, result_document
from hostproof.conformance.target import TargetError
from hostproof.reports.terminal import print_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.conformance.asked import Asked
    from hostproof.conformance.fuzz_result import FuzzResult

EXTRA = "hostproof[fuzz]"
DEFAULT_BODIES = 2_000


def _finite(
    _context: click.Context, _option: click.Parameter, seconds: float | None
) -> float | None:
    if seconds is not None and not math.isfinite(seconds):
        raise click.BadParameter("a number of seconds is needed")
    return seconds


@click.command()
@target_options
@judging_options
@click.option(
    "--bodies",
    type=click.IntRange(min=1),
    metavar="N",
    help="Send so many bodies (default: 2000, unless --seconds is given).",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    callback=_finite,
    metavar="S",
    help="Stop after so long.",
)
def fuzz(**given: Any) -> None:
    """
    Judge a host by drawn bodies: right ones, and right ones with something wrong.

    What finds something is shrunk. TARGET and profile as for `hostproof run`.
    """
    with ending_well():
        check_writable(given["json_path"], given["junit_path"])
        with ExitStack() as stack:
            asked = what_was_asked(given, stack)
            with shown_progress("fuzzing", quiet=given["quiet"]) as progress:
                result = hunt(asked, given["bodies"], given["seconds"], progress)
        from hostproof.conformance.fuzz_result import table
        from hostproof.conformance.fuzz_verdicts import fuzz_counts, fuzz_verdicts

        document = result_document(
            fuzz_verdicts(result, asked.rules),
            asked.profile,
            asked.facts("fuzz", finished=result.reason != "interrupted", requests=result.requests),
            asked.keeper("fuzz").findings_of,
            redact=Redactor(asked.profile.everyone).text,
            fuzz=fuzz_counts(result, is_named="named" in asked.profile.sets),
        )
        write_reports(document, given["json_path"], given["junit_path"])
        if "-" not in (given["json_path"], given["junit_path"]):
            print_report(document)
            click.echo("\n" + "\n".join(table(result)))
        if result.disagreements:
            first = result.disagreements[0]
            stop(
                f"hostproof's reference disagrees with a change of its own: {first.case!r}. "
                "Please report it.",
                OUR_FAULT,
            )
        sys.exit(document.exit.code)


def hunt(
    asked: Asked,
    bodies: int | None,
    seconds: float | None,
    progress: Callable[[int, int, str], None],
) -> FuzzResult:
    """
    Fuzz the host as asked.

    Raises:
        TargetError: the host cannot be reached, or what fuzzing needs is not installed.
    """
    try:
        from hostproof.conformance.fuzz import Fuzz
    except ImportError as error:
        raise TargetError(
            f"fuzzing needs {error.name}, which is not installed: pip install '{EXTRA}'."
        ) from error
    from hostproof.conformance.identifiers import Identifiers

    with asyncio.Runner() as runner:
        opened = opened_host(asked.profile, asked.leave, folder=asked.folder)
        host = runner.run(opened.__aenter__())
        try:
            run = Fuzz(
                host,
                asked.rules,
                Identifiers(str(asked.seed)),
                seed=asked.seed,
                bodies=DEFAULT_BODIES if bodies is None and seconds is None else bodies,
                seconds=seconds,
                aggressive=not host.spare,
                progress=progress,
            )
            return run.run(runner)
        finally:
            runner.run(opened.__aexit__(None, None, None))
