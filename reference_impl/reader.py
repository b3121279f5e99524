"""
One AG-UI request body, read as untrusted input: a checked request or a refusal.

A reader only maps: it hands over a body in the shape of a ``RunAgentInput``.
What is demanded of that body is decided here, whichever reader produced it.
The default reader is the body itself; a gateway with a body of its own puts
its own reader in front (:func:`read_request`).

Every refusal names the member and quotes nothing.

Source: contract, "Reader" (docs/contract.md).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypeAlias, TypedDict, cast

from hostproof.reference_impl.plain_json import plain_json
from hostproof.reference_impl.refusals import Refusal, malformed
from hostproof.reference_impl.values import Json, Record, is_record, is_text, utf16_length

MAX_ID_LENGTH: Final = 128
"""Longest thread, run and parent run id, in UTF-16 code units."""

MAX_ITEM_ID_LENGTH: Final = 400
"""Longest message, tool call and interrupt id, in UTF-16 code units."""

ROLES: Final = frozenset(
    {"user", "assistant", "tool", "system", "developer", "reasoning", "activity"}
)
"""The roles of AG-UI messages."""

RUN_ID_ALPHABET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FEW: Final = MAX_ITEM_ID_LENGTH // 2
STATUSES: Final = frozenset({"resolved", "cancelled"})


class RunInput(TypedDict):
    """
    A checked request: the body as it came, with its lists made present.

    Members the contract does not name stay where they are.
    """

    threadId: str
    runId: str
    messages: list[Record]
    tools: list[Record]
    context: list[Record]
    parentRunId: NotRequired[str]
    resume: NotRequired[list[Record] | None]
    state: NotRequired[Json]
    forwardedProps: NotRequired[Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderRequest:
    """What a reader is given: the parsed body, and the request's headers (lower-case names)."""

    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


Reader: TypeAlias = Callable[[ReaderRequest], Json]
"""Maps a request to a body in the shape of a ``RunAgentInput``, at once."""


def run_input_reader(request: ReaderRequest) -> Json:
    """Hand over the body as it is: the default reader."""
    return request.body


def read_request(reader: Reader, request: ReaderRequest) -> RunInput:
    """
    Read one request through *reader*, and check what it produced.

    What another reader than the default one answers is first copied as plain
    JSON, so that no object can show the check one thing and the plan another.

    Raises:
        Refusal: the reader's own, or ``ERR_INVALID_RUN_INPUT`` (400). An error
            of the reader never shows its message, which may quote the body.
        TypeError: the reader answers later (an awaitable): a wiring mistake.
    """
    if reader is run_input_reader:
        return read_run_input(request.body)
    unreadable = False
    answer: Json = None
    produced: Json = None
    try:
        answer = reader(request)
        if not inspect.isawaitable(answer):
            produced = plain_json(answer)
    except Refusal:
        raise
    except Exception:  # noqa: BLE001 - the reader's own failure, whatever it is
        unreadable = True
    if unreadable:
        raise malformed(None, "The request reader could not read the body.")
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError(
            "a reader returns the request itself, not an awaitable: make it a plain def"
        )
    return read_run_input(produced)


def read_run_input(body: Json) -> RunInput:
    """
    Check one body: the shape of its members, and the form and length of its ids.

    The first fault in the order of the contract decides. Nothing nested that
    the contract does not name is looked at, so its depth does not matter.

    Raises:
        Refusal: ``ERR_INVALID_RUN_INPUT`` (400), with the member as ``field``.
    """
    if not is_record(body):
        raise malformed(None, "The body must be a RunAgentInput object.")
    _run_id(body.get("threadId"), "threadId")
    _run_id(body.get("runId"), "runId")
    if "parentRunId" in body:
        _run_id(body["parentRunId"], "parentRunId")
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise malformed("messages", "`messages` must be an array.")
    for at, message in enumerate(messages):
        if not _is_plain_message(message):
            _message(message, f"messages[{at}]")
    tools = _list(body.get("tools"), "tools")
    _tools(tools)
    context = _list(body.get("context"), "context")
    for at, entry in enumerate(context):
        _context_entry(entry, f"context[{at}]")
    resume = _list(body.get("resume"), "resume")
    for at, entry in enumerate(resume):
        _resume_entry(entry, f"resume[{at}]")
    checked = {**body, "messages": messages, "tools": tools, "context": context}
    if resume:
        checked["resume"] = resume
    return cast("RunInput", checked)


def _run_id(value: Json, name: str) -> None:
    if not is_text(value) or not value:
        raise malformed(name, f"`{name}` must be a non-empty string.")
    if utf16_length(value) > MAX_ID_LENGTH:
        raise malformed(name, f"`{name}` is longer than {MAX_ID_LENGTH} characters.")
    if RUN_ID_ALPHABET.fullmatch(value) is None:
        raise malformed(
            name,
            f"`{name}` may hold letters, digits and . _ : - only, a letter or digit first.",
        )


def _item_id(value: Json, name: str) -> None:
    if not is_text(value) or not value:
        raise malformed(name, f"`{name}` must be a non-empty string.")
    if utf16_length(value) > MAX_ITEM_ID_LENGTH:
        raise malformed(name, f"`{name}` is longer than {MAX_ITEM_ID_LENGTH} characters.")


def _list(value: Json, name: str) -> list[Record]:
    """Read an optional list; its entries are checked by the caller."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise malformed(name, f"`{name}` must be an array.")
    return value


def _is_plain_message(message: Json) -> bool:
    """
    Recognise the messages most requests are made of, quickly.

    True only for what :func:`_message` takes; anything else goes to it, to be
    taken or refused by name. So few characters are few enough code units for
    an id, in any script.
    """
    if type(message) is not dict:
        return False
    item_id = message.get("id")
    if type(item_id) is not str or not 0 < len(item_id) <= _FEW:
        return False
    role = message.get("role")
    content = message.get("content")
    if type(content) is not str:
        return role == "user" and type(content) is list and _are_plain_parts(content)
    if role == "user":
        return True
    if role == "tool":
        call_id = message.get("toolCallId")
        return type(call_id) is str and 0 < len(call_id) <= _FEW
    return role == "assistant" and _are_plain_calls(message.get("toolCalls", ()))


def _are_plain_parts(parts: list[Json]) -> bool:
    for part in parts:
        if type(part) is not dict or part.get("type") != "text":
            return False
        if type(part.get("text")) is not str:
            return False
    return True


def _are_plain_calls(calls: Json) -> bool:
    if type(calls) is not list and calls != ():
        return False
    for call in calls:
        if type(call) is not dict:
            return False
        call_id = call.get("id")
        function = call.get("function")
        if type(call_id) is not str or not 0 < len(call_id) <= _FEW or type(function) is not dict:
            return False
        if type(function.get("name")) is not str or type(function.get("arguments")) is not str:
            return False
    return True


def _message(message: Json, at: str) -> None:
    if not is_record(message):
        raise malformed(at, f"`{at}` must be an object.")
    _item_id(message.get("id"), f"{at}.id")
    role = message.get("role")
    if not is_text(role) or role not in ROLES:
        raise malformed(f"{at}.role", f"`{at}.role` is no AG-UI role.")
    if role in ("user", "tool"):
        _content(message.get("content"), at)
        if role == "tool":
            _item_id(message.get("toolCallId"), f"{at}.toolCallId")
    elif role == "assistant":
        if "content" in message:
            _content(message["content"], at)
        for index, call in enumerate(_list(message.get("toolCalls"), f"{at}.toolCalls")):
            _tool_call(call, f"{at}.toolCalls[{index}]")


def _content(value: Json, at: str) -> None:
    if is_text(value):
        return
    name = f"{at}.content"
    if not isinstance(value, list):
        raise malformed(name, f"`{name}` must be a string or a list of parts.")
    for part in value:
        if not is_record(part) or not is_text(kind := part.get("type")):
            raise malformed(name, f"Every part of `{name}` must have a `type`.")
        if kind == "text" and not is_text(part.get("text")):
            raise malformed(name, f"A text part of `{name}` must have a `text`.")


def _tool_call(call: Json, at: str) -> None:
    if not is_record(call) or not is_record(function := call.get("function")):
        raise malformed(at, f"`{at}` must be a function call.")
    _item_id(call.get("id"), f"{at}.id")
    if not is_text(function.get("name")) or not is_text(function.get("arguments")):
        raise malformed(
            f"{at}.function", f"`{at}.function` must have the strings `name` and `arguments`."
        )


def _tools(tools: list[Record]) -> None:
    seen: set[str] = set()
    for at, tool in enumerate(tools):
        name = tool.get("name") if is_record(tool) else None
        if not is_text(name) or TOOL_NAME.fullmatch(name) is None:
            raise malformed(
                f"tools[{at}].name",
                f"`tools[{at}].name` must be a tool name: 1 to 64 letters, digits, _ and -.",
            )
        if name in seen:
            raise malformed(f"tools[{at}].name", f"`tools[{at}].name` is declared twice.")
        seen.add(name)


def _context_entry(entry: Json, at: str) -> None:
    if (
        not is_record(entry)
        or not is_text(entry.get("description"))
        or not is_text(entry.get("value"))
    ):
        raise malformed(at, f"`{at}` must have the strings `description` and `value`.")


def _resume_entry(entry: Json, at: str) -> None:
    if not is_record(entry):
        raise malformed(at, f"`{at}` must be an object.")
    _item_id(entry.get("interruptId"), f"{at}.interruptId")
    status = entry.get("status")
    if not is_text(status) or status not in STATUSES:
        raise malformed(f"{at}.status", f"`{at}.status` must be 'resolved' or 'cancelled'.")
