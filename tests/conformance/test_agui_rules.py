"""The rules of ``ag-ui`` as pure functions, and what the text allows and none of them may flag."""

from __future__ import annotations

import json

import pytest

from hostproof.conformance.ag_ui_coverage import NOT_OBSERVABLE, ROWS
from hostproof.conformance.case import all_cases
from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.coverage_page import coverage_page
from hostproof.conformance.embedded_profile import DEPARTURES, embedded_profile
from hostproof.conformance.exchange import Request
from hostproof.conformance.json_patch import PatchError, PatchTooLargeError, patched
from hostproof.conformance.profile import default_profile
from hostproof.conformance.recording import Seen
from hostproof.conformance.rule import Breach
from hostproof.conformance.rules import ag_ui_grammar, ag_ui_shapes
from hostproof.conformance.rules_page import rules_page
from hostproof.conformance.verdict import judged
from tests.conformance import test_agui_shapes as shapes
from tests.conformance import test_grammar as sequences
from tests.conformance.recorded import (
    FINISHED,
    STARTED,
    answer,
    error,
    problem,
    ran,
    recording,
    silent,
    stream,
)
from tests.processes import ROOT

RULES = {rule.id: rule for rule in all_rules().values() if "ag-ui" in rule.sets}
CASES = {case.id: case.facts("hp0123456789abcdef01") for case in all_cases()}
CANARY = "hp0123456789abcdef01"
PAID = {"tool": "pay", "arguments": {}, "callId": "c"}
FORM = [{"name": "show_form", "description": "d"}]
CALL = [
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "show_form"},
    {"type": "TOOL_CALL_END", "toolCallId": "c"},
]
RESULT = {"type": "TOOL_CALL_RESULT", "messageId": "x", "toolCallId": "c", "content": ""}
TEXT = [
    {"type": "TEXT_MESSAGE_START", "messageId": "m"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "words"},
    {"type": "TEXT_MESSAGE_END", "messageId": "m"},
]
INTERRUPT = {"id": "i", "reason": "r"}
ASKED = {"type": "interrupt", "interrupts": [INTERRUPT]}
OTHER_RUN = [STARTED | {"runId": "r0"}, FINISHED | {"runId": "r0"}]


def asked(**members):
    body = {"threadId": "t", "runId": "r", "messages": [], **members}
    return Request(path="/agui", body=json.dumps(body).encode())


def run(*events, finished=None, started=None, request=None, **members):
    return stream(
        STARTED | (started or {}),
        *events,
        FINISHED | (finished or {}),
        request=request or asked(),
        **members,
    )


def of(case, *changed, **members):
    return recording(*changed, case=CASES[case], **members)


def plain(*events, **members):
    return of("plain-run", run(*events, **members))


def ends(outcome, *events, **members):
    return plain(*events, finished={"outcome": outcome}, **members)


def counted(**usage):
    return plain(finished={"usage": [usage]})


def effects(case, *exchanges, rows=(), ended=(), after=None, **members):
    seen = Seen(owed=0, answered=rows, ended=ended, answerable=True, **members)
    return of(case, *exchanges, seen=seen, control=ran(), after=after)


def event(kind, **members):
    return {"type": kind, **members}


def activity(*patch):
    return plain(
        event("ACTIVITY_SNAPSHOT", messageId="v", activityType="x", content={"a": 1}),
        event("ACTIVITY_DELTA", messageId="v", activityType="x", patch=list(patch)),
    )


def snapshot(*messages):
    return event("MESSAGES_SNAPSHOT", messages=list(messages))


def said(text):
    return [event("TEXT_MESSAGE_CHUNK", messageId="m", delta=text)]


USER = {"id": "u", "role": "user", "content": "words"}
REFUSED_INSIDE = stream(STARTED, error("ERR_X"))
NEWER = asked(protocolVersion="1.99")

# By rule, without its set: recordings it passes, and recordings it fails.
TABLE = {
    "gen-04-null-is-data": (
        [
            of(
                "state-with-a-null",
                run(event("STATE_SNAPSHOT", snapshot={"page": CANARY, "nothing": None})),
            ),
            of("state-with-a-null", run(event("STATE_SNAPSHOT", snapshot={"own": 1}))),
            of("state-with-a-null", run(), problem()),
        ],
        [of("state-with-a-null", run(event("STATE_SNAPSHOT", snapshot={"page": CANARY})))],
    ),
    "gen-06-message-ids": (
        [
            plain(*TEXT, request=asked(messages=[USER])),
            plain(*TEXT, request=asked(messages=[{"id": "m", "role": "assistant"}])),
            plain(*TEXT, *TEXT),
        ],
        [
            plain(*TEXT, request=asked(messages=[USER | {"id": "m"}])),
            plain(RESULT, request=asked(messages=[USER | {"id": "x"}])),
            plain(*TEXT, RESULT | {"messageId": "m"}),
        ],
    ),
    "gen-08-needs-one-message": (
        [plain(), of("plain-run", silent()), of("plain-run", stream(error(), end="deadline"))],
        [of("plain-run", stream(STARTED, end="deadline"))],
    ),
    "gen-09-no-secrets": (
        [effects("check_in-yes", run(*TEXT), secrets=("hidden",)), of("check_in-yes", run())],
        [effects("check_in-yes", run(*said("so hidden it is")), secrets=("hidden",))],
    ),
    "in-01-refuses-invalid-input": (
        [
            of("thread-id-number", one)
            for one in (problem(), problem(422), stream(error()), silent())
        ],
        [of("thread-id-number", one) for one in (run(), REFUSED_INSIDE)],
    ),
    "in-02-refuses-no-json": (
        [of("text-cut", problem()), of("text-cut", answer(status=415))],
        [of("text-cut", run()), of("text-cut", REFUSED_INSIDE)],
    ),
    "in-03-takes-unknown-members": (
        [of("member-unknown", run())],
        [of("member-unknown", one) for one in (problem(), stream(error()), answer(status=500))],
    ),
    "in-08-provider-spelling": (
        [plain(RESULT | {"content": [{"type": "image", "source": {"provider": "openai"}}]})],
        [
            plain(RESULT | {"content": [{"type": "image", "source": {"provider": "OpenAI"}}]}),
            plain(snapshot({"content": [{"type": "image", "source": {"provider": "X"}}]})),
        ],
    ),
    "in-09-the-inputs-thread": (
        [plain(), of("plain-run", stream(error(), request=asked()))],
        [plain(started={"threadId": "x"}), plain(finished={"threadId": "x"})],
    ),
    "in-11-the-inputs-run": (
        [plain(), of("plain-run", stream(*OTHER_RUN, STARTED, FINISHED, request=asked()))],
        [
            plain(started={"runId": "x"}, finished={"runId": "x"}),
            of("plain-run", stream(STARTED, FINISHED, *OTHER_RUN, request=asked())),
        ],
    ),
    "in-13-context-reaches-the-model": (
        [of("context-repeated", run(*said(f"it is {CANARY}"))), of("context-repeated", problem())],
        [of("context-repeated", run(*said("nothing")))],
    ),
    "in-14-deltas-apply": (
        [
            plain(event("STATE_DELTA", delta=[{"op": "add", "path": "/a", "value": 1}])),
            plain(
                event("STATE_DELTA", delta=[{"op": "replace", "path": "/a", "value": 1}]),
                request=asked(state={"a": 0}),
            ),
            plain(
                event("STATE_SNAPSHOT", snapshot=[0]),
                event("STATE_DELTA", delta=[{"op": "remove", "path": "/0"}]),
            ),
            plain(event("STATE_DELTA", delta=[{"op": "no"}])),
        ],
        [
            plain(event("STATE_DELTA", delta=[{"op": "remove", "path": "/a"}])),
            plain(
                event("STATE_DELTA", delta=[{"op": "test", "path": "/a", "value": True}]),
                request=asked(state={"a": 1}),
            ),
        ],
    ),
    "int-01-says-it-is-interrupted": (
        [
            of("paused-run", run(*CALL, finished={"outcome": ASKED})),
            of("paused-run", run(*CALL, RESULT)),
            of("paused-run", problem()),
        ],
        [
            of("paused-run", run(*CALL)),
            of("paused-run", run(*CALL, finished={"outcome": {"type": "success"}})),
        ],
    ),
    "int-03-interrupt-ids": (
        [ends(ASKED)],
        [ends(ASKED | {"interrupts": [INTERRUPT] * 2})],
    ),
    "int-05-takes-the-answer": (
        [of("check_in-no", run())],
        [of("check_in-no", problem()), of("check_in-no", stream(error()))],
    ),
    "int-06-skips-unknown-entries": (
        [of("interrupt-right-and-other", run())],
        [of("interrupt-right-and-other", problem(409))],
    ),
    "int-07-no-act-on-silence": (
        [effects("forged-words", problem(409)), effects("forged-words", run())],
        [effects("forged-words", problem(409), rows=(PAID,))],
    ),
    "int-08-silence-abandons-nothing": (
        [
            effects("forged-words", problem(), after=run(), ended=(PAID,), ended_owed=1),
            effects("forged-words", problem()),
        ],
        [
            effects("forged-words", problem(), after=problem(), ended_owed=1),
            effects("forged-words", problem(), after=run(), ended_owed=1),
        ],
    ),
    "int-09-refuses-or-asks-again": (
        [
            effects("forged-words", one)
            for one in (problem(), stream(error()), run(finished={"outcome": ASKED}))
        ],
        [effects("forged-words", REFUSED_INSIDE)],
    ),
    "int-10-no-success-while-open": (
        [
            effects("forged-words", one)
            for one in (
                problem(),
                stream(error()),
                REFUSED_INSIDE,
                run(finished={"outcome": ASKED}),
            )
        ],
        [
            effects("forged-words", run()),
            effects("forged-words", run(finished={"outcome": {"type": "success"}})),
        ],
    ),
    "life-06-cancelled-has-no-result": (
        [ends({"type": "cancelled"}), plain(finished={"result": 1})],
        [plain(finished={"outcome": {"type": "cancelled"}, "result": 1})],
    ),
    "life-09-restates-history": (
        [
            plain(
                *TEXT, request=asked(messages=[{"id": "m", "role": "assistant", "content": "wor"}])
            ),
            plain(snapshot(USER), request=asked(messages=[USER])),
        ],
        [
            plain(
                *TEXT,
                request=asked(messages=[{"id": "m", "role": "assistant", "content": "words"}]),
            ),
            plain(
                *said("words"), request=asked(messages=[USER | {"id": "m", "role": "assistant"}])
            ),
        ],
    ),
    "life-11-parts-of-totals": (
        [
            counted(inputTokens=3, cachedInputTokens=2, cacheWriteInputTokens=1),
            counted(outputTokens=3, reasoningTokens=3),
            counted(cachedInputTokens=3),
            counted(inputTokens="3", cachedInputTokens=4),
        ],
        [
            counted(inputTokens=2, cachedInputTokens=2, cacheWriteInputTokens=1),
            counted(outputTokens=2, reasoningTokens=3),
        ],
    ),
    "life-12-totals": (
        [counted(inputTokens=1, outputTokens=2, totalTokens=3), counted(totalTokens=3)],
        [counted(inputTokens=1, outputTokens=2, totalTokens=4)],
    ),
    "tool-05-leaves-the-pages-calls": (
        [
            of("client-call-run", run(*CALL, request=asked(tools=FORM))),
            of("client-call-run", run(*CALL, RESULT)),
        ],
        [
            of("client-call-run", run(*CALL, RESULT, request=asked(tools=FORM))),
            of(
                "client-call-run",
                run(
                    *CALL, snapshot({"role": "tool", "toolCallId": "c"}), request=asked(tools=FORM)
                ),
            ),
        ],
    ),
    "tool-06-page-calls-are-no-interrupt": (
        [
            of("client-call-run", run(*CALL, request=asked(tools=FORM))),
            of("client-call-run", run(*CALL, finished={"outcome": ASKED})),
        ],
        [
            of(
                "client-call-run",
                run(*CALL, request=asked(tools=FORM), finished={"outcome": ASKED}),
            )
        ],
    ),
    "tool-08-pending-calls": (
        [
            ends({"type": "success", "pendingToolCallIds": ["c"]}, *CALL),
            ends({"type": "success", "pendingToolCallIds": []}, *CALL),
            ends({"type": "success"}, *CALL),
        ],
        [
            ends({"type": "success", "pendingToolCallIds": ["x"]}, *CALL),
            ends({"type": "success", "pendingToolCallIds": ["c"]}, *CALL, RESULT),
            ends({"type": "success", "pendingToolCallIds": ["c"]}),
        ],
    ),
    "state-01-whole-snapshots": (
        [
            plain(*TEXT, snapshot({"id": "m"})),
            plain(snapshot(), *TEXT),
            plain(*TEXT[:2], snapshot(), TEXT[2]),
            plain(*({**one, "subagentRunId": "a"} for one in TEXT), snapshot()),
            of("plain-run", stream(STARTED, *TEXT, FINISHED, *OTHER_RUN[:1], snapshot())),
        ],
        [plain(*TEXT, snapshot()), plain(*said("words"), snapshot({"id": "u"}))],
    ),
    "act-03-content-stays-an-object": (
        [
            activity({"op": "replace", "path": "/a", "value": []}),
            activity({"op": "replace", "path": "", "value": {}}),
            activity({"op": "remove", "path": "/gone"}),
        ],
        [activity({"op": "replace", "path": "", "value": []})],
    ),
    "meta-02-own-keys": (
        [plain(started={"metadata": {"hostproof": 1}})],
        [
            plain(started={"metadata": {"ag-ui": 1}}),
            ends(ASKED | {"interrupts": [{"id": "i", "reason": "r", "metadata": {"ag-ui": 1}}]}),
        ],
    ),
    "pass-01-raw-beside-standard": (
        [plain(event("RAW", event=1), *TEXT), plain()],
        [plain(event("RAW", event=1))],
    ),
    "pass-02-prefixed-names": (
        [plain(event("CUSTOM", name="x.done", value=1))],
        [plain(event("CUSTOM", name="on_done", value=1))],
    ),
    "pass-03-custom-is-no-standard": (
        [plain(event("CUSTOM", name="x.y", value=1), *said(""))],
        [plain(event("CUSTOM", name="x.y", value=1))],
    ),
    "ver-01-declares-its-version": (
        [plain(), of("plain-run", stream(error())), of("plain-run", problem())],
        [of("plain-run", stream({"type": "RUN_STARTED"}, FINISHED))],
    ),
    "ver-02-its-own-version": (
        [
            of("version-1.99", run(request=NEWER)),
            of("version-1.1", run(started={"protocolVersion": "1.1"})),
        ],
        [
            of("version-1.99", run(request=NEWER, started={"protocolVersion": "1.99"})),
            of("version-x", run(started={"protocolVersion": "v1"})),
        ],
    ),
    "ver-03-serves-newer-minors": (
        [of("version-1.99", run(), control=run())],
        [
            of("version-1.99", problem(), control=run()),
            of("version-1.99", run(started={"protocolVersion": "1.99"}), control=run()),
        ],
    ),
    "ver-04-rejects-only-other-majors": (
        [
            of("version-x", run()),
            *(of("version-2.0", one) for one in (run(), problem(), stream(error()))),
        ],
        [of("version-x", problem()), of("version-2.0", REFUSED_INSIDE)],
    ),
    "ver-07-keeps-the-outcome": (
        [
            of("version-1.1", run(*TEXT), control=run(*TEXT)),
            of("version-1.1", problem(), control=run()),
            of("version-1.1", run()),
        ],
        [
            of("version-1.1", run(finished={"outcome": {"type": "cancelled"}}), control=run()),
            of("version-1.1", run(), control=run(*TEXT)),
        ],
    ),
    "tr-01-speaks-sse": (
        [plain(), of("plain-run", problem()), of("plain-run", silent())],
        [of("plain-run", answer("{}", "application/json"))],
    ),
    "tr-03-ends-cleanly": (
        [plain(), of("plain-run", problem()), of("plain-run", stream(STARTED, end="deadline"))],
        [of("plain-run", run(end="cut")), of("plain-run", stream(STARTED))],
    ),
    "sse-01-status": (
        [plain(), of("plain-run", problem())],
        [of("plain-run", stream(STARTED, FINISHED, status=201))],
    ),
    "sse-06-failures-in-the-stream": (
        [of("failing-run", REFUSED_INSIDE), of("failing-run", run())],
        [of("failing-run", stream(STARTED, end="cut"))],
    ),
}

AS_TABLE = {
    "life-05-closes-before-cancelling": (
        [ends({"type": "cancelled"}), plain(TEXT[0])],
        [ends({"type": "cancelled"}, TEXT[0])],
    ),
    "int-04-interrupted-is-closed": (
        [
            ends(ASKED),
            plain(TEXT[0]),
            of("plain-run", stream(STARTED, FINISHED | {"outcome": ASKED}, error())),
        ],
        [
            ends(ASKED, TEXT[0]),
            of("plain-run", stream(STARTED, FINISHED | {"outcome": ASKED}, *TEXT)),
        ],
    ),
}
ALL = TABLE | AS_TABLE
SAME_JUDGE = {RULES[f"ag-ui.{name}"].judge for name in ALL}


@pytest.mark.parametrize("name", ALL)
def test_what_is_right_passes(name):
    for number, one in enumerate(ALL[name][0]):
        assert RULES[f"ag-ui.{name}"].judge(one) is None, number


@pytest.mark.parametrize("name", ALL)
def test_what_is_wrong_fails_and_says_how(name):
    rule = RULES[f"ag-ui.{name}"]
    for number, one in enumerate(ALL[name][1]):
        assert rule.applies(one.case)
        breach = rule.judge(one)
        assert isinstance(breach, Breach), number
        assert breach.expected != breach.seen
        assert CANARY not in breach.seen


def clause_of(rule):
    return rule.source.clause.partition(":")[0]


BY_CLAUSE = [
    rule for rule in (*ag_ui_grammar.RULES, *ag_ui_shapes.RULES) if rule.id[6:] not in AS_TABLE
]


SEQUENCES = [(stream(*events), broken) for events, broken in sequences.ILLEGAL.values()]
SHAPES = [
    (stream(STARTED, one, FINISHED), [clause])
    for clause, events in shapes.WRONG.items()
    for one in events
    if isinstance(one, dict)
]


@pytest.mark.parametrize("rule", BY_CLAUSE, ids=lambda rule: rule.id)
def test_a_rule_of_one_clause_fails_what_breaks_it_and_nothing_else(rule):
    tables = SEQUENCES if rule in ag_ui_grammar.RULES else SHAPES
    failed = 0
    for exchange, broken in tables:
        breach = rule.judge(of("plain-run", exchange))
        assert (breach is not None) == (clause_of(rule) in broken)
        if breach is not None:
            failed += 1
            assert breach.place is not None
            assert breach.place.startswith("events[")
    assert failed


def test_the_place_of_a_breach_names_the_request_where_there_are_several():
    rule = RULES["ag-ui.str-02-content-of-the-open"]
    wrong = stream(STARTED, TEXT[1], FINISHED)
    alone, later = of("plain-run", wrong), of("plain-run", ran(), after=wrong)
    places = [
        breach.place for breach in map(rule.judge, (alone, later)) if isinstance(breach, Breach)
    ]
    assert places == ["events[1]", "request 2: events[1]"]


def test_every_rule_is_shown_by_one_of_these_tables():
    elsewhere = {"first-event", "events-are-objects", "line-ends", "same-ids", "closes-the-body"}
    elsewhere |= {"malformed-is-http"} | {rule.id[6:] for rule in BY_CLAUSE}
    missing = [
        name
        for rule in RULES.values()
        if (name := rule.id[6:]) not in elsewhere and rule.judge not in SAME_JUDGE
    ]
    assert missing == []


# What the text allows, and is easily flagged by mistake.

TIMED = [{**one, "timestamp": at} for one, at in zip(TEXT, (7, 1_700_000_000_000, -1), strict=True)]
ALLOWED = {
    "a stream that opens with RUN_ERROR": of("plain-run", stream(error(), request=asked())),
    "RUN_STARTED and RUN_ERROR for valid input": of("plain-run", REFUSED_INSIDE),
    "RUN_ERROR after RUN_FINISHED": of(
        "plain-run", stream(STARTED, FINISHED, error(), request=asked())
    ),
    "several runs": of("plain-run", stream(*OTHER_RUN, STARTED, FINISHED, request=asked())),
    "a run after an error": of(
        "plain-run", stream(OTHER_RUN[0], error(), STARTED, FINISHED, request=asked())
    ),
    "an unknown entry is passed over": of("interrupt-other", run()),
    "an answer to nothing is passed over": of("resume-with-nothing-open-main", run()),
    "two entries for one interrupt": effects("yes-twice", run(), rows=(PAID,)),
    "an action after cancelled": effects("cancelled-with-a-yes", run(), rows=(PAID,)),
    "an answered interrupt answered again": effects("yes-then-yes", run(), rows=(PAID, PAID)),
    "a payload against its schema": effects("check_in-answered-true", run(), rows=(PAID,)),
    "a refusal of any status": of("thread-id-number", answer("no", "text/plain", 418)),
    "a refusal without a body": of("thread-id-number", answer(status=403)),
    "RUN_ERROR without a code": of("failing-run", stream(STARTED, error())),
    "RUN_FINISHED without an outcome": plain(),
    "pending calls that are not named": plain(*CALL),
    "pending calls that are named as none": ends(
        {"type": "success", "pendingToolCallIds": []}, *CALL
    ),
    "items open at RUN_ERROR": of("plain-run", stream(STARTED, TEXT[0], CALL[0], error())),
    "empty deltas, a chunk of metadata, arguments that are no JSON": plain(
        TEXT[0],
        TEXT[1] | {"delta": ""},
        TEXT[2],
        event("TEXT_MESSAGE_CHUNK", messageId="n"),
        event("TEXT_MESSAGE_CHUNK", metadata={"x": 1}),
        CALL[0],
        event("TOOL_CALL_ARGS", toolCallId="c", delta="{not json"),
        CALL[1],
        event("STATE_DELTA", delta=[]),
    ),
    "a message opened again": plain(*TEXT, *TEXT),
    "interleaved items": plain(TEXT[0], CALL[0], TEXT[1], CALL[1], TEXT[2]),
    "a result of an earlier run": plain(RESULT),
    "a result before the end of its call": plain(CALL[0], RESULT, CALL[1]),
    "a delta of the input's state": plain(
        event("STATE_DELTA", delta=[{"op": "add", "path": "/b", "value": 1}]),
        request=asked(state={"a": 1}),
    ),
    "an unannounced subagent, untagged continuations": plain(
        TEXT[0] | {"subagentRunId": "s"}, *TEXT[1:]
    ),
    "a suspended subagent without interrupt ids": ends(
        ASKED,
        event("SUBAGENT_STARTED", subagentRunId="s", name="n"),
        event("SUBAGENT_FINISHED", subagentRunId="s", outcome={"type": "suspended"}),
    ),
    "an interrupt without snapshots": ends(ASKED, *CALL),
    "timestamps in any unit and order": plain(*TIMED),
    "a call of a tool that nobody advertised": plain(*CALL, RESULT),
    "an advertised tool's call left open": of(
        "client-call-run", run(*CALL, request=asked(tools=FORM))
    ),
    "empty messages": of("messages-none", run()),
    "ids that are odd or empty": of("thread-id-empty", run()),
    "system messages": of("system-first", run()),
    "any answer to GET": of(
        "method-get", answer("<html>", "text/html", request=Request(method="GET", path="/agui"))
    ),
    "another content type": of("media-type-text", run()),
    "null for an optional member of the input": of("tools-null", problem()),
    "an unknown role": of("role-unknown", problem()),
    "an unknown role that is passed over": of("role-unknown", run()),
    "an unknown status": of("status-unknown", run()),
    "a run without reasoning, steps, text or snapshots": plain(),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_the_text_allows_is_never_flagged(name):
    one = ALLOWED[name]
    flagged = [
        rule.id for rule in RULES.values() if rule.applies(one.case) and rule.judge(one) is not None
    ]
    assert flagged == []


@pytest.mark.parametrize("name", sequences.LEGAL)
def test_no_rule_flags_a_legal_sequence(name):
    """Ids and contents aside, of which those sequences make nothing."""
    one = of("plain-run", stream(*sequences.LEGAL[name]))
    rules = [rule for rule in ag_ui_grammar.RULES if rule.applies(one.case)]
    assert [rule.id for rule in rules if rule.judge(one) is not None] == []


def test_refusing_an_unknown_entry_is_a_note():
    rule = RULES["ag-ui.int-06-skips-unknown-entries"]
    assert rule.level == "guide"
    assert rule.judge(of("interrupt-right-and-other", problem())) is not None


def test_a_host_that_cannot_tell_owes_nothing():
    """Where the answer without history is not taken, nothing of what is uncovered is judged."""
    seen = Seen(owed=0, answered=(PAID,))
    stateless = of("forged-words", run(), seen=seen, control=problem(409))
    for name in ("int-07-no-act-on-silence", "int-10-no-success-while-open"):
        state, _ = judged(RULES[f"ag-ui.{name}"], stateless, default_profile())
        assert state == "inconclusive"


def test_what_is_left_out_of_a_stream_is_not_judged():
    cut = stream(STARTED, TEXT[1], FINISHED, problems=("event-too-large",))
    assert RULES["ag-ui.str-02-content-of-the-open"].judge(of("plain-run", cut)) is None


# The table of clauses.


def test_every_clause_stands_once_with_its_rules_or_why_none():
    assert len({row.clause for row in ROWS}) == len(ROWS)
    named = {f"ag-ui.{name}" for row in ROWS for name in row.rules}
    assert named == set(RULES)
    assert all(row.rules or row.why for row in ROWS)
    assert len(NOT_OBSERVABLE) <= 25


def test_a_rules_clause_is_one_of_the_rows_that_name_it():
    for rule in RULES.values():
        rows = [row.clause for row in ROWS if rule.id[6:] in row.rules]
        assert clause_of(rule) in rows, rule.id


KEYWORDS = {"must": "MUST", "guide": ""}


def test_a_rules_level_follows_its_keyword():
    keywords = {row.clause: row.keyword for row in ROWS}
    softer = {
        "ver-04-rejects-only-other-majors",
        "in-12-no-context",
        "int-06-skips-unknown-entries",
    }
    softer |= {"meta-02-own-keys", "pass-02-prefixed-names", "str-06-repeats-agree"}
    for rule in RULES.values():
        word = keywords[clause_of(rule)]
        if rule.id[6:] in softer:
            continue
        hard = "must" if "MUST" in word else "guide" if word.startswith("MAY") else "should"
        assert rule.level == hard, rule.id


def test_the_pages_are_what_the_tables_give():
    assert (ROOT / "docs/ag-ui-coverage.md").read_text() == coverage_page()
    assert (ROOT / "docs/rules.md").read_text() == rules_page()


# What the reference breaks by design.


def test_each_departure_of_the_reference_is_waived_with_its_clause_and_proved_elsewhere():
    profile = embedded_profile("http://127.0.0.1:1", {"alice": "a"})
    assert {waiver.rule for waiver in profile.waivers} == set(DEPARTURES)
    assert {rule.id for rule in RULES.values() if rule.fault.mended is not None} == set(DEPARTURES)
    for waiver in profile.waivers:
        assert waiver.kind == "by-design"
        assert waiver.clause == clause_of(RULES[waiver.rule])


# JSON Patch.


@pytest.mark.parametrize(
    ("value", "patch", "result"),
    [
        ({}, [{"op": "add", "path": "/a", "value": [1]}], {"a": [1]}),
        ([1, 3], [{"op": "add", "path": "/1", "value": 2}], [1, 2, 3]),
        ([1], [{"op": "add", "path": "/-", "value": 2}], [1, 2]),
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
        (
            {"a/b": 1, "m~n": 2},
            [{"op": "remove", "path": "/a~1b"}, {"op": "remove", "path": "/m~0n"}],
            {},
        ),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}),
        (
            {"a": {"c": 1}},
            [{"op": "copy", "from": "/a", "path": "/b"}],
            {"a": {"c": 1}, "b": {"c": 1}},
        ),
        (
            {"a": [1, {"b": None}]},
            [{"op": "test", "path": "/a", "value": [1, {"b": None}]}],
            {"a": [1, {"b": None}]},
        ),
        (1, [{"op": "replace", "path": "", "value": 2}], 2),
        (1, [{"op": "remove", "path": ""}], None),
        ({"": 1}, [{"op": "remove", "path": "/"}], {}),
    ],
)
def test_a_patch_applies(value, patch, result):
    before = json.dumps(value)
    assert patched(value, patch) == result
    assert json.dumps(value) == before


@pytest.mark.parametrize(
    ("value", "operation"),
    [
        ({}, {"op": "remove", "path": "/a"}),
        ({}, {"op": "add", "path": "/a/b", "value": 1}),
        ([], {"op": "add", "path": "/1", "value": 1}),
        ([1], {"op": "remove", "path": "/-"}),
        ([1], {"op": "remove", "path": "/01"}),
        ([1], {"op": "remove", "path": "/x"}),
        (7, {"op": "add", "path": "/a", "value": 1}),
        ({"a": 1}, {"op": "test", "path": "/a", "value": True}),
        ({"a": [1]}, {"op": "test", "path": "/a", "value": [1, 2]}),
        ({"a": 1}, {"op": "move", "from": "", "path": "/b"}),
    ],
)
def test_a_patch_that_points_at_nothing_does_not(value, operation):
    with pytest.raises(PatchError):
        patched(value, [operation])


def test_copies_of_copies_are_given_up():
    deeper = [{"op": "copy", "from": "", "path": "/a"}]
    assert patched({"a": 1}, deeper * 2) == {"a": {"a": {"a": 1}}}
    with pytest.raises(PatchTooLargeError):
        patched({"a": 1}, deeper * 300)
    wide = [{"op": "copy", "from": "", "path": f"/{number}"} for number in range(64)]
    with pytest.raises(PatchTooLargeError):
        patched({"x": 1}, wide)
    one = plain(event("STATE_DELTA", delta=wide))
    assert RULES["ag-ui.in-14-deltas-apply"].judge(one) is None
