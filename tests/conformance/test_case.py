"""The cases of the gate: each is named once, every code has one, and what they need is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hostproof.conformance.case import RUNS, all_cases
from hostproof.conformance.catalogue import UnknownRuleError, all_rules, rule_of
from hostproof.conformance.embedded_profile import embedded_profile
from hostproof.conformance.missing import missing_for, named_facts_missing
from hostproof.conformance.profile import default_profile, profile_from
from hostproof.conformance.rules.wire import MALFORMED
from hostproof.reference_impl.refusals import catalogue
from hostproof.strategies.wire_changes import WIRE_CHANGES

TOKENS = {"alice": "a-token", "bob": "b-token", "inspector": "i-token"}
EMBEDDED = embedded_profile("http://127.0.0.1:8000", TOKENS)
CASES = {case.id: case for case in all_cases()}
RULES = list(all_rules().values())
DECIDED = ("reader", "plan", "host")
CODES = {code for code, entry in catalogue().items() if entry.decided in DECIDED}


def test_every_case_has_an_id_of_its_own():
    assert len(CASES) == len(all_cases())


def test_the_gate_begins_with_a_plain_run():
    assert all_cases()[0].id == RUNS[0] == "plain-run"


def test_every_code_has_a_case_and_every_case_a_code_of_the_catalogue():
    owed = {case.owed.code for case in all_cases()} - {None}
    assert CODES - {"ERR_CONCURRENT_RUN"} <= owed <= set(catalogue())
    assert CASES["concurrent-run"].owed.code is None


@pytest.mark.parametrize("code", sorted(CODES - {"ERR_CONCURRENT_RUN"}))
def test_every_code_has_a_rule_that_judges_it_by_name(code):
    cases = [case for case in all_cases() if case.owed.code == code]
    named = [
        rule
        for rule in RULES
        if "named" in rule.sets
        and rule.id.startswith(("reader.", "plan.", "host."))
        and rule.id not in ("host.order", "host.problem-document", "host.allow-header")
        and any(rule.applies(case.facts()) for case in cases)
    ]
    assert named, f"{code} has no rule"
    fault_names = {rule.fault.name for rule in named}
    assert len(fault_names) == len(named)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_has_a_case_a_source_and_a_fault(rule):
    cases = [case for case in all_cases() if rule.applies(case.facts())]
    assert cases
    assert rule.source.document
    assert rule.source.clause
    assert rule.demand.endswith(".")
    assert rule.sets
    shown = {case.id for case in cases}
    for fault in rule.faults:
        assert fault.name
        assert fault.shows_in <= shown, "a fault shows in a case that its rule does not judge"
    assert not any(fault.mended for fault in rule.more_faults)


def test_every_fault_has_a_name_of_its_own():
    names = [fault.name for rule in RULES for fault in rule.faults]
    assert len(set(names)) == len(names)


def test_every_case_is_judged_by_a_rule():
    for case in all_cases():
        assert any(rule.applies(case.facts()) for rule in RULES), case.id


def test_what_a_rule_names_its_cases_by_is_there():
    """A list of case ids in a rule must not outlive its cases."""
    assert set(CASES) >= MALFORMED


def test_an_owed_field_names_a_place_and_no_slot():
    for case in all_cases():
        assert "{" not in (case.owed.field or "")


def test_an_unknown_rule_names_the_nearest():
    with pytest.raises(UnknownRuleError, match=r"Did you mean reader\.thread-id"):
        rule_of("reader.threadid")
    with pytest.raises(UnknownRuleError, match="hostproof rules"):
        rule_of("%%%")


# What a case needs.


def test_the_embedded_host_offers_all_that_is_needed():
    asked_one_by_one = {
        case.id: "a cue: declare cues.two_at_once"
        for case in all_cases()
        if case.situation == "two_at_once"
    }
    wanted = dict.fromkeys(CASES) | asked_one_by_one
    assert {case.id: missing_for(case, EMBEDDED) for case in all_cases()} == wanted
    assert not any(named_facts_missing(case, EMBEDDED) for case in all_cases())


def missing(case_id, profile):
    return missing_for(CASES[case_id], profile)


def test_an_unknown_host_is_still_asked_much():
    profile = default_profile()
    performed = [case.id for case in all_cases() if missing_for(case, profile) is None]
    assert len(performed) > 250
    assert "plain-run" in performed


def test_what_is_missing_is_named_with_what_to_declare():
    carrying = next(case.id for case in all_cases() if case.endpoint == "carrying")
    assert "[endpoints.carrying]" in missing(carrying, default_profile())
    assert "callers" in missing("identity-none", default_profile())
    bare = profile_from({"version": 1, "cues": {"plain": "Say {nonce}."}})
    assert missing("plain-run", bare) is None
    for case_id, cue in {
        "failing-run": "fail",
        "concurrent-run": "slow",
        "interrupt-other": "check_in",
    }.items():
        assert f"cues.{cue}" in missing(case_id, bare)
    paused = next(case.id for case in all_cases() if case.situation == "client-call")
    main = EMBEDDED.main_endpoint

    def with_main(**members):
        endpoints = {**EMBEDDED.endpoints, main.name: replace(main, **members)}
        return replace(EMBEDDED, endpoints=endpoints)

    assert "keeps_pauses" in missing(paused, with_main(keeps_pauses=False))
    assert "client_tools" in missing(paused, with_main(client_tools=()))
    spoiled = next(case.id for case in all_cases() if case.situation == "spoiled")
    assert "spoil-pause" in missing(spoiled, replace(EMBEDDED, control=None))


def test_what_the_answer_hangs_on_is_named():
    default = default_profile()
    facts = {
        case.owed.code: named_facts_missing(case, replace(EMBEDDED, endpoints=default.endpoints))
        for case in all_cases()
        if case.endpoint == "main"
    }
    assert facts["ERR_INVALID_RUN_INPUT"] is None
    assert "endpoints.main.state = 'not-carried'" in (facts["ERR_STATE_NOT_CARRIED"] or "")


def test_floods_are_marked():
    flooding = {change.id for change in WIRE_CHANGES if change.aggressive}
    assert "body-of-5-mb" in flooding
    assert all(change.size < 1_000_000 or change.aggressive for change in WIRE_CHANGES)
    assert all(len(change.put) < 1_000_000 or change.aggressive for change in WIRE_CHANGES)
