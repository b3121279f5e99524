"""
An agent host on AG2, served over AG-UI with `AGUIStream`.

Its model is scripted: it answers by cue, the same every time, and needs no network.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from ag2 import Agent, Context, tool
from ag2.ag_ui import AGUIStream
from ag2.events import (
    ModelMessage,
    ModelMessageChunk,
    ModelRequest,
    ModelResponse,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResultsEvent,
)
from ag2.middleware import approval_required
from ag2.testing import TestClient, TestConfig
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from ag2.events import BaseEvent
    from starlette.requests import Request
    from starlette.responses import Response

CUE: Final = re.compile(
    r"hostproof: (say|show the form|pay|pay two at once|fail|take your time) (\S+)"
)

effects: list[dict[str, Any]] = []
"""Every payment made since the server started."""


def call(name: str, **arguments: Any) -> ToolCallEvent:
    return ToolCallEvent(name, arguments=json.dumps(arguments))


def calls(asked: str, nonce: str) -> list[ToolCallEvent]:
    """Write the calls that a cue asks for."""
    return {
        "show the form": [call("show_form", title=nonce)],
        "pay": [call("pay", to=nonce, amount=10)],
        "pay two at once": [call("pay", to=nonce, amount=10), call("pay", to=nonce, amount=20)],
        "take your time": [call("take_time")],
    }.get(asked, [])


def text_of(parts: Iterable[BaseEvent]) -> str:
    return "".join(part.content for part in parts if isinstance(part, TextInput))


def scripted(events: Sequence[BaseEvent], offered: set[str]) -> str | list[ToolCallEvent]:
    """Answer the newest user message's cue, or say what came of the calls it led to."""
    cue, result = None, None
    for event in events:
        if isinstance(event, ModelRequest) and event.parts:  # without any: nothing new was said
            cue, result = CUE.fullmatch(text_of(event.parts).strip()), None
        elif isinstance(event, ToolResultsEvent):
            result = text_of(event.results[-1].result.parts)
    if cue is None:
        return "I do what a cue asks for, and this is none."
    asked, nonce = cue.groups()
    if asked == "fail":
        raise RuntimeError("The model was told to fail.")
    if result is not None:
        return f"{nonce}: {result}"
    wanted = [call for call in calls(asked, nonce) if call.name in offered]
    return wanted or f"{nonce}: noted."


class Model(TestClient):
    async def __call__(
        self, messages: Sequence[BaseEvent], context: Context, **options: Any
    ) -> ModelResponse:
        answer = scripted(messages, {tool.function.name for tool in options["tools"]})
        if not isinstance(answer, str):
            return ModelResponse(tool_calls=ToolCallsEvent(answer))
        message = ModelMessage(answer)
        await context.send(ModelMessageChunk(answer))
        await context.send(message)
        return ModelResponse(message)


class Scripted(TestConfig):
    def create(self) -> Model:
        return Model()


@tool(middleware=[approval_required(allow_always=False)])
async def pay(to: str, amount: int, context: Context) -> str:
    """Pay somebody an amount."""
    await asyncio.sleep(0.3)
    arguments = {"to": to, "amount": amount}
    made = {"tool": "pay", "arguments": arguments, "callId": context.tool_call_id, "agent": "/"}
    effects.append(made)
    return f"paid {amount} to {to}"


@tool
async def take_time() -> str:
    """Take a moment."""
    await asyncio.sleep(0.2)
    return "took its time"


stream = AGUIStream(Agent("payer", config=Scripted(), tools=[pay, take_time]))


async def show_effects(_: Request) -> Response:
    return JSONResponse(effects)


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    async with stream:  # it cancels what still waits for an answer
        yield


app = Starlette(
    routes=[Route("/", stream.build_asgi()), Route("/effects", show_effects)], lifespan=lifespan
)
