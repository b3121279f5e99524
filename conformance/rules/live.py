"""
Rules of the set ``safety`` on staying up: no crash, no hang, no cut stream, and nothing lost.

Source: safety, docs/safety.md; AG-UI 1.0, events/lifecycle and transports.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.fault_sessions import NeverReleased
from hostproof.conformance.outcome import Accepted, Broken, outcome_of
from hostproof.conformance.rule import Breach, Fault, Rule, RuleSet, Severity, Source
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.scripted_model import ModelError, ModelReply, ModelRequest
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from ag_ui.core import BaseEvent
    from starlette.responses import Response

    from hostproof.conformance.outcome import Breakage
    from hostproof.conformance.recording import Facts, Recording
    from hostproof.conformance.rule import Build, Judge
    from hostproof.reference_impl.agent_steps import PageTool
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput
    from hostproof.reference_impl.turn import Facts as TurnFacts
    from hostproof.reference_impl.turn import Held, Plan, Rules

SAFETY: Final[frozenset[RuleSet]] = frozenset({"safety"})
HANG_SECONDS: Final = 60.0


def never(*kinds: Breakage) -> Judge:
    """Demand that no answer of a case breaks in one of these ways."""

    def judge(recording: Recording) -> Breach | None:
        for exchange in recording.changed:
            outcome = outcome_of(exchange)
            other_method = exchange.request.method != "POST"
            if other_method and isinstance(outcome, Broken) and outcome.kind == "no-stream":
                continue
            if isinstance(outcome, Broken) and outcome.kind in kinds:
                return Breach(
                    expected="an answer: a run with its terminal event, or a refusal",
                    seen=outcome.describe(),
                    place=f"status {exchange.status}" if exchange.status else None,
                )
        return None

    return judge


def good_run(recording: Recording) -> Breach | None:
    """Demand that a plain message is run to a finish."""
    for exchange in (*recording.changed, *([recording.after] if recording.after else [])):
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return Breach(expected="a run that finishes", seen=outcome.describe())
    return None


def serves_on(recording: Recording) -> Breach | None:
    """Demand that after the case a good request on the same thread is accepted."""
    if recording.after is None:
        return None
    outcome = outcome_of(recording.after)
    if isinstance(outcome, Accepted):
        return None
    what = "the right answer" if recording.case.situation != "fresh" else "a good message"
    return Breach(
        expected=f"{what} is accepted after the refusal",
        seen=outcome.describe(),
        place="the request after",
    )


def failure_is_told(recording: Recording) -> Breach | None:
    """Demand that a run that breaks inside ends with RUN_ERROR, not with a cut connection."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if isinstance(outcome, Broken):
            return Breach(expected="a stream that ends in RUN_ERROR", seen=outcome.describe())
    return None


def _wide(*shown: str) -> frozenset[str]:
    return frozenset(shown or ("thread-id-number",))


def _reader_that(raises: Callable[[], BaseException]) -> Build:
    """Break on a thread id that is no text, before the reader can refuse it."""

    def build(parts: HostParts) -> HostParts:
        right = parts.read

        def read(request: ReaderRequest) -> RunInput:
            if is_record(request.body) and not isinstance(request.body.get("threadId"), str):
                raise raises()
            return right(request)

        return replace(parts, read=read)

    return build


def _hang(parts: HostParts) -> HostParts:
    """Never answer where a refusal is owed."""
    from starlette.responses import Response

    class Silence(Response):
        async def __call__(self, *_given: object) -> None:
            await asyncio.sleep(HANG_SECONDS)

    return replace(parts, write_refusal=lambda _refusal: Silence())


def _cut(parts: HostParts) -> HostParts:
    """Announce more than is sent."""
    right = parts.write_refusal

    def write(refusal: Refusal) -> Response:
        response = right(refusal)
        response.headers["content-length"] = str(len(response.body) + 10)
        return response

    return replace(parts, write_refusal=write)


def _flood(parts: HostParts) -> HostParts:
    """Refuse at great length."""
    from starlette.responses import StreamingResponse

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"no " * 20_000
            await asyncio.sleep(0)

    return replace(
        parts,
        write_refusal=lambda _refusal: StreamingResponse(endless(), 400, media_type="text/plain"),
    )


def _refuse_in_an_empty_stream(parts: HostParts) -> HostParts:
    return replace(parts, write_refusal=lambda _refusal: parts.write_stream(_nothing()))


async def _nothing() -> AsyncIterator[bytes]:
    no_events: tuple[bytes, ...] = ()
    for event in no_events:
        yield event


def _forgets_pauses(parts: HostParts) -> HostParts:
    """Lose the pause of a thread when a request on it is refused."""
    sessions = parts.sessions
    right = parts.plan

    def plan(
        request: RunInput, held: Held, facts: TurnFacts, rules: Rules[PageTool]
    ) -> Plan[PageTool]:
        try:
            return right(request, held, facts, rules)
        except Refusal:
            for key, _pause in sessions.pauses():
                if key.thread == facts.thread:
                    sessions.save(key, [], None)
            raise

    return replace(parts, plan=plan)


def _keeps_the_lease(parts: HostParts) -> HostParts:
    """Hold a thread for good once a request on it was refused by the plan."""
    return replace(parts, sessions=NeverReleased(parts.sessions))


def breaks_off(parts: HostParts) -> HostParts:
    """Let a run that fails inside take the connection with it."""

    def end(_incident: str, error: Exception) -> BaseEvent:
        raise error

    return replace(parts, end_of_failure=end)


def _no_good_runs(parts: HostParts) -> HostParts:
    """End every run in RUN_ERROR."""
    from hostproof.reference_impl.agent import ReferenceAgent

    def model(_request: ModelRequest) -> ModelReply:
        raise ModelError("no")

    return replace(parts, agent=ReferenceAgent(model=model))


def _live_rule(
    name: str,
    demand: str,
    judge: Judge,
    fault: Fault,
    *,
    severity: Severity = "medium",
    cwe: int | None = None,
    clause: str = "Staying up",
    applies: Callable[[Facts], bool] = lambda _case: True,
    on_control: bool = False,
) -> Rule:
    return Rule(
        id=f"live.{name}",
        title=name.replace("-", " "),
        demand=demand,
        source=Source(document="safety", clause=clause),
        sets=SAFETY,
        level="must",
        severity=severity,
        cwe=cwe,
        applies=applies,
        judge=judge,
        on_control=on_control,
        fault=fault,
    )


RULES: Final = (
    _live_rule(
        "good-run",
        "Run a plain message to a finish.",
        good_run,
        Fault(name="host-fails-every-run", build=_no_good_runs),
        severity="high",
        applies=lambda case: case.id == "plain-run",
        on_control=True,
    ),
    _live_rule(
        "no-server-error",
        "Answer every input without a server error.",
        never("server-error"),
        Fault(
            name="host-crashes-on-a-thread-id",
            build=_reader_that(lambda: RuntimeError("unhandled")),
            shows_in=_wide(),
        ),
        cwe=248,
    ),
    _live_rule(
        "answers",
        "Answer every input within the deadline.",
        never("silence", "unreachable"),
        Fault(name="host-never-refuses", build=_hang, shows_in=_wide()),
        severity="high",
        cwe=400,
    ),
    _live_rule(
        "no-cut-answer",
        "Answer every input whole: no dropped connection, no broken-off body, nothing but HTTP.",
        never("cut", "dropped", "not-http"),
        Fault(name="host-announces-more-than-it-sends", build=_cut, shows_in=_wide()),
    ),
    _live_rule(
        "bounded-answer",
        "Answer every input with an end to it.",
        never("flood"),
        Fault(name="host-refuses-without-end", build=_flood, shows_in=_wide()),
        cwe=400,
    ),
    _live_rule(
        "terminal-event",
        "End every stream with RUN_FINISHED or RUN_ERROR, and begin none without an event.",
        never("no-events", "no-terminal-event", "no-stream"),
        Fault(
            name="host-refuses-in-an-empty-stream",
            build=_refuse_in_an_empty_stream,
            shows_in=_wide(),
        ),
    ),
    _live_rule(
        "failure-is-told",
        "Tell a failure inside a run by RUN_ERROR.",
        failure_is_told,
        Fault(name="host-breaks-off-a-failed-run", build=breaks_off),
        applies=lambda case: case.id == "failing-run",
        clause="Failures inside a run",
    ),
    _live_rule(
        "serves-on",
        "Go on serving the thread after a refused input.",
        serves_on,
        Fault(
            name="host-keeps-a-thread-it-refused",
            build=_keeps_the_lease,
            shows_in=_wide("system-first"),
        ),
        severity="high",
        applies=lambda case: case.situation == "fresh",
        clause="Nothing lost",
    ),
    _live_rule(
        "pause-survives",
        "Keep a pause that a refused request did not answer, until the right answer comes.",
        serves_on,
        Fault(
            name="host-forgets-a-pause-it-refused-for",
            build=_forgets_pauses,
            shows_in=_wide("interrupt-other"),
        ),
        severity="high",
        applies=lambda case: case.situation in ("question", "client-call"),
        clause="Nothing lost",
    ),
)
