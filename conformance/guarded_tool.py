"""
What is known of a tool of the host's that asks first: its name, and how it is asked about.

One run is begun to see it, and left unanswered; a profile may say the name.

Source: docs/profile.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.conversation import Conversation, body_text
from hostproof.conformance.style import InexpressibleError

if TYPE_CHECKING:
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers

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


async def _asked_about(host: HostUnderTest, ids: Identifiers) -> Guarded:
    """Have the host ask about a call, and see which tool it is of."""
    profile = host.profile
    if not profile.main_endpoint.keeps_pauses or CUE not in profile.cues:
        return Guarded()
    thread = Conversation.begun(profile, ids, "guarded-tool", "probe")
    body = thread.message("pause", CUE)
    thread.note(body, await host.send_good(host.run_request(ENDPOINT, body_text(body))))
    if not thread.is_open:
        return Guarded()
    asked = thread.asked[0]
    called = {name for name in thread.tools.values() if name != profile.pause.tool}
    about = thread.tools.get(asked.call, "")
    if about not in called:
        about = called.pop() if len(called) == 1 else ""
    by_call = bool(asked.call) and asked.call in asked.id
    return Guarded(tool=about, interrupt=asked.id.replace(asked.call, THE_CALL) if by_call else "")
