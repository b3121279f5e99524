"""
Rules of the set ``ag-ui`` on a run's input: what makes it invalid, and what must not.

The reference refuses media by design; those rules are proved on a variant that takes it.

Source: AG-UI 1.1, run-input, processing, versioning, metadata, events/reasoning.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hostproof.conformance import agui_input_faults as faults
from hostproof.conformance.agui_faults import unbroken, without
from hostproof.conformance.agui_reading import Reading, reading_of, readings
from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.rule import Breach, Fault
from hostproof.conformance.rules.ag_ui import (
    PLAIN,
    ag_ui_rule,
    named,
    never_runs,
    runs_as_control,
)
from hostproof.conformance.tolerance import tolerant_reader
from hostproof.reference_impl.values import is_record, is_text
from hostproof.strategies.ag_ui_changes import NEWER_MINORS, OTHER_MAJORS, UNREADABLE
from hostproof.strategies.reader_changes import READER_CHANGES

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.recording import Recording
    from hostproof.conformance.rule import Build, Judge, Level, Rule
    from hostproof.reference_impl.values import Json

VERSION: Final = re.compile(r"[0-9]+\.[0-9]+")
RUN_INPUT: Final = "run-input"
VERSIONING: Final = "versioning, Version negotiation"

_WRONG: Final = re.compile(
    r"(thread-id|run-id|parent-run-id|messages|message|message-id|content|tool-content"
    r"|tool-call-id|tool-calls|call|call-id|call-function|call-name|call-arguments"
    r"|tools|tool|context|context-entry|context-description|context-value"
    r"|resume|resume-entry|interrupt-id)-(missing|true|number|text|list|object)"
)

INVALID: Final = frozenset(change.id for change in READER_CHANGES if _WRONG.fullmatch(change.id))
"""Bodies with a member of a wrong type, or without a required one, as the schema has it."""

UNPARSED: Final = frozenset(
    {"text-nothing", "text-word", "text-cut", "body-list", "body-text", "invalid-utf-8"}
)
"""What is no JSON object."""

MEMBERS: Final = frozenset(
    {
        "member-unknown",
        "member-of-a-message",
        "member-of-a-part",
        "member-of-a-tool",
        "member-of-a-context-entry",
        "member-of-a-resume-entry",
    }
)
"""An unknown member at each depth."""


def _version_cases(*versions: str) -> tuple[str, ...]:
    return tuple(f"version-{version}" for version in versions)


def declares_a_version(recording: Recording) -> Breach | None:
    """Demand the version on the run that was asked for."""
    for where, reading in readings(recording):
        started = [one for one in reading.events if one.get("type") == "RUN_STARTED"]
        if started and "protocolVersion" not in started[-1]:
            return Breach(
                expected="protocolVersion on RUN_STARTED",
                seen="none",
                place=f"{where}RUN_STARTED",
            )
    return None


def _declared(reading: Reading | None) -> Json:
    events = () if reading is None else reading.events
    started = [one for one in events if one.get("type") == "RUN_STARTED"]
    return started[-1].get("protocolVersion") if started else None


def declares_its_own(recording: Recording) -> Breach | None:
    """Demand the host's own version, and one of major and minor."""
    for exchange in recording.changed:
        reading = reading_of(exchange)
        version = _declared(reading)
        if not is_text(version):
            continue
        if VERSION.fullmatch(version) is None:
            return Breach(expected="a version of major and minor", seen="another text")
        asked = None if reading is None else reading.input.get("protocolVersion")
        if version == asked and recording.case.id in _version_cases("1.99"):
            return Breach(expected="the host's own version", seen="the client's")
    return None


def serves_newer_minors(recording: Recording) -> Breach | None:
    """Demand a run, and the same declared version as in the control."""
    breach = runs_as_control(recording)
    if breach is not None or recording.control is None:
        return breach
    before = _declared(reading_of(recording.control))
    if any(_declared(reading_of(one)) != before for one in recording.changed):
        return Breach(expected="the version that the control declares", seen="another")
    return None


def rejects_only_other_majors(recording: Recording) -> Breach | None:
    """Demand a run for what is no version, and for another major a run or an early refusal."""
    if recording.case.id in _version_cases(*UNREADABLE):
        return runs_as_control(recording)
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        begun = any(event.type == "RUN_STARTED" for event in exchange.events)
        if isinstance(outcome, Refused) and begun:
            return Breach(expected="a refusal before the run", seen="a run that began")
    return None


def ends_as_control(recording: Recording) -> Breach | None:
    """Demand the control's outcome, and text where the control has text."""
    control = recording.control
    if control is None:
        return None
    for exchange in recording.changed:
        before, after = outcome_of(control), outcome_of(exchange)
        if not isinstance(before, Accepted) or not isinstance(after, Accepted):
            continue
        if before.outcome != after.outcome:
            return Breach(expected="the control's outcome", seen=after.describe())
        if _has_text(control) and not _has_text(exchange):
            return Breach(expected="the control's message", seen="no message")
    return None


def _has_text(exchange: Exchange) -> bool:
    return any(event.type.startswith("TEXT_MESSAGE_") for event in exchange.events)


def keeps_nulls(recording: Recording) -> Breach | None:
    """Demand that null under a key of the state is still there where the state is shown."""
    for exchange in recording.changed:
        reading = reading_of(exchange)
        for index, event in enumerate(reading.events if reading else ()):
            shown = event.get("snapshot")
            if event.get("type") != "STATE_SNAPSHOT" or not is_record(shown):
                continue
            if shown.get("page") == recording.case.canary and "nothing" not in shown:
                return Breach(
                    expected="null under a key, as it was sent",
                    seen="a state without the key",
                    place=f"events[{index}].snapshot",
                )
    return None


def repeats_its_context(recording: Recording) -> Breach | None:
    """Demand that what the context says comes back from a model that is told to repeat it."""
    for exchange in recording.changed:
        reading = reading_of(exchange)
        if reading is None or not isinstance(outcome_of(exchange), Accepted):
            continue
        said = "".join(str(event.get("delta", "")) for event in reading.events)
        if recording.case.canary not in said:
            return Breach(expected="the context in the model's answer", seen="an answer without it")
    return None


def _input_rule(
    name: str,
    where: str,
    demand: str,
    fault: tuple[str, Build],
    cases: frozenset[str] | tuple[str, ...],
    *,
    judge: Judge = runs_as_control,
    mended: Build | None = None,
    shows_in: frozenset[str] = frozenset(),
    level: Level = "must",
    document: str = "AG-UI 1.0",
) -> Rule:
    """Declare a rule on cases by name; they must run as their control unless *judge* says else."""
    made = Fault(name=fault[0], build=fault[1], shows_in=shows_in, mended=mended)
    return ag_ui_rule(
        name,
        where,
        demand,
        judge,
        made,
        level=level,
        applies=named(*cases),
        document=document,
    )


VALIDITY: Final = (
    _input_rule(
        "in-01-refuses-invalid-input",
        "processing, Outgoing material; run-input, Error Handling",
        "Refuse, before any run, input with a known member that the schema rejects.",
        ("host-runs-without-a-right-thread-id", tolerant_reader("threadId")),
        INVALID,
        judge=never_runs,
        shows_in=frozenset({"thread-id-number"}),
    ),
    _input_rule(
        "in-02-refuses-no-json",
        "run-input, Error Handling",
        "Refuse, before any run, input that does not parse.",
        ("host-runs-what-is-no-json", faults.takes_no_json),
        UNPARSED,
        judge=never_runs,
        level="should",
    ),
    _input_rule(
        "in-03-takes-unknown-members",
        "processing, Outgoing material",
        "Run input with unknown members, at any depth, without them.",
        ("host-refuses-unknown-members", faults.refuses("body", faults.has_unknown_members)),
        MEMBERS,
    ),
    _input_rule(
        "in-04-takes-unknown-parts",
        "processing, The rule",
        "Run input with a part of an unknown type, without the part.",
        ("host-refuses-unknown-parts", unbroken),
        ("part-unknown", "part-upper-case"),
        mended=faults.skips_media,
    ),
    _input_rule(
        "in-05-skips-media",
        f"{RUN_INPUT}, messages",
        "Skip a part that the model cannot use, and go on.",
        ("host-refuses-media", unbroken),
        ("part-image", "part-audio", "part-video", "part-document"),
        mended=faults.skips_media,
    ),
    _input_rule(
        "in-06-skips-file-handles",
        f"{RUN_INPUT}, Provider file handles",
        "Skip a file handle that cannot be resolved, and go on.",
        ("host-refuses-file-handles", unbroken),
        ("part-file-handle",),
        mended=faults.skips_media,
    ),
    _input_rule(
        "tool-04-skips-media-in-results",
        "events/tool-calls, Result content",
        "Take a result whose parts the model cannot use, and answer the call all the same.",
        ("host-refuses-media-in-a-result", unbroken),
        ("result-of-one-image",),
        mended=faults.skips_media,
    ),
    _input_rule(
        "in-12-no-tools",
        f"{RUN_INPUT}, tools",
        "Treat input without tools as input with none.",
        ("host-wants-tools", faults.refuses("tools", lambda body: "tools" not in body)),
        ("tools-missing",),
    ),
    _input_rule(
        "in-12-no-context",
        f"{RUN_INPUT}, context",
        "Treat input without context as input with none.",
        ("host-wants-context", faults.refuses("context", lambda body: "context" not in body)),
        ("context-missing",),
        level="should",
    ),
    _input_rule(
        "in-13-context-reaches-the-model",
        f"{RUN_INPUT}, context",
        "Let every entry of the context reach the model.",
        ("host-forgets-its-context", faults.rereads(lambda body: {**body, "context": []})),
        ("context-repeated",),
        judge=repeats_its_context,
        level="should",
    ),
    _input_rule(
        "gen-04-null-is-data",
        "model, Absent means absent",
        "Keep null under a key of the state: it is data there.",
        ("host-drops-nulls", faults.answers_by_its_input(faults.drops_nulls)),
        ("state-with-a-null",),
        judge=keeps_nulls,
    ),
    _input_rule(
        "meta-03-takes-metadata",
        "metadata, The value",
        "Take metadata under any key.",
        ("host-refuses-metadata", faults.refuses("metadata", faults.has_metadata)),
        ("metadata-of-a-message", "metadata-of-a-tool", "metadata-of-a-resume-entry"),
        level="should",
    ),
    _input_rule(
        "rsn-06-takes-untyped-values",
        "events/reasoning, encryptedValueType",
        "Take an encrypted value without a type.",
        (
            "host-refuses-untyped-values",
            faults.refuses("messages", faults.has_encrypted_values(typed=False)),
        ),
        ("encrypted-value",),
        document="AG-UI 1.1",
    ),
    _input_rule(
        "rsn-07-takes-unknown-types",
        "events/reasoning, encryptedValueType",
        "Drop an encrypted value of an unknown type rather than the run.",
        (
            "host-refuses-unknown-types",
            faults.refuses("messages", faults.has_encrypted_values(typed=True)),
        ),
        ("encrypted-value-of-a-type",),
        level="guide",
        document="AG-UI 1.1",
    ),
)

VERSIONS: Final = (
    ag_ui_rule(
        "ver-01-declares-its-version",
        VERSIONING,
        "Declare the version on RUN_STARTED.",
        declares_a_version,
        Fault(
            name="host-declares-no-version",
            build=without("RUN_STARTED", "protocolVersion"),
            shows_in=PLAIN,
        ),
        on_control=True,
    ),
    _input_rule(
        "ver-02-its-own-version",
        VERSIONING,
        "Declare the version of your own, as major and minor, and never an echo.",
        ("host-echoes-the-version", faults.answers_by_its_input(faults.echoes_the_version)),
        _version_cases("1.1", *NEWER_MINORS, *OTHER_MAJORS, *UNREADABLE),
        judge=declares_its_own,
        level="should",
    ),
    _input_rule(
        "ver-03-serves-newer-minors",
        VERSIONING,
        "Serve a client of a newer minor version, with your own.",
        ("host-refuses-newer-minors", faults.refuses("protocolVersion", faults.later_minor)),
        _version_cases(*NEWER_MINORS),
        judge=serves_newer_minors,
    ),
    _input_rule(
        "ver-04-rejects-only-other-majors",
        VERSIONING,
        "Reject, if at all, only another major version, and before the run.",
        (
            "host-refuses-unreadable-versions",
            faults.refuses("protocolVersion", faults.unreadable_version),
        ),
        _version_cases(*OTHER_MAJORS, *UNREADABLE),
        judge=rejects_only_other_majors,
        level="should",
    ),
    _input_rule(
        "ver-06-serves-the-unversioned",
        VERSIONING,
        "Serve a client that declares no version as one of the current version.",
        (
            "host-wants-a-version",
            faults.refuses("protocolVersion", lambda body: "protocolVersion" not in body),
        ),
        ("protocolVersion-missing",),
    ),
    _input_rule(
        "ver-07-keeps-the-outcome",
        "versioning, Downgrading",
        "Keep the outcome and the messages, whatever version the client declares.",
        (
            "host-ends-otherwise-for-the-unversioned",
            faults.answers_by_its_input(faults.cancels_for_the_old),
        ),
        ("protocolVersion-missing", "version-1.1"),
        judge=ends_as_control,
    ),
)

RULES: Final = (*VALIDITY, *VERSIONS)
