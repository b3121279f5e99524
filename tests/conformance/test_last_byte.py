"""Requests held back by their last byte: what is on the wire when, and what ends the waiting."""

import asyncio
import time

import pytest

from hostproof.conformance.asgi_target import AsgiTarget
from hostproof.conformance.exchange import Request
from hostproof.conformance.host_under_test import BudgetSpentError, HostUnderTest
from hostproof.conformance.http_target import HttpTarget
from hostproof.conformance.last_byte import MOST, race
from hostproof.conformance.profile import profile_from
from hostproof.conformance.target import Limits, TargetError
from tests.hostile import forever, serve

LIMITS = Limits(deadline_seconds=5, head_seconds=4)
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
TOGETHER = 0.25


def body_of(at, length=40):
    return b'{"request": %d, "filler": "%s"}' % (at, b"x" * length)


def requests_of(number, length=40):
    return [Request(body=body_of(at, length)) for at in range(number)]


LENGTH = len(body_of(0))


class Arrivals:
    """A server that notes when it has all but the last byte of a body, and when the last."""

    def __init__(self, length=LENGTH):
        self.length = length
        self.two_wait = asyncio.Event()
        self.rest = []
        self.last = []
        self.bodies = []
        self.connections = 0

    async def __call__(self, reader, writer):
        self.connections += 1
        while True:
            rest = await reader.readexactly(self.length - 1)
            self.rest.append(time.monotonic())
            if len(self.rest) >= 2:
                self.two_wait.set()
            body = rest + await reader.readexactly(1)
            self.last.append(time.monotonic())
            self.bodies.append(body)
            writer.write(ANSWER)
            await writer.drain()
            await reader.readuntil(b"\r\n\r\n")


async def raced(entries, limits=LIMITS):
    targets = list(dict.fromkeys(target for target, _ in entries))
    try:
        return await race(entries, limits)
    finally:
        for target in targets:
            await target.aclose()


@pytest.mark.parametrize("number", [2, 8, MOST])
def test_the_last_bytes_come_after_all_the_rest_and_together(number):
    async def run():
        arrivals = Arrivals(length=len(body_of(number - 1)))
        requests = [Request(body=body_of(at).ljust(arrivals.length)) for at in range(number)]
        async with serve(arrivals) as port:
            target = HttpTarget(f"http://127.0.0.1:{port}/agent")
            return arrivals, requests, await raced([(target, one) for one in requests])

    arrivals, requests, exchanges = asyncio.run(run())
    assert [exchange.request for exchange in exchanges] == requests
    assert {(exchange.end, exchange.status) for exchange in exchanges} == {("complete", 200)}
    assert sorted(arrivals.bodies) == sorted(request.body for request in requests)
    assert arrivals.connections == number
    assert max(arrivals.rest) <= min(arrivals.last)
    assert max(arrivals.last) - min(arrivals.last) < TOGETHER


def test_one_slow_connection_holds_back_all():
    """A large body is not read until the others' rest is there: none of these ends before."""
    large = Request(body=b"x" * 20_000_000)  # more than the buffers on the way hold
    small = Arrivals()
    began = []

    async def slow(reader, writer):
        await small.two_wait.wait()
        began.append(time.monotonic())
        await reader.readexactly(len(large.body))
        writer.write(ANSWER)

    async def run():
        async with serve(small) as port, serve(slow) as elsewhere:
            good, other = (HttpTarget(f"http://127.0.0.1:{at}/") for at in (port, elsewhere))
            one, two = requests_of(2)
            return await raced([(good, one), (other, large), (good, two)])

    assert {exchange.end for exchange in asyncio.run(run())} == {"complete"}
    assert max(small.rest) <= began[0] < min(small.last)


def test_two_servers_get_their_last_bytes_together():
    async def run():
        one, other = Arrivals(), Arrivals()
        async with serve(one) as port, serve(other) as elsewhere:
            targets = [HttpTarget(f"http://127.0.0.1:{at}/") for at in (port, elsewhere)]
            entries = [(targets[at % 2], request) for at, request in enumerate(requests_of(8))]
            return one, other, await raced(entries)

    one, other, exchanges = asyncio.run(run())
    assert {exchange.end for exchange in exchanges} == {"complete"}
    assert (one.connections, other.connections) == (4, 4)
    last = one.last + other.last
    assert max(one.rest + other.rest) <= min(last)
    assert max(last) - min(last) < TOGETHER


def test_every_race_opens_connections_of_its_own():
    async def run():
        arrivals = Arrivals()
        async with serve(arrivals) as port:
            target = HttpTarget(f"http://127.0.0.1:{port}/agent")
            entries = [(target, one) for one in requests_of(2)]
            await target.send(requests_of(1)[0], LIMITS)
            await race(entries, LIMITS)
            await race(entries, LIMITS)
            before = arrivals.connections
            await target.send(requests_of(1)[0], LIMITS)
            await target.aclose()
            return before, arrivals.connections

    assert asyncio.run(run()) == (5, 5)


def test_a_body_of_one_byte_has_only_a_last_byte():
    async def run():
        arrivals = Arrivals(length=1)
        async with serve(arrivals) as port:
            target = HttpTarget(f"http://127.0.0.1:{port}/")
            return arrivals, await raced([(target, Request(body=b"1"))] * 2)

    arrivals, exchanges = asyncio.run(run())
    assert {exchange.status for exchange in exchanges} == {200}
    assert arrivals.bodies == [b"1", b"1"]


async def takes_nothing(reader, writer):
    await forever()


def test_nobody_waits_for_one_that_cannot_connect():
    async def run():
        arrivals = Arrivals()
        async with serve(arrivals) as port:
            async with serve(takes_nothing) as gone:
                pass
            good, bad = (HttpTarget(f"http://127.0.0.1:{at}/") for at in (port, gone))
            requests = requests_of(3)
            start = time.monotonic()
            entries = [(good, requests[0]), (bad, requests[1]), (good, requests[2])]
            return await raced(entries), time.monotonic() - start

    exchanges, took = asyncio.run(run())
    assert [exchange.end for exchange in exchanges] == ["complete", "unreachable", "complete"]
    assert took < LIMITS.head_seconds / 2


def test_one_that_never_gets_there_is_left_behind():
    """A server that takes in nothing of a large body keeps the others half the head's time."""
    limits = Limits(deadline_seconds=3, head_seconds=1)

    async def run():
        arrivals = Arrivals()
        async with serve(arrivals) as port, serve(takes_nothing) as stuck:
            good, bad = (HttpTarget(f"http://127.0.0.1:{at}/") for at in (port, stuck))
            large = Request(body=b"x" * 20_000_000)
            return await raced([(good, requests_of(1)[0]), (bad, large)], limits)

    good, bad = asyncio.run(run())
    assert good.end == "complete"
    assert good.seconds >= limits.head_seconds / 2
    assert (bad.end, bad.status) == ("deadline", None)


def test_an_answer_before_the_end_is_an_answer():
    async def early(reader, writer):
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        await forever()

    async def run():
        async with serve(early) as port:
            target = HttpTarget(f"http://127.0.0.1:{port}/")
            return await raced([(target, one) for one in requests_of(2)])

    assert [exchange.status for exchange in asyncio.run(run())] == [413, 413]


@pytest.mark.parametrize("number", [0, 1, MOST + 1])
def test_a_race_has_two_to_sixteen(number):
    target = HttpTarget("http://127.0.0.1:1/")
    with pytest.raises(TargetError, match="2 to 16"):
        asyncio.run(raced([(target, one) for one in requests_of(number)]))


def test_a_race_needs_bodies():
    target = HttpTarget("http://127.0.0.1:1/")
    with pytest.raises(TargetError, match="no last byte"):
        asyncio.run(raced([(target, Request(body=b"1")), (target, Request())]))


def test_what_cannot_be_written_is_told_when_the_others_are_done():
    async def run():
        arrivals = Arrivals()
        async with serve(arrivals) as port:
            target = HttpTarget(f"http://127.0.0.1:{port}/")
            odd = Request(body=body_of(0), headers=(("x-odd", "a\r\nb"),))
            with pytest.raises(TargetError, match="cannot be written"):
                await raced([(target, requests_of(1)[0]), (target, odd)])
            return arrivals.bodies

    assert asyncio.run(run()) == [body_of(0)]


class Recording:
    """An app that notes the order in which it is handed bodies."""

    def __init__(self):
        self.seen = []

    async def __call__(self, scope, receive, send):
        assert scope["type"] == "http"
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message["more_body"]
            self.seen.append("rest" if more else "last")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})


def test_an_app_gets_every_last_byte_after_all_the_rest():
    app = Recording()
    requests = requests_of(8)
    target = AsgiTarget(app)
    exchanges = asyncio.run(raced([(target, one) for one in requests]))
    assert [exchange.body for exchange in exchanges] == [one.body for one in requests]
    assert app.seen == ["rest"] * 8 + ["last"] * 8


def test_an_app_is_handed_one_byte_at_once():
    app = Recording()
    target = AsgiTarget(app)
    exchanges = asyncio.run(raced([(target, Request(body=b"1"))] * 2))
    assert [exchange.body for exchange in exchanges] == [b"1"] * 2
    assert app.seen == ["last", "last"]


def test_nobody_waits_for_an_app_that_answers_early_or_falls_over():
    reading = Recording()

    async def app(scope, receive, send):
        if scope["type"] != "http":
            raise NotImplementedError
        if scope["path"] == "/read":
            await reading(scope, receive, send)
        elif scope["path"] == "/early":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body"})
        else:
            raise ValueError("no")

    async def run():
        target = AsgiTarget(app)
        paths = ("/read", "/early", "/falls", "/read")
        entries = [(target, Request(path=path, body=body_of(1))) for path in paths]
        start = time.monotonic()
        return await raced(entries), time.monotonic() - start

    exchanges, took = asyncio.run(run())
    assert [exchange.status for exchange in exchanges] == [200, 401, None, 200]
    assert took < LIMITS.head_seconds / 2


def test_an_app_that_reads_nothing_is_left_behind():
    limits = Limits(deadline_seconds=3, head_seconds=0.4)
    reading = Recording()

    async def app(scope, receive, send):
        if scope["type"] == "http" and scope["path"] == "/waits":
            await forever()
        await reading(scope, receive, send)

    target = AsgiTarget(app)
    entries = [(target, Request(path=path, body=b"12")) for path in ("/read", "/waits")]
    good, bad = asyncio.run(raced(entries, limits))
    assert good.status == 200
    assert (bad.end, bad.status) == ("deadline", None)


def host_of(target, requests, *, spare=False):
    document = {"version": 1, "target": {"url": "http://127.0.0.1:1/"}}
    document["limits"] = {"requests": requests}
    profile = profile_from(document, name="a test", environ={})
    return HostUnderTest(target, profile, LIMITS, spare=spare)


def test_the_host_counts_a_race_and_keeps_to_its_budget():
    async def run():
        target, other = AsgiTarget(Recording()), AsgiTarget(Recording())
        host = host_of(target, 7)
        exchanges = await host.race(requests_of(4), [other])
        with pytest.raises(BudgetSpentError):
            await host.race(requests_of(4))
        await target.aclose()
        await other.aclose()
        return host.requests, host.waits, exchanges

    requests, waits, exchanges = asyncio.run(run())
    assert (requests, waits) == (4, 0)
    assert [exchange.body for exchange in exchanges] == [body_of(at) for at in range(4)]


def test_a_host_that_asks_to_slow_down_is_noted():
    async def slow_down(scope, receive, send):
        await send({"type": "http.response.start", "status": 429, "headers": []})
        await send({"type": "http.response.body"})

    async def run():
        target = AsgiTarget(slow_down)
        host = host_of(target, 100)
        await host.race(requests_of(3))
        await target.aclose()
        return host.waits

    assert asyncio.run(run()) == 3


def test_no_race_off_this_machine_without_leave():
    host = host_of(HttpTarget("http://127.0.0.1:1/"), 100, spare=True)
    with pytest.raises(TargetError, match="--aggressive"):
        asyncio.run(host.race(requests_of(2)))
    assert host.requests == 0


def test_a_target_that_holds_nothing_back_cannot_race():
    class Plain:
        async def send(self, request, limits):
            raise AssertionError

        async def aclose(self):
            pass

        def describe(self):
            return "a plain one"

    with pytest.raises(TargetError, match="a plain one"):
        asyncio.run(host_of(Plain(), 100).race(requests_of(2)))
