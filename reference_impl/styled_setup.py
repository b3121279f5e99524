"""
How the styled host speaks: its pauses, its answers, who keeps the history, and its habits.

The styled host is a second right host, put together anew and able to keep the
ways of many: each member here is a habit that some host in use has, and none
of them changes what may run.

Source: docs/profile.md, "Pauses and answers"; AG-UI 1.0, patterns/interrupt-resume.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hostproof.reference_impl.values import Json, is_record

Pause: TypeAlias = Literal["interrupt", "custom", "call"]
Answered: TypeAlias = Literal["resume", "command", "tool-message"]
History: TypeAlias = Literal["server", "client"]
EffectsKept: TypeAlias = Literal["url", "file", "command", "python", "stream", "observation"]
Replayed: TypeAlias = Literal["refuse", "finish", "kept-text", "kept-result"]
Shape: TypeAlias = Literal["problem", "detail", "array", "error", "text", "html", "run-error"]

PAIRS: Final[frozenset[tuple[Pause, Answered]]] = frozenset(
    {
        ("interrupt", "resume"),
        ("interrupt", "command"),
        ("interrupt", "tool-message"),
        ("custom", "command"),
        ("call", "tool-message"),
    }
)
"""How a pause shows, and how it can be answered then."""

CUSTOM_EVENT: Final = "hostproof.on_interrupt"
"""The event of a host's own that asks, with the prefix that such names should have."""

CONFIRM: Final = "confirm"
"""The page's tool whose open call asks, for the pause ``call``."""

FORM: Final = "show_form"
"""The page's own tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledSetup:
    """
    The style of a host.

    Attributes:
        pause: an interrupt outcome; a CUSTOM event beside it; an open call of the page's
            tool ``confirm``.
        event: the name of that CUSTOM event.
        answer: in ``resume``; in ``forwardedProps.command.resume``; as the call's result.
        history: whether a request brings the new message or all of them.
        effects: where what ran can be read.
        yes: the payload of a yes: a value, or an object with one true member.
        no: the payload of a no.
        tells_schema: whether an interrupt says what an answer looks like.
        thread_as_id: whether an interrupt has the id of its thread; one is open at a time then.
        parent_run: whether an answer has to name the paused run as ``parentRunId``.
        uuid_threads: whether only UUIDs are taken as thread ids.
        error_result: whether the guarded call is shown with a result that says it waits;
            for the pause ``call``.
        confirm_beside: whether a call of a tool of the host's own is left open beside the pause.
        expires: whether an interrupt has ``expiresAt`` and ``metadata``.
        on_replay: what an answer to what was answered before gets.
        shape: how a refusal looks.
        started_before_error: whether RUN_STARTED precedes a refusal's RUN_ERROR.
        echo_input: whether RUN_STARTED echoes the input.
        drops_known_ids: whether a message is dropped whose id the thread has seen.
        chunks: whether texts and calls come as chunks.
        snapshot: whether the conversation is restated before a run ends.
        get_capabilities: whether GET on the path of a run answers 200.
        paths: of its agents; the first is the main one.
        call_seconds: how long a guarded call takes, so that answers overlap.

    Raises:
        ValueError: the members do not go together.
    """

    pause: Pause = "interrupt"
    event: str = CUSTOM_EVENT
    answer: Answered = "resume"
    history: History = "server"
    effects: EffectsKept = "url"
    yes: Json = None
    no: Json = None
    tells_schema: bool = True
    thread_as_id: bool = False
    parent_run: bool = False
    uuid_threads: bool = False
    error_result: bool = False
    confirm_beside: bool = False
    expires: bool = False
    on_replay: Replayed = "refuse"
    shape: Shape = "problem"
    started_before_error: bool = False
    echo_input: bool = False
    drops_known_ids: bool = False
    chunks: bool = False
    snapshot: bool = False
    get_capabilities: bool = False
    paths: tuple[str, ...] = ("/agui",)
    call_seconds: float = 0.05

    def __post_init__(self) -> None:
        if (self.pause, self.answer) not in PAIRS:
            raise ValueError(f"a pause as {self.pause} is not answered by {self.answer}")
        if self.error_result and self.pause != "call":
            raise ValueError("error_result goes with the pause call only")
        if self.confirm_beside and self.pause == "call":
            raise ValueError("confirm_beside does not go with the pause call")
        if self.started_before_error and self.shape != "run-error":
            raise ValueError("started_before_error goes with the shape run-error only")
        if self.pause == "call" and self.thread_as_id:
            raise ValueError("the pause call has no interrupt that could have an id")
        if not self.paths:
            raise ValueError("a host has at least one agent")

    @property
    def says_yes(self) -> Json:
        """The payload of a yes."""
        return {"approved": True} if self.yes is None else self.yes

    @property
    def says_no(self) -> Json:
        """The payload of a no: what was given, or the yes with its true member false."""
        if self.no is not None:
            return self.no
        key = self.key
        return False if key is None else {**self.says_yes, key: False}

    @property
    def key(self) -> str | None:
        """The one member of a yes that says so, or ``None`` for a bare value."""
        yes = self.says_yes
        if not is_record(yes):
            return None
        return next((name for name, value in yes.items() if value is True), None)

    @property
    def response_schema(self) -> Json:
        """What an answer has to look like, as a JSON Schema."""
        key, yes = self.key, self.says_yes
        if key is not None:
            return {
                "type": "object",
                "properties": {key: {"type": "boolean"}},
                "required": [key],
            }
        return {"type": "boolean"} if isinstance(yes, bool) else {"enum": [yes, self.says_no]}
