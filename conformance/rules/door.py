"""
Rules of the set ``named`` on the resume door: each refusal with its code and reason.

Source: contract, "Door" (docs/contract.md).
"""

from __future__ import annotations

from typing import Final

from hostproof.conformance import consent_faults as faults
from hostproof.conformance.door_faults import runs_what_was_closed
from hostproof.conformance.rule import Fault, Rule
from hostproof.conformance.rules.consent import (
    NAMED,
    areas,
    consent_rule,
    refused_as_owed,
    tolerant,
)

RESUME: Final = "ERR_RESUME_DECISION"


def _door_rule(
    name: str, code: str, demand: str, reason: str | None = None, fault: Fault | None = None
) -> Rule:
    return consent_rule(
        f"door.{name}",
        demand,
        refused_as_owed,
        fault or tolerant(name, code, reason),
        areas(reason or code),
        sets=NAMED,
        severity="high",
        cwe=863,
        source=("contract", "Door"),
    )


RULES: Final = (
    _door_rule(
        "decision-required",
        "ERR_DECISION_REQUIRED",
        "Refuse an answer to a consent gate that is no decision.",
    ),
    _door_rule(
        "answer-required",
        "ERR_PAUSE_ANSWER_REQUIRED",
        "Refuse null and nothing as the answer to a plain question.",
    ),
    _door_rule("no-request", RESUME, "Refuse a decision that names no request.", "no-request"),
    _door_rule(
        "request-not-recorded",
        RESUME,
        "Refuse a decision where the pause recorded no request.",
        "request-not-recorded",
    ),
    _door_rule(
        "other-request", RESUME, "Refuse a decision that names another request.", "other-request"
    ),
    _door_rule(
        "stale-decision",
        "ERR_STALE_DECISION",
        "Refuse an answer that was chosen from other data than the ask pinned.",
    ),
    _door_rule(
        "call-changed",
        RESUME,
        "Refuse a decision where the paused call is not the one asked about.",
        "call-changed",
    ),
    _door_rule(
        "chain-changed",
        RESUME,
        "Refuse a decision where the rules after the ask are not those it was asked under.",
        "chain-changed",
    ),
    _door_rule(
        "ledger-changed",
        RESUME,
        "Refuse a decision that would be spent in another ledger than its request's.",
        "ledger-changed",
    ),
    _door_rule(
        "closed-by-host",
        RESUME,
        "Refuse a decision where the host has closed the pause.",
        "closed-by-host",
        # The ledger refuses it too: the fault leaves out both looks.
        Fault(name="door-lets-through-closed-by-host", build=runs_what_was_closed),
    ),
    consent_rule(
        "door.already-answered",
        "Refuse a decision whose request was spent before.",
        refused_as_owed,
        Fault(name="ledger-spends-twice", build=faults.spends_again),
        areas("already-answered"),
        sets=NAMED,
        severity="high",
        cwe=294,
        source=("contract", "Door"),
    ),
    consent_rule(
        "door.nested",
        "Refuse an answer to a helper's pause inside the run, by RUN_ERROR with the same code.",
        refused_as_owed,
        tolerant("nested", RESUME, "other-request"),
        areas("nested"),
        sets=NAMED,
        severity="high",
        cwe=863,
        source=("contract", "Door"),
    ),
)
