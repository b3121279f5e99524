"""
An agent host on django-ag-ui: a whole Django site in one file.

Its model is scripted: it answers by cue, the same every time, and needs no network.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django_ag_ui import AGUIServer, ToolRegistry, tool
from django_spec_agents import AgentDeps
from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

settings.configure(
    ROOT_URLCONF=__name__,
    DJANGO_AG_UI={"TOOL_GUARD": {"ENABLED": True}},  # destructive tools wait for an approval
)
app = get_asgi_application()

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


registry = ToolRegistry()


@tool(registry, destructive=True)
async def pay(ctx: RunContext[AgentDeps], to: str, amount: int) -> str:
    """Pay somebody an amount."""
    await asyncio.sleep(0.3)
    arguments, call = {"to": to, "amount": amount}, ctx.tool_call_id
    agent = ctx.deps.call_context["request"].path
    effects.append({"tool": "pay", "arguments": arguments, "callId": call, "agent": agent})
    return f"paid {amount} to {to}"


@tool(registry)
async def take_time() -> str:
    """Take a moment."""
    await asyncio.sleep(0.2)
    return "took its time"


@dataclass(frozen=True)
class Caller:
    name: str
    is_authenticated: bool = True


CALLERS: Final = {f"Bearer {name}": Caller(name) for name in ("alice", "bob")}


def caller(request: HttpRequest) -> Caller | None:
    """Tell who is calling: without an answer, django-ag-ui lets nobody in."""
    return CALLERS.get(request.headers.get("Authorization", ""))


def show_effects(_: HttpRequest) -> JsonResponse:
    return JsonResponse(effects, safe=False)


server = AGUIServer(registry, model=FunctionModel(stream_function=scripted), get_user=caller)
urlpatterns = [path("agent/", server.urls), path("effects", show_effects)]
