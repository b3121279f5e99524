"""A request as every HTTP wire carries it: its target and its headers, as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Request

_BODY_METHODS: Final = frozenset({"POST", "PUT", "PATCH"})
_DEFAULTS: Final = (
    ("accept", "text/event-stream, application/json, */*;q=0.1"),
    ("accept-encoding", "identity"),
    ("user-agent", "hostproof"),
)


def request_target(request: Request, own: bytes) -> bytes:
    """Give the path and query to ask for, where *own* is that of the target's own URL."""
    path = request.path.encode("ascii")
    if path.startswith(b"?"):
        return own.partition(b"?")[0] + path
    return path or own


def request_headers(request: Request, host: str) -> list[tuple[bytes, bytes]]:
    """
    Give the headers to send, names in lower case: ours where the request has none, then its own.

    The body's ``Content-Length`` is the last, so a request brings none of its own.

    Raises:
        TargetError: a header cannot be written.
    """
    given = {name.lower() for name, _ in request.headers}
    if not given.isdisjoint(("content-length", "transfer-encoding")):
        raise TargetError("the target sets Content-Length itself: leave the body's framing to it")
    headers = [header for header in (("host", host), *_DEFAULTS) if header[0] not in given]
    headers += request.headers
    if request.body or request.method in _BODY_METHODS:
        headers.append(("content-length", str(len(request.body))))
    try:
        return [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in headers]
    except UnicodeEncodeError as error:
        raise TargetError(
            "a header cannot be written: names are ASCII, values Latin-1, so encode the rest"
        ) from error
