"""
What happened when a case was performed: the exchanges that rules read.

Source: docs/verdicts.md, "How a case is judged".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange
    from hostproof.reference_impl.values import Record

CaseKind: TypeAlias = Literal["body", "wire", "run", "answer"]
"""A change to the body's value; one below it; a plain run; an answer to a pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """
    What an answer is owed by the contract.

    Attributes:
        code: the refusal's code; ``None`` where the request is to be accepted.
        status: its HTTP status; 200 where it is to be accepted.
        field: the member it names, or ``None``.
        reason: the reason it gives, or ``None``.
        in_stream: whether the run itself says it.
    """

    code: str | None
    status: int
    field: str | None = None
    reason: str | None = None
    in_stream: bool = False

    def describe(self) -> str:
        """Say it in words."""
        if self.code is None:
            return "accepted (a run that finishes)"
        how = "RUN_ERROR" if self.in_stream else f"HTTP {self.status}"
        named = [str(self.code)]
        named += [] if self.reason is None else [self.reason]
        named += [] if self.field is None else [f"field {self.field}"]
        return f"refused ({how}, {', '.join(named)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    What a rule may know of a case beside its exchanges.

    Attributes:
        id: the case's name.
        area: what it is about.
        kind: where it changes something.
        situation: where the thread stands before it.
        endpoint: which agent it is sent to.
        owed: what the contract owes it.
        canary: the marker in every hostile value of it.
    """

    id: str
    area: str
    kind: CaseKind
    situation: str
    endpoint: str
    owed: Owed
    canary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """
    What the observation showed around an answer: effects, oldest first, and what it kept.

    Attributes:
        owed: how many effects are owed after the answer.
        most: how many a host may show that takes what the contract refuses; ``None``: as owed.
        counted: whether an action that ran twice can be told from a result told twice.
        won: of answers sent at once, whether each that was taken was a yes.
        shown: the arguments that the page was shown for what ran, in order; ``None``
            where it was shown none.
        shown_tools: the tools that the page was shown for what ran, in order; ``None`` where the
            call of an effect was not shown.
        held: the pauses that the observation showed at each look before the answer; none
            where it shows no pauses.
        not_approved: the arguments of calls that were asked about and not said yes to.
        can_tell: whether the host can tell that a question is open: it kept it, or the
            history that it was sent shows it.
        control: effects on the twin thread, whose pause was answered with a yes.
        control_owed: how many are owed there.
        paused: effects on the case's thread while it was paused.
        before: how many effects there were before the answer, those of answers before it.
        answered: effects after the answer.
        ended: effects after what followed.
        ended_owed: how many are owed then.
        answerable: whether the right answer followed, and so must be taken after a refusal.
        unanswered: whether the case sent no answer at all, so that the pause must stay.
        secrets: what no page may see: request ids and the agent's instructions.
        records: decision records of the case's requests.
        records_owed: how many decisions were used.
    """

    owed: int
    most: int | None = None
    counted: bool = True
    won: tuple[bool, ...] = ()
    shown: tuple[Record | None, ...] = ()
    shown_tools: tuple[str | None, ...] = ()
    held: tuple[tuple[Record, ...], ...] = ()
    not_approved: tuple[Record, ...] = ()
    can_tell: bool = True
    control: tuple[Record, ...] = ()
    control_owed: int = 0
    paused: tuple[Record, ...] = ()
    before: int = 0
    answered: tuple[Record, ...] = ()
    ended: tuple[Record, ...] = ()
    ended_owed: int = 0
    answerable: bool = False
    unanswered: bool = False
    secrets: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()
    records_owed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """
    What was seen inside when a second caller had used a thread's id.

    Attributes:
        mark: a word of the second caller's own.
        requests: requests to the model that hold it; none where none is shown.
        stored: what is stored of the first caller's thread; none where nothing is shown.
    """

    mark: str
    requests: tuple[Record, ...] = ()
    stored: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """
    One performed case.

    Attributes:
        case: what was done.
        control: the accepted request that the change starts from, performed on
            a thread of its own; ``None`` where the case is itself a good run.
        changed: the answers to the request with its one change; usually one.
        after: a good request on the same thread afterwards, or ``None`` where
            none makes sense.
        unprepared: why the situation could not be brought about, or ``""``.
        missing: what this host has no place for, so that the case does not apply, or ``""``.
        asked: whether the run asked something, in the host's own style.
        asked_aside: whether it asked in an event of the host's own.
        throttled: whether the host asked us to slow down (429).
        others: answers on the way there and afterwards, which no rule judges alone.
        seen: what the observation showed, for an answer to a pause.
        inside: the observation of the case's thread in the end, where it was looked at.
        fetched: how often something was fetched from URLs of the case's own; ``None`` where
            it has none.
        unasked: what ran on a thread whose question is not answered, or never came.
        ran: every guarded action seen to run that *seen* does not hold.
        yes_seen: whether a plain yes was seen to run its call, where a case needs that to prove
            anything.
        shared: what was seen inside, for a thread id that two callers used.
    """

    case: Facts
    control: Exchange | None = None
    changed: tuple[Exchange, ...] = ()
    after: Exchange | None = None
    unprepared: str = ""
    missing: str = ""
    asked: bool = False
    asked_aside: bool = False
    throttled: bool = False
    others: tuple[Exchange, ...] = ()
    seen: Seen | None = None
    inside: Record | None = None
    fetched: int | None = None
    unasked: tuple[Record, ...] = ()
    ran: tuple[Record, ...] = ()
    yes_seen: bool = False
    shared: Shared | None = None

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Every exchange, in the order in which it was made."""
        parts = (self.control, *self.others, *self.changed, self.after)
        return tuple(part for part in parts if part is not None)
