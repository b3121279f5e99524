"""What each cue makes the agent do: its calls, what stands before each, and what runs then."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.strategies.sequence_steps import CueName

Gate = Literal["checkIn", "ask", "question", "credential", "client"]
"""What a call waits for: a decision (a tool's demand, a middleware's ask), any value, ..."""

GATES: Final[frozenset[Gate]] = frozenset({"checkIn", "ask"})
"""Those that are consent gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """
    One call of a turn.

    Attributes:
        tool: the tool's name.
        amount: what is paid or transferred, ``None`` for other tools.
        gates: what still stands before it, in order.
        is_guarded: whether its run is an effect.
        is_nested: whether a helper makes it.
        is_pinned: whether its ask is pinned to data.
    """

    tool: str
    amount: int | None = None
    gates: tuple[Gate, ...] = ()
    is_guarded: bool = True
    is_nested: bool = False
    is_pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """
    One execution of a guarded action.

    Attributes:
        tool: the tool's name.
        amount: its argument ``amount``, or ``None``.
        asked_at: the place of the message whose nonce is its argument ``to``.
    """

    tool: str
    amount: float | None
    asked_at: int


def _unguarded(tool: str, gate: Gate) -> tuple[PlannedCall, ...]:
    return (PlannedCall(tool=tool, gates=(gate,), is_guarded=False),)


_PAY: Final = PlannedCall(tool="pay", amount=10, gates=("checkIn",))

PLANS: Final[Mapping[CueName, tuple[PlannedCall, ...]]] = MappingProxyType(
    {
        "check_in": (_PAY,),
        "check_in_large": (PlannedCall(tool="transfer", amount=5_000, gates=("checkIn",)),),
        "no_check_in": (PlannedCall(tool="transfer", amount=5),),
        "ask_detail": (PlannedCall(tool="publish", gates=("ask",)),),
        "ask_component": (PlannedCall(tool="assign", gates=("ask",), is_pinned=True),),
        "ask_then_check_in": (PlannedCall(tool="release", gates=("ask", "checkIn")),),
        "two_in_sequence": (_PAY, PlannedCall(tool="pay", amount=20, gates=("checkIn",))),
        "nested": (PlannedCall(tool="pay", amount=10, gates=("checkIn",), is_nested=True),),
        "question": _unguarded("ask_person", "question"),
        "credential": _unguarded("read_calendar", "credential"),
        "client_tool": _unguarded("show_form", "client"),
        "denied": (),
        "plain": (),
    }
)
"""The calls each cue makes; a denied one is made and never asks, so it is none here."""
