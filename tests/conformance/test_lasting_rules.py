"""Rules on what lasts and what stays apart: what they read, and what they leave to right hosts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest

from hostproof.conformance.case import all_cases
from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.embedded_run import embedded
from hostproof.conformance.exchange import Request
from hostproof.conformance.gate import performed
from hostproof.conformance.guarded_tool import Guarded, guarded_tool
from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.listener import REDIRECT, listening
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.recorder import Recorder
from hostproof.conformance.recording import Facts, Owed, Recording, Seen, Shared
from hostproof.conformance.rule import Breach, Unseen
from hostproof.conformance.style import InexpressibleError
from hostproof.conformance.target import Limits
from tests.conformance.recorded import CANARY, FINISHED, STARTED, problem, ran, stream

RULES = all_rules()
CASES = {case.id: case for case in all_cases()}
PAUSE = {"interruptId": "i-1", "kind": "checkIn", "pending": {"component": {"name": "rows"}}}
PAID = {"tool": "pay", "arguments": {"to": "a"}, "callId": "c-1"}
MARK = "n0123456789"


def recorded(**members: Any) -> Recording:
    facts = Facts(
        id="any",
        area="any",
        kind="answer",
        situation="check_in",
        endpoint="main",
        owed=Owed(code=None, status=200),
        canary=CANARY,
    )
    return Recording(case=facts, changed=members.pop("changed", (ran(),)), **members)


def judged(rule: str, **members: Any) -> Breach | Unseen | None:
    return RULES[rule].judge(recorded(**members))


def seen(**members: Any) -> Seen:
    given: dict[str, Any] = {"owed": 1, "answered": (PAID,), "ended": (PAID,)}
    return Seen(**given | members)


# Pauses over time.


@pytest.mark.parametrize(
    ("looks", "is_kept"),
    [
        ([[PAUSE], [PAUSE]], True),
        ([[PAUSE | {"age": 1}], [PAUSE | {"age": 2}]], True),
        ([[PAUSE], [PAUSE | {"interruptId": None}]], False),
        ([[PAUSE], [PAUSE | {"pending": {}}]], False),
        ([[PAUSE], [PAUSE], [PAUSE | {"kind": "ask"}]], False),
    ],
)
def test_an_open_pause_is_the_same_at_every_look(looks, is_kept):
    held = tuple(map(tuple, looks))
    found = judged("pause.kept-as-it-was", seen=seen(held=held))

    assert (found is None) == is_kept


@pytest.mark.parametrize("held", [(), ((PAUSE,),), ((PAUSE,), ())])
def test_a_pause_that_was_not_seen_twice_is_not_compared(held):
    assert isinstance(judged("pause.kept-as-it-was", seen=seen(held=held)), Unseen)


def test_a_question_waits_and_is_then_answered():
    rule = "pause.stays-open"

    assert judged(rule, seen=seen(held=((PAUSE,), (PAUSE,)))) is None
    assert judged(rule, seen=seen()) is None
    assert isinstance(judged(rule, seen=seen(held=((PAUSE,), ()))), Breach)
    assert isinstance(judged(rule, seen=seen(paused=(PAID,))), Breach)
    assert isinstance(judged(rule, seen=seen(), changed=(problem(),)), Breach)


def test_a_later_call_may_be_asked_about_or_not_be_made():
    rule, twice = "effect.asks-each-time", (PAID, {**PAID, "callId": "c-2"})

    assert judged(rule, seen=seen()) is None
    assert isinstance(judged(rule, seen=seen(ended=twice)), Breach)
    assert judged(rule, seen=seen(answered=(), ended=(PAID,), answerable=True)) is None


@pytest.mark.parametrize(
    ("tool", "shown", "control", "is_right"),
    [
        ("pay", "pay", "pay", True),
        ("wipe", "pay", "pay", False),
        ("payments.pay", "pay", "payments.pay", True),
        ("wipe", None, "pay", True),
        (None, "pay", "pay", True),
    ],
)
def test_the_tool_that_runs_is_the_one_that_was_shown(tool, shown, control, is_right):
    row = PAID | {"tool": tool}
    given = seen(
        answered=(row,),
        shown=(PAID["arguments"],),
        shown_tools=(shown,),
        control=({**PAID, "tool": control},),
    )

    assert (judged("effect.arguments-as-shown", seen=given) is None) == is_right


# Callers.


@pytest.mark.parametrize(
    ("shared", "place"),
    [
        (Shared(mark=MARK, requests=({"messages": [MARK, CANARY]},)), "modelRequests"),
        (Shared(mark=MARK, requests=({"given": CANARY},)), "modelRequests"),
        (Shared(mark=MARK, requests=({},), stored=({"content": MARK},)), "messages"),
        (Shared(mark=MARK, requests=({"messages": [MARK]},), stored=({"content": CANARY},)), None),
    ],
)
def test_what_a_caller_left_stays_where_it_is(shared, place):
    found = judged("thread.bound-to-its-caller", shared=shared)

    assert (found.place if isinstance(found, Breach) else found) == place


def test_a_run_on_anothers_thread_is_not_judged_by_its_stream_alone():
    rule, bare = "thread.bound-to-its-caller", Shared(mark=MARK)
    telling = stream(STARTED, {"type": "STATE_SNAPSHOT", "snapshot": CANARY}, FINISHED)

    assert isinstance(judged(rule, shared=bare), Unseen)
    assert judged(rule, shared=bare, changed=(problem(),)) is None
    assert isinstance(judged(rule, shared=bare, changed=(telling,)), Breach)
    assert judged(rule, changed=(problem(),)) is None


# What an event of the host's own tells.


@pytest.mark.parametrize(
    ("kind", "value", "is_told"),
    [
        ("CUSTOM", "Traceback (most recent call last)", True),
        ("CUSTOM", "a warning", False),
        ("TEXT_MESSAGE_CONTENT", "Traceback (most recent call last)", False),
    ],
)
def test_a_traceback_is_told_by_the_hosts_own_events_too(kind, value, is_told):
    event = {"type": kind, "name": "debug", "value": value, "delta": value}
    found = judged("leak.exception-text", changed=(stream(STARTED, event, FINISHED),))

    assert isinstance(found, Breach) == is_told


# The place where a page's URLs lead.


def test_who_asks_is_noted_by_the_path_and_led_on():
    async def asked() -> list[int]:
        async with listening() as listener, httpx.AsyncClient(trust_env=False) as client:
            await client.get(f"{listener.origin}/{CANARY}")
            await client.get(f"{listener.origin}{REDIRECT}/{MARK}", follow_redirects=True)
            return [listener.asked_for(word) for word in (CANARY, MARK, "nothing")]

    assert asyncio.run(asked()) == [1, 2, 0]


def test_what_is_no_request_is_borne_and_nothing_hears_afterwards():
    async def spoken() -> str:
        async with listening() as listener:
            port = int(listener.origin.rpartition(":")[2])
            for said in (b"\xff\n", b"GET " + b"/" * 10_000, b"", b"GET / HTTP/1.1\r\n"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(said)
                writer.write_eof()
                await reader.read()
                writer.close()
            return listener.origin

    origin = asyncio.run(spoken())
    with pytest.raises(httpx.ConnectError):
        httpx.get(origin, trust_env=False)


def test_fetching_counts_only_where_a_page_named_a_url():
    rule = "page.urls-stay-unfetched"

    assert judged(rule, fetched=None) is None
    assert judged(rule, fetched=0) is None
    assert isinstance(judged(rule, fetched=1), Breach)


# Hanging up.


def test_we_hang_up_at_the_first_event_of_a_type():
    recorder = Recorder(Request(), Limits(stop_at="TOOL_CALL_START"))
    recorder.head(200, (("content-type", "text/event-stream"),))
    sent = b'data: {"type":"RUN_STARTED"}\n\ndata: {"type":"TOOL_CALL_START"}\n\ndata: {}\n\n'

    assert not recorder.feed(sent, 0.1)
    exchange = recorder.finish("complete", 0.1)
    assert [event.type for event in exchange.events] == ["RUN_STARTED", "TOOL_CALL_START"]
    assert exchange.end == "cap"


# A guarded tool's name.


def test_a_guarded_tools_name_is_the_profiles_or_seen_once():
    async def found(profile: Any, times: int = 1) -> tuple[Guarded, int]:
        async with opened_host(profile, Leave()) as host:
            for _ in range(times):
                guarded = await guarded_tool(host, Identifiers("seed"))
            return guarded, host.requests

    with embedded() as profile:
        main = profile.endpoints["main"]
        unnamed = {**profile.endpoints, "main": replace(main, guarded=())}
        seen_name = asyncio.run(found(replace(profile, endpoints=unnamed), times=3))
        unasked = replace(profile, endpoints=unnamed, cues={"plain": "Say {nonce}."})
        named = asyncio.run(found(replace(profile, cues={"plain": "Say {nonce}."})))
        with pytest.raises(InexpressibleError, match=r"endpoints\.main\.guarded"):
            asyncio.run(found(unasked))

    assert seen_name == (Guarded(tool="pay"), 1)
    assert named == (Guarded(tool="pay"), 0)


def test_a_question_about_a_forged_call_is_named_as_the_host_names_one():
    assert Guarded(interrupt="int-{call}").interrupt_of("c-9") == "int-c-9"
    assert Guarded().interrupt_of("c-9") == "c-9"


@pytest.mark.parametrize("case", ["inside-approval-of-nothing", "cue-with-a-guarded-tools-name"])
def test_a_case_that_needs_the_name_is_not_judged_without_it(case):
    async def recording(profile: Any) -> Recording:
        async with opened_host(profile, Leave()) as host:
            return await performed(host, CASES[case], Identifiers("seed"))

    with embedded() as profile:
        endpoints = {**profile.endpoints, "main": replace(profile.main_endpoint, guarded=())}
        cues = {"plain": profile.cues["plain"], "check_in": "Do nothing with {nonce}."}
        made = asyncio.run(recording(replace(profile, endpoints=endpoints, cues=cues)))

    assert "endpoints.main.guarded" in made.missing
