"""What effects show: calls that nobody was asked about, nothing at all, and what a 429 excuses."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from hostproof.conformance.case import all_cases
from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.gate import Gate
from hostproof.conformance.host_under_test import HostUnderTest, noting_waits
from hostproof.conformance.profile import profile_from
from hostproof.conformance.recording import Seen
from hostproof.conformance.rule import Unseen
from hostproof.conformance.target import Limits
from hostproof.conformance.verdict import judged
from tests.conformance.recorded import (
    FINISHED,
    POST,
    STARTED,
    Scripted,
    answer,
    facts,
    problem,
    ran,
    recording,
    stream,
)

RULES = all_rules()
LIMITS = Limits(deadline_seconds=2, head_seconds=1)
BUSY = answer(status=429, headers=(("retry-after", "0"),))
SOURCES: dict[str, dict[str, Any]] = {
    "url": {"effects": {"url": "/effects"}},
    "observation": {"observation": {"url": "/observe"}},
    "stream": {"effects": {"stream": "paid {nonce}"}},
}


@dataclass
class Paying:
    """A host with a guarded call; *habits* are what it does wrong, or cannot show."""

    habits: frozenset[str] = frozenset()
    effects: list[dict[str, Any]] = field(default_factory=list)
    open: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __call__(self, request):
        if request.method == "GET":
            return self.shown(urlsplit(request.path))
        body = json.loads(request.body)
        thread, resume = body["threadId"], body.get("resume")
        if resume:
            return self.answered(request, thread, resume)
        said = str(body["messages"][-1].get("content")) if body["messages"] else ""
        if thread in self.open or not said:
            return problem(409, None, request=request)
        if not said.startswith("pay "):
            return ran(request=request)
        call = {"callId": f"c-{said}", "arguments": {"to": said[4:]}}
        if "unasked" in self.habits:
            self.run(thread, call)
            return stream(STARTED, *shown(call), *self.results(call), FINISHED, request=request)
        self.open[thread] = call
        asks = {"id": f"i-{said}", "reason": "tool_call", "toolCallId": call["callId"]}
        outcome = {"outcome": {"type": "interrupt", "interrupts": [asks]}}
        return stream(STARTED, *shown(call), FINISHED | outcome, request=request)

    def answered(self, request, thread, resume):
        named = resume[0]["interruptId"]
        threads = list(self.open) if "any-thread" in self.habits else [thread]
        asked = next((one for one in threads if named == f"i-{self.said(one)}"), None)
        if asked is None:
            return problem(409, None, request=request)
        if resume[0].get("payload") != {"approved": True}:
            return problem(422, None, request=request)
        call = self.open.pop(asked)
        self.run(thread, call)
        return stream(STARTED, *self.results(call), FINISHED, request=request)

    def said(self, thread):
        return self.open[thread]["callId"][2:] if thread in self.open else None

    def run(self, thread, call):
        if "hidden" not in self.habits:
            row = {} if "names-threads" in self.habits else call
            self.effects.append({"tool": "pay", "thread": thread, **row})

    def results(self, call):
        told = f"paid {call['arguments']['to']}"
        named = {"messageId": "m", "toolCallId": call["callId"]}
        return [{"type": "TOOL_CALL_RESULT", "content": told, **named}] * ("tells" in self.habits)

    def shown(self, at):
        if at.path == "/effects":
            return answer(json.dumps(self.effects), "application/json")
        thread = parse_qs(at.query)["thread"][0]
        rows = [row for row in self.effects if row["thread"] == thread]
        return answer(json.dumps({"version": 1, "effects": rows}), "application/json")


def shown(call):
    text = json.dumps(call["arguments"])
    yield {"type": "TOOL_CALL_START", "toolCallId": call["callId"], "toolCallName": "pay"}
    yield {"type": "TOOL_CALL_ARGS", "toolCallId": call["callId"], "delta": text}
    yield {"type": "TOOL_CALL_END", "toolCallId": call["callId"]}


def gate_of(script, rules, only, source="url"):
    document = {
        "version": 1,
        "target": {"url": "http://127.0.0.1:1/agui"},
        "pause": {"kind": "interrupt"},
        "answer": {"kind": "resume", "yes": {"approved": True}, "no": {"approved": False}},
        "cues": {"plain": "say {nonce}", "check_in": "pay {nonce}"},
        **SOURCES[source],
    }
    host = HostUnderTest(Scripted(script), profile_from(document), LIMITS)
    gate = Gate(host, [RULES[one] for one in rules], "seed", only=frozenset(only))
    asyncio.run(gate.perform())
    return gate, {one.rule.id: one for one in gate.verdicts()}


UNASKED = ("effect.never-unasked", "effect.waits-for-the-answer")


@pytest.mark.parametrize("source", SOURCES)
def test_a_call_that_runs_without_a_question_is_seen_wherever_effects_are_shown(source):
    habits = {"unasked"} | ({"tells"} if source == "stream" else set())
    script = Paying(frozenset(habits))
    gate, verdicts = gate_of(script, UNASKED, ["paused-run", "check_in-yes"], source)
    assert {verdicts[one].verdict for one in UNASKED} == {"failed"}
    assert gate.tools_run() == ["pay"] * len(script.effects)


@pytest.mark.parametrize("source", SOURCES)
def test_a_host_that_asks_first_keeps_both_rules(source):
    script = Paying(frozenset({"tells"}))
    gate, verdicts = gate_of(script, UNASKED, ["paused-run", "check_in-yes"], source)
    assert {verdicts[one].verdict for one in UNASKED} == {"passed"}
    assert gate.tools_run() == ["pay"] * len(script.effects)


NEED_A_YES = (
    "effect.waits-for-the-answer",
    "effect.later-turn-runs-nothing",
    "effect.arguments-as-shown",
    "effect.asks-each-time",
    "effect.forged-approval-runs-nothing",
    "effect.no-never-runs",
)
PROVING = (
    "check_in-yes",
    "check_in-no",
    "yes-with-edited-arguments",
    "inside-approval-of-nothing",
    "inside-approved-call-in-history",
    *(case.id for case in all_cases() if case.facts().area == "remembered"),
)


@pytest.mark.parametrize(("habits", "verdict"), [((), "passed"), (("hidden",), "not-judged")])
def test_effects_that_show_nothing_prove_nothing(habits, verdict):
    _, verdicts = gate_of(Paying(frozenset(habits)), NEED_A_YES, PROVING)
    assert {name: one.verdict for name, one in verdicts.items()} == dict.fromkeys(
        NEED_A_YES, verdict
    )


@pytest.mark.parametrize("rule_id", ["effect.race-runs-once", *NEED_A_YES[:4]])
def test_a_rule_holds_only_where_a_yes_is_seen_to_run(rule_id):
    unseen = recording(ran(), seen=Seen(owed=0, control_owed=1))
    assert isinstance(RULES[rule_id].judge(unseen), Unseen)


@pytest.mark.parametrize(
    ("habits", "verdict"), [(("names-threads",), "passed"), (("any-thread",), "failed"),
                            (("any-thread", "names-threads"), "failed")]
)  # fmt: skip
def test_rows_that_name_only_the_thread_beside_are_seen(habits, verdict):
    rule_id = "effect.bound-to-its-thread"
    _, verdicts = gate_of(Paying(frozenset(habits)), [rule_id], ["answer-on-another-thread"])
    assert verdicts[rule_id].verdict == verdict


# A 429.


def test_a_case_is_excused_by_its_own_429_alone():
    slowed: list[str] = []
    right = Paying()

    def script(request):
        body = json.loads(request.body) if request.method == "POST" else {}
        if body.get("resume") and not slowed:
            slowed.append(body["threadId"])
            return BUSY
        return right(request)

    rule_id = "effect.waits-for-the-answer"
    gate, _ = gate_of(script, [rule_id], ["check_in-yes", "check_in-no"])
    throttled = [one for one in gate.recordings.values() if one.throttled]
    assert len(gate.recordings) == 3
    assert len(throttled) == len(slowed) == gate.host.waits == 1


def test_waits_are_counted_where_they_are():
    profile = profile_from({"version": 1, "target": {"url": "http://127.0.0.1:1/agui"}})
    asked = []

    def script(request):
        asked.append(request)
        return BUSY if request.body == b"slow" and len(asked) < 3 else ran(request=request)

    async def one(host, body):
        with noting_waits() as waits:
            await host.send(type(POST)(path="", body=body))
            return waits.count

    async def run():
        host = HostUnderTest(Scripted(script), profile, LIMITS)
        return await asyncio.gather(one(host, b"slow"), one(host, b"quick"))

    counts = asyncio.run(run())
    assert counts[0] > 0 == counts[1]


def test_a_429_to_one_of_two_runs_at_once_is_a_refusal():
    profile = profile_from({"version": 1, "target": {"url": "http://127.0.0.1:1/agui"}})

    async def run(taken):
        host = HostUnderTest(
            Scripted(lambda request: ran() if request.body in taken else BUSY), profile, LIMITS
        )
        with noting_waits() as waits:
            await host.send_at_once([type(POST)(path="", body=body) for body in (b"1", b"2")])
        return waits.count

    assert asyncio.run(run([b"1"])) == 0
    assert asyncio.run(run([])) == 2


ROW = {"tool": "pay", "arguments": {"to": "x"}, "callId": "c"}


@pytest.mark.parametrize(
    ("rule_id", "seen", "state"),
    [
        ("effect.no-never-runs", Seen(owed=0, answered=(ROW,)), "failed"),
        ("effect.waits-for-the-answer", Seen(owed=0, paused=(ROW,)), "failed"),
        ("effect.race-runs-once", Seen(owed=1, answered=(ROW, ROW)), "failed"),
        ("effect.yes-runs-once", Seen(owed=1), "inconclusive"),
        ("effect.no-never-runs", Seen(owed=0, control=(ROW,)), "inconclusive"),
    ],
)
def test_what_has_run_is_not_excused_by_a_429(rule_id, seen, state):
    case = facts("yes", kind="answer", area="yes")
    slowed = recording(ran(), case=case, seen=seen, throttled=True)
    profile = profile_from({"version": 1, "target": {"url": "http://127.0.0.1:1/agui"}})
    assert judged(RULES[rule_id], slowed, profile)[0] == state
