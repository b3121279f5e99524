"""
One answer's stream as AG-UI: its events, what breaks the grammar, and what has another shape.

Pure. Many rules read the same stream, so a reading is kept as long as its exchange.

Source: AG-UI 1.1, transports/http-sse, Response.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.conformance.agui_shapes import ShapeBreach, shape_breaches
from hostproof.conformance.exchange import read_json
from hostproof.conformance.grammar import GrammarReading, read_stream
from hostproof.reference_impl.values import Json, Record, is_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.recording import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """
    A stream that was read.

    Attributes:
        events: the values of its events that are objects; another is an empty one.
        input: the request's body, or an empty object.
        grammar: what the event grammar says.
        shapes: what the schema says, with the place of the event.
    """

    events: tuple[Record, ...]
    input: Record
    grammar: GrammarReading
    shapes: tuple[tuple[int, ShapeBreach], ...]


_KEPT: Final[dict[int, Reading | None]] = {}


def reading_of(exchange: Exchange) -> Reading | None:
    """
    Read the stream that answers a run; ``None`` where the answer is no stream of events.

    ``None`` too where an event was too large to be read: what is left out is not judged.
    """
    key = id(exchange)
    if key not in _KEPT:
        _KEPT[key] = _read(exchange)
        weakref.finalize(exchange, _KEPT.pop, key, None).atexit = False
    return _KEPT[key]


def _read(exchange: Exchange) -> Reading | None:
    answered = exchange.status is not None and 200 <= exchange.status < 300
    if not answered or not exchange.is_stream or exchange.request.method != "POST":
        return None
    if "event-too-large" in exchange.problems:
        return None
    values = [event.value for event in exchange.events]
    body = _body(exchange.request.body)
    return Reading(
        events=tuple(value if is_record(value) else {} for value in values),
        input=body if is_record(body) else {},
        grammar=read_stream(values, ended=exchange.end == "complete"),
        shapes=tuple(
            (index, breach)
            for index, value in enumerate(values)
            if is_record(value)
            for breach in shape_breaches(value)
        ),
    )


def _body(data: bytes) -> Json:
    try:
        return read_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None


def readings(recording: Recording) -> Iterator[tuple[str, Reading]]:
    """
    Give every stream of a recording, with words for where it stands.

    The words are "" for the one answer of a case, else they count its requests.
    """
    exchanges = recording.exchanges
    for number, exchange in enumerate(exchanges, 1):
        reading = reading_of(exchange)
        if reading is not None:
            yield ("" if len(exchanges) == 1 else f"request {number}: "), reading
