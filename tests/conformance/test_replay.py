"""Replay: fixed, still failing, changed, or not repeated."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hostproof.conformance.catalogue import UnknownRuleError, all_rules
from hostproof.conformance.embedded_run import embedded
from hostproof.conformance.findings import Keeper
from hostproof.conformance.gate import Gate
from hostproof.conformance.kept import KeptError, load_case
from hostproof.conformance.kept_case import KeptRequest
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.replay import replay

RULES = all_rules()


async def _kept(profile, rule_id, folder):
    async with opened_host(profile, Leave()) as host:
        rule = RULES[rule_id]
        gate = Gate(host, [rule], "seed", only=rule.fault.shows_in)
        await gate.perform()
        (verdict,) = gate.verdicts()
        keeper = Keeper(
            base_url=profile.target.url,
            target=profile.target.url,
            redactor=Redactor(profile.everyone),
            mode="gate",
            seed=7,
            folder=folder,
        )
        return keeper.findings_of(rule_id, verdict.findings)[0].replay


def kept(rule_id, folder):
    """Find a failure on the host with the rule's own fault, and give what was kept."""
    with embedded(RULES[rule_id].fault.build) as profile:
        return load_case(asyncio.run(_kept(profile, rule_id, folder)), folder)


def replayed(case, fault=None, **members):
    async def once(profile):
        async with opened_host(replace(profile, **members), Leave()) as host:
            return await replay(case, host, Redactor(profile.everyone))

    with embedded(fault) as profile:
        return asyncio.run(once(profile))


@pytest.mark.parametrize(
    "rule_id",
    ["reader.thread-id", "host.media-type", "live.failure-is-told", "plan.awaiting-decision"],
)
def test_fixed_or_still_failing(tmp_path, rule_id):
    case = kept(rule_id, tmp_path)
    again = replayed(case, RULES[rule_id].fault.build)
    assert (again.became, again.seen) == ("still failing", case.seen)
    fixed = replayed(case)
    assert (fixed.became, fixed.seen) == ("fixed", "the rule holds")


def test_an_answer_to_a_pause_is_repeated_too(tmp_path):
    rule_id = "door.no-request"
    case = kept(rule_id, tmp_path)
    assert replayed(case, RULES[rule_id].fault.build).became == "still failing"
    assert replayed(case).became == "fixed"


def test_another_failure_is_a_change(tmp_path):
    case = kept("reader.thread-id", tmp_path)
    number = replace(case, case="thread-id-number")
    found = replayed(number, RULES["live.no-server-error"].fault.build)
    assert (found.became, found.seen) == ("changed", "a server error (HTTP 500)")


def test_what_cannot_be_judged_again_is_not_repeated(tmp_path):
    case = kept("reader.thread-id", tmp_path)
    found = replayed(case, RULES["live.good-run"].fault.build)
    assert found.became == "not repeated"
    assert found.seen.startswith("the control run was refused")


def test_a_case_of_another_release(tmp_path):
    case = kept("host.media-type", tmp_path)
    with pytest.raises(KeptError, match="no case 'gone'"):
        replayed(replace(case, case="gone"))
    with pytest.raises(UnknownRuleError, match="no rule is called"):
        replayed(replace(case, rule="gone.rule"))


def test_bytes_of_a_fuzzed_case_are_sent_again_with_todays_headers(tmp_path):
    case = kept("live.failure-is-told", tmp_path)
    sent = KeptRequest(
        method="POST",
        path="",
        headers=(
            ("content-type", "application/json"),
            ("accept", "text/event-stream"),
            ("Authorization", "[caller alice]"),
        ),
        body=b'{"threadId": 7}',
    )
    fuzzed = replace(
        case, mode="fuzz", rule="live.no-server-error", case="a drawn body", requests=(sent,)
    )
    broken = replayed(fuzzed, RULES["live.no-server-error"].fault.build)
    assert (broken.became, broken.seen) == ("changed", "a server error (HTTP 500)")
    assert replayed(fuzzed).became == "fixed"


@pytest.mark.parametrize("elsewhere", ["/nowhere", "/agui"])
def test_a_fuzzed_case_is_not_fixed_by_a_host_that_refuses_everything(tmp_path, elsewhere):
    case = kept("live.failure-is-told", tmp_path)
    sent = KeptRequest(method="POST", path="", headers=(), body=b'{"threadId": 7}')
    fuzzed = replace(
        case, mode="fuzz", rule="live.no-server-error", case="a drawn body", requests=(sent,)
    )

    async def once(profile):
        url = profile.target.url.rsplit("/", 1)[0] + elsewhere
        callers = {} if elsewhere == "/agui" else profile.callers
        target = replace(profile.target, url=url)
        endpoints = {"main": replace(profile.main_endpoint, path="")}
        there = replace(profile, target=target, endpoints=endpoints, callers=callers)
        async with opened_host(there, Leave()) as host:
            return await replay(fuzzed, host, Redactor(profile.everyone))

    with embedded() as profile:
        found = asyncio.run(once(profile))
    assert found.became == "not repeated"
    assert found.seen.startswith("a plain run was refused")
