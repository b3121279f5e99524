"""The HTTP target against hostile servers: each ends as it should, in time and within the cap."""

import asyncio
import contextlib
import gzip
import ssl
import time
import tracemalloc
import zlib

import pytest
import trustme

from hostproof.conformance.exchange import Request
from hostproof.conformance.http_target import HttpTarget
from hostproof.conformance.reachability import check_reachable, is_loopback
from hostproof.conformance.target import Limits, TargetError
from hostproof.reference_impl.values import MISSING
from tests.hostile import BEHAVIOURS, CHUNKED, chunk, forever, serve

LIMITS = Limits(
    deadline_seconds=0.6,
    head_seconds=0.4,
    max_bytes=300_000,
    max_events=2_000,
    max_event_bytes=100_000,
    grace_seconds=0.2,
)
REQUEST = Request(body=b"{}")
MARGIN = 0.5
PEAK = 8_000_000

ENDS = {
    "never_answers": ("deadline", None),
    "closes_at_once": ("reset", None),
    "resets": ("reset", None),
    "half_a_head": ("reset", None),
    "garbage": ("protocol", None),
    "another_protocol": ("reset", None),
    "status_line_drip": ("deadline", None),
    "head_flood": ("cap", None),
    "interim_flood": ("deadline", None),
    "endless_stream": ("deadline", 200),
    "endless_comments": ("deadline", 200),
    "stream_flood": ("cap", 200),
    "one_endless_line": ("cap", 200),
    "gigabyte": ("cap", 200),
    "slow_drip": ("deadline", 200),
    "cut_chunked": ("cut", 200),
    "reset_in_body": ("cut", 200),
    "bad_chunk": ("cut", 200),
    "short_of_its_length": ("cut", 200),
    "longer_than_its_length": ("complete", 200),
    "two_lengths": ("protocol", None),
    "invalid_utf8": ("complete", 200),
    "gzip_bomb": ("cap", 200),
    "false_gzip": ("complete", 200),
    "redirect_elsewhere": ("complete", 307),
    "odd_status": ("complete", 999),
    "switches": ("protocol", None),
    "stays_open_after_the_end": ("deadline", 200),
    "deep_json": ("complete", 200),
    "odd_types": ("complete", 200),
}


async def _once(behaviour, request=REQUEST, limits=LIMITS, *, ssl=None, **options):
    async with serve(behaviour, ssl) as port:
        target = HttpTarget(f"{'https' if options else 'http'}://127.0.0.1:{port}/agent", **options)
        try:
            return await target.send(request, limits)
        finally:
            await target.aclose()


def exchange_with(behaviour, *args, **options):
    return asyncio.run(_once(behaviour, *args, **options))


def test_every_behaviour_has_its_end():
    assert ENDS.keys() == BEHAVIOURS.keys()


@pytest.mark.parametrize("name", ENDS)
def test_a_hostile_server_is_an_exchange(name):
    start = time.monotonic()
    exchange = exchange_with(BEHAVIOURS[name])
    took = time.monotonic() - start
    assert (exchange.end, exchange.status) == ENDS[name]
    assert exchange.seconds <= LIMITS.deadline_seconds + MARGIN
    assert took < LIMITS.deadline_seconds + 2 * MARGIN
    assert len(exchange.body) <= LIMITS.max_bytes
    assert bool(exchange.detail) == (exchange.end != "complete")
    assert exchange.detail.isascii()


@contextlib.contextmanager
def little_memory():
    was_tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] - before < PEAK
    finally:
        if not was_tracing:
            tracemalloc.stop()


@pytest.mark.parametrize(
    "name", ["head_flood", "interim_flood", "stream_flood", "one_endless_line", "gigabyte"]
)
def test_a_flood_takes_no_memory(name):
    with little_memory():
        exchange_with(BEHAVIOURS[name])


def test_a_bomb_takes_no_memory():
    bomb = gzip.compress(bytes(64 * 1024 * 1024))

    async def behaviour(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + bomb)

    with little_memory():
        exchange = exchange_with(behaviour)
    assert exchange.end == "cap"
    assert exchange.detail == "the decoded body is larger than 300000 bytes"
    assert bomb.startswith(exchange.body)


@pytest.mark.parametrize(
    ("name", "problems"),
    [
        ("invalid_utf8", ("invalid-utf-8",)),
        ("false_gzip", ("content-encoding",)),
        ("deep_json", ("data-no-json-object",)),
        ("odd_types", ("data-no-json-object",)),
        ("cut_chunked", ("unfinished-event",)),
        ("one_endless_line", ("event-too-large",)),
    ],
)
def test_what_is_wrong_in_the_body_is_named(name, problems):
    exchange = exchange_with(BEHAVIOURS[name])
    assert set(exchange.problems) >= set(problems)


def test_events_are_kept_up_to_the_end():
    exchange = exchange_with(BEHAVIOURS["cut_chunked"])
    assert [event.type for event in exchange.events] == ["RUN_STARTED"]
    exchange = exchange_with(BEHAVIOURS["stream_flood"])
    assert len(exchange.events) == LIMITS.max_events
    exchange = exchange_with(BEHAVIOURS["odd_types"])
    assert [event.type for event in exchange.events] == [""] * 4
    assert [event.value is MISSING for event in exchange.events] == [False, True, True, True]


def test_a_terminal_event_leaves_a_grace():
    limits = Limits(deadline_seconds=5, grace_seconds=0.1)
    exchange = exchange_with(BEHAVIOURS["stays_open_after_the_end"], limits=limits)
    assert exchange.events[-1].is_terminal
    assert 0.1 <= exchange.seconds < 2
    patient = Limits(deadline_seconds=0.5, grace_seconds=0.1, stop_after_terminal=False)
    exchange = exchange_with(BEHAVIOURS["stays_open_after_the_end"], limits=patient)
    assert exchange.seconds >= 0.5


def test_a_connection_is_used_again_unless_told_not_to():
    seen = []

    async def behaviour(reader, writer):
        seen.append(writer)
        for _ in range(2):
            await reader.readexactly(2)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
            await reader.readuntil(b"\r\n\r\n")

    async def twice(keep_alive):
        seen.clear()
        async with serve(behaviour) as port:
            target = HttpTarget(f"http://127.0.0.1:{port}", keep_alive=keep_alive)
            for _ in range(2):
                exchange = await target.send(Request(body=b"{}"), LIMITS)
                assert (exchange.end, exchange.json) == ("complete", {})
            await target.aclose()
        return len(seen)

    assert asyncio.run(twice(True)) == 1
    assert asyncio.run(twice(False)) == 2


def test_what_is_sent_is_what_was_asked_for():
    heads = []
    body = b'\xff\x00{"not": json'

    async def sent(request):
        async def recording(reader, writer):
            head = await reader.readuntil(b"\r\n\r\n")
            heads.append(head)
            heads.append(await reader.readexactly(len(request.body)))
            writer.write(b"HTTP/1.1 204 No\r\n\r\n")
            await writer.drain()
            writer.close()

        heads.clear()
        server = await asyncio.start_server(recording, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        target = HttpTarget(f"http://127.0.0.1:{port}/agent?v=1")
        exchange = await target.send(request, LIMITS)
        await target.aclose()
        server.close()
        await server.wait_closed()
        assert exchange.status == 204
        return heads[0].split(b"\r\n"), heads[1]

    headers = (("Content-Type", "application/json"), ("X-A", "caf\xe9"), ("X-A", "2"))
    lines, got = asyncio.run(sent(Request(headers=headers, body=body)))
    assert lines[0] == b"POST /agent?v=1 HTTP/1.1"
    assert b"content-length: %d" % len(body) in lines
    assert b"accept-encoding: identity" in lines
    assert [line for line in lines if line.startswith(b"x-a")] == [b"x-a: caf\xe9", b"x-a: 2"]
    assert got == body
    for path, line in (("?q=%00", "/agent?q=%00"), ('/a//b?"', '/a//b?"'), ("//x/y", "//x/y")):
        lines, _ = asyncio.run(sent(Request(method="GET", path=path)))
        assert lines[0] == f"GET {line} HTTP/1.1".encode()
        assert not any(line.startswith(b"content-length") for line in lines)


@pytest.mark.parametrize(
    "request_",
    [
        Request(headers=(("x", "a\r\nb: c"),)),
        Request(headers=(("x y", "a"),)),
        Request(headers=(("x", "\u2028"),)),
        Request(headers=(("Content-Length", "7"),)),
        Request(method="P OST"),
    ],
)
def test_a_request_that_is_no_http_is_the_callers_mistake(request_):
    with pytest.raises(TargetError, match=r"^[^\n]+$"):
        exchange_with(BEHAVIOURS["never_answers"], request_)


@pytest.mark.parametrize("path", ["agent", "http://other/", "/a b", "/\xe9", "/a\n"])
def test_a_path_stays_on_its_origin(path):
    with pytest.raises(ValueError, match="percent-encode"):
        Request(path=path)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b'{"a": 1}')),
        ("deflate", zlib.compress(b'{"a": 1}')),
        ("deflate", zlib.compress(b'{"a": 1}', wbits=-15)),
    ],
)
def test_a_coded_body_is_decoded_however_it_is_split(coding, body):
    async def behaviour(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\n\r\n" % coding.encode())
        for at in range(len(body)):
            writer.write(body[at : at + 1])
            await writer.drain()

    exchange = exchange_with(behaviour)
    assert (exchange.end, exchange.json, exchange.problems) == ("complete", {"a": 1}, ())


def test_a_cancelled_request_lets_go():
    async def cancelled():
        async with serve(BEHAVIOURS["never_answers"]) as port:
            target = HttpTarget(f"http://127.0.0.1:{port}")
            task = asyncio.create_task(target.send(Request(), Limits()))
            await asyncio.wait({task}, timeout=0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await target.aclose()

    asyncio.run(cancelled())


def test_many_at_once():
    async def behaviour(reader, writer):
        writer.write(CHUNKED + chunk(b'data: {"type":"RUN_FINISHED"}\n\n') + chunk(b""))

    async def many():
        async with serve(behaviour) as port:
            target = HttpTarget(f"http://127.0.0.1:{port}")
            sends = (target.send(Request(body=b"{}"), Limits()) for _ in range(150))
            ends = {exchange.end for exchange in await asyncio.gather(*sends)}
            await target.aclose()
        return ends

    assert asyncio.run(many()) == {"complete"}


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def server_tls(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture(scope="module")
def client_tls(authority):
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def test_tls(server_tls, client_tls):
    stranger = ssl.create_default_context()
    good = exchange_with(BEHAVIOURS["invalid_utf8"], ssl=server_tls, tls=client_tls)
    assert (good.end, good.status) == ("complete", 200)
    cut = exchange_with(BEHAVIOURS["cut_chunked"], ssl=server_tls, tls=client_tls)
    assert cut.end == "cut"
    untrusted = exchange_with(BEHAVIOURS["invalid_utf8"], ssl=server_tls, tls=stranger)
    assert untrusted.end == "unreachable"
    assert "certificate" in untrusted.detail
    plain = exchange_with(BEHAVIOURS["garbage"], tls=client_tls)
    assert plain.end in ("unreachable", "deadline")
    wrong = exchange_with(BEHAVIOURS["invalid_utf8"], ssl=server_tls)
    assert wrong.end in ("reset", "protocol")


async def _free_port():
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


def test_nobody_listens():
    async def refused():
        target = HttpTarget(f"http://127.0.0.1:{await _free_port()}/")
        exchange = await target.send(Request(), LIMITS)
        await target.aclose()
        return exchange

    exchange = asyncio.run(refused())
    assert (exchange.end, exchange.status) == ("unreachable", None)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://127.0.0.1/", "no http or https URL"),
        ("127.0.0.1:8000", "no http or https URL"),
        ("http://", "no http or https URL"),
        ("http://[::1", "no URL"),
        ("http://user:secret@127.0.0.1/", "credentials"),
        ("http://no-such-host.invalid/", "not known"),
    ],
)
def test_what_no_target_can_be_is_said_in_a_line(url, says):
    with pytest.raises(TargetError, match=says) as caught:
        asyncio.run(check_reachable(url))
    assert "\n" not in caught.value.message
    assert "secret" not in caught.value.message


def test_reachable_or_not(server_tls, client_tls):
    async def answers(reader, writer):
        writer.write(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")

    async def use_tls(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def silent(reader, writer):
        await forever()

    async def check(behaviour, scheme, ssl=None, tls=None):
        async with serve(behaviour, ssl) as port:
            url = f"{scheme}://127.0.0.1:{port}/agent"
            await check_reachable(url, tls=tls, deadline_seconds=0.5)

    async def check_free():
        await check_reachable(f"http://127.0.0.1:{await _free_port()}/")

    asyncio.run(check(answers, "http"))
    asyncio.run(check(use_tls, "http"))
    asyncio.run(check(silent, "http"))
    asyncio.run(check(answers, "https", server_tls, client_tls))
    with pytest.raises(TargetError, match="nothing listens"):
        asyncio.run(check_free())
    with pytest.raises(TargetError, match="not trusted"):
        asyncio.run(check(answers, "https", server_tls))
    with pytest.raises(TargetError, match="https://"):
        asyncio.run(check(answers, "http", server_tls))
    with pytest.raises(TargetError, match=r"http://|within"):
        asyncio.run(check(answers, "https", None, client_tls))


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://127.0.0.1:8000/x", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1/", True),
        ("https://LOCALHOST/", True),
        ("http://localhost.example/", False),
        ("http://0.0.0.0/", False),
        ("http://10.0.0.1/", False),
        ("http://[::2]/", False),
        ("http://127.0.0.1.example/", False),
        ("http://127.0.0.1@example/", False),
        ("http://[::1", False),
    ],
)
def test_what_is_local(url, is_local):
    assert is_loopback(url) is is_local


def test_the_description_keeps_the_query_to_itself():
    target = HttpTarget("http://127.0.0.1:8000/agent?token=secret#x")
    assert target.describe() == "http://127.0.0.1:8000/agent"
    asyncio.run(target.aclose())
