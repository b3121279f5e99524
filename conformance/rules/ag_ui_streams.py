"""
Rules of the set ``ag-ui`` on what a stream says: ids, texts, calls, state, counts, names.

Source: AG-UI 1.0, model, run-input, events/tool-calls, events/state, events/lifecycle.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from hostproof.conformance import agui_content as content
from hostproof.conformance.agui_faults import alters, ends_as, event, inserts, rewrites
from hostproof.conformance.agui_reading import readings
from hostproof.conformance.rule import Breach, Fault
from hostproof.conformance.rules.ag_ui import PLAIN, ag_ui_rule, named, of_stream, stream_rule

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from starlette.responses import Response

    from hostproof.conformance.agui_reading import Reading
    from hostproof.conformance.recording import Recording
    from hostproof.conformance.rule import Build, Level, Rule
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput
    from hostproof.reference_impl.values import Record

PAUSED: Final = frozenset({"check_in-yes"})


def _rule(
    name: str,
    where: str,
    demand: str,
    fault: tuple[str, Build],
    find: Callable[[Reading], Iterator[content.Found]],
    level: Level = "must",
    *,
    shows_in: frozenset[str] = PLAIN,
) -> Rule:
    return stream_rule(name, where, demand, fault, of_stream(find), level=level, shows_in=shows_in)


def ends_without_us(recording: Recording) -> Breach | None:
    """Demand that a run that has begun ends without another message from us."""
    for where, reading in readings(recording):
        kinds = [event.get("type") for event in reading.events]
        ended = reading.grammar.breaches or any(kind in ENDS for kind in kinds)
        if not ended and "RUN_STARTED" in kinds and recording.changed[0].end == "deadline":
            seen = "a run that stands still"
            return Breach(
                expected="a terminal event on one request", seen=seen, place=where or None
            )
    return None


ENDS: Final = ("RUN_FINISHED", "RUN_ERROR")


def hides_secrets(recording: Recording) -> Breach | None:
    """Demand that no state and no message shows what the observation knows as secret."""
    secrets = recording.seen.secrets if recording.seen else ()
    for exchange in recording.exchanges if secrets else ():
        for index, one in enumerate(exchange.events):
            shown = one.type.startswith(("TEXT_", "MESSAGES_", "STATE_", "REASONING_"))
            if shown and any(secret in one.data for secret in secrets):
                return Breach(
                    expected="messages and state without secrets",
                    seen="a request id or the agent's instructions",
                    place=f"events[{index}]",
                )
    return None


def _stands_still(parts: HostParts) -> HostParts:
    """Wait, inside a run, for what no client sends."""

    def write(events: AsyncIterator[bytes]) -> Response:
        async def first_and_waits() -> AsyncIterator[bytes]:
            async for one in events:
                yield one
                await asyncio.sleep(60)

        return parts.write_stream(first_and_waits())

    return replace(parts, write_stream=write)


def _says_the_request(parts: HostParts) -> HostParts:
    """Name the request's id in a message of the run that asks."""
    requests: list[str] = []

    def mint(prefix: str) -> str:
        made = parts.mint(prefix)
        if prefix == "request":
            requests.append(made)
        return made

    def rewrite(value: Record) -> Sequence[Record]:
        if value["type"] != "RUN_FINISHED" or not requests:
            return [value]
        said = {"id": "hp-m", "role": "assistant", "content": requests[-1]}
        return [event("MESSAGES_SNAPSHOT", messages=[said]), value]

    return rewrites(rewrite)(replace(parts, mint=mint))


def _with_the_input(rewrite: Callable[[RunInput, Record], Sequence[Record]]) -> Build:
    """Break the stream with what the newest input says."""

    def build(parts: HostParts) -> HostParts:
        right = parts.read
        inputs: dict[str, RunInput] = {}

        def read(request: ReaderRequest) -> RunInput:
            inputs["newest"] = right(request)
            return inputs["newest"]

        both = replace(parts, read=read)
        return rewrites(lambda value: rewrite(inputs["newest"], value))(both)

    return build


def _streams_the_input(given: RunInput, value: Record) -> Sequence[Record]:
    if value["type"] != "RUN_STARTED":
        return [value]
    return [
        value,
        *(
            one
            for said in given["messages"]
            for one in (
                event("TEXT_MESSAGE_START", messageId=said["id"], role=said["role"]),
                event("TEXT_MESSAGE_CONTENT", messageId=said["id"], delta=said["content"]),
                event("TEXT_MESSAGE_END", messageId=said["id"]),
            )
        ),
    ]


def _speaks_under_the_inputs_id(given: RunInput, value: Record) -> Sequence[Record]:
    if not value["type"].startswith("TEXT_MESSAGE_"):
        return [value]
    return [value | {"messageId": given["messages"][-1]["id"]}]


def _renamed(name: str) -> Callable[[Record], Sequence[Record]]:
    """Give both ends of a run another id."""
    ends = ("RUN_STARTED", "RUN_FINISHED")
    return lambda value: [
        value | {name: f"hp-{value[name]}"} if value["type"] in ends and name in value else value
    ]


def _twice(value: Record) -> Sequence[Record]:
    interrupts = value.get("outcome", {}).get("interrupts") if "outcome" in value else None
    if not interrupts:
        return [value]
    return [value | {"outcome": {"type": "interrupt", "interrupts": interrupts * 2}}]


def _all_in(kind: str) -> Callable[[Record], Sequence[Record]]:
    """Say in one passthrough event what a text message is for."""

    def rewrite(value: Record) -> Sequence[Record]:
        if value["type"] == "TEXT_MESSAGE_CONTENT":
            text = value["delta"]
            if kind == "RAW":
                return [event("RAW", event={"text": text})]
            return [event("CUSTOM", name="hostproof.text", value=text)]
        return [] if value["type"].startswith("TEXT_MESSAGE_") else [value]

    return rewrite


def _usage(**counts: int) -> Build:
    return alters("RUN_FINISHED", usage=[counts])


_FILE: Final = {"type": "file", "value": "f-1", "provider": "OpenAI"}

RULES: Final = (
    _rule(
        "gen-06-message-ids",
        "model, Identifiers",
        "Give a new message an id that no other message of the thread has.",
        ("host-speaks-under-the-persons-id", _with_the_input(_speaks_under_the_inputs_id)),
        content.shared_message_ids,
    ),
    ag_ui_rule(
        "gen-08-needs-one-message",
        "patterns (intro)",
        "Bring a run to its end without another message from the client.",
        ends_without_us,
        Fault(name="host-waits-inside-a-run", build=_stands_still),
        applies=named(*PLAIN),
    ),
    ag_ui_rule(
        "gen-09-no-secrets",
        "index, Key principles; events/state, Security Considerations",
        "Keep secrets out of messages and state.",
        hides_secrets,
        Fault(name="host-says-a-request-id", build=_says_the_request, shows_in=PAUSED),
        level="should",
        severity="high",
        applies=lambda case: case.kind == "answer",
        on_control=True,
    ),
    _rule(
        "in-08-provider-spelling",
        "run-input, Provider file handles",
        "Name the provider of a file handle in lower case.",
        (
            "host-spells-a-provider-in-capitals",
            inserts(
                start=[
                    event(
                        "TOOL_CALL_RESULT",
                        messageId="hp-m",
                        toolCallId="hp-c",
                        content=[{"type": "image", "source": _FILE}],
                    )
                ]
            ),
        ),
        content.spelled_providers,
        "should",
    ),
    _rule(
        "in-09-the-inputs-thread",
        "run-input, Identity",
        "Name the input's thread at both ends of every run.",
        ("host-runs-on-another-thread", rewrites(_renamed("threadId"))),
        content.foreign_threads,
        "should",
    ),
    _rule(
        "in-11-the-inputs-run",
        "run-input, Identity",
        "Run the requested run last, under the input's id.",
        ("host-runs-under-its-own-id", rewrites(_renamed("runId"))),
        content.foreign_runs,
        "should",
    ),
    _rule(
        "in-14-deltas-apply",
        "run-input, state",
        "Compute deltas against the state that was sent.",
        (
            "host-changes-state-that-nobody-has",
            inserts(
                start=[event("STATE_DELTA", delta=[{"op": "replace", "path": "/x", "value": 1}])]
            ),
        ),
        content.inapplicable_deltas,
    ),
    _rule(
        "int-03-interrupt-ids",
        "patterns/interrupt-resume, Interrupting",
        "Give each interrupt of a run an id of its own.",
        ("host-interrupts-twice-under-one-id", rewrites(_twice)),
        content.repeated_interrupts,
        shows_in=PAUSED,
    ),
    _rule(
        "life-06-cancelled-has-no-result",
        "events/lifecycle, Cancelled runs",
        "Leave the result off a cancelled run.",
        (
            "host-gives-a-cancelled-result",
            rewrites(
                lambda value: [
                    value | {"outcome": {"type": "cancelled"}, "result": 1}
                    if value["type"] == "RUN_FINISHED"
                    else value
                ]
            ),
        ),
        content.cancelled_results,
        "should",
    ),
    _rule(
        "life-09-restates-history",
        "events/lifecycle, Several runs on one stream",
        "Restate history as snapshots; never stream it again.",
        ("host-streams-the-input-again", _with_the_input(_streams_the_input)),
        content.restreamed,
    ),
    _rule(
        "life-11-parts-of-totals",
        "events/lifecycle, Token usage",
        "Count cached and reasoning tokens inside the totals.",
        ("host-counts-the-cache-apart", _usage(inputTokens=1, cachedInputTokens=2)),
        content.uncounted_parts,
    ),
    _rule(
        "life-12-totals",
        "events/lifecycle, Token usage",
        "Give as a total the sum of input and output.",
        ("host-counts-otherwise", _usage(inputTokens=1, outputTokens=2, totalTokens=4)),
        content.wrong_totals,
    ),
    _rule(
        "tool-08-pending-calls",
        "events/tool-calls, Frontend tools",
        "Name, where any are named, exactly the calls left unanswered, in order.",
        (
            "host-names-other-pending-calls",
            ends_as("success", {"type": "success", "pendingToolCallIds": ["hp-c"]}),
        ),
        content.wrong_pending_calls,
    ),
    _rule(
        "state-01-whole-snapshots",
        "events/state, MESSAGES_SNAPSHOT",
        "Restate in a snapshot every message that the host owns.",
        (
            "host-restates-nothing",
            inserts(end=[event("MESSAGES_SNAPSHOT", messages=[])]),
        ),
        content.incomplete_snapshots,
        "should",
    ),
    _rule(
        "act-03-content-stays-an-object",
        "events/activity, ACTIVITY_DELTA",
        "Leave an activity's content an object.",
        (
            "host-patches-an-activity-away",
            inserts(
                start=[
                    event("ACTIVITY_SNAPSHOT", messageId="hp-a", activityType="x", content={}),
                    event(
                        "ACTIVITY_DELTA",
                        messageId="hp-a",
                        activityType="x",
                        patch=[{"op": "replace", "path": "", "value": 1}],
                    ),
                ]
            ),
        ),
        content.broken_activities,
    ),
    _rule(
        "meta-02-own-keys",
        "metadata, Keys",
        "Keep metadata under keys of your own.",
        ("host-uses-the-protocols-key", alters("RUN_STARTED", metadata={"ag-ui": 1})),
        content.reserved_keys,
        "guide",
    ),
    _rule(
        "pass-02-prefixed-names",
        "events/passthrough, CUSTOM",
        "Give custom events names with a prefix.",
        ("host-sends-a-bare-name", inserts(start=[event("CUSTOM", name="done", value=1)])),
        content.bare_names,
        "guide",
    ),
    stream_rule(
        "pass-01-raw-beside-standard",
        "events/passthrough, RAW",
        "Send raw events beside standard ones, not in their place.",
        ("host-says-all-in-raw", rewrites(_all_in("RAW"))),
        of_stream(partial(content.says_all_in, "RAW")),
        level="should",
        applies=named(*PLAIN),
    ),
    stream_rule(
        "pass-03-custom-is-no-standard",
        "events/passthrough, CUSTOM",
        "Say nothing in custom events that a standard event is for.",
        ("host-says-all-in-custom", rewrites(_all_in("CUSTOM"))),
        of_stream(partial(content.says_all_in, "CUSTOM")),
        applies=named(*PLAIN),
    ),
)
