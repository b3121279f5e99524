"""
What a host is made of: every step of a request as a part that may be replaced alone.

Source: contract, "Host" (docs/contract.md).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from starlette.responses import Response, StreamingResponse

from hostproof.reference_impl import agui_events
from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.http_request import (
    DEFAULT_MAX_BYTES,
    METHOD,
    Headers,
    check_media_type,
    check_method,
    read_bytes,
)
from hostproof.reference_impl.ijson import read_ijson
from hostproof.reference_impl.observation import Observation
from hostproof.reference_impl.problem import (
    MEDIA_TYPE,
    problem_document,
    problem_status,
    unavailable_document,
)
from hostproof.reference_impl.reader import (
    ReaderRequest,
    RunInput,
    read_request,
    run_input_reader,
)
from hostproof.reference_impl.resume import Admitted, DoorFacts, admit
from hostproof.reference_impl.tools import CHAIN, Middleware
from hostproof.reference_impl.turn import (
    Facts,
    Held,
    Plan,
    Rules,
    plan_turn,
)

if TYPE_CHECKING:
    from ag_ui.core import BaseEvent

    from hostproof.reference_impl.agent_steps import (
        Agent,
        PageTool,
    )
    from hostproof.reference_impl.effects import Effects
    from hostproof.reference_impl.ledger import Ledger
    from hostproof.reference_impl.refusals import Refusal
    from hostproof.reference_impl.sessions import Sessions, ThreadKey
    from hostproof.reference_impl.values import Json, Record

Mint: TypeAlias = Callable[[str], str]
"""Makes a fresh id that nobody can guess, from a prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSetup:
    """
    One agent of a host: where it is served, and what it lets a page decide.

    Attributes:
        path: the path of its endpoint.
        keeps_pauses: whether a paused run outlives its request.
        keeps_conversation: whether what was said is kept.
        rules: the page's tools, and the validators of its state and context.
    """

    path: str
    keeps_pauses: bool = True
    keeps_conversation: bool = True
    rules: Rules[PageTool] = field(default_factory=Rules)


def refusal_response(refusal: Refusal) -> Response:
    """Answer a refusal with a problem document."""
    headers = {"Cache-Control": "no-store"}
    if refusal.code == "ERR_METHOD_NOT_ALLOWED":
        headers["Allow"] = METHOD
    if refusal.code == "ERR_IDENTITY_NOT_VERIFIED":
        headers["WWW-Authenticate"] = "Bearer"
    return Response(
        problem_document(refusal), problem_status(refusal), headers, media_type=MEDIA_TYPE
    )


def store_response() -> Response:
    """Answer that the store cannot be used now; nothing was run, and what was kept stays."""
    return Response(unavailable_document(), 503, {"Retry-After": "1"}, media_type=MEDIA_TYPE)


def stream_response(events: AsyncIterator[bytes]) -> Response:
    """Answer an accepted run with its events."""
    return StreamingResponse(
        events, media_type=agui_events.MEDIA_TYPE, headers={"Cache-Control": "no-store"}
    )


async def consent_by_asking_again(key: ThreadKey, provider: str, asked_before: bool) -> bool:
    """Stand in for a provider that a person has consented to by the time it is asked again."""
    del key, provider
    return asked_before


@dataclass(frozen=True, slots=True, kw_only=True)
class HostParts:
    """
    What a host is made of; each part may be replaced alone.

    Attributes:
        identify: the caller's name, from the headers, or a refusal.
        sessions: keeps threads, one run at a time.
        ledger: spends decisions, each once.
        effects: keeps executions of guarded actions.
        mint: makes fresh ids.
        now: the time, in milliseconds since the epoch.
        check_method: takes or refuses the request's method.
        check_media_type: takes or refuses the body's media type.
        read_bytes: reads the body, within a limit of bytes.
        max_bytes: that limit.
        parse: the body's bytes as a JSON value.
        read: the JSON value as a checked request.
        plan: the one turn the request may ask for.
        door: takes or refuses the answer to a pause, and gives it on.
        after_spend: is called between a spend and its call; it may stop the run there.
        obtain: asks a provider for a credential; false where it needs consent.
        agent: runs the turn.
        chain: the rules before every call of the agent, in order.
        write_refusal: a refusal as a response.
        write_stream: the run's events as a response.
        encode: one event as bytes.
        end_of_refusal: the event that ends a run that was refused.
        end_of_failure: the event that ends a run that broke, from an exception.
        observation: what is shown to whoever may look inside.
    """

    identify: Callable[[Headers], str]
    sessions: Sessions
    ledger: Ledger
    effects: Effects
    mint: Mint
    now: Callable[[], int]
    check_method: Callable[[str], None] = check_method
    check_media_type: Callable[[Headers], None] = check_media_type
    read_bytes: Callable[[AsyncIterator[bytes], Headers, int], Awaitable[bytes]] = read_bytes
    max_bytes: int = DEFAULT_MAX_BYTES
    parse: Callable[[bytes], Json] = read_ijson
    read: Callable[[ReaderRequest], RunInput] = lambda request: read_request(
        run_input_reader, request
    )
    plan: Callable[[RunInput, Held, Facts, Rules[PageTool]], Plan[PageTool]] = plan_turn
    door: Callable[[Record, Json, DoorFacts], Admitted] = admit
    after_spend: Callable[[ThreadKey], None] = lambda _key: None
    obtain: Callable[[ThreadKey, str, bool], Awaitable[bool]] = consent_by_asking_again
    agent: Agent = field(default_factory=ReferenceAgent)
    chain: tuple[Middleware, ...] = CHAIN
    write_refusal: Callable[[Refusal], Response] = refusal_response
    write_stream: Callable[[AsyncIterator[bytes]], Response] = stream_response
    encode: Callable[[BaseEvent], bytes] = agui_events.encode
    end_of_refusal: Callable[[Refusal], BaseEvent] = agui_events.refused
    end_of_failure: Callable[[str, Exception], BaseEvent] = lambda incident, _error: (
        agui_events.failed(incident)
    )
    observation: Observation = field(default_factory=Observation)
