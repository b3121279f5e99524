"""
Check-in evidence: what the call will do, what was read, what drove it, the run so far.

Pure: the standard evidence is begun, its scorer input handed out, and finished
with the drivers that came back, so a scorer may be awaited in between
(:mod:`hostproof.reference_impl.assembly`).

White space, cuts, key order and the spelling of values are JavaScript's. A cut
can leave half a character, so evidence is stored as ASCII JSON.

Source: contract, "Check-in" (docs/contract.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from hostproof.reference_impl.evidence_types import (
    ContextUnit,
    Driver,
    Evidence,
    EvidenceInput,
    Frame,
    ScorerInput,
    Tool,
    ToolText,
    Trail,
    TrailCall,
)
from hostproof.reference_impl.frozen import thawed
from hostproof.reference_impl.result_texts import reads_as_not_run
from hostproof.reference_impl.values import (
    MISSING,
    WHITE_SPACE,
    Json,
    Record,
    fold_white_space,
    in_key_order,
    is_number,
    is_text,
    is_truthy,
    json_text,
    string_text,
    trim,
    utf16_cut,
    utf16_length,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_SUMMARY: Final = 160
"""How many UTF-16 code units a frame's summary has at most."""

MAX_ARGUMENT: Final = 60
"""How many UTF-16 code units of one argument's value are shown at most."""

STOP_WORDS: Final = frozenset(
    {"the", "a", "an", "and", "or", "to", "of", "in", "on", "for", "with", "is", "are"}
    | {"this", "that", "it", "as", "at", "by", "be", "you", "your", "i"}
)
"""Words that count for nothing when texts are compared."""

_WORD: Final = re.compile("[a-z0-9]+")
_RULE_END: Final = re.compile(f"(?<=[.!?])[{WHITE_SPACE}]+|\n+")


def units_from_history(history: Sequence[Record]) -> list[ContextUnit]:
    """
    Cut the conversation into units: system rules by sentence and line, tasks, results.

    Ids count per channel (``system-1``, ``task-1``, ``result-1``), so they are
    unique. Other roles, and messages with nothing but white space, give none.

    Raises:
        TypeError: a message's ``content`` is neither text, ``null`` nor left off.

    Source: contract, "Check-in" (docs/contract.md).
    """
    units: list[ContextUnit] = []
    counts = {"system": 0, "task": 0, "result": 0}
    for message in history:
        for channel, text in _readings(message):
            counts[channel] += 1
            units.append({"id": f"{channel}-{counts[channel]}", "channel": channel, "text": text})
    return units


def _readings(message: Record) -> list[tuple[str, str]]:
    """Read one message: channel and text of each unit it gives."""
    content = trim(_content(message))
    role = message.get("role")
    if not content:
        return []
    if role == "system":
        pieces = (trim(piece) for piece in _RULE_END.split(content))
        return [("system", piece) for piece in pieces if piece]
    if role == "user":
        return [("task", content)]
    if role == "tool":
        name = message.get("toolName")
        return [("result", f"{string_text(name)}: {content}" if is_truthy(name) else content)]
    return []


def _content(message: Record) -> str:
    content = message.get("content")
    if content is None:
        return ""
    if not is_text(content):
        raise TypeError("the content of a message in the history must be text")
    return content


def lexical_driver_scorer(given: ScorerInput) -> list[Driver]:
    """
    Score each unit by the words it shares with the tool's text (shared over all, 0 to 1).

    Words are runs of ASCII letters and digits in lower case, of two and more,
    without :data:`STOP_WORDS`; each counts once. The highest comes first,
    equal ones in the order given. Nothing but a unit's ``id``, ``channel``
    and ``text`` is carried over.

    Source: contract, "Check-in" (docs/contract.md).
    """
    wanted = _words(given.tool.text)
    scored = [_scored(unit, wanted) for unit in given.units]
    return sorted(scored, key=lambda driver: -driver["score"])


def _words(text: str) -> frozenset[str]:
    found = _WORD.findall(text.lower())
    return frozenset(word for word in found if len(word) > 1) - STOP_WORDS


def _scored(unit: ContextUnit, wanted: frozenset[str]) -> Driver:
    words = _words(unit["text"])
    either = len(wanted | words)
    score = len(wanted & words) / either if either else 0.0
    kept = {name: unit[name] for name in ("id", "channel", "text") if name in unit}
    return cast("Driver", {**kept, "score": score})


def will_do_parts(tool: Tool, args: Mapping[str, Json]) -> tuple[str, str | None]:
    """
    Say what the call will do: the tool's description (or name), and the arguments shown.

    The second is ``None`` where there is no argument. Each argument is
    ``name=value``, the value folded and cut at :data:`MAX_ARGUMENT`.

    Raises:
        TypeError: *args* holds something that is no JSON value.

    Source: contract, "Check-in" (docs/contract.md).
    """
    return trim(tool.description) or tool.name, _shown(args) or None


def will_do_text(what: str, shown: str | None) -> str:
    """Make one sentence of the two parts that :func:`will_do_parts` answers."""
    return what if shown is None else f"{what} (given: {shown})"


def _shown(args: Mapping[str, Json]) -> str:
    return ", ".join(f"{name}={_value_text(args[name])}" for name in in_key_order(args))


def _value_text(value: Json) -> str:
    return _short(value if is_text(value) else json_text(thawed(value)), MAX_ARGUMENT)


def _short(text: str, most: int) -> str:
    """Fold white space; what is longer than *most* code units ends in an ellipsis."""
    flat = fold_white_space(text)
    return flat if utf16_length(flat) <= most else f"{utf16_cut(flat, most - 1)}…"


def trail(history: Sequence[Record], iteration: Json = MISSING) -> Trail:
    """
    Say which tools have run, in order, and which of their results read as ok.

    A result without a tool's name is no call of ours, and one marked
    ``notDispatched`` (with whatever value) never ran: neither is listed.

    Raises:
        TypeError: such a result's ``content`` is neither text, ``null`` nor left off.

    Source: contract, "Check-in" (docs/contract.md).
    """
    calls: list[TrailCall] = [
        {"name": message["toolName"], "ok": not reads_as_not_run(_content(message))}
        for message in history
        if message.get("role") == "tool"
        and is_truthy(message.get("toolName"))
        and "notDispatched" not in message
    ]
    summary = summary_text(summary_parts(len(calls), iteration))
    if iteration is MISSING:
        return {"toolCalls": calls, "summary": summary}
    return {"iteration": iteration, "toolCalls": calls, "summary": summary}


def summary_parts(tools: int, iteration: Json = MISSING) -> Record:
    """
    Say what a trail's summary states: the counts, and which nouns are singular.

    ``{"tools": 0, "iteration": text}`` while no tool has run, else also
    ``toolSingular`` and ``iterationSingular``. Only the number 1 is singular.

    Source: contract, "Check-in" (docs/contract.md).
    """
    spelled = string_text(iteration)
    if tools == 0:
        return {"tools": 0, "iteration": spelled}
    return {
        "tools": tools,
        "toolSingular": tools == 1,
        "iteration": spelled,
        "iterationSingular": is_number(iteration) and iteration == 1,
    }


def summary_text(parts: Record) -> str:
    """Make one sentence of the parts that :func:`summary_parts` answers."""
    if parts["tools"] == 0:
        return f"No tool has run so far; this is iteration {parts['iteration']}."
    tools = "tool has" if parts["toolSingular"] else "tools have"
    iterations = "iteration" if parts["iterationSingular"] else "iterations"
    return f"{parts['tools']} {tools} run in {parts['iteration']} {iterations}."


def minimal_evidence(given: EvidenceInput) -> Evidence:
    """
    Build the least evidence: what the call will do.

    Source: contract, "Check-in" (docs/contract.md).
    """
    return {"willDo": will_do_text(*will_do_parts(given.tool, given.args))}


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunEvidence:
    """
    Standard evidence before its drivers are known.

    Attributes:
        will_do: what the call will do, as one sentence.
        read: what the run has read, in short, oldest first.
        trail: the run so far.
        scorer_input: what the scorer is to be asked, or ``None`` where there is nothing to score.
    """

    will_do: str
    read: list[Frame]
    trail: Trail
    scorer_input: ScorerInput | None


def begin_standard(given: EvidenceInput) -> BegunEvidence:
    """
    Build all of the standard evidence but its drivers.

    Raises:
        TypeError: as :func:`units_from_history` and :func:`will_do_parts` do.

    Source: contract, "Check-in" (docs/contract.md).
    """
    units = units_from_history(given.history)
    tool = given.tool
    text = trim(f"{tool.name} {tool.description} {_shown(given.args)}")
    scorer_input = ScorerInput(
        tool=ToolText(name=tool.name, text=text), units=tuple(units), signal=given.signal
    )
    return BegunEvidence(
        will_do=will_do_text(*will_do_parts(tool, given.args)),
        read=[
            {"channel": unit["channel"], "summary": _short(unit["text"], MAX_SUMMARY)}
            for unit in units
        ],
        trail=trail(given.history, given.iteration),
        scorer_input=scorer_input if units else None,
    )


def finish_standard(begun: BegunEvidence, drivers: list[Driver]) -> Evidence:
    """
    Put the drivers into the standard evidence (none where there was nothing to score).

    Source: contract, "Check-in" (docs/contract.md).
    """
    return {
        "willDo": begun.will_do,
        "read": begun.read,
        "drivers": drivers,
        "trail": begun.trail,
    }
