"""
One request to a host and everything that came back, as plain values.

A target makes an :class:`Exchange` for every request, whatever the host does:
an answer, a cut stream, silence, garbage. Rules read exchanges and nothing
else, so a recorded one can be judged again later.

Text that came from the host stays in ``headers``, ``body`` and ``events``.
``detail`` and ``problems`` are always our own words.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final, Literal, NoReturn, TypeAlias

from hostproof.reference_impl.values import MISSING, Json, Record, is_record, is_text

MAX_LEVELS: Final = 160
"""
Deepest JSON that is read; what lies deeper counts as no JSON, so that rules may recurse.

What we send nests to 128, and a host may echo it inside an event.
"""

TERMINAL_TYPES: Final = frozenset({"RUN_FINISHED", "RUN_ERROR"})
"""Types of the events that end a run."""

End: TypeAlias = Literal["complete", "cut", "reset", "deadline", "cap", "unreachable", "protocol"]
"""
How an exchange ended.

``complete``: the response ended as HTTP says it should. ``cut``: the body broke
off before its announced end. ``reset``: the connection was dropped before any
response head. ``deadline``: we stopped waiting. ``cap``: we stopped reading,
it was too much. ``unreachable``: no connection. ``protocol``: not HTTP.
"""

Headers: TypeAlias = tuple[tuple[str, str], ...]

_PATH: Final = re.compile(r"(?:[/?][!-~]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """
    A request, before any target adds what its wire needs.

    Attributes:
        method: the HTTP method, as it is sent.
        path: a path with its query on the target's own origin (``/other?a=1``),
            a query alone (``?a=1``, on the target's own path), or "" for the
            target's own URL. Printable ASCII, sent as it stands.
        headers: names and values, in order; the values never appear in a ``repr``.
        body: the exact bytes; the target sends their number as ``Content-Length``.

    Raises:
        ValueError: *path* is none of these.
    """

    method: str = "POST"
    path: str = ""
    headers: Headers = field(default=(), repr=False)
    body: bytes = b""

    def __post_init__(self) -> None:
        if _PATH.fullmatch(self.path) is None:
            raise ValueError(
                "a path begins with / or ? and is printable ASCII: percent-encode the rest"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """
    One server-sent event.

    Attributes:
        data: its ``data`` lines, joined.
        value: *data* read as JSON, if it is an object; else ``MISSING``.
        name: its ``event`` field, or "".
        offset: bytes of the (decoded) body before its first line.
        seconds: since the request began, when its end arrived.
    """

    data: str
    value: Json
    offset: int
    seconds: float
    name: str = ""

    @property
    def type(self) -> str:
        """Its AG-UI type, or "" when it has none."""
        found = self.value.get("type") if is_record(self.value) else None
        return found if is_text(found) else ""

    @property
    def members(self) -> Record:
        """Its members; none where it is no object."""
        return self.value if is_record(self.value) else {}

    @property
    def is_terminal(self) -> bool:
        """Whether it ends its run."""
        return self.type in TERMINAL_TYPES


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Exchange:
    """
    A request, what came back, and how that ended.

    Attributes:
        request: as it was asked for.
        status: the HTTP status; None when no response head came.
        headers: of the response, in order, with lower-case names.
        body: without its ``gzip`` or ``deflate`` coding when that could be
            undone within the cap; else as received.
        events: of a ``text/event-stream``, in order of arrival.
        end: how it ended.
        detail: one short sentence of ours on the end, or "".
        seconds: from the start to the end.
        problems: names of what is wrong with the framing, each once:
            ``invalid-utf-8``, ``cr-line-end`` (CR or CRLF; allowed),
            ``event-too-large`` (left out), ``unfinished-event`` (at the end),
            ``data-no-json-object``, ``content-encoding`` (could not be undone).
        crash: what an app in this process raised and did not handle.
        memo: what was worked out from it before, by a name.
    """

    request: Request
    status: int | None = None
    headers: Headers = ()
    body: bytes = field(default=b"", repr=False)
    events: tuple[Event, ...] = field(default=(), repr=False)
    end: End
    detail: str = ""
    seconds: float
    problems: tuple[str, ...] = ()
    crash: BaseException | None = field(default=None, compare=False)
    memo: dict[str, object] = field(init=False, default_factory=dict, compare=False, repr=False)

    def header(self, name: str) -> str | None:
        """Give the first response header of that *name* (any case), or None."""
        wanted = name.lower()
        return next((value for at, value in self.headers if at == wanted), None)

    @property
    def content_type(self) -> str:
        """The media type in lower case, without its parameters; "" when there is none."""
        return media_type(self.header("content-type"))

    @property
    def is_stream(self) -> bool:
        """Whether the response calls itself an event stream."""
        return self.content_type == "text/event-stream"

    @property
    def json(self) -> Json:
        """The body read as JSON, or ``MISSING``. It is read anew each time."""
        try:
            return read_json(self.body.decode("utf-8"))
        except UnicodeDecodeError:
            return MISSING

    @property
    def text(self) -> str:
        """The body as text to search in; what is no UTF-8 becomes U+FFFD."""
        return self.body.decode("utf-8", "replace")


def media_type(value: str | None) -> str:
    """Take the parameters off a ``Content-Type`` and put it in lower case; "" for None."""
    return (value or "").partition(";")[0].strip().lower()


def read_json(text: str) -> Json:
    """
    Read *text* as JSON (RFC 8259: no ``NaN``), or give ``MISSING``.

    ``MISSING`` too for what is deeper than :data:`MAX_LEVELS`, or holds an
    integer longer than Python reads.
    """
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return MISSING
    if isinstance(value, list | dict) and text.count("[") + text.count("{") > MAX_LEVELS:
        return MISSING if _is_deep(value) else value
    return value


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_json)


def _is_deep(value: Json) -> bool:
    """Say whether arrays and objects lie in each other deeper than they may."""
    level = [value]
    for _ in range(MAX_LEVELS):
        level = [
            item
            for holder in level
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, list | dict)
        ]
        if not level:
            return False
    return True
