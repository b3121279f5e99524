"""
The host: one AG-UI endpoint, put together from the parts it is given.

The order of a request's steps stands in one place (:meth:`AguiEndpoint.prepare`).
What is refused before the stream is a problem document; after that it is a
``RUN_ERROR`` with the same code.

Source: contract, "Host" (docs/contract.md).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect, Request

from hostproof.reference_impl import agui_events
from hostproof.reference_impl.agent_steps import (
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
from hostproof.reference_impl.host_parts import AgentSetup, HostParts, Mint, store_response
from hostproof.reference_impl.pausing import Pausing
from hostproof.reference_impl.pending import is_pending_of_ours
from hostproof.reference_impl.reader import (
    ReaderRequest,
    RunInput,
)
from hostproof.reference_impl.refusals import Refusal, refuse
from hostproof.reference_impl.sessions import StoredPause, StoredThread, ThreadKey
from hostproof.reference_impl.turn import (
    AnswerTurn,
    Awaiting,
    Facts,
    Held,
    MessageTurn,
    Plan,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from ag_ui.core import BaseEvent
    from starlette.types import Receive, Scope, Send

    from hostproof.reference_impl.http_request import (
        Headers,
    )
    from hostproof.reference_impl.resume import Admitted
    from hostproof.reference_impl.values import Record

LOG: Final = logging.getLogger("hostproof.host")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    One accepted request, ready to be run.

    Attributes:
        key: its thread.
        run_id: its id, as it was sent.
        lease: what holds the thread for it; run ids are the client's, and may come twice.
        stored: what is held of the thread.
        plan: the turn it may ask for.
        request: the request itself.
        admitted: the answer to a pause, as the door took it.
    """

    key: ThreadKey
    run_id: str
    lease: str
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
        except ClientDisconnect:
            LOG.info("a caller hung up before its request was whole")
            return
        except StoreError:
            LOG.exception("the store cannot be used")
            await store_response()(scope, receive, send)
            return
        try:
            await self.parts.write_stream(self._stream(run))(scope, receive, send)
        finally:
            self._release(run)

    def _release(self, run: Run) -> None:
        """Give the thread back: before the run's last event, so that whoever has it may go on."""
        self.parts.sessions.release(run.key, run.lease)

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
        lease = parts.mint("lease")
        if not parts.sessions.hold(key, lease):
            raise refuse("ERR_CONCURRENT_RUN", "A run of this thread is still going on.")
        try:
            return self._planned(key, lease, read, dict(headers))
        except BaseException:
            parts.sessions.release(key, lease)
            raise

    def _planned(
        self, key: ThreadKey, lease: str, read: RunInput, headers: Mapping[str, str]
    ) -> Run:
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
        run = Run(
            key=key, run_id=read["runId"], lease=lease, stored=stored, plan=plan, request=read
        )
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
            self._release(run)
            yield encode(self.parts.end_of_refusal(refusal))
        except Exception as error:
            self._release(run)
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
                shown = self._pause(run, kept, step)
                self._release(run)
                for event in shown:
                    yield event
                return
            if isinstance(step, Said) or not step.nested:
                kept.append(step.message)
            for event in _shown(step):
                yield event
        self._keep(run, kept, None)
        self._release(run)
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
            chain=parts.chain,
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
    usual = Deployed(chain=tuple(rule.name for rule in parts.chain), ledger=parts.ledger)
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
