"""
A hostile change as data: what it owes, where it starts from, and the edit.

Every change starts from a body that is accepted and breaks exactly one rule,
so what it owes is right by construction; no reference decides it. The tables
are enumerated in order by the gate, and drawn from by the strategies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hostproof.reference_impl.values import Json, Record
    from hostproof.strategies.edits import Edit

Situation = Literal["fresh", "question", "client-call", "spoiled"]
"""
Where the thread stands before: nothing pending; paused on a plain
question; paused on a tool the page runs; paused, with a record that is not ours.
"""

EndpointName = Literal["main", "carrying", "stateless"]
"""Which agent: it keeps all; it also takes state and context; it keeps nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    One change to an accepted body.

    Attributes:
        id: its stable name.
        area: what it is about; the rule of that name judges it.
        code: the refusal it owes; ``None`` where it is to be accepted all the same.
        field: the member that refusal names, or ``None``.
        edits: the change.
        situation: where the thread stands before it.
        endpoint: which agent it is sent to.
        inside: whether it is judged by what the host shows of its inside.
    """

    id: str
    area: str
    code: str | None
    field: str | None = None
    edits: tuple[Edit, ...]
    situation: Situation = "fresh"
    endpoint: EndpointName = "main"
    inside: bool = False


WRONG: dict[str, Json] = {
    "null": None,
    "true": True,
    "number": 8675309,
    "text": "{canary}",
    "list": ["{canary}"],
    "object": {"{canary}": "{canary}"},
}
"""A value of every JSON type, for a member that wants another."""


def wrong(*right: str) -> dict[str, Json]:
    """Give the values of every type but the *right* ones."""
    return {name: value for name, value in WRONG.items() if name not in right}


def user_message(text: str = "{plain}", message_id: str = "m-user") -> Record:
    """Write a person's message."""
    return {"id": message_id, "role": "user", "content": text}


def tool_call(call_id: str = "c-1") -> Record:
    """Write a call as an assistant message holds it."""
    function = {"name": "look", "arguments": '{"q": 1}'}
    return {"id": call_id, "type": "function", "function": function}


def assistant_message(**members: Json) -> Record:
    """Write an assistant's message; *members* replace its own."""
    return {"id": "m-assistant", "role": "assistant", "content": "Earlier words."} | members


def tool_message(call_id: str = "c-1", **members: Json) -> Record:
    """Write the result of a call."""
    return {"id": "m-tool", "role": "tool", "toolCallId": call_id, "content": "done"} | members
