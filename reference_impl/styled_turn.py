"""
One run of the styled host: what its agent says and calls, and where it stops to ask.

The pause is kept before it is shown, so nobody sees one that could be lost; the
thread is free before the run's last event, so whoever has that may go on.

Source: AG-UI 1.0, patterns/interrupt-resume, events/tool-calls (Frontend tools).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl import styled_events as events
from hostproof.reference_impl.styled_model import (
    OWN_TOOLS,
    StyledAsked,
    StyledCall,
    concluded,
    paired,
)
from hostproof.reference_impl.styled_pauses import Answer, Replay, newest_results
from hostproof.reference_impl.styled_setup import CONFIRM
from hostproof.reference_impl.styled_threads import Ask, OpenPause

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from hostproof.reference_impl.styled_parts import StyledRun
    from hostproof.reference_impl.styled_pauses import Verdict, Wanted
    from hostproof.reference_impl.values import Record

SLOW_SECONDS: Final = 0.2
WAITS: Final = "This call waits for a person."
NOBODY: Final = "Nobody can be asked: the page offers no way to confirm."
DECLINED: Final = "declined"
ANSWERED: Final = "answered"


async def events_of(run: StyledRun, asked: Wanted) -> AsyncIterator[Record]:
    """Run what a request asks for, and give its events; what was said is kept before it ends."""
    yield events.started(run.setup, run.given)
    for one in events.state_shown(run.given.state):
        yield one
    if isinstance(asked, Replay):
        told = _again(run, asked.ask)
    elif isinstance(asked, Answer):
        told = _answered(run, asked.pause, asked.verdicts)
    else:
        told = _message(run)
    async for one in told:
        yield one


async def _message(run: StyledRun) -> AsyncIterator[Record]:
    """Answer a person."""
    if run.setup.history == "server":
        run.said.append(run.given.messages[-1])
    page = {tool["name"]: tool.get("description", "") for tool in run.given.tools}
    given = {
        name: value
        for name, value in (("state", run.given.state), ("context", list(run.given.context)))
        if value
    }
    request = StyledAsked(messages=paired(run.messages), tools={**page, **OWN_TOOLS}, given=given)
    run.parts.memory.model_asked(run.thread.key, request.shown())
    reply = run.parts.model(request)
    if reply.calls:
        groups = [reply.calls] if reply.at_once else [(call,) for call in reply.calls]
        async for one in _calls(run, groups, reply.nonce, []):
            yield one
        return
    for one in [*_say(run, reply.text), *_end(run)]:
        yield one


async def _answered(
    run: StyledRun, pause: OpenPause, verdicts: Sequence[Verdict]
) -> AsyncIterator[Record]:
    """Go on with what was open, as the answers say."""
    by_page = {ask.name for ask in pause.asks if ask.name != ask.call.id or pause.is_pages}
    if run.setup.history == "server":
        sent = newest_results(run.given)
        run.said.extend(one for one in sent if one["toolCallId"] in by_page)
    results: list[str] = []
    for verdict in verdicts:
        call = verdict.ask.call
        content = verdict.value
        if call.kind == "guarded":
            content = await run.parts.act(run, call) if verdict.runs else DECLINED
        results.append(content)
        if call.kind != "page":
            yield _result(run, call, content)
        if verdict.ask.confirm and run.setup.pause != "call":
            yield _result(run, StyledCall(CONFIRM, {}, verdict.ask.confirm), ANSWERED)
    groups = [(call,) for call in pause.behind]
    async for one in _calls(run, groups, pause.nonce, results):
        yield one


async def _again(run: StyledRun, ask: Ask) -> AsyncIterator[Record]:
    """Answer what was answered before: nothing runs."""
    kept = run.thread.results.get(ask.call.id)
    if kept is not None and run.setup.on_replay == "kept-text":
        for one in _say(run, kept):
            yield one
    if kept is not None and run.setup.on_replay == "kept-result" and ask.kind != "page":
        yield _result(run, ask.call, kept)
    yield events.finished(run.given)


async def _calls(
    run: StyledRun,
    groups: Sequence[tuple[StyledCall, ...]],
    nonce: str,
    results: list[str],
) -> AsyncIterator[Record]:
    """Make calls, a group at a time, until one asks; say what came of them in the end."""
    for at, group in enumerate(groups):
        calls = tuple(replace(call, id=run.parts.mint("call")) for call in group)
        for one in _called(run, calls):
            yield one
        if calls[0].asks and _can_ask(run, calls[0]):
            behind = tuple(call for later in groups[at + 1 :] for call in later)
            for one in run.parts.ask(run, calls, nonce, behind):
                yield one
            return
        for call in calls:
            content = await _unasked(run, call)
            results.append(content)
            yield _result(run, call, content)
    for one in [*_say(run, concluded(nonce, results)), *_end(run)]:
        yield one


def _can_ask(run: StyledRun, call: StyledCall) -> bool:
    """Say whether the page can be asked: by an interrupt always, by a call where it offers one."""
    if run.setup.pause != "call" or call.kind == "page":
        return True
    return any(tool["name"] == CONFIRM for tool in run.given.tools)


async def _unasked(run: StyledRun, call: StyledCall) -> str:
    """Do what a call wants that asks nobody."""
    if call.kind == "free":
        return await run.parts.act(run, call)
    if call.kind == "slow":
        await asyncio.sleep(SLOW_SECONDS)
        return "done"
    return NOBODY if call.asks else "not allowed"


def ask(
    run: StyledRun,
    calls: tuple[StyledCall, ...],
    nonce: str,
    behind: tuple[StyledCall, ...],
) -> list[Record]:
    """Open a pause on calls, keep it, and give the events that end the run."""
    setup, parts = run.setup, run.parts
    is_pages = calls[0].kind == "page"
    by_call = setup.pause == "call" and not is_pages
    told: list[Record] = []
    if by_call and setup.error_result:
        told += [_result(run, call, WAITS) for call in calls]
    confirms: tuple[StyledCall, ...] = ()
    if by_call or (setup.confirm_beside and not is_pages):
        confirms = tuple(_confirming(call, parts.mint("call")) for call in calls)
        told += _called(run, confirms)
    asks = tuple(
        _asked(run, call, confirms[at].id if confirms else "") for at, call in enumerate(calls)
    )
    run.thread.pause = OpenPause(asks=asks, run=run.given.run, nonce=nonce, behind=behind)
    told += _kept(run)
    if not (by_call or is_pages):
        return [*told, *events.interrupted(setup, run.given, asks)]
    left = [call.id for call in (calls if is_pages else confirms)]
    unnamed = by_call and not setup.error_result
    return [*told, events.finished(run.given, () if unnamed else left)]


def _asked(run: StyledRun, call: StyledCall, confirm: str) -> Ask:
    setup = run.setup
    named = run.given.thread if setup.thread_as_id else run.parts.mint("int")
    by_result = setup.answer == "tool-message" or call.kind == "page"
    by_confirm = setup.pause == "call" and call.kind != "page"
    name = named
    if by_result:
        name = confirm if by_confirm else call.id
    return Ask(id=named, name=name, call=call, confirm=confirm)


def _confirming(call: StyledCall, call_id: str) -> StyledCall:
    return StyledCall(*events.confirmation(call, call_id))


def _called(run: StyledRun, calls: Sequence[StyledCall]) -> list[Record]:
    """Make calls in a message of the agent's."""
    message_id = run.parts.mint("msg")
    shown = [one for call in calls for one in events.called(run.setup, message_id, call)]
    begun = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": events.arguments_text(call)},
        }
        for call in calls
    ]
    run.said.append({"id": message_id, "role": "assistant", "toolCalls": begun})
    return shown


def _result(run: StyledRun, call: StyledCall, content: str) -> Record:
    """Give a call's result, and keep it."""
    run.thread.results[call.id] = content
    message: Record = {
        "id": run.parts.mint("msg"),
        "role": "tool",
        "toolCallId": call.id,
        "content": content,
    }
    run.said.append(message)
    return events.returned(message)


def _say(run: StyledRun, text: str) -> list[Record]:
    """Say something, and keep it."""
    message_id = run.parts.mint("msg")
    run.said.append({"id": message_id, "role": "assistant", "content": text})
    return events.said(run.setup, message_id, text)


def _kept(run: StyledRun) -> list[Record]:
    """Keep what was said, and give the thread back; restate it where the style does."""
    told = [events.snapshot(run.messages)] if run.setup.snapshot else []
    run.thread.seen |= {one["id"] for one in (*run.given.messages, *run.said)}
    if run.setup.history == "server":
        _store(run)
    run.thread.busy = False
    return told


def _store(run: StyledRun) -> None:
    """Keep what was said with the thread; a call's new result takes the place of an older one."""
    told = {one["toolCallId"] for one in run.said if one["role"] == "tool"}
    before = run.thread.messages
    run.thread.messages = [
        *(one for one in before if one["role"] != "tool" or one["toolCallId"] not in told),
        *run.said,
    ]


def _end(run: StyledRun) -> list[Record]:
    """End a run well."""
    return [*_kept(run), events.finished(run.given)]
