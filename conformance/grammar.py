"""
The event grammar: a state machine over the events of one stream, as a client would follow it.

Pure, and total: any list of JSON values has a reading. A breach breaks a clause
of the text; a note is what the text leaves open and a reader may want to know.
Neither quotes a value. What an event's members must be is :mod:`.agui_shapes`'s:
an event that lacks its id, or has another type than the 31, moves nothing here.

After a breach the machine goes on as if the event had not come, so that one
fault is one breach.

Source: AG-UI 1.1, events/lifecycle, patterns/streaming, events/subagents and
the pages of each event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from hostproof.conformance.grammar_items import (
    STREAMED,
    Item,
    OpenRun,
    Owner,
    opened,
    text_of,
)
from hostproof.conformance.grammar_table import CLAUSES, ROWS
from hostproof.reference_impl.values import is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.grammar_table import Family, Row
    from hostproof.reference_impl.values import Json, Record

Phase = Literal["none", "active", "finished", "failed"]

REOPENED: Final[dict[Family, str]] = {"text": "TXT-01", "call": "TOOL-02"}
"""The clause that a disagreeing opener of a known item breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarBreach:
    """
    A clause broken.

    Attributes:
        clause: its id.
        index: the place of the event in the stream; behind the last for its end.
        text: what is wrong, in a few words of ours.
    """

    clause: str
    index: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarNote:
    """What the text leaves open: the *index* of the event, and a few words."""

    index: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarReading:
    """The breaches and notes of one stream, in order."""

    breaches: tuple[GrammarBreach, ...]
    notes: tuple[GrammarNote, ...]


def read_stream(events: Sequence[Json], *, ended: bool = True) -> GrammarReading:
    """
    Read the events of a stream.

    Args:
        events: their values, in order.
        ended: whether the stream has ended; else its last run may go on.
    """
    reader = _Reader()
    for index, event in enumerate(events):
        reader.index = index
        reader.take(event)
    reader.index = len(events)
    if ended:
        reader.end()
    return GrammarReading(breaches=tuple(reader.breaches), notes=tuple(reader.notes))


def breaches(events: Sequence[Json], *, ended: bool = True) -> tuple[GrammarBreach, ...]:
    """List the clauses that a stream breaks; see :func:`read_stream`."""
    return read_stream(events, ended=ended).breaches


def notes(events: Sequence[Json], *, ended: bool = True) -> tuple[GrammarNote, ...]:
    """List what is to be noted of a stream; see :func:`read_stream`."""
    return read_stream(events, ended=ended).notes


@dataclass(slots=True)
class _Reader:
    """Takes one event after the other."""

    index: int = 0
    phase: Phase = "none"
    run: OpenRun = field(default_factory=lambda: OpenRun(None, None))
    run_ids: set[str] = field(default_factory=set)
    activities: dict[str, Owner] = field(default_factory=dict)
    is_misbegun: bool = False
    breaches: list[GrammarBreach] = field(default_factory=list)
    notes: list[GrammarNote] = field(default_factory=list)

    def breach(self, clause: str) -> None:
        self.breaches.append(GrammarBreach(clause=clause, index=self.index, text=CLAUSES[clause]))

    def note(self, text: str) -> None:
        self.notes.append(GrammarNote(index=self.index, text=text))

    # Runs.

    def end(self) -> None:
        if self.phase in ("none", "active"):
            self.breach("LIFE-02")

    def take(self, event: Json) -> None:
        value: Record = event if is_record(event) else {}
        kind = text_of(value, "type") or ""
        if kind == "RUN_STARTED":
            if self.phase == "active":
                self.breach("LIFE-08")
            self._start(value)
        elif self.phase in ("finished", "failed"):
            if kind == "RUN_ERROR" and self.phase == "finished":
                self.phase = "failed"
            else:
                self.breach("LIFE-07")
        elif kind == "RUN_ERROR":
            self.phase = "failed"
        elif self.phase == "none":
            self._before_any_run(kind)
        elif kind == "RUN_FINISHED":
            self._finish(value)
        elif kind in ROWS:
            self._inside(kind, value)

    def _before_any_run(self, kind: str) -> None:
        if not self.is_misbegun:
            self.breach("LIFE-01")
        self.is_misbegun = True
        if kind == "RUN_FINISHED":
            self.phase = "finished"

    def _start(self, event: Record) -> None:
        run_id = text_of(event, "runId")
        if run_id in self.run_ids:
            self.breach("GEN-05")
        elif run_id is not None:
            self.run_ids.add(run_id)
        self.run = OpenRun(event.get("threadId"), run_id)
        self.phase = "active"

    def _finish(self, event: Record) -> None:
        run = self.run
        run.end_lanes()
        left_open = {
            "STR-03": run.items,
            "RSN-01": run.spans,
            "LIFE-10": run.steps,
            "SUB-04": run.active,
        }
        for clause, items in left_open.items():
            if items:
                self.breach(clause)
        for clause, member, begun in (
            ("IN-09", "threadId", run.thread),
            ("IN-10", "runId", run.run),
        ):
            named = text_of(event, member)
            if named is not None and is_text(begun) and named != begun:
                self.breach(clause)
        self.phase = "finished"

    # Events of a run.

    def _inside(self, kind: str, event: Record) -> None:
        row = ROWS[kind]
        tag = text_of(event, "subagentRunId")
        if row.family == "subagent":
            self._subagent(row, event, tag)
            return
        if tag is not None:
            self.run.tags.add(tag)
            if tag in self.run.ended and row.move != "chunk":
                self.note("an event of a subagent that has ended")
        if row.move == "chunk":
            self._chunk(row.family, event, text_of(event, row.member), tag)
        elif row.family in STREAMED:
            self._streamed(row, event, text_of(event, row.member), tag)
        else:
            self._standing(kind, row, event, tag)

    def _standing(self, kind: str, row: Row, event: Record, tag: Owner) -> None:
        if row.ends == "all":
            self.run.end_lanes()
        elif row.ends == "lane":
            self.run.end_lane(tag)
        name = text_of(event, row.member)
        if kind == "MESSAGES_SNAPSHOT":
            self._restated(event.get("messages"))
        elif name is None:
            return
        elif row.family == "span":
            self._span(row, name)
        elif row.family == "step":
            self._step(row, (tag, name))
        elif row.family == "activity":
            self._activity(row, event, name, tag)

    def _streamed(self, row: Row, event: Record, item_id: str | None, tag: Owner) -> None:
        """Take an event of the explicit form."""
        run, family = self.run, row.family
        if item_id is None:
            run.end_lane(tag)
            return
        item = run.items.get((family, item_id))
        untagged = tag is None and item is not None and row.move != "open"
        ended = run.end_lane(item.owner if untagged and item is not None else tag)
        if row.move == "open":
            if ended is not None and (ended.family, ended.id) == (family, item_id):
                self.note("an item begun in chunks is opened again")
            self._open(opened(family, item_id, tag, "explicit", event))
            return
        item = run.items.get((family, item_id))
        if item is None:
            known = run.known.get((family, item_id))
            mixed = known is not None and known.form == "chunks"
            self.breach("STR-07" if mixed else "STR-02")
        elif item.form == "chunks":
            self.breach("STR-07")
        else:
            if tag not in (None, item.owner):
                self.breach("SUB-07")
            if row.move == "close":
                run.close(item)

    def _open(self, item: Item) -> None:
        """Open an item that is not open, if it agrees with what is known of it."""
        run = self.run
        key = (item.family, item.id)
        if key in run.items:
            mixed = item.form == "chunks" and run.items[key].form == "explicit"
            self.breach("STR-07" if mixed else "STR-01")
            return
        before = run.known.get(key)
        parent = run.known.get(("text", item.said.get("parentMessageId", "")))
        if before is not None and not item.agrees(before) and item.family in REOPENED:
            self.breach(REOPENED[item.family])
        elif parent is not None and item.owner not in (None, parent.owner):
            # A call without a tag inherits its message's owner.
            self.breach("TOOL-01")
        if before is not None and before.form != item.form:
            self.note("an item is opened again in the other form")
        run.put(run.taken_over(item))

    def _chunk(self, family: Family, event: Record, item_id: str | None, tag: Owner) -> None:
        run = self.run
        if tag in run.ended:
            self.breach("STR-09")
            return
        lane = tag
        if tag is None and item_id is not None:
            lane = run.lane_of_id(family, item_id)
        elif tag is None:
            lanes = run.streaming(family)
            if len(lanes) > 1 and None not in lanes:
                self.breach("STR-08")
                return
            lane = None if None in lanes or not lanes else lanes[0]
        streamed = run.lanes.get(lane)
        if streamed is not None and streamed.family == family and item_id in (None, streamed.id):
            if not streamed.allows(event):
                self.breach("STR-06")
            return
        if item_id is None or (family == "call" and text_of(event, "toolCallName") is None):
            explicit = run.items.get((family, item_id or ""))
            self.breach("STR-07" if item_id is not None and explicit is not None else "STR-04")
            return
        if (family, item_id) not in run.items:
            run.end_lane(lane)
        self._open(opened(family, item_id, lane, "chunks", event))

    def _span(self, row: Row, name: str) -> None:
        if (row.move == "open") == (name in self.run.spans):
            self.breach("RSN-01")
        elif row.move == "open":
            self.run.spans.add(name)
        else:
            self.run.spans.remove(name)

    def _step(self, row: Row, step: tuple[Owner, str]) -> None:
        steps = self.run.steps
        if row.move == "open":
            if step in steps:
                self.breach("LIFE-10")
            steps.add(step)
        elif step in steps:
            steps.remove(step)
        else:
            elsewhere = any(name == step[1] for _owner, name in steps)
            self.breach("SUB-08" if elsewhere else "LIFE-10")

    def _activity(self, row: Row, event: Record, name: str, tag: Owner) -> None:
        known = name in self.activities
        differs = known and tag not in (None, self.activities[name])
        if row.move == "open":
            if differs and event.get("replace") is False:
                self.breach("ACT-04")
            elif not known or event.get("replace") is not False:
                self.activities[name] = tag
        elif not known:
            self.breach("ACT-01")
        elif differs:
            self.breach("SUB-07")

    def _restated(self, messages: Json) -> None:
        """Learn the activities that a snapshot of the conversation holds."""
        for message in messages if isinstance(messages, list) else []:
            if is_record(message) and message.get("role") == "activity":
                name = text_of(message, "id")
                if name is not None:
                    self.activities[name] = text_of(message, "subagentRunId")

    def _subagent(self, row: Row, event: Record, name: str | None) -> None:
        run = self.run
        if name is None:
            return
        if row.move == "close":
            if name not in run.active:
                self.note("the end of a subagent that is not open")
                return
            run.active.remove(name)
            run.ended.add(name)
            run.end_lane(name)
            if run.owns_open_items(name):
                self.note("a subagent ends with items of its own open")
            return
        if name in run.active or name in run.ended:
            self.breach("SUB-02")
            return
        if name in run.tags:
            self.breach("SUB-03")
        parent = text_of(event, "parentSubagentRunId")
        if parent is not None and parent not in run.active and parent not in run.ended:
            self.breach("SUB-09")
        run.active.add(name)
