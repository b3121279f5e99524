"""
The reference host as it is served: several agents, callers, and on request a look inside.

One configuration cannot show every refusal, so there are three agents, each on
a path of its own: one that keeps pauses and the conversation, one that also
takes state and context through validators, and one that keeps nothing.

Source: contract, "Host" (docs/contract.md); docs/observation.md.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from hostproof.reference_impl.agent_steps import PageTool
from hostproof.reference_impl.agui_host import AguiEndpoint, usual_pausing
from hostproof.reference_impl.control import COMMANDS, Seam, Stops
from hostproof.reference_impl.effects import SqliteEffects
from hostproof.reference_impl.host_errors import StoreError
from hostproof.reference_impl.host_parts import AgentSetup, HostParts, store_response
from hostproof.reference_impl.http_request import Headers, header_values
from hostproof.reference_impl.ledger import SqliteLedger
from hostproof.reference_impl.observation import Observation
from hostproof.reference_impl.refusals import refuse
from hostproof.reference_impl.sessions import SqliteSessions, ThreadKey
from hostproof.reference_impl.turn import Rules, ValidatorContext
from hostproof.reference_impl.values import Json, Record, is_record, is_text

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from hostproof.reference_impl.pausing import Pausing

OBSERVATION_PATH: Final = "/hostproof/observation"
CONTROL_PATH: Final = "/hostproof/control"
LOOK_INSIDE: Final = "inspector"
"""The caller who may observe and control, where a host offers it."""

PAGE_TOOLS: Final = {"show_form": PageTool("show_form", "Show the person a form to fill in.")}
KNOWN_CONTEXT: Final = frozenset({"page", "locale"})


def accept_state(value: Json, context: ValidatorContext) -> Json:
    """
    Take a page's state: an object with a text ``page``; what else is in it stays.

    Raises:
        ValueError: it is not.
    """
    del context
    if not is_record(value) or not is_text(value.get("page")):
        raise ValueError("state must have a text `page`")
    return value


def accept_context(value: Json, context: ValidatorContext) -> Json:
    """
    Take a page's context: entries described as ``page`` or ``locale``.

    Raises:
        ValueError: an entry is described otherwise.
    """
    del context
    if any(entry["description"] not in KNOWN_CONTEXT for entry in value):
        raise ValueError("context entries are `page` and `locale`")
    return value


_TOOLS: Final = {name: (lambda tool=tool: tool) for name, tool in PAGE_TOOLS.items()}
SETUPS: Final = (
    AgentSetup(path="/agui", rules=Rules(frontend_tools=_TOOLS)),
    AgentSetup(
        path="/agui/carrying",
        rules=Rules(
            frontend_tools=_TOOLS, accept={"state": accept_state, "context": accept_context}
        ),
    ),
    AgentSetup(
        path="/agui/stateless",
        keeps_pauses=False,
        keeps_conversation=False,
        rules=Rules(frontend_tools=_TOOLS),
    ),
)
"""The three agents: ``main``, ``carrying`` and ``stateless``."""


class Callers:
    """Who may call, by bearer token; only digests of the tokens are kept."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        self._names = {_digest(token): name for name, token in tokens.items()}

    def identify(self, headers: Headers) -> str:
        """
        Name the caller of a request.

        Raises:
            Refusal: ``ERR_IDENTITY_NOT_VERIFIED`` (401).
        """
        given = header_values(headers, "authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        name = self._names.get(_digest(token.strip())) if scheme.lower() == "bearer" else None
        if name is None:
            raise refuse(
                "ERR_IDENTITY_NOT_VERIFIED", "Send the bearer token of a caller this host knows."
            )
        return name


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def new_tokens(*names: str) -> dict[str, str]:
    """Make a token that nobody can guess for each caller."""
    return {name: secrets.token_urlsafe(24) for name in names}


def mint(prefix: str) -> str:
    """Make a fresh id that nobody can guess."""
    return f"{prefix}-{secrets.token_hex(12)}"


Fault: TypeAlias = Callable[[HostParts], HostParts]
"""Replaces parts of a right host, so that it breaks one rule."""


class Running:
    """
    What a process of the host holds in memory; a restart makes it anew over the same stores.

    Args:
        base: the right host's parts, its stores among them.
        fault: replaces parts of it, to break a rule.
        stops: threads whose next run is stopped.

    Attributes:
        parts: what the host is made of.
        pausing: what makes, admits and settles its pauses.
        endpoints: its agents, in the order of ``SETUPS``.
    """

    parts: HostParts
    pausing: Pausing
    endpoints: tuple[AguiEndpoint, ...]

    def __init__(self, base: HostParts, fault: Fault | None, stops: Stops) -> None:
        self._base = base
        self._fault = fault
        self._stops = stops
        self._begin()

    def _begin(self) -> None:
        self.parts = self._base if self._fault is None else self._fault(self._base)
        self.pausing = usual_pausing(self.parts)
        self.endpoints = tuple(AguiEndpoint(self.parts, one, self.pausing) for one in SETUPS)

    def restart(self) -> None:
        """Forget what is held in memory, as a process that ends does, and begin again."""
        self.pausing.deployment.close()
        self._begin()

    @property
    def seam(self) -> Seam:
        """What control commands work on."""
        return Seam(parts=self.parts, pausing=self.pausing, stops=self._stops, restart=self.restart)

    def close(self) -> None:
        """Let go of the stores."""
        self.pausing.deployment.close()
        for store in (self.parts.sessions, self.parts.ledger, self.parts.effects):
            store.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedHost:
    """
    The reference host, ready to be served.

    Attributes:
        app: the ASGI application.
        running: what it holds in memory.
        tokens: the callers' bearer tokens, by name.
        setups: its agents.
    """

    app: Starlette
    running: Running
    tokens: Mapping[str, str] = field(repr=False)
    setups: tuple[AgentSetup, ...] = SETUPS

    @property
    def parts(self) -> HostParts:
        """What it is made of."""
        return self.running.parts

    @property
    def pausing(self) -> Pausing:
        """What makes, admits and settles its pauses."""
        return self.running.pausing

    def close(self) -> None:
        """Let go of the stores."""
        self.running.close()


def build_host(
    *,
    tokens: Mapping[str, str] | None = None,
    database: str = ":memory:",
    inspect: bool = False,
    fault: Fault | None = None,
) -> EmbeddedHost:
    """
    Put the reference host together.

    Args:
        tokens: bearer tokens by caller; fresh ones for ``alice`` and ``bob`` by default.
        database: the file of the session store, or in memory.
        inspect: whether to offer observation and control to the caller ``inspector``.
        fault: replaces parts of it, to break a rule.

    Raises:
        StoreError: the database cannot be used.
    """
    known = dict(tokens if tokens is not None else new_tokens("alice", "bob"))
    if inspect and LOOK_INSIDE not in known:
        known |= new_tokens(LOOK_INSIDE)
    stops = Stops()
    parts = HostParts(
        identify=Callers(known).identify,
        sessions=SqliteSessions(database),
        ledger=SqliteLedger(database),
        effects=SqliteEffects(database),
        mint=mint,
        now=lambda: time.time_ns() // 1_000_000,
        after_spend=stops.check,
        observation=Observation(enabled=inspect),
    )
    running = Running(parts, fault, stops)
    routes = [Route(setup.path, _Agent(running, number)) for number, setup in enumerate(SETUPS)]
    if inspect:
        inspector = Inspector(running, Callers({LOOK_INSIDE: known[LOOK_INSIDE]}))
        routes.append(Route(OBSERVATION_PATH, inspector.observe, methods=["GET"]))
        routes.append(Route(CONTROL_PATH, inspector.control, methods=["POST"]))
    return EmbeddedHost(
        app=Starlette(routes=routes), running=running, tokens=MappingProxyType(known)
    )


@dataclass(frozen=True, slots=True)
class _Agent:
    """The agent of a *number*, whatever restarts: an ASGI application."""

    running: Running
    number: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.running.endpoints[self.number](scope, receive, send)


@dataclass(frozen=True, slots=True)
class Inspector:
    """Answers whoever may look inside: the observation, and the control commands."""

    running: Running
    callers: Callers

    async def observe(self, request: Request) -> Response:
        """Answer the observation document, of one thread or of all."""
        refused = self._unknown(request)
        if refused is not None:
            return refused
        key = _key(request.query_params)
        parts = self.running.parts
        try:
            document = parts.observation.document(parts.sessions, parts.ledger, parts.effects, key)
        except StoreError:
            return store_response()
        return _answer(document)

    async def control(self, request: Request) -> Response:
        """Run one control command, and say whether there was anything to do."""
        refused = self._unknown(request)
        if refused is not None:
            return refused
        try:
            command = json.loads(await request.body())
        except ValueError:
            command = None
        key = _key(command) if is_record(command) else None
        name = command.get("command") if is_record(command) else None
        run = COMMANDS.get(name) if is_text(name) else None
        if run is None or key is None:
            known = ", ".join(COMMANDS)
            problem = f"send command (one of {known}), caller and thread"
            return _answer({"error": problem}, 400)
        try:
            return _answer({"done": run(self.running.seam, key)})
        except StoreError:
            return store_response()

    def _unknown(self, request: Request) -> Response | None:
        headers = [(name, value) for name, value in request.headers.items()]
        try:
            self.callers.identify(headers)
        except Exception:  # noqa: BLE001 - whatever is wrong with it, it is no inspector
            return _answer({"error": "not the inspector's token"}, 401)
        return None


def _answer(document: Record, status: int = 200) -> Response:
    """Answer JSON in ASCII: what was cut may hold half a character, which UTF-8 cannot write."""
    return Response(json.dumps(document), status, media_type="application/json")


def _key(given: Mapping[str, Json]) -> ThreadKey | None:
    caller, thread = given.get("caller"), given.get("thread")
    return ThreadKey(caller, thread) if is_text(caller) and is_text(thread) else None
