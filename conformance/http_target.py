"""
A host at a URL, over HTTP/1.1 with httpx.

It stands on httpx's transport, below its client: there a redirect is an answer
like any other, no cookie of one caller travels with another, and no
environment variable sends requests elsewhere. Whatever the peer does ends in
an :class:`~hostproof.conformance.exchange.Exchange`.

A host that sends more than its ``Content-Length`` says leaves bytes on the
connection, which the next request there would take for its answer. To tell
whether a failure is its own, repeat it with ``keep_alive=False``.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from typing import TYPE_CHECKING, Final, cast

import httpx

from hostproof.conformance.reachability import parse_url
from hostproof.conformance.recorder import Recorder
from hostproof.conformance.target import Limits, TargetError
from hostproof.conformance.wire import request_headers, request_target

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from hostproof.conformance.exchange import End, Exchange, Headers, Request
    from hostproof.conformance.last_byte import LastByte

KEEP_ALIVE_SECONDS: Final = 2.0
"""How long an idle connection is used again; less than servers keep theirs."""

_HEAD_TOO_LARGE: Final = 431
_UNREACHABLE: Final[tuple[tuple[type[OSError], str], ...]] = (
    (socket.gaierror, "the host name is not known"),
    (ssl.SSLCertVerificationError, "the certificate is not trusted"),
    (ssl.SSLError, "the other side does not speak TLS with us"),
)

SERVER_ERROR: Final = 500


class HttpTarget:
    """
    A target at *url*.

    Connections are opened as they are needed, any number of them, and used
    again. All requests of one target belong to one event loop.

    Args:
        url: http or https; its query counts, a fragment does not.
        tls: the certificates to trust on an https URL; httpx's own choice if None.
        keep_alive: whether a connection serves more than one request.

    Raises:
        TargetError: the URL is no http or https URL, or carries credentials.
    """

    def __init__(
        self, url: str, *, tls: ssl.SSLContext | None = None, keep_alive: bool = True
    ) -> None:
        self._url = parse_url(url)
        self._host = self._url.netloc.decode("ascii")
        # The context is costly to make, and a plain connection has no use for it.
        verify = (tls or True) if self._url.scheme == "https" else False
        self._transport = _transport(verify, most_idle=None if keep_alive else 0)
        self._lone = _transport(verify, most_idle=0)

    def describe(self) -> str:
        """Give the URL, without its query."""
        return str(self._url.copy_with(query=None, fragment=None))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()
        await self._lone.aclose()

    async def send(self, request: Request, limits: Limits) -> Exchange:
        """
        Send *request* and record what comes back, within *limits*.

        Raises:
            TargetError: the request cannot be written as HTTP/1.1.
        """
        stream = httpx.ByteStream(request.body)
        return await self._recorded(request, limits, stream, self._transport)

    async def send_held(self, request: Request, limits: Limits, last: LastByte) -> Exchange:
        """
        Send *request* on a connection of its own; its last byte waits for the start.

        Raises:
            TargetError: as :meth:`send`.
        """
        return await self._recorded(request, limits, _Held(request.body, last), self._lone)

    async def _recorded(
        self,
        request: Request,
        limits: Limits,
        body: httpx.AsyncByteStream,
        transport: httpx.AsyncHTTPTransport,
    ) -> Exchange:
        outgoing = self._outgoing(request, limits, body)
        loop = asyncio.get_running_loop()
        start = loop.time()
        recorder = Recorder(request, limits)
        end: End = "complete"
        detail = ""
        try:
            async with asyncio.timeout_at(start + recorder.due_seconds) as scope:
                try:
                    response = await transport.handle_async_request(outgoing)
                    await self._answer(response, recorder, scope, start)
                except httpx.LocalProtocolError as error:
                    raise TargetError(
                        "the request cannot be written as HTTP/1.1: check its method, its header"
                        " names and values, and leave Content-Length to the target"
                    ) from error
                except (httpx.TransportError, OSError) as error:
                    end, detail = _end_of(error, has_head=recorder.status is not None)
        except TimeoutError:
            end, detail = "deadline", recorder.overdue
        return recorder.finish(end, loop.time() - start, detail=detail)

    async def _answer(
        self, response: httpx.Response, recorder: Recorder, scope: asyncio.Timeout, start: float
    ) -> None:
        loop = asyncio.get_running_loop()
        stream = cast("httpx.AsyncByteStream", response.stream)
        try:
            recorder.head(response.status_code, _headers(response))
            due = recorder.due_seconds
            _reschedule(scope, start + due)
            async with contextlib.aclosing(_pieces(stream)) as pieces:
                async for piece in pieces:
                    if not recorder.feed(piece, loop.time() - start):
                        return
                    if recorder.due_seconds != due:
                        due = recorder.due_seconds
                        _reschedule(scope, start + due)
        finally:
            await stream.aclose()
            if response.status_code >= SERVER_ERROR:
                # Servers that break often hang up just behind their answer: whoever was handed
                # this connection next would be blamed for it.
                await response.extensions["network_stream"].aclose()

    def _outgoing(
        self, request: Request, limits: Limits, body: httpx.AsyncByteStream
    ) -> httpx.Request:
        extensions: dict[str, object] = {"target": request_target(request, self._url.raw_path)}
        if self._url.scheme == "https":
            # httpcore drops a handshake that is cancelled without closing its socket, so it gets
            # a timeout of its own: half of the head's for connecting, half for the handshake.
            extensions["timeout"] = {"connect": limits.head_seconds / 2}
        return httpx.Request(
            request.method,
            self._url,
            headers=request_headers(request, self._host),
            stream=body,
            extensions=extensions,
        )


class _Held(httpx.AsyncByteStream):
    """A body whose last byte waits. Its length is in the head, so it is not sent in chunks."""

    def __init__(self, body: bytes, last: LastByte) -> None:
        self._body = body
        self._last = last

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # What is yielded is on the wire when the next piece is asked for.
        if len(self._body) > 1:
            yield self._body[:-1]
        await self._last.wait()
        yield self._body[-1:]


def _transport(verify: ssl.SSLContext | bool, *, most_idle: int | None) -> httpx.AsyncHTTPTransport:
    return httpx.AsyncHTTPTransport(
        verify=verify,
        trust_env=False,
        limits=httpx.Limits(
            max_connections=None,
            max_keepalive_connections=most_idle,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
        ),
    )


async def _pieces(stream: httpx.AsyncByteStream) -> AsyncGenerator[bytes, None]:
    """Iterate over *stream* in a way that can be closed early."""
    async for piece in stream:
        yield piece


def _reschedule(scope: asyncio.Timeout, when: float) -> None:
    """Move the end of *scope*, unless it has come: it cannot be moved then."""
    if not scope.expired():
        scope.reschedule(when)


def _headers(response: httpx.Response) -> Headers:
    return tuple(
        (name.decode("latin-1").lower(), value.decode("latin-1"))
        for name, value in response.headers.raw
    )


def _end_of(error: httpx.TransportError | OSError, *, has_head: bool) -> tuple[End, str]:
    """Say how an exchange ended that *error* broke off, in our words: the peer's may be in it."""
    if _hint(error) == _HEAD_TOO_LARGE:
        return "cap", "a line or the head of the response is larger than 100 KB"
    if has_head:
        return "cut", "the body broke off, or lost its framing, before its end"
    if isinstance(error, httpx.ConnectTimeout):
        return "deadline", "no connection within half the time for the response head"
    if isinstance(error, httpx.ConnectError):
        return "unreachable", _why_unreachable(error)
    if isinstance(error, httpx.RemoteProtocolError) and len(_causes(error)) > 1:
        return "protocol", "the reply is not HTTP/1.1"
    return "reset", "the connection was dropped before any response head"


def _causes(error: BaseException) -> list[BaseException]:
    """
    Give what *error* was made from, the nearest first.

    Behind httpx stands httpcore, and behind that h11 when the bytes were at
    fault, or the socket; a connection that just closed has no third.
    """
    causes: list[BaseException] = []
    while (cause := error.__cause__ or error.__context__) is not None and len(causes) < 10:
        causes.append(cause)
        error = cause
    return causes


def _hint(error: BaseException) -> object:
    hints = (getattr(cause, "error_status_hint", None) for cause in _causes(error))
    return next((hint for hint in hints if hint is not None), None)


def _why_unreachable(error: BaseException) -> str:
    causes = _causes(error)
    for kind, words in _UNREACHABLE:
        if any(isinstance(cause, kind) for cause in causes):
            return words
    return "no connection could be made"
