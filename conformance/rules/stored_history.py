"""
Rules of the set ``safety`` on what a host keeps of a thread: calls, results, and what is open.

They read the observation beside the stream, and are judged only where a host offers one.

Source: safety, "Calls and their results" and "Nothing lost" (docs/safety.md).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final

from hostproof.conformance import history_faults
from hostproof.conformance.case import HUNG_UP
from hostproof.conformance.exchange import read_json
from hostproof.conformance.inside_reading import (
    calls,
    holds,
    imbalance,
    leaves_to_the_page,
    records,
    results,
    rows,
    sent_body,
)
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.rule import Breach, Fault
from hostproof.conformance.rules.model_requests import ANSWERED, PAIRS, in_areas, inside_rule
from hostproof.reference_impl.values import is_record, is_text
from hostproof.strategies.inside_changes import (
    ANNOUNCED,
    ORPHANS,
    OWN_RECORDS,
)
from hostproof.strategies.inside_changes import (
    ANSWERED as ANSWERED_CLIENT,
)

if TYPE_CHECKING:
    from hostproof.conformance.recording import Facts, Recording
    from hostproof.reference_impl.values import Record

TWO_CALLS: Final = "two_in_sequence"
RECORDS: Final = ("effects", "pauses", "decisions")
"""What a host alone writes of a thread."""


def stored_balanced(recording: Recording) -> Breach | None:
    """Demand that of a thread with nothing open every stored call has one result."""
    messages = rows(recording, "messages")
    found = imbalance(messages)
    if found is None or (rows(recording, "pauses") and found.startswith("a call")):
        return None
    return Breach(
        expected="one stored result for every call, and none for others",
        seen=found,
        place="messages",
    )


def one_result_each(recording: Recording) -> Breach | None:
    """
    Demand that no call gets more than one result in the streams of a thread.

    What a run says of a call while it asks the page about it, by a call that it leaves to
    the page, is no result yet.
    """
    told = Counter(
        str(event.members["toolCallId"])
        for exchange in recording.exchanges
        if not leaves_to_the_page(exchange)
        for event in exchange.events
        if event.type == "TOOL_CALL_RESULT" and is_text(event.members.get("toolCallId"))
    )
    if not told or max(told.values()) == 1:
        return None
    return Breach(
        expected="one result for every call",
        seen=f"{max(told.values())} results of one call",
        place="events",
    )


def keeps_siblings(recording: Recording) -> Breach | None:
    """Demand that of two calls of a turn both are stored, each with a result."""
    messages = rows(recording, "messages")
    answered = set(results(messages)) & {call["id"] for call in calls(messages)}
    if not messages or len(answered) > 1:
        return None
    return Breach(
        expected="both calls of the turn with their results",
        seen=f"{len(answered)} of them",
        place="messages",
    )


def settles_client_calls(recording: Recording) -> Breach | None:
    """Demand that a page's call is open no more once its result was taken."""
    if not _finished(recording) or not rows(recording, "pauses"):
        return None
    return Breach(
        expected="nothing open on the thread",
        seen="a pause that is still open",
        place="pauses",
    )


def _finished(recording: Recording) -> bool:
    """Say whether the request was taken, and its run left nothing to the page."""
    outcomes = [outcome_of(exchange) for exchange in recording.changed]
    return all(
        isinstance(one, Accepted) and one.outcome == "success" and not _left_open(one.finished)
        for one in outcomes
    )


def _left_open(finished: object) -> bool:
    outcome = finished.get("outcome") if is_record(finished) else None
    return is_record(outcome) and bool(outcome.get("pendingToolCallIds"))


def asks_a_page_once(recording: Recording) -> Breach | None:
    """Demand that a call of the page's that was answered is not made again as it was."""
    made = Counter(map(_as_made, calls(rows(recording, "messages"))))
    if not made or max(made.values()) == 1:
        return None
    return Breach(
        expected="the page's call once",
        seen="the same call once more, under another id",
        place="messages",
    )


def _as_made(call: Record) -> str:
    """Say what is called, and with what; how the arguments are spaced does not matter."""
    function = call.get("function")
    given = function if is_record(function) else {}
    arguments = read_json(str(given.get("arguments")))
    known = arguments if is_record(arguments) else None
    return json.dumps([str(given.get("name")), known], sort_keys=True)


def announced_as_stored(recording: Recording) -> Breach | None:
    """Demand that an open interrupt is stored under the id that the page was shown."""
    stored = [row.get("interruptId") for row in rows(recording, "pauses")]
    after = recording.after
    entries = [] if after is None else records(sent_body(after).get("resume"))
    shown = [entry.get("interruptId") for entry in entries]
    if not shown or not all(map(is_text, stored)) or not stored or set(shown) <= set(stored):
        return None
    return Breach(
        expected="the interrupt's id as it was announced",
        seen="another id",
        place="pauses",
    )


def records_stay(recording: Recording) -> Breach | None:
    """Demand that nothing of a page's state stands among the host's own records."""
    for name in RECORDS:
        if any(holds(row, recording.case.canary) for row in rows(recording, name)):
            return Breach(
                expected="records that the host alone writes",
                seen="what the page's state claimed",
                place=name,
            )
    return None


def _answers(case: Facts) -> bool:
    return case.kind == "answer" and case.area in ANSWERED and case.situation != "nested"


RULES: Final = (
    inside_rule(
        "history.results-match-calls",
        "Store one result for every call of a thread with nothing open, and none for others.",
        stored_balanced,
        (
            Fault(
                name="host-streams-a-result-and-forgets-it",
                build=history_faults.streams_and_forgets,
                shows_in=frozenset({"check_in-yes"}),
            ),
        ),
        lambda case: case.area in (ORPHANS, "failed-run") or case.id == HUNG_UP or _answers(case),
        clause=PAIRS,
        reads=("messages", "pauses"),
        severity="medium",
    ),
    inside_rule(
        "history.one-result-each",
        "Give one result for a call, on the run that asked and the runs after it.",
        one_result_each,
        (
            Fault(
                name="host-gives-a-result-twice",
                build=history_faults.Doubling.of,
                shows_in=frozenset({"check_in-yes"}),
            ),
        ),
        _answers,
        clause=PAIRS,
    ),
    inside_rule(
        "history.keeps-sibling-calls",
        "Keep every call of a turn with its result, where one of them waited for an answer.",
        keeps_siblings,
        (Fault(name="host-loses-the-calls-beside", build=history_faults.Single.of),),
        lambda case: case.area == "sequence" and case.situation == TWO_CALLS,
        clause=PAIRS,
        reads=("messages",),
        severity="medium",
    ),
    inside_rule(
        "history.settles-client-calls",
        "Close a page's call once its result was taken.",
        settles_client_calls,
        (
            Fault(
                name="host-leaves-a-client-call-pending",
                build=history_faults.never_settles_client_calls,
            ),
        ),
        in_areas(ANSWERED_CLIENT),
        clause=PAIRS,
        reads=("pauses",),
        severity="high",
    ),
    inside_rule(
        "history.asks-a-page-once",
        "Have the page run a tool once for one call, and go on with its result.",
        asks_a_page_once,
        (Fault(name="host-asks-a-page-again", build=history_faults.AskingAgain.of),),
        in_areas(ANSWERED_CLIENT),
        clause=PAIRS,
        reads=("messages",),
    ),
    inside_rule(
        "pause.stored-as-announced",
        "Store an interrupt under the id that the page is shown.",
        announced_as_stored,
        (Fault(name="host-announces-another-id", build=history_faults.announces_another_id),),
        in_areas(ANNOUNCED),
        clause="Nothing lost",
        reads=("pauses",),
        severity="high",
    ),
    inside_rule(
        "state.claims-no-records",
        "Let no state of a page write the host's own records: pauses, decisions, effects.",
        records_stay,
        (Fault(name="host-merges-a-pages-state", build=history_faults.merges_a_pages_state),),
        in_areas(OWN_RECORDS),
        clause="What a page says is no instruction",
        reads=("pauses",),
        cwe=915,
    ),
)
