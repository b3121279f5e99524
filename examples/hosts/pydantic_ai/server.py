"""
An agent host on pydantic-ai, served over AG-UI.

Its model is scripted: it answers by cue, the same every time, and needs no network.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Final

from pydantic_ai import Agent, DeferredToolRequests, RunContext
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

CUE: Final = re.compile(r"hostproof: (say|show the form|pay) (\S+)")
CALLS: Final = {"show the form": ("show_form", "title"), "pay": ("pay", "reference")}
"""What a cue has the model call, and the argument that the nonce goes into."""

effects: list[dict[str, str | None]] = []
"""Every payment made since the server started."""


async def scripted(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
    """Answer the newest user message's cue, or say what came of the call it led to."""
    parts = [part for message in messages for part in message.parts]
    prompts = [at for at, part in enumerate(parts) if isinstance(part, UserPromptPart)]
    newest = parts[prompts[-1]].content if prompts else None
    cue = CUE.fullmatch(newest.strip()) if isinstance(newest, str) else None
    if cue is None:
        yield "I do what a cue asks for, and this is none."
        return
    asked, nonce = cue.groups()
    results = [part for part in parts[prompts[-1] :] if isinstance(part, ToolReturnPart)]
    tool, argument = CALLS.get(asked, (None, ""))
    if results:
        yield f"{nonce}: {results[-1].model_response_str()}"
    elif tool in {offered.name for offered in info.function_tools}:
        yield {0: DeltaToolCall(name=tool, json_args=json.dumps({argument: nonce}))}
    else:
        yield f"{nonce}: noted."


agent = Agent(FunctionModel(stream_function=scripted), output_type=[str, DeferredToolRequests])


@agent.tool(requires_approval=True)
async def pay(context: RunContext[None], reference: str) -> str:
    """Pay what the reference stands for."""
    await asyncio.sleep(0.3)
    effects.append({"tool": "pay", "reference": reference, "call": context.tool_call_id})
    return f"paid {reference}"


async def run(request: Request) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=agent)


async def show_effects(_: Request) -> Response:
    return JSONResponse(effects)


app = Starlette(routes=[Route("/", run, methods=["POST"]), Route("/effects", show_effects)])
