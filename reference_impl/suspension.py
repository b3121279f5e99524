"""
A stored pause record, checked before anything is matched to it.

The store holds bytes. A record that is not one we wrote is no record, and no
answer is matched to it.

Source: contract, "Suspension" (docs/contract.md).
"""

from __future__ import annotations

from typing import Final, NotRequired, TypedDict, cast

from hostproof.reference_impl.values import Json, Record, is_record, is_text, is_texts

VERSION: Final = 1


class OpenCall(TypedDict):
    """A tool call a paused scope has open; *client* says the page runs it."""

    toolCallId: str
    client: bool


class SuspendedCall(OpenCall):
    """The call a run is paused on, and the mounts (agent names) it was made under."""

    mount: list[str]


class Scope(TypedDict):
    """One agent of the paused run, outermost first."""

    mount: list[str]
    steps: list[str]
    calls: list[OpenCall]
    subagentRunId: NotRequired[str]
    name: NotRequired[str]
    parentSubagentRunId: NotRequired[str]
    messageId: NotRequired[str]


class Suspension(TypedDict):
    """What the wire needs to go on with a paused run."""

    version: int
    runId: str
    rootAgent: bool
    scopes: list[Scope]
    interruptId: NotRequired[str]
    call: NotRequired[SuspendedCall]


def read_suspension(value: Json) -> Suspension | None:
    """
    Read a stored pause record.

    Returns:
        The record itself, unchanged, or ``None`` when it is not one we wrote.
    """
    if not is_record(value) or not _is_version(value.get("version")):
        return None
    if not is_text(value.get("runId")) or not _optional_text(value, "interruptId"):
        return None
    if not isinstance(value.get("rootAgent"), bool) or not isinstance(value.get("scopes"), list):
        return None
    if "call" in value and not _is_suspended_call(value["call"]):
        return None
    if not all(_is_scope(scope) for scope in value["scopes"]):
        return None
    return cast("Suspension", value)


def _is_version(value: Json) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and value == VERSION


def _optional_text(record: Record, name: str) -> bool:
    return name not in record or is_text(record[name])


def _is_open_call(value: Json) -> bool:
    return (
        is_record(value)
        and is_text(value.get("toolCallId"))
        and isinstance(value.get("client"), bool)
    )


def _is_suspended_call(value: Json) -> bool:
    return _is_open_call(value) and is_texts(value.get("mount"))


def _is_scope(value: Json) -> bool:
    return (
        is_record(value)
        and is_texts(value.get("mount"))
        and is_texts(value.get("steps"))
        and isinstance(calls := value.get("calls"), list)
        and all(_is_open_call(call) for call in calls)
        and all(
            _optional_text(value, name)
            for name in ("subagentRunId", "name", "parentSubagentRunId", "messageId")
        )
    )
