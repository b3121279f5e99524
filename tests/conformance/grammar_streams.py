"""
Legal streams of events, drawn step by step, and one illegal event put into them.

It keeps a small model of its own of what is open; nothing here asks the grammar.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.reference_impl.values import Record

STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
OWNERS = (None, "a", "b")
KINDS = {
    "text": ("TEXT_MESSAGE", "messageId", "CONTENT"),
    "call": ("TOOL_CALL", "toolCallId", "ARGS"),
    "reasoning": ("REASONING_MESSAGE", "messageId", "CONTENT"),
}


def tagged(event: Record, owner: str | None) -> Record:
    return event if owner is None else {**event, "subagentRunId": owner}


@dataclass
class Model:
    """What is open: items by family and id with their owner, and the rest."""

    items: dict[tuple[str, str], str | None] = field(default_factory=dict)
    chunks: dict[str | None, tuple[str, str]] = field(default_factory=dict)
    spans: set[str] = field(default_factory=set)
    steps: set[tuple[str | None, str]] = field(default_factory=set)
    active: list[str] = field(default_factory=list)
    events: list[Record] = field(default_factory=list)
    count: int = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}-{self.count}"

    def send(self, event: Record, owner: str | None = None) -> None:
        self.events.append(tagged(event, owner))


def opening(model: Model, family: str, name: str) -> Record:
    prefix, member, _ = KINDS[family]
    more = {"call": {"toolCallName": "look"}, "reasoning": {"role": "reasoning"}}.get(family, {})
    return {"type": f"{prefix}_START", member: name, **more}


def legal_move(draw: Any, model: Model) -> None:
    """Draw one legal event, or a few."""
    owner = draw(st.sampled_from([None, *model.active]))
    moves: list[Callable[[], None]] = [
        lambda: _open(draw, model, owner),
        lambda: _chunk(draw, model, owner),
        lambda: _stand(draw, model, owner),
        lambda: _span(draw, model),
        lambda: _step(draw, model, owner),
        lambda: _subagent(draw, model),
    ]
    if model.items:
        moves += [lambda: _go_on(draw, model)] * 2
    draw(st.sampled_from(moves))()


def _open(draw: Any, model: Model, owner: str | None) -> None:
    family = draw(st.sampled_from(sorted(KINDS)))
    name = model.fresh(family)
    model.chunks.pop(owner, None)
    model.items[family, name] = owner
    model.send(opening(model, family, name), owner)


def _go_on(draw: Any, model: Model) -> None:
    family, name = draw(st.sampled_from(sorted(model.items)))
    owner = model.items[family, name]
    prefix, member, content = KINDS[family]
    model.chunks.pop(owner, None)
    tag = owner if draw(st.booleans()) else None
    if draw(st.booleans()):
        model.send({"type": f"{prefix}_{content}", member: name, "delta": ""}, tag)
    else:
        del model.items[family, name]
        model.send({"type": f"{prefix}_END", member: name}, tag)


def _chunk(draw: Any, model: Model, owner: str | None) -> None:
    streamed = model.chunks.get(owner)
    if streamed is not None and draw(st.booleans()):
        family, name = streamed
        prefix, member, _ = KINDS[family]
        named = {member: name} if draw(st.booleans()) else {}
        model.send({"type": f"{prefix}_CHUNK", **named, "delta": "x"}, owner)
        return
    family = draw(st.sampled_from(sorted(KINDS)))
    prefix, member, _ = KINDS[family]
    name = model.fresh(family)
    more = {"toolCallName": "look"} if family == "call" else {}
    model.chunks[owner] = (family, name)
    model.send({"type": f"{prefix}_CHUNK", member: name, **more}, owner)


def _stand(draw: Any, model: Model, owner: str | None) -> None:
    kind = draw(st.sampled_from(["RAW", "CUSTOM", "STATE_DELTA", "TOOL_CALL_RESULT", "UNKNOWN"]))
    if kind not in ("RAW", "UNKNOWN"):
        model.chunks.pop(owner, None)
    model.send({"type": kind, "name": "x.y", "value": 1}, owner)


def _span(draw: Any, model: Model) -> None:
    model.chunks.pop(None, None)
    if model.spans and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(model.spans)))
        model.spans.remove(name)
        model.send({"type": "REASONING_END", "messageId": name})
    else:
        name = model.fresh("span")
        model.spans.add(name)
        model.send({"type": "REASONING_START", "messageId": name})


def _step(draw: Any, model: Model, owner: str | None) -> None:
    model.chunks.pop(owner, None)
    name = draw(st.sampled_from(["s", "u"]))
    kind = "FINISHED" if (owner, name) in model.steps else "STARTED"
    model.steps ^= {(owner, name)}
    model.send({"type": f"STEP_{kind}", "stepName": name}, owner)


def _subagent(draw: Any, model: Model) -> None:
    if len(model.active) < 2 and draw(st.booleans()):
        name = model.fresh("sub")
        model.active.append(name)
        model.send({"type": "SUBAGENT_STARTED", "name": "n", "subagentRunId": name})
    elif model.active:
        close_subagent(model, model.active[-1])


def close_subagent(model: Model, name: str) -> None:
    """Close what a subagent has open, then the subagent."""
    model.chunks.pop(name, None)
    for (family, item), owner in sorted(model.items.items()):
        if owner == name:
            del model.items[family, item]
            prefix, member, _ = KINDS[family]
            model.send({"type": f"{prefix}_END", member: item}, name)
    for owner, step in sorted(model.steps, key=str):
        if owner == name:
            model.steps.remove((owner, step))
            model.send({"type": "STEP_FINISHED", "stepName": step}, name)
    model.active.remove(name)
    model.send({"type": "SUBAGENT_FINISHED", "subagentRunId": name})


def close_all(model: Model) -> None:
    """Close everything, as a run must before it finishes."""
    for name in list(model.active):
        close_subagent(model, name)
    for (family, item), owner in sorted(model.items.items(), key=str):
        prefix, member, _ = KINDS[family]
        model.send({"type": f"{prefix}_END", member: item}, owner)
    for name in sorted(model.spans):
        model.send({"type": "REASONING_END", "messageId": name})
    for owner, step in sorted(model.steps, key=str):
        model.send({"type": "STEP_FINISHED", "stepName": step}, owner)
    model.items, model.spans, model.steps, model.chunks = {}, set(), set(), {}


def illegal(draw: Any, model: Model) -> str:
    """Put in one event that breaks one clause, whatever is open; give the clause."""
    clauses = ["STR-02", "STR-04", "RSN-01", "LIFE-10", "SUB-09", "ACT-01", "LIFE-08"]
    clauses += ["STR-01", "SUB-07"] if model.items else []
    clauses += ["SUB-02"] if model.active else []
    clause: str = draw(st.sampled_from(clauses))
    if clause in ("STR-01", "SUB-07"):
        family, name = draw(st.sampled_from(sorted(model.items)))
        owner = model.items[family, name]
        prefix, member, content = KINDS[family]
        model.chunks.pop(owner if clause == "STR-01" else "other", None)
        if clause == "STR-01":
            model.send(opening(model, family, name), owner)
        else:
            model.send({"type": f"{prefix}_{content}", member: name, "delta": ""}, "other")
        return clause
    model.chunks.pop(None, None)
    name = model.fresh("illegal")
    if clause == "SUB-09":
        model.active.append(name)
    wrong: dict[str, Record] = {
        "STR-02": {"type": "TEXT_MESSAGE_END", "messageId": name},
        "STR-04": {"type": "TOOL_CALL_CHUNK", "toolCallId": name},
        "RSN-01": {"type": "REASONING_END", "messageId": name},
        "LIFE-10": {"type": "STEP_FINISHED", "stepName": name},
        "SUB-09": {
            "type": "SUBAGENT_STARTED",
            "subagentRunId": name,
            "name": "n",
            "parentSubagentRunId": "nobody",
        },
        "SUB-02": {
            "type": "SUBAGENT_STARTED",
            "subagentRunId": model.active[-1] if model.active else "",
            "name": "n",
        },
        "ACT-01": {"type": "ACTIVITY_DELTA", "messageId": name},
        "LIFE-08": {**STARTED, "runId": "r"},
    }
    if clause == "LIFE-08":
        model.events.insert(0, {**STARTED, "runId": "r-before"})
    else:
        model.send(wrong[clause])
    return clause


@st.composite
def streams(draw: Any, *, faulty: bool = False) -> tuple[list[Record], str | None]:
    """Draw the events of a stream of one run, and the one clause that it breaks."""
    model = Model(events=[dict(STARTED)])
    moves = draw(st.integers(0, 12))
    at = draw(st.integers(0, moves)) if faulty else None
    clause = None
    for number in range(moves + 1):
        if number == at:
            clause = illegal(draw, model)
        legal_move(draw, model)
    close_all(model)
    ends = draw(st.sampled_from(["finished", "late error"]))
    model.send(dict(FINISHED))
    if ends == "late error":
        model.send({"type": "RUN_ERROR", "message": "late"})
    return model.events, clause
