"""Sessions: what is kept, whose it is, and a store that cannot be used says what to do."""

from __future__ import annotations

import json
import sqlite3
import threading

import pytest

from hostproof.reference_impl.host_errors import StoreError
from hostproof.reference_impl.sessions import (
    SqliteSessions,
    StoredPause,
    StoredThread,
    ThreadKey,
)

ALICE = ThreadKey("alice", "t")
BOB = ThreadKey("bob", "t")
PAUSE = StoredPause(suspension={"version": 1, "x": "\ud800"}, pending={"question": {"a": None}})


@pytest.fixture
def sessions():
    found = SqliteSessions()
    yield found
    found.close()


def message(at):
    return {"id": f"m-{at}", "role": "user", "content": "ü\u0000\U0001f600"}


def test_an_unknown_thread_is_empty(sessions):
    assert sessions.load(ALICE) == StoredThread()
    assert sessions.pauses() == []


def test_messages_are_added_in_order_and_the_pause_replaced(sessions):
    sessions.save(ALICE, [message(0), message(1)], PAUSE)
    sessions.save(ALICE, [message(2)], None)
    assert sessions.load(ALICE) == StoredThread(messages=tuple(map(message, range(3))))
    other = StoredPause(suspension=None, pending=[1, 2.5, True])
    sessions.save(ALICE, [], PAUSE)
    sessions.save(ALICE, [], other)
    assert sessions.load(ALICE).pause == other
    assert len(sessions.load(ALICE).messages) == 3


def test_a_thread_is_its_callers(sessions):
    sessions.save(ALICE, [message(0)], PAUSE)
    sessions.save(BOB, [message(1)], None)
    assert sessions.load(BOB) == StoredThread(messages=(message(1),))
    assert sessions.load(ThreadKey("t", "alice")) == StoredThread()
    assert sessions.pauses() == [(ALICE, PAUSE)]


def test_a_save_is_whole_or_not_at_all(sessions):
    with pytest.raises(TypeError):
        sessions.save(ALICE, [message(0), {"id": object()}], PAUSE)
    assert sessions.load(ALICE) == StoredThread()
    sessions.save(ALICE, [message(0)], PAUSE)
    assert sessions.load(ALICE).messages == (message(0),)


def test_a_thread_is_held_once_and_given_back_by_its_run(sessions):
    assert sessions.hold(ALICE, "run-1")
    assert not sessions.hold(ALICE, "run-2")
    assert not sessions.hold(ALICE, "run-1")
    assert sessions.hold(BOB, "run-1")
    sessions.release(ALICE, "run-2")
    assert not sessions.hold(ALICE, "run-3")
    sessions.release(ALICE, "run-1")
    assert sessions.hold(ALICE, "run-3")


def test_two_stores_on_one_file_share_threads_and_holds(tmp_path):
    path = str(tmp_path / "s.db")
    first, second = SqliteSessions(path), SqliteSessions(path)
    try:
        first.save(ALICE, [message(0)], PAUSE)
        assert second.load(ALICE) == StoredThread(messages=(message(0),), pause=PAUSE)
        assert first.hold(ALICE, "run-1")
        assert not second.hold(ALICE, "run-2")
        second.release(ALICE, "run-1")  # the same run, of another process: not its to give back
        assert not second.hold(ALICE, "run-2")
        first.release(ALICE, "run-1")
        assert second.hold(ALICE, "run-2")
        assert not first.hold(ALICE, "run-1")
        second.close()
        assert first.hold(ALICE, "run-1")
    finally:
        first.close()
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


def test_of_many_at_once_one_holds_the_thread(tmp_path):
    path = str(tmp_path / "s.db")
    stores = [SqliteSessions(path) for _ in range(6)]
    line = threading.Barrier(len(stores))
    held = []

    def race(at):
        line.wait()
        held.append(stores[at].hold(ALICE, f"run-{at}"))

    threads = [threading.Thread(target=race, args=[at]) for at in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for store in stores:
        store.close()
    assert sorted(held) == [False] * 5 + [True]


def test_what_is_kept_is_plain_ascii_json(tmp_path):
    path = str(tmp_path / "s.db")
    sessions = SqliteSessions(path)
    sessions.save(ALICE, [message(0)], PAUSE)
    sessions.close()
    with sqlite3.connect(path) as database:
        (text,) = database.execute("SELECT message FROM messages").fetchone()
    database.close()
    assert text.isascii()
    assert json.loads(text) == message(0)


# Stores that cannot be used.


def refused(path):
    with pytest.raises(StoreError) as caught:
        SqliteSessions(str(path))
    text = str(caught.value)
    assert "\n" not in text
    assert "Choose" in text or "choose another" in text
    return text


def altered(path, *statements):
    SqliteSessions(str(path)).close()
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


def left_beside(path):
    return sorted(one.name for one in path.parent.iterdir() if one.name != path.name)


def test_a_store_of_another_version_is_refused(tmp_path):
    path = tmp_path / "s.db"
    altered(path, "PRAGMA user_version = 999")
    assert "version" in refused(path)
    assert left_beside(path) == []


def test_another_applications_database_is_refused_and_left_as_it_was(tmp_path):
    path = tmp_path / "other.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE precious (x)")
    database.commit()
    database.close()
    before = path.read_bytes()
    refused(path)
    assert path.read_bytes() == before
    assert left_beside(path) == []


def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no database " * 200)
    refused(path)
    assert path.read_text() == "no database " * 200
    assert left_beside(path) == []


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "s.db"
    path.touch()
    sessions = SqliteSessions(str(path))
    sessions.save(ALICE, [message(0)], None)
    sessions.close()


def test_a_folder_is_no_store(tmp_path):
    refused(tmp_path)


def test_a_path_through_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    refused(tmp_path / "file" / "s.db")


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    if not _writing_can_be_forbidden(tmp_path):
        refused("/proc/hostproof/s.db")
        return
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    refused(folder / "s.db")
    folder.chmod(0o700)


def _writing_can_be_forbidden(folder):
    """Say whether this user can be kept from writing: root cannot."""
    probe = folder / "probe"
    probe.touch(mode=0o400)
    try:
        probe.write_text("x")
    except OSError:
        return True
    return False
