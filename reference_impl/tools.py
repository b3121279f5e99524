"""
The tools of our hosts, and the rules that ask before they run.

A tool may demand consent itself (a check-in), be refused to a caller (the
permission check, which comes first), or need a credential whose provider asks
for consent. A middleware stands before every tool and may ask a person, with a
detail or with a component that collects the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from hostproof.reference_impl.checkin import Demand, checked_demand, should_check_in
from hostproof.reference_impl.values import MISSING, Json, Missing, Record

SLOW_SECONDS: Final = 0.2
ACTION_SECONDS: Final = 0.02
SMALL_AMOUNT: Final = 100
"""Up to here a transfer runs without asking."""

Run: TypeAlias = Callable[[Record], Awaitable[str]]


def anyone_may(caller: str, arguments: Record) -> bool:
    """Let every caller make every call."""
    del caller, arguments
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTool:
    """
    A tool the host runs.

    Attributes:
        description: for the model, and for whoever is asked.
        run: runs a call, and gives its result.
        demand: when a call asks a person first.
        guarded: whether its runs are effects, kept one by one.
        allowed: the permission check, before any ask.
        provider: whose credential a call needs, or ``None``.

    Raises:
        TypeError: the demand could not be asked at once.
    """

    description: str
    run: Run
    demand: Demand = MISSING
    guarded: bool = False
    allowed: Callable[[str, Record], bool] = anyone_may
    provider: str | None = None

    def __post_init__(self) -> None:
        if self.demand is not MISSING:
            checked_demand(self.demand)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """
    What a middleware asks a person.

    Attributes:
        question: in its own words.
        detail: what else to show, ``MISSING`` for nothing.
        component: a registered component that collects the answer; its
            ``propsRef`` pins the data the answer is chosen from.
    """

    question: str
    detail: Json | Missing = MISSING
    component: Record | None = None


@dataclass(frozen=True, slots=True)
class Middleware:
    """A rule before every call: its *name*, and what it *asks* about a call, or ``None``."""

    name: str
    asks: Callable[[str, Record], Ask | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a call has come: the next rule of the chain, and whether its check-in was passed."""

    position: int = 0
    consented: bool = False


@dataclass(frozen=True, slots=True)
class Denied:
    """The permission check says no."""


@dataclass(frozen=True, slots=True)
class Asks:
    """The rule at *position* of the chain asks."""

    position: int
    middleware: str
    ask: Ask


@dataclass(frozen=True, slots=True)
class ChecksIn:
    """The tool's own demand trips."""


@dataclass(frozen=True, slots=True)
class Clear:
    """Nothing stands before the call any more, but perhaps a credential."""


Gate: TypeAlias = Denied | Asks | ChecksIn | Clear


def next_gate(
    name: str,
    tool: OwnTool,
    arguments: Record,
    progress: Progress,
    *,
    caller: str,
    chain: tuple[Middleware, ...],
) -> Gate:
    """Find what stands before a call: permission, then the chain, then the tool's own demand."""
    if not tool.allowed(caller, arguments):
        return Denied()
    for position in range(progress.position, len(chain)):
        ask = chain[position].asks(name, arguments)
        if ask is not None:
            return Asks(position, chain[position].name, ask)
    if not progress.consented and should_check_in(tool.demand, arguments):
        return ChecksIn()
    return Clear()


async def take_time(arguments: Record) -> str:
    """Work on something for :data:`SLOW_SECONDS`."""
    await asyncio.sleep(SLOW_SECONDS)
    return f"took my time for {arguments['for']}"


def _done(verb: str) -> Run:
    async def run(arguments: Record) -> str:
        await asyncio.sleep(ACTION_SECONDS)
        return f"{verb} {arguments['to']}"

    return run


def is_large(arguments: Json, context: Json) -> bool:
    """Demand consent for a transfer above :data:`SMALL_AMOUNT`."""
    del context
    amount = arguments["amount"]
    return not isinstance(amount, int | float) or amount > SMALL_AMOUNT


def nobody_may(caller: str, arguments: Record) -> bool:
    """Let no caller make any call."""
    del caller, arguments
    return False


OWN_TOOLS: Final[Mapping[str, OwnTool]] = MappingProxyType(
    {
        "take_time": OwnTool(description="Work on something for a while.", run=take_time),
        "pay": OwnTool(
            description="Pay an amount to someone.",
            run=_done("paid"),
            demand="always",
            guarded=True,
        ),
        "transfer": OwnTool(
            description="Transfer an amount; large ones ask first.",
            run=_done("transferred to"),
            demand=is_large,
            guarded=True,
        ),
        "publish": OwnTool(description="Publish a page.", run=_done("published for"), guarded=True),
        "assign": OwnTool(
            description="Assign a row of a table.", run=_done("assigned to"), guarded=True
        ),
        "release": OwnTool(
            description="Release a version.",
            run=_done("released for"),
            demand="always",
            guarded=True,
        ),
        "wipe": OwnTool(
            description="Delete everything.",
            run=_done("wiped for"),
            demand="always",
            guarded=True,
            allowed=nobody_may,
        ),
        "read_calendar": OwnTool(
            description="Read a calendar.", run=_done("read the calendar of"), provider="calendar"
        ),
    }
)
"""The tools the host runs, by name."""


def ask_about_publishing(tool: str, arguments: Record) -> Ask | None:
    """Ask before something is published or released, showing what."""
    if tool not in ("publish", "release"):
        return None
    return Ask(question=f"Shall {arguments['to']} go out?", detail={"audience": "everyone"})


def ask_about_rows(tool: str, arguments: Record) -> Ask | None:
    """Ask which row is meant, by a component that is pinned to its data."""
    if tool != "assign":
        return None
    component = {"name": "row_picker", "propsRef": f"rows-of-{arguments['to']}"}
    return Ask(question=f"Which row is {arguments['to']}?", component=component)


def never_asks(tool: str, arguments: Record) -> Ask | None:
    """Ask nothing: a rule that only stands in the chain."""
    del tool, arguments
    return None


CHAIN: Final = (
    Middleware("publishing", ask_about_publishing),
    Middleware("rows", ask_about_rows),
    Middleware("audit", never_asks),
)
"""The rules before every call, in order."""
