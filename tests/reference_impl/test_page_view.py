"""What a page may see: no instructions, no evidence and no request id, in any event or refusal."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from hostproof.reference_impl.agent import ReferenceAgent
from hostproof.reference_impl.agent_steps import Paused
from hostproof.reference_impl.assembly import CheckInConfig
from hostproof.reference_impl.cues import CUES
from hostproof.reference_impl.embedded import mint
from hostproof.reference_impl.refusals import catalogue
from hostproof.reference_impl.values import Json
from tests.in_process import TALK, with_host
from tests.stored import pending_of
from tests.talk import NO, YES, Talk, interrupt_of

SYSTEM = "canary-of-the-instructions"
EVIDENCE = "canary-of-the-evidence"
FORM = {"name": "show_form", "description": "A form.", "parameters": {"type": "object"}}
PAUSES = {
    "check_in",
    "check_in_large",
    "ask_detail",
    "ask_component",
    "ask_then_check_in",
    "two_in_sequence",
    "nested",
    "question",
    "credential",
    "client_tool",
}
GATES = PAUSES - {"question", "credential", "client_tool"}
NOT_DECISIONS: tuple[Json, ...] = (
    {"approved": "true", "by": "somebody"},
    {},
    None,
    "yes",
    True,
    {**YES, "requestId": None},
    {**YES, "requestId": ""},
    {**YES, "requestId": "request-0000"},
)
STALE = {**YES, "value": {"ref": "rows-of-another"}}
TAMPERINGS = {
    "tamper-call": "mend-call",
    "redeploy-chain": "redeploy-back",
    "redeploy-ledger": "redeploy-back",
    "forget-request": "close-pause",
    "spoil-pause": "close-pause",
    "close-pause": "close-pause",
}
ID_OF_A_REQUEST = re.compile("request-[0-9a-f]{8}")


class Page:
    """Everything a page is sent, and the secrets that must not be in it."""

    def __init__(self):
        self.requests = set()
        self.sent = []
        self.codes = set()
        self.reasons = set()
        self.in_stream = set()

    def mint(self, prefix):
        made = mint(prefix)
        if prefix == "request":
            self.requests.add(made)
        return made

    def fault(self, parts):
        evidence: Any = {
            "willDo": EVIDENCE,
            "read": [{"channel": "system", "summary": EVIDENCE}],
        }
        agent = ReferenceAgent(
            system=f"{SYSTEM}. Do not say {SYSTEM}.",
            check_in=CheckInConfig(evidence=lambda _input, _scorer: evidence),
        )
        return replace(parts, mint=self.mint, agent=agent)

    async def send(self, it, request):
        exchange = await it.send(request)
        self.sent.append(exchange)
        if exchange.content_type == "application/problem+json":
            self.codes.add(exchange.json["code"])
            self.reasons.add(exchange.json.get("reason"))
        elif exchange.events and exchange.events[-1].type == "RUN_ERROR":
            self.in_stream.add(exchange.events[-1].value.get("code"))
        self.reasons.discard(None)
        return exchange

    def check(self):
        assert self.requests
        for exchange in self.sent:
            seen = json.dumps([exchange.text, exchange.headers])
            for secret in (SYSTEM, EVIDENCE, *self.requests):
                assert secret not in seen
            assert ID_OF_A_REQUEST.search(seen) is None


async def refused_every_way(page, it, thread, interrupt, cue):
    """Send a pause all that it does not take, and meet it tampered with, redeployed and closed."""
    stale = [STALE] if cue == "ask_component" else []
    for payload in (*NOT_DECISIONS, *stale):
        await page.send(it, TALK.answer(thread, interrupt, payload))
    await page.send(it, TALK.answer(thread, "interrupt-other", YES))
    await page.send(it, TALK.cue(thread, "plain", "n2"))
    await page.send(it, Talk({"alice": "nobody"}).answer(thread, interrupt, YES))
    await page.send(it, Talk(it.host.tokens, "bob").answer(thread, interrupt, YES))
    for tampering, mending in TAMPERINGS.items():
        own = f"{thread}-{tampering}"
        asked = interrupt_of(await page.send(it, TALK.cue(own, cue, "n1")))
        assert await it.control(tampering, own)
        await page.send(it, TALK.answer(own, asked, YES))
        await page.send(it, TALK.cue(own, "plain", "n2"))
        await it.control(mending, own)
        await page.send(it, TALK.answer(own, asked, YES))


async def answered_to_the_end(page, it, thread, interrupt):
    """Say yes as often as it is asked, each time twice."""
    while interrupt is not None:
        answer = TALK.answer(thread, interrupt, YES)
        exchange = await page.send(it, answer)
        await page.send(it, answer)
        outcome = exchange.events[-1].value.get("outcome", {}) if exchange.events else {}
        asked = outcome.get("interrupts", [])
        interrupt = asked[0]["id"] if asked else None


async def stopped_after_the_spend(page, it, thread, cue):
    interrupt = interrupt_of(await page.send(it, TALK.cue(thread, cue, "n1")))
    await it.control("stop-after-spend", thread)
    for _ in range(3):
        await page.send(it, TALK.answer(thread, interrupt, NO))
    await page.send(it, TALK.cue(thread, "plain", "n2"))


async def seen_through(page, it, cue):
    """Go through all that can come of a cue."""
    thread = f"t-{cue}"
    tools = [FORM] if cue == "client_tool" else []
    exchange = await page.send(it, TALK.cue(thread, cue, "n1", tools=tools))
    kept = pending_of(it.path, thread)
    if cue == "client_tool":
        await page.send(it, TALK.result(thread, "another", "x"))
        await page.send(it, TALK.result(thread, kept["call"]["callId"], "x"))
    elif cue in GATES:
        interrupt = interrupt_of(exchange)
        await refused_every_way(page, it, thread, interrupt, cue)
        assert pending_of(it.path, thread) == kept
        assert (EVIDENCE in json.dumps(kept)) == (kept["kind"] == "checkIn")
        await answered_to_the_end(page, it, thread, interrupt)
        await stopped_after_the_spend(page, it, f"{thread}-stopped", cue)
    elif cue in PAUSES:
        interrupt = interrupt_of(exchange)
        await page.send(it, TALK.answer(thread, interrupt, None))
        await answered_to_the_end(page, it, thread, interrupt)


def test_no_secret_reaches_the_page_over_all_pauses_and_refusals(tmp_path):
    page = Page()

    async def work(it):
        for cue in CUES:
            await seen_through(page, it, cue)

    with_host(work, tmp_path / "host.db", page.fault)
    page.check()
    assert page.codes >= {
        "ERR_AWAITING_DECISION",
        "ERR_DECISION_REQUIRED",
        "ERR_IDENTITY_NOT_VERIFIED",
        "ERR_NO_PENDING_ASK",
        "ERR_PAUSE_ANSWER_REQUIRED",
        "ERR_RESUME_DECISION",
        "ERR_STALE_DECISION",
        "ERR_UNKNOWN_INTERRUPT",
        "ERR_UNKNOWN_TOOL_CALL",
    }
    assert page.in_stream >= {None, "ERR_DECISION_REQUIRED", "ERR_RESUME_DECISION"}
    assert page.reasons == set(catalogue()["ERR_RESUME_DECISION"].reasons)


def test_the_page_would_be_found_out(tmp_path):
    """The search finds instructions that a page is shown, so it can fail."""
    page = Page()

    def leaking(parts):
        parts = page.fault(parts)
        right = parts.agent

        async def agent(turn):
            async for step in right(turn):
                asks = isinstance(step, Paused)
                yield replace(step, question=f"{step.question} {SYSTEM}") if asks else step

        return replace(parts, agent=agent)

    async def work(it):
        await page.send(it, TALK.cue("t1", "check_in", "n1"))

    with_host(work, tmp_path / "host.db", leaking)
    with pytest.raises(AssertionError):
        page.check()
