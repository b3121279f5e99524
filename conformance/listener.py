"""
A place on this machine that notes who asks it for anything: where the URLs of a page lead.

Whatever asks, it answers a little and closes; a path that begins with ``/redirect`` leads on to
the rest of it. It is opened with the host and closed with it, and hears the loopback only.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LOOPBACK: Final = "127.0.0.1"
REDIRECT: Final = "/redirect"
MOST_KEPT: Final = 10_000
MOST_BYTES: Final = 4096
HEAD_SECONDS: Final = 5.0


class Listener:
    """
    What was asked for.

    Attributes:
        origin: where it listens, such as ``http://127.0.0.1:40123``.
    """

    def __init__(self) -> None:
        self.origin = ""
        self._paths: deque[str] = deque(maxlen=MOST_KEPT)

    def asked_for(self, mark: str) -> int:
        """Count the requests whose path holds a mark."""
        return sum(mark in path for path in self._paths)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Note one request, and answer it."""
        try:
            with suppress(TimeoutError, OSError, ValueError):
                async with asyncio.timeout(HEAD_SECONDS):
                    line = await reader.readline()
                    path = line.decode("latin-1").partition(" ")[2].partition(" ")[0]
                    self._paths.append(path)
                    writer.write(_answer_to(path))
                    await writer.drain()
        finally:
            writer.close()


def _answer_to(path: str) -> bytes:
    if path.startswith(REDIRECT):
        head = f"302 Found\r\nlocation: {path.removeprefix(REDIRECT)}"
    else:
        head = "200 OK\r\ncontent-type: text/plain"
    return f"HTTP/1.1 {head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode("latin-1")


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """Listen on a port of this machine's loopback while the block runs."""
    listener = Listener()
    server = await asyncio.start_server(listener.answer, LOOPBACK, 0, limit=MOST_BYTES)
    port = server.sockets[0].getsockname()[1]
    listener.origin = f"http://{LOOPBACK}:{port}"
    try:
        yield listener
    finally:
        server.close()
