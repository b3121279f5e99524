"""
Two agent hosts on LangGraph, served over AG-UI.

A payment that waits for an approval is a ``CUSTOM`` event at ``/``, as is the adapter's default,
and the outcome of the run at ``/outcome``. The model is scripted: it answers by cue, the same
every time, and needs no network.
"""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from typing import TYPE_CHECKING, Any, Final

from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain_core.language_models.chat_models import BaseChatModel, generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Send, interrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import ChatResult

CUE: Final = re.compile(
    r"hostproof: (say|show the form|pay|pay two at once|fail|take your time) (\S+)"
)
APPROVAL: Final = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}
"""The answer that a payment waits for, as a JSON Schema."""

effects: list[dict[str, Any]] = []
"""Every payment made since the server started."""


def call(name: str, **arguments: Any) -> ToolCall:
    return tool_call(name=name, args=arguments, id=f"call-{uuid.uuid4()}")


def calls(asked: str, nonce: str) -> list[ToolCall]:
    """Write the calls that a cue asks for."""
    return {
        "show the form": [call("show_form", title=nonce)],
        "pay": [call("pay", to=nonce, amount=10)],
        "pay two at once": [call("pay", to=nonce, amount=10), call("pay", to=nonce, amount=20)],
        "take your time": [call("take_time")],
    }.get(asked, [])


def scripted(messages: list[BaseMessage], offered: set[str]) -> str | list[ToolCall]:
    """Answer the newest user message's cue, or say what came of the calls it led to."""
    cue, result = None, None
    for message in messages:
        if isinstance(message, HumanMessage):
            cue, result = CUE.fullmatch(message.text.strip()), None
        elif isinstance(message, ToolMessage):
            result = message.text
    if cue is None:
        return "I do what a cue asks for, and this is none."
    asked, nonce = cue.groups()
    if asked == "fail":
        raise RuntimeError("The model was told to fail.")
    if result is not None:
        return f"{nonce}: {result}"
    wanted = [call for call in calls(asked, nonce) if call["name"] in offered]
    return wanted or f"{nonce}: noted."


class Scripted(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **options: Any) -> ChatResult:
        return generate_from_stream(self._stream(messages, **options))

    def _stream(
        self, messages: list[BaseMessage], *_: Any, **options: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer = scripted(messages, options["offered"])
        if isinstance(answer, str):
            yield ChatGenerationChunk(message=AIMessageChunk(content=answer))
            return
        for at, call in enumerate(answer):
            name = tool_call_chunk(name=call["name"], args="", id=call["id"], index=at)
            arguments = tool_call_chunk(args=json.dumps(call["args"]), index=at)
            for chunk in (name, arguments):  # the adapter drops arguments that come with a name
                message = AIMessageChunk(content="", tool_call_chunks=[chunk])
                yield ChatGenerationChunk(message=message)


@tool
async def pay(to: str, amount: int, runtime: ToolRuntime) -> str:
    """Pay somebody an amount."""
    made_by = {"callId": runtime.tool_call_id, "agent": runtime.config["configurable"]["agent"]}
    question = {"reason": "tool_call", "message": f"Pay {amount} to {to}?"}
    answer = interrupt({**question, "toolCallId": runtime.tool_call_id, "responseSchema": APPROVAL})
    # A cancelled answer, or several at once, reach us as a dict of the adapter's own.
    if not (isinstance(answer, dict) and answer.get("approved") is True):
        return f"declined to pay {amount} to {to}"
    await asyncio.sleep(0.3)
    effects.append({"tool": "pay", "arguments": {"to": to, "amount": amount}, **made_by})
    return f"paid {amount} to {to}"


@tool
async def take_time() -> str:
    """Take a moment."""
    await asyncio.sleep(0.2)
    return "took its time"


tools = ToolNode([pay, take_time])


class State(MessagesState):
    tools: list[Any]  # the page's: the adapter writes them here


async def think(state: State) -> dict[str, list[BaseMessage]]:
    pages = {tool.get("name") for tool in state.get("tools", []) if isinstance(tool, dict)}
    offered = pages | set(tools.tools_by_name)
    return {"messages": [await Scripted().ainvoke(state["messages"], offered=offered)]}


def act(state: State) -> list[Send] | str:
    """Run each call of a tool of ours as a task by itself; the page's calls are the page's."""
    newest = state["messages"][-1]
    wanted = newest.tool_calls if isinstance(newest, AIMessage) else []
    ours = [call for call in wanted if call["name"] in tools.tools_by_name]
    return [Send("tools", [call]) for call in ours] or END


graph = StateGraph(State)
graph.add_node("model", think)
graph.add_node("tools", tools)
graph.add_edge(START, "model")
graph.add_conditional_edges("model", act, ["tools", END])
graph.add_edge("tools", "model")

app = FastAPI()
for path, outcome in {"/": False, "/outcome": True}.items():
    agent = LangGraphAgent(
        name="payer",
        graph=graph.compile(checkpointer=MemorySaver()),
        config={"configurable": {"agent": path}},
        emit_interrupt_outcome=outcome,
    )
    add_langgraph_fastapi_endpoint(app, agent, path)


@app.get("/effects")
def show_effects() -> list[dict[str, Any]]:
    return effects
