"""
The ops of the function program: from a request's members to a plain JSON result.

Where the contract takes a function (a validator, a predicate), the protocol
sends the name of a stand-in, and the stand-ins are here.

Source: contract, "Function program" (docs/contract.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from hostproof.reference_impl.assembly import CheckInConfig, assemble, resolve_check_in_config
from hostproof.reference_impl.checkin import (
    approve,
    decline,
    declined_result,
    is_decision,
    looks_like_decision,
    should_check_in,
)
from hostproof.reference_impl.elicitation import elicitation_answer, elicitation_request
from hostproof.reference_impl.evidence import lexical_driver_scorer, units_from_history
from hostproof.reference_impl.evidence_types import EvidenceInput, ScorerInput, Tool, ToolText
from hostproof.reference_impl.js_json import parse
from hostproof.reference_impl.reader import read_run_input
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.suspension import read_suspension
from hostproof.reference_impl.turn import (
    AnswerTurn,
    Awaiting,
    Carried,
    Facts,
    Held,
    Plan,
    Rules,
    Validator,
    ValidatorContext,
    plan_turn,
)
from hostproof.reference_impl.values import MISSING, Json, Record, is_record, is_text, is_truthy

Op: TypeAlias = Callable[[Record], Json]


class MemberError(ValueError):
    """A line's member has a form the op cannot work with; the message names the member."""


def _value(request: Record, name: str) -> Json:
    """Take the value in member *name*, or the one that the text in ``raw`` stands for."""
    if "raw" not in request:
        return request.get(name, MISSING)
    if not is_text(request["raw"]):
        raise MemberError("`raw` must be a string")
    try:
        return parse(request["raw"])
    except ValueError:
        raise MemberError("`raw` is no JSON text") from None


def _record(request: Record, name: str) -> Record:
    value = request.get(name, {})
    if not is_record(value):
        raise MemberError(f"`{name}` must be an object")
    return value


def _read_request(request: Record) -> Json:
    return read_run_input(_value(request, "body"))


def _plan_turn(request: Record) -> Json:
    checked = read_run_input(_value(request, "body"))
    awaiting = _record(request, "held").get("awaiting")
    facts = _record(request, "facts")
    held = Held()
    if awaiting is not None:
        given = awaiting if is_record(awaiting) else {}
        held = Held(
            awaiting=Awaiting(
                suspension=given.get("suspension", MISSING), pending=given.get("pending", MISSING)
            )
        )
    plan = plan_turn(
        checked,
        held,
        Facts(
            keeps_pauses=is_truthy(facts.get("keepsPauses")),
            keeps_conversation=is_truthy(facts.get("keepsConversation")),
            thread=facts.get("thread", MISSING),
            headers=facts.get("headers", MISSING),
        ),
        _rules(_record(request, "rules")),
    )
    return _planned(plan)


def _rules(given: Record) -> Rules[Record]:
    names = given.get("frontendTools", [])
    if not isinstance(names, list) or not all(map(is_text, names)):
        raise MemberError("`rules.frontendTools` must be a list of names")
    accept: dict[Carried, Validator] = {}
    modes = _record(given, "accept")
    carried: tuple[Carried, ...] = ("state", "context")
    for name in carried:
        if name in modes:
            accept[name] = _validator(modes[name], name)
    return Rules(frontend_tools={name: _tool(name) for name in names}, accept=accept)


def _tool(name: str) -> Callable[[], Record]:
    return lambda: {"tool": name}


def _validator(mode: Json, name: Carried) -> Validator:
    def refuse(_value: Json, _context: ValidatorContext) -> Json:
        raise ValueError("the stand-in says no")

    def refuse_named(_value: Json, _context: ValidatorContext) -> Json:
        raise Refusal(f"ERR_APP_{name.upper()}", 422, "The application says no.")

    def echo(value: Json, context: ValidatorContext) -> Json:
        told = {"thread": context.thread, "headers": context.headers}
        known = {key: member for key, member in told.items() if member is not MISSING}
        return {"value": value, "context": known}

    validators: dict[str, Validator] = {
        "accept": lambda value, _context: value,
        "refuse": refuse,
        "refuse-string": refuse,
        "refuse-named": refuse_named,
        "undefined": lambda _value, _context: MISSING,
        "null": lambda _value, _context: None,
        "echo": echo,
    }
    if not is_text(mode) or mode not in validators:
        raise MemberError(f"`rules.accept.{name}` must be one of {', '.join(validators)}")
    return validators[mode]


def _planned(plan: Plan[Record]) -> Record:
    turn = plan.turn
    spelled: Record
    if isinstance(turn, AnswerTurn):
        spelled = {"kind": "answer"}
        if turn.answer is not MISSING:
            spelled["answer"] = turn.answer
    else:
        spelled = {"kind": "message", "message": turn.message}
    planned: Record = {"turn": spelled}
    if plan.tools:
        planned["tools"] = list(plan.tools)
    if plan.accepted:
        planned["accepted"] = dict(plan.accepted)
    return planned


def _read_suspension(request: Record) -> Json:
    return read_suspension(request.get("value", MISSING))


def _elicitation_request(request: Record) -> Json:
    awaiting = request.get("awaiting", MISSING)
    if "revision" not in request:
        return elicitation_request(awaiting)
    return elicitation_request(awaiting, revision=request["revision"])


def _elicitation_answer(request: Record) -> Json:
    return elicitation_answer(request.get("awaiting", MISSING), _value(request, "content"))


def _should_check_in(request: Record) -> Json:
    arguments = request.get("arguments", MISSING)
    if arguments == {"$uncloneable": True}:
        arguments = {"uncloneable": object()}
    return should_check_in(_demand(request.get("demand", MISSING)), arguments)


def _demand(kind: Json) -> Json:
    """Give the demand that the protocol's *kind* names."""
    if is_record(kind) and "literal" in kind:
        return kind["literal"]
    if kind is MISSING or kind == "undefined":
        return MISSING
    if not is_text(kind) or kind not in _DEMANDS:
        raise MemberError(f"`demand` must be one of undefined, {', '.join(_DEMANDS)}")
    return _DEMANDS[kind]


def _throws(_arguments: Json, _context: Json) -> object:
    raise ValueError("the stand-in raises")


def _writes(arguments: Json, _context: Json) -> object:
    arguments["written"] = True
    return False


class _Later:
    """An awaitable that is never awaited, so nothing runs."""

    def __await__(self) -> object:
        return iter(())


_DEMANDS: Final[Mapping[str, Json]] = MappingProxyType(
    {
        "always": "always",
        "never": lambda _arguments, _context: False,
        "trips": lambda _arguments, _context: True,
        "truthy": lambda _arguments, _context: 1,
        "promise": lambda _arguments, _context: _Later(),
        "returns-undefined": lambda _arguments, _context: None,
        "throws": _throws,
        "writes": _writes,
    }
)


def _evidence(request: Record) -> Json:
    given = _record(request, "input")
    kind = request.get("kind", "standard")
    if kind not in ("standard", "minimal"):
        raise MemberError("`kind` must be standard or minimal")
    config = CheckInConfig(evidence="minimal" if kind == "minimal" else "standard")
    return asyncio.run(assemble(config, _evidence_input(given)))


def _evidence_input(given: Record) -> EvidenceInput:
    tool = _record(given, "tool")
    history = given.get("history", [])
    if not isinstance(history, list) or not all(map(is_record, history)):
        raise MemberError("`input.history` must be a list of messages")
    return EvidenceInput(
        tool=Tool(name=_text(tool, "name"), description=_text(tool, "description")),
        args=_record(given, "args"),
        iteration=given.get("iteration", MISSING),
        history=history,
    )


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    if not is_text(value):
        raise MemberError(f"`tool.{name}` must be a string")
    return value


def _context_units(request: Record) -> Json:
    history = request.get("history")
    if not isinstance(history, list) or not all(map(is_record, history)):
        raise MemberError("`history` must be a list of messages")
    return units_from_history(history)


def _score_drivers(request: Record) -> Json:
    tool = _record(request, "tool")
    units = request.get("units")
    if not isinstance(units, list) or not all(map(is_record, units)):
        raise MemberError("`units` must be a list of context units")
    return lexical_driver_scorer(
        ScorerInput(tool=ToolText(name=_text(tool, "name"), text=_text(tool, "text")), units=units)
    )


def _check_in_config(request: Record) -> Json:
    config = resolve_check_in_config(request.get("options", MISSING))
    named = isinstance(config.evidence, str) and config.evidence in ("standard", "minimal")
    scorer = config.scorer
    return {
        "evidence": config.evidence if named else {"literal": config.evidence},
        "scorer": "lexical" if scorer is lexical_driver_scorer else {"literal": scorer},
    }


OPS: Final[Mapping[str, Op]] = MappingProxyType(
    {
        "read_request": _read_request,
        "plan_turn": _plan_turn,
        "read_suspension": _read_suspension,
        "elicitation_request": _elicitation_request,
        "elicitation_answer": _elicitation_answer,
        "is_decision": lambda request: is_decision(request.get("value", MISSING)),
        "looks_like_decision": lambda request: looks_like_decision(request.get("value", MISSING)),
        "approve": lambda request: approve(request.get("input", MISSING), at=0),
        "decline": lambda request: decline(request.get("input", MISSING), at=0),
        "should_check_in": _should_check_in,
        "evidence": _evidence,
        "context_units": _context_units,
        "score_drivers": _score_drivers,
        "declined_result": lambda request: declined_result(request.get("note", MISSING)),
        "check_in_config": _check_in_config,
    }
)
"""Every op by name, in the order in which the protocol lists them."""
