"""``hostproof run``: the gate, on the embedded host or on any other."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from hostproof.conformance.commands.options import judging_options, target_options
from hostproof.conformance.commands.shared import (
    STDOUT,
    check_writable,
    ending_well,
    shown_progress,
    what_was_asked,
    write_reports,
)
from hostproof.conformance.embedded_run import EMBEDDED_NAME
from hostproof.conformance.gate import PLAIN_RUN, Gate
from hostproof.conformance.opened_host import opened_host
from hostproof.conformance.plain_run import check_is_agui
from hostproof.conformance.profile import PROFILE_FILE
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.result import result_document
from hostproof.reports.printable import printable
from hostproof.reports.terminal import print_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.conformance.asked import Asked
    from hostproof.reports.document import ResultDocument

MOST_REASONS = 2
JUDGED = ("passed", "failed", "waived")


@click.command()
@target_options
@judging_options
@click.option(
    "--rule", "only", multiple=True, metavar="ID", help="Judge this rule only. May be repeated."
)
def run(**given: Any) -> None:
    """
    Judge a host: send good, hostile and odd requests, and say rule by rule what held.

    TARGET is a URL (http://127.0.0.1:8000/agui) or an ASGI application with the
    path of its endpoint (module:app/agui). Without TARGET and profile, the
    embedded reference host is judged, by rules of every set.
    """
    with ending_well():
        check_writable(given["json_path"], given["junit_path"])
        with ExitStack() as stack:
            asked = what_was_asked(given, stack)
            with shown_progress("judging", quiet=given["quiet"]) as progress:
                document = judge(asked, progress)
        if asked.name == EMBEDDED_NAME:
            click.echo(
                f"no TARGET, and no {PROFILE_FILE} here: judged is {EMBEDDED_NAME}", err=True
            )
        write_reports(document, given["json_path"], given["junit_path"])
        _show(document, aside=STDOUT in (given["json_path"], given["junit_path"]))
        sys.exit(document.exit.code)


def judge(asked: Asked, progress: Callable[[int, int, str], None]) -> ResultDocument:
    """
    Run the gate as asked, and put what it found into a document.

    An interruption keeps what is recorded; the document then says so.

    Raises:
        TargetError: the host cannot be reached, or is no AG-UI host.
        KeptError: a failing case cannot be kept.
    """
    gates: list[Gate] = []

    async def perform() -> None:
        async with opened_host(asked.profile, asked.leave, folder=asked.folder) as host:
            gate = Gate(host, asked.rules, str(asked.seed), progress=progress)
            gates.append(gate)
            await gate.perform()

    finished = True
    try:
        asyncio.run(perform())
    except KeyboardInterrupt:
        finished = False
        if not gates:
            raise
    (gate,) = gates
    redactor = Redactor(asked.profile.everyone)
    if finished:
        for exchange in gate.recordings[PLAIN_RUN].changed:
            check_is_agui(exchange, asked.name, redactor)
    return result_document(
        gate.verdicts(),
        asked.profile,
        asked.facts("gate", finished=finished, requests=gate.host.requests),
        asked.keeper("gate").findings_of,
        redact=redactor.text,
        tools=gate.tools_run(),
    )


def _show(document: ResultDocument, *, aside: bool) -> None:
    """Print the report, or a few lines where nothing was judged; *aside* to standard error."""
    if any(rule.findings or rule.verdict in JUDGED for rule in document.rules):
        print_report(document, Console(stderr=aside))
        return
    click.echo(f"hostproof: nothing was judged on {document.target.name}", err=aside)
    reasons = dict.fromkeys(rule.reason.text for rule in document.rules if rule.reason)
    for reason in list(reasons)[:MOST_REASONS]:
        click.echo(f"  {printable(reason)}", err=aside)
    click.echo(f"exit {document.exit.code}: {document.exit.why}", err=aside)
