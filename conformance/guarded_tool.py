"""
The name of a tool of the host's that asks first: the profile's, or one that a run shows.

Source: docs/profile.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.conversation import Conversation, body_text
from hostproof.conformance.style import InexpressibleError

if TYPE_CHECKING:
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.identifiers import Identifiers

ENDPOINT: Final = "main"
CUE: Final = "check_in"
UNKNOWN: Final = f"the name of a guarded tool: declare endpoints.{ENDPOINT}.guarded"


async def guarded_tool(host: HostUnderTest, ids: Identifiers) -> str:
    """
    Name a tool that asks first; where the profile names none, one run is begun to see one.

    Raises:
        InexpressibleError: there is no telling.
    """
    named = host.profile.main_endpoint.guarded
    if named:
        return named[0]
    async with host.learning:
        if host.guarded is None:
            host.guarded = await _asked_about(host, ids)
    if not host.guarded:
        raise InexpressibleError(UNKNOWN)
    return host.guarded


async def _asked_about(host: HostUnderTest, ids: Identifiers) -> str:
    """Have the host ask about a call, leave it unanswered, and name its tool; "" for none."""
    profile = host.profile
    if not profile.main_endpoint.keeps_pauses or CUE not in profile.cues:
        return ""
    thread = Conversation.begun(profile, ids, "guarded-tool", "probe")
    body = thread.message("pause", CUE)
    thread.note(body, await host.send_good(host.run_request(ENDPOINT, body_text(body))))
    if not thread.is_open:
        return ""
    called = {name for name in thread.tools.values() if name != profile.pause.tool}
    about = thread.tools.get(thread.asked[0].call, "")
    if about in called:
        return about
    return called.pop() if len(called) == 1 else ""
