"""
The host: one AG-UI endpoint, put together from the functions it is given.

Every step of a request is a member of :class:`HostParts`, so a variant of the
host replaces one of them, and the steps' order stands in one place
(:meth:`AguiEndpoint.prepare`). What is refused before the stream is a problem
document; after that it is a ``RUN_ERROR`` with the same code.

Source: contract, "Host" (docs/contract.md).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hostproof.reference_impl import agui_events
from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.agent_steps import (
    Agent,
    Call,
    Called,
    PageTool,
    Paused,
    Resumed,
    Returned,
    Said,
    Turn,
)
from hostproof.reference_impl.deployment import Deployed, Deployment
from hostproof.reference_impl.host_errors import StoreError
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
from hostproof.reference_impl.pausing import Pausing
from hostproof.reference_impl.pending import is_pending_of_ours
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
from hostproof.reference_impl.refusals import Refusal, refuse
from hostproof.reference_impl.resume import Admitted, DoorFacts, admit
from hostproof.reference_impl.sessions import Sessions, StoredPause, StoredThread, ThreadKey
from hostproof.reference_impl.turn import (
    AnswerTurn,
    Awaiting,
    Facts,
    Held,
    MessageTurn,
    Plan,
    Rules,
    plan_turn,
)

if TYPE_CHECKING:
    from ag_ui.core import BaseEvent
    from starlette.types import Receive, Scope, Send

    from hostproof.reference_impl.effects import Effects
    from hostproof.reference_impl.ledger import Ledger
    from hostproof.reference_impl.values import Json, Record

LOG: Final = logging.getLogger("hostproof.host")

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
    write_refusal: Callable[[Refusal], Response] = refusal_response
    write_stream: Callable[[AsyncIterator[bytes]], Response] = stream_response
    encode: Callable[[BaseEvent], bytes] = agui_events.encode
    end_of_refusal: Callable[[Refusal], BaseEvent] = agui_events.refused
    end_of_failure: Callable[[str, Exception], BaseEvent] = lambda incident, _error: (
        agui_events.failed(incident)
    )
    observation: Observation = field(default_factory=Observation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One accepted request, ready to be run: its thread, what is held of it, and its plan."""

    key: ThreadKey
    run_id: str
    stored: StoredThread
    plan: Plan[PageTool]
    request: RunInput
    admitted: Admitted | None = None


class AguiEndpoint:
    """One agent's endpoint, as an ASGI application."""

    def __init__(self, parts: HostParts, setup: AgentSetup, pausing: Pausing) -> None:
        self.parts = parts
        self.setup = setup
        self.pausing = pausing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            run = await self.prepare(Request(scope, receive))
        except Refusal as refusal:
            await self.parts.write_refusal(refusal)(scope, receive, send)
            return
        except StoreError:
            LOG.exception("the store cannot be used")
            await store_response()(scope, receive, send)
            return
        try:
            await self.parts.write_stream(self._stream(run))(scope, receive, send)
        finally:
            self.parts.sessions.release(run.key, run.run_id)

    async def prepare(self, request: Request) -> Run:
        """
        Take a request up to the point where it may run; it then holds its thread.

        Raises:
            Refusal: the first that applies, in the contract's order.
        """
        parts = self.parts
        headers: Headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
        ]
        parts.check_method(request.method)
        caller = parts.identify(headers)
        parts.check_media_type(headers)
        body = await parts.read_bytes(request.stream(), headers, parts.max_bytes)
        read = parts.read(ReaderRequest(body=parts.parse(body), headers=dict(headers)))
        key = ThreadKey(caller, read["threadId"])
        if not parts.sessions.hold(key, read["runId"]):
            raise refuse("ERR_CONCURRENT_RUN", "A run of this thread is still going on.")
        try:
            return self._planned(key, read, dict(headers))
        except BaseException:
            parts.sessions.release(key, read["runId"])
            raise

    def _planned(self, key: ThreadKey, read: RunInput, headers: Mapping[str, str]) -> Run:
        parts, setup = self.parts, self.setup
        stored = self._settled(key, read)
        pause = stored.pause if setup.keeps_pauses else None
        held = Held()
        if pause is not None:
            ours = is_pending_of_ours(pause.pending)
            held = Held(
                awaiting=Awaiting(
                    suspension=pause.suspension if ours else None, pending=pause.pending
                )
            )
        facts = Facts(
            keeps_pauses=setup.keeps_pauses,
            keeps_conversation=setup.keeps_conversation,
            thread=key.thread,
            headers=headers,
        )
        plan = parts.plan(read, held, facts, setup.rules)
        run = Run(key=key, run_id=read["runId"], stored=stored, plan=plan, request=read)
        if pause is None or not isinstance(plan.turn, AnswerTurn) or _is_nested(pause):
            return run
        admitted = self.pausing.admit(key, pause.pending, plan.turn.answer)
        return replace(run, admitted=admitted)

    def _settled(self, key: ThreadKey, read: RunInput) -> StoredThread:
        """
        Read the thread; where a message finds a pause that is spent, settle it first.

        An answer is judged against the pause as it is, so that its refusal says why.
        """
        stored = self.parts.sessions.load(key)
        if not self.setup.keeps_pauses or stored.pause is None or read.get("resume"):
            return stored
        if self.pausing.how_spent(key, stored.pause.pending) is None:
            return stored
        self.pausing.settle(key)
        return self.parts.sessions.load(key)

    async def _stream(self, run: Run) -> AsyncIterator[bytes]:
        """Give the run's events as bytes; the last ends it, whatever happens inside."""
        encode = self.parts.encode
        try:
            async for event in self.events(run):
                yield encode(event)
        except Refusal as refusal:
            yield encode(self.parts.end_of_refusal(refusal))
        except Exception as error:
            incident = self.parts.mint("incident")
            LOG.exception("run failed, incident %s", incident)
            yield encode(self.parts.end_of_failure(incident, error))

    async def events(self, run: Run) -> AsyncIterator[BaseEvent]:
        """Run the turn, and give its events; what was said is kept before the run ends."""
        thread = run.key.thread
        yield agui_events.started(thread, run.run_id)
        if "state" in run.plan.accepted:
            yield agui_events.state_snapshot(run.plan.accepted["state"])
        kept, turn = self._turn(run)
        async for step in self.parts.agent(turn):
            if isinstance(step, Paused):
                for event in self._pause(run, kept, step):
                    yield event
                return
            if isinstance(step, Said) or not step.nested:
                kept.append(step.message)
            for event in _shown(step):
                yield event
        self._keep(run, kept, None)
        yield agui_events.finished(thread, run.run_id)

    def _turn(self, run: Run) -> tuple[list[Record], Turn]:
        """Make the agent's turn of the plan; the list holds what is to be kept of it."""
        parts, key = self.parts, run.key
        kept: list[Record] = []
        resumed: Resumed | None = None
        if isinstance(run.plan.turn, MessageTurn):
            kept.append(_user_message(run, run.plan.turn, parts.mint))
        else:
            assert run.stored.pause is not None  # noqa: S101 - an answer answers a pause
            answer = run.plan.turn.answer if run.admitted is None else run.admitted.answer
            resumed = Resumed(
                pending=run.stored.pause.pending, admitted=run.admitted, answer=answer
            )

        def act(call: Call) -> None:
            parts.effects.add(key, call.tool, call.arguments, call.id)

        turn = Turn(
            caller=key.caller,
            messages=(*self._known(run), *kept),
            page_tools=run.plan.tools,
            given=run.plan.accepted,
            mint=parts.mint,
            observe=lambda request: parts.observation.model_asked(key, request),
            act=act,
            admit=lambda pending, answer: self.pausing.admit(key, pending, answer),
            obtain=lambda provider, asked: parts.obtain(key, provider, asked),
            resumed=resumed,
        )
        return kept, turn

    def _known(self, run: Run) -> tuple[Record, ...]:
        """Give what was said before, as far as this agent keeps it."""
        return run.stored.messages if self.setup.keeps_conversation else ()

    def _pause(self, run: Run, kept: list[Record], step: Paused) -> Sequence[BaseEvent]:
        """Keep the pause, then show it: nobody sees a pause that could be lost."""
        thread = run.key.thread
        pause = self.pausing.make(run.key, run.run_id, step)
        self._keep(run, kept, pause)
        if step.kind == "client":
            return [agui_events.finished(thread, run.run_id, [step.call.id])]
        interrupt_id = pause.suspension["interruptId"]
        return [
            agui_events.messages_snapshot([*self._known(run), *kept]),
            agui_events.interrupted(thread, run.run_id, interrupt_id, step),
        ]

    def _keep(self, run: Run, kept: list[Record], pause: StoredPause | None) -> None:
        """Keep what this agent keeps; the rest of the thread is another agent's, and stays."""
        said = kept if self.setup.keeps_conversation else []
        self.parts.sessions.save(
            run.key, said, pause if self.setup.keeps_pauses else run.stored.pause
        )


def usual_pausing(parts: HostParts) -> Pausing:
    """Put together what makes, admits and settles the pauses of a host of these parts."""
    chain = parts.agent.chain if isinstance(parts.agent, ReferenceAgent) else ()
    usual = Deployed(chain=tuple(rule.name for rule in chain), ledger=parts.ledger)
    return Pausing(
        sessions=parts.sessions,
        deployment=Deployment(usual),
        door=parts.door,
        mint=parts.mint,
        now=parts.now,
        after_spend=parts.after_spend,
    )


def _is_nested(pause: StoredPause) -> bool:
    """Say whether a pause is a helper's, whose door is inside the run."""
    return isinstance(pause.pending, dict) and pause.pending.get("nested") is not None


def _shown(step: Said | Called | Returned) -> Sequence[BaseEvent]:
    if isinstance(step, Said):
        return list(agui_events.said(step))
    if isinstance(step, Called):
        return list(agui_events.called(step))
    return [agui_events.returned(step)]


def _user_message(run: Run, planned: MessageTurn, mint: Mint) -> Record:
    """Keep a person's message under its own id, unless the thread has one of that id."""
    sent = run.request["messages"][-1]["id"]
    known = any(message["id"] == sent for message in run.stored.messages)
    return {"id": mint("msg") if known else sent, "role": "user", "content": planned.message}
