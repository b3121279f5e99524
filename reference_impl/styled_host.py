"""
The styled host: a second right host of AG-UI, in any style, put together from replaceable parts.

It shares no agent, store or door with the reference host; what the two have in
common is how a body's bytes are read. The order of a request's steps stands in
one place (:meth:`StyledEndpoint.prepare`), and from the body on nothing is
awaited there: an answer is spent before another request can be looked at.

Source: docs/profile.md, "Pauses and answers"; AG-UI 1.0.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from hostproof.reference_impl.http_request import (
    DEFAULT_MAX_BYTES,
    check_media_type,
    check_method,
    header_values,
    read_bytes,
)
from hostproof.reference_impl.refusals import Refusal, refuse
from hostproof.reference_impl.styled_parts import StyledParts, StyledRun
from hostproof.reference_impl.styled_pauses import Answer, Replay, Wanted
from hostproof.reference_impl.styled_threads import StyledKey, StyledMemory
from hostproof.reference_impl.styled_turn import ask, events_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

    from hostproof.reference_impl.http_request import Headers
    from hostproof.reference_impl.styled_input import StyledInput
    from hostproof.reference_impl.styled_parts import StyledFault
    from hostproof.reference_impl.styled_setup import StyledSetup
    from hostproof.reference_impl.values import Json, Record

LOG: Final = logging.getLogger("hostproof.host")
EFFECTS_PATH: Final = "/effects"
OBSERVATION_PATH: Final = "/observation"
CALLERS: Final = ("alice", "bob")
INSPECTOR: Final = "inspector"
"""Whom it knows: two callers, and one who may look inside."""

CAPABILITIES: Final[Record] = {"transport": {"streaming": True}}

_SERVED: Final[list[StyledMemory]] = []


def served_effects() -> list[Record]:
    """Give the effects of the hosts that are open in this process, oldest first."""
    return [row for memory in _SERVED for row in memory.effects]


def known_by(tokens: Mapping[str, str]) -> Callable[[Headers], str]:
    """Give what names the caller of a request, by bearer token; only digests are kept."""
    names = {_digest(token): name for name, token in tokens.items()}

    def identify(headers: Headers) -> str:
        given = header_values(headers, "authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        name = names.get(_digest(token.strip())) if scheme.lower() == "bearer" else None
        if name is None:
            raise refuse("ERR_IDENTITY_NOT_VERIFIED", "Send the bearer token of a known caller.")
        return name

    return identify


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class StyledEndpoint:
    """One agent's endpoint, as an ASGI application."""

    def __init__(self, path: str, setup: StyledSetup, parts: StyledParts) -> None:
        self.path = path
        self.setup = setup
        self.parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        if request.method == "GET" and self.setup.get_capabilities:
            await _answer(CAPABILITIES)(scope, receive, send)
            return
        given: StyledInput | None = None
        try:
            caller, given = await self.read(request)
            run, wanted = self.prepare(caller, given)
        except Refusal as refusal:
            await self.parts.write_refusal(self.setup, refusal, given)(scope, receive, send)
            return
        except ClientDisconnect:
            LOG.info("a caller hung up before its request was whole")
            return
        try:
            await self.parts.write_stream(self._stream(run, wanted))(scope, receive, send)
        finally:
            if not isinstance(wanted, Replay):
                run.thread.busy = False

    async def read(self, request: Request) -> tuple[str, StyledInput]:
        """
        Read a request: who asks, and for what.

        Raises:
            Refusal: nobody known, or no input.
        """
        headers: Headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
        ]
        check_method(request.method)
        caller = self.parts.identify(headers)
        check_media_type(headers)
        body = await read_bytes(request.stream(), headers, DEFAULT_MAX_BYTES)
        return caller, self.parts.read(self.setup, self.parts.parse(body))

    def prepare(self, caller: str, given: StyledInput) -> tuple[StyledRun, Wanted]:
        """
        Take an input up to the point where it may run; what it answers is spent then.

        Raises:
            Refusal: it may not run; nothing has changed.
        """
        parts, setup = self.parts, self.setup
        thread = parts.thread_of(parts.memory, StyledKey(self.path, caller, given.thread), given)
        newest = given
        if setup.drops_known_ids:
            fresh = tuple(one for one in given.messages if one["id"] not in thread.seen)
            newest = replace(given, messages=fresh)
        answers = parts.answers(setup, newest, thread)
        wanted = parts.wanted(setup, newest, thread, answers, parts.judge)
        run = StyledRun(parts=parts, setup=setup, thread=thread, given=given)
        if isinstance(wanted, Replay):
            if setup.on_replay == "refuse":
                raise refuse("ERR_NO_PENDING_ASK", "This was answered before.")
            return run, wanted
        if not parts.hold(thread):
            raise refuse("ERR_CONCURRENT_RUN", "A run of this thread is still going on.")
        if isinstance(wanted, Answer):
            parts.spend(thread, wanted.pause)
        return run, wanted

    async def _stream(self, run: StyledRun, wanted: Wanted) -> AsyncIterator[bytes]:
        """Give the run's events as bytes; the last ends it, whatever happens inside."""
        try:
            async for event in events_of(run, wanted):
                yield self.parts.encode(event)
        except Exception as error:
            LOG.exception("a run failed")
            run.thread.busy = False
            yield self.parts.encode(self.parts.failure(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledHost:
    """
    The styled host, ready to be served.

    Attributes:
        app: the ASGI application.
        setup: its style.
        parts: what it is made of.
        tokens: the callers' bearer tokens, by name.
    """

    app: Starlette
    setup: StyledSetup
    parts: StyledParts
    tokens: Mapping[str, str] = field(repr=False)

    def close(self) -> None:
        """Let go of what it kept for :func:`served_effects`."""
        _SERVED.remove(self.parts.memory)


def styled_host(
    setup: StyledSetup, *, file: Path | None = None, fault: StyledFault | None = None
) -> StyledHost:
    """
    Put a styled host together.

    Args:
        setup: its style.
        file: where each effect is written as a line of JSON, for those effects.
        fault: replaces parts of it, to break a rule.
    """
    tokens = {name: secrets.token_urlsafe(24) for name in (*CALLERS, INSPECTOR)}
    parts = StyledParts(identify=known_by({name: tokens[name] for name in CALLERS}), ask=ask)
    if file is not None:
        parts = replace(parts, record=_line_writer(file))
    if fault is not None:
        parts = fault(parts)
    inspector = _Inspector(parts.memory, known_by({INSPECTOR: tokens[INSPECTOR]}))
    routes = [Route(path, StyledEndpoint(path, setup, parts)) for path in setup.paths]
    if setup.effects == "url":
        routes.append(Route(EFFECTS_PATH, inspector.effects, methods=["GET"]))
    if setup.effects == "observation":
        routes.append(Route(OBSERVATION_PATH, inspector.observation, methods=["GET"]))
    _SERVED.append(parts.memory)
    return StyledHost(
        app=Starlette(routes=routes), setup=setup, parts=parts, tokens=MappingProxyType(tokens)
    )


def _line_writer(file: Path) -> Callable[[Record], None]:
    def write(row: Record) -> None:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")

    return write


@dataclass(frozen=True, slots=True)
class _Inspector:
    """Answers whoever may look inside."""

    memory: StyledMemory
    identify: Callable[[Headers], str]

    async def effects(self, request: Request) -> Response:
        """Answer all that has run."""
        return self._known(request) or _answer(self.memory.effects)

    async def observation(self, request: Request) -> Response:
        """Answer the observation document, of one thread or of all."""
        asked = request.query_params
        refused = self._known(request)
        return refused or _answer(self.memory.document(asked.get("caller"), asked.get("thread")))

    def _known(self, request: Request) -> Response | None:
        try:
            self.identify(list(request.headers.items()))
        except Refusal:
            return _answer({"error": "not the inspector's token"}, 401)
        return None


def _answer(value: Json, status: int = 200) -> Response:
    return Response(json.dumps(value), status, media_type="application/json")
