"""Reading a TOML file, with errors that say where it is wrong."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Final

from hostproof.conformance.checking import Problem

if TYPE_CHECKING:
    from pathlib import Path

    from hostproof.reference_impl.values import Record

MAX_BYTES: Final = 1024 * 1024
"""Largest file that is read."""


def read_toml(path: Path) -> Record:
    """
    Read the file *path* as TOML.

    Raises:
        Problem: it cannot be read, or is no TOML; with line and column.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Problem((), f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise Problem((), "cannot be read: this is no file name") from None
    if len(content) > MAX_BYTES:
        raise Problem((), f"cannot be read: it has more than {MAX_BYTES} bytes")
    return _parsed(_decoded(content))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise Problem((), f"is no TOML: not UTF-8 (at line {line}, byte {column})") from None


def _parsed(text: str) -> Record:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = text.count("\n") + 1
        end = f"at line {line}, column {len(text) - text.rfind(chr(10))}, the end of the file"
        message = str(error).replace("at end of document", end)
        raise Problem((), f"is no TOML: {message}") from None
    except (RecursionError, ValueError):  # a number too long for Python is a ValueError
        problem = "is no TOML that can be read: nested too deeply, or a number is too long"
        raise Problem((), problem) from None
