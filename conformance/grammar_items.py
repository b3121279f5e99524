"""
What is open in one run: items, steps, subagents, and the chunk stream of each lane.

Pure. Used by :mod:`.grammar` alone.

Source: AG-UI 1.1, patterns/streaming, Closing a chunk stream; events/subagents, Ownership.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from hostproof.reference_impl.values import is_text

if TYPE_CHECKING:
    from hostproof.conformance.grammar_table import Family
    from hostproof.reference_impl.values import Json, Record

Owner = str | None
"""A subagent's invocation, or ``None`` for the parent agent."""

Form = Literal["explicit", "chunks"]

ASSISTANT: Final = "assistant"
STREAMED: Final[tuple[Family, ...]] = ("text", "call", "reasoning")


def text_of(event: Record, member: str) -> str | None:
    """Give a member that is a text; another value is the schema's business."""
    value = event.get(member)
    return value if is_text(value) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """
    A message or a call, as its opener made it.

    Attributes:
        family: its kind.
        id: its id.
        owner: who opened it.
        form: how it was opened.
        said: what the opener said of it; what it left off is not there.
    """

    family: Family
    id: str
    owner: Owner
    form: Form
    said: dict[str, str]

    def agrees(self, other: Item) -> bool:
        """Say whether an opener of the same item may stand beside this one."""
        if self.owner != other.owner:
            return False
        both = self.said.keys() & other.said.keys()
        return all(self.said[name] == other.said[name] for name in both)

    def allows(self, event: Record) -> bool:
        """Say whether what a continuing chunk repeats is what the opener said."""
        repeated = ((name, text_of(event, name)) for name in self.said)
        return all(value in (None, self.said[name]) for name, value in repeated)


_SAID: Final[dict[Family, tuple[str, ...]]] = {
    "text": ("role", "name"),
    "call": ("toolCallName", "parentMessageId"),
    "reasoning": (),
}


def opened(family: Family, item_id: str, owner: Owner, form: Form, event: Record) -> Item:
    """Make the item that an event opens; a message without a role is the assistant's."""
    given = ((name, text_of(event, name)) for name in _SAID[family])
    said = {name: value for name, value in given if value is not None}
    if family == "text":
        said.setdefault("role", ASSISTANT)
    return Item(family=family, id=item_id, owner=owner, form=form, said=said)


@dataclass(slots=True)
class OpenRun:
    """
    One run, from its start to its end.

    Attributes:
        thread: the thread that its start names.
        run: its id.
        items: open messages and calls.
        known: every message and call of the run, as it was last opened.
        spans: open spans of reasoning.
        steps: open steps, by owner and name.
        active: subagents that were announced and have not ended.
        ended: subagents that have.
        tags: subagents that events named, announced or not.
        lanes: the item that each lane streams in chunks.
    """

    thread: Json
    run: Json
    items: dict[tuple[Family, str], Item] = field(default_factory=dict)
    known: dict[tuple[Family, str], Item] = field(default_factory=dict)
    spans: set[str] = field(default_factory=set)
    steps: set[tuple[Owner, str]] = field(default_factory=set)
    active: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    lanes: dict[Owner, Item] = field(default_factory=dict)

    def put(self, item: Item) -> None:
        """Open an item; one in chunks is what its lane now streams."""
        self.items[item.family, item.id] = item
        self.known[item.family, item.id] = item
        if item.form == "chunks":
            self.lanes[item.owner] = item

    def close(self, item: Item) -> None:
        """Close an item."""
        self.items.pop((item.family, item.id), None)

    def end_lane(self, lane: Owner) -> Item | None:
        """End what a lane streams in chunks, and give it."""
        item = self.lanes.pop(lane, None)
        if item is not None:
            self.close(item)
        return item

    def end_lanes(self) -> None:
        """End every chunk stream."""
        for lane in list(self.lanes):
            self.end_lane(lane)

    def streaming(self, family: Family) -> list[Owner]:
        """List the lanes that stream an item of a family in chunks."""
        return [lane for lane, item in self.lanes.items() if item.family == family]

    def lane_of_id(self, family: Family, item_id: str) -> Owner:
        """Give the lane that streams an item in chunks; the parent's where none does."""
        for lane, item in self.lanes.items():
            if (item.family, item.id) == (family, item_id):
                return lane
        return None

    def owns_open_items(self, owner: Owner) -> bool:
        """Say whether anything that *owner* opened is open."""
        return any(item.owner == owner for item in self.items.values())

    def taken_over(self, item: Item) -> Item:
        """Keep what an earlier opener said of an item, where its new one leaves it off."""
        before = self.known.get((item.family, item.id))
        return item if before is None else replace(item, said={**before.said, **item.said})
