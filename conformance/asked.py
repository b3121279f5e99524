"""What a run was asked to do: the host, the rules, what is allowed, and where findings go."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from hostproof.conformance.findings import Keeper, now_text
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.result import RunFacts

if TYPE_CHECKING:
    from pathlib import Path

    from hostproof.conformance.kept_case import Mode
    from hostproof.conformance.opened_host import Leave
    from hostproof.conformance.profile import Profile
    from hostproof.conformance.rule import Rule

NO_URL: Final = "http://asgi.invalid"
"""The origin that findings on an application in this process are shown with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    What a run was asked to do.

    Attributes:
        profile: what the host is.
        rules: what to judge.
        leave: what the user allows.
        seed: what ids are made from.
        name: what the reports call the host.
        folder: where the host's command is run.
        keep: where failing cases are kept.
        started: when, as text.
        begun: when, on the clock that only goes forward.
    """

    profile: Profile
    rules: list[Rule]
    leave: Leave
    seed: int
    name: str
    folder: Path | None
    keep: Path
    started: str = field(default_factory=now_text)
    begun: float = field(default_factory=time.monotonic)

    def keeper(self, mode: Mode) -> Keeper:
        """Make what keeps the findings of this run."""
        at = self.profile.target
        return Keeper(
            base_url=at.url or f"{NO_URL}{at.path}",
            target=self.name,
            redactor=Redactor(self.profile.everyone),
            mode=mode,
            seed=self.seed,
            folder=self.keep,
        )

    def facts(self, mode: Mode, *, finished: bool, requests: int) -> RunFacts:
        """Say how the run went, now that it is over."""
        members: dict[str, Any] = {"mode": mode, "finished": finished, "requests": requests}
        return RunFacts(
            started=self.started,
            seconds=time.monotonic() - self.begun,
            seed=self.seed,
            kind="asgi" if self.profile.target.app else "http",
            target=self.name,
            **members,
        )
