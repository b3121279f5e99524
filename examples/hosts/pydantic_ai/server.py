"""
Two agent hosts on pydantic-ai, served over AG-UI.

At ``/`` the client owns the history and sends all of it with every request. At ``/kept`` the
same agent has a conversation store, and the client sends what is new. The model is scripted:
it answers by cue, the same every time, and needs no network.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, Final

from pydantic_ai import Agent, DeferredToolRequests, RunContext
from pydantic_ai.conversation_store import ConversationStore, InMemoryConversationStore
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.messages import ModelMessage
    from starlette.requests import Request
    from starlette.responses import Response

CALLS: Final = {
    "show the form": [("show_form", '{"title": NONCE}')],
    "pay": [("pay", '{"to": NONCE, "amount": 10}')],
    "pay two at once": [
        ("pay", '{"to": NONCE, "amount": 10}'),
        ("pay", '{"to": NONCE, "amount": 20}'),
    ],
    "take your time": [("take_time", "{}")],
}
"""What a cue has the model call, all in one reply."""
CUE: Final = re.compile(rf"hostproof: (say|fail|{'|'.join(CALLS)}) (\S+)")
STORES: Final[dict[str, ConversationStore | None]] = {
    "/": None,
    "/kept": InMemoryConversationStore(),
}
"""Where the agent is served, and what keeps the conversations there."""

effects: list[dict[str, Any]] = []
"""Every payment made since the server started."""


async def scripted(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    """Answer the newest user message's cue, or say what came of the calls it led to."""
    cue, result = None, None
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, UserPromptPart):
            cue = CUE.fullmatch(part.content.strip()) if isinstance(part.content, str) else None
            result = None
        elif isinstance(part, ToolReturnPart):
            result = part.model_response_str()
    if cue is None:
        yield "I do what a cue asks for, and this is none."
        return
    asked, nonce = cue.groups()
    if asked == "fail":
        raise RuntimeError("The model was told to fail.")
    offered = {each.name for each in info.function_tools}
    calls = [
        DeltaToolCall(name=name, json_args=arguments.replace("NONCE", json.dumps(nonce)))
        for name, arguments in CALLS.get(asked, [])
        if name in offered
    ]
    if result is not None:
        yield f"{nonce}: {result}"
    elif calls:
        yield dict(enumerate(calls))
    else:
        yield f"{nonce}: noted."


model = FunctionModel(stream_function=scripted)
agent = Agent(model, deps_type=str, output_type=[str, DeferredToolRequests])
"""The agent: what it is run with is the path it is served at."""


@agent.tool(requires_approval=True)
async def pay(context: RunContext[str], to: str, amount: int) -> str:
    """Pay somebody an amount."""
    await asyncio.sleep(0.3)
    arguments, call = {"to": to, "amount": amount}, context.tool_call_id
    effects.append({"tool": "pay", "arguments": arguments, "callId": call, "agent": context.deps})
    return f"paid {amount} to {to}"


@agent.tool_plain
async def take_time() -> str:
    """Take a moment."""
    await asyncio.sleep(0.2)
    return "took its time"


async def run(request: Request) -> Response:
    path = request.url.path
    return await AGUIAdapter.dispatch_request(
        request, agent=agent, deps=path, conversation_store=STORES[path]
    )


async def show_effects(_: Request) -> Response:
    return JSONResponse(effects)


routes = [Route(path, run, methods=["POST"]) for path in STORES]
app = Starlette(routes=[*routes, Route("/effects", show_effects)])
