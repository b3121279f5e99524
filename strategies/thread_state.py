"""
The state that the model keeps of threads, and what a step may owe: values, no rule.

Threads and pauses are named here by where they are in the sequence; their ids
on the wire are made where a sequence is performed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from hostproof.strategies.thread_plans import GATES, Effect, Gate, PlannedCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.strategies.sequence_steps import (
        Answer,
        CallerName,
        Control,
        PauseNamed,
        Result,
        Say,
        ThreadName,
    )


class Place(NamedTuple):
    """A thread: whose it is, and which."""

    caller: CallerName
    thread: ThreadName


class PauseName(NamedTuple):
    """A pause: its thread, and how many there were on it before."""

    place: Place
    ordinal: int


@dataclass(frozen=True, slots=True)
class Runs:
    """The request is accepted, and its run finishes."""


@dataclass(frozen=True, slots=True)
class Refuses:
    """
    The request is refused and changes nothing, but what the contract settles.

    Attributes:
        code: the refusal's code.
        reason: its reason, or ``None``.
        in_stream: whether the run has begun, so that a RUN_ERROR says it.
    """

    code: str
    reason: str | None = None
    in_stream: bool = False

    @property
    def name(self) -> str:
        """Its code, and its reason where it has one."""
        return self.code if self.reason is None else f"{self.code} {self.reason}"


EVERY_REFUSAL: Final = (
    "ERR_NO_PENDING_ASK",
    "ERR_UNKNOWN_TOOL_CALL",
    "ERR_AWAITING_DECISION",
    "ERR_UNKNOWN_INTERRUPT",
    "ERR_CANCEL_NOT_CARRIED",
    "ERR_PAUSE_ANSWER_REQUIRED",
    "ERR_DECISION_REQUIRED",
    "ERR_RESUME_DECISION no-request",
    "ERR_RESUME_DECISION request-not-recorded",
    "ERR_RESUME_DECISION other-request",
    "ERR_STALE_DECISION",
    "ERR_RESUME_DECISION call-changed",
    "ERR_RESUME_DECISION chain-changed",
    "ERR_RESUME_DECISION ledger-changed",
    "ERR_RESUME_DECISION closed-by-host",
    "ERR_RESUME_DECISION already-answered",
)
"""Every refusal that a sequence can come to, by name, in the order in which they are decided."""


@dataclass(frozen=True, slots=True)
class Stops:
    """The run ends between the spend and the call, as if its process had."""


@dataclass(frozen=True, slots=True)
class Done:
    """The command is carried out; or not, where there is *nothing* to do."""

    nothing: bool = False


Owed: TypeAlias = Runs | Refuses | Stops | Done
"""What a step owes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """
    An open pause.

    Attributes:
        name: which.
        gate: what it waits for.
        asked_at: the place of the message that brought it about.
        calls: what goes on after it; the first is the call it is about.
        ledger: the ledger it was made under.
        rules: how many rules were added to the chain when it was made.
        is_spoiled: whether its record is none of the host's any more.
        is_forgotten: whether its request is lost.
        is_tampered: whether its call was changed.
        spent: how its request was spent in the ledger it belongs to, or ``None``.
    """

    name: PauseName
    gate: Gate
    asked_at: int
    calls: tuple[PlannedCall, ...]
    ledger: int
    rules: int
    is_spoiled: bool = False
    is_forgotten: bool = False
    is_tampered: bool = False
    spent: str | None = None

    @property
    def asks_consent(self) -> bool:
        """Whether it is a consent gate."""
        return self.gate in GATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """
    One thread.

    Attributes:
        pending: its open pause, or ``None`` while it is idle.
        pauses: how many pauses there were so far.
        effects: what has run, oldest first.
        ledger: which ledger serves it: the usual one, or one put in its place.
        rules: how many rules were added to the chain that serves it.
        stops: whether its next run ends after the spend.
    """

    pending: Pending | None = None
    pauses: int = 0
    effects: tuple[Effect, ...] = ()
    ledger: int = 0
    rules: int = 0
    stops: bool = False


IDLE: Final = Thread()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """
    Every thread, and how far the sequence is.

    Attributes:
        threads: those that were touched.
        at: how many steps were made.
        ledgers: how many ledgers there were, the usual one included.
    """

    threads: Mapping[Place, Thread] = field(default_factory=dict)
    at: int = 0
    ledgers: int = 1

    def thread(self, place: Place) -> Thread:
        """Give a thread; one that was never touched is idle."""
        return self.threads.get(place, IDLE)


def place_of(step: Say | Answer | Result | Control) -> Place:
    """Give the thread a step is about."""
    return Place(step.caller, step.thread)


def named_pause(world: World, place: Place, named: PauseNamed) -> PauseName | None:
    """Find the pause that a step on *place* names; ``None`` where there is no such pause."""
    if named == "invented":
        return None
    back = 2 if named == "earlier" else 1
    if named == "other-thread":
        place = Place(place.caller, "two" if place.thread == "one" else "one")
    elif named == "other-caller":
        place = Place("bob" if place.caller == "alice" else "alice", place.thread)
    ordinal = world.thread(place).pauses - back
    return None if ordinal < 0 else PauseName(place, ordinal)
