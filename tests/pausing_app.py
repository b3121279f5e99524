"""
A small host that pauses and is answered in any way a test wants, and shows its effects.

It knows the usual cues: say, pay, two at once, show the form, take time, fail.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

CUE = re.compile(r"hostproof: (say|pay two at once|pay|show the form|take your time|fail) (\S+)")
YES = {"approved": True}
SCHEMA = {
    "type": "object",
    "properties": {"confirmed": {"type": "boolean"}, "by": {"type": "string"}},
    "required": ["confirmed", "by"],
}


@dataclass
class Ways:
    """How it pauses, what it takes for a yes, and where; what it does else."""

    pause: Literal["interrupt", "custom", "call", "confirmation", "none", "unasked"] = "interrupt"
    answer: Literal["resume", "command", "tool-message"] = "resume"
    yes: Any = field(default_factory=lambda: dict(YES))
    schema: Any = None
    client: bool = False
    parent_run: bool = False
    heeds: bool = True
    version: str | None = "1.0"
    calls_form: bool = True
    event: str = "on_interrupt"
    two_in_turn: bool = False
    fails: bool = True
    takes: float = 0.12
    second: int = 200


@dataclass
class Paused:
    run: str
    nonce: str
    calls: list[str]
    asks: str


class Pausing:
    """The host: what waits, and what was done."""

    def __init__(self, ways: Ways):
        self.ways = ways
        self.waiting: dict[str, list[Paused]] = {}
        self.effects: list[dict[str, Any]] = []
        self.number = 0
        self.requests = 0
        routes = [
            Route("/agui", self.run, methods=["POST"]),
            Route("/effects", self.shown, methods=["GET"]),
        ]
        self.app = Starlette(routes=routes)

    async def shown(self, _: Request) -> Response:
        return JSONResponse(self.effects)

    async def run(self, request: Request) -> Response:
        self.requests += 1
        if request.headers.get("authorization") == "Bearer second" and self.ways.second != 200:
            return JSONResponse({"detail": "no"}, self.ways.second)
        body = json.loads(await request.body())
        ids = {"threadId": body["threadId"], "runId": body["runId"]}
        declared = {"protocolVersion": self.ways.version} if self.ways.version else {}
        events = [{"type": "RUN_STARTED", **ids, **declared}, *await self.events(body)]
        if events[-1]["type"] not in ("RUN_ERROR", "RUN_FINISHED"):
            events.append({"type": "RUN_FINISHED", **ids})
        events[-1] |= ids if events[-1]["type"] == "RUN_FINISHED" else {}
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        return Response(text, media_type="text/event-stream")

    async def events(self, body: Any) -> list[dict[str, Any]]:
        waiting = self.waiting.get(body["threadId"], [])
        payload = self.answered(body, waiting[0]) if waiting else None
        if payload is not None:
            return self.decided(body, waiting, payload)
        newest = body["messages"][-1] if body["messages"] else {}
        found = CUE.fullmatch(str(newest.get("content"))) if newest.get("role") == "user" else None
        if found is None:
            return said("no cue") if newest.get("role") == "tool" else refused("nothing was said")
        cue, nonce = found.groups()
        if cue == "fail" and self.ways.fails:
            return refused("told to fail")
        if cue == "take your time":
            await asyncio.sleep(self.ways.takes)
        if cue == "show the form" and self.ways.calls_form:
            offered = [tool["name"] for tool in body["tools"]]
            return self.call("show_form", nonce)[1] if "show_form" in offered else said("no form")
        if cue.startswith("pay"):
            return self.paying(body, nonce, 2 if cue.endswith("once") else 1)
        return said(nonce)

    def paying(self, body: Any, nonce: str, many: int) -> list[dict[str, Any]]:
        ways = self.ways
        if ways.pause == "unasked":
            return [*self.paid(nonce, ""), *said("paid")]
        if ways.pause == "none":
            return said("no")
        made = [self.call("pay", nonce) for _ in range(many)]
        events = [event for _, call in made for event in call]
        calls = [call for call, _ in made]
        asks = calls[0]
        if ways.pause == "confirmation":
            offered = [tool["name"] for tool in body["tools"]]
            if "request_approval" not in offered:
                return said("nobody to ask")
            asks, confirming = self.call("request_approval", nonce)
            events += [result(calls[0], "waits"), *confirming]
        pauses = [Paused(body["runId"], nonce, calls, asks)]
        if ways.two_in_turn and many == 2:
            pauses = [Paused(body["runId"], nonce, [one], one) for one in calls]
        self.waiting[body["threadId"]] = pauses
        return [*events, *self.asked(pauses[0])]

    def asked(self, paused: Paused) -> list[dict[str, Any]]:
        ways = self.ways
        if ways.pause == "custom":
            return [{"type": "CUSTOM", "name": ways.event, "value": {}} for _ in paused.calls]
        if ways.pause != "interrupt":
            return []
        schema = {} if ways.schema is None else {"responseSchema": ways.schema}
        interrupts = [
            {"id": f"i-{call}", "reason": "tool_call", "toolCallId": call, **schema}
            for call in paused.calls
        ]
        outcome = {"type": "interrupt", "interrupts": interrupts}
        return [{"type": "RUN_FINISHED", "outcome": outcome}]

    def answered(self, body: Any, paused: Paused) -> Any:
        """Find the answer where this host looks for it."""
        ways = self.ways
        if ways.client and len(body["messages"]) < 2:
            return None
        if ways.parent_run and body.get("parentRunId") != paused.run:
            return None
        if ways.answer == "resume":
            return [one.get("payload") for one in body.get("resume", [])] or None
        if ways.answer == "command":
            command = body["forwardedProps"].get("command")
            return None if command is None else [command["resume"]]
        tools = [one for one in body["messages"] if one["role"] == "tool"]
        mine = [json.loads(one["content"]) for one in tools if one["toolCallId"] == paused.asks]
        return mine or None

    def decided(self, body: Any, waiting: list[Paused], payloads: Any) -> list[dict[str, Any]]:
        paused, *rest = waiting
        if not self.ways.client:
            self.waiting[body["threadId"]] = rest
        events = []
        for call, payload in zip(paused.calls, payloads, strict=False):
            is_yes = payload == self.ways.yes or not self.ways.heeds
            is_yes = is_yes or (isinstance(payload, dict) and self.by_schema(payload))
            if is_yes:
                events += self.paid(paused.nonce, call)
            else:
                events.append(result(call, f"declined to pay {paused.nonce}"))
        return [*events, *(self.asked(rest[0]) if rest else said("done"))]

    def by_schema(self, payload: dict[str, Any]) -> bool:
        return self.ways.schema == SCHEMA and payload.get("confirmed") is True and "by" in payload

    def paid(self, nonce: str, call: str) -> list[dict[str, Any]]:
        self.effects.append({"tool": "pay", "arguments": {"to": nonce}, "callId": call})
        return [result(call, f"paid 10 to {nonce}")]

    def call(self, tool: str, nonce: str) -> tuple[str, list[dict[str, Any]]]:
        self.number += 1
        call = f"call-{self.number}"
        named = {"toolCallId": call, "toolCallName": tool}
        return call, [
            {"type": "TOOL_CALL_START", **named},
            {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": json.dumps({"to": nonce})},
            {"type": "TOOL_CALL_END", "toolCallId": call},
        ]


def result(call: str, text: str) -> dict[str, Any]:
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": f"m-{call}",
        "toolCallId": call,
        "content": text,
    }


def said(text: str) -> list[dict[str, Any]]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": text},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
    ]


def refused(why: str) -> list[dict[str, Any]]:
    return [{"type": "RUN_ERROR", "message": why}]
