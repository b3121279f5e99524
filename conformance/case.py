"""
The cases of the gate, in a fixed order: every change of the tables, and plain runs.

A case knows what it needs of a host, and says so where the profile does not
offer it. How it is performed is :mod:`.scenario`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from hostproof.conformance.recording import CaseKind, Facts, Owed
from hostproof.reference_impl.refusals import catalogue
from hostproof.strategies.accepted_changes import ACCEPTED_CHANGES
from hostproof.strategies.ag_ui_changes import AG_UI_CHANGES, AG_UI_WIRE_CHANGES
from hostproof.strategies.changes import Change
from hostproof.strategies.decisions import ANSWER_CASES, AnswerCase
from hostproof.strategies.edits import filled
from hostproof.strategies.inside_changes import INSIDE_CHANGES
from hostproof.strategies.plan_changes import FORM, PLAN_CHANGES
from hostproof.strategies.reader_changes import READER_CHANGES
from hostproof.strategies.wire_changes import WIRE_CHANGES, WireChange

if TYPE_CHECKING:
    from hostproof.conformance.profile import Profile

NEWEST: Final = "0"
"""The place of the newest message in the gate's bodies: they have one message at most."""

CALLERS_FOR_OTHERS: Final = 2
ASKING_RUNS: Final = ("paused-run", "client-call-run")
"""Runs that end with something open: a question about a call, and a call of the page's."""

RUNS: Final = ("plain-run", "failing-run", "concurrent-run", *ASKING_RUNS)
"""
Cases that change nothing: a good run, a run that breaks inside, two runs of a thread at once,
and those that ask.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One case.

    Attributes:
        id: its stable name.
        area: what it is about; rules choose their cases by it.
        change: what is changed; ``None`` for a plain run.
    """

    id: str
    area: str
    change: Change | WireChange | AnswerCase | None

    @property
    def kind(self) -> CaseKind:
        """Where it changes something."""
        if self.change is None:
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
    def endpoint(self) -> str:
        """Which agent it is sent to."""
        return self.change.endpoint if isinstance(self.change, Change) else "main"

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
    return (*runs, *wires, *bodies, *answers)


_COMMAND: Final = {"spoiled": "spoil-pause"}
_CUES: Final = {
    "question": "question",
    "spoiled": "question",
    "client-call": "client_tool",
    "failing-run": "fail",
    "concurrent-run": "slow",
    "paused-run": "check_in",
    "client-call-run": "client_tool",
    "context-repeated": "repeat",
}


def missing_for(case: Case, profile: Profile) -> str | None:
    """Say what the profile lacks for a case to be performed, or ``None``."""
    if isinstance(case.change, AnswerCase):
        return _missing_for_answer(case.change, profile)
    endpoint = profile.endpoints.get(case.endpoint)
    if endpoint is None:
        return f"an endpoint named {case.endpoint}: declare [endpoints.{case.endpoint}]"
    if case.looks_inside and profile.observation is None:
        return "an observation of model requests: declare observation"
    cue = _CUES.get(case.id) or _CUES.get(case.situation)
    if cue is not None and cue not in profile.cues:
        return f"a cue: declare cues.{cue}"
    if case.id in ASKING_RUNS and not endpoint.keeps_pauses:
        return f"pauses that are kept: declare endpoints.{case.endpoint}.keeps_pauses"
    if case.id == "client-call-run" and FORM["name"] not in endpoint.client_tools:
        return f"a page's tool: declare endpoints.{case.endpoint}.client_tools"
    if case.situation != "fresh":
        if profile.history != "server":
            return "a host that keeps the thread: declare history.mode = server"
        if not endpoint.keeps_pauses:
            return f"pauses that are kept: declare endpoints.{case.endpoint}.keeps_pauses"
        if case.situation == "client-call" and not endpoint.client_tools:
            return f"a page's tool: declare endpoints.{case.endpoint}.client_tools"
        command = _COMMAND.get(case.situation)
        if command is not None and command not in profile.control_commands:
            return f"the control command {command}: declare it in control.commands"
    if isinstance(case.change, WireChange) and case.change.identity != "right":
        return None if profile.callers else "callers: declare [callers.NAME] with their headers"
    return None


def _missing_for_answer(answer: AnswerCase, profile: Profile) -> str | None:
    if profile.history != "server" or not profile.main_endpoint.keeps_pauses:
        return "a host that keeps pauses: declare history.mode = server and keeps_pauses = true"
    if answer.cue not in profile.cues:
        return f"a cue: declare cues.{answer.cue}"
    if profile.observation is None:
        return "an observation of effects: declare observation"
    if answer.caller == "other" and len(profile.callers) < CALLERS_FOR_OTHERS:
        return "a second caller: declare [callers.NAME]"
    wanted = [*answer.commands, *answer.undo]
    wanted += ["stop-after-spend"] if answer.stopped else []
    wanted += ["close-pause"] if answer.follow == "closed" else []
    for command in wanted:
        if command not in profile.control_commands:
            return f"the control command {command}: declare it in control.commands"
    return None


def named_facts_missing(case: Case, profile: Profile) -> str | None:
    """
    Say which fact of the endpoint the contract's answer to a case hangs on, and is not declared.

    The contract says what a host owes that lets a page decide just so much; a
    host that takes state freely owes no ``ERR_STATE_NOT_CARRIED``.
    """
    endpoint = profile.endpoints.get(case.endpoint)
    wanted = _FACTS.get(case.owed.code or "")
    if endpoint is None or wanted is None:
        return None
    member, value = wanted
    if getattr(endpoint, member) == value:
        return None
    return f"the fact that it holds: declare endpoints.{case.endpoint}.{member} = {value!r}"


_FACTS: Final[dict[str, tuple[str, object]]] = {
    "ERR_STATE_NOT_CARRIED": ("state", "not-carried"),
    "ERR_CONTEXT_NOT_CARRIED": ("context", "not-carried"),
    "ERR_STATE_REFUSED": ("state", "validated"),
    "ERR_CONTEXT_REFUSED": ("context", "validated"),
    "ERR_CLIENT_TOOLS_NOT_CARRIED": ("keeps_pauses", False),
    "ERR_CONVERSATION_NOT_KEPT": ("keeps_conversation", False),
}
