"""
Two callers on one thread id: what the second's run, the model and the store show of the first.

Source: docs/verdicts.md, "How a case is judged".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostproof.conformance.conversation import Conversation, UnpreparedError, body_text
from hostproof.conformance.inside_reading import holds, records
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.recording import Recording, Shared
from hostproof.conformance.style import InexpressibleError
from hostproof.strategies.edits import filled
from hostproof.strategies.shared_threads import SharedThread

if TYPE_CHECKING:
    from hostproof.conformance.case import Case
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.reference_impl.values import Record


class SharedScenario:
    """
    Performs one case of two callers.

    Args:
        host: the host under test.
        case: the case; its change is a :class:`SharedThread`.
        ids: makes the ids; the same give the same bytes.
    """

    def __init__(self, host: HostUnderTest, case: Case, ids: Identifiers) -> None:
        assert isinstance(case.change, SharedThread)  # noqa: S101 - the gate has looked
        self.host = host
        self.case = case
        self.shared = case.change
        self.ids = ids
        self.canary = ids.canary(case.id)

    async def perform(self) -> Recording:
        """Perform the case; what the host does is recorded, never raised."""
        facts = self.case.facts(self.canary)
        try:
            first, changed, shared = await self._exchanges()
        except UnpreparedError as error:
            return Recording(case=facts, unprepared=str(error))
        except InexpressibleError as error:
            return Recording(case=facts, missing=str(error))
        return Recording(case=facts, changed=changed, others=first, shared=shared)

    async def _exchanges(
        self,
    ) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...], Shared | None]:
        shared = self.shared
        mine, others, *_ = self.host.profile.callers
        thread = Conversation.begun(self.host.profile, self.ids, self.case.id, "shared")
        if shared.thread is not None:
            thread = thread.on(shared.thread)
        slots = {"canary": self.canary}
        said = thread.message("first", "plain", **filled(dict(shared.members), slots))
        if not shared.members:
            said["messages"][-1]["content"] += f" ({self.canary})"
        first = await self._sent(said, shared.first, mine)
        if not isinstance(outcome_of(first), Accepted):
            if shared.members:
                raise InexpressibleError("a page's state that the host takes as ours is")
            if shared.must_run:
                raise UnpreparedError(f"the first caller got {outcome_of(first).describe()}")
            return (), (first,), None
        second = Conversation.begun(self.host.profile, self.ids, self.case.id, "second")
        second = second.on(thread.id)
        asked = second.message("second", "plain")
        changed = await self._sent(asked, shared.second, others)
        mark = second.nonces[-1]
        seen = Shared(
            mark=mark,
            requests=await self._requests(thread.id, others, mark),
            stored=await self._stored(thread.id, mine),
        )
        return (first,), (changed,), seen

    async def _sent(self, body: Record, endpoint: str, caller: str) -> Exchange:
        headers = self.host.caller_headers(caller)
        return await self.host.send(
            self.host.run_request(endpoint, body_text(body), caller=headers)
        )

    async def _requests(self, thread: str, caller: str, mark: str) -> tuple[Record, ...]:
        """
        Give the requests to the model that the second caller's message went into.

        A host may have made a thread of another name of it, so all are looked through as well.
        """
        for where in (thread, None):
            document = await self.host.observe(where, caller)
            rows = records(None if document is None else document.get("modelRequests"))
            found = tuple(row for row in rows if holds(row, mark))
            if found:
                return found
        return ()

    async def _stored(self, thread: str, caller: str) -> tuple[Record, ...]:
        document = await self.host.observe(thread, caller)
        return tuple(records(None if document is None else document.get("messages")))
