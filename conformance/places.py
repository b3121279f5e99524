"""URLs and paths as a profile gives them: what they must be, and whose origin they are on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import httpx

from hostproof.conformance.checking import Problem
from hostproof.conformance.reachability import parse_url
from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from hostproof.conformance.checking import Key

_PATH: Final = re.compile(r"/(?!/)[!-~]*")
_PORTS: Final = {"http": 80, "https": 443}
_FORM: Final = "an http or https URL such as http://127.0.0.1:8000/agui"


def is_path(url: str) -> bool:
    """Say whether *url* is a path on an origin, in printable ASCII; ``//host`` is none."""
    return _PATH.fullmatch(url) is not None


def check_url(url: str, key: Key) -> None:
    """
    Take an http or https URL without credentials.

    Raises:
        Problem: *url* is none; it is not quoted.
    """
    _check(url, key, _FORM)


def check_place(url: str, key: Key) -> None:
    """
    Take a path on the target's origin, or a URL as :func:`check_url` does.

    Raises:
        Problem: *url* is neither; it is not quoted.
    """
    if not is_path(url):
        _check(url, key, f"a path such as /health, or {_FORM}")


def _check(url: str, key: Key, form: str) -> None:
    try:
        parse_url(url)
    except (TargetError, ValueError):
        raise Problem(
            key,
            f"must be {form}, its port from 1 to 65535, without credentials: "
            "they are headers of a caller",
        ) from None


def path_in(url: str) -> str:
    """Give the path of a URL with its query, as it is sent."""
    return httpx.URL(url).raw_path.decode("ascii")


def is_same_origin(one: str, other: str) -> bool:
    """Say whether two URLs have the same scheme, host and port."""
    return _origin(one) == _origin(other)


def joined(base: str, url: str) -> str:
    """Resolve *url*, a path or a URL, against the URL *base*."""
    return str(httpx.URL(base).join(url))


def _origin(url: str) -> tuple[str, str, int | None]:
    parsed = httpx.URL(url)
    return parsed.scheme, parsed.host, parsed.port or _PORTS.get(parsed.scheme)
