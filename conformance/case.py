"""
The cases of the gate, in a fixed order: every change of the tables, and plain runs.

A case knows what it needs of a host, and says so where the profile does not
offer it. How it is performed is :mod:`.scenario`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from hostproof.conformance.recording import CaseKind, Facts, Owed
from hostproof.reference_impl.refusals import catalogue
from hostproof.strategies.accepted_changes import ACCEPTED_CHANGES
from hostproof.strategies.ag_ui_changes import AG_UI_CHANGES, AG_UI_WIRE_CHANGES
from hostproof.strategies.changes import Change
from hostproof.strategies.decisions import ANSWER_CASES, AnswerCase
from hostproof.strategies.edits import filled
from hostproof.strategies.inside_changes import INSIDE_CHANGES
from hostproof.strategies.plan_changes import PLAN_CHANGES
from hostproof.strategies.reader_changes import READER_CHANGES
from hostproof.strategies.shared_threads import SHARED_THREADS, SharedThread
from hostproof.strategies.wire_changes import WIRE_CHANGES, WireChange

NEWEST: Final = "0"
"""The place of the newest message in the gate's bodies: they have one message at most."""

CALLERS_FOR_OTHERS: Final = 2
ASKING_RUNS: Final = ("paused-run", "client-call-run")
"""Runs that end with something open: a question about a call, and a call of the page's."""

HUNG_UP: Final = "hung-up-run"
RUNS: Final = ("plain-run", "failing-run", "concurrent-run", HUNG_UP, *ASKING_RUNS)
"""
Cases that change nothing: a good run, a run that breaks inside, two runs of a thread at once,
one that the page hangs up on in the middle of a call, and those that ask.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One case.

    Attributes:
        id: its stable name.
        area: what it is about; rules choose their cases by it.
        change: what is changed; ``None`` for a plain run; or who shares a thread id.
    """

    id: str
    area: str
    change: Change | WireChange | AnswerCase | SharedThread | None

    @property
    def kind(self) -> CaseKind:
        """Where it changes something."""
        if self.change is None or isinstance(self.change, SharedThread):
            return "run"
        if isinstance(self.change, AnswerCase):
            return "answer"
        return "body" if isinstance(self.change, Change) else "wire"

    @property
    def situation(self) -> str:
        """Where the thread stands before it."""
        if isinstance(self.change, AnswerCase):
            return self.change.cue
        return self.change.situation if isinstance(self.change, Change) else "fresh"

    @property
    def looks_inside(self) -> bool:
        """Whether the observation is read after its change."""
        return isinstance(self.change, Change) and self.change.inside

    @property
    def is_alone(self) -> bool:
        """Whether nothing else may be on its way meanwhile: it restarts the host."""
        return isinstance(self.change, AnswerCase) and "restart" in self.change.commands

    @property
    def endpoint(self) -> str:
        """Which agent it is sent to."""
        if isinstance(self.change, SharedThread):
            return self.change.second
        return self.change.endpoint if isinstance(self.change, Change | AnswerCase) else "main"

    @property
    def owed(self) -> Owed:
        """What the contract owes it."""
        code = None if self.change is None else self.change.code
        field = self.change.field if isinstance(self.change, Change) else None
        if field is not None:
            field = filled(field, {"last": NEWEST})
        status = 200 if code is None else catalogue()[code].status
        if isinstance(self.change, AnswerCase):
            return Owed(
                code=code,
                status=200 if self.change.in_stream else status,
                reason=self.change.reason,
                in_stream=self.change.in_stream,
            )
        return Owed(code=code, status=status, field=field)

    def facts(self, canary: str = "") -> Facts:
        """Give what rules may know of it."""
        return Facts(
            id=self.id,
            area=self.area,
            kind=self.kind,
            situation=self.situation,
            endpoint=self.endpoint,
            owed=self.owed,
            canary=canary,
        )


@cache
def all_cases() -> tuple[Case, ...]:
    """List every case, in order."""
    runs = [Case(id=name, area=name, change=None) for name in RUNS]
    wires = [
        Case(id=change.id, area=change.code or "accepted", change=change)
        for change in (*WIRE_CHANGES, *AG_UI_WIRE_CHANGES)
    ]
    bodies = [
        Case(id=change.id, area=change.area, change=change)
        for table in (
            ACCEPTED_CHANGES,
            READER_CHANGES,
            PLAN_CHANGES,
            AG_UI_CHANGES,
            INSIDE_CHANGES,
        )
        for change in table
    ]
    answers = [Case(id=answer.id, area=answer.area, change=answer) for answer in ANSWER_CASES]
    shared = [Case(id=one.id, area=one.area, change=one) for one in SHARED_THREADS]
    return (*runs, *wires, *bodies, *shared, *answers)
