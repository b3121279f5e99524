"""
Faults of a host that its own parser fails: bodies that crash it, or that it will not have.

Each does one thing that is easily done: an index into an empty list, a member read unseen.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hostproof.conformance.agui_faults import event, inserts, rewrites
from hostproof.conformance.agui_input_faults import refuses
from hostproof.conformance.fault_inputs import noting, replanning, sent
from hostproof.conformance.fault_sessions import SessionsAround
from hostproof.conformance.inside_reading import records
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from starlette.responses import Response

    from hostproof.conformance.fault_inputs import PlanAgain
    from hostproof.conformance.rule import Build
    from hostproof.reference_impl.agent_steps import PageTool
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput
    from hostproof.reference_impl.sessions import StoredThread, ThreadKey
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules
    from hostproof.reference_impl.values import Json, Record


def looks_first(look: Callable[[Json], object]) -> Build:
    """Break the reader: something of the body is looked at before it is checked."""

    def build(parts: HostParts) -> HostParts:
        right = parts.read

        def read(request: ReaderRequest) -> RunInput:
            look(request.body)
            return right(request)

        return replace(parts, read=read)

    return build


def crashes_without_a_body(parts: HostParts) -> HostParts:
    """Read a body's thread before it is known to have one, or to be JSON at all."""

    def parse(data: bytes) -> Json:
        return json.loads(data)

    seeing = looks_first(lambda body: body["threadId"])
    return seeing(replace(parts, parse=parse))


def plans_first(look: Callable[[Record, Held], object]) -> Build:
    """Break the plan: something of the request is looked at before it is planned."""

    def build(parts: HostParts) -> HostParts:
        right = parts.plan

        def plan(
            request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]
        ) -> Plan[PageTool]:
            look(cast("Record", request), held)
            return right(request, held, facts, rules)

        return replace(parts, plan=plan)

    return build


crashes_on_no_messages: Build = plans_first(
    lambda request, held: held.awaiting is not None or request["messages"][-1]
)


tells_a_traceback: Build = inserts(
    start=[
        event(
            "CUSTOM",
            name="debug",
            value="Traceback (most recent call last): a warning of the store",
        )
    ]
)


def _needs_a_user_turn(request: Record, held: Held) -> None:
    newest = request["messages"][-1:]
    if held.awaiting is None and newest and newest[0]["role"] == "assistant":
        raise ValueError("neither a new message nor an id to go on with")


crashes_after_an_assistant: Build = plans_first(_needs_a_user_turn)

ROLES = {"user": "user", "assistant": "ai", "tool": "tool", "system": "system"}

crashes_on_unmapped_roles: Build = plans_first(
    lambda request, _held: [ROLES[message["role"]] for message in request["messages"]]
)


def _strip_texts(body: Json) -> None:
    for message in records(body.get("messages") if is_record(body) else None):
        if message.get("content", "") is None:
            raise AttributeError("None has no text")


crashes_on_null_content: Build = looks_first(_strip_texts)

needs_state_and_props: Build = refuses(
    "state", lambda body: not {"state", "forwardedProps"} <= set(body)
)

refuses_null_state: Build = refuses("state", lambda body: body.get("state", {}) is None)

refuses_null_resume: Build = refuses("resume", lambda body: body.get("resume", []) is None)


def runs_snake_case_elsewhere(parts: HostParts) -> HostParts:
    """Take ids in snake case, and run them on a thread of its own making."""

    def mend(body: Record) -> Record:
        if "thread_id" not in body:
            return body
        return {**body, "threadId": parts.mint("thread"), "runId": parts.mint("run")}

    return noting(parts, mend)


def reads_snake_case_only(parts: HostParts) -> HostParts:
    """Read ids in snake case only: the others are ignored, and every run has a new thread."""

    def mend(body: Record) -> Record:
        thread, run = body.get("thread_id"), body.get("run_id")
        made = {"threadId": thread or parts.mint("thread"), "runId": run or parts.mint("run")}
        return {**body, **made}

    return noting(parts, mend)


def takes_an_empty_thread_id(parts: HostParts) -> HostParts:
    """Take an empty thread id, so that careless clients share one thread."""
    return noting(
        parts,
        lambda body: {**body, "threadId": "shared"} if body.get("threadId") == "" else body,
    )


class WholeHistory(SessionsAround):
    """Finds that a page sent fewer messages than the thread has."""

    def load(self, key: ThreadKey) -> StoredThread:
        """
        Read the thread.

        Raises:
            KeyError: a stored message is not among those sent.
        """
        stored = self.inner.load(key)
        if sent() and stored.pause is None:
            ids = {message.get("id") for message in records(sent().get("messages"))}
            for message in stored.messages:
                if message["id"] not in ids:
                    raise KeyError(message["id"])
        return stored


def needs_the_whole_history(parts: HostParts) -> HostParts:
    """Break on a message that the thread has and the page did not send again."""
    return replace(noting(parts), sessions=WholeHistory(parts.sessions))


class Prototyped(SessionsAround):
    """Looks threads up among the members that every object of some languages has."""

    def load(self, key: ThreadKey) -> StoredThread:
        """
        Read the thread.

        Raises:
            TypeError: what was found is no thread.
        """
        if key.thread in ("constructor", "toString", "hasOwnProperty"):
            raise TypeError("a function is no thread")
        return self.inner.load(key)


def finds_threads_in_a_prototype(parts: HostParts) -> HostParts:
    """Find a thread where a member of every object has its name."""
    return replace(parts, sessions=Prototyped(parts.sessions))


def _answers_nothing(request: Record, held: Held) -> None:
    if request.get("resume") and held.awaiting is None:
        raise LookupError("no run that could be resumed")


crashes_on_an_answer_to_nothing: Build = plans_first(_answers_nothing)


def asks_again_for_another_answer(parts: HostParts) -> HostParts:
    """Begin the turn again where an answer names no interrupt that is open."""
    sessions = parts.sessions

    def mend(body: Record) -> Record:
        said = [
            message
            for key, _pause in sessions.pauses()
            if key.thread == body.get("threadId")
            for message in sessions.load(key).messages
            if message["role"] == "user"
        ]
        return {**body, "messages": said[-1:]} if body.get("resume") and said else body

    def again(request: Record, held: Held, right: PlanAgain) -> Plan[PageTool]:
        return right({**request, "resume": None}, type(held)())

    return replanning(noting(parts, mend), again, "ERR_UNKNOWN_INTERRUPT")


def answers_with_nothing(parts: HostParts) -> HostParts:
    """Begin a stream for an answer without a message, and say nothing in it."""
    right = parts.write_stream

    async def nothing(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for one in events:
            if not sent().get("resume") or sent().get("messages"):
                yield one

    def write(events: AsyncIterator[bytes]) -> Response:
        return right(nothing(events))

    return replace(noting(parts), write_stream=write)


def lists_threads(parts: HostParts) -> HostParts:
    """Name every thread that is known in the refusal of one that is not."""
    known: list[str] = []

    class Noted(SessionsAround):
        """Notes the threads that it holds."""

        def hold(self, key: ThreadKey, run: str) -> bool:
            """Take the thread for a run."""
            known.append(key.thread)
            return self.inner.hold(key, run)

    right = parts.write_refusal

    def write(refusal: Refusal) -> Response:
        told = f"Not found. There are: {', '.join(known)}"
        return right(Refusal(refusal.code, refusal.status, told, field=refusal.field))

    return replace(parts, sessions=Noted(parts.sessions), write_refusal=write)


def finishes_after_an_error(value: Record) -> Sequence[Record]:
    """Follow an error with a success."""
    if value["type"] != "RUN_ERROR":
        return [value]
    return [value, event("RUN_FINISHED", threadId="hp-t", runId="hp-r")]


def hides_calls(value: Record) -> Sequence[Record]:
    """Leave out the calls that a run makes."""
    shown = ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "MESSAGES_SNAPSHOT")
    return [] if value["type"] in shown else [value]


never_shows_calls: Build = rewrites(hides_calls)
errors_then_finishes: Build = rewrites(finishes_after_an_error)
