"""
The reference host, waiting a little at three moments of an answer, so that a kill can hit each.

It waits when the answer has arrived, when its decision is spent, and when the
action's effect is kept. Nothing else differs from the host as it is served.
Each answer that arrives is told by a line. Run as ``python -m tests.slow_host FILE``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.embedded import EmbeddedHost, build_host
from hostproof.reference_impl.serving import HOST, PromptServer, bound_socket, server_config
from hostproof.reference_impl.tools import OWN_TOOLS

WAIT_SECONDS = 0.03
TOKEN_VARIABLE = "SLOW_HOST_TOKEN"  # noqa: S105 - its name
ARRIVED = b"an answer arrived\n"


async def pay_slowly(arguments):
    await asyncio.sleep(WAIT_SECONDS)
    return f"paid {arguments['to']}"


class SlowAgent(ReferenceAgent):
    """Waits between the spend and the call."""

    async def __call__(self, turn, /):
        if turn.resumed is not None:
            await asyncio.sleep(WAIT_SECONDS)
        async for step in super().__call__(turn):
            yield step


def slowed(parts):
    right = parts.read_bytes

    async def read_bytes(chunks, headers, max_bytes):
        body = await right(chunks, headers, max_bytes)
        if b'"resume"' in body:
            os.write(sys.stdout.fileno(), ARRIVED)
            await asyncio.sleep(WAIT_SECONDS)
        return body

    tools = MappingProxyType({**OWN_TOOLS, "pay": replace(OWN_TOOLS["pay"], run=pay_slowly)})
    return replace(parts, read_bytes=read_bytes, agent=SlowAgent(own_tools=tools))


def slow_host(database: str, token: str) -> EmbeddedHost:
    return build_host(tokens={"alice": token}, database=database, fault=slowed)


def main(database: str) -> None:
    host = slow_host(database, os.environ[TOKEN_VARIABLE])
    bound = bound_socket()
    address = f"http://{HOST}:{bound.getsockname()[1]}\n"
    os.write(sys.stdout.fileno(), address.encode("ascii"))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            PromptServer(server_config(host.app)).run(sockets=[bound])
    finally:
        host.close()


if __name__ == "__main__":
    main(sys.argv[1])
