"""
What every target does with a response: keep it within its limits, read its events.

No I/O and no clock: the target brings heads, bytes and the seconds since the
request began, and asks how long it may go on waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostproof.conformance.decoding import Decoder
from hostproof.conformance.exchange import (
    End,
    Event,
    Exchange,
    Headers,
    Request,
    media_type,
    read_json,
)
from hostproof.conformance.sse import ServerSentEvent, SseParser
from hostproof.reference_impl.values import MISSING, is_record

if TYPE_CHECKING:
    from hostproof.conformance.target import Limits


class Recorder:
    """Records one exchange: :meth:`head` once, :meth:`feed` until it says no, :meth:`finish`."""

    def __init__(self, request: Request, limits: Limits) -> None:
        self._request = request
        self._limits = limits
        self._status: int | None = None
        self._headers: Headers = ()
        self._received = bytearray()
        self._decoded: bytearray | None = None  # None while there is no coding to undo
        self._decoder: Decoder | None = None
        self._parser: SseParser | None = None
        self._events: list[Event] = []
        self._problems: dict[str, None] = {}
        self._terminal_at: float | None = None
        self._why_full = ""

    @property
    def status(self) -> int | None:
        """The status, once the head is there."""
        return self._status

    @property
    def due_seconds(self) -> float:
        """Seconds since the start at which waiting ends, as far as is known now."""
        limits = self._limits
        if self._status is None:
            return min(limits.head_seconds, limits.deadline_seconds)
        if self._terminal_at is not None and limits.stop_after_terminal:
            return min(self._terminal_at + limits.grace_seconds, limits.deadline_seconds)
        return limits.deadline_seconds

    @property
    def overdue(self) -> str:
        """Why waiting ends at :attr:`due_seconds`, in a few words for ``detail``."""
        due = f"{self.due_seconds:g} s"
        if self._status is None:
            return f"no response head within {due}"
        if self.due_seconds < self._limits.deadline_seconds:
            return "the stream stayed open after its terminal event"
        return f"the response did not end within {due}"

    def head(self, status: int, headers: Headers) -> None:
        """Take the response head; names of *headers* in lower case."""
        self._status = status
        self._headers = headers
        found = dict(reversed(headers))
        coding = found.get("content-encoding", "").strip().lower()
        if coding not in ("", "identity"):
            try:
                self._decoder = Decoder(coding)
            except ValueError:
                self._problems["content-encoding"] = None
            else:
                self._decoded = bytearray()
        if media_type(found.get("content-type")) == "text/event-stream":
            self._parser = SseParser(self._limits.max_event_bytes)

    def feed(self, data: bytes, seconds: float) -> bool:
        """Take bytes of the body; say whether there is room for more."""
        if self._why_full:
            return False
        room = self._limits.max_bytes - len(self._received)
        if len(data) > room:
            self._why_full = f"the body is larger than {self._limits.max_bytes} bytes"
            data = data[:room]
        self._received += data
        if self._decoder is not None:
            self._decode(self._decoder, data, seconds)
        else:
            self._parse(data, seconds)
        return not self._why_full

    def finish(
        self,
        end: End,
        seconds: float,
        *,
        detail: str = "",
        crash: BaseException | None = None,
    ) -> Exchange:
        """Give the exchange. A body that was too much ends it by ``cap``, whatever *end* is."""
        if self._why_full:
            end, detail = "cap", self._why_full
        is_coded = self._decoder is not None and not self._decoder.is_finished
        if is_coded and end == "complete" and self._received:
            self._problems["content-encoding"] = None
        if self._parser is not None:
            if end != "cap":
                self._parser.finish()
            self._problems.update(dict.fromkeys(self._parser.problems))
        return Exchange(
            request=self._request,
            status=self._status,
            headers=self._headers,
            body=bytes(self._received if self._decoded is None else self._decoded),
            events=tuple(self._events),
            end=end,
            detail=detail,
            seconds=seconds,
            problems=tuple(self._problems),
            crash=crash,
        )

    def _decode(self, decoder: Decoder, data: bytes, seconds: float) -> None:
        """Undo the coding; once that fails, the body is what was received."""
        if self._decoded is None:
            return
        try:
            for piece in decoder.pieces(data):
                if len(self._decoded) + len(piece) > self._limits.max_bytes:
                    limit = self._limits.max_bytes
                    self._why_full = f"the decoded body is larger than {limit} bytes"
                    self._decoded = None
                    return
                self._decoded += piece
                self._parse(piece, seconds)
                if self._why_full:
                    return
        except ValueError:
            self._problems["content-encoding"] = None
            self._decoded = None

    def _parse(self, data: bytes, seconds: float) -> None:
        if self._parser is None:
            return
        for event in self._parser.feed(data):
            if len(self._events) == self._limits.max_events:
                self._why_full = f"the stream has more than {self._limits.max_events} events"
            if self._why_full:
                return
            self._keep(event, seconds)

    def _keep(self, event: ServerSentEvent, seconds: float) -> None:
        value = read_json(event.data)
        if not is_record(value):
            value = MISSING
            self._problems["data-no-json-object"] = None
        kept = Event(
            data=event.data, value=value, offset=event.offset, seconds=seconds, name=event.name
        )
        self._events.append(kept)
        if kept.type and kept.type == self._limits.stop_at:
            self._why_full = f"we hung up at {kept.type}"
        if self._terminal_at is None and kept.is_terminal:
            self._terminal_at = seconds
