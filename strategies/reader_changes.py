"""
Changes that break the shape of a body: each owes ``ERR_INVALID_RUN_INPUT``.

Source: contract, "Reader" (docs/contract.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hostproof.strategies.changes import (
    Change,
    assistant_message,
    tool_call,
    tool_message,
    wrong,
)
from hostproof.strategies.edits import Edit, drop, insert, put

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostproof.reference_impl.values import Json

CODE: Final = "ERR_INVALID_RUN_INPUT"
ASTRAL: Final = "\U0001f600"

BAD_RUN_IDS: Final[dict[str, str]] = {
    "empty": "",
    "of-129": "{canary}" + "x" * 109,
    "of-65-pairs": ASTRAL * 65,
    "first-dash": "-{canary}",
    "first-dot": ".{canary}",
    "path": "../{canary}",
    "space": "a {canary}",
    "final-newline": "{canary}\n",
    "crlf": "{canary}\r\nx: y",
    "markup": "a<b>{canary}",
    "nul": "{canary}\x00",
    "other-digit": "{canary}\u0663",
    "full-width": "\uff41{canary}",
    "accent": "{canary}\u00e9",
    "proto": "__proto__",
}
BAD_ITEM_IDS: Final[dict[str, Json]] = {
    **wrong("text"),
    "empty": "",
    "of-401": "{canary}" + "x" * 381,
    "of-201-pairs": ASTRAL * 201,
}


def _change(name: str, field: str | None, *edits: Edit) -> Change:
    area = re.sub(r"\[[^]]*\]", "", field or "body")
    return Change(id=name, area=area, code=CODE, field=field, edits=edits)


def _members(
    name: str, path: str, field: str, values: dict[str, Json], *before: Edit, required: bool = True
) -> Iterator[Change]:
    """Change one member to each value; where it is *required*, leave it off too."""
    if required:
        yield _change(f"{name}-missing", field, *before, drop(path))
    for kind, value in values.items():
        yield _change(f"{name}-{kind}", field, *before, put(path, value))


def _bodies() -> Iterator[Change]:
    for kind, value in wrong("object").items():
        yield _change(f"body-{kind}", None, put("", value))
    yield _change("body-empty-object", "threadId", put("", {}))


def _run_ids() -> Iterator[Change]:
    bad: dict[str, Json] = {**wrong("text"), **BAD_RUN_IDS}
    yield from _members("thread-id", "/threadId", "threadId", bad)
    yield from _members("run-id", "/runId", "runId", bad)
    yield from _members("parent-run-id", "/parentRunId", "parentRunId", bad, required=False)


def _messages() -> Iterator[Change]:
    yield from _members("messages", "/messages", "messages", wrong("list"))
    last, at = "/messages/{last}", "messages[{last}]"
    yield from _members("message", last, at, wrong("object"), required=False)
    yield from _members("message-id", f"{last}/id", f"{at}.id", BAD_ITEM_IDS)
    roles: dict[str, Json] = {
        **wrong("text"),
        "unknown": "{canary}",
        "empty": "",
        "upper-case": "USER",
        "spaced": "user ",
        "function": "function",
    }
    yield from _members("role", f"{last}/role", f"{at}.role", roles)
    earlier: Json = {"id": "", "role": "user", "content": "{canary}"}
    yield _change("earlier-message-id-empty", "messages[0].id", insert("/messages/0", earlier))


def _contents() -> Iterator[Change]:
    last, at = "/messages/{last}/content", "messages[{last}].content"
    yield from _members("content", last, at, wrong("text", "list"))
    parts: dict[str, Json] = {
        "part-null": [None],
        "part-text": ["{canary}"],
        "part-list": [["{canary}"]],
        "part-without-type": [{"text": "{canary}"}],
        "part-type-number": [{"type": 8675309, "text": "{canary}"}],
        "part-type-null": [{"type": None, "text": "{canary}"}],
        "part-without-text": [{"type": "text"}],
        "part-text-null": [{"type": "text", "text": None}],
        "part-text-number": [{"type": "text", "text": 8675309}],
        "second-part-bad": [{"type": "text", "text": "a"}, {"type": "text", "text": ["{canary}"]}],
    }
    yield from _members("content", last, at, parts, required=False)
    before = insert("/messages/0", assistant_message())
    path, field = "/messages/0/content", "messages[0].content"
    bad = wrong("text", "list")
    yield from _members("assistant-content", path, field, bad, before, required=False)
    before = insert("/messages/0", tool_message())
    yield from _members("tool-content", path, field, bad, before)


def _calls() -> Iterator[Change]:
    before = insert("/messages/0", tool_message())
    path, field = "/messages/0/toolCallId", "messages[0].toolCallId"
    yield from _members("tool-call-id", path, field, BAD_ITEM_IDS, before)
    before = insert("/messages/0", assistant_message(toolCalls=[tool_call()]))
    path, field = "/messages/0/toolCalls", "messages[0].toolCalls"
    not_lists = wrong("list", "null")
    yield from _members("tool-calls", path, field, not_lists, before, required=False)
    path, field = f"{path}/0", f"{field}[0]"
    yield from _members("call", path, field, wrong("object"), before, required=False)
    yield from _members("call-function", f"{path}/function", field, wrong("object"), before)
    yield from _members("call-id", f"{path}/id", f"{field}.id", BAD_ITEM_IDS, before)
    for member in ("name", "arguments"):
        yield from _members(
            f"call-{member}",
            f"{path}/function/{member}",
            f"{field}.function",
            wrong("text"),
            before,
        )


def _tools() -> Iterator[Change]:
    yield from _members("tools", "/tools", "tools", wrong("list", "null"), required=False)
    entries: dict[str, Json] = {
        **wrong("object"),
        "without-name": {"description": "{canary}"},
        "name-empty": {"name": ""},
        "name-null": {"name": None},
        "name-number": {"name": 8675309},
        "name-of-65": {"name": "{canary}" + "x" * 45},
        "name-spaced": {"name": "show form {canary}"},
        "name-dotted": {"name": "{canary}.x"},
        "name-accent": {"name": "{canary}\u00e9"},
        "name-final-newline": {"name": "{canary}\n"},
    }
    for kind, value in entries.items():
        yield _change(f"tool-{kind}", "tools[0].name", put("/tools", [value]))
    twice: Json = [{"name": "{canary}"}, {"name": "{canary}"}]
    yield _change("tool-name-twice", "tools[1].name", put("/tools", twice))


def _context() -> Iterator[Change]:
    yield from _members("context", "/context", "context", wrong("list", "null"), required=False)
    good: Json = {"description": "d {canary}", "value": "v {canary}"}
    entry = put("/context", [good])
    path, field = "/context/0", "context[0]"
    yield from _members("context-entry", path, field, wrong("object"), entry, required=False)
    for member in ("description", "value"):
        yield from _members(f"context-{member}", f"{path}/{member}", field, wrong("text"), entry)


def _resume() -> Iterator[Change]:
    yield from _members("resume", "/resume", "resume", wrong("list", "null"), required=False)
    entry: Json = {"interruptId": "i {canary}", "status": "resolved", "payload": "{canary}"}
    given = put("/resume", [entry])
    path, field = "/resume/0", "resume[0]"
    yield from _members("resume-entry", path, field, wrong("object"), given, required=False)
    yield from _members(
        "interrupt-id", f"{path}/interruptId", f"{field}.interruptId", BAD_ITEM_IDS, given
    )
    statuses: dict[str, Json] = {
        **wrong("text"),
        "unknown": "{canary}",
        "empty": "",
        "upper-case": "RESOLVED",
        "canceled": "canceled",
    }
    yield from _members("status", f"{path}/status", f"{field}.status", statuses, given)


READER_CHANGES: Final[tuple[Change, ...]] = (
    *_bodies(),
    *_run_ids(),
    *_messages(),
    *_contents(),
    *_calls(),
    *_tools(),
    *_context(),
    *_resume(),
)
"""Every change that breaks a body's shape, in the order in which a reader looks."""
