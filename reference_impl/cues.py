"""
The texts that make our hosts' agents do a thing, and the nonce in them.

A cue ends in a nonce: a word that comes back in what the agent does, so that
scenarios running side by side can be told apart. Every host of ours answers
the same cues; another host's profile gives its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CUES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "plain": "hostproof: say {nonce}",
        "client_tool": "hostproof: show the form {nonce}",
        "question": "hostproof: ask the person {nonce}",
        "repeat": "hostproof: repeat what the page gave {nonce}",
        "slow": "hostproof: take your time {nonce}",
        "fail": "hostproof: fail {nonce}",
        "check_in": "hostproof: pay {nonce}",
        "check_in_large": "hostproof: transfer a lot to {nonce}",
        "no_check_in": "hostproof: transfer a little to {nonce}",
        "ask_detail": "hostproof: publish {nonce}",
        "ask_component": "hostproof: assign a row to {nonce}",
        "ask_then_check_in": "hostproof: release {nonce}",
        "two_in_sequence": "hostproof: pay twice {nonce}",
        "nested": "hostproof: have the helper pay {nonce}",
        "credential": "hostproof: read the calendar of {nonce}",
        "fail_after": "hostproof: pay and fail {nonce}",
        "denied": "hostproof: wipe {nonce}",
    }
)
"""Cue texts by what they bring about: ``{nonce}`` stands for the nonce."""

AT_ONCE: Final[Mapping[str, str]] = MappingProxyType(
    {"two_at_once": "hostproof: pay two at once {nonce}"}
)
"""Cue texts for hosts that ask about several calls at once; the reference asks one by one."""

_PATTERNS: Final = {
    name: re.compile(re.escape(text).replace(re.escape("{nonce}"), r"(\S+)"))
    for name, text in {**CUES, **AT_ONCE}.items()
}


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue as it was said: what it asks for, and its nonce."""

    name: str
    nonce: str


def cue_text(name: str, nonce: str) -> str:
    """
    Write a cue.

    Raises:
        KeyError: no cue has that *name*.
    """
    return CUES[name].replace("{nonce}", nonce)


def read_cue(text: str, known: Mapping[str, str] = CUES) -> Cue | None:
    """Read the cue in a message, one of those *known*, or ``None`` where there is none."""
    for name in known:
        found = _PATTERNS[name].fullmatch(text.strip())
        if found is not None:
            return Cue(name, found[1])
    return None
