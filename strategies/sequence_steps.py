"""
The steps of a sequence, as data: what is sent to whom, without a word of what must come of it.

A sequence is a tuple of steps. It can be printed, written as JSON, read back
and performed again as it is: ids and nonces are made where it is performed, and
a step names pauses by where they are to be found ("the open one").
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias, get_args

from hostproof.reference_impl.values import Json, Record, is_record, is_text
from hostproof.strategies.sequence_answers import ARTIFACTS, PAYLOADS, REQUEST_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

CallerName = Literal["alice", "bob"]
ThreadName = Literal["one", "two"]
"""Both callers use the same two thread ids; a thread is its caller's own all the same."""

CueName = Literal[
    "check_in",
    "check_in_large",
    "ask_detail",
    "ask_component",
    "ask_then_check_in",
    "two_in_sequence",
    "nested",
    "question",
    "credential",
    "client_tool",
    "no_check_in",
    "denied",
    "plain",
]
"""What a message makes the agent do; the cues of a profile have the same names."""

History = Literal["none", "forged"]
"""What a page claims was said before: nothing, or the call made and its result given."""

PauseNamed = Literal["open", "earlier", "other-thread", "other-caller", "invented"]
"""
Which pause is named: the newest of the thread (open, or answered by now); the
one before it; the newest of the caller's other thread; the newest of the other
caller's thread of the same id; none that there is.
"""

Beside = Literal["alone", "twice", "unknown-after", "unknown-before"]
"""What stands beside the resume entry."""

Status = Literal["resolved", "cancelled"]

CommandName = Literal[
    "close-pause",
    "stop-after-spend",
    "forget-request",
    "tamper-call",
    "mend-call",
    "redeploy-chain",
    "redeploy-ledger",
    "redeploy-back",
    "spoil-pause",
]
"""Control commands, as docs/observation.md has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """
    A person's message.

    Attributes:
        caller: who sends it.
        thread: where.
        cue: what it makes the agent do.
        history: what is claimed to have been said before.
    """

    do: ClassVar = "say"
    caller: CallerName = "alice"
    thread: ThreadName = "one"
    cue: CueName = "check_in"
    history: History = "none"

    def kinds(self) -> tuple[str, ...]:
        """Name what is tried, for the count."""
        return (f"say {self.cue}", *_forged("say", self.history))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    An answer to an interrupt: one resume entry, or more.

    Attributes:
        caller: who sends it.
        thread: where.
        interrupt: which interrupt the entry names.
        payload: what is answered, a name of ``PAYLOADS``.
        request: what a decision names as its request, one of ``REQUEST_NAMES``.
        artifact: what a decision says it was chosen from, one of ``ARTIFACTS``.
        status: of the entry.
        beside: what stands beside it.
        history: what is claimed to have been said before.
    """

    do: ClassVar = "answer"
    caller: CallerName = "alice"
    thread: ThreadName = "one"
    interrupt: PauseNamed = "open"
    payload: str = "yes"
    request: str = "absent"
    artifact: str = "absent"
    status: Status = "resolved"
    beside: Beside = "alone"
    history: History = "none"

    def kinds(self) -> tuple[str, ...]:
        """Name what is tried, for the count."""
        tried = [f"answer {self.payload}", *_forged("answer", self.history)]
        if self.interrupt != "open":
            tried.append(f"answer to the interrupt: {self.interrupt}")
        if self.request != "absent":
            tried.append(f"answer with request: {self.request}")
        if self.artifact != "absent":
            tried.append(f"answer with artifact: {self.artifact}")
        if self.status != "resolved":
            tried.append("answer cancelled")
        if self.beside != "alone":
            tried.append(f"answer beside: {self.beside}")
        return tuple(tried)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """
    A tool message: the result of a call, right or forged.

    Attributes:
        caller: who sends it.
        thread: where.
        call: whose call it claims to be: that of the pause so named.
        history: what is claimed to have been said before.
    """

    do: ClassVar = "result"
    caller: CallerName = "alice"
    thread: ThreadName = "one"
    call: PauseNamed = "open"
    history: History = "none"

    def kinds(self) -> tuple[str, ...]:
        """Name what is tried, for the count."""
        return (f"result of the call: {self.call}", *_forged("result", self.history))


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """
    A command of the operator, or an accident, to one thread.

    Attributes:
        caller: whose thread.
        thread: which.
        command: what is done to it.
    """

    do: ClassVar = "control"
    caller: CallerName = "alice"
    thread: ThreadName = "one"
    command: CommandName = "close-pause"

    def kinds(self) -> tuple[str, ...]:
        """Name what is tried, for the count."""
        return (f"control {self.command}",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """The host's process ends, and another one serves the same database."""

    do: ClassVar = "restart"

    def kinds(self) -> tuple[str, ...]:
        """Name what is tried, for the count."""
        return ("restart",)


Step: TypeAlias = Say | Answer | Result | Control | Restart
Steps: TypeAlias = tuple[Step, ...]
"""A sequence."""


def _forged(what: str, history: History) -> tuple[str, ...]:
    return () if history == "none" else (f"{what} after a history: {history}",)


_KINDS: Final[Mapping[str, type[Step]]] = MappingProxyType(
    {kind.do: kind for kind in (Say, Answer, Result, Control, Restart)}
)
_ALLOWED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "caller": get_args(CallerName),
        "thread": get_args(ThreadName),
        "cue": get_args(CueName),
        "history": get_args(History),
        "interrupt": get_args(PauseNamed),
        "call": get_args(PauseNamed),
        "payload": tuple(PAYLOADS),
        "request": REQUEST_NAMES,
        "artifact": ARTIFACTS,
        "status": get_args(Status),
        "beside": get_args(Beside),
        "command": get_args(CommandName),
    }
)
"""The words each member may be."""


def every_kind() -> frozenset[str]:
    """Name every kind of step there is, as the count does."""
    tried = [
        step_from_json({"do": kind.do, member.name: word})
        for kind in _KINDS.values()
        for member in fields(kind)
        for word in _ALLOWED[member.name]
    ]
    return frozenset(name for step in (*tried, Restart()) for name in step.kinds())


def step_to_json(step: Step) -> Record:
    """Write a step: what is done, and every member."""
    return {"do": step.do} | {member.name: getattr(step, member.name) for member in fields(step)}


def step_from_json(value: Json) -> Step:
    """
    Read a step; a member left off is its default.

    Raises:
        ValueError: it is no step that this release knows; no value is quoted.
    """
    do = value.get("do") if is_record(value) else None
    kind = _KINDS.get(do) if is_text(do) else None
    if kind is None:
        raise ValueError(f"a step does one of {', '.join(_KINDS)}")
    given = {name: member for name, member in value.items() if name != "do"}
    known = [member.name for member in fields(kind)]
    for name, member in given.items():
        if name not in known:
            raise ValueError(f"a step that does {kind.do} has no such member: there are {known}")
        if not is_text(member) or member not in _ALLOWED[name]:
            raise ValueError(f"{name} is one of {', '.join(_ALLOWED[name])}")
    return kind(**given)


def steps_to_json(steps: Steps) -> list[Record]:
    """Write a sequence."""
    return [step_to_json(step) for step in steps]


def steps_from_json(value: Json) -> Steps:
    """
    Read a sequence.

    Raises:
        ValueError: it is none that this release knows.
    """
    if not isinstance(value, list):
        raise ValueError("a sequence is an array of steps")  # noqa: TRY004 - as for any other value
    return tuple(map(step_from_json, value))


def step_text(step: Step) -> str:
    """Write a step on one line, without what is as usual."""
    if isinstance(step, Restart):
        return "the host restarts"
    where = f"{step.caller}/{step.thread}"
    if isinstance(step, Control):
        return f"{where}: the operator does {step.command}"
    if isinstance(step, Say):
        words = [f"says the cue {step.cue}"]
    elif isinstance(step, Result):
        words = [f"sends a result of the call: {step.call}"]
    else:
        words = [f"answers {step.payload}"]
        words += [f"interrupt {step.interrupt}"] if step.interrupt != "open" else []
        words += [f"requestId {step.request}"] if step.request != "absent" else []
        words += [f"artifact {step.artifact}"] if step.artifact != "absent" else []
        words += [step.status] if step.status != "resolved" else []
        words += [f"the entry {step.beside}"] if step.beside != "alone" else []
    words += [f"history {step.history}"] if step.history != "none" else []
    return f"{where}: {', '.join(words)}"
