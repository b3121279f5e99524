"""The fuzz engine: a right host passes, a broken one is found out, and nothing stops it."""

import asyncio
import json
import socket
from dataclasses import replace

import pytest

from hostproof.conformance.catalogue import all_rules, rule_of
from hostproof.conformance.fuzz import Fuzz
from hostproof.conformance.fuzz_result import table
from hostproof.conformance.fuzz_verdicts import fuzz_verdicts
from hostproof.conformance.host_under_test import HostUnderTest
from hostproof.conformance.http_target import HttpTarget
from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.profile import default_profile
from hostproof.conformance.target import Limits
from hostproof.conformance.tolerance import tolerant_reader
from hostproof.reference_impl.agent_steps import Said
from hostproof.reference_impl.refusals import catalogue
from hostproof.reference_impl.values import is_record
from hostproof.strategies.hostile import CHANGES, changed_bodies
from tests.conformance.fuzzing import fuzz_embedded

OWED = {change.code for change in CHANGES if change.code is not None}


@pytest.fixture(scope="module")
def result():
    return fuzz_embedded(bodies=2_000, seed=1)


def test_a_right_host_breaks_nothing(result):
    assert result.findings == ()
    assert result.disagreements == ()
    assert result.reason == "bodies"


def test_each_code_of_reader_and_plan_is_owed_and_seen(result):
    assert {code for code in OWED if result.owed.get(code, 0) < 3} == set()
    assert {code for code in OWED if result.seen.get(code, 0) < 3} == set()


def test_a_tenth_of_the_bodies_is_accepted(result):
    assert result.bodies == 2_000
    assert result.accepted > 200


def test_the_table_names_every_code_in_the_order_of_the_catalogue(result):
    lines = table(result)
    named = [line.split()[0] for line in lines if line.startswith("ERR_")]

    assert named == [code for code in catalogue() if code in named]
    assert named
    assert "2000 bodies" in lines[-2]


FAULTS = [
    "reader.thread-id",
    "reader.content",
    "plan.no-user-turn",
    "plan.awaiting-decision",
    "host.json",
    "live.no-server-error",
    "live.pause-survives",
    "live.serves-on",
    "leak.body",
]


FIRST_SEED = 3
MOST_SEEDS = 6


@pytest.mark.parametrize("rule_id", FAULTS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_fault_is_found_and_made_small(rule_id):
    build = rule_of(rule_id).fault.build
    # What a seed draws hangs on the modules that are loaded: Hypothesis takes constants of theirs.
    for seed in range(FIRST_SEED, FIRST_SEED + MOST_SEEDS):
        result = fuzz_embedded(fault=build, bodies=1_000, seed=seed, most_findings=1)
        found = [finding for finding in result.findings if finding.rule == rule_id]
        if found:
            break

    assert found, [finding.rule for finding in result.findings]
    # Where bytes were damaged, their places hold on to what stands around them.
    most = 1_000 if rule_id == "host.json" else 500
    assert min(len(finding.request.body) for finding in found) < most
    assert all(finding.steady for finding in found)
    assert result.disagreements == ()


def _crashing(parts):
    """Break on one rare input: a message with a name."""
    right = parts.read

    def read(request):
        body = request.body
        messages = body.get("messages") if is_record(body) else None
        newest = messages[-1] if isinstance(messages, list) and messages else None
        if is_record(newest) and "name" in newest:
            raise KeyError("name")
        return right(request)

    return replace(parts, read=read)


def test_a_crash_on_a_rare_input_is_made_as_small_as_it_can_be():
    result = fuzz_embedded(fault=_crashing, bodies=600, seed=1)
    (found,) = [one for one in result.findings if one.rule == "live.no-server-error"]
    body = json.loads(found.request.body)

    assert found.crash.startswith("KeyError at test_fuzz.py:")
    assert "name" in body["messages"][-1]
    assert len(body["messages"]) == 1
    assert set(body) <= {"threadId", "runId", "messages", "resume"}


def test_a_crash_after_the_answer_is_a_finding():
    def wrap(app):
        async def wrapped(scope, receive, send):
            await app(scope, receive, send)
            if scope["type"] == "http":
                raise RuntimeError("too late")

        return wrapped

    result = fuzz_embedded(wrap=wrap, bodies=20)
    (found,) = {finding.rule for finding in result.findings}

    assert found == "live.no-server-error"
    assert result.findings[0].breach.seen == "an unhandled RuntimeError"


def test_what_does_not_show_again_is_unsteady():
    calls = iter(range(10**9))

    def once(parts):
        right = parts.read

        def read(request):
            if next(calls) == 60:
                raise RuntimeError("once")
            return right(request)

        return replace(parts, read=read)

    result = fuzz_embedded(fault=once, bodies=200)

    assert [(one.rule, one.steady) for one in result.findings] == [("live.no-server-error", False)]


def test_a_host_that_claims_no_contract_is_judged_by_the_safety_rules_alone():
    result = fuzz_embedded(fault=tolerant_reader("threadId"), sets=["safety"], bodies=300)

    assert result.findings == ()
    assert result.owed["ERR_INVALID_RUN_INPUT"] > 0


def test_where_a_change_and_the_reference_differ_the_fault_is_ours():
    row = next(change for change in CHANGES if change.id == "messages-none")
    wrong = changed_bodies(changes=[replace(row, code="ERR_CANCEL_NOT_CARRIED")])

    def change(fuzz):
        fuzz.tables.cases = lambda: wrong

    result = fuzz_embedded(bodies=30, change=change)
    (found,) = result.disagreements

    assert found.rule is None
    assert found.breach.expected == "refused (HTTP 400, ERR_CANCEL_NOT_CARRIED)"
    assert "ERR_NO_USER_TURN" in found.breach.seen


def test_an_interrupt_keeps_what_was_found_so_far():
    def interrupt(done, total, case):
        if done >= 100:
            raise KeyboardInterrupt

    result = fuzz_embedded(bodies=1_000, progress=interrupt)

    assert result.reason == "interrupted"
    assert result.bodies == 100


def test_a_time_ends_a_run():
    result = fuzz_embedded(bodies=None, seconds=2.0)

    assert result.reason == "seconds"
    assert result.bodies > 0


def test_the_number_of_requests_ends_a_run():
    result = fuzz_embedded(bodies=1_000, requests=60)

    assert result.reason == "requests"
    assert result.requests == 60


def test_a_rule_that_no_body_was_judged_by_is_not_judged():
    result = fuzz_embedded(bodies=20)
    rules = list(all_rules().values())
    found = {one.rule.id: one for one in fuzz_verdicts(result, rules)}
    judged = {rule for rule, one in found.items() if one.verdict == "passed"}
    assert judged == set(result.judged) & set(found)
    assert {one.verdict for one in found.values()} == {"passed", "not-judged"}
    assert all(one.cases == result.judged.get(rule, 0) for rule, one in found.items())


def test_there_must_be_an_end():
    with pytest.raises(ValueError, match="how many"):
        fuzz_embedded(bodies=None)


def _never_pauses(parts):
    async def agent(turn):
        yield Said({"id": turn.mint("msg"), "role": "assistant", "content": "no"})

    return replace(parts, agent=agent)


def test_a_situation_that_cannot_be_brought_about_is_given_up():
    result = fuzz_embedded(fault=_never_pauses, bodies=600)

    assert set(result.unprepared) >= {"question", "client-call"}
    assert result.bodies == 600


def test_a_host_that_is_gone_ends_a_run():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    target = HttpTarget(f"http://127.0.0.1:{port}/agui")
    host = HostUnderTest(target, default_profile(), Limits(deadline_seconds=2, head_seconds=2))
    fuzz = Fuzz(host, list(all_rules().values()), Identifiers("gone"), bodies=100)
    with asyncio.Runner() as runner:
        result = fuzz.run(runner)
        runner.run(target.aclose())

    assert result.reason == "unreachable"
    assert [finding.rule for finding in result.findings] == ["live.answers"]


def test_the_same_seed_draws_the_same_bodies():
    first, again = (fuzz_embedded(bodies=200, seed=7) for _ in range(2))
    other = fuzz_embedded(bodies=200, seed=8)

    assert (first.constructed, first.seen) == (again.constructed, again.seen)
    assert first.constructed != other.constructed
