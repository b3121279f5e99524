"""
An ASGI application in this process, driven as a server would.

Nothing is buffered: events are read and timed as the app sends them, and an
app that streams without end is stopped like a host behind a socket. What a
server would refuse to send is refused here too. Only an app that blocks the
event loop cannot be survived: run such a one as a server, and test its URL.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from hostproof.conformance.asgi_call import AsgiCall
from hostproof.conformance.asgi_lifespan import Lifespan
from hostproof.conformance.target import Limits, TargetError
from hostproof.conformance.wire import request_headers, request_target

if TYPE_CHECKING:
    from hostproof.conformance.asgi_app import AsgiApp, Scope
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.last_byte import LastByte

LEAVE_SECONDS: Final = 0.5
"""How long an app may go on after its exchange ended: told to stop, then once more cancelled."""

_CLIENT: Final = ("127.0.0.1", 50_000)
_SERVER: Final = ("127.0.0.1", 80)


class AsgiTarget:
    """
    A target that is an app.

    The first request starts the app up; :meth:`aclose` shuts it down. All of it
    belongs to one event loop.

    Args:
        app: the application.
        path: of the target's own URL, with its query if it has one.
        name: to describe it by, such as ``main:app``.
        lifespan_seconds: for its startup, and again for its shutdown.

    Raises:
        TargetError: *path* does not begin with a slash, or is not ASCII.
    """

    def __init__(
        self,
        app: AsgiApp,
        *,
        path: str = "/",
        name: str = "",
        lifespan_seconds: float = 10.0,
    ) -> None:
        if not path.startswith("/") or not path.isascii():
            raise TargetError(f"the app's path {path!a} must begin with / and be ASCII: encode it")
        self._app = app
        self._path = path
        self._name = name or getattr(app, "__name__", type(app).__name__)
        self._lifespan_seconds = lifespan_seconds
        self._lifespan: Lifespan | None = None  # None until the app is started
        self._starting = asyncio.Lock()
        self._running: set[asyncio.Task[None]] = set()

    def describe(self) -> str:
        """Give the app's name and the path."""
        return f"{self._name} {self._path.partition('?')[0]}"

    async def start(self) -> None:
        """
        Run the app's startup, if that was not done yet.

        Raises:
            TargetError: it failed, or took too long.
        """
        async with self._starting:
            if self._lifespan is None:
                lifespan = Lifespan(self._app, self._lifespan_seconds)
                await lifespan.start_up()
                self._lifespan = lifespan

    async def aclose(self) -> None:
        """Cancel what still runs, and shut the app down."""
        if self._running:
            for task in self._running:
                task.cancel()
            await asyncio.wait(set(self._running), timeout=LEAVE_SECONDS)
        if self._lifespan is not None:
            await self._lifespan.shut_down()
            self._lifespan = None

    async def send(self, request: Request, limits: Limits) -> Exchange:
        """
        Call the app with *request* and record what it sends, within *limits*.

        The app's own clean-up may take twice :data:`LEAVE_SECONDS` more.

        Raises:
            TargetError: the app did not start up, or the request cannot be
                written as HTTP.
        """
        return await self._called(request, limits, None)

    async def send_held(self, request: Request, limits: Limits, last: LastByte) -> Exchange:
        """
        Call the app with *request*; the last byte of its body waits for the start.

        Raises:
            TargetError: as :meth:`send`.
        """
        return await self._called(request, limits, last)

    async def _called(self, request: Request, limits: Limits, last: LastByte | None) -> Exchange:
        scope = self._scope(request)
        if self._lifespan is None:
            await self.start()
        if self._lifespan is not None:
            scope["state"] = dict(self._lifespan.state)
        call = AsgiCall(request, limits, last)
        task = asyncio.create_task(call.run(self._app, scope))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            await call.wait()
            await self._leave(task, call)
        except asyncio.CancelledError:
            call.stop()
            task.cancel()
            raise
        return call.exchange()

    async def _leave(self, task: asyncio.Task[None], call: AsgiCall) -> None:
        """Let the app return. After a whole response it may go on in the background."""
        call.stop()
        if not task.done():
            await asyncio.wait({task}, timeout=LEAVE_SECONDS)
        if not task.done() and not call.is_complete:
            task.cancel()
            await asyncio.wait({task}, timeout=LEAVE_SECONDS)

    def _scope(self, request: Request) -> Scope:
        target = request_target(request, self._path.encode("ascii"))
        raw_path, _, query = target.partition(b"?")
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method.upper(),
            "scheme": "http",
            "path": unquote(raw_path.decode("ascii")),
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": request_headers(request, _SERVER[0]),
            "client": _CLIENT,
            "server": _SERVER,
        }
