"""The rules, all of them, in the order in which they are reported."""

from __future__ import annotations

import difflib
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from hostproof.conformance.reported_faults import REPORTED
from hostproof.conformance.rules import (
    ag_ui_grammar,
    ag_ui_input,
    ag_ui_interrupts,
    ag_ui_shapes,
    ag_ui_streams,
    ag_ui_transport,
    boundaries,
    door,
    effects,
    forged_input,
    host,
    lasting,
    leaks,
    live,
    model_requests,
    plan,
    reader,
    stored_history,
    wire,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.conformance.rule import Rule


class UnknownRuleError(Exception):
    """No rule has that id; the message says which is nearest."""


@cache
def all_rules() -> Mapping[str, Rule]:
    """List every rule by its id, in order."""
    rules = [
        rule
        for module in (
            live,
            effects,
            lasting,
            forged_input,
            boundaries,
            door,
            leaks,
            model_requests,
            stored_history,
            wire,
            ag_ui_grammar,
            ag_ui_input,
            ag_ui_interrupts,
            ag_ui_shapes,
            ag_ui_streams,
            ag_ui_transport,
            host,
            reader,
            plan,
        )
        for rule in module.RULES
    ]
    return MappingProxyType({rule.id: _with_reported(rule) for rule in rules})


def _with_reported(rule: Rule) -> Rule:
    """Add to a rule the faults that people have reported."""
    more = REPORTED.get(rule.id, ())
    return replace(rule, more_faults=(*rule.more_faults, *more)) if more else rule


def rule_of(rule_id: str) -> Rule:
    """
    Give the rule of an id.

    Raises:
        UnknownRuleError: there is none.
    """
    rules = all_rules()
    if rule_id in rules:
        return rules[rule_id]
    near = difflib.get_close_matches(rule_id, rules, n=1, cutoff=0.3)
    hint = f"Did you mean {near[0]}?" if near else "`hostproof rules` lists them."
    raise UnknownRuleError(f"no rule is called {rule_id!r}. {hint}")
