"""
Check-in: the tool's own demand to ask a person, and the decision that answers it.

A **demand** is declared on a tool: ``"always"``, or a predicate over the
call's arguments. A **decision** is plain JSON: ``requestId``, ``approved``,
``by`` (a claim), ``at`` (milliseconds since the epoch), and where they are
given ``note`` and ``value``. It names one request, so it answers that request
and no other.

What the contract tests with JavaScript's idea of truth is tested so here:
``0``, ``""``, ``false`` and ``null`` are as good as left off, ``[]`` and ``{}``
are not.

Source: contract, "Check-in" (docs/contract.md).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Final, Literal, TypeAlias, TypedDict, TypeGuard, cast

from hostproof.reference_impl.frozen import frozen_copy
from hostproof.reference_impl.result_texts import DECLINED
from hostproof.reference_impl.values import (
    MISSING,
    Json,
    Missing,
    Record,
    is_record,
    is_text,
    is_truthy,
    string_text,
)

Predicate: TypeAlias = Callable[[Json, Json], object]
"""Gets the frozen arguments and the host's context; ``True``, and nothing else, asks a person."""

Demand: TypeAlias = Literal["always"] | Predicate | Missing
"""When a tool's call asks a person first; :data:`MISSING` asks nobody."""

ALWAYS: Final = "always"


class Decision(TypedDict):
    """
    An answer to a consent gate: the members that tell it from any other value.

    Further members (``at``, ``note``, ``value``) are as they were given.
    """

    requestId: str
    approved: bool
    by: str


def approve(given: Json, *, at: float) -> Record:
    """
    Make the decision that says yes to a paused request.

    Args:
        given: ``{"request": {"id": ...}, "by": ..., "note": ..., "value": ...}``.
            A member left off stays off; other members are not carried.
        at: when it was decided, in milliseconds since the epoch.

    Returns:
        The decision. Its ``note`` and ``value`` are the very objects given.

    Raises:
        TypeError: *given* has no ``request`` with an ``id`` that is a text and not empty.

    Source: contract, "Check-in" (docs/contract.md).
    """
    return _decision(given, approved=True, at=at)


def decline(given: Json, *, at: float) -> Record:
    """
    Make the decision that says no to a paused request: it spends the request too.

    It takes, answers and raises what :func:`approve` does. A ``value`` is
    carried as well: what was looked at and not chosen is an answer.

    Source: contract, "Check-in" (docs/contract.md).
    """
    return _decision(given, approved=False, at=at)


def _decision(given: Json, *, approved: bool, at: float) -> Record:
    request = given.get("request") if is_record(given) else None
    request_id = request.get("id") if is_record(request) else None
    if not is_text(request_id) or not request_id:
        raise TypeError(
            f"{'approve' if approved else 'decline'}: `request` must be the paused request that "
            "is answered, with the `id` it was asked under (a text, not empty); take it from the "
            "pause and hand it on as it is"
        )
    decision: Record = {"requestId": request_id, "approved": approved}
    if "by" in given:
        decision["by"] = given["by"]
    decision["at"] = at
    for name in ("note", "value"):
        if is_truthy(given.get(name)):
            decision[name] = given[name]
    return decision


def looks_like_decision(value: Json) -> TypeGuard[Record]:
    """
    Say whether *value* has a decision's shape, whether or not it names a request.

    It tells a decision that names no request apart from a value that is none.

    Source: contract, "Check-in" (docs/contract.md).
    """
    return is_record(value) and isinstance(value.get("approved"), bool) and is_text(value.get("by"))


def is_decision(value: Json) -> TypeGuard[Decision]:
    """
    Say whether *value* is a decision: ``approved`` and ``by``, and the request it answers.

    Source: contract, "Check-in" (docs/contract.md).
    """
    if not looks_like_decision(value):
        return False
    request_id = value.get("requestId")
    return is_text(request_id) and request_id != ""


def declined_parts(note: Json = MISSING) -> Record:
    """
    Say what the result of a declined call states: ``{"declined": True, "note": text}``.

    A note that JavaScript takes for false is left off; any other that is no
    text is spelled as ``String()`` spells it.

    Source: contract, "Check-in" (docs/contract.md).
    """
    if not is_truthy(note):
        return {"declined": True}
    return {"declined": True, "note": string_text(note)}


def declined_result(note: Json = MISSING) -> str:
    """
    Write what the model reads for a call a person declined; the call did not run.

    Source: contract, "Check-in" (docs/contract.md).
    """
    parts = declined_parts(note)
    return f"{DECLINED}: {parts['note']}" if "note" in parts else DECLINED


def checked_demand(demand: Json) -> Demand:
    """
    Check a demand once, where a tool is configured, and answer it as it is.

    Raises:
        TypeError: it is neither a word nor a function; or a function that
            cannot answer at once (a coroutine function, or one that yields), or
            that does not take the arguments and the context.
        ValueError: it is another word than ``"always"``.

    Source: contract, "Check-in" (docs/contract.md).
    """
    if isinstance(demand, Missing):
        return demand
    if is_text(demand):
        if demand != ALWAYS:
            raise ValueError('a check-in demand is the word "always" or a predicate')
        return "always"
    if not callable(demand):
        raise TypeError(
            f'a check-in demand is the word "always" or a predicate, not a '
            f"{type(demand).__name__}; leave it off where no person is to be asked"
        )
    if _answers_later(demand):
        raise TypeError(
            "a check-in predicate answers at once: a coroutine function or a generator would "
            "never answer True, so nobody would be asked; make it a plain function"
        )
    if not _takes_two(demand):
        raise TypeError("a check-in predicate takes two arguments: the call's arguments, a context")
    return cast("Predicate", demand)


def _answers_later(demand: object) -> bool:
    while isinstance(demand, functools.partial):
        demand = demand.func
    tests = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
    # A callable object's own `__call__` is looked up on its class, as a call does.
    called = getattr(type(demand), "__call__", None)  # noqa: B004 - the function itself is wanted
    return any(test(demand) or test(called) for test in tests)


def _takes_two(demand: Callable[..., object]) -> bool:
    try:
        signature = inspect.signature(demand)
    except ValueError:
        return True  # written in C and silent about it; a wrong call trips the gate
    try:
        signature.bind(None, None)
    except TypeError:
        return False
    return True


def should_check_in(demand: Json, arguments: Json, context: Json = None) -> bool:
    """
    Say whether this call has to ask a person first.

    A predicate gets a frozen copy of *arguments* (a ``Mapping``, see
    :mod:`hostproof.reference_impl.frozen`), so it cannot change what will run.
    Only ``True`` itself trips the gate. So does every fault, as a demand that
    fails must not let a call through: a predicate that raises or writes,
    arguments of which no copy can be made, a demand that is no demand, and a
    function that cannot answer at once. Of a plain predicate an awaitable is
    an answer like any other that is not ``True``.

    Args:
        demand: a word, a predicate or :data:`MISSING`; see :func:`checked_demand`.
        arguments: the call's arguments, or a frozen copy shared with other callbacks.
        context: what the host hands to its predicates, passed on as it is.

    Raises:
        Nothing of its own; what is no ``Exception`` (a cancellation) passes through.

    Source: contract, "Check-in" (docs/contract.md).
    """
    if demand is MISSING:
        return False
    if is_text(demand) or not callable(demand) or _answers_later(demand):
        return True
    try:
        answer = demand(frozen_copy(arguments), context)
        if inspect.iscoroutine(answer):
            answer.close()  # else Python warns that nobody awaited it
    except Exception:  # noqa: BLE001 - whatever fails, a person is asked
        return True
    return answer is True
