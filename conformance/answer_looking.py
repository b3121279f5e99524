"""
Looking at what has run on a thread of an answer case, and at what is held of it.

Source: docs/observation.md; docs/profile.md, "Effects".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hostproof.conformance.conversation import UnpreparedError
from hostproof.conformance.effect_sources import NoEffectsError, rows_in_streams, rows_of
from hostproof.conformance.inside_reading import records
from hostproof.reference_impl.values import Record, is_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostproof.conformance.conversation import Conversation
    from hostproof.conformance.host_under_test import HostUnderTest


@dataclass(slots=True)
class Noted:
    """
    What the observation showed of a thread so far.

    Attributes:
        requests: ids of the consent requests of its pauses.
        instructions: the agent's instructions.
        decisions: the decision records.
        document: the newest observation.
        pauses: at each look those that were open; none where it shows no pauses at all.
    """

    requests: list[str] = field(default_factory=list)
    instructions: set[str] = field(default_factory=set)
    decisions: list[Record] = field(default_factory=list)
    document: Record | None = None
    pauses: list[tuple[Record, ...]] = field(default_factory=list)

    def keep(self, document: Record) -> None:
        """Take what the observation shows of the thread."""
        for pause in document.get("pauses", []):
            request = pause.get("pending", {}).get("request")
            if is_record(request) and request["id"] not in self.requests:
                self.requests.append(request["id"])
        self.instructions |= {
            row["system"] for row in document.get("modelRequests", []) if row.get("system")
        }
        self.decisions = document.get("decisions", [])
        self.document = document
        if "pauses" in document:
            self.pauses.append(tuple(records(document["pauses"])))


class Looking:
    """
    Looks at the threads of one answer case.

    Args:
        host: the host under test.
        canary: the case's marker: what carries it ran on the case's own thread.
        own: that thread.
        beside: another thread that the answer could have reached, or "".
        callers: those whom it could have reached.
    """

    def __init__(
        self, host: HostUnderTest, canary: str, own: str, beside: str, callers: Sequence[str]
    ) -> None:
        self._host = host
        self._canary = canary
        self._own = own
        self._beside = beside
        self._callers = callers
        self.noted = Noted()

    async def at(self, thread: Conversation) -> tuple[Record, ...]:
        """
        See what has run on a thread, and note what the observation shows of it.

        Effects are looked for wherever the answer could have brought them about.

        Raises:
            UnpreparedError: the host shows none.
        """
        source = self._host.profile.effects
        if self._host.profile.observation is not None:
            rows = await self._observed(thread, needs_effects=source is None)
            if source is None:
                return rows
        if source is None:
            raise UnpreparedError("nothing shows what ran")
        if source.kind == "stream":
            return tuple(rows_in_streams(thread.exchanges, source.place, thread.nonces))
        try:
            found = await self._host.effect_rows()
        except NoEffectsError as error:
            raise UnpreparedError(f"the effects cannot be read: {error}") from None
        if thread.id != self._own:
            return tuple(rows_of(found, [thread.id], thread.nonces))
        threads = [thread.id, self._beside] if self._beside else [thread.id]
        return tuple(rows_of(found, threads, [*thread.nonces, self._canary]))

    async def if_shown(self, thread: Conversation) -> tuple[Record, ...]:
        """See what has run on a thread; nothing where the host shows no effects."""
        try:
            return await self.at(thread)
        except UnpreparedError:
            return ()

    async def _observed(self, thread: Conversation, *, needs_effects: bool) -> tuple[Record, ...]:
        rows: list[Record] = []
        threads = [thread.id, self._beside] if self._beside else [thread.id]
        for thread_id in threads:
            for caller in self._callers:
                document = await self._host.observe(thread_id, caller)
                effects = document.get("effects") if document is not None else None
                if document is None or (needs_effects and not isinstance(effects, list)):
                    raise UnpreparedError("the observation shows no effects")
                rows += effects if isinstance(effects, list) else []
                if caller == self._host.main_caller and thread_id == thread.id:
                    self.noted.keep(document)
        return tuple(rows)
