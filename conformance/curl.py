"""
A request as a curl command that a person can paste into a shell.

The values of a caller's headers are variables in it, named as
:meth:`~hostproof.conformance.redaction.Redactor.variable` says:
``$HOSTPROOF_ALICE_AUTHORIZATION`` is all of alice's ``Authorization``, scheme
and token. Set them before the command is run.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from hostproof.conformance.exchange import Headers
    from hostproof.conformance.redaction import Redactor

MAX_TYPED: Final = 4000
"""Longest body, in characters, that stands in the command itself."""

UNSAVED_BODY: Final = "body.bin"
"""The file a command names for a body that is nowhere kept."""

_BODY_METHODS: Final = frozenset({"POST", "PUT", "PATCH"})
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_GLOB: Final = re.compile(r"[][{}]")
_DOTS: Final = re.compile(r"/\.\.?(?:[/?]|$)")


def needs_file(body: bytes) -> bool:
    """
    Say whether *body* cannot stand in a command.

    It is too long, no UTF-8, or holds characters other than the line feed that
    do not print: a terminal would take them for keys or hide them.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return len(text) > MAX_TYPED or not text.replace("\n", "").isprintable()


def curl_line(
    method: str,
    url: str,
    headers: Headers,
    body: bytes,
    redactor: Redactor,
    *,
    body_file: Path | None = None,
) -> str:
    """
    Write a request as a command for a POSIX shell; run, it sends the same bytes as body.

    Args:
        method: as it is sent.
        url: all of it.
        headers: those of the request. The answer is asked for as an event
            stream where they say nothing else.
        body: its bytes. One that holds a caller's secret is redacted.
        redactor: of the callers whose secrets must not be shown.
        body_file: where *body* is kept, for one that :func:`needs_file`.
    """
    words = ["curl", "-isSN"]
    has_body = bool(body) or method in _BODY_METHODS
    words += _method_words(method, has_body=has_body)
    if url.startswith("https:"):
        words.append("--http1.1")
    if _GLOB.search(url):
        words.append("--globoff")
    if _DOTS.search(url):
        words.append("--path-as-is")
    words.append(shlex.quote(redactor.text(url)))
    for name, value in _whole(headers, has_body=has_body):
        words += ["-H", _header_word(name, value, redactor)]
    if has_body:
        words += _body_words(redactor.data(body), body_file)
    return " ".join(words)


def _method_words(method: str, *, has_body: bool) -> list[str]:
    if method == ("POST" if has_body else "GET"):
        return []
    if method == "HEAD" and not has_body:
        return ["--head"]
    return ["-X", shlex.quote(method)]


def _whole(headers: Headers, *, has_body: bool) -> Headers:
    """Add what keeps curl from adding headers of its own choice."""
    given = {name.lower() for name, _ in headers}
    added: list[tuple[str, str]] = []
    if "accept" not in given:
        added.append(("Accept", "text/event-stream"))
    if has_body and "content-type" not in given:
        added.append(("Content-Type:", ""))  # takes curl's own away
    return (*headers, *added)


def _header_word(name: str, value: str, redactor: Redactor) -> str:
    variable = redactor.variable(name, value)
    if variable is not None:
        if _PLAIN_NAME.fullmatch(name):
            return f'"{name}: ${variable}"'
        return f'{shlex.quote(f"{name}: ")}"${variable}"'
    if name.endswith(":"):
        return shlex.quote(name)
    if not value:
        return shlex.quote(f"{name};")  # how curl is told to send an empty one
    return shlex.quote(f"{name}: {redactor.text(value)}")


def _body_words(body: bytes, body_file: Path | None) -> list[str]:
    if needs_file(body):
        path = UNSAVED_BODY if body_file is None else body_file.as_posix()
        return ["--data-binary", shlex.quote(f"@{path}")]
    return ["--data-raw", shlex.quote(body.decode("utf-8"))]
