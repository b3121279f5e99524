"""``hostproof serve``: the reference host on a port, right or with a seeded fault."""

from __future__ import annotations

import difflib
import logging
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from hostproof.conformance.catalogue import UnknownRuleError, all_rules
from hostproof.conformance.commands.shared import ending_well
from hostproof.conformance.embedded_run import needs_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hostproof.conformance.rule import Fault

CALLER_VARIABLE: Final = "HOSTPROOF_TOKEN_"
"""Before a caller's name in capitals: the environment variable that holds its token."""

SHORTEST_TOKEN: Final = 16
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@click.command()
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port on the loopback interface; 0 for a free one.",
)
@click.option(
    "--fault",
    "fault_name",
    metavar="NAME",
    help="Serve a variant with this fault; `hostproof rules ID` names it.",
)
@click.option(
    "--database",
    default=":memory:",
    show_default=True,
    metavar="FILE",
    help="Where threads are kept.",
)
@click.option(
    "--inspect", is_flag=True, help="Offer observation and control to a caller of their own."
)
def serve(port: int, fault_name: str | None, database: str, *, inspect: bool) -> None:
    """
    Serve the reference host on this machine until Ctrl-C.

    Every caller gets a fresh token, which is printed. A token may be given
    instead, so that several processes on one --database serve the same
    callers: in the environment variable HOSTPROOF_TOKEN_ALICE (_BOB,
    _INSPECTOR), since a command line is there for everyone to see. It is not
    printed then.
    """
    with ending_well():
        try:
            from hostproof.reference_impl.embedded import (
                CONTROL_PATH,
                LOOK_INSIDE,
                OBSERVATION_PATH,
                SETUPS,
                build_host,
                new_tokens,
            )
            from hostproof.reference_impl.serving import (
                HOST,
                PromptServer,
                bound_socket,
                server_config,
            )
        except ImportError as error:
            raise needs_host(error) from error
        fault = None if fault_name is None else fault_of(fault_name).build
        names = ("alice", "bob", *([LOOK_INSIDE] if inspect else []))
        given = given_tokens(names, os.environ)
        tokens = new_tokens(*names) | given
        host = build_host(tokens=tokens, database=database, inspect=inspect, fault=fault)
        bound = bound_socket(port)
        bound.listen()  # whoever reads the lines below may call at once
        base = f"http://{HOST}:{bound.getsockname()[1]}"
        logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
        for setup in SETUPS:
            click.echo(f"agent    {base}{setup.path}")
        for name, token in tokens.items():
            shown = f"${token_variable(name)}" if name in given else token
            click.echo(f"caller   {name}: Authorization: Bearer {shown}")
        if inspect:
            click.echo(f"inspect  {base}{OBSERVATION_PATH}  {base}{CONTROL_PATH}")
        click.echo("Stop with Ctrl-C.")
        try:
            with suppress(KeyboardInterrupt):  # Ctrl-C and SIGTERM are the ways to end it
                PromptServer(server_config(host.app)).run(sockets=[bound])
        finally:
            host.close()


def token_variable(name: str) -> str:
    """Name the environment variable of a caller's token."""
    return CALLER_VARIABLE + name.upper()


def given_tokens(names: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """
    Read the tokens that the environment gives; an empty variable gives none.

    Raises:
        click.UsageError: one is no bearer token (RFC 6750), too short to be a
            secret, or two callers have the same.
    """
    given = {name: token for name in names if (token := environ.get(token_variable(name)))}
    for name, token in given.items():
        if _TOKEN.fullmatch(token) is None or len(token) < SHORTEST_TOKEN:
            raise click.UsageError(
                f"{token_variable(name)} is no token: give {SHORTEST_TOKEN} characters or more, "
                "of letters, digits and -._~+/"
            )
    if len(set(given.values())) < len(given):
        raise click.UsageError("two callers have the same token: give each its own")
    return given


def fault_of(name: str) -> Fault:
    """
    Give the seeded fault of a name.

    Raises:
        UnknownRuleError: there is none.
    """
    faults = {
        fault.name: fault
        for rule in all_rules().values()
        for fault in rule.faults
        if fault.build is not None  # the others are another host's
    }
    if name in faults:
        return faults[name]
    near = difflib.get_close_matches(name, faults, n=1, cutoff=0.3)
    hint = f" Did you mean {near[0]}?" if near else " `hostproof selftest --verbose` lists them."
    raise UnknownRuleError(f"no fault is called {name!r}.{hint}")
