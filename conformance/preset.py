"""
Presets: the profiles that ship with the suite, and how a user's own stands on one.

What a profile says itself wins, member by member of each table; waivers are
added, and one for the same rule replaces the preset's.

Source: docs/profile.md, "Presets".
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TYPE_CHECKING, Final

from hostproof.conformance.checking import Problem, suggestion
from hostproof.reference_impl.values import Json, Record, is_record

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE: Final = "hostproof.conformance.presets"
PRESET: Final = "preset"


def preset_names() -> tuple[str, ...]:
    """Name the presets, in order."""
    files = resources.files(PACKAGE).iterdir()
    return tuple(sorted(file.name[:-5] for file in files if file.name.endswith(".toml")))


def preset_text(name: str) -> str:
    """
    Give a preset as the TOML it is.

    Raises:
        Problem: there is none of that name.
    """
    if name not in preset_names():
        raise Problem((PRESET,), f"is no preset: {suggestion(name, preset_names())}")
    return resources.files(PACKAGE).joinpath(f"{name}.toml").read_text(encoding="utf-8")


def about(name: str) -> str:
    """Give the line that says what a preset is for."""
    return preset_text(name).splitlines()[0].lstrip("# ")


def on_its_preset(document: Record) -> Record:
    """
    Put a profile's own members over those of the preset that it names, if it names one.

    Raises:
        Problem: there is no such preset.
    """
    name = document.get(PRESET)
    if name is None:
        return document
    merged: Record = tomllib.loads(preset_text(name))
    for member, value in document.items():
        before = merged.get(member)
        if member == "waivers":
            merged[member] = _waivers(before or [], value)
        elif is_record(before) and is_record(value):
            if member == "answer" and "yes" in value:  # a preset's no goes with its yes
                before = {name: one for name, one in before.items() if name != "no"}
            merged[member] = {**before, **value}
        else:
            merged[member] = value
    return merged


def _waivers(before: list[Record], own: list[Record]) -> list[Json]:
    named = {one["rule"] for one in own}
    return [*(one for one in before if one["rule"] not in named), *own]


def document_of(name: str) -> Mapping[str, object]:
    """Write the profile that is a preset and nothing else."""
    return {"version": 1, PRESET: name}
