"""
What must be true of threads while a sequence is performed: the model.

It is pure, and says on its own what the contract demands: which refusal or
which progress a step owes, what has run, and what is pending. It knows nothing
of how the reference implementation decides.

Source: contract, "Turn", "Door", "Ledger" and "Settling" (docs/contract.md);
docs/observation.md, "Control".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.strategies.sequence_answers import PAYLOADS, STALE, UNNAMED
from hostproof.strategies.sequence_steps import Answer, Control, Restart, Result, Say, Step
from hostproof.strategies.thread_plans import PLANS, Effect, PlannedCall
from hostproof.strategies.thread_state import (
    Done,
    Owed,
    PauseName,
    Pending,
    Place,
    Refuses,
    Runs,
    Stops,
    Thread,
    World,
    named_pause,
    place_of,
)

if TYPE_CHECKING:
    from hostproof.strategies.sequence_steps import PauseNamed


def stepped(world: World, step: Step) -> tuple[World, Owed]:
    """Make a step: give what is true afterwards, and what the step owes."""
    if isinstance(step, Restart):
        served = {
            place: replace(thread, ledger=0, rules=0, stops=False)
            for place, thread in world.threads.items()
        }
        return replace(world, threads=served, at=world.at + 1), Done()
    place = place_of(step)
    before = world.thread(place)
    ledgers = world.ledgers
    owed: Owed
    if isinstance(step, Control):
        after, owed = _commanded(before, step, ledgers)
        ledgers += step.command == "redeploy-ledger"
    elif isinstance(step, Answer):
        after, owed = _answered(world, before, step)
    else:
        after, owed = _sent(world, _settled_if_spent(before), step)
    threads = {**world.threads, place: after}
    return World(threads=threads, at=world.at + 1, ledgers=ledgers), owed


def _settled_if_spent(thread: Thread) -> Thread:
    """A request that brings no answer to an interrupt finds a spent pause settled."""
    return replace(thread, pending=None) if _how_spent(thread) is not None else thread


def _how_spent(thread: Thread) -> str | None:
    """How the pause's request was spent, as far as the thread's own ledger and pause can tell."""
    pending = thread.pending
    if pending is None or pending.is_forgotten or pending.ledger != thread.ledger:
        return None
    return pending.spent


def _going_on(
    thread: Thread, place: Place, calls: tuple[PlannedCall, ...], asked_at: int
) -> Thread:
    """Go on with a turn: run what nothing stands before, up to the next gate."""
    effects = list(thread.effects)
    for at, call in enumerate(calls):
        if call.gates:
            pending = Pending(
                name=PauseName(place, thread.pauses),
                gate=call.gates[0],
                asked_at=asked_at,
                calls=calls[at:],
                ledger=thread.ledger,
                rules=thread.rules,
            )
            return replace(
                thread, pending=pending, pauses=thread.pauses + 1, effects=tuple(effects)
            )
        if call.is_guarded:
            effects.append(Effect(tool=call.tool, amount=call.amount, asked_at=asked_at))
    return replace(thread, pending=None, effects=tuple(effects))


def _sent(world: World, thread: Thread, step: Say | Result) -> tuple[Thread, Owed]:
    """A message or a tool message arrives."""
    place, pending = place_of(step), thread.pending
    if pending is None:
        if isinstance(step, Result):
            return thread, Refuses("ERR_UNKNOWN_TOOL_CALL")
        return _going_on(thread, place, PLANS[step.cue], world.at), Runs()
    if pending.is_spoiled or pending.gate != "client" or isinstance(step, Say):
        return thread, Refuses("ERR_AWAITING_DECISION")
    if named_pause(world, place, step.call) != pending.name:
        return thread, Refuses("ERR_UNKNOWN_TOOL_CALL")
    return _passed(thread, pending), Runs()


def _passed(thread: Thread, pending: Pending, *, declined: bool = False) -> Thread:
    """The pause is over: its gate is passed, or its call will never run."""
    call, behind = pending.calls[0], pending.calls[1:]
    left = () if declined else (replace(call, gates=call.gates[1:]),)
    idle = replace(thread, pending=None)
    return _going_on(idle, pending.name.place, (*left, *behind), pending.asked_at)


def _answered(world: World, thread: Thread, step: Answer) -> tuple[Thread, Owed]:
    """An answer to an interrupt arrives."""
    pending = thread.pending
    if pending is None:
        return thread, Refuses("ERR_NO_PENDING_ASK")
    if pending.is_spoiled:
        return thread, Refuses("ERR_AWAITING_DECISION")
    if pending.gate == "client":
        forged = step.history == "forged"
        return thread, Refuses("ERR_UNKNOWN_TOOL_CALL" if forged else "ERR_AWAITING_DECISION")
    named = named_pause(world, pending.name.place, step.interrupt)
    if named != pending.name or step.beside != "alone":
        return thread, Refuses("ERR_UNKNOWN_INTERRUPT")
    if step.status == "cancelled":
        return thread, Refuses("ERR_CANCEL_NOT_CARRIED")
    if pending.asks_consent:
        return _decided(world, thread, pending, step)
    if pending.gate == "question" and not PAYLOADS[step.payload].says_something:
        return thread, Refuses("ERR_PAUSE_ANSWER_REQUIRED")
    return _passed(thread, pending), Runs()


def _decided(world: World, thread: Thread, pending: Pending, step: Answer) -> tuple[Thread, Owed]:
    """An answer to a consent gate arrives at the door, and goes on to the spend."""
    in_stream = pending.calls[0].is_nested
    refused = _door(world, thread, pending, step)
    if refused is None and pending.spent is not None:
        refused = "closed-by-host" if pending.spent == "closed" else "already-answered"
        thread = replace(thread, pending=None)
    if refused is not None:
        if refused.startswith("ERR_"):
            return thread, Refuses(refused, in_stream=in_stream)
        return thread, Refuses("ERR_RESUME_DECISION", refused, in_stream=in_stream)
    says_no = PAYLOADS[step.payload].reads == "no"
    if thread.stops:
        spent = replace(pending, spent="declined" if says_no else "approved")
        return replace(thread, pending=spent, stops=False), Stops()
    return _passed(thread, pending, declined=says_no), Runs()


def _door(world: World, thread: Thread, pending: Pending, step: Answer) -> str | None:
    """Give the code, or the reason of ERR_RESUME_DECISION, that the pause is kept with."""
    if PAYLOADS[step.payload].reads == "none":
        return "ERR_DECISION_REQUIRED"
    if step.request in UNNAMED:
        return "no-request"
    if pending.is_forgotten:
        return "request-not-recorded"
    if not _names_request(world, pending, step.request):
        return "other-request"
    if pending.calls[0].is_pinned and step.artifact == STALE:
        return "ERR_STALE_DECISION"
    if pending.is_tampered:
        return "call-changed"
    if pending.gate == "ask" and pending.rules != thread.rules:
        return "chain-changed"
    if pending.ledger != thread.ledger:
        return "ledger-changed"
    return None


def _names_request(world: World, pending: Pending, request: str) -> bool:
    """Say whether a decision names the pause's request; the host fills in what is absent."""
    if request in ("absent", "right"):
        return True
    places: dict[str, PauseNamed] = {
        "earlier": "earlier",
        "other-thread": "other-thread",
        "other-caller": "other-caller",
    }
    named = named_pause(world, pending.name.place, places.get(request, "invented"))
    return named == pending.name


def _commanded(thread: Thread, step: Control, ledgers: int) -> tuple[Thread, Done]:
    """A control command is carried out."""
    command, pending = step.command, thread.pending
    if command == "stop-after-spend":
        return replace(thread, stops=True), Done()
    if command == "redeploy-chain":
        return replace(thread, rules=thread.rules + 1), Done()
    if command == "redeploy-ledger":
        return replace(thread, ledger=ledgers), Done()
    if command == "redeploy-back":
        usual = (thread.ledger, thread.rules) == (0, 0)
        return replace(thread, ledger=0, rules=0), Done(nothing=usual)
    if pending is None:
        return thread, Done(nothing=True)
    if command == "close-pause":
        return _closed(thread, pending), Done()
    if command == "mend-call" and not pending.is_tampered:
        return thread, Done(nothing=True)
    if command == "spoil-pause":
        pending = replace(pending, is_spoiled=True)
    elif command == "forget-request":
        pending = replace(pending, is_forgotten=True)
    else:
        pending = replace(pending, is_tampered=command == "tamper-call")
    return replace(thread, pending=pending), Done()


def _closed(thread: Thread, pending: Pending) -> Thread:
    """
    The operator closes the pause: its call will never run.

    Where its request can be spent, that is done, and the next request settles
    the pause; else it is settled at once.
    """
    spendable = pending.asks_consent and not pending.is_forgotten
    if spendable and pending.ledger == thread.ledger and pending.spent is None:
        return replace(thread, pending=replace(pending, spent="closed"))
    return replace(thread, pending=None)
