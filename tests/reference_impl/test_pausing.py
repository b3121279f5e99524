"""Pauses over their life: kept bit for bit, closed, settled, and not gone on with if not ours."""

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.assembly import CheckInConfig
from hostproof.reference_impl.consent import GatedCall, read_consent_request
from hostproof.reference_impl.pending import is_pending_of_ours
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.result_texts import CLOSED, DECLINED, NOT_REACHED, OUTCOME_UNKNOWN
from hostproof.reference_impl.scripted_model import ModelReply, ToolCall
from hostproof.reference_impl.sessions import SqliteSessions, StoredPause, ThreadKey
from hostproof.reference_impl.tools import CHAIN, OWN_TOOLS, Ask, Middleware
from tests.drawn_json import RECORDS, VALUES, WHOLE_RECORDS, bits
from tests.in_process import TALK, InProcess, with_host
from tests.stored import changing, effects_of, how_spent, pending_of, rows, said_on
from tests.talk import NO, YES, ran, refusal_of

KEY = ThreadKey("alice", "t1")
AWAITING = (409, "ERR_AWAITING_DECISION", None)
GONE = (409, "ERR_NO_PENDING_ASK", None)
SPENT = (409, "ERR_RESUME_DECISION", "already-answered")
CLOSED_BY_HOST = (409, "ERR_RESUME_DECISION", "closed-by-host")
GATES = ["check_in", "check_in_large", "ask_detail", "ask_component", "nested"]
FEW = settings(max_examples=40)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "host.db"


def shown(refusal):
    """Say a refusal without its status: before the stream, or in it."""
    return refusal[1:]


def plain():
    return TALK.cue("t1", "plain", "n2")


# What is kept.


@given(VALUES, RECORDS, st.lists(RECORDS, max_size=3))
def test_pauses_and_messages_survive_json_and_a_restart_bit_for_bit(
    tmp_path_factory, suspension, pending, said
):
    path = str(tmp_path_factory.mktemp("sessions") / "host.db")
    sessions = SqliteSessions(path)
    sessions.save(KEY, said, StoredPause(suspension=suspension, pending=pending))
    sessions.close()
    again = SqliteSessions(path)
    kept = again.load(KEY)
    assert len(again.pauses()) == 1
    again.close()
    assert kept.pause is not None
    assert bits(kept.pause.suspension) == bits(suspension)
    assert bits(kept.pause.pending) == bits(pending)
    assert bits(list(kept.messages)) == bits(said)


@FEW
@given(VALUES)
def test_evidence_is_kept_and_shown_to_who_looks_inside_bit_for_bit(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("evidence") / "host.db"
    evidence: Any = {"willDo": "pay", "read": value}
    check_in = CheckInConfig(evidence=lambda _input, _scorer: evidence)

    async def work(it):
        await it.pause("check_in")
        await it.restart()
        kept = it.host.parts.sessions.load(KEY).pause.pending["checkIn"]["evidence"]
        assert bits(kept) == bits(evidence)
        (pause,) = (await it.observe())["pauses"]
        assert bits(pause["pending"]["checkIn"]["evidence"]) == bits(evidence)

    with_host(work, path, lambda parts: replace(parts, agent=ReferenceAgent(check_in=check_in)))


def paying(arguments):
    """Make the agent pay with any arguments beside whom."""

    def model(request):
        if any(message["role"] == "tool" for message in request.messages):
            return ModelReply(text="done")
        return ModelReply(calls=(ToolCall("pay", {**arguments, "to": "n1"}),))

    return lambda parts: replace(parts, agent=ReferenceAgent(model=model))


@FEW
@given(WHOLE_RECORDS)
def test_what_was_asked_about_runs_bit_for_bit_after_a_restart(tmp_path_factory, arguments):
    path = tmp_path_factory.mktemp("arguments") / "host.db"

    async def work(it):
        interrupt = await it.pause("check_in")
        await it.restart()
        assert ran(await it.send(TALK.answer("t1", interrupt, YES)))
        (effect,) = (await it.observe())["effects"]
        assert bits(effect["arguments"]) == bits({**arguments, "to": "n1"})

    with_host(work, path, paying(arguments))


@pytest.mark.parametrize("value", ["\ud83d", 2**60, {"\ude00": 1}], ids=["half", "large", "name"])
def test_what_cannot_be_bound_is_never_asked_nor_run(path, value):
    async def work(it):
        assert refusal_of(await it.send(TALK.cue("t1", "check_in", "n1")))[:2] == (200, None)
        assert pending_of(path, "t1") is None
        assert effects_of(path, "t1") == []

    with_host(work, path, paying({"a": value}))


@pytest.mark.parametrize("cue", [*GATES, "question", "credential", "two_in_sequence"])
def test_every_pause_outlives_a_restart(path, cue):
    async def work(it):
        interrupt = await it.pause(cue)
        kept = pending_of(path, "t1")
        assert is_pending_of_ours(kept)
        await it.restart()
        assert pending_of(path, "t1") == kept
        exchange = await it.send(TALK.answer("t1", interrupt, YES))
        assert exchange.events[-1].type == "RUN_FINISHED"

    with_host(work, path)


@given(st.sampled_from(GATES), st.booleans(), VALUES, VALUES)
@FEW
def test_a_decision_record_is_what_was_decided(tmp_path_factory, cue, approved, note, value):
    path = tmp_path_factory.mktemp("records") / "host.db"
    decision = {"approved": approved, "by": "carol", "note": note, "value": value}
    # Half a character is no I-JSON: what arrives over the wire has none.
    decision = json.loads(json.dumps(decision).replace("\\ud", "d"))

    async def work(it):
        interrupt = await it.pause(cue)
        request = pending_of(path, "t1")["request"]["id"]
        exchange = await it.send(TALK.answer("t1", interrupt, decision))
        if not exchange.events:
            assert refusal_of(exchange)[1] == "ERR_INVALID_JSON"
            return
        await it.restart()
        (record,) = (await it.observe())["decisions"]
        assert isinstance(record.pop("at"), int)
        assert bits(dict(sorted(record.items()))) == bits(
            dict(sorted({**decision, "request": request, "caller": "alice"}.items()))
        )

    with_host(work, path)


# What the operator closes.


@pytest.mark.parametrize("cue", GATES)
def test_a_closed_pause_is_answered_by_closed_and_settled(path, cue):
    async def work(it):
        interrupt = await it.pause(cue)
        call = pending_of(path, "t1")["call"]["callId"]
        assert await it.control("close-pause")
        assert pending_of(path, "t1") is not None
        await it.restart()
        answer = TALK.answer("t1", interrupt, YES)
        assert shown(refusal_of(await it.send(answer))) == CLOSED_BY_HOST[1:]
        assert pending_of(path, "t1") is None
        results = {one.get("toolCallId"): one["content"] for one in said_on(path, "t1")[2:]}
        assert list(results.values()) == [CLOSED]
        assert (call in results) == (cue != "nested")
        assert refusal_of(await it.send(answer)) == GONE
        assert ran(await it.send(plain()))
        assert effects_of(path, "t1") == []
        assert (await it.observe())["decisions"] == []

    with_host(work, path)


def test_a_message_settles_a_closed_pause_and_runs(path):
    async def work(it):
        await it.pause("two_in_sequence")
        await it.control("close-pause")
        assert ran(await it.send(plain()))
        contents = [one["content"] for one in said_on(path, "t1") if one["role"] == "tool"]
        assert contents == [CLOSED, NOT_REACHED]

    with_host(work, path)


@pytest.mark.parametrize("cue", ["question", "credential"])
def test_a_pause_without_a_request_is_closed_at_once(path, cue):
    async def work(it):
        interrupt = await it.pause(cue)
        assert await it.control("close-pause")
        assert pending_of(path, "t1") is None
        assert refusal_of(await it.send(TALK.answer("t1", interrupt, YES))) == GONE
        assert ran(await it.send(plain()))
        assert not await it.control("close-pause")

    with_host(work, path)


@pytest.mark.parametrize("cue", ["check_in", "question"])
def test_a_close_never_takes_a_pause_from_a_run_that_has_it(path, cue):
    """The run goes to its end by itself, and its call has one result."""
    closed = []

    def closing(host):
        async def slowly(arguments):
            closed.append(host[0].pausing.close(KEY))
            return f"paid {arguments['to']}"

        tools = MappingProxyType({**OWN_TOOLS, "pay": replace(OWN_TOOLS["pay"], run=slowly)})

        def model(request):
            if any(message["role"] == "tool" for message in request.messages):
                closed.append(host[0].pausing.close(KEY))
                return ModelReply(text="done")
            name = "ask_person" if cue == "question" else "pay"
            return ModelReply(calls=(ToolCall(name, {"to": "n1", "question": "Why?"}),))

        return lambda parts: replace(parts, agent=ReferenceAgent(model=model, own_tools=tools))

    host: list[InProcess] = []

    async def work(it):
        host.append(it)
        interrupt = await it.pause("check_in")
        assert ran(await it.send(TALK.answer("t1", interrupt, YES)))
        assert closed
        assert not any(closed)
        results = [one for one in said_on(path, "t1") if one["role"] == "tool"]
        assert len(results) == 1
        assert ran(await it.send(plain()))

    with_host(work, path, closing(host))


def test_a_close_that_comes_between_the_door_and_the_spend_wins(path):
    host: list[InProcess] = []

    def fault(parts):
        def door(pending, answer, facts):
            admitted = parts.door(pending, answer, facts)
            assert host[0].pausing.close(KEY)
            return admitted

        return replace(parts, door=door)

    async def work(it):
        host.append(it)
        interrupt = await it.pause("check_in")
        assert refusal_of(await it.send(TALK.answer("t1", interrupt, YES))) == CLOSED_BY_HOST
        assert effects_of(path, "t1") == []
        assert ran(await it.send(plain()))

    with_host(work, path, fault)


@pytest.mark.parametrize("cue", ["check_in", "ask_detail"])
def test_what_another_ledger_may_know_is_not_said_to_be_not_run(path, cue):
    async def work(it):
        await it.pause(cue)
        assert await it.control("redeploy-ledger")
        assert await it.control("close-pause")
        assert said_on(path, "t1")[-1]["content"] == OUTCOME_UNKNOWN
        assert await it.control("redeploy-back")
        assert ran(await it.send(plain()))

    with_host(work, path)


@pytest.mark.parametrize(
    ("answer", "text"), [(YES, OUTCOME_UNKNOWN), (NO, DECLINED)], ids=["yes", "no"]
)
@pytest.mark.parametrize("then", ["answer", "message"])
def test_what_was_stopped_after_the_spend_is_settled_and_never_run(path, answer, text, then):
    async def work(it):
        interrupt = await it.pause("two_in_sequence")
        request = TALK.answer("t1", interrupt, answer)
        await it.control("stop-after-spend")
        await it.send(request)
        await it.restart()
        if then == "answer":
            assert refusal_of(await it.send(request)) == SPENT
        else:
            assert ran(await it.send(plain()))
        contents = [one["content"] for one in said_on(path, "t1") if one["role"] == "tool"]
        assert contents[0].startswith(text)
        assert contents[1:] == [NOT_REACHED]
        assert refusal_of(await it.send(request)) == GONE
        assert effects_of(path, "t1") == []

    with_host(work, path)


# Rules that were changed under an open pause.


def asking(name, tool):
    return Middleware(
        name, lambda called, _arguments: Ask(question=name) if called == tool else None
    )


@pytest.mark.parametrize("gone", [0, 1])
def test_an_ask_goes_on_behind_the_rule_that_asked_wherever_that_is_now(path, gone):
    """Fewer rules before the one that asked: the next is still asked, and not left out."""
    chain = (*CHAIN, asking("first", "pay"), asking("second", "pay"))

    async def work(it):
        one = await it.pause("check_in")
        it.fault = with_chain(chain[gone:])
        await it.restart()
        again = await it.send(TALK.answer("t1", one, YES))
        (asked,) = again.events[-1].value["outcome"]["interrupts"]
        assert asked["message"] == "second"
        assert effects_of(path, "t1") == []

    with_host(work, path, with_chain(chain))


def with_chain(chain):
    return lambda parts: replace(parts, chain=chain)


# What is kept and none of ours.

HALF = "\ud800"
NO_UTF_8 = "no UTF-8"
FOREIGN_PENDINGS = {
    "no JSON": "{",
    "not a number": '{"kind": NaN}',
    "too deep": "[" * 200_000,
    "null": "null",
    "a list": "[]",
    "a text": '"checkIn"',
    "empty": "{}",
    "bytes": b"\xff\xfe\x00",
    "no UTF-8": NO_UTF_8,
}
MEMBER_CHANGES: dict[str, dict[str, Any]] = {
    "another kind": {"kind": "banana"},
    "no kind": {"kind": None},
    "a list of kinds": {"kind": ["checkIn"]},
    "no call": {"call": None},
    "a call without arguments": {"call": {"tool": "pay", "callId": "c"}},
    "arguments that are a list": {"call": {"tool": "pay", "callId": "c", "arguments": []}},
    "a call without an id": {"call": {"tool": "pay", "arguments": {"to": "n1"}}},
    "no rest": {"rest": None},
    "a rest of texts": {"rest": ["pay"]},
    "no progress": {"progress": None},
    "a progress of true": {"progress": {"position": True}},
    "a progress below zero": {"progress": {"position": -1}},
    "half a progress": {"progress": {"position": 0.5}},
    "a nested text": {"nested": "helper"},
    "a nested nothing": {"nested": {}},
    "nested without messages": {
        "nested": {"call": {"tool": "a", "callId": "c", "arguments": {}}, "rest": []}
    },
    "nested with no user": {
        "nested": {
            "call": {"tool": "a", "callId": "c", "arguments": {}},
            "rest": [],
            "messages": [{"id": "m", "role": "assistant", "content": "x"}],
        }
    },
    "nested with odd messages": {
        "nested": {
            "call": {"tool": "a", "callId": "c", "arguments": {}},
            "rest": [],
            "messages": [{"id": "m", "role": "user", "content": 1}],
        }
    },
}


def put(path, column, text):
    """Write a column of the one pause; names of columns are this module's own."""
    with changing(path) as database:
        if text is NO_UTF_8:
            database.execute(f"UPDATE pauses SET {column} = CAST(x'7b22ff227d' AS TEXT)")  # noqa: S608
        else:
            database.execute(f"UPDATE pauses SET {column} = ?", (text,))  # noqa: S608


def stored(path, column):
    return rows(path, f"SELECT CAST({column} AS BLOB) FROM pauses")[0][0]  # noqa: S608


async def check_kept_as_foreign(it, path, interrupt, column, right):
    """Nothing is run, the row stays, and with the right row back the same answer works."""
    before = stored(path, column)
    answer = TALK.answer("t1", interrupt, YES)
    for request in (answer, plain(), TALK.answer("t1", interrupt, NO), answer):
        refusal = refusal_of(await it.send(request))
        assert refusal == AWAITING
    assert stored(path, column) == before
    assert effects_of(path, "t1") == []
    assert (await it.observe())["decisions"] == []
    put(path, column, right)
    assert ran(await it.send(answer))
    assert len(effects_of(path, "t1")) == 1


@pytest.mark.parametrize("column", ["pending", "suspension"])
@pytest.mark.parametrize("foreign", FOREIGN_PENDINGS)
def test_a_row_that_is_none_of_ours_is_kept_and_nothing_is_run(path, column, foreign):
    async def work(it):
        interrupt = await it.pause("check_in")
        right = stored(path, column).decode()
        put(path, column, FOREIGN_PENDINGS[foreign])
        await check_kept_as_foreign(it, path, interrupt, column, right)

    with_host(work, path)


@pytest.mark.parametrize("change", MEMBER_CHANGES)
@pytest.mark.parametrize("cue", ["check_in", "ask_detail"])
def test_a_pause_that_cannot_be_gone_on_with_is_kept_and_nothing_is_run(path, cue, change):
    async def work(it):
        interrupt = await it.pause(cue)
        right = stored(path, "pending").decode()
        put(path, "pending", json.dumps({**json.loads(right), **MEMBER_CHANGES[change]}))
        await check_kept_as_foreign(it, path, interrupt, "pending", right)

    with_host(work, path)


@pytest.mark.parametrize("foreign", [*FOREIGN_PENDINGS, *MEMBER_CHANGES])
def test_the_operator_frees_a_pause_that_is_none_of_ours(path, foreign):
    async def work(it):
        await it.pause("check_in")
        pending = pending_of(path, "t1")
        if foreign in FOREIGN_PENDINGS:
            put(path, "pending", FOREIGN_PENDINGS[foreign])
        else:
            put(path, "pending", json.dumps({**pending, **MEMBER_CHANGES[foreign]}))
        assert refusal_of(await it.send(plain())) == AWAITING
        assert await it.control("close-pause")
        assert ran(await it.send(plain()))
        assert effects_of(path, "t1") == []

    with_host(work, path)


@pytest.mark.parametrize("kind", ["credential", "question", "client"])
def test_another_kind_does_not_lead_around_the_gate(path, kind):
    """A gate that somebody made another kind of pause: the guarded call is not run."""

    async def work(it):
        interrupt = await it.pause("check_in")
        pending = pending_of(path, "t1")
        put(path, "pending", json.dumps({**pending, "kind": kind}))
        await it.send(TALK.answer("t1", interrupt, YES))
        assert effects_of(path, "t1") == []

    with_host(work, path)


@pytest.mark.parametrize("cue", ["check_in", "ask_detail"])
def test_a_request_that_no_store_can_hold_is_none(path, cue):
    async def work(it):
        interrupt = await it.pause(cue)
        pending = pending_of(path, "t1")
        pending["request"]["id"] = f"request-{HALF}"
        put(path, "pending", json.dumps(pending))
        refusal = refusal_of(await it.send(TALK.answer("t1", interrupt, YES)))
        assert refusal[1] == "ERR_RESUME_DECISION"
        assert refusal[2] in ("no-request", "request-not-recorded")
        assert effects_of(path, "t1") == []

    with_host(work, path)


@pytest.mark.parametrize("how", ["", "APPROVED", b"approved", 7])
def test_a_ledger_row_that_is_none_of_ours_is_told_and_nothing_is_run(path, how):
    async def work(it):
        interrupt = await it.pause("check_in")
        pending = pending_of(path, "t1")
        request = pending["request"]["id"]
        with changing(path) as database:
            database.execute("INSERT INTO spent VALUES (?, ?, NULL)", (request, how))
        answer = TALK.answer("t1", interrupt, YES)
        assert [(await it.send(one)).status for one in (answer, plain())] == [503, 503]
        assert pending_of(path, "t1") == pending
        assert effects_of(path, "t1") == []
        with changing(path) as database:
            database.execute("DELETE FROM spent")
        assert ran(await it.send(answer))
        assert len(effects_of(path, "t1")) == 1

    with_host(work, path)


def test_the_operator_frees_a_pause_whose_ledger_row_is_none_of_ours(path):
    async def work(it):
        await it.pause("check_in")
        request = pending_of(path, "t1")["request"]["id"]
        with changing(path) as database:
            database.execute("INSERT INTO spent VALUES (?, 'maybe', NULL)", (request,))
        assert await it.control("close-pause")
        assert said_on(path, "t1")[-1]["content"] == OUTCOME_UNKNOWN
        assert ran(await it.send(plain()))

    with_host(work, path)


@pytest.mark.parametrize("foreign", ["{", b"\xff", "7", "null", '"x"'])
def test_a_message_that_is_none_of_ours_is_left_out(path, foreign):
    async def work(it):
        assert ran(await it.send(plain()))
        with changing(path) as database:
            database.execute("INSERT INTO messages VALUES ('alice', 't1', 3, ?)", (foreign,))
        assert ran(await it.send(plain()))
        assert len((await it.observe())["messages"]) == 4

    with_host(work, path)


def test_an_effect_that_cannot_be_read_is_counted_all_the_same(path):
    async def work(it):
        with changing(path) as database:
            values = ("alice", "t1", "pay", "{", "call-1")
            database.execute(
                "INSERT INTO effects (caller, thread, tool, arguments, call) VALUES (?,?,?,?,?)",
                values,
            )
        (effect,) = (await it.observe())["effects"]
        assert (effect["tool"], effect["arguments"]) == ("pay", None)

    with_host(work, path)


@pytest.mark.parametrize("process", ["", "../../etc/passwd", "0" * 32, b"\xff", 7])
def test_a_lease_that_is_none_of_ours_holds_nobody_up(path, process):
    async def work(it):
        with changing(path) as database:
            database.execute("INSERT INTO leases VALUES ('alice', 't1', 'run', ?)", (process,))
        assert ran(await it.send(plain()))

    with_host(work, path)


def test_a_foreign_lease_removes_nobodys_file(path):
    theirs = path.with_name("host.db.theirs.lock")
    theirs.write_text("mine")

    async def work(it):
        with changing(path) as database:
            database.execute("INSERT INTO leases VALUES ('alice', 't1', 'run', 'theirs')")
        assert ran(await it.send(plain()))

    with_host(work, path)
    assert theirs.read_text() == "mine"


@given(VALUES | RECORDS)
def test_any_value_is_a_pending_of_ours_or_none(value):
    assert not is_pending_of_ours(value)


@given(st.sampled_from(sorted(MEMBER_CHANGES)), st.data())
def test_no_member_of_any_value_breaks_the_check(name, data):
    pending = {
        "kind": data.draw(st.sampled_from(["checkIn", "ask", "question", "credential", "client"])),
        "call": {"tool": "pay", "arguments": {}, "callId": "c"},
        "rest": [],
        "progress": {"position": 0},
        "middleware": "rows",
        "nested": None,
    }
    assert is_pending_of_ours(pending)
    for member in MEMBER_CHANGES[name]:
        assert is_pending_of_ours({**pending, member: data.draw(VALUES)}) in (True, False)


# The request that a pause is given.


@pytest.mark.parametrize("cue", GATES)
def test_each_pause_has_a_request_of_its_own_for_its_call(path, cue):
    async def work(it):
        ids = set()
        for thread in ("t1", "t2"):
            await it.pause(cue, thread)
            pending = pending_of(path, thread)
            request = read_consent_request(pending["request"])
            assert request is not None
            call = pending["call"]
            bound = GatedCall(
                tool=call["tool"],
                arguments=call["arguments"],
                call_id=call["callId"],
                caller="alice",
            )
            assert request.call == bound.digest()
            assert request.ledger == it.host.parts.ledger.store_id
            assert request.gate == pending["kind"]
            expected = None
            if request.gate == "ask":
                names = [rule.name for rule in CHAIN]
                expected = tuple(names[names.index(pending["middleware"]) :])
            assert request.chain == expected
            assert how_spent(path, request.id) is None
            ids.add(request.id)
        assert len(ids) == 2

    with_host(work, path)


def test_a_refused_answer_leaves_no_record(path):
    async def work(it):
        interrupt = await it.pause("check_in")
        for payload in ("yes", {"approved": 1, "by": "x"}, {**YES, "requestId": "request-1"}):
            refusal_of(await it.send(TALK.answer("t1", interrupt, payload)))
        assert (await it.observe())["decisions"] == []
        assert ran(await it.send(TALK.answer("t1", interrupt, NO)))
        assert [one["approved"] for one in (await it.observe())["decisions"]] == [False]

    with_host(work, path)


def test_the_thread_is_free_when_the_last_event_is_seen(path):
    """Whoever has read the end of a run may go on at once, in any process."""
    free = []
    holders: list[SqliteSessions] = []

    def fault(parts):
        def encode(event):
            if event.type in ("RUN_FINISHED", "RUN_ERROR"):
                free.append(holders[0].hold(KEY, "another"))
                holders[0].release(KEY, "another")
            return parts.encode(event)

        return replace(parts, encode=encode)

    async def work(it):
        holders.append(SqliteSessions(str(path)))
        interrupt = await it.pause("nested")
        await it.control("close-pause")
        assert refusal_of(await it.send(TALK.answer("t1", interrupt, YES)))[0] == 200
        assert ran(await it.send(plain()))
        assert refusal_of(await it.send(TALK.cue("t1", "fail", "n3")))[0] == 200
        holders[0].close()
        assert free == [True] * 4

    with_host(work, path, fault)


def test_an_agent_that_keeps_nothing_leaves_the_thread_as_it_is(path):
    async def work(it):
        interrupt = await it.pause("check_in")
        kept, said = pending_of(path, "t1"), said_on(path, "t1")
        stateless = TALK.message("t1", "hostproof: say n2", path="/agui/stateless")
        assert ran(await it.send(stateless))
        assert (pending_of(path, "t1"), said_on(path, "t1")) == (kept, said)
        asked = it.host.parts.observation.model_requests[-1]["messages"]
        assert [message["content"] for message in asked] == ["hostproof: say n2"]
        assert ran(await it.send(TALK.answer("t1", interrupt, YES)))

    with_host(work, path)


def test_a_door_that_refuses_otherwise_leaves_the_pause(path):
    def fault(parts):
        def door(pending, answer, facts):
            raise Refusal("ERR_MINE", 422, "No.")

        return replace(parts, door=door)

    async def work(it):
        interrupt = await it.pause("check_in")
        assert refusal_of(await it.send(TALK.answer("t1", interrupt, YES)))[:2] == (422, "ERR_MINE")
        assert pending_of(path, "t1") is not None

    with_host(work, path, fault)
