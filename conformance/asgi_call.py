"""One request to an ASGI application: the two functions it calls, and what they record."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final, cast

from hostproof.conformance.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostproof.conformance.asgi_app import AsgiApp, Message, Scope
    from hostproof.conformance.exchange import End, Exchange, Headers, Request
    from hostproof.conformance.last_byte import LastByte
    from hostproof.conformance.target import Limits

_BYTES: Final = (bytes, bytearray, memoryview)
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_NO_BODY_STATUSES: Final = frozenset({204, 304})


class _MisuseError(RuntimeError):
    """The app sent what no server sends on. The app sees it, as it would see a server's."""

    def __init__(self, end: End, message: str) -> None:
        super().__init__(message)
        self.end = end


class AsgiCall:
    """
    One request in an app's hands: :meth:`run` is the app's side, the rest is the target's.

    Made in the event loop, when the request begins.
    """

    def __init__(self, request: Request, limits: Limits, last: LastByte | None = None) -> None:
        self._request = request
        self._last = last  # where the body's last byte waits, if it does
        self._recorder = Recorder(request, limits)
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self._is_over = False
        self._end: End = "complete"
        self._detail = ""
        self._seconds = 0.0
        self._crash: BaseException | None = None
        self._unread = request.body
        self._is_body_read = False
        self._has_body = True
        self._missing_bytes: int | None = None  # of those that Content-Length promises
        self._changed = asyncio.Event()  # the time to wait for, or the end
        self._stopped = asyncio.Event()

    async def run(self, app: AsgiApp, scope: Scope) -> None:
        """Call the app; whatever it raises is kept, and ends the exchange if nothing else did."""
        why = "returned"
        try:
            await app(scope, self._receive, self._send)
        except asyncio.CancelledError:
            why = "was cancelled"
            raise
        except (Exception, BaseExceptionGroup, SystemExit) as crash:  # noqa: BLE001 - a finding
            self._crash = crash
            why = f"raised {type(crash).__name__}"
        finally:
            if self._recorder.status is None:
                self._finish("reset", f"the app {why} before any response head")
            else:
                self._finish("cut", f"the app {why} before the end of the body")

    @property
    def is_complete(self) -> bool:
        """Whether the app sent a whole response."""
        return self._is_over and self._end == "complete"

    async def wait(self) -> None:
        """Wait for the end, whatever brings it; the deadline does at last."""
        while not self._is_over:
            self._changed.clear()
            try:
                async with asyncio.timeout_at(self._start + self._recorder.due_seconds):
                    await self._changed.wait()
            except TimeoutError:
                self._finish("deadline", self._recorder.overdue)

    def stop(self) -> None:
        """Tell the app that its client is gone."""
        self._stopped.set()

    def exchange(self) -> Exchange:
        """Give what was recorded."""
        return self._recorder.finish(
            self._end, self._seconds, detail=self._detail, crash=self._crash
        )

    def _finish(self, end: End, detail: str = "") -> None:
        if not self._is_over:
            self._is_over = True
            self._end = end
            self._detail = detail
            self._seconds = self._loop.time() - self._start
            self._stopped.set()
            self._changed.set()
            if self._last is not None:
                self._last.leave()

    async def _receive(self) -> Message:
        if not self._is_body_read:
            return await self._next_piece()
        await self._stopped.wait()
        return {"type": "http.disconnect"}

    async def _next_piece(self) -> Message:
        """Give the body; where its last byte waits for others, that apart from the rest."""
        if self._last is not None:
            if len(self._unread) > 1:
                rest, self._unread = self._unread[:-1], self._unread[-1:]
                return {"type": "http.request", "body": rest, "more_body": True}
            await self._last.wait()
        self._is_body_read = True
        return {"type": "http.request", "body": self._unread, "more_body": False}

    async def _send(self, message: Message) -> None:
        await asyncio.sleep(0)  # an app that only sends must not hold the loop
        if self._is_over:
            return  # as servers do: what is sent to nobody is let go
        try:
            if self._recorder.status is None:
                self._head(message)
            else:
                self._body(message)
        except _MisuseError as error:
            self._finish(error.end, str(error))
            raise

    def _head(self, message: Message) -> None:
        status = message.get("status")
        if message.get("type") != "http.response.start" or not isinstance(status, int):
            raise _MisuseError("protocol", "the app sent no response head where one was due")
        if not 200 <= status <= 999:
            raise _MisuseError("protocol", "the app sent a status that is none")
        headers = _headers(message.get("headers", ()))
        declared = dict(reversed(headers)).get("content-length", "")
        if declared and _LENGTH.fullmatch(declared) is None:
            raise _MisuseError("protocol", "the app sent a Content-Length that is no number")
        self._has_body = self._request.method.upper() != "HEAD" and status not in _NO_BODY_STATUSES
        if declared and self._has_body:
            self._missing_bytes = int(declared)
        self._recorder.head(status, headers)
        self._changed.set()

    def _body(self, message: Message) -> None:
        data = message.get("body", b"")
        if message.get("type") != "http.response.body" or not isinstance(data, _BYTES):
            raise _MisuseError("protocol", "the app sent no body where one was due")
        data = bytes(data) if self._has_body else b""
        if self._missing_bytes is not None:
            self._missing_bytes -= len(data)
            if self._missing_bytes < 0:
                raise _MisuseError("cut", "the body is longer than its Content-Length")
        due = self._recorder.due_seconds
        if not self._recorder.feed(data, self._loop.time() - self._start):
            self._finish("cap")
        elif not message.get("more_body", False):
            if self._missing_bytes:
                raise _MisuseError("cut", "the body is shorter than its Content-Length")
            self._finish("complete")
        elif self._recorder.due_seconds != due:
            self._changed.set()


def _headers(pairs: object) -> Headers:
    """Read the headers of a message as names and values, or refuse them."""
    try:
        return tuple(
            (bytes(name).decode("latin-1").lower(), bytes(value).decode("latin-1"))
            for name, value in cast("Iterable[tuple[bytes, bytes]]", pairs)
        )
    except (TypeError, ValueError):
        raise _MisuseError("protocol", "the app sent headers that are no pairs of bytes") from None
