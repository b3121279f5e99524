"""
Keeping the callers' secrets out of everything that is shown or kept.

A header value of a caller is replaced by ``[caller NAME]`` wherever it turns
up: in what was sent, and in what a host sent back, also percent-encoded, as it
stands in JSON or HTML, or inside base64.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hostproof.conformance.exchange import Headers
    from hostproof.conformance.profile_parts import Caller

MIN_SECRET: Final = 6
"""Shorter values are left in texts: they are words, and would take the sense from a report."""

VARIABLE_PREFIX: Final = "HOSTPROOF"
"""What the variables begin with that stand for the callers' headers in a command."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]* +(?P<token>\S.*)")
_COOKIE: Final = re.compile(r"[^=;\s]+=(?P<token>[^;]+)")
_NO_WORD: Final = re.compile(r"[^A-Z0-9]+")
_HEX: Final = re.compile(r"%[0-9A-F]{2}")


class Redactor:
    """
    Replaces the header values of *callers* by their names.

    Also the token after a scheme (``Bearer``), each cookie, and a ``Basic``
    pair and its password, where they have at least :data:`MIN_SECRET`
    characters. A header that carries a caller's own value is replaced whatever
    its length.
    """

    def __init__(self, callers: Iterable[Caller]) -> None:
        self._callers = tuple(callers)
        self._own = {
            (name.lower(), value): caller.name
            for caller in reversed(self._callers)
            for name, value in caller.headers
        }
        forms: dict[str, str] = {}
        for caller in self._callers:
            for secret in _secrets(caller.headers):
                for form in _forms(secret):
                    forms.setdefault(form, label(caller.name))
        self._labels = forms
        longest_first = sorted(forms, key=len, reverse=True)
        self._texts = re.compile("|".join(map(re.escape, longest_first)))
        encodings = {
            form.encode(encoding): name.encode()
            for encoding in ("latin-1", "utf-8")
            for form, name in forms.items()
        }
        self._byte_labels = encodings
        longest = sorted(encodings, key=len, reverse=True)
        self._bytes = re.compile(b"|".join(map(re.escape, longest)))
        self._variables = self._named_variables()

    def text(self, text: str) -> str:
        """Replace every secret in *text*."""
        if not any(form in text for form in self._labels):  # far faster than the pattern
            return text
        return self._texts.sub(lambda found: self._labels[found[0]], text)

    def data(self, data: bytes) -> bytes:
        """Replace every secret in *data*, as Latin-1 or UTF-8."""
        if not any(form in data for form in self._byte_labels):
            return data
        return self._bytes.sub(lambda found: self._byte_labels[found[0]], data)

    def headers(self, headers: Headers) -> Headers:
        """Replace every secret in the values of *headers*; :meth:`restored` undoes it."""
        return tuple(
            (name, label(owner) if owner is not None else self.text(value))
            for name, value in headers
            for owner in (self._own.get((name.lower(), value)),)
        )

    def restored(self, headers: Headers) -> Headers:
        """
        Put the callers' values of today back into redacted *headers*.

        A caller who has no header of that name leaves the value as it is.
        """
        today = {
            (label(caller.name), name.lower()): value
            for caller in self._callers
            for name, value in caller.headers
        }
        return tuple((name, today.get((value, name.lower()), value)) for name, value in headers)

    def variable(self, name: str, value: str) -> str | None:
        """
        Name the environment variable that stands for a caller's header in a command.

        It is ``HOSTPROOF_<CALLER>_<HEADER>``, in capitals, with ``_`` for what
        is neither letter nor digit; for a header that is no caller's, None.
        """
        return self._variables.get((name.lower(), value))

    def _named_variables(self) -> dict[tuple[str, str], str]:
        names: dict[tuple[str, str], str] = {}
        for caller in self._callers:
            for header, value in caller.headers:
                words = (VARIABLE_PREFIX, caller.name, header)
                name = "_".join(_NO_WORD.sub("_", word.upper()) for word in words)
                taken = set(names.values())
                number = 2
                unique = name
                while unique in taken:
                    unique = f"{name}_{number}"
                    number += 1
                names.setdefault((header.lower(), value), unique)
        return names


def label(caller: str) -> str:
    """Write what stands for a secret of *caller*."""
    return f"[caller {caller}]"


def _secrets(headers: Headers) -> Iterator[str]:
    for name, value in headers:
        found = [value]
        if name.lower() == "cookie":
            found += [match["token"].strip() for match in _COOKIE.finditer(value)]
        elif scheme := _SCHEME.fullmatch(value):
            found.append(scheme["token"])
            if value[:6].lower() == "basic ":
                found += _basic(scheme["token"])
        yield from (secret for secret in found if len(secret) >= MIN_SECRET)


def _basic(token: str) -> list[str]:
    try:
        pair = base64.b64decode(token, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return []
    return [pair, pair.partition(":")[2]]


def _forms(secret: str) -> Iterator[str]:
    """Write *secret* in every way in which it is looked for."""
    yield secret
    for percent in (quote(secret), quote(secret, safe=""), quote_plus(secret)):
        yield percent
        yield _HEX.sub(lambda found: found[0].lower(), percent)
    for is_ascii in (True, False):
        escaped = json.dumps(secret, ensure_ascii=is_ascii)[1:-1]
        yield escaped
        yield escaped.replace("/", "\\/")
    yield html.escape(secret)
    for coded in _inside_base64(secret.encode()):
        yield coded
        yield coded.translate(str.maketrans("+/", "-_"))


def _inside_base64(secret: bytes) -> Iterator[str]:
    """
    Write what is sure of *secret* in the base64 of a text that holds it.

    Where it begins within three bytes decides the spelling; characters that
    also depend on its neighbours are left off.
    """
    for before in range(3):
        coded = base64.b64encode(bytes(before) + secret).decode()
        first, last = -(-before * 8 // 6), (before + len(secret)) * 8 // 6
        yield coded[first:last]
