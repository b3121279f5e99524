"""Leases: a mark lives as long as its process, however that ends."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from hostproof.reference_impl.leases import ProcessMark
from hostproof.reference_impl.sessions import SqliteSessions, ThreadKey

KEY = ThreadKey("alice", "t")
HOLDER = """
import sys
from hostproof.reference_impl.sessions import SqliteSessions, ThreadKey
sessions = SqliteSessions(sys.argv[1])
print(sessions.hold(ThreadKey("alice", "t"), "run-1"), flush=True)
sys.stdin.read()
if "close" in sys.argv:
    sessions.close()
"""


@pytest.fixture
def holder(tmp_path):
    """Start a process that holds the thread until its input ends."""
    started = []

    def start(*words):
        path = str(tmp_path / "s.db")
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, path, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"True\n"
        return path, process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_process_that_is_killed_holds_nothing_any_more(holder, tmp_path):
    path, process = holder()
    sessions = SqliteSessions(path)
    try:
        assert not sessions.hold(KEY, "run-2")
        assert sessions.hold(ThreadKey("bob", "t"), "run-2")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert sessions.hold(KEY, "run-2")
        assert not sessions.hold(KEY, "run-3")
    finally:
        sessions.close()
    assert [one.name for one in tmp_path.iterdir() if one.suffix == ".lock"] == []


@pytest.mark.parametrize("words", [["close"], []])
def test_a_process_that_ends_holds_nothing_any_more(holder, words):
    path, process = holder(*words)
    process.communicate()
    sessions = SqliteSessions(path)
    try:
        assert sessions.hold(KEY, "run-2")
    finally:
        sessions.close()


def test_a_mark_is_alive_until_its_end(tmp_path):
    store = str(tmp_path / "s.db")
    mine, other = ProcessMark.beside(store), ProcessMark.beside(store)
    assert mine.name != other.name
    assert mine.is_alive(mine.name)
    assert mine.is_alive(other.name)
    other.end()
    other.end()
    assert not mine.is_alive(other.name)
    assert not mine.is_alive("never-there")
    mine.end()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_nobody_holds_is_removed(tmp_path):
    mark = ProcessMark.beside(str(tmp_path / "s.db"))
    left = tmp_path / f"s.db.{'0' * 32}.lock"
    left.touch()
    assert not mark.is_alive("0" * 32)
    assert not left.exists()
    mark.end()


@pytest.mark.parametrize("name", ["", "../s.db", "0" * 31, "0" * 32 + "\n", "x" * 32])
def test_a_name_that_is_none_is_nobodys(tmp_path, name):
    mark = ProcessMark.beside(str(tmp_path / "s.db"))
    before = sorted(tmp_path.iterdir())
    assert not mark.is_alive(name)
    assert sorted(tmp_path.iterdir()) == before
    mark.end()


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError):
        ProcessMark.beside(str(tmp_path / "none" / "s.db"))
    assert list(tmp_path.iterdir()) == []


def test_in_memory_only_this_process_is_alive(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mark = ProcessMark.beside(None)
    assert mark.is_alive(mark.name)
    assert not mark.is_alive("another")
    mark.end()
    assert list(tmp_path.iterdir()) == []
