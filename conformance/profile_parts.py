"""
The parts of a profile, as values: where a host is, who calls it, what it can do.

A :class:`~hostproof.conformance.profile.Profile` is put together from them.
The format they are read from is kept by ``profile.schema.json``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from hostproof.conformance.target import Limits
from hostproof.reference_impl.values import MISSING, Json, Missing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from hostproof.conformance.exchange import Headers

RuleSet: TypeAlias = Literal["safety", "named", "ag-ui"]
"""A set of rules that a host is judged by."""

RULE_SETS: Final[tuple[RuleSet, ...]] = ("safety", "named", "ag-ui")
DEFAULT_SETS: Final[tuple[RuleSet, ...]] = ("safety", "ag-ui")

Carried: TypeAlias = Literal["validated", "not-carried", "free"]
"""
What becomes of a page's state or context.

``validated``: a validator of the host's takes or refuses it. ``not-carried``:
it is refused unless empty. ``free``: it is taken as AG-UI allows, and nothing
is claimed.
"""

CallerRole: TypeAlias = Literal["caller", "inspector"]
"""A client of the host, or one who only observes and controls it."""

HistoryMode: TypeAlias = Literal["server", "client"]
"""Who keeps the conversation; with ``client`` the whole of it goes with each request."""


EffectsKind: TypeAlias = Literal["url", "file", "command", "python", "stream"]
"""How effects are read where the host offers no observation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetAt:
    """
    How the host is reached; neither *url* nor *app* is set where it is not said yet.

    Attributes:
        url: of its AG-UI endpoint.
        app: an ASGI application to import, as ``module:attribute``.
        path: of the application's endpoint.
        start: the command that starts the host, as words to run without a
            shell; empty if it runs already.
        ready: the URL to poll until it answers, or None for *url*.
    """

    url: str | None = None
    app: str | None = None
    path: str = "/"
    start: tuple[str, ...] = ()
    ready: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """
    One identity.

    Attributes:
        name: as the profile has it.
        headers: what says so to the host, in order; in no ``repr``.
        role: what it is for.
    """

    name: str
    headers: Headers = field(repr=False)
    role: CallerRole = "caller"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """
    One agent of the host, and what the profile claims for it.

    Attributes:
        name: as the profile has it.
        path: what is added to the path of the target's URL, or "".
        keeps_pauses: whether a paused run outlives its request.
        durable: whether a pause outlives a restart of the host.
        keeps_conversation: whether what was said is kept.
        client_tools: names of the tools that a page may offer.
        guarded: names of tools of the host's own that ask before they run, where it says so.
        state: what becomes of a page's state.
        context: what becomes of a page's context.
        good_state: a state that its validator takes, or ``MISSING``.
        bad_state: a state that it refuses, or ``MISSING``.
        good_context: a context (array of entries) that it takes, or ``MISSING``.
        bad_context: a context that it refuses, or ``MISSING``.
    """

    name: str = "main"
    path: str = ""
    keeps_pauses: bool = False
    durable: bool = False
    keeps_conversation: bool = True
    client_tools: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    state: Carried = "free"
    context: Carried = "free"
    good_state: Json | Missing = MISSING
    bad_state: Json | Missing = MISSING
    good_context: Json | Missing = MISSING
    bad_context: Json | Missing = MISSING


MAIN: Final = "main"
OTHER_ENDPOINTS: Final = ("carrying", "stateless")
"""Endpoints that cases know by name: one takes state and context, and one keeps nothing."""

ONE_ENDPOINT: Final[Mapping[str, Endpoint]] = MappingProxyType({MAIN: Endpoint()})
"""The endpoints of a host that has one, at the target's own URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """
    Where the host tells what its guarded actions did.

    Attributes:
        url: a path on the target's origin, or a URL.
        caller: whose headers are sent; None for nobody's.
        other_origin: whether *url* may be of another origin.
    """

    url: str
    caller: str | None = None
    other_origin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectsAt:
    """
    Where the host's effects can be read, if not in an observation.

    Attributes:
        kind: a URL, a file, a command, a Python function, or the tool results in the stream.
        place: the URL or path, the file, the function as ``module:name``; for
            the stream what a guarded tool's result contains.
        words: the command, without a shell.
        caller: whose headers are sent to the URL; None for nobody's.
        other_origin: whether the URL may be of another origin.
    """

    kind: EffectsKind
    place: str = ""
    words: tuple[str, ...] = ()
    caller: str | None = None
    other_origin: bool = False

    @property
    def counts(self) -> bool:
        """Whether it tells an action that ran twice from a result that is told twice."""
        return self.kind != "stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """
    A call that a host wants for each thread before its first run.

    Attributes:
        path: on the target's origin; ``{thread}`` in it is the thread's id.
        method: how it is asked.
        body: JSON to send, ``{thread}`` in its texts filled; ``MISSING`` for none.
    """

    path: str
    method: str = "POST"
    body: Json | Missing = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """
    Where the host takes commands.

    Attributes:
        url: a path on the target's origin, or a URL.
        commands: those it knows.
        caller: whose headers are sent; None for nobody's.
        other_origin: whether *url* may be of another origin.
    """

    url: str
    commands: tuple[str, ...]
    caller: str | None = None
    other_origin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """
    How much to send, how long to wait and how much to take.

    Attributes:
        requests: how many may be sent in all.
        concurrency: how many may be on their way at once.
        exchange: those of one exchange.
    """

    requests: int = 20_000
    concurrency: int = 8
    exchange: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """
    A failure that is expected.

    Attributes:
        rule: the rule's id; whether there is such a rule is not checked here.
        kind: to be mended (known), or meant so (by-design).
        why: the reason, for whoever reads the report.
        until: the last day on which it holds; None for always.
        clause: the clause that the host departs from, or None.
    """

    rule: str
    kind: Literal["known", "by-design"]
    why: str
    until: date | None = None
    clause: str | None = None

    def holds(self, today: date) -> bool:
        """Say whether it still counts on *today*; an expired waiver counts as none."""
        return self.until is None or today <= self.until
