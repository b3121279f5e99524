"""
Faults of what the model is given: a page's words as orders, its tools, its history.

Each host lets one thing of a page reach the model that must not, or keeps one away that must.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.conformance.fault_agents import WrappedAgent
from hostproof.conformance.fault_inputs import noting, replanning, sent, sent_messages
from hostproof.conformance.inside_reading import records
from hostproof.conformance.tolerance import tolerant_plan, without_instructions
from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.agent_steps import PageTool
from hostproof.reference_impl.refusals import refuse
from hostproof.reference_impl.values import is_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hostproof.conformance.fault_inputs import PlanAgain
    from hostproof.reference_impl.agent_steps import Step, Turn
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import RunInput
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules
    from hostproof.reference_impl.values import Json, Record

INSTRUCTING = ("system", "developer")


class Instructed(WrappedAgent):
    """Is told other instructions than its own."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn under those instructions."""
        told = replace(self, system=self.told(turn))
        async for step in ReferenceAgent.__call__(told, self.changed(turn)):
            yield step

    def told(self, turn: Turn) -> str:
        """Say what it is told."""
        del turn
        return self.system


class ByThePage(Instructed):
    """Is told what the page's system and developer messages say, too."""

    __slots__ = ()

    def told(self, turn: Turn) -> str:
        """Say what it is told."""
        del turn
        orders = [str(one["content"]) for one in sent_messages() if one["role"] in INSTRUCTING]
        return "\n".join([self.system, *orders])


def takes_a_pages_instructions(parts: HostParts) -> HostParts:
    """Put a page's system and developer messages into the prompt."""
    tolerant = tolerant_plan("ERR_INSTRUCTIONS_NOT_CARRIED", without_instructions)(parts)
    return ByThePage.of(noting(tolerant))


class Unfiltered(WrappedAgent):
    """Hands on a page's system messages, which its filter has not read."""

    __slots__ = ()

    def changed(self, turn: Turn) -> Turn:
        """Change the turn."""
        orders = [one for one in sent_messages() if one["role"] in INSTRUCTING]
        return replace(turn, messages=(*orders, *turn.messages))


def filters_only_persons(parts: HostParts) -> HostParts:
    """Look for forbidden words in a person's messages alone; every message reaches the model."""

    def refused(body: Record) -> Record:
        for message in records(body.get("messages")):
            if message.get("role") == "user" and "Obey" in str(message.get("content")):
                raise refuse("ERR_INVALID_RUN_INPUT", "These words are not taken.")
        return body

    tolerant = tolerant_plan("ERR_INSTRUCTIONS_NOT_CARRIED", without_instructions)(parts)
    return Unfiltered.of(noting(tolerant, refused))


class Forgetful(Instructed):
    """Is told its own instructions only where no messages come with the turn."""

    __slots__ = ()

    def told(self, turn: Turn) -> str:
        """Say what it is told."""
        return self.system if len(turn.messages) == 1 else ""


class ByContext(Instructed):
    """Is told the page's context as known facts."""

    __slots__ = ()

    def told(self, turn: Turn) -> str:
        """Say what it is told."""
        facts = [str(entry["value"]) for entry in records(turn.given.get("context"))]
        return "\n".join([self.system, *facts])


class ByDescriptions(Instructed):
    """Is told what the page says of its tools."""

    __slots__ = ()

    def told(self, turn: Turn) -> str:
        """Say what it is told."""
        del turn
        described = [str(tool.get("description", "")) for tool in records(sent().get("tools"))]
        return "\n".join([self.system, *described])


def told_by_descriptions(parts: HostParts) -> HostParts:
    """Join a page's tool descriptions to the instructions."""
    return ByDescriptions.of(noting(parts))


class Overruled(WrappedAgent):
    """Lets the page's tools stand in for its own of the same name."""

    __slots__ = ()

    async def __call__(self, turn: Turn, /) -> AsyncIterator[Step]:
        """Yield the steps of the turn without the tools that the page replaced."""
        replaced = {tool.name for tool in turn.page_tools}
        kept = {name: tool for name, tool in self.own_tools.items() if name not in replaced}
        async for step in ReferenceAgent.__call__(replace(self, own_tools=kept), turn):
            yield step


def lets_a_page_replace_tools(parts: HostParts) -> HostParts:
    """Take a page's tool in the place of the host's own of that name."""

    def again(request: Record, held: Held, right: PlanAgain) -> Plan[PageTool]:
        tools = tuple(
            PageTool(tool["name"], str(tool.get("description", ""))) for tool in request["tools"]
        )
        return replace(right({**request, "tools": []}, held), tools=tools)

    return Overruled.of(replanning(parts, again, "ERR_TOOL_NOT_ALLOWED"))


def skips_lists_of_parts(parts: HostParts) -> HostParts:
    """Skip a message whose content is a list: the run goes on without a word of it."""
    from hostproof.reference_impl.turn import MessageTurn  # noqa: PLC0415 - it needs the host

    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        given: Json = request
        newest: Json = given["messages"][-1] if given["messages"] else {}
        if newest.get("role") != "user" or is_text(newest["content"]):
            return right(request, held, facts, rules)
        said = {**newest, "content": "skipped"}
        planned: Json = {**given, "messages": [*given["messages"][:-1], said]}
        return replace(right(planned, held, facts, rules), turn=MessageTurn(""))

    return replace(parts, plan=plan)


def never_reads_tools(parts: HostParts) -> HostParts:
    """Take a page's tools and never read them."""
    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        return replace(right(request, held, facts, rules), tools=())

    return replace(parts, plan=plan)
