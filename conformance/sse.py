"""
Server-sent events from bytes, without I/O.

The rules are WHATWG's ("Interpreting an event stream"): a byte order mark at
the start, lines that end in LF, CR or CRLF, several ``data`` lines joined by
LF, comments, fields without a colon. Whatever the bytes, there is no
exception: what is wrong is noted in :attr:`SseParser.problems`. However the
bytes are split, events and problems are the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

DEFAULT_MAX_EVENT_BYTES: Final = 1024 * 1024

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LF: Final = 0x0A
_CR: Final = 0x0D


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """
    One event as it is framed.

    Attributes:
        data: its ``data`` lines, joined by LF.
        name: its ``event`` field, or "".
        offset: bytes of the stream before its first line.
    """

    data: str
    name: str
    offset: int


class SseParser:
    """
    Takes the bytes of one stream in pieces of any size and gives its events.

    Memory is bounded: an event whose kept lines and present line pass
    *max_event_bytes* is left out whole, and noted.
    """

    def __init__(self, max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._line = bytearray()  # the present line, without its end
        self._line_at = 0  # bytes of the stream before _line
        self._line_is_cut = False  # bytes of the present line were let go
        self._is_first_line = True
        self._after_cr = False  # an LF that comes now belongs to that CR
        self._event_at = 0
        self._data: list[str] = []
        self._name = ""
        self._kept = 0  # bytes of the lines that _data and _name come from
        self._is_too_large = False
        self._problems: dict[str, None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """What was wrong so far, each name once, in order of appearance."""
        return tuple(self._problems)

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Take the next bytes of the stream; give the events that they end."""
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == _LF:
                if self._event_at == self._line_at:
                    self._event_at += 1
                self._line_at += 1
                data = data[1:]
        if not data:
            return []
        events: list[ServerSentEvent] = []
        scanned = len(self._line)
        self._line += data
        start = 0
        for end in _LINE_END.finditer(self._line, scanned):
            line = bytes(self._line[start : end.start()])
            event = self._end_line(line, self._line_at + end.end())
            if event is not None:
                events.append(event)
            if self._line[end.start()] == _CR:
                self._note("cr-line-end")
            start = end.end()
        if start:
            self._after_cr = self._line[-1] == _CR
            del self._line[:start]
            self._line_at += start
        self._bound_line()
        return events

    def finish(self) -> None:
        """
        Say that the stream is over.

        An event without the empty line that ends it is dropped, as a browser
        does, and noted.
        """
        line = bytes(self._line)
        if self._is_first_line:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        has_field = self._line_is_cut or (line and not line.startswith(b":"))
        if has_field or self._data or self._is_too_large:
            self._note("unfinished-event")

    def _note(self, problem: str) -> None:
        self._problems.setdefault(problem)

    def _bound_line(self) -> None:
        """Let go of a line that is too long already."""
        if self._is_too_large or self._kept + len(self._line) > self._max_event_bytes:
            self._set_too_large()
            if self._line:
                self._line_is_cut = True
                self._line_at += len(self._line)
                self._line.clear()

    def _set_too_large(self) -> None:
        self._is_too_large = True
        self._data.clear()
        self._note("event-too-large")

    def _end_line(self, line: bytes, next_at: int) -> ServerSentEvent | None:
        """Take a whole line; *next_at* bytes of the stream lie before the next one."""
        is_cut, self._line_is_cut = self._line_is_cut, False
        is_first, self._is_first_line = self._is_first_line, False
        if not self._is_too_large and self._kept + len(line) > self._max_event_bytes:
            self._set_too_large()
            return None
        if is_first:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line and not is_cut:
            return self._end_event(next_at)
        if not self._is_too_large:
            self._field(line)
        return None

    def _field(self, line: bytes) -> None:
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            text = line.decode("utf-8", "replace")
            self._note("invalid-utf-8")
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._kept += len(line)
        elif name == "event":
            self._name = value

    def _end_event(self, next_at: int) -> ServerSentEvent | None:
        event = None
        if self._data and not self._is_too_large:
            event = ServerSentEvent("\n".join(self._data), self._name, self._event_at)
        self._data.clear()
        self._name = ""
        self._kept = 0
        self._is_too_large = False
        self._event_at = next_at
        return event
