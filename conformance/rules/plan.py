"""
Rules of the set ``named`` on the turn: what a page may not decide is refused by name.

Source: contract, "Turn" (docs/contract.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.rule import Fault, Rule, Severity, Source
from hostproof.conformance.rules.judging import owed_refusal
from hostproof.conformance.tolerance import tolerant_plan, without_instructions, without_member

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.reference_impl.values import Record


def _plan_rule(
    name: str,
    code: str,
    demand: str,
    leave_off: Callable[[Record], Record] | None = None,
    *,
    severity: Severity = "medium",
    cwe: int | None = 20,
) -> Rule:
    return Rule(
        id=f"plan.{name}",
        title=name.replace("-", " "),
        demand=demand,
        source=Source(document="contract", clause="Turn"),
        sets=frozenset({"named"}),
        level="must",
        severity=severity,
        cwe=cwe,
        applies=lambda case: case.area == code and case.kind == "body",
        judge=owed_refusal,
        contractual=True,
        fault=Fault(name=f"plan-lets-through-{name}", build=tolerant_plan(code, leave_off)),
    )


RULES: Final = (
    _plan_rule(
        "instructions",
        "ERR_INSTRUCTIONS_NOT_CARRIED",
        "Refuse a system or developer message from a page, wherever it stands.",
        without_instructions,
        severity="high",
        cwe=285,
    ),
    _plan_rule(
        "tool-not-allowed",
        "ERR_TOOL_NOT_ALLOWED",
        "Refuse a page's tool that the application has not allowed by name.",
        without_member("tools"),
        severity="high",
        cwe=285,
    ),
    _plan_rule(
        "client-tools-not-carried",
        "ERR_CLIENT_TOOLS_NOT_CARRIED",
        "Refuse a page's tools where no paused run could take their results.",
        without_member("tools"),
    ),
    _plan_rule(
        "state-not-carried",
        "ERR_STATE_NOT_CARRIED",
        "Refuse state where the application takes none.",
        without_member("state"),
    ),
    _plan_rule(
        "state-refused",
        "ERR_STATE_REFUSED",
        "Refuse state that the application's validator does not accept.",
        without_member("state"),
    ),
    _plan_rule(
        "context-not-carried",
        "ERR_CONTEXT_NOT_CARRIED",
        "Refuse context where the application takes none.",
        without_member("context"),
    ),
    _plan_rule(
        "context-refused",
        "ERR_CONTEXT_REFUSED",
        "Refuse context that the application's validator does not accept.",
        without_member("context"),
    ),
    _plan_rule(
        "no-pending-ask",
        "ERR_NO_PENDING_ASK",
        "Refuse an answer to an interrupt where the thread waits on none.",
        without_member("resume"),
        severity="high",
        cwe=None,
    ),
    _plan_rule(
        "unknown-tool-call",
        "ERR_UNKNOWN_TOOL_CALL",
        "Refuse the result of a tool call that the thread does not wait on.",
        severity="high",
        cwe=345,
    ),
    _plan_rule(
        "awaiting-decision",
        "ERR_AWAITING_DECISION",
        "Refuse a request that does not bring the answer the thread waits on.",
        severity="high",
        cwe=None,
    ),
    _plan_rule(
        "unknown-interrupt",
        "ERR_UNKNOWN_INTERRUPT",
        "Refuse a resume that is not exactly one entry for the interrupt that is open.",
        severity="high",
        cwe=345,
    ),
    _plan_rule(
        "cancel-not-carried",
        "ERR_CANCEL_NOT_CARRIED",
        "Refuse to cancel an interrupt, whatever payload comes along.",
        cwe=None,
    ),
    _plan_rule(
        "no-user-turn",
        "ERR_NO_USER_TURN",
        "Refuse a request whose newest message is not a person's, or says nothing.",
        cwe=None,
    ),
    _plan_rule(
        "conversation-not-kept",
        "ERR_CONVERSATION_NOT_KEPT",
        "Refuse a continued conversation where none is kept: the page's copy is not what was said.",
        lambda request: {**request, "messages": request["messages"][-1:]},
        cwe=345,
    ),
    _plan_rule(
        "media-not-carried",
        "ERR_MEDIA_NOT_CARRIED",
        "Refuse a part that is no text by name; never drop it.",
        cwe=None,
    ),
)
