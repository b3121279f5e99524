"""Faults of a host that mixes its callers' threads, or fetches what a page names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import httpx

from hostproof.conformance.fault_inputs import noting, sent_messages
from hostproof.conformance.fault_sessions import SessionsAround
from hostproof.conformance.inside_reading import records
from hostproof.reference_impl.values import is_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hostproof.reference_impl.agent_steps import PageTool
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput
    from hostproof.reference_impl.sessions import Sessions, StoredPause, StoredThread, ThreadKey
    from hostproof.reference_impl.turn import Facts, Held, Plan, Rules
    from hostproof.reference_impl.values import Json, Record

FETCH_SECONDS: Final = 0.5


class Everyones(SessionsAround):
    """Keeps threads by their id alone, where *mixed* says so."""

    def __init__(self, inner: Sessions, mixed: Callable[[str], bool]) -> None:
        super().__init__(inner)
        self._mixed = mixed

    def _of(self, key: ThreadKey) -> ThreadKey:
        return key._replace(caller="") if self._mixed(key.thread) else key

    def hold(self, key: ThreadKey, run: str) -> bool:
        """Take the thread for a run."""
        return self.inner.hold(self._of(key), run)

    def release(self, key: ThreadKey, run: str) -> None:
        """Give the thread back."""
        self.inner.release(self._of(key), run)

    def load(self, key: ThreadKey) -> StoredThread:
        """Read what is held of a thread."""
        return self.inner.load(self._of(key))

    def save(self, key: ThreadKey, said: Sequence[Record], pause: StoredPause | None) -> None:
        """Add messages and set the pause."""
        self.inner.save(self._of(key), said, pause)


def shares_threads(parts: HostParts) -> HostParts:
    """Ask for a thread's id, and not whose it is."""
    return replace(parts, sessions=Everyones(parts.sessions, lambda _thread: True))


def shares_the_empty_thread(parts: HostParts) -> HostParts:
    """Take an empty thread id, and keep one thread under it for all callers."""
    right = parts.read

    def read(request: ReaderRequest) -> RunInput:
        body = request.body
        if not is_record(body) or body.get("threadId") != "":
            return right(request)
        taken = right(replace(request, body={**body, "threadId": "empty"}))
        return {**taken, "threadId": ""}

    sessions = Everyones(parts.sessions, lambda thread: not thread)
    return replace(parts, read=read, sessions=sessions)


def shows_state_to_anyone(parts: HostParts) -> HostParts:
    """Keep a page's state by the thread's id, and give it to whoever comes there without one."""
    kept: dict[str, Json] = {}
    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        made = right(request, held, facts, rules)
        if "state" in made.accepted:
            kept[str(facts.thread)] = made.accepted["state"]
        elif "state" in rules.accept and str(facts.thread) in kept:
            return replace(made, accepted={**made.accepted, "state": kept[str(facts.thread)]})
        return made

    return replace(parts, plan=plan)


def _urls() -> Iterator[str]:
    for message in sent_messages():
        for part in records(message.get("content")):
            source = part.get("source")
            if is_record(source) and source.get("type") == "url":
                yield str(source.get("value"))


def fetches_urls(parts: HostParts) -> HostParts:
    """Fetch the URLs of a page's parts, wherever they lead, before anything is refused."""
    right = parts.plan

    def plan(request: RunInput, held: Held, facts: Facts, rules: Rules[PageTool]) -> Plan[PageTool]:
        for url in _urls():
            if url.startswith("http://127.0.0.1:"):  # none of the others leads anywhere
                httpx.get(url, timeout=FETCH_SECONDS, follow_redirects=True, trust_env=False)
        return right(request, held, facts, rules)

    return replace(noting(parts), plan=plan)
