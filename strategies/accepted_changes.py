"""
Changes that a host takes: unusual bodies that are right all the same.

A host that refuses one of these is too strict. They keep the other tables
honest: a host that refuses everything would pass those.

Source: contract, "Reader" and "Turn" (docs/contract.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.strategies.changes import (
    Change,
    assistant_message,
    tool_call,
    tool_message,
    user_message,
)
from hostproof.strategies.edits import Edit, drop, insert, put
from hostproof.strategies.plan_changes import FORM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostproof.reference_impl.values import Json


def _accepted(name: str, *edits: Edit) -> Change:
    return Change(id=name, area="accepted", code=None, edits=edits)


def _optional_members() -> Iterator[Change]:
    for member in ("tools", "context", "state", "forwardedProps", "protocolVersion"):
        yield _accepted(f"{member}-missing", drop(f"/{member}"))
    for member in ("tools", "context", "state", "resume"):
        yield _accepted(f"{member}-null", put(f"/{member}", None))
    yield _accepted("resume-empty-list", put("/resume", []))
    yield _accepted("state-empty-list", put("/state", []))


def _ids() -> Iterator[Change]:
    ids = {
        "punctuation": "a.b_c:d-e.{canary}",
        "digit-first": "0{canary}",
        "of-128": "{canary}" + "x" * 108,
        "constructor": "constructor.{canary}",
    }
    for kind, value in ids.items():
        yield _accepted(f"thread-id-{kind}", put("/threadId", value))
        yield _accepted(f"run-id-{kind}", put("/runId", value))
    yield _accepted("parent-run-id", put("/parentRunId", "{canary}"))
    yield _accepted("message-id-of-400", put("/messages/{last}/id", "{canary}" + "x" * 380))
    yield _accepted(
        "message-id-of-200-pairs", put("/messages/{last}/id", "{canary}" + "\U0001f600" * 190)
    )
    yield _accepted("message-id-odd", put("/messages/{last}/id", " {canary}\n<b>\u0000"))


def _unknown_members() -> Iterator[Change]:
    for name in ("x-{canary}", "__proto__", "constructor", "toString"):
        kind = name.replace("x-{canary}", "unknown").strip("_")
        yield _accepted(f"member-{kind}", put(f"/{name}", {"{canary}": [None, 1e300]}))
    yield _accepted("member-of-a-message", put("/messages/{last}/x-{canary}", "{canary}"))
    props: dict[str, Json] = {"text": "{canary}", "list": ["{canary}"], "null": None}
    for kind, value in props.items():
        yield _accepted(f"forwarded-{kind}", put("/forwardedProps", value))


def _history() -> Iterator[Change]:
    messages: dict[str, Json] = {
        "assistant-without-content": {"id": "m-0", "role": "assistant"},
        "assistant-with-null-calls": assistant_message(toolCalls=None),
        "assistant-with-calls": assistant_message(toolCalls=[tool_call()]),
        "tool": tool_message(),
        "reasoning": {"id": "m-0", "role": "reasoning", "content": "{canary}"},
        "activity": {"id": "m-0", "role": "activity", "activityType": "a", "content": {"q": 1}},
        "user-of-the-same-id": user_message("Earlier {canary}."),
    }
    for kind, message in messages.items():
        yield _accepted(f"history-{kind}", insert("/messages/0", message))
    text: Json = [{"type": "text", "text": "{plain}"}]
    long = "{canary} " + "word " * 40_000
    yield _accepted("message-of-200-kb", put("/messages/{last}/content", long))
    yield _accepted("content-of-one-part", put("/messages/{last}/content", text))
    yield _accepted(
        "content-in-any-script",
        put("/messages/{last}/content", "\u00e9\u4e2d\u0645\U0001f600\u200b\u2028 {canary}"),
    )


def _tools() -> Iterator[Change]:
    yield _accepted("tool-allowed", put("/tools", [FORM]))
    bare: Json = {"name": "show_form"}
    yield _accepted("tool-with-a-name-only", put("/tools", [bare]))


ACCEPTED_CHANGES: Final[tuple[Change, ...]] = (
    *_optional_members(),
    *_ids(),
    *_unknown_members(),
    *_history(),
    *_tools(),
)
"""Every unusual body that is right, as a change to the plain one."""
