"""
A kept case repeated: fixed, still failing, or changed.

A case of the gate is performed again on threads of its own. A case of the
fuzz has its kept bytes sent again.

Source: docs/verdicts.md, "Replay".
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from hostproof.conformance.case import all_cases
from hostproof.conformance.catalogue import rule_of
from hostproof.conformance.conversation import Conversation, body_text
from hostproof.conformance.exchange import Request
from hostproof.conformance.findings import shown_words
from hostproof.conformance.gate import performed
from hostproof.conformance.identifiers import Identifiers
from hostproof.conformance.kept import KeptError
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.recording import Facts, Owed, Recording
from hostproof.conformance.rule import Breach
from hostproof.conformance.verdict import judged

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.kept_case import KeptCase
    from hostproof.conformance.redaction import Redactor

MAIN: Final = "main"

Became = Literal["fixed", "still failing", "changed", "not repeated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """
    What became of a kept case.

    Attributes:
        became: in a word.
        seen: what the host did now, or why that could not be judged.
    """

    became: Became
    seen: str


async def replay(kept: KeptCase, host: HostUnderTest, redactor: Redactor) -> Replayed:
    """
    Repeat a kept case against a host.

    Raises:
        UnknownRuleError: this release has no such rule.
        KeptError: this release has no such case.
    """
    rule = rule_of(kept.rule)
    if kept.mode == "gate":
        recording = await _performed(kept, host)
    else:
        recording = await _sent(kept, host, redactor)
    state, found = judged(rule, recording, host.profile)
    if state == "passed":
        return Replayed(became="fixed", seen="the rule holds")
    if not isinstance(found, Breach):
        return Replayed(became="not repeated", seen=shown_words(str(found), redactor))
    seen = shown_words(found.seen, redactor)
    return Replayed(became="still failing" if seen == kept.seen else "changed", seen=seen)


async def _performed(kept: KeptCase, host: HostUnderTest) -> Recording:
    case = next((one for one in all_cases() if one.id == kept.case), None)
    if case is None:
        raise KeptError(f"this release has no case {kept.case!r}; it was kept by another one.")
    return await performed(host, case, Identifiers(secrets.token_hex(8)))


async def _sent(kept: KeptCase, host: HostUnderTest, redactor: Redactor) -> Recording:
    facts = Facts(
        id=kept.case,
        area=kept.case,
        kind="body",
        situation="fresh",
        endpoint=kept.endpoint,
        owed=Owed(code=None, status=200),
        canary="",
    )
    plain = outcome_of(await _plain(kept, host))
    if not isinstance(plain, Accepted):
        return Recording(case=facts, unprepared=f"a plain run was {plain.describe()}")
    exchanges = [
        await host.send(
            Request(
                method=request.method,
                path=request.path,
                headers=redactor.restored(request.headers),
                body=request.body,
            )
        )
        for request in kept.requests
    ]
    return Recording(case=facts, changed=tuple(exchanges[-1:]))


async def _plain(kept: KeptCase, host: HostUnderTest) -> Exchange:
    """Begin a plain run: a host that takes none refuses the kept bytes for reasons of its own."""
    endpoint = kept.endpoint if kept.endpoint in host.profile.endpoints else MAIN
    ids = Identifiers(secrets.token_hex(8))
    body = Conversation.begun(host.profile, ids, "replay", "plain").message("run")
    return await host.send_good(host.run_request(endpoint, body_text(body)))
