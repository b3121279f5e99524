"""
Writing a profile from what the user said and what a probe found.

Pure: findings in, TOML out. What the user said stays as it was written, with its
``${VARIABLES}``: no header value that was looked up ever comes here.

Source: docs/profile.md, "Probe".
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from typing import TYPE_CHECKING, Final

import tomli_w

from hostproof.conformance.case import CALLERS_FOR_OTHERS
from hostproof.conformance.preset import on_its_preset, preset_text
from hostproof.reference_impl.cues import CUES
from hostproof.reference_impl.values import MISSING, Record, is_record
from hostproof.reports.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hostproof.conformance.probe_findings import Findings
    from hostproof.conformance.style import AnswerStyle, PauseStyle

ORDER: Final = (
    "target",
    "callers",
    "cues",
    "history",
    "pause",
    "answer",
    "effects",
    "observation",
    "control",
    "endpoints",
    "limits",
    "fail_on",
    "waivers",
)
"""The tables of a profile, in the order in which they are written."""

WIDTH: Final = 88
NO_RECORD: Final = "pydantic-ai"
"""The preset whose waivers are those of a host without a record of its own."""

HEADER: Final = "Written by hostproof probe, from what it was told and what it found. Check it."
CLAIM: Final = (
    "The host declares no version of AG-UI, which is a finding of its own. Claimed so that it "
    "is judged by the specification; without this line it is not."
)
CLAIMED: Final = "1.0"
"""The version that is claimed for a host that declares none."""

MAIN: Final = "main"
OTHER_CALLER: Final = "effect.bound-to-its-caller"
_ONE: Final = re.compile(r" = \[\n    (.*),\n\]")
"""An array of one item, over three lines."""


def cues_given(document: Mapping[str, object]) -> dict[str, str]:
    """Give the cues that the user said, and a plain one where none were."""
    cues = document.get("cues")
    return dict(cues) if is_record(cues) else {"plain": CUES["plain"]}


def profile_text(given: Record, found: Findings) -> str:
    """
    Write a profile.

    Args:
        given: what the user said, as parsed; empty but for the target, or a whole profile.
        found: what a probe found.

    Returns:
        TOML, with comments on what was left out and what to look at.
    """
    document: Record = {"version": 1, **given}
    merged = on_its_preset(document)
    notes: dict[str, list[str]] = {}
    if "ag_ui" not in merged:
        document["ag_ui"] = found.ag_ui or CLAIMED
        notes["version"] = [] if found.ag_ui else comment(CLAIM)
    document["cues"], notes["cues"] = _cues(cues_given(given), found)
    if "history" not in merged and found.history == "client":
        document["history"] = {"mode": "client"}
    if "pause" not in merged and found.pause is not None:
        document["pause"] = _pause(found.pause)
    if found.answer is not None:
        _add_answer(document, merged, found.answer)
    notes["answer"] = _answer_notes(document, merged, found)
    notes["endpoints"] = _add_endpoint(document, merged, found)
    notes["waivers"] = _waivers(merged) if found.replays else []
    return _written(document, notes)


def comment(text: str) -> list[str]:
    """Write a text as lines of comment."""
    return [f"# {line}" for line in textwrap.wrap(printable(text), WIDTH)]


def _cues(given: Mapping[str, str], found: Findings) -> tuple[Record, list[str]]:
    kept = {found.cues[name]: text for name, text in given.items() if name in found.cues}
    notes = []
    for name, now in found.cues.items():
        if now != name:
            notes += comment(f"What was given as {name} does what {now} says.")
    for name, why in found.left_out.items():
        notes += comment(f"Left out: {why}.")
        notes += _commented(tomli_w.dumps({name: given[name]}))
    return kept, notes


def _pause(pause: PauseStyle) -> Record:
    if pause.kind == "custom":
        return {"kind": "custom", "event": pause.event}
    if pause.kind == "call":
        offered: Record = {"offered": True} if pause.offered else {}
        return {"kind": "call", "tool": pause.tool, **offered}
    return {"kind": "interrupt"}


def _add_answer(document: Record, merged: Record, answer: AnswerStyle) -> None:
    """Add what the user had not said of the answer."""
    said = merged.get("answer", {})
    made: Record = {"kind": answer.kind}
    if answer.yes is not MISSING:
        made["yes"] = answer.yes
    if answer.parent_run:
        made["parent_run"] = True
    new = {name: value for name, value in made.items() if name not in said}
    if new:
        document["answer"] = {**new, **document.get("answer", {})}


def _answer_notes(document: Record, merged: Record, found: Findings) -> list[str]:
    notes = []
    if found.answer is not None and found.by_schema:
        notes += comment("The payloads of a yes and a no are made from the response schema.")
    if found.likes:
        notes += comment(f"Like the preset {' or '.join(found.likes)}.")
    if "effects" not in merged and "observation" not in merged and "check_in" in document["cues"]:
        text = "Nothing says where effects can be read, so rules on what ran are not judged."
        notes += comment(f"{text} Declare [observation], or one source:")
        line = found.stream or "a result's words with {nonce}"
        notes += ["# [effects]", *_commented(tomli_w.dumps({"stream": line}))]
    return notes


def _add_endpoint(document: Record, merged: Record, found: Findings) -> list[str]:
    """Add what was found of the main agent; give what is said of it."""
    endpoints: Record = dict(document.get("endpoints", {}))
    name = next(iter(endpoints), MAIN)
    main: Record = dict(endpoints.get(name, {}))
    notes = []
    if found.client_tools:
        tools = [*main.get("client_tools", ()), *found.client_tools]
        main["client_tools"] = list(dict.fromkeys(tools))
    if found.pause is not None and found.answer is None and "answer" not in merged:
        main.setdefault("keeps_pauses", False)
        notes = comment("No way to answer a pause was found: say it in [answer], and here true.")
    if main:
        document["endpoints"] = {**endpoints, name: main}
    return notes


def _waivers(merged: Record) -> list[str]:
    """Write waivers for a host that keeps no record of its own, as comments."""
    waived = {one["rule"] for one in merged.get("waivers", [])}
    usual = tomllib.loads(preset_text(NO_RECORD))["waivers"]
    if len(merged.get("callers", {})) < CALLERS_FOR_OTHERS:
        waived.add(OTHER_CALLER)
    missing = [one for one in usual if one["rule"] not in waived]
    if not missing:
        return []
    text = "An answer sent again ran the call again. If the client owns the history by design, say:"
    return [*comment(text), *_commented(_tables("waivers", missing))]


def _commented(text: str) -> list[str]:
    return [f"# {line}".rstrip() for line in text.rstrip("\n").splitlines()]


def _toml(table: Record) -> str:
    """Write a table, with an array of one item on one line."""
    return _ONE.sub(r" = [\1]", tomli_w.dumps(table))


def _tables(name: str, rows: Iterable[Record]) -> str:
    return "\n".join(f"[[{name}]]\n{tomli_w.dumps(row)}" for row in rows)


def _written(document: Record, notes: Mapping[str, list[str]]) -> str:
    """Write a document, each table followed by what is said of it."""
    plain = {name: value for name, value in document.items() if name not in ORDER}
    chunks = ["\n".join([*comment(HEADER), _toml(plain), *notes.get("version", ())])]
    for name in ORDER:
        value = document.get(name)
        text = ""
        if value:
            text = _tables(name, value) if isinstance(value, list) else _toml({name: value})
        said = "\n".join(notes.get(name, ()))
        chunks.append("\n".join(filter(None, (text.rstrip("\n"), said))))
    return "\n\n".join(chunk.rstrip("\n") for chunk in chunks if chunk) + "\n"
