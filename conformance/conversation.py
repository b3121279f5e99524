"""
A thread as its client keeps it: what was said, what is open, and what was shown.

Every request of a case is written here, so that it comes in the host's style:
with the new message or with the whole history, with its yes and its way to answer.

Source: docs/profile.md, "Pauses and answers".
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.history import messages_after
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.style import (
    Asked,
    InexpressibleError,
    answer_members,
    questions_of,
    worded,
    words_of,
)
from hostproof.reference_impl.values import Json, Record, is_record, is_text
from hostproof.strategies.changes import user_message
from hostproof.strategies.edits import filled
from hostproof.strategies.plan_changes import FORM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.answer_words import Words
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.conformance.profile import Profile

PROTOCOL_VERSION: Final = "1.0"
FORM_OFFER: Final[Record] = FORM | {"description": "A form."}
"""A page's tool, as a request offers it."""

CALLS: Final = ("TOOL_CALL_START", "TOOL_CALL_CHUNK")
PIECES: Final = ("TOOL_CALL_ARGS", "TOOL_CALL_CHUNK")
WORDS: Final = {"yes": "{yes}", "no": "{no}", "key": "{key}"}
"""The places of the host's words, which stay until the words are put there."""

SLOTS: Final = ("", "second_", "third_")
"""What stands before ``interrupt`` and ``call`` in the slots of each open question."""


@dataclass(slots=True, kw_only=True)
class Conversation:
    """
    One thread of a case.

    Attributes:
        profile: how its host is spoken to.
        ids: makes the ids of its runs and messages, and its nonces.
        case: the case that it belongs to.
        id: the thread's id.
        nonces: every word that its cues carried.
        history: the client's copy of the messages; empty where the host keeps them.
        asked: the questions of its newest pause.
        is_open: whether they still wait.
        at_pause: the history at that pause, which is what a client answers with.
        paused_run: the run that asked, or "".
        client_call: the page's own call that is open, or "".
        earlier: what an answer named of the question before the newest, or "".
        shown: the arguments of every call that the page was shown, by call id.
        tools: the tools of those calls.
        exchanges: every answer on the thread.
    """

    profile: Profile
    ids: Identifiers
    case: str
    id: str
    nonces: list[str] = field(default_factory=list)
    history: list[Record] = field(default_factory=list)
    asked: tuple[Asked, ...] = ()
    is_open: bool = False
    at_pause: list[Record] = field(default_factory=list)
    paused_run: str = ""
    client_call: str = ""
    earlier: str = ""
    shown: dict[str, Record] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)

    @classmethod
    def begun(cls, profile: Profile, ids: Identifiers, case: str, name: str) -> Conversation:
        """Begin a thread: *name* tells it from the others of its case."""
        return cls(profile=profile, ids=ids, case=case, id=ids.uuid(case, name))

    @property
    def slots(self) -> dict[str, str]:
        """What edits and entries may name of what is open."""
        named: dict[str, str] = {}
        by_call = self.profile.answer.kind == "tool-message"
        for before, one in zip(SLOTS, self.asked, strict=False):
            named[before + "interrupt"] = one.call if by_call and one.call else one.id
            named[before + "call"] = one.call
        if self.earlier and self.earlier != named.get("interrupt"):
            # Where both have one id, an answer to the earlier is one to the newest.
            named["earlier_interrupt"] = self.earlier
        return named | ({"call": self.client_call} if self.client_call else {})

    @property
    def words(self) -> Words:
        """The host's yes and no for what is open."""
        asked = self.asked[0] if self.asked else Asked(id="")
        return words_of(self.profile.answer, asked)

    def on(self, thread_id: str) -> Conversation:
        """Give this conversation as another thread would carry it on; it shares what it saw."""
        return replace(self, id=thread_id)

    def cue(self, name: str, run: str) -> str:
        """Write a cue with a nonce of this thread's, which is kept."""
        nonce = self.ids.nonce(self.case, self.id, run)
        if nonce not in self.nonces:
            self.nonces.append(nonce)
        return self.profile.cues[name].replace("{nonce}", nonce)

    def body(
        self,
        run: str,
        messages: Sequence[Record] = (),
        *,
        history: Sequence[Record] | None = None,
        **members: Json,
    ) -> Record:
        """Write a request: *messages* after the *history*; *members* replace its own."""
        before = self.history if history is None else history
        pause = self.profile.pause
        tools = [offer(pause.tool)] if pause.offered else []
        return {
            "threadId": self.id,
            "runId": self.run_id(run),
            "protocolVersion": PROTOCOL_VERSION,
            "messages": [*before, *messages],
            "tools": tools,
            "context": [],
            "state": {},
            "forwardedProps": {},
        } | members

    def run_id(self, run: str) -> str:
        """Make the id of a run from its name in this thread."""
        return self.ids.uuid(self.case, self.id, run)

    def message(self, run: str, cue: str = "plain", **members: Json) -> Record:
        """Write a request with a person's message; *members* replace its own."""
        said = user_message(self.cue(cue, run), self.ids.uuid(self.case, self.id, run, "message"))
        return self.body(run, [said], **members)

    def result(self, run: str, content: str) -> Record:
        """Write a request with the result of the page's own open call."""
        message = {
            "id": self.ids.uuid(self.case, self.id, run, "result"),
            "role": "tool",
            "toolCallId": self.client_call,
            "content": content,
        }
        return self.body(run, [message])

    def answer(self, run: str, entries: Sequence[Json], canary: str) -> Record:
        """
        Write a request that answers what is open.

        Args:
            run: its name in this thread.
            entries: resume entries, with slots and the places of the host's words.
            canary: the case's marker.

        Raises:
            InexpressibleError: the host's style has no place for them.
        """
        members = answer_members(self.profile.answer, self.filled(entries, canary), self.asked)
        messages = [
            {"id": self.ids.uuid(self.case, self.id, run, "answer", str(at)), **message}
            for at, message in enumerate(members.pop("messages", []))
        ]
        if self.profile.answer.parent_run:
            members["parentRunId"] = self.paused_run
        return self.body(run, messages, history=self.at_pause, **members)

    def filled(self, entries: Sequence[Json], canary: str) -> list[Record]:
        """
        Put ids and the host's words into resume entries.

        Raises:
            InexpressibleError: the host's answers have no place for what they say.
        """
        slots = {"canary": canary, **WORDS, **self.slots}
        made = []
        for one in entries:
            try:
                said: Record = filled(one, slots)
            except KeyError as missing:
                raise InexpressibleError(f"a pause that names its {missing.args[0]}") from None
            if "payload" in said:  # the host's own words last: nothing in them is a slot
                schema = self.asked[0].schema if self.asked else None
                said["payload"] = worded(said["payload"], self.words, schema)
            made.append(said)
        return made

    def note(self, body: Record, exchange: Exchange) -> None:
        """Take what a run handed out; nothing where it did not go to its end."""
        self.exchanges.append(exchange)
        self._note_calls(exchange)
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return
        if self.profile.history == "client":
            sent = body.get("messages")
            self.history = messages_after(sent if isinstance(sent, list) else [], exchange.events)
        asked = questions_of(exchange, self.profile.pause)
        self.is_open = bool(asked)
        self.client_call = ""
        if asked:
            self.asked, self.at_pause = asked, list(self.history)
            self.paused_run = str(body.get("runId", ""))

    def _note_calls(self, exchange: Exchange) -> None:
        pieces: dict[str, str] = {}
        chunked = ""
        for event in exchange.events:
            call_id = event.members.get("toolCallId")
            if event.type == "TOOL_CALL_CHUNK":
                # A later chunk need not name the call that it goes on with.
                call_id = chunked = call_id if is_text(call_id) else chunked
            if not is_text(call_id) or not call_id:
                continue
            if event.type in CALLS:
                pieces.setdefault(call_id, "")
                name = event.members.get("toolCallName")
                if is_text(name):
                    self.tools[call_id] = name
            if event.type in PIECES:
                pieces[call_id] = pieces.get(call_id, "") + str(event.members.get("delta", ""))
        for call_id, text in pieces.items():
            self.shown[call_id] = _arguments(text)

    def shown_for(self, row: Record) -> Record | None:
        """Give the arguments that the page was shown for what ran; ``None`` where none were."""
        named = self.shown.get(str(row.get("callId")))
        if named is not None:
            return named
        alike = [shown for shown in self.shown.values() if shown == row.get("arguments")]
        return next(iter(alike or self.shown.values()), None)


class UnpreparedError(Exception):
    """A situation could not be brought about; the message says what the host did."""


def body_text(body: Json) -> bytes:
    """Write a body the way the suite does: compact, in ASCII, names in order."""
    return json.dumps(body, separators=(",", ":")).encode("ascii")


def offer(tool: str) -> Record:
    """Write the offer of a tool with which the page asks the person."""
    return {
        "name": tool,
        "description": "Ask the person.",
        "parameters": {"type": "object", "properties": {}},
    }


def _arguments(text: str) -> Record:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if is_record(value) else {}
