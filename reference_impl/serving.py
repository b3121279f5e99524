"""
An ASGI application served over HTTP on this machine, in a thread of its own.

Only the loopback interface is bound. The thread ends when it is told to.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import uvicorn

from hostproof.reference_impl.host_errors import ServeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp

HOST: Final = "127.0.0.1"
START_SECONDS: Final = 10.0
TICK_SECONDS: Final = 0.1
CHECKS: Final = 20
"""How often, within one tick, a server that ends looks whether its callers have gone."""


class PromptServer(uvicorn.Server):
    """A server that ends as soon as it is told to, not at its next tick."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """Tell it to end, from any thread."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # its loop has ended already
                self._loop.call_soon_threadsafe(self._leaving.set)

    async def main_loop(self) -> None:
        """Serve until told to end."""
        self._loop = asyncio.get_running_loop()
        counter = 0
        while not await self.on_tick(counter):
            counter += 1
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._leaving.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End at once where nobody is connected any more; else as gently as ever."""
        for _ in range(CHECKS):
            if not (self.server_state.connections or self.server_state.tasks):
                break
            await asyncio.sleep(TICK_SECONDS / CHECKS)
        else:
            await super().shutdown(sockets)
            return
        for server in self.servers:
            server.close()
        for bound in sockets or ():
            bound.close()


def server_config(app: ASGIApp) -> uvicorn.Config:
    """Configure the server for *app*: quiet, and without protocols it does not need."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_level="error",
        log_config=None,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=1,
    )


def bound_socket(port: int = 0) -> socket.socket:
    """
    Bind a loopback port, a free one by default.

    Raises:
        ServeError: the port cannot be had.
    """
    # The protocol is named so that asyncio sees TCP and turns its delays off.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError as error:
        bound.close()
        raise ServeError(
            f"port {port} cannot be bound: {error.strerror}. Choose another with --port."
        ) from error
    return bound


@contextmanager
def served(app: ASGIApp, port: int = 0) -> Iterator[str]:
    """
    Serve *app* while the block runs, and give its base URL.

    Raises:
        ServeError: it did not start within :data:`START_SECONDS`.
    """
    bound = bound_socket(port)
    server = PromptServer(server_config(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + START_SECONDS
        while not server.started:
            if time.monotonic() > deadline or not thread.is_alive():
                raise ServeError("the embedded server did not start.")
            time.sleep(0.002)
        yield f"http://{HOST}:{bound.getsockname()[1]}"
    finally:
        server.leave()
        thread.join(START_SECONDS)
        bound.close()
