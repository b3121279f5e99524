"""
Run the suite on an example host, as its tests do: the known faults, by name, and nothing else.

The host is started by the suite itself, from the example's folder, with the
programs of the environment that the tests run in.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

HOSTPROOF = Path(sys.executable).with_name("hostproof")
SECONDS = 240
MOST_REPLAYS = 3
"""Findings of a rule that are replayed: what hangs on two runs that meet may pass once."""


@dataclass(frozen=True)
class Judged:
    """
    One run of the suite on a host.

    Attributes:
        folder: of the example.
        profile: the profile's file name in it.
        kept: where the failing cases are.
        document: the result document.
    """

    folder: Path
    profile: str
    kept: Path
    document: dict[str, Any]

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """The verdict of every rule."""
        return {rule["id"]: rule["verdict"] for rule in self.document["rules"]}

    def with_verdict(self, verdict: str) -> set[str]:
        """Name the rules with a verdict."""
        return {rule for rule, given in self.verdicts.items() if given == verdict}

    def cases(self, rule: str) -> set[str]:
        """Name the cases in which a rule was broken, as far as they are kept."""
        (found,) = (one for one in self.document["rules"] if one["id"] == rule)
        return {finding["case"] for finding in found["findings"]}

    def replayed(self, rule: str) -> list[str]:
        """Replay findings of a rule until one fails again; give what was said of each."""
        (found,) = (one for one in self.document["rules"] if one["id"] == rule)
        said = []
        for finding in found["findings"][:MOST_REPLAYS]:
            words = ["replay", finding["replay"], "--profile", self.profile, "--keep", self.kept]
            ran = _run(self.folder, *words)
            said.append(ran.stdout + ran.stderr)
            if ran.returncode == 1:
                break
        return said


def judged(folder: Path, profile: str, into: Path) -> Judged:
    """
    Run the gate on the host of a profile.

    Args:
        folder: of the example.
        profile: the profile's file name in it.
        into: a folder for the result and the failing cases.
    """
    result, kept = into / "result.json", into / "cases"
    words = ["run", "--profile", profile, "--quiet", "--json", result, "--keep", kept]
    ran = _run(folder, *words)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return Judged(folder, profile, kept, json.loads(result.read_text(encoding="utf-8")))


def check(run: Judged, known: Collection[str], by_design: Collection[str] = ()) -> None:
    """
    Check that a run found the known faults, each of which replays, and nothing else.

    Args:
        run: the run.
        known: the rules that it breaks.
        by_design: the rules that its profile waives and that it breaks.
    """
    assert run.with_verdict("failed") == set(known)
    assert run.with_verdict("waived") == set(by_design)
    assert run.with_verdict("inconclusive") == set()
    assert len(run.with_verdict("passed")) >= 100
    for rule in known:
        *_, last = said = run.replayed(rule)
        assert "still failing" in last or "changed" in last, "".join(said)


def _run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [HOSTPROOF, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
