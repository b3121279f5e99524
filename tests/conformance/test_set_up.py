"""The set-up call: a host that serves only threads it was told of, and what is sent to it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from hostproof.conformance.catalogue import rule_of
from hostproof.conformance.exchange import Request
from hostproof.conformance.gate import Gate
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.profile import profile_from
from hostproof.conformance.profile_parts import SetUp
from hostproof.conformance.set_up import asked_for, thread_in
from hostproof.conformance.styled_run import styled_document
from hostproof.reference_impl.serving import served
from hostproof.reference_impl.styled_host import styled_host
from hostproof.reference_impl.styled_setup import StyledSetup

RULES = ("live.good-run", "effect.yes-runs-once", "effect.no-never-runs", "effect.race-runs-once")


class OnlyKnownThreads:
    """Refuse every run of a thread that its caller has not made before."""

    def __init__(self, inner):
        self.inner = inner
        self.made = []

    async def make(self, request):
        told = await request.json()
        self.made.append((request.headers.get("authorization"), told["thread"]["id"]))
        return JSONResponse({}, 201)

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.inner(scope, receive, send)
            return
        message = await receive()
        body = message.get("body", b"")
        while message.get("more_body"):
            message = await receive()
            body += message.get("body", b"")
        sent = [{"type": "http.request", "body": body, "more_body": False}]

        async def again():
            return sent.pop() if sent else await receive()

        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        known = (headers.get("authorization"), json.loads(body).get("threadId")) in self.made
        app = self.inner if known else JSONResponse({"error": "no such thread"}, 404)
        await app(scope, again, send)


def verdicts(*, setup):
    """Judge the host by a few rules, with or without its set-up call; give the host, too."""
    right = styled_host(StyledSetup(), file=None, fault=None)
    host = OnlyKnownThreads(right.app)
    routes = [Route("/threads/new", host.make, methods=["POST"]), Mount("/", host)]
    try:
        with served(Starlette(routes=routes)) as url:
            document = styled_document(StyledSetup(), url, right.tokens, Path())
            if setup:
                body = {"thread": {"id": "{thread}"}}
                document["setup"] = {"path": "/threads/new", "body": body}

            async def run():
                async with opened_host(profile_from(document, environ={}), Leave()) as opened:
                    gate = Gate(opened, [rule_of(name) for name in RULES], "seed")
                    await gate.perform()
                    return {one.rule.id: one.verdict for one in gate.verdicts()}

            return asyncio.run(run()), host
    finally:
        right.close()


def test_each_thread_is_made_once_before_its_first_run():
    found, host = verdicts(setup=True)
    assert found == dict.fromkeys(RULES, "passed")
    assert len(set(host.made)) == len(host.made) > 10


def test_without_the_call_nothing_is_served():
    found, host = verdicts(setup=False)
    assert found["live.good-run"] == "failed"
    assert host.made == []


@pytest.mark.parametrize(
    ("request_", "thread"),
    [
        (Request(method="POST", path="", body=b'{"threadId": "t"}'), "t"),
        (Request(method="GET", path="", body=b'{"threadId": "t"}'), None),
        (Request(method="POST", path="", body=b'{"threadId": ""}'), None),
        (Request(method="POST", path="", body=b'{"threadId": "a\\u0000b"}'), None),
        (Request(method="POST", path="", body=b'{"threadId": "\\ud800"}'), None),
        (Request(method="POST", path="", body=b'{"threadId": 7}'), None),
        (Request(method="POST", path="", body=b"["), None),
        (Request(method="POST", path="", body=b"[" * 100_000), None),
    ],
    ids=range(8),
)
def test_only_a_run_of_a_thread_needs_it(request_, thread):
    assert thread_in(request_) == thread


def test_the_call_names_the_thread_in_its_path_and_its_texts():
    call = SetUp(path="/t/{thread}/new", method="PUT", body={"a": ["x-{thread}", 1, None]})
    made = asked_for(call, "a/b ü", (("X-Who", "ann"),))
    assert (made.method, made.path) == ("PUT", "/t/a%2Fb%20%C3%BC/new")
    assert json.loads(made.body) == {"a": ["x-a/b ü", 1, None]}
    assert ("X-Who", "ann") in made.headers
    assert asked_for(SetUp(path="/t"), "t", ()).body == b""
