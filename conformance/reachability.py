"""Whether a URL can be a target: its form, where it points, and who listens there."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from typing import TYPE_CHECKING, Final

import httpx

from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_REPLY_BYTES: Final = 12  # "HTTP/1.1 400"
_LOOPBACK_4: Final = ipaddress.ip_network("127.0.0.0/8")
_LOOPBACK_6: Final = ipaddress.ip_address("::1")


def parse_url(url: str) -> httpx.URL:
    """
    Read the URL of an HTTP target.

    Raises:
        TargetError: it is no http or https URL, names no host or no port that
            there is, or carries credentials.
    """
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        raise TargetError(f"{url!a} is no URL: write it as http://127.0.0.1:8000/path") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise TargetError(
            f"{url!a} is no http or https URL: write it as http://127.0.0.1:8000/path"
        )
    if parsed.port is not None and not 0 < parsed.port < 65536:
        raise TargetError(f"{url!a} names no port: it is a number from 1 to 65535")
    if parsed.userinfo:
        raise TargetError("the URL carries credentials: give them as a header of a caller instead")
    return parsed


def is_loopback(url: str) -> bool:
    """
    Say whether *url* names this very machine: 127.0.0.0/8, ::1 or ``localhost``.

    No name is resolved; everything else, and what is no URL, is remote.
    """
    try:
        host = httpx.URL(url).host
    except httpx.InvalidURL:
        return False
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address in _LOOPBACK_4 or address == _LOOPBACK_6


async def check_reachable(
    url: str, *, tls: ssl.SSLContext | None = None, deadline_seconds: float = 5.0
) -> None:
    """
    Say why nothing can be tested at *url*, before anything is.

    An ``OPTIONS`` request is sent to an http URL. A server that listens and
    says nothing counts as reachable: the rules judge that.

    Args:
        url: of the target.
        tls: the certificates to trust on an https URL; httpx's own choice if None.
        deadline_seconds: for each of at most two connections.

    Raises:
        TargetError: the URL is none, the host name is unknown, nobody listens,
            the certificate is not trusted, or the scheme is the wrong one.
    """
    parsed = parse_url(url)
    if parsed.scheme == "https":
        await _check_tls(parsed, tls or httpx.create_ssl_context(trust_env=False), deadline_seconds)
    elif not await _answers_plainly(parsed, deadline_seconds) and await _speaks_tls(
        parsed, deadline_seconds
    ):
        raise TargetError(f"{_place(parsed)} speaks TLS: write the URL with https://")


async def _check_tls(url: httpx.URL, tls: ssl.SSLContext, deadline_seconds: float) -> None:
    place = _place(url)
    try:
        async with _connection(url, deadline_seconds, tls):
            return
    except ssl.SSLCertVerificationError as error:
        raise TargetError(
            f"the certificate of {place} is not trusted ({error.verify_message}): name the"
            " authority that signed it, or the host name it was made for"
        ) from error
    except (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError) as error:
        raise TargetError(
            f"{place} listens but does not speak TLS with us: if it is plain HTTP, write http://"
        ) from error


async def _answers_plainly(url: httpx.URL, deadline_seconds: float) -> bool:
    """Say whether a plain request gets a plain answer, or none; 400 may say "use TLS"."""
    head = (
        f"OPTIONS {url.raw_path.decode('ascii')} HTTP/1.1\r\n"
        f"host: {url.netloc.decode('ascii')}\r\nconnection: close\r\n\r\n"
    )
    async with _connection(url, deadline_seconds) as (reader, writer):
        try:
            async with asyncio.timeout(deadline_seconds):
                writer.write(head.encode("ascii"))
                reply = await reader.readexactly(_REPLY_BYTES)
        except TimeoutError:
            return True
        except (OSError, asyncio.IncompleteReadError):
            return False
    return reply.startswith(b"HTTP/") and not reply.endswith(b" 400")


async def _speaks_tls(url: httpx.URL, deadline_seconds: float) -> bool:
    anyone = ssl.create_default_context()
    anyone.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE  # nothing is sent: only whether there is TLS
    try:
        async with _connection(url, deadline_seconds, anyone):
            return True
    except (OSError, TargetError):
        return False


@contextlib.asynccontextmanager
async def _connection(
    url: httpx.URL, deadline_seconds: float, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """
    Open a connection and drop it at the end.

    Raises:
        TargetError: there is no such host, nobody listens, or it takes too long.
        ssl.SSLError, ConnectionError: the TLS handshake failed.
    """
    place = _place(url)
    host = url.raw_host.decode("ascii")
    port = _port(url)
    try:
        async with asyncio.timeout(deadline_seconds):
            reader, writer = await asyncio.open_connection(
                host, port, ssl=tls, server_hostname=host if tls else None
            )
    except TimeoutError as error:
        raise TargetError(
            f"no connection to {place} within {deadline_seconds:g} s: is the host up?"
        ) from error
    except socket.gaierror as error:
        raise TargetError(f"the name {url.host!a} is not known: check its spelling") from error
    except (ssl.SSLError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError):
        raise
    except OSError as error:
        raise TargetError(
            f"nothing listens at {place}: start the host, or check the port"
        ) from error
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _port(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _place(url: httpx.URL) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{_port(url)}"
