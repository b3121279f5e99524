"""What the commands share: the profile that options make, progress, and how they end."""

from __future__ import annotations

import os
import re
import secrets
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hostproof.conformance.asked import Asked
from hostproof.conformance.catalogue import UnknownRuleError, all_rules, rule_of
from hostproof.conformance.embedded_run import EMBEDDED_NAME, embedded
from hostproof.conformance.kept import CASES_FOLDER, KeptError
from hostproof.conformance.opened_host import Leave
from hostproof.conformance.preset import document_of
from hostproof.conformance.profile import (
    PROFILE_FILE,
    ProfileError,
    default_profile,
    load_profile,
    profile_from,
)
from hostproof.conformance.result import INTERRUPTED, OUR_FAULT, UNUSABLE
from hostproof.conformance.target import TargetError
from hostproof.reference_impl.host_errors import ServeError, StoreError
from hostproof.reports.junit import junit_xml
from hostproof.reports.printable import printable
from hostproof.reports.reading import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import ExitStack

    from hostproof.conformance.profile import Profile
    from hostproof.conformance.rule import Rule
    from hostproof.reports.document import ResultDocument

USER_ERRORS: Final = (
    ProfileError,
    TargetError,
    UnknownRuleError,
    KeptError,
    ServeError,
    StoreError,
    DocumentError,
)
LINE_SECONDS: Final = 5.0
STDOUT: Final = "-"
"""What stands for standard output in place of a file."""

DEBUG: Final = "HOSTPROOF_DEBUG"
_ADDRESS: Final = re.compile(r"[^:/]+:[0-9]+(?:/.*)?")


def stop(message: str, code: int = UNUSABLE) -> NoReturn:
    """Say what is wrong in one line, and end with *code*."""
    click.echo(f"error: {printable(message)}", err=True)
    sys.exit(code)


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """
    Let SIGTERM end a command as Ctrl-C does: what it started is stopped, what it knows is told.

    A shell that is no terminal's lets what it runs in the background ignore SIGINT.
    """
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    if is_ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if is_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def ending_well() -> Iterator[None]:
    """Turn errors into one line and an exit code: the user's are 2, ours are 3."""
    try:
        with _ended_as_by_ctrl_c():
            yield
    except USER_ERRORS as error:
        stop(str(error))
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        stop(
            f"hostproof broke: {type(error).__name__}: {error}. "
            f"Set {DEBUG}=1 to see where, and please report it.",
            OUR_FAULT,
        )


def chosen_profile(given: dict[str, Any]) -> tuple[Profile, Path | None] | None:
    """
    Make the profile that the options ask for, and the folder it stands in.

    Returns:
        ``None`` where nothing is named: then the embedded host is tested.

    Raises:
        ProfileError: the profile, or an option, cannot be used.
    """
    target, path = given["target"], given["profile_path"]
    folder: Path | None = None
    if path is None and target is None and Path(PROFILE_FILE).exists():
        path = PROFILE_FILE
    preset = given["preset"]
    if path is None and target is None and given["start"] is None and preset is None:
        return None
    if path is not None:
        profile = load_profile(path, preset=preset)
        folder = Path(path).absolute().parent
    elif preset is not None:
        profile = profile_from(document_of(preset), name=f"the preset {preset}")
    else:
        profile = default_profile()
    return with_options(profile, given), folder


def target_members(target: str) -> dict[str, object]:
    """
    Read the TARGET of a command line: a URL, or an application with the path of its endpoint.

    Raises:
        TargetError: it is an address without a scheme.
    """
    if "://" in target:
        return {"url": target}
    if _ADDRESS.fullmatch(target):
        raise TargetError(f"{target} has no scheme: write http://{target}")
    module, colon, rest = target.partition(":")
    if not colon:
        raise TargetError(
            f"{target} is neither a URL, such as http://127.0.0.1:8000/agui, "
            "nor an application, such as module:app/agui"
        )
    attribute, slash, path = rest.partition("/")
    app: dict[str, object] = {"app": module + colon + attribute}
    return app | ({"path": slash + path} if slash else {})


def with_options(profile: Profile, given: dict[str, Any]) -> Profile:
    """
    Put the options in the profile's place.

    Raises:
        ProfileError: an option has a value that is not allowed.
        TargetError: a URL to poll is named, and nothing that is started.
    """
    members: dict[str, object] = {}
    target = given["target"]
    if given["ready"] is not None and given["start"] is None and not profile.target.start:
        raise TargetError("--ready is polled after a start: name a command with --start.")
    if target is not None:
        members |= target_members(target)
    if given["start"] is not None:
        members["start"] = given["start"]
    if given["ready"] is not None:
        members["ready"] = given["ready"]
    level, _, severity = (given.get("fail_on") or "").partition(":")
    limits = {"deadline_seconds": given["deadline"], "requests": given.get("requests")}
    return profile.with_options(
        target=members or None,
        sets=list(given.get("sets", ())) or None,
        fail_on={"level": level or None, "severity": severity or None}
        if level or severity
        else None,
        limits=limits if any(value is not None for value in limits.values()) else None,
        allow_inconclusive=True if given.get("allow_inconclusive") else None,
    )


def chosen_rules(profile: Profile, only: Sequence[str]) -> list[Rule]:
    """
    Choose the rules of the profile's sets, or those named.

    Raises:
        UnknownRuleError: a rule named here, or in a waiver, is not known.
        ProfileError: no rule of this release is in the profile's sets.
    """
    for waiver in profile.waivers:
        rule_of(waiver.rule)
    if only:
        named = {rule_of(rule_id).id for rule_id in only}
        return [rule for rule in all_rules().values() if rule.id in named]
    return [rule for rule in all_rules().values() if rule.sets & set(profile.sets)]


def what_was_asked(given: dict[str, Any], stack: ExitStack) -> Asked:
    """
    Make what a run was asked to do; the embedded host is served while *stack* is open.

    Raises:
        ProfileError: the profile, or an option, cannot be used.
        UnknownRuleError: a rule that is named is not known.
    """
    chosen = chosen_profile(given)
    if chosen is None:
        profile, folder = with_options(stack.enter_context(embedded()), given), None
    else:
        profile, folder = chosen
    at = profile.target
    return Asked(
        profile=profile,
        rules=chosen_rules(profile, given.get("only", ())),
        leave=Leave(remote=given["allow_remote"], aggressive=given["aggressive"]),
        seed=secrets.randbits(32) if given["seed"] is None else given["seed"],
        name=EMBEDDED_NAME if chosen is None else (at.url or at.app or ""),
        folder=folder,
        keep=Path(given["keep_folder"]) if given["keep_folder"] else CASES_FOLDER,
    )


def check_writable(*paths: str | None) -> None:
    """
    Make sure before the run that reports can be written after it.

    Raises:
        TargetError: a path cannot be written.
        click.UsageError: two reports would go to one place.
    """
    if paths.count(STDOUT) > 1:
        raise click.UsageError("only one report can go to standard output: name a file for others")
    named = [Path(path).absolute() for path in paths if path is not None and path != STDOUT]
    if len(set(named)) < len(named):
        raise click.UsageError(f"two reports would go to {named[0].name}: name another file")
    for path in paths:
        if path is None or path == STDOUT:
            continue
        there = Path(path).exists()
        try:
            with Path(path).open("a", encoding="utf-8"):
                pass
        except OSError as error:
            raise TargetError(
                f"{path} cannot be written: {error.strerror}. Choose another file."
            ) from None
        if not there:
            Path(path).unlink()


def write_reports(document: ResultDocument, json_path: str | None, junit_path: str | None) -> None:
    """
    Write the reports that were asked for.

    Raises:
        TargetError: a file can no longer be written.
    """
    if json_path is not None:
        _write(json_path, document.to_text().encode("ascii"))
    if junit_path is not None:
        _write(junit_path, junit_xml(document))


def _write(path: str, content: bytes) -> None:
    if path == STDOUT:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise TargetError(f"{path} could not be written: {error.strerror}.") from None


@contextmanager
def shown_progress(what: str, *, quiet: bool) -> Iterator[Callable[[int, int, str], None]]:
    """Show progress: a bar on a terminal, a line now and then elsewhere, nothing when quiet."""
    if quiet:
        yield lambda _done, _total, _name: None
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(what)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total, _name: bar.update(task, completed=done, total=total)


def _lines(what: str) -> Callable[[int, int, str], None]:
    last = time.monotonic()

    def tell(done: int, total: int, _name: str) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            click.echo(f"{what}: {done} of {total}", err=True)

    return tell
