"""The styled host, served and ready to be tested, with the profile of its style."""

from __future__ import annotations

import logging
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hostproof.conformance.embedded_run import LOGS
from hostproof.conformance.profile import Profile, profile_from
from hostproof.reference_impl.cues import AT_ONCE, CUES
from hostproof.reference_impl.serving import served
from hostproof.reference_impl.styled_host import (
    EFFECTS_PATH,
    INSPECTOR,
    OBSERVATION_PATH,
    styled_host,
)
from hostproof.reference_impl.styled_model import STYLED_CUES
from hostproof.reference_impl.styled_setup import CONFIRM, FORM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hostproof.reference_impl.styled_host import StyledHost
    from hostproof.reference_impl.styled_parts import StyledFault
    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.values import Record

STYLED_NAME: Final = "the styled host"
FUNCTION: Final = "hostproof.reference_impl.styled_host:served_effects"
RESULT: Final = "paid {nonce}"
"""What the result of a guarded call contains if it ran."""

ENDPOINTS: Final = ("main", "carrying")
"""What the profile calls the host's agents, in the order of its paths."""


@contextmanager
def styled(
    setup: StyledSetup, fault: StyledFault | None = None, **members: object
) -> Iterator[Profile]:
    """
    Serve the styled host while the block runs, and give its profile.

    The host's own log is silent meanwhile: a fault is meant to break.

    Args:
        setup: its style.
        fault: replaces parts of it, to break a rule.
        members: of the profile, in place of those of its style.

    Raises:
        ServeError: it did not start.
    """
    with serving(setup, fault) as (url, host, file):
        document = styled_document(setup, url, host.tokens, file) | members
        yield profile_from(document, name=STYLED_NAME, environ={})


@contextmanager
def serving(
    setup: StyledSetup, fault: StyledFault | None = None
) -> Iterator[tuple[str, StyledHost, Path]]:
    """
    Serve the styled host while the block runs: its origin, itself, and the file of its effects.

    Raises:
        ServeError: it did not start.
    """
    logs = [logging.getLogger(name) for name in LOGS]
    before = [log.disabled for log in logs]
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        file = Path(folder) / "effects.jsonl"
        keeps_file = setup.effects in ("file", "command")
        if setup.effects == "command":
            file.touch()  # a command that reads it has to find it
        host = styled_host(setup, file=file if keeps_file else None, fault=fault)
        stack.callback(host.close)
        url = stack.enter_context(served(host.app))
        try:
            for log in logs:
                log.disabled = True
            yield url, host, file
        finally:
            for log, was in zip(logs, before, strict=True):
                log.disabled = was


def styled_document(
    setup: StyledSetup, base_url: str, tokens: Mapping[str, str], file: Path
) -> Record:
    """
    Write the profile of a styled host that is being served.

    Args:
        setup: its style.
        base_url: its origin.
        tokens: its callers' bearer tokens, by name.
        file: of its effects, where it keeps one.
    """
    main, *_ = setup.paths
    document: Record = {
        "version": 1,
        "sets": ["safety", "ag-ui"],
        "ag_ui": "1.0",
        "target": {"url": base_url + main},
        "callers": {name: _caller(name, token) for name, token in tokens.items()},
        "cues": cues_of(setup),
        "pause": _pause(setup),
        "answer": _answer(setup),
        "history": {"mode": setup.history},
        "endpoints": {
            name: {"path": path.removeprefix(main), "client_tools": [FORM], "keeps_pauses": True}
            for name, path in zip(ENDPOINTS, setup.paths, strict=False)
        },
    }
    if setup.effects == "observation":
        document["observation"] = {"url": OBSERVATION_PATH, "caller": INSPECTOR}
    else:
        document["effects"] = _effects(setup, file)
    return document


def cues_of(setup: StyledSetup) -> dict[str, str]:
    """Give the cues that this style answers: with one id for all, one question at a time."""
    known = {**CUES, **AT_ONCE}
    return {
        name: known[name] for name in STYLED_CUES if not (setup.thread_as_id and name in AT_ONCE)
    }


def _caller(name: str, token: str) -> Record:
    role = "inspector" if name == INSPECTOR else "caller"
    return {"headers": {"Authorization": "Bearer " + token.replace("$", "$$")}, "role": role}


def _pause(setup: StyledSetup) -> Record:
    if setup.pause == "custom":
        return {"kind": "custom", "event": setup.event}
    if setup.pause == "call":
        return {"kind": "call", "tool": CONFIRM, "offered": True}
    return {"kind": "interrupt"}


def _answer(setup: StyledSetup) -> Record:
    """Say how a pause is answered; a yes is said where no schema tells it."""
    told: Record = {"kind": setup.answer}
    if setup.parent_run:
        told["parent_run"] = True
    if setup.pause == "interrupt" and setup.tells_schema:
        return told
    told["yes"] = setup.says_yes
    return told | ({} if setup.no is None else {"no": setup.no})


def _effects(setup: StyledSetup, file: Path) -> Record:
    sources: dict[str, Record] = {
        "url": {"url": EFFECTS_PATH, "caller": INSPECTOR},
        "file": {"file": str(file)},
        "command": {"command": f"cat {file}"},
        "python": {"python": FUNCTION},
        "stream": {"stream": RESULT},
    }
    return sources[setup.effects]
