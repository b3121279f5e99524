"""A host that the suite starts itself: ready, or a line that says why not, and stopped again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time

import pytest

from hostproof.conformance.owned_process import owned_process
from hostproof.conformance.reachability import check_reachable
from hostproof.conformance.target import TargetError
from tests.hostile import serve

SERVER = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(404)
        self.end_headers()
    def log_message(self, *given):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]])
open(sys.argv[3], "w").write(str(child.pid))
child.wait()
"""


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number


def python(code, *words):
    return [sys.executable, "-c", code, *map(str, words)]


def url(port):
    return f"http://127.0.0.1:{port}/ready"


def run(command, port, **options):
    """Own a process for a moment; give its id."""

    async def own():
        async with owned_process(command, url(port), **options) as process:
            await check_reachable(url(port))
            os.kill(process.pid, 0)
            return process.pid

    return asyncio.run(own())


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0] == "Z"
    return True


def test_it_is_started_waited_for_and_stopped(port):
    pid = run(python(SERVER, port), port)
    assert is_gone(pid)
    with pytest.raises(TargetError):
        asyncio.run(check_reachable(url(port)))


def test_it_is_stopped_when_the_block_breaks(port):
    pids = []

    async def own():
        async with owned_process(python(SERVER, port), url(port)) as process:
            pids.append(process.pid)
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - it is ours
        asyncio.run(own())
    assert is_gone(pids[0])


def test_it_is_stopped_when_the_run_is_cancelled(port):
    async def own(ready):
        async with owned_process(python(SERVER, port), url(port)) as process:
            ready.set_result(process.pid)
            await asyncio.Event().wait()

    async def cancelled():
        ready = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(own(ready))
        pid = await ready
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return pid

    assert is_gone(asyncio.run(cancelled()))


def test_what_does_not_heed_is_killed(port):
    begun = time.monotonic()
    pid = run(python(STUBBORN + SERVER, port), port, stop_seconds=0.2)
    assert is_gone(pid)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("stubborn", ["", STUBBORN], ids=["willing", "stubborn"])
def test_its_children_are_stopped_with_it(port, tmp_path, stubborn):
    noted = tmp_path / "child"
    command = python(PARENT, port, stubborn + SERVER, noted)
    pid = run(command, port, stop_seconds=0.3)
    child = int(noted.read_text())
    assert is_gone(pid)
    deadline = time.monotonic() + 5
    while not is_gone(child):
        assert time.monotonic() < deadline


def test_its_folder_is_the_profiles(port, tmp_path):
    code = "import pathlib; pathlib.Path('here').touch()\n" + SERVER
    run(python(code, port), port, folder=tmp_path)
    assert (tmp_path / "here").exists()


def failure(command, port, **options):
    with pytest.raises(TargetError) as caught:
        run(command, port, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_command_that_is_none_is_named(port):
    assert "`hostproof-none --x` cannot be started" in failure(["hostproof-none", "--x"], port)


def test_one_that_ends_early_is_named_with_its_last_words(port):
    text = failure(python("print('x' * 5000); print('no such port'); raise SystemExit(3)"), port)
    assert "ended with 3 before it answered; it said: no such port" in text
    assert "it said: nothing" in failure(python("pass"), port)
    assert "it said: \ufffd" in failure(python("import os; os.write(1, b'\\xff\\n')"), port)


def test_one_that_is_never_ready_is_stopped(port, tmp_path):
    noted = tmp_path / "pid"
    code = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    text = failure(python(code), port, ready_seconds=0.5)
    assert f"did not answer at {url(port)} within 0.5 seconds" in text
    assert "--ready" in text
    assert is_gone(int(noted.read_text()))


def test_what_answers_already_is_not_started_beside():
    async def own():
        async def hello(reader, writer):
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

        async with serve(hello) as port, owned_process(python("pass"), url(port)):
            raise AssertionError("it must not be started")

    with pytest.raises(TargetError, match=r"something answers at .* already"):
        asyncio.run(own())


def test_a_signal_to_nobody_is_no_error(port):
    """A process that was stopped from elsewhere is over, and that is all."""

    async def own():
        async with owned_process(python(SERVER, port), url(port)) as process:
            os.killpg(process.pid, signal.SIGKILL)
            return process.pid

    assert is_gone(asyncio.run(own()))


def test_it_can_be_restarted(port):
    async def own():
        async with owned_process(python(SERVER, port), url(port)) as process:
            first = process.pid
            await process.restart()
            await check_reachable(url(port))
            assert is_gone(first)
            return first, process.pid

    first, second = asyncio.run(own())
    assert first != second
    assert is_gone(second)
