"""
An ASGI application served over HTTP on this machine, in a thread of its own.

Only the loopback interface is bound. The thread ends when it is told to.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import uvicorn

from hostproof.reference_impl.host_errors import ServeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp

HOST: Final = "127.0.0.1"
START_SECONDS: Final = 10.0


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
    server = uvicorn.Server(server_config(app))
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
        server.should_exit = True
        thread.join(START_SECONDS)
        bound.close()
