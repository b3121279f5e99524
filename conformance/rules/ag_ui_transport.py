"""
Rules of the set ``ag-ui`` on the transport, beside those in :mod:`.wire`.

Source: AG-UI 1.0, transports, transports/http-sse, transports/http-protobuf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance import agui_input_faults as faults
from hostproof.conformance.outcome import Accepted, Broken, outcome_of
from hostproof.conformance.rule import Breach, Fault
from hostproof.conformance.rules.ag_ui import PLAIN, ag_ui_rule, named, runs_as_control
from hostproof.conformance.rules.live import breaks_off, failure_is_told

if TYPE_CHECKING:
    from hostproof.conformance.recording import Recording
    from hostproof.conformance.rule import Rule

SSE: Final = "transports/http-sse"


def speaks_sse(recording: Recording) -> Breach | None:
    """Demand an event stream of a run."""
    for exchange in recording.changed:
        taken = exchange.status is not None and 200 <= exchange.status < 300
        if taken and not exchange.is_stream:
            return Breach(
                expected="text/event-stream", seen="another media type", place="content-type"
            )
    return None


def answers_200(recording: Recording) -> Breach | None:
    """Demand the status 200 of a run."""
    for exchange in recording.changed:
        if isinstance(outcome_of(exchange), Accepted) and exchange.status != 200:
            return Breach(expected="HTTP 200", seen=f"HTTP {exchange.status}", place="status")
    return None


def ends_cleanly(recording: Recording) -> Breach | None:
    """Demand a terminal event, then the end of the body as HTTP has it."""
    for exchange in recording.exchanges:
        if not exchange.is_stream or exchange.request.method != "POST":
            continue
        outcome = outcome_of(exchange)
        if isinstance(outcome, Broken) and outcome.kind in ("cut", "no-terminal-event"):
            return Breach(expected="a terminal event, then a clean close", seen=outcome.describe())
    return None


RULES: Final[tuple[Rule, ...]] = (
    ag_ui_rule(
        "tr-01-speaks-sse",
        "transports, Standard bindings",
        "Answer a client of the SSE binding with an event stream.",
        speaks_sse,
        Fault(name="host-answers-in-lines", build=faults.answers_as("application/x-ndjson")),
        applies=named(*PLAIN),
    ),
    ag_ui_rule(
        "tr-03-ends-cleanly",
        "transports, The binding contract",
        "Tell a finished stream from a cut one: a terminal event, then a clean close.",
        ends_cleanly,
        Fault(
            name="host-cuts-the-body-behind-the-run",
            build=faults.breaks_off_after_the_end,
            shows_in=PLAIN,
        ),
        on_control=True,
    ),
    ag_ui_rule(
        "sse-01-status",
        f"{SSE}, Response",
        "Answer a run that starts with the status 200.",
        answers_200,
        Fault(name="host-answers-201", build=faults.answers_as("text/event-stream", 201)),
        level="should",
        applies=named(*PLAIN),
    ),
    ag_ui_rule(
        "sse-06-failures-in-the-stream",
        f"{SSE}, Errors",
        "Tell a failure after the stream has opened by RUN_ERROR.",
        failure_is_told,
        Fault(name="host-drops-a-failed-run", build=breaks_off),
        level="should",
        applies=named("failing-run"),
    ),
    ag_ui_rule(
        "sse-07-no-resumption",
        f"{SSE}, No resumption",
        "Make no use of Last-Event-ID.",
        runs_as_control,
        Fault(
            name="host-refuses-last-event-id",
            build=faults.refuses_header("last-event-id", bool),
        ),
        level="should",
        applies=named("last-event-id"),
    ),
    ag_ui_rule(
        "pb-02-sse-otherwise",
        "transports/http-protobuf, Negotiation",
        "Answer with SSE where the client admits no protobuf.",
        speaks_sse,
        Fault(
            name="host-overhears-q-zero",
            build=faults.answers_as("application/vnd.ag-ui.event+proto", only_with="+proto"),
        ),
        applies=named("accept-no-protobuf"),
    ),
)
