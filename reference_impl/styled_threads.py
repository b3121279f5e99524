"""
What the styled host remembers: threads, what is open on them, what was answered, what ran.

In memory, and for the life of one host. Whoever keeps the history, what was
asked and what was answered is kept here: an answer counts once, for the thread
and the caller it was asked of.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from hostproof.reference_impl.styled_model import Kind, StyledCall
    from hostproof.reference_impl.values import Record


class StyledKey(NamedTuple):
    """A thread: the agent's path, the caller it belongs to, and its id."""

    path: str
    caller: str
    thread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """
    One question of a pause.

    Attributes:
        id: of the interrupt.
        name: what an answer names it by.
        call: the call it is about.
        confirm: the id of the call that asks, or "".
    """

    id: str
    name: str
    call: StyledCall
    confirm: str = ""

    @property
    def kind(self) -> Kind:
        """What its call waits for."""
        return self.call.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPause:
    """
    What a thread waits for.

    Attributes:
        asks: its questions, in order; all are answered at once.
        run: the run that asked.
        nonce: the word of the cue.
        behind: the calls that come after it.
    """

    asks: tuple[Ask, ...]
    run: str
    nonce: str
    behind: tuple[StyledCall, ...] = ()

    @property
    def is_pages(self) -> bool:
        """Whether the page itself runs what is open."""
        return self.asks[0].kind == "page"


@dataclass(slots=True)
class StyledThread:
    """
    One thread.

    Attributes:
        key: whose and which.
        messages: the conversation as the host keeps it.
        pause: what it waits for, or ``None``.
        spent: what was answered, by name.
        results: what came of it, by the id of its call.
        seen: ids of the messages that were sent on it.
        busy: whether a run of it is going on.
    """

    key: StyledKey
    messages: list[Record] = field(default_factory=list)
    pause: OpenPause | None = None
    spent: dict[str, Ask] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    busy: bool = False


MOST_REQUESTS: Final = 10_000
"""The newest so many requests to the model are kept."""


@dataclass(slots=True)
class StyledMemory:
    """
    All that one host remembers.

    Attributes:
        threads: by key.
        effects: one row for each execution, oldest first.
        requests: what the model was given, oldest first.
    """

    threads: dict[StyledKey, StyledThread] = field(default_factory=dict)
    effects: list[Record] = field(default_factory=list)
    requests: list[Record] = field(default_factory=list)

    def thread(self, key: StyledKey) -> StyledThread:
        """Give a thread, a new one where there is none."""
        return self.threads.setdefault(key, StyledThread(key))

    def ran(self, key: StyledKey, call: StyledCall) -> Record:
        """Keep that a call was executed, and give the row."""
        row: Record = {
            "caller": key.caller,
            "thread": key.thread,
            "tool": call.name,
            "arguments": dict(call.arguments),
            "callId": call.id,
        }
        self.effects.append(row)
        return row

    def model_asked(self, key: StyledKey, request: Record) -> None:
        """Keep what the model was given."""
        self.requests.append({"caller": key.caller, "thread": key.thread, **request})
        del self.requests[:-MOST_REQUESTS]

    def document(self, caller: str | None, thread: str | None) -> Record:
        """Write the observation document, of one thread or of all (docs/observation.md)."""

        def chosen(rows: list[Record]) -> list[Record]:
            wanted = {"caller": caller, "thread": thread}
            return [
                row
                for row in rows
                if all(value in (None, row[name]) for name, value in wanted.items())
            ]

        threads = [
            one
            for one in self.threads.values()
            if caller in (None, one.key.caller) and thread in (None, one.key.thread)
        ]
        return {
            "format": "hostproof-observation",
            "version": 1,
            "effects": chosen(self.effects),
            "pauses": [row for one in threads for row in _pauses(one)],
            "modelRequests": chosen(self.requests),
            "messages": [] if thread is None else [m for one in threads for m in one.messages],
            "decisions": [],
        }


def _pauses(thread: StyledThread) -> list[Record]:
    if thread.pause is None:
        return []
    return [
        {
            "caller": thread.key.caller,
            "thread": thread.key.thread,
            "interruptId": ask.id,
            "kind": ask.kind,
            "pending": {"call": ask.call.id},
        }
        for ask in thread.pause.asks
    ]
