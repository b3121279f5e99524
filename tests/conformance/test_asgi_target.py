"""The ASGI target: a streaming app as a server would drive it, and every way an app can fail."""

import asyncio
import contextlib
import sys
import time

import pytest
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from hostproof.conformance.asgi_app import load_app
from hostproof.conformance.asgi_target import LEAVE_SECONDS, AsgiTarget
from hostproof.conformance.exchange import Request
from hostproof.conformance.target import Limits, TargetError

LIMITS = Limits(deadline_seconds=0.5, head_seconds=0.3, max_bytes=100_000, grace_seconds=0.1)
REQUEST = Request(body=b"{}")
STREAM = [(b"content-type", b"text/event-stream")]
FINISHED = b'data: {"type":"RUN_FINISHED"}\n\n'


def start(status=200, headers=STREAM):
    return {"type": "http.response.start", "status": status, "headers": headers}


def body(data=b"", more=False):
    return {"type": "http.response.body", "body": data, "more_body": more}


def sends(*messages):
    async def app(scope, receive, send):
        assert scope["type"] == "http"
        await receive()
        for message in messages:
            await send(message)

    return app


def exchange_with(app, request=REQUEST, limits=LIMITS, **options):
    async def once():
        target = AsgiTarget(app, **options)
        try:
            return await target.send(request, limits)
        finally:
            await target.aclose()

    return asyncio.run(once())


def test_a_stream_arrives_event_by_event():
    async def app(scope, receive, send):
        assert scope["type"] == "http"
        await send(start())
        await send(body(b'data: {"type":"RUN_STARTED"}\n\n', more=True))
        await asyncio.sleep(0.05)
        await send(body(FINISHED))

    exchange = exchange_with(app)
    first, last = exchange.events
    assert (first.type, last.type) == ("RUN_STARTED", "RUN_FINISHED")
    assert last.seconds - first.seconds >= 0.04
    assert (exchange.end, exchange.status, exchange.crash) == ("complete", 200, None)


def test_the_scope_is_a_servers():
    scopes = []

    async def app(scope, receive, send):
        scopes.append(scope)
        if scope["type"] == "lifespan":
            raise NotImplementedError
        message = await receive()
        await send(start(headers=[(b"X-A", b"\xe9")]))
        await send(body(message["body"]))

    request = Request(path="/a%20b/c?d=%20", headers=(("X-Mine", "1"),), body=b"\x00\xff")
    exchange = exchange_with(app, request)
    assert exchange.body == b"\x00\xff"
    assert exchange.headers == (("x-a", "\xe9"),)
    scope = scopes[-1]
    assert scope["http_version"] == "1.1"
    assert (scope["path"], scope["raw_path"]) == ("/a b/c", b"/a%20b/c")
    assert (scope["query_string"], scope["scheme"]) == (b"d=%20", "http")
    assert scope["client"][0] == scope["server"][0] == "127.0.0.1"
    assert (b"x-mine", b"1") in scope["headers"]
    assert (b"content-length", b"2") in scope["headers"]


async def crashes_before(scope, receive, send):
    raise ValueError("secret")


async def crashes_after(scope, receive, send):
    if scope["type"] == "http":
        await send(start())
        await send(body(b"data: {", more=True))
    raise KeyError("secret")


async def exits(scope, receive, send):
    sys.exit(3)


async def cancels_itself(scope, receive, send):
    raise asyncio.CancelledError


async def sleeps(scope, receive, send):
    await asyncio.Event().wait()


async def only_sends(scope, receive, send):
    assert scope["type"] == "http"
    await send(start())
    while True:
        await send(body(b": x\n\n", more=True))


async def cannot_be_stopped(scope, receive, send):
    assert scope["type"] == "http"
    await send(start())
    for _ in range(3):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("app", "end", "status", "crash"),
    [
        (crashes_before, "reset", None, ValueError),
        (crashes_after, "cut", 200, KeyError),
        (exits, "reset", None, SystemExit),
        (cancels_itself, "reset", None, None),
        (sends(), "reset", None, None),
        (sends(start()), "cut", 200, None),
        (sends(start(), body(FINISHED, more=True)), "cut", 200, None),
        (only_sends, "cap", 200, None),
        (cannot_be_stopped, "deadline", 200, None),
        (sends(body()), "protocol", None, RuntimeError),
        (sends(start(), start()), "protocol", 200, RuntimeError),
        (sends(start(), {"type": "http.response.body", "body": "text"}), "protocol", 200, None),
        (sends(start(status="200")), "protocol", None, RuntimeError),
        (sends(start(status=100)), "protocol", None, RuntimeError),
        (sends(start(headers=[("a", "b")])), "protocol", None, RuntimeError),
        (sends(start(headers=None)), "protocol", None, RuntimeError),
        (sends(start(headers=[(b"content-length", b"x")])), "protocol", None, RuntimeError),
        (sends(start(headers=[(b"content-length", b"9")]), body(b"x")), "cut", 200, RuntimeError),
        (sends(start(headers=[(b"content-length", b"1")]), body(b"xx")), "cut", 200, RuntimeError),
        (sends(start(204, []), body(b"ignored")), "complete", 204, None),
        (sends(start(), body(FINISHED), body(b"late")), "complete", 200, None),
    ],
)
def test_an_app_that_fails_is_an_exchange(app, end, status, crash):
    began = time.monotonic()
    exchange = exchange_with(app, lifespan_seconds=0.2)
    assert (exchange.end, exchange.status) == (end, status)
    if crash is not None:
        assert isinstance(exchange.crash, crash)
    assert bool(exchange.detail) == (end != "complete")
    assert "secret" not in exchange.detail
    assert len(exchange.body) <= LIMITS.max_bytes
    assert exchange.seconds < LIMITS.deadline_seconds + 0.3
    assert time.monotonic() - began < LIMITS.deadline_seconds + 4 * LEAVE_SECONDS


def test_the_crash_is_named_by_its_type():
    assert exchange_with(crashes_before).detail == (
        "the app raised ValueError before any response head"
    )


def test_a_slow_app_is_told_that_its_client_left():
    told = []

    async def app(scope, receive, send):
        assert scope["type"] == "http"
        await receive()
        told.append(await receive())
        await send(start())

    exchange = exchange_with(app)
    assert (exchange.end, exchange.status) == ("deadline", None)
    assert exchange.detail == "no response head within 0.3 s"
    assert told == [{"type": "http.disconnect"}]


def test_a_terminal_event_leaves_a_grace():
    async def app(scope, receive, send):
        assert scope["type"] == "http"
        await receive()
        await send(start())
        await send(body(FINISHED, more=True))
        await receive()

    exchange = exchange_with(app, limits=Limits(deadline_seconds=9, grace_seconds=0.1))
    assert exchange.end == "deadline"
    assert 0.1 <= exchange.seconds < 2


def test_a_cancelled_request_cancels_the_app():
    cancelled = []

    async def app(scope, receive, send):
        assert scope["type"] == "http"
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def run():
        target = AsgiTarget(app)
        task = asyncio.create_task(target.send(Request(), Limits()))
        await asyncio.wait({task}, timeout=0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await target.aclose()

    asyncio.run(run())
    assert cancelled == [True]


def test_starlette_with_its_lifespan():
    seen = []

    @contextlib.asynccontextmanager
    async def lifespan(app):
        seen.append("up")
        yield {"name": "held"}
        seen.append("down")

    async def stream(request):
        async def events():
            yield FINISHED

        return StreamingResponse(events(), media_type="text/event-stream")

    async def echo(request):
        done = BackgroundTask(seen.append, "background")
        answer = {"got": await request.json(), "held": request.state.name}
        return JSONResponse(answer, background=done)

    async def crash(request):
        raise LookupError("secret")

    async def endless(request):
        async def events():
            try:
                while True:
                    yield b": ping\n\n"
                    await asyncio.sleep(0.01)
            finally:
                seen.append("left")

        return StreamingResponse(events(), media_type="text/event-stream")

    app = Starlette(
        routes=[
            Route("/", stream, methods=["POST"]),
            Route("/echo", echo, methods=["POST"]),
            Route("/crash", crash, methods=["POST"]),
            Route("/endless", endless, methods=["POST"]),
        ],
        lifespan=lifespan,
    )

    async def run():
        target = AsgiTarget(app, name="main:app")
        paths = ("", "/echo", "/crash", "/endless")
        got = [await target.send(Request(path=path, body=b"[1]"), LIMITS) for path in paths]
        await target.aclose()
        return got

    streamed, echoed, crashed, stopped = asyncio.run(run())
    assert streamed.events[0].is_terminal
    assert echoed.json == {"got": [1], "held": "held"}
    assert (crashed.status, crashed.end, type(crashed.crash)) == (500, "complete", LookupError)
    assert stopped.end == "deadline"
    assert stopped.crash is None
    assert sorted(seen) == ["background", "down", "left", "up"]


def test_many_requests_at_once_start_the_app_once():
    started = []

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            started.append(True)
            await asyncio.sleep(0)
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send(start())
        await send(body(FINISHED))

    async def run():
        target = AsgiTarget(app)
        ends = await asyncio.gather(*(target.send(Request(), Limits()) for _ in range(50)))
        await target.aclose()
        return {exchange.end for exchange in ends}

    assert asyncio.run(run()) == {"complete"}
    assert started == [True]


async def fails_to_start(scope, receive, send):
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no\ndatabase"})


@pytest.mark.parametrize(
    ("app", "says"), [(fails_to_start, r"no\\ndatabase"), (sleeps, "did not start within 0.1 s")]
)
def test_an_app_that_does_not_start(app, says):
    with pytest.raises(TargetError, match=says) as caught:
        exchange_with(app, lifespan_seconds=0.1)
    assert "\n" not in caught.value.message


def test_a_path_begins_with_a_slash():
    with pytest.raises(TargetError, match="must begin with /"):
        AsgiTarget(sleeps, path="agent")
    assert AsgiTarget(sleeps, path="/agent?key=1", name="main:app").describe() == "main:app /agent"


MODULE = """
async def app(scope, receive, send): ...
def create_app(): return app
def broken(): raise ValueError("secret")
class Holder: inner = staticmethod(app)
number = 7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "some_host.py").write_text(MODULE)
    (tmp_path / "raising_host.py").write_text("raise RuntimeError('secret')")
    (tmp_path / "needing_host.py").write_text("import no_such_module_at_all")
    yield tmp_path
    for name in ("some_host", "raising_host", "needing_host"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "name", ["some_host:app", "some_host:create_app()", "some_host:Holder.inner"]
)
def test_an_app_is_found(folder, name):
    assert load_app(name).__name__ == "app"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("some_host", "write module:attribute"),
        ("some_host:", "write module:attribute"),
        ("some_hots:app", "did you mean some_host?"),
        ("no_such_thing:app", "start from the folder"),
        ("some_host.py:app", "write the module's name, some_host"),
        ("some_host:ap", "did you mean app?"),
        ("some_host:server", "did you mean app?"),
        ("some_host:create_app", r"write some_host:create_app\(\)"),
        ("some_host:broken()", "raised ValueError"),
        ("some_host:number", "type int"),
        ("some_host:number()", r"leave the \(\) off"),
        ("raising_host:app", "raised RuntimeError"),
        ("needing_host:app", "needs the module no_such_module_at_all"),
    ],
)
def test_an_app_that_is_not_found(folder, name, says):
    with pytest.raises(TargetError, match=says) as caught:
        load_app(name)
    assert "\n" not in caught.value.message
    assert "secret" not in caught.value.message
