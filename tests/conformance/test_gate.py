"""The gate: verdicts that do not move, and why there is none."""

from __future__ import annotations

import asyncio
import gc
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.embedded_run import embedded
from hostproof.conformance.gate import PLAIN_RUN, Gate
from hostproof.conformance.host_under_test import HostUnderTest
from hostproof.conformance.opened_host import Leave, guard, opened_host
from hostproof.conformance.profile import profile_from
from hostproof.conformance.target import Limits, TargetError
from hostproof.reference_impl.reader import ReaderRequest, read_request, run_input_reader
from hostproof.reference_impl.refusals import Refusal
from tests.conformance.recorded import Scripted, answer, problem, ran, stream

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Request

RULES = all_rules()
LIMITS = Limits(deadline_seconds=2, head_seconds=1)


def host_of(script, *, spare=False, **members):
    profile = profile_from({"version": 1, "target": {"url": "http://127.0.0.1:1/agui"}, **members})
    return HostUnderTest(Scripted(script), profile, LIMITS, spare=spare)


def verdicts_of(host, *rule_ids, **options):
    gate = Gate(host, [RULES[rule_id] for rule_id in rule_ids], "seed", **options)
    asyncio.run(gate.perform())
    return {verdict.rule.id: verdict for verdict in gate.verdicts()}


def right(request: Request):
    """Answer as the contract's reader does, and run the rest."""
    if request.method != "POST":
        return problem(405, "ERR_METHOD_NOT_ALLOWED", request=request)
    try:
        body = json.loads(request.body)
        read_request(run_input_reader, ReaderRequest(body=body, headers={}))
    except (ValueError, RecursionError):
        return problem(400, "ERR_INVALID_JSON", request=request)
    except Refusal as refusal:
        return problem(400, refusal.code, refusal.field, request=request)
    return ran(request=request)


def is_changed(request: Request) -> bool:
    """Say whether a request is one with a broken thread id."""
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return False
    return not isinstance(body, dict) or not isinstance(body.get("threadId"), str)


# The embedded host.


async def _runs(profile, count):
    found = []
    for number in range(count):
        async with opened_host(profile, Leave()) as host:
            gate = Gate(host, list(RULES.values()), f"seed-{number}")
            await gate.perform()
            found.append([(one.rule.id, one.verdict, one.cases) for one in gate.verdicts()])
    return found


def test_every_rule_passes_the_embedded_host_with_the_same_verdicts_each_time():
    with embedded() as profile:
        first, *others = asyncio.run(_runs(profile, 2))
    by_design = {waiver.rule for waiver in profile.waivers}
    asked_one_by_one = {rule.id for rule in RULES.values() if rule.fault.styled is not None}
    assert {one[0] for one in first if one[1] == "not-judged"} == asked_one_by_one
    excused = by_design | asked_one_by_one
    assert [one for one in first if one[1] != "passed" and one[0] not in excused] == []
    assert [rule_id for rule_id, _, _ in first] == list(RULES)
    assert all(other == first for other in others)


# Scripted hosts.


def test_a_right_host_passes():
    verdict = verdicts_of(host_of(right), "reader.thread-id")["reader.thread-id"]
    assert verdict.verdict == "passed"
    assert verdict.cases > 10
    assert (verdict.reason, verdict.findings) == (None, ())


def test_a_failure_that_repeats_is_failed():
    def wrong(request):
        return ran(request=request) if is_changed(request) else right(request)

    host = host_of(wrong)
    verdict = verdicts_of(host, "reader.thread-id")["reader.thread-id"]
    assert verdict.verdict == "failed"
    found = verdict.findings[0]
    assert found.steady
    assert found.breach.seen == "accepted (RUN_FINISHED, success)"
    assert found.again is not None
    bodies = [
        [(json.loads(exchange.request.body) or {}).get("runId") for exchange in one.exchanges]
        for one in (found.recording, found.again)
    ]
    assert not {*bodies[0]} & {*bodies[1]} - {None}


def test_a_failure_that_does_not_repeat_is_unsteady():
    failed: set[str] = set()

    def at_times(request):
        if is_changed(request) and not failed:
            failed.add("once")
            return answer("oh", "text/plain", 500, request=request)
        return right(request)

    verdict = verdicts_of(host_of(at_times), "live.no-server-error")["live.no-server-error"]
    assert verdict.verdict == "inconclusive"
    assert verdict.reason == ("unsteady", "a failure that did not repeat")
    (found,) = verdict.findings
    assert not found.steady
    assert found.recording.changed[0].status == 500
    assert found.again is not None
    assert found.again.changed[0].status == 400


def test_one_failure_that_repeats_is_enough():
    seen: dict[str, int] = {}

    def partly(request):
        if request.method == "GET":
            return answer(status=500, request=request)
        if is_changed(request) and not seen:
            seen["once"] = 1
            return answer(status=500, request=request)
        return right(request)

    verdict = verdicts_of(host_of(partly), "live.no-server-error")["live.no-server-error"]
    assert verdict.verdict == "failed"
    assert [one.steady for one in verdict.findings].count(True) == 1


def test_a_control_run_that_fails_is_inconclusive_never_passed():
    asked = []

    def after_the_first(request):
        asked.append(request)
        return ran(request=request) if len(asked) == 1 else problem(403, "NO", request=request)

    verdicts = verdicts_of(host_of(after_the_first), "reader.thread-id", "live.good-run")
    verdict = verdicts["reader.thread-id"]
    assert verdict.verdict == "inconclusive"
    assert verdict.reason == ("control-failed", "the control run was refused (HTTP 403, NO)")
    assert verdict.cases == 0


def test_when_the_plain_run_fails_nothing_else_is_tried():
    host = host_of(lambda request: answer(status=500, request=request))
    verdicts = verdicts_of(host, "reader.thread-id", "live.good-run", "live.no-server-error")
    assert verdicts["live.good-run"].verdict == "failed"
    assert verdicts["live.no-server-error"].verdict == "failed"
    assert verdicts["reader.thread-id"].verdict == "inconclusive"
    assert verdicts["reader.thread-id"].reason[0] == "plain-run-failed"
    assert host.requests == 4  # the plain run, the one after it, and both again


def test_what_is_not_declared_is_not_judged_and_the_reason_says_what_to_declare():
    verdicts = verdicts_of(
        host_of(right, cues={"plain": "Say {nonce}."}),
        "plan.state-refused",
        "host.identity",
        "live.failure-is-told",
        "plan.state-not-carried",
    )
    assert {one.verdict for one in verdicts.values()} == {"not-judged"}
    reasons = {rule_id: one.reason for rule_id, one in verdicts.items()}
    assert {reason[0] for reason in reasons.values()} == {"not-declared"}
    assert "[endpoints.carrying]" in reasons["plan.state-refused"][1]
    assert "callers" in reasons["host.identity"][1]
    assert "cues.fail" in reasons["live.failure-is-told"][1]
    assert "endpoints.main.state" in reasons["plan.state-not-carried"][1]


def test_agui_is_judged_where_the_host_declares_a_version_or_claims_one():
    def bare(request):
        body = json.loads(request.body)
        ids = {"threadId": body["threadId"], "runId": body["runId"]}
        return stream(
            {"type": "RUN_STARTED", **ids}, {"type": "RUN_FINISHED", **ids}, request=request
        )

    silent = verdicts_of(host_of(bare), "ag-ui.closes-the-body")["ag-ui.closes-the-body"]
    assert (silent.verdict, silent.reason[0]) == ("not-judged", "no-protocol-version")
    claimed = verdicts_of(host_of(bare, ag_ui="1.0"), "ag-ui.closes-the-body")[
        "ag-ui.closes-the-body"
    ]
    assert claimed.verdict == "passed"
    declared = verdicts_of(host_of(right), "ag-ui.closes-the-body")["ag-ui.closes-the-body"]
    assert declared.verdict == "passed"


def test_a_budget_is_kept_and_what_it_leaves_is_inconclusive():
    host = host_of(right, limits={"requests": 10})
    verdict = verdicts_of(host, "reader.thread-id")["reader.thread-id"]
    assert host.requests == len(host.target.sent) == 10
    assert verdict.verdict == "inconclusive"
    assert "raise limits.requests" in verdict.reason[1]


def test_a_failure_that_the_budget_left_unrepeated_says_so():
    def wrong(request):
        return ran(request=request) if is_changed(request) else right(request)

    host = host_of(wrong, limits={"requests": 40, "concurrency": 1})
    verdict = verdicts_of(host, "reader.thread-id")["reader.thread-id"]
    assert verdict.verdict == "inconclusive"
    assert verdict.reason[0] == "not-repeated"
    assert verdict.findings


@pytest.mark.parametrize("waits", [1, 2])
def test_a_host_that_asks_to_slow_down_is_waited_for_and_the_case_inconclusive(waits):
    asked: dict[bytes, int] = {}

    def slow(request):
        asked[request.body] = asked.get(request.body, 0) + 1
        if is_changed(request) and asked[request.body] <= waits:
            return answer(status=429, headers=(("retry-after", "0"),), request=request)
        return right(request)

    host = host_of(slow, limits={"concurrency": 1})
    only = frozenset({"thread-id-number"})
    verdict = verdicts_of(host, "reader.thread-id", only=only)["reader.thread-id"]
    assert host.waits == waits
    assert verdict.verdict == "inconclusive"
    assert "429" in verdict.reason[1]


def test_a_dropped_connection_is_tried_once_more_where_that_does_no_harm():
    asked = []

    def dropping(request):
        asked.append(request.body)
        if len(asked) == 2:  # the first control run
            return answer(status=None, end="reset", request=request)
        return right(request)

    only = frozenset({"thread-id-number"})
    verdict = verdicts_of(host_of(dropping), "reader.thread-id", only=only)["reader.thread-id"]
    assert verdict.verdict == "passed"
    assert asked[1] == asked[2]


def test_floods_and_races_need_leave_off_this_machine():
    gate_rules = ("host.size", "reader.thread-id")
    spared = host_of(right, spare=True)
    verdicts = verdicts_of(spared, *gate_rules)
    assert verdicts["host.size"].verdict == "not-judged"
    assert "--aggressive" in verdicts["host.size"].reason[1]
    assert verdicts["reader.thread-id"].verdict == "passed"
    assert max(len(request.body) for request in spared.target.sent) < 100_000


def test_no_race_is_run_off_this_machine_without_leave():
    with embedded() as profile:

        async def run():
            async with opened_host(profile, Leave()) as host:
                host.spare = True
                gate = Gate(host, list(RULES.values()), "seed", only=frozenset(races))
                await gate.perform()
                return gate

        gate = Gate(host_of(right), list(RULES.values()), "seed")
        races = [case.id for case in gate.cases if getattr(case.change, "at_once", ())]
        assert races
        performed = asyncio.run(run())
    assert set(performed.recordings) == {PLAIN_RUN}
    assert all("--aggressive" in performed.skipped[case_id] for case_id in races)


def test_every_thread_run_and_message_of_a_run_is_its_own():
    host = host_of(right)
    verdicts_of(host, "host.media-type", "live.good-run")
    bodies = [json.loads(one.body) for one in host.target.sent if one.method == "POST"]
    assert len({body["runId"] for body in bodies}) == len(bodies)
    messages = [one["id"] for body in bodies for one in body["messages"]]
    assert len(set(messages)) == len(messages)


def test_the_same_seed_sends_the_same_bytes():
    sent = []
    for _ in range(2):
        host = host_of(right, limits={"concurrency": 1})
        verdicts_of(host, "reader.thread-id", "host.json")
        sent.append([(one.method, one.headers, one.body) for one in host.target.sent])
    assert sent[0] == sent[1]


def test_progress_is_told_case_by_case():
    told: list[tuple[int, int, str]] = []
    verdicts_of(host_of(right), "reader.thread-id", progress=lambda *one: told.append(one))
    assert [done for done, _, _ in told] == list(range(1, told[-1][1] + 1))
    assert told[0][2] == PLAIN_RUN


def test_an_error_of_the_wiring_is_raised_as_it_is():
    asked = []

    def miswired(request):
        asked.append(request)
        if len(asked) > 1:
            raise TargetError("the request cannot be written")
        return ran(request=request)

    with pytest.raises(TargetError, match="cannot be written"):
        verdicts_of(host_of(miswired), "reader.thread-id")


def test_an_interrupted_run_can_be_judged():
    asked = []

    def until(request):
        asked.append(request)
        if len(asked) == 10:
            raise KeyboardInterrupt
        return right(request)

    gate = Gate(host_of(until), [RULES["reader.thread-id"], RULES["live.good-run"]], "seed")
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(gate.perform())
    gc.collect()  # asyncio tells of the task here, and not while somebody parses: 3.11 breaks then
    thread_id, good = gate.verdicts()
    assert good.verdict == "passed"
    assert thread_id.verdict == "inconclusive"
    assert thread_id.reason == ("interrupted", "the run was interrupted before its turn")


# Asking the host in its own terms.


def test_only_a_caller_speaks_for_runs_never_the_inspector():
    watcher = {"headers": {"Authorization": "Bearer watcher"}, "role": "inspector"}
    alice = {"headers": {"X-Key": "alice-key"}}
    none = host_of(right, callers={"watcher": watcher})
    assert none.caller_headers() == ()
    assert none.main_caller == ""
    both = host_of(right, callers={"watcher": watcher, "alice": alice})
    assert both.caller_headers() == (("X-Key", "alice-key"),)
    assert both.caller_headers("watcher") == (("Authorization", "Bearer watcher"),)
    assert both.caller_headers("nobody") == ()


def test_an_endpoint_keeps_the_query_of_the_targets_url():
    host = host_of(right, endpoints={"main": {}, "other": {"path": "/other"}})
    host.profile = replace(
        host.profile, target=replace(host.profile.target, url="http://127.0.0.1:1/agui/?key=1")
    )
    assert host.path_of("main") == ""
    assert host.path_of("other") == "/agui/other?key=1"


def test_control_goes_where_it_is_declared_with_its_own_callers_headers():
    def done(request):
        body = json.loads(request.body)
        return answer('{"done":true}', "application/json", request=request) if body else right

    control = {"url": "http://127.0.0.1:1/control", "commands": ["close-pause"]}
    host = host_of(done, control=control, callers={"alice": {"headers": {"X-Key": "secret-key"}}})
    assert asyncio.run(host.control("close-pause", "t"))
    (sent,) = host.target.sent
    assert sent.path == "/control"
    assert dict(sent.headers) == {"content-type": "application/json"}
    assert json.loads(sent.body) == {"command": "close-pause", "caller": "alice", "thread": "t"}
    assert not asyncio.run(host_of(done).control("close-pause", "t"))


@pytest.mark.parametrize("reply", ['{"done":false}', '{"done":1}', "[]", "no", ""])
def test_a_command_is_done_only_where_the_host_says_so(reply):
    control = {"url": "/control", "commands": ["close-pause"]}
    host = host_of(lambda request: answer(reply, request=request), control=control)
    assert not asyncio.run(host.control("close-pause", "t"))


OBSERVED = {
    "effects": [{"callId": "c", "tool": "pay"}],
    "pauses": [{"pending": {"request": {"id": "r"}}}, {"pending": {}}, {}],
    "modelRequests": [{"system": "s"}, {}],
    "decisions": [{}],
}


@pytest.mark.parametrize(
    "change",
    [
        {"effects": 7},
        {"effects": [1]},
        {"effects": [{}]},
        {"pauses": {"a": 1}},
        {"pauses": [{"pending": None}]},
        {"pauses": [{"pending": {"request": {}}}]},
        {"modelRequests": [{"system": [1]}]},
        {"decisions": "none"},
    ],
)
def test_an_observation_that_is_none_is_not_read(change):
    def host(document):
        text = json.dumps(document)
        return host_of(
            lambda request: answer(text, "application/json", request=request),
            observation={"url": "/inside"},
        )

    assert asyncio.run(host(OBSERVED).observe("t")) == OBSERVED
    assert asyncio.run(host({"effects": []}).observe("t")) == {"effects": []}
    assert asyncio.run(host(OBSERVED | change).observe("t")) is None
    assert asyncio.run(host([OBSERVED]).observe("t")) is None


def test_control_elsewhere_needs_leave_as_the_target_does():
    control = {
        "url": "http://192.0.2.1/control",
        "commands": ["close-pause"],
        "other_origin": True,
    }
    host = host_of(right, control=control)
    with pytest.raises(TargetError, match=r"192\.0\.2\.1.*--allow-remote"):
        guard(host.profile, Leave())
    guard(host.profile, Leave(remote=True))


@pytest.mark.parametrize("ready", ["http://192.0.2.1:8000/health", "http://example.com/"])
def test_a_url_that_is_polled_elsewhere_needs_leave_as_the_target_does(ready):
    at = {"url": "http://127.0.0.1:1/agui", "start": "host", "ready": ready}
    profile = profile_from({"version": 1, "target": at})
    with pytest.raises(TargetError, match=r"--allow-remote") as raised:
        guard(profile, Leave())
    assert ready in str(raised.value)
    guard(profile, Leave(remote=True))
    for near in ("http://127.0.0.1:2/health", "/health", "http://localhost:2/"):
        guard(profile_from({"version": 1, "target": at | {"ready": near}}), Leave())
