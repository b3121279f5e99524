"""
Reading the callers of a profile: header values from the environment, each an identity.

A header's value is a secret: no error quotes one, nor what it was made from.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hostproof.conformance.checking import Problem, check_names, listed
from hostproof.conformance.profile_parts import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hostproof.conformance.checking import Key
    from hostproof.reference_impl.values import Record

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?")
_FRAMING: Final = frozenset({"content-length", "transfer-encoding", "host", "connection"})
_DOLLAR: Final = re.compile(r"\$(?:\$|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|)")


def read_callers(given: Record, environ: Mapping[str, str]) -> Mapping[str, Caller]:
    """Read ``[callers]``, inspectors too, with the values of *environ* in their headers."""
    callers = [
        Caller(
            name=name,
            headers=tuple(
                (header, _header_value(value, ("callers", name, "headers"), header, environ))
                for header, value in one["headers"].items()
            ),
            role=one.get("role", "caller"),
        )
        for name, one in given.items()
    ]
    check_names("callers", given)
    _check_identities(callers)
    return MappingProxyType({caller.name: caller for caller in callers})


def _header_value(text: str, key: Key, name: str, environ: Mapping[str, str]) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise Problem(key, "has a name that is no header's: write one such as Authorization")
    key = (*key, name)
    if name.lower() in _FRAMING:
        raise Problem(key, f"is not for a caller to set: {listed(sorted(_FRAMING))} are the wire's")

    def expand(found: re.Match[str]) -> str:
        variable = found["name"]
        if variable is None:
            if found[0] == "$":
                raise Problem(key, "has a lone $: write ${NAME} for a variable, $$ for a dollar")
            return "$"
        if not environ.get(variable):
            state = "empty" if variable in environ else "not set"
            raise Problem(key, f"needs the environment variable {variable}, which is {state}")
        return environ[variable]

    value = _DOLLAR.sub(expand, text)
    if not _HEADER_VALUE.fullmatch(value):
        raise Problem(
            key,
            "is no header value (not shown): Latin-1 text, not empty, without line ends,"
            " control characters or white space at its ends",
        )
    return value


def _check_identities(callers: Sequence[Caller]) -> None:
    seen: dict[frozenset[tuple[str, str]], str] = {}
    for caller in callers:
        headers = frozenset((name.lower(), value) for name, value in caller.headers)
        if len(headers) < len(caller.headers) or len({name for name, _ in headers}) < len(headers):
            raise Problem(("callers", caller.name, "headers"), "names a header twice")
        if headers in seen:
            raise Problem(
                ("callers", caller.name, "headers"),
                f"is the same as that of {seen[headers]}: each caller is an identity of its own",
            )
        seen[headers] = caller.name
