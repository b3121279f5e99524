"""``hostproof probe``: a host tried gently, and a profile to start from."""

from __future__ import annotations

import asyncio
import secrets
import shlex
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hostproof.conformance.checking import Problem
from hostproof.conformance.commands.options import reach_options
from hostproof.conformance.commands.shared import (
    STDOUT,
    check_writable,
    chosen_profile,
    ending_well,
    shown_progress,
    target_members,
)
from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.preset import PRESET, on_its_preset
from hostproof.conformance.probe import Probe
from hostproof.conformance.probe_asking import Asking
from hostproof.conformance.probe_profile import CLAIMED, cues_given, profile_text
from hostproof.conformance.probe_reading import Known
from hostproof.conformance.profile import PROFILE_FILE, ProfileError, profile_from
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.target import TargetError
from hostproof.conformance.toml_file import read_toml
from hostproof.reference_impl.values import MISSING, Record
from hostproof.reports.printable import printable

if TYPE_CHECKING:
    from hostproof.conformance.gate import Progress
    from hostproof.conformance.probe_findings import Findings
    from hostproof.conformance.profile import Profile

WIDTH: Final = 80
HEADING: Final = 17
"""Columns of what a finding is about."""


@click.command()
@reach_options
@click.option(
    "--write",
    "write_path",
    metavar="FILE",
    default=PROFILE_FILE,
    show_default=True,
    help="Write the profile here; - for standard output.",
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def probe(**given: Any) -> None:
    """
    Try a host gently, say what it does, and write a profile to start from.

    TARGET is as for `hostproof run`. A profile (--profile) may say what is
    known already: cues, callers, where effects can be read. With a cue
    check_in that is answered with a yes, so its guarded action runs a few times.
    """
    with ending_well():
        where = given["write_path"]
        if where != STDOUT and Path(where).exists() and not given["force"]:
            raise TargetError(f"{where} is there already: name another with --write, or --force.")
        check_writable(where)
        chosen = chosen_profile(given)
        if chosen is None:
            raise TargetError("nothing to probe: give a URL or module:app, or a profile with one.")
        profile, folder = chosen
        document = said_by_user(given)
        with shown_progress("probing", quiet=given["quiet"]) as progress:
            leave = Leave(remote=given["allow_remote"])
            found = asyncio.run(_found(profile, document, leave, folder, progress))
        text = profile_text(document, found)
        _check(text)
        _show(found, aside=where == STDOUT)
        if not found.ag_ui and "ag_ui" not in document:
            note = f"AG-UI {CLAIMED} in the profile, so that it is judged: see the comment there"
            _line("claim", note, aside=where == STDOUT)
        if where == STDOUT:
            click.echo(text, nl=False)
            return
        _write(where, text)
        _line("wrote", f"{where}; now: hostproof run --profile {shlex.quote(where)}", aside=False)
        if folder is not None and folder != Path(where).absolute().parent:
            note = "it stands in another folder: what it starts and reads is looked for from there"
            _line("", note, aside=False)


def said_by_user(given: dict[str, Any]) -> Record:
    """
    Put together what the user said, as it was written: the profile's file, and the options.

    Raises:
        ProfileError: the file cannot be read.
    """
    path = given["profile_path"]
    if path is None and given["target"] is None and Path(PROFILE_FILE).exists():
        path = PROFILE_FILE
    try:
        document: Record = {"version": 1} if path is None else read_toml(Path(path))
    except Problem as problem:
        raise ProfileError(str(path), "", problem.text) from None
    if given["preset"] is not None:
        document[PRESET] = given["preset"]
    target = dict(document.get("target", {}))
    if given["target"] is not None:
        if "url" in target or "app" in target:
            target = {}
        target |= target_members(given["target"])
    target |= {name: given[name] for name in ("start", "ready") if given[name] is not None}
    if target:
        document["target"] = target
    if given["deadline"] is not None:
        document["limits"] = {**document.get("limits", {}), "deadline_seconds": given["deadline"]}
    return document


def known_of(document: Record, profile: Profile) -> Known:
    """Say what of a host's ways its profile says already."""
    said = on_its_preset(document)
    answer = said.get("answer", {})
    return Known(
        history=profile.history if "history" in said else None,
        pause=profile.pause if "pause" in said else None,
        kind=profile.answer.kind if "kind" in answer else None,
        yes=answer.get("yes", MISSING),
        no=answer.get("no", MISSING),
        parent_run=answer.get("parent_run"),
    )


async def _found(
    profile: Profile, document: Record, leave: Leave, folder: Path | None, progress: Progress
) -> Findings:
    ids = Identifiers(str(secrets.randbits(32)))
    name = profile.target.url or profile.target.app or ""
    async with opened_host(profile, leave, folder=folder) as host:
        asking = Asking(host, ids, progress)
        redactor = Redactor(profile.everyone)
        known = known_of(document, profile)
        return await Probe(asking, name, known, cues_given(document), redactor).perform()


def _check(text: str) -> None:
    """Read what is to be written as a profile; if it is none, that is our fault."""
    try:
        profile_from(tomllib.loads(text), name="the profile")
    except (ProfileError, tomllib.TOMLDecodeError) as error:
        raise RuntimeError(f"what was to be written is no profile: {error}") from None


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise TargetError(f"{path} could not be written: {error.strerror}.") from None


def _show(found: Findings, *, aside: bool) -> None:
    """Print the findings, a line each; *aside* to standard error."""
    for heading, text in found.told:
        _line(heading, text, aside=aside)
    if found.likes:
        _line("like", f"the preset {' or '.join(found.likes)}", aside=aside)
    _line("sent", f"{found.runs} runs", aside=aside)


def _line(heading: str, text: str, *, aside: bool) -> None:
    lines = textwrap.wrap(
        printable(text),
        WIDTH,
        initial_indent=f"{heading:{HEADING}}" if len(heading) < HEADING else f"{heading}  ",
        subsequent_indent=" " * HEADING,
        break_on_hyphens=False,
    )
    for line in lines:
        click.echo(line, err=aside)
