"""What an agent yields, and what it is given: values between the agent and its host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from hostproof.reference_impl.values import Json, Record, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from hostproof.reference_impl.resume import Admitted
    from hostproof.reference_impl.scripted_model import ModelRequest
    from hostproof.reference_impl.tools import Middleware
    from hostproof.reference_impl.turn import Carried

PauseKind: TypeAlias = Literal["client", "question", "credential", "checkIn", "ask"]


@dataclass(frozen=True, slots=True)
class PageTool:
    """A tool the page runs, as the application describes it: *name* and *description*."""

    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call the model made: the *tool*, its *arguments*, and the call's *id*."""

    tool: str
    arguments: Record
    id: str

    def to_json(self) -> Record:
        """Write it as it is kept in a pause."""
        return {"tool": self.tool, "arguments": self.arguments, "callId": self.id}


def read_call(value: Json) -> Call | None:
    """Read a kept call; ``None`` where it is not one we wrote."""
    if not is_record(value) or not is_record(value.get("arguments")):
        return None
    if not is_text(value.get("tool")) or not is_text(value.get("callId")):
        return None
    return Call(tool=value["tool"], arguments=value["arguments"], id=value["callId"])


@dataclass(frozen=True, slots=True)
class Said:
    """The agent said a text; *message* is the AG-UI message to keep."""

    message: Record


@dataclass(frozen=True, slots=True)
class Called:
    """
    The agent makes calls; *message* is the AG-UI message that holds them.

    *nested* says that a helper makes them, whose messages are not the thread's.
    """

    message: Record
    calls: tuple[Call, ...]
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """A call has its result; *message* is the AG-UI tool message. *nested* as for calls."""

    message: Record
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Paused:
    """
    The turn stops here: someone else must answer.

    Attributes:
        kind: who must, and with what: the page (client), a person with any
            value (question), a provider (credential), or a person with a
            decision (checkIn, ask).
        call: what the answer is about.
        question: what is asked, in words.
        pending: what goes on with the turn, as plain JSON to keep.
    """

    kind: PauseKind
    call: Call
    question: str
    pending: Record


Step: TypeAlias = Said | Called | Returned | Paused


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """
    A turn that goes on after a pause.

    Attributes:
        pending: the pause as it was kept.
        admitted: the answer, as the door took it.
        answer: the answer as it came, for a pause whose door is inside the run.
    """

    pending: Record
    admitted: Admitted | None
    answer: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    One turn to run.

    Attributes:
        caller: who is served.
        messages: the conversation so far, the newest message included.
        page_tools: the page's tools that are enabled.
        given: the page's values that were accepted.
        chain: the rules before every call, in order.
        resumed: the pause the turn goes on after, or ``None``.
        mint: makes a fresh id from a prefix.
        observe: is shown every request to the model.
        act: keeps one execution of a guarded action, before it goes on.
        admit: the door and the spend, for an answer to a nested pause.
        obtain: asks a provider for a credential; false where it needs consent.
    """

    caller: str
    messages: tuple[Record, ...]
    page_tools: tuple[PageTool, ...]
    given: Mapping[Carried, Json]
    chain: tuple[Middleware, ...]
    mint: Callable[[str], str]
    observe: Callable[[ModelRequest], None]
    act: Callable[[Call], None]
    admit: Callable[[Record, Json], Admitted]
    obtain: Callable[[str, bool], Awaitable[bool]]
    resumed: Resumed | None = None


class Agent(Protocol):
    """Runs a turn, and yields what happens."""

    def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn; a :class:`Paused` is the last."""
