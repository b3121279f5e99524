"""Exchanges and recordings made by hand, and a target that plays a script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hostproof.conformance.exchange import Event, Exchange, Request, read_json
from hostproof.conformance.recording import Facts, Owed, Recording
from hostproof.reference_impl.values import MISSING, is_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.conformance.target import Limits

CANARY = "hp0123456789abcdef01"
POST = Request(method="POST", path="/agui", body=b'{"threadId":"t"}')
STREAM = "text/event-stream"
PROBLEM = "application/problem+json"
STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def answer(
    body: bytes | str = b"",
    content_type: str | None = None,
    status: int | None = 200,
    end: Any = "complete",
    request: Request = POST,
    **members: Any,
) -> Exchange:
    headers = members.pop("headers", ())
    if content_type is not None:
        headers = (("content-type", content_type), *headers)
    data = body.encode() if isinstance(body, str) else body
    return Exchange(
        request=request,
        status=status,
        headers=headers,
        body=data,
        end=end,
        seconds=0.1,
        **members,
    )


def stream(
    *events: Any, end: Any = "complete", request: Request = POST, **members: Any
) -> Exchange:
    """Make a 200 stream; an event that is a text is its data as it stands."""
    texts = [event if isinstance(event, str) else json.dumps(event) for event in events]
    values = [read_json(text) for text in texts]
    made = tuple(
        Event(data=text, value=value if is_record(value) else MISSING, offset=0, seconds=0.1)
        for text, value in zip(texts, values, strict=True)
    )
    body = "".join(f"data: {text}\n\n" for text in texts)
    return answer(body, STREAM, end=end, request=request, events=made, **members)


def ran(request: Request = POST, **members: Any) -> Exchange:
    return stream(STARTED, FINISHED, request=request, **members)


def problem(
    status: int = 400,
    code: str | None = "ERR_INVALID_RUN_INPUT",
    field: str | None = None,
    request: Request = POST,
    **members: Any,
) -> Exchange:
    document = {"type": "about:blank", "title": "No.", "status": status, "code": code}
    document |= {} if field is None else {"field": field}
    return answer(json.dumps(document), PROBLEM, status, request=request, **members)


def error(code: str | None = None, message: str = "No.", **metadata: Any) -> dict[str, Any]:
    event: dict[str, Any] = {"type": "RUN_ERROR", "message": message}
    event |= {} if code is None else {"code": code}
    return event | ({"metadata": {"hostproof": metadata}} if metadata else {})


def silent() -> Exchange:
    return answer(status=None, end="deadline")


def facts(case: str = "thread-id-missing", **members: Any) -> Facts:
    given: dict[str, Any] = {
        "id": case,
        "area": "threadId",
        "kind": "body",
        "situation": "fresh",
        "endpoint": "main",
        "owed": Owed(code="ERR_INVALID_RUN_INPUT", status=400, field="threadId"),
        "canary": CANARY,
    }
    return Facts(**given | members)


def recording(*changed: Exchange, case: Facts | None = None, **members: Any) -> Recording:
    return Recording(case=case or facts(), changed=changed, **members)


class Scripted:
    """A target that answers by a function, and keeps what it was sent."""

    def __init__(self, script: Callable[[Request], Exchange]) -> None:
        self.script = script
        self.sent: list[Request] = []

    async def send(self, request: Request, limits: Limits) -> Exchange:
        self.sent.append(request)
        return self.script(request)

    async def aclose(self) -> None:
        pass

    def describe(self) -> str:
        return "a script"
