"""
What is known of a tool of the host's that asks first: its name, and how it is asked about.

One run is begun to see it, and left unanswered; a profile may say the name. Another is answered
with a yes where a case has to know that what it runs can be seen.

Source: docs/profile.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.answer_looking import Looking
from hostproof.conformance.conversation import Conversation, body_text
from hostproof.conformance.style import InexpressibleError
from hostproof.strategies.decisions import SAYS_YES, entry

if TYPE_CHECKING:
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers
    from hostproof.reference_impl.values import Record

ENDPOINT: Final = "main"
CUE: Final = "check_in"
UNKNOWN: Final = f"the name of a guarded tool: declare endpoints.{ENDPOINT}.guarded"
THE_CALL: Final = "{call}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """
    A tool that asks first.

    Attributes:
        tool: its name, or "".
        interrupt: what a question about it is named by, with the place of its call's id; "" where
            the name says nothing of the call.
    """

    tool: str = ""
    interrupt: str = ""

    def interrupt_of(self, call_id: str) -> str:
        """Name a question about a call as this host would, as far as that can be told."""
        return self.interrupt.replace(THE_CALL, call_id) if self.interrupt else call_id


async def guarded_tool(host: HostUnderTest, ids: Identifiers) -> Guarded:
    """
    Say what is known of a tool that asks first.

    Raises:
        InexpressibleError: not even its name is.
    """
    async with host.learning:
        if host.guarded is None:
            host.guarded = await _asked_about(host, ids)
    named = host.profile.main_endpoint.guarded
    if named:
        return replace(host.guarded, tool=named[0])
    if not host.guarded.tool:
        raise InexpressibleError(UNKNOWN)
    return host.guarded


async def rows_of_yes(host: HostUnderTest, ids: Identifiers) -> tuple[Record, ...]:
    """Say what is seen to run on a plain yes to a tool that asks first; looked at once a run."""
    async with host.learning:
        if host.yes_rows is None:
            host.yes_rows = await _answered_with_yes(host, ids)
    return host.yes_rows


async def _answered_with_yes(host: HostUnderTest, ids: Identifiers) -> tuple[Record, ...]:
    thread = await _asking(host, ids, "yes")
    if thread is None or not thread.is_open:
        return ()
    try:
        answer = thread.answer("answer", [entry(SAYS_YES)], "")
    except InexpressibleError:
        return ()
    request = host.run_request(ENDPOINT, body_text(answer))
    thread.note(answer, await host.send_good(request))
    looking = Looking(host, thread.id, own=thread.id, beside="", callers=(host.main_caller,))
    return await looking.if_shown(thread)


async def _asking(host: HostUnderTest, ids: Identifiers, name: str) -> Conversation | None:
    """Have the host ask about a call on a thread; ``None`` where no cue makes it ask."""
    if not host.profile.main_endpoint.keeps_pauses or CUE not in host.profile.cues:
        return None
    thread = Conversation.begun(host.profile, ids, "guarded-tool", name)
    body = thread.message("pause", CUE)
    thread.note(body, await host.send_good(host.run_request(ENDPOINT, body_text(body))))
    return thread


async def _asked_about(host: HostUnderTest, ids: Identifiers) -> Guarded:
    """Have the host ask about a call, and see which tool it is of."""
    profile = host.profile
    thread = await _asking(host, ids, "probe")
    if thread is None or not thread.is_open:
        return Guarded()
    asked = thread.asked[0]
    called = {name for name in thread.tools.values() if name != profile.pause.tool}
    about = thread.tools.get(asked.call, "")
    if about not in called:
        about = called.pop() if len(called) == 1 else ""
    by_call = bool(asked.call) and asked.call in asked.id
    return Guarded(tool=about, interrupt=asked.id.replace(asked.call, THE_CALL) if by_call else "")
