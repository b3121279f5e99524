"""
What a host's answer amounts to, whatever its style: accepted, refused, or broken.

Pure: it reads one recorded exchange. Refusal shapes are recognised, not
declared: any 4xx (a problem document, a framework's detail, text), or a stream
that ends in ``RUN_ERROR``.

Source: docs/verdicts.md, "What counts as a refusal".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from hostproof.reference_impl.values import Json, is_record, is_text
from hostproof.reports.printable import clipped

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Event, Exchange

Breakage: TypeAlias = Literal[
    "server-error",
    "silence",
    "cut",
    "dropped",
    "flood",
    "not-http",
    "unreachable",
    "no-events",
    "no-terminal-event",
    "no-stream",
]

MAX_NAME: Final = 100
"""Characters of a host's own word that are shown."""

_MEMO: Final = "outcome"
_BROKEN_ENDS: Final[dict[str, Breakage]] = {
    "cut": "cut",
    "reset": "dropped",
    "deadline": "silence",
    "cap": "flood",
    "protocol": "not-http",
    "unreachable": "unreachable",
}

BREAKAGES: Final[dict[Breakage, str]] = {
    "server-error": "a server error",
    "silence": "no end of the answer within the deadline",
    "cut": "an answer that broke off",
    "dropped": "a dropped connection",
    "flood": "more than is read of an answer",
    "not-http": "something that is no HTTP",
    "unreachable": "no connection",
    "no-events": "a stream without an event",
    "no-terminal-event": "a stream without a terminal event",
    "no-stream": "a success that is no event stream",
}
"""Each way to break, in words."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The run went to its end; *outcome* is its type (success where it names none)."""

    outcome: str
    finished: Json

    def describe(self) -> str:
        """Say it in words."""
        return f"accepted (RUN_FINISHED, {clipped(self.outcome, MAX_NAME)})"


@dataclass(frozen=True, slots=True)
class Refused:
    """
    A no.

    Attributes:
        status: the HTTP status; 200 where the stream said it.
        code: the code it names, or ``None``.
        field: the member it names, or ``None``.
        in_stream: whether a ``RUN_ERROR`` said it.
        reason: the reason it gives, or ``None``.
    """

    status: int
    code: str | None
    field: str | None
    in_stream: bool
    reason: str | None = None

    def describe(self) -> str:
        """Say it in words."""
        how = "RUN_ERROR" if self.in_stream else f"HTTP {self.status}"
        named = [clipped(self.code, MAX_NAME)] if self.code else ["no code"]
        if self.reason:
            named.append(clipped(self.reason, MAX_NAME))
        if self.field:
            named.append(f"field {clipped(self.field, MAX_NAME)}")
        return f"refused ({how}, {', '.join(named)})"


@dataclass(frozen=True, slots=True)
class Broken:
    """Neither: the host broke, in the way that *kind* names."""

    kind: Breakage
    status: int | None

    def describe(self) -> str:
        """Say it in words."""
        status = "" if self.status is None else f" (HTTP {self.status})"
        return BREAKAGES[self.kind] + status


Outcome: TypeAlias = Accepted | Refused | Broken


def outcome_of(exchange: Exchange) -> Outcome:
    """Say what an exchange amounts to; it is worked out once, a stream may be long."""
    known = exchange.memo.get(_MEMO)
    if isinstance(known, Accepted | Refused | Broken):
        return known
    found = exchange.memo[_MEMO] = _outcome(exchange)
    return found


def _outcome(exchange: Exchange) -> Outcome:
    status = exchange.status
    if exchange.end in _BROKEN_ENDS:
        terminal = _terminal(exchange)
        if exchange.end == "deadline" and terminal is not None and exchange.crash is None:
            # The run ended; that the body was not closed is another rule's concern.
            return _of_event(terminal)
        return Broken(_BROKEN_ENDS[exchange.end], status)
    if status is None or status >= 500:
        return Broken("server-error", status)
    if status >= 300:
        return _of_answer(exchange, status)
    if not exchange.is_stream:
        return Broken("no-stream", status)
    if not exchange.events:
        return Broken("no-events", status)
    terminal = _terminal(exchange)
    return Broken("no-terminal-event", status) if terminal is None else _of_event(terminal)


def _terminal(exchange: Exchange) -> Event | None:
    """Give the event that ends the stream's last run, if it has one."""
    for event in reversed(exchange.events):
        if event.is_terminal:
            return event
        if event.type == "RUN_STARTED":
            return None
    return None


def _of_event(event: Event) -> Outcome:
    value = event.value
    if event.type == "RUN_FINISHED":
        outcome = value.get("outcome")
        kind = outcome.get("type") if is_record(outcome) else "success"
        return Accepted(kind if is_text(kind) else "success", value)
    metadata = value.get("metadata")
    ours = metadata.get("hostproof") if is_record(metadata) else None
    more = ours if is_record(ours) else {}
    return Refused(
        200,
        _text(value.get("code")),
        _text(more.get("field")),
        in_stream=True,
        reason=_text(more.get("reason")),
    )


def _of_answer(exchange: Exchange, status: int) -> Refused:
    document = exchange.json
    if not is_record(document):
        return Refused(status, None, None, in_stream=False)
    return Refused(
        status,
        _text(document.get("code")),
        _text(document.get("field")),
        in_stream=False,
        reason=_text(document.get("reason")),
    )


def _text(value: Json) -> str | None:
    return value if is_text(value) else None
