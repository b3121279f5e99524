"""``hostproof serve``: the reference host on a port, right or with a seeded fault."""

from __future__ import annotations

import difflib
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from hostproof.conformance.catalogue import UnknownRuleError, all_rules
from hostproof.conformance.commands.shared import ending_well
from hostproof.conformance.embedded_run import needs_host

if TYPE_CHECKING:
    from hostproof.conformance.rule import Fault


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
    """Serve the reference host on this machine until Ctrl-C."""
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
        tokens = new_tokens("alice", "bob", *([LOOK_INSIDE] if inspect else []))
        host = build_host(tokens=tokens, database=database, inspect=inspect, fault=fault)
        bound = bound_socket(port)
        base = f"http://{HOST}:{bound.getsockname()[1]}"
        logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
        for setup in SETUPS:
            click.echo(f"agent    {base}{setup.path}")
        for name, token in tokens.items():
            click.echo(f"caller   {name}: Authorization: Bearer {token}")
        if inspect:
            click.echo(f"inspect  {base}{OBSERVATION_PATH}  {base}{CONTROL_PATH}")
        click.echo("Stop with Ctrl-C.")
        try:
            with suppress(KeyboardInterrupt):  # the way to end it
                PromptServer(server_config(host.app)).run(sockets=[bound])
        finally:
            host.close()


def fault_of(name: str) -> Fault:
    """
    Give the seeded fault of a name.

    Raises:
        UnknownRuleError: there is none.
    """
    faults = {rule.fault.name: rule.fault for rule in all_rules().values()}
    if name in faults:
        return faults[name]
    near = difflib.get_close_matches(name, faults, n=1, cutoff=0.3)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownRuleError(f"no fault is called {name!r}.{hint}")
