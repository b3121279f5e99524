"""
Making text safe to show: what a host wrote must not control a terminal or a report.

Control characters (escape sequences), direction overrides, invisible and
unassigned characters and halves of characters are shown as escapes.
"""

from __future__ import annotations

from typing import Final

_NAMED: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def printable(text: str) -> str:
    """Write *text* on one line, with an escape for every character that does not print."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escape(character) for character in text
    )


def printable_lines(text: str) -> list[str]:
    """Split *text* at its line feeds (CR LF too), each line as :func:`printable` writes it."""
    return [printable(line) for line in text.replace("\r\n", "\n").split("\n")]


def clipped(text: str, most: int) -> str:
    """Keep the first *most* characters of *text*, and say how many more there were."""
    if len(text) <= most:
        return text
    return f"{text[:most]} ... ({len(text) - most} more characters)"


def encodable(text: str, encoding: str) -> str:
    """Write what *encoding* cannot hold as escapes; an unknown encoding counts as ASCII."""
    try:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return text.encode("ascii", "backslashreplace").decode("ascii")


def _escape(character: str) -> str:
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
