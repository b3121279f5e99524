"""The profile of the reference host, as :mod:`hostproof.reference_impl.embedded` serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.profile import Profile, profile_from
from hostproof.conformance.profile_parts import RULE_SETS
from hostproof.reference_impl.control import COMMANDS
from hostproof.reference_impl.cues import CUES
from hostproof.reference_impl.embedded import (
    CONTROL_PATH,
    LOOK_INSIDE,
    OBSERVATION_PATH,
    PAGE_TOOLS,
    SETUPS,
)
from hostproof.strategies.decisions import NO, YES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.reference_impl.host_parts import AgentSetup
    from hostproof.reference_impl.values import Record

NAMES: Final = ("main", "carrying", "stateless")
"""What the profile calls the host's agents, in the order of its ``SETUPS``."""

_NO_MEDIA: Final = "the contract refuses what the agent cannot read, rather than skip it"
DEPARTURES: Final = {
    "ag-ui.in-04-takes-unknown-parts": ("IN-04", _NO_MEDIA),
    "ag-ui.in-05-skips-media": ("IN-05", _NO_MEDIA),
    "ag-ui.in-06-skips-file-handles": ("IN-06", _NO_MEDIA),
    "ag-ui.tool-04-skips-media-in-results": ("TOOL-04", _NO_MEDIA),
    "ag-ui.int-05-takes-cancelled": ("INT-05", "the contract takes a no, and no cancelling"),
    "ag-ui.int-06-skips-unknown-entries": (
        "INT-06",
        "the contract refuses a resume that is not exactly the answer to what is open",
    ),
}
"""What the reference breaks of AG-UI by design: the clause, and why."""

_EXAMPLES: Final[Record] = {
    "good_state": {"page": "home"},
    "bad_state": {"page": 7},
    "good_context": [{"description": "page", "value": "home"}],
    "bad_context": [{"description": "weather", "value": "rain"}],
}


def embedded_profile(base_url: str, tokens: Mapping[str, str]) -> Profile:
    """
    Give the profile of a reference host that is being served.

    Args:
        base_url: its origin, such as ``http://127.0.0.1:8000``.
        tokens: its callers' bearer tokens, by name; with one of ``inspector``
            it offers observation and control.

    Raises:
        ProfileError: *base_url* is no such URL, or *tokens* makes no callers.
    """
    document: Record = {
        "version": 1,
        "sets": list(RULE_SETS),
        "ag_ui": "1.0",
        "target": {"url": base_url.rstrip("/") + SETUPS[0].path},
        "callers": {name: _caller(name, token) for name, token in tokens.items()},
        "endpoints": {name: _endpoint(setup) for name, setup in zip(NAMES, SETUPS, strict=True)},
        "answer": {"yes": YES, "no": NO},
        "cues": dict(CUES),
        "waivers": [
            {"rule": rule, "kind": "by-design", "why": why, "clause": clause}
            for rule, (clause, why) in DEPARTURES.items()
        ],
    }
    if LOOK_INSIDE in tokens:
        document["observation"] = {"url": OBSERVATION_PATH, "caller": LOOK_INSIDE}
        document["control"] = {
            "url": CONTROL_PATH,
            "caller": LOOK_INSIDE,
            "commands": list(COMMANDS),
        }
    return profile_from(document, name="the embedded host", environ={})


def _caller(name: str, token: str) -> Record:
    role = "inspector" if name == LOOK_INSIDE else "caller"
    return {"headers": {"Authorization": "Bearer " + token.replace("$", "$$")}, "role": role}


def _endpoint(setup: AgentSetup) -> Record:
    carried = {
        member: "validated" if member in setup.rules.accept else "not-carried"
        for member in ("state", "context")
    }
    examples = {
        name: example
        for name, example in _EXAMPLES.items()
        if carried[name.partition("_")[2]] == "validated"
    }
    return {
        "path": setup.path.removeprefix(SETUPS[0].path),
        "keeps_pauses": setup.keeps_pauses,
        "durable": setup.keeps_pauses,
        "keeps_conversation": setup.keeps_conversation,
        "client_tools": list(PAGE_TOOLS),
        "guarded": ["pay"],
        **carried,
        **examples,
    }
