"""The rules as pure functions: each passes what is right and fails what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.commands.rules import described
from hostproof.conformance.exchange import Request
from hostproof.conformance.recording import Owed, Seen
from hostproof.conformance.rule import Breach
from hostproof.conformance.rules import host, leaks, live, plan, reader, wire
from hostproof.conformance.rules.leaks import INSIDE
from hostproof.conformance.rules_page import rules_page
from tests.conformance.recorded import (
    CANARY,
    FINISHED,
    PROBLEM,
    STARTED,
    answer,
    error,
    facts,
    problem,
    ran,
    recording,
    silent,
    stream,
)

RULES = all_rules()
HEAD = Request(method="HEAD", path="/agui")
GET = Request(method="GET", path="/agui")
ACCEPTED = facts("unusual", area="accepted", owed=Owed(code=None, status=200))
WIRE = facts(
    "text-word",
    area="ERR_INVALID_JSON",
    kind="wire",
    owed=Owed(code="ERR_INVALID_JSON", status=400),
)
METHOD = facts(
    "method-head",
    area="ERR_METHOD_NOT_ALLOWED",
    kind="wire",
    owed=Owed(code="ERR_METHOD_NOT_ALLOWED", status=405),
)
ANSWER = facts(
    "answer",
    kind="answer",
    situation="check_in",
    owed=Owed(code="ERR_RESUME_DECISION", status=409, reason="no-request"),
)
INTERRUPT = FINISHED | {"outcome": {"type": "interrupt", "interrupts": [{"id": "i"}]}}
OWED = problem(400, "ERR_INVALID_RUN_INPUT", "threadId")
BARE = answer('{"status":400}', PROBLEM, 400)
LONG = "x" * 70_000
PAID = {"tool": "pay", "arguments": {"to": "n"}, "callId": "c"}


def reason(text, status=409, code="ERR_RESUME_DECISION"):
    document = {"type": "about:blank", "title": "No.", "status": status, "code": code}
    return answer(json.dumps(document | {"reason": text}), PROBLEM, status)


def effects(*rows, owed=1, **members):
    return recording(ran(), case=ANSWER, seen=Seen(owed=owed, answered=rows, **members))


def met(name, value):
    return problem(405, "ERR_METHOD_NOT_ALLOWED", headers=((name, value),))


def without(event, name):
    return {key: value for key, value in event.items() if key != name}


# By rule: recordings it passes, and recordings it fails.
TABLE = {
    "live.good-run": (
        [recording(ran(), after=ran()), recording(ran())],
        [recording(ran(), after=silent()), recording(problem()), recording(stream(error()))],
    ),
    "live.no-server-error": (
        [recording(OWED), recording(ran()), recording(silent()), recording(answer(status=404))],
        [recording(answer(status=500)), recording(OWED, problem(503, "ERR_X"))],
    ),
    "live.answers": (
        [recording(OWED), recording(stream(STARTED, FINISHED, end="deadline"))],
        [
            recording(silent()),
            recording(stream(STARTED, end="deadline")),
            recording(answer(status=None, end="unreachable")),
        ],
    ),
    "live.no-cut-answer": (
        [recording(OWED), recording(silent())],
        [
            recording(answer(status=None, end="reset")),
            recording(stream(STARTED, FINISHED, end="cut")),
            recording(answer(status=None, end="protocol")),
        ],
    ),
    "live.bounded-answer": ([recording(OWED)], [recording(answer(end="cap"))]),
    "live.terminal-event": (
        [recording(OWED), recording(answer("{}", "application/json", request=GET))],
        [
            recording(stream()),
            recording(stream(STARTED)),
            recording(answer("{}", "application/json")),
        ],
    ),
    "live.failure-is-told": (
        [recording(stream(STARTED, error())), recording(ran()), recording(problem())],
        [recording(stream(STARTED, end="cut")), recording(answer(status=500))],
    ),
    "live.serves-on": (
        [recording(OWED), recording(OWED, after=ran())],
        [recording(OWED, after=problem(409)), recording(OWED, after=silent())],
    ),
    "leak.body": (
        [
            recording(OWED),
            recording(stream(STARTED, {"type": "RAW", "x": CANARY}, FINISHED)),
            recording(stream(STARTED, error(message=CANARY))),
            recording(answer(f"you sent {CANARY[:-1]}", "text/plain", 400)),
        ],
        [
            recording(answer(f"you sent {CANARY}", "text/plain", 400)),
            recording(answer(f"you sent {CANARY.upper()}", "text/html", 422)),
            recording(answer(f"you sent {CANARY}", "text/plain", 500)),
        ],
    ),
    "leak.header": (
        [recording(OWED), recording(ran(headers=(("x-echo", CANARY),)))],
        [recording(answer(status=400, headers=(("x-echo", f"a{CANARY}b"),)))],
    ),
    "leak.event": (
        [recording(stream(STARTED, error())), recording(ran())],
        [recording(stream(STARTED, error(message=f"bad {CANARY}")))],
    ),
    "leak.exception-text": (
        [
            recording(OWED),
            recording(answer("The value is an error: fix it", "text/plain", 400)),
            recording(stream(STARTED, error(message="The run failed."))),
        ],
        [
            recording(answer("Traceback (most recent call last):\n", "text/plain", 500)),
            recording(answer("ValueError: no such thing", "text/plain", 400)),
            recording(stream(STARTED, error(message="KeyError('x')"))),
        ],
    ),
    "leak.amplification": (
        [recording(OWED), recording(answer("x" * 60_000, "text/plain", 400)), recording(ran())],
        [recording(answer(LONG, "text/plain", 400))],
    ),
    "ag-ui.first-event": (
        [recording(ran()), recording(stream(error())), recording(problem())],
        [recording(stream({"type": "CUSTOM"}, STARTED, FINISHED)), recording(stream("[]"))],
    ),
    "ag-ui.events-are-objects": (
        [recording(ran()), recording(problem()), recording(stream("[]"))],
        [recording(stream(STARTED, "[1]", FINISHED)), recording(stream(STARTED, FINISHED, "x"))],
    ),
    "ag-ui.line-ends": (
        [recording(ran()), recording(ran(problems=("unfinished-event",)))],
        [recording(ran(problems=("cr-line-end",)))],
    ),
    "ag-ui.same-ids": (
        [recording(ran()), recording(problem()), recording(stream(FINISHED))],
        [
            recording(stream(STARTED, FINISHED | {"runId": "other"})),
            recording(stream(STARTED, FINISHED | {"threadId": "other"})),
            recording(stream(STARTED, without(FINISHED, "runId"))),
        ],
    ),
    "ag-ui.closes-the-body": (
        [recording(ran()), recording(stream(STARTED, end="deadline"))],
        [recording(stream(STARTED, FINISHED, end="deadline"))],
    ),
    "ag-ui.malformed-is-http": (
        [recording(OWED), recording(answer(status=422)), recording(silent())],
        [recording(stream(STARTED, error("ERR_X"))), recording(ran())],
    ),
    "host.concurrent-run": (
        [recording(ran(), problem(409, "ERR_CONCURRENT_RUN"))],
        [
            recording(ran(), ran()),
            recording(problem(409, "ERR_CONCURRENT_RUN"), problem(409, "ERR_CONCURRENT_RUN")),
            recording(ran(), problem(409, "ERR_OTHER")),
            recording(ran(), silent()),
        ],
    ),
    "host.problem-document": (
        [
            recording(OWED),
            recording(ran()),
            recording(stream(error())),
            recording(answer(status=405, request=HEAD)),
        ],
        [
            recording(BARE),
            recording(answer("{}", "application/json", 400)),
            recording(answer("[]", PROBLEM, 400)),
            recording(replace(OWED, status=409)),
        ],
    ),
    "host.allow-header": (
        [recording(met("allow", "GET, POST")), recording(problem(401)), recording(ran())],
        [recording(problem(405)), recording(met("allow", "GET")), recording(met("allow", "POSTS"))],
    ),
    "host.accepts": (
        [recording(ran(), case=ACCEPTED), recording(stream(STARTED, INTERRUPT), case=ACCEPTED)],
        [recording(problem(), case=ACCEPTED), recording(stream(error()), case=ACCEPTED)],
    ),
    "reader.thread-id": (
        [recording(OWED)],
        [
            recording(ran()),
            recording(problem(400, "ERR_INVALID_RUN_INPUT", "runId")),
            recording(problem(400, "ERR_INVALID_RUN_INPUT")),
            recording(problem(422, "ERR_INVALID_RUN_INPUT", "threadId")),
            recording(problem(400, "ERR_OTHER", "threadId")),
            recording(stream(error("ERR_INVALID_RUN_INPUT", field="threadId"))),
            recording(answer(status=500)),
        ],
    ),
    "host.json": (
        [
            recording(problem(400, "ERR_INVALID_JSON"), case=WIRE),
            recording(problem(400, "ERR_INVALID_JSON", "any"), case=WIRE),
        ],
        [recording(ran(), case=WIRE), recording(problem(415, "ERR_INVALID_JSON"), case=WIRE)],
    ),
    "host.method": (
        [
            recording(answer(status=405, request=HEAD), case=METHOD),
            recording(problem(405, "ERR_METHOD_NOT_ALLOWED"), case=METHOD),
        ],
        [
            recording(answer(status=404, request=HEAD), case=METHOD),
            recording(answer(status=405, request=GET), case=METHOD),
        ],
    ),
    "door.no-request": (
        [recording(reason("no-request"), case=ANSWER)],
        [
            recording(ran(), case=ANSWER),
            recording(reason("stale"), case=ANSWER),
            recording(problem(409, "ERR_RESUME_DECISION"), case=ANSWER),
            recording(reason("no-request", 400), case=ANSWER),
            recording(
                stream(STARTED, error("ERR_RESUME_DECISION", reason="no-request")), case=ANSWER
            ),
        ],
    ),
}


@pytest.mark.parametrize("rule_id", TABLE)
def test_what_is_right_passes(rule_id):
    for number, one in enumerate(TABLE[rule_id][0]):
        assert RULES[rule_id].judge(one) is None, number


@pytest.mark.parametrize("rule_id", TABLE)
def test_what_is_wrong_fails_and_says_how(rule_id):
    for number, one in enumerate(TABLE[rule_id][1]):
        breach = RULES[rule_id].judge(one)
        assert isinstance(breach, Breach), number
        assert breach.expected
        assert breach.seen
        assert CANARY not in breach.seen
        assert breach.expected != breach.seen


def test_every_judgement_of_what_a_host_answers_is_shown_above():
    shown = {RULES[rule_id].judge for rule_id in TABLE}
    rules = [rule for area in (live, leaks, wire, host, reader, plan) for rule in area.RULES]
    assert [rule.id for rule in rules if rule.judge not in shown] == []


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_no_judgement_trips_over_what_a_host_may_send(rule):
    """Whatever came back, a rule says yes or no, and never raises."""
    odd = [
        answer(b"\xff\xfe", "application/json", 400),
        answer("[" * 500, PROBLEM, 400),
        answer("null", PROBLEM, 400),
        answer(status=None, end="reset"),
        stream("null", "7", '"x"', "[]", "{}", '{"type":null}', '{"type":[]}'),
        stream({"type": "RUN_FINISHED", "outcome": []}),
        stream({"type": "RUN_STARTED", "threadId": 7}, {"type": "RUN_FINISHED", "runId": None}),
        stream({"type": "RUN_ERROR", "metadata": {"hostproof": [1]}}),
        silent(),
    ]
    for exchange in odd:
        for case in (facts(), WIRE, ANSWER, ACCEPTED):
            for after in (None, exchange):
                rule.judge(recording(exchange, case=case, after=after))
        if rule.id == "host.concurrent-run":
            rule.judge(recording(exchange, exchange))


# Consent: judged by what ran.

SEEN = {
    "effect.needs-the-request": (
        [effects(owed=0), effects(PAID)],
        [effects(PAID, owed=0), effects(PAID, PAID), effects()],
    ),
    "effect.race-runs-once": (
        [effects(PAID), effects(owed=0, control=(PAID,))],
        [effects(PAID, PAID)],
    ),
}


@pytest.mark.parametrize("rule_id", SEEN)
def test_effects_are_counted(rule_id):
    right, wrong = SEEN[rule_id]
    for one in right:
        assert RULES[rule_id].judge(one) is None
    for one in wrong:
        breach = RULES[rule_id].judge(one)
        assert isinstance(breach, Breach)
        assert breach.place == "effects"


def test_without_an_observation_no_effect_is_judged():
    for rule_id in SEEN:
        assert RULES[rule_id].judge(recording(ran(), case=ANSWER)) is None


# Text from inside a program.


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last)",
        'File "/app/main.py", line 7, in run',
        "pydantic.ValidationError: 1 error",
        "TypeError: Cannot read properties of undefined",
        "cannot access local variable 'x' where it is not associated",
        "'NoneType' object has no attribute 'id'",
        "at Object.run (/srv/app.js:10:5)",
        "/usr/lib/python3/site-packages/x.py",
        "/srv/node_modules/x",
        "<main.Agent object at 0x7f00deadbeef>",
        "java.lang.IllegalStateException: no",
        "at org.example.Agent.run(Agent.java:42)",
        "goroutine 1 [running]:",
        "app/agent.rb:7:in `run'",
    ],
)
def test_what_only_a_program_says(text):
    assert INSIDE.search(f"oh: {text} and so on")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The body must be a JSON object.",
        "ERR_INVALID_RUN_INPUT",
        "Validation Error",
        "An error occurred: try again (later)",
        '{"type":"about:blank","title":"No.","status":400}',
        "RunErrorEvent",
        "Errors: 3",
        "at home (12:30)",
    ],
)
def test_what_a_stranger_may_be_told(text):
    assert not INSIDE.search(text)


# The page, and the command's description.


def test_the_committed_page_is_what_the_rules_declare():
    committed = Path(__file__).parent.parent.parent / "docs" / "rules.md"
    assert committed.read_text("utf-8") == rules_page(), (
        "python -m hostproof.conformance.rules_page > docs/rules.md"
    )


def test_every_rule_stands_on_the_page():
    page = rules_page()
    for rule in RULES.values():
        assert f"`{rule.id}`" in page
        assert all(f"`{fault.name}`" in page for fault in rule.faults)


def test_a_rule_is_described_within_eighty_columns():
    for rule in RULES.values():
        lines = described(rule).splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[0] == f"{rule.id}: {rule.title}"
