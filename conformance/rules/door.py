"""
Rules of the set ``named`` on the resume door: each refusal with its code and reason.

Source: contract, "Door" (docs/contract.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance import door_faults as faults
from hostproof.conformance.rule import Fault, Rule
from hostproof.conformance.rules.consent import NAMED, areas, consent_rule, refused_as_owed

if TYPE_CHECKING:
    from hostproof.conformance.rule import Build

AUTHORIZATION: Final = 863
"""CWE-863: incorrect authorization."""

REPLAY: Final = 294
"""CWE-294: authentication bypass by capture-replay."""


def _door_rule(name: str, area: str, demand: str, build: Build, cwe: int = AUTHORIZATION) -> Rule:
    """Declare a rule on one refusal; *area* is its code, or the reason of ERR_RESUME_DECISION."""
    return consent_rule(
        f"door.{name}",
        demand,
        refused_as_owed,
        Fault(name=f"door-lets-through-{name}", build=build),
        areas(area),
        sets=NAMED,
        severity="high",
        cwe=cwe,
        source=("contract", "Door"),
    )


RULES: Final = (
    _door_rule(
        "decision-required",
        "ERR_DECISION_REQUIRED",
        "Refuse an answer to a consent gate that is no decision.",
        faults.takes_no_decision,
    ),
    _door_rule(
        "answer-required",
        "ERR_PAUSE_ANSWER_REQUIRED",
        "Refuse null and nothing as the answer to a plain question.",
        faults.takes_nothing_for_an_answer,
    ),
    _door_rule(
        "no-request",
        "no-request",
        "Refuse a decision that names no request.",
        faults.takes_no_request,
    ),
    _door_rule(
        "request-not-recorded",
        "request-not-recorded",
        "Refuse a decision where the pause recorded no request.",
        faults.takes_unrecorded,
    ),
    _door_rule(
        "other-request",
        "other-request",
        "Refuse a decision that names another request.",
        faults.takes_other_request,
    ),
    _door_rule(
        "stale-decision",
        "ERR_STALE_DECISION",
        "Refuse an answer that was chosen from other data than the ask pinned.",
        faults.takes_stale,
    ),
    _door_rule(
        "call-changed",
        "call-changed",
        "Refuse a decision where the paused call is not the one asked about.",
        faults.runs_a_changed_call,
    ),
    _door_rule(
        "chain-changed",
        "chain-changed",
        "Refuse a decision where the rules after the ask are not those it was asked under.",
        faults.runs_under_another_chain,
    ),
    _door_rule(
        "ledger-changed",
        "ledger-changed",
        "Refuse a decision that would be spent in another ledger than its request's.",
        faults.spends_in_another_ledger,
    ),
    _door_rule(
        "closed-by-host",
        "closed-by-host",
        "Refuse a decision where the host has closed the pause.",
        faults.runs_what_was_closed,
    ),
    _door_rule(
        "already-answered",
        "already-answered",
        "Refuse a decision whose request was spent before.",
        faults.spends_twice,
        REPLAY,
    ),
    _door_rule(
        "nested",
        "nested",
        "Refuse an answer to a helper's pause inside the run, by RUN_ERROR with the same code.",
        faults.takes_other_request,
    ),
)
