"""The options that commands share: which host, how gently, by what it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable


def reach_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which host it is, and how it is reached."""
    return _with(
        command,
        click.argument("target", required=False),
        click.option(
            "--profile",
            "profile_path",
            metavar="FILE",
            help="What the host is and can do (default: hostproof.toml, if it is here and no TARGET is given).",
        ),
        click.option(
            "--preset",
            metavar="NAME",
            help="Take the host for one of this kind; `hostproof presets` lists them.",
        ),
        click.option(
            "--start",
            metavar="CMD",
            help="Start the host with this command, and stop it afterwards.",
        ),
        click.option(
            "--ready", metavar="URL", help="With --start: poll this URL until it answers."
        ),
        click.option(
            "--deadline", type=float, metavar="SECONDS", help="Longest wait for one answer."
        ),
        click.option(
            "--allow-remote", is_flag=True, help="Test a host that is not on this machine."
        ),
    )


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is tested, and how gently."""
    more = _with(
        command,
        click.option("--requests", type=int, metavar="N", help="Send at most so many requests."),
        click.option(
            "--aggressive", is_flag=True, help="Send floods and bombs to a remote host, too."
        ),
        click.option(
            "--keep",
            "keep_folder",
            metavar="DIR",
            help="The folder of failing cases (default: .hostproof/cases).",
        ),
    )
    return reach_options(more)


def judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say by what is judged, and where to the reports go."""
    return _with(
        command,
        click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="NAME",
            help="Judge by this rule set: safety, ag-ui, named. May be repeated.",
        ),
        click.option(
            "--fail-on",
            "fail_on",
            metavar="LEVEL[:SEVERITY]",
            help="Failures that count: must or should, then low, medium, high or critical (default: must:medium).",
        ),
        click.option(
            "--allow-inconclusive", is_flag=True, help="End well even if a rule is inconclusive."
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            metavar="N",
            help="Make ids and markers from this number (default: a fresh one).",
        ),
        click.option(
            "--json",
            "json_path",
            metavar="FILE",
            help="Write the result document here; - for standard output.",
        ),
        click.option(
            "--junit",
            "junit_path",
            metavar="FILE",
            help="Write JUnit XML here; - for standard output.",
        ),
        click.option("--quiet", is_flag=True, help="Show no progress."),
    )


def _with(command: Callable[..., Any], *options: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command
