"""A store's file: what is refused at the start, and a host that cannot use it for a while."""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from hostproof.conformance.asgi_target import AsgiTarget
from hostproof.conformance.exchange import Request
from hostproof.reference_impl import sqlite_store
from hostproof.reference_impl.effects import SqliteEffects
from hostproof.reference_impl.embedded import LOOK_INSIDE, build_host
from hostproof.reference_impl.host_errors import StoreError
from hostproof.reference_impl.ledger import SqliteLedger
from hostproof.reference_impl.result_texts import OUTCOME_UNKNOWN
from hostproof.reference_impl.sessions import SqliteSessions, ThreadKey
from hostproof.reference_impl.sqlite_store import SqliteStore, read_stored
from tests.processes import HostProcess, serve_command, talking_process
from tests.stored import changing, effects_of, how_spent, pending_of, rows, said_on
from tests.talk import LIMITS, NO, YES, Talk, ran, refusal_of
from tests.trouble import as_nobody, full_disk, locked

TABLE = "CREATE TABLE IF NOT EXISTS things (name TEXT PRIMARY KEY, at INTEGER NOT NULL)"
STORES = [SqliteSessions, SqliteLedger, SqliteEffects]
TOKENS = {"alice": "token-of-alice", LOOK_INSIDE: "token-of-the-inspector"}
SHORT_WAIT = 0.05


@pytest.fixture
def impatient(monkeypatch):
    """Wait only a little for another's transaction to end."""
    monkeypatch.setattr(sqlite_store, "BUSY_SECONDS", SHORT_WAIT)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "host.db"


def refused_start(path):
    """Check that no store starts on a path, and give what is said."""
    said = set()
    for store in STORES:
        with pytest.raises(StoreError) as caught:
            store(str(path))
        said.add(str(caught.value))
    return "; ".join(said)


def test_a_missing_folder_is_not_made(tmp_path):
    said = refused_start(tmp_path / "gone" / "host.db")
    assert "cannot be used" in said
    assert not (tmp_path / "gone").exists()


def test_a_folder_that_is_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "cannot be used" in refused_start(tmp_path / "file" / "host.db")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_in_the_files_place_is_told(tmp_path):
    (tmp_path / "host.db").mkdir()
    assert "cannot be used" in refused_start(tmp_path / "host.db")


def test_a_file_that_is_no_database_is_told_and_left_alone(path):
    path.write_text("my shopping list\n" * 100)
    assert "cannot be used" in refused_start(path)
    assert path.read_text() == "my shopping list\n" * 100


def test_another_programs_database_is_told_and_left_alone(path):
    with changing(path) as database:
        database.execute("CREATE TABLE theirs (a)")
    before = path.read_bytes()
    assert "no store of version" in refused_start(path)
    assert path.read_bytes() == before
    assert not path.with_name("host.db-wal").exists()


@pytest.mark.parametrize("pragma", ["user_version = 1", "user_version = 3", "application_id = 7"])
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_store_of_another_version_is_told_and_left_alone(path, pragma, is_empty):
    if not is_empty:
        SqliteLedger(str(path)).close()
    with changing(path) as database:
        database.execute(f"PRAGMA {pragma}")
    before = path.read_bytes()
    assert "no store of version" in refused_start(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_cannot_be_written_is_told(what):
    folder = Path(tempfile.mkdtemp())  # where nobody may look, unlike pytest's own folders
    try:
        path = folder / "host.db"
        SqliteLedger(str(path)).close()
        path.chmod(0o444)
        folder.chmod(0o555 if what == "folder" else 0o777)
        with as_nobody():
            assert "cannot be used" in refused_start(path)
        assert not list(folder.glob("*.lock"))
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


@pytest.mark.usefixtures("impatient")
def test_a_locked_file_is_told_at_the_start_and_taken_later(path):
    SqliteLedger(str(path)).close()
    with locked(path):
        assert "locked" in refused_start(path)
    for store in STORES:
        store(str(path)).close()


def test_a_full_disk_is_told_at_the_start(path):
    with full_disk():
        assert "cannot be used" in refused_start(path)


def test_a_start_that_failed_leaves_nothing_behind(path):
    path.write_text("my shopping list\n" * 100)
    refused_start(path)
    assert [one.name for one in path.parent.iterdir()] == ["host.db"]


def test_serve_says_it_in_one_line(path):
    path.write_text("my shopping list\n" * 100)
    done = subprocess.run(serve_command(path), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "cannot be used" in done.stderr


OPENING = """
import sys
from hostproof.reference_impl.embedded import build_host
print("ready", flush=True)
sys.stdin.readline()
build_host(database=sys.argv[1]).close()
"""


def test_processes_may_start_on_a_new_file_together(path):
    with ExitStack() as stack:
        processes = [stack.enter_context(talking_process(OPENING, path)) for _ in range(4)]
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        assert [process.wait(60) for process in processes] == [0] * 4
    assert len(rows(path, "SELECT store FROM ledger")) == 1


def test_many_may_begin_new_files_together(tmp_path):
    """Whoever comes second waits, however the two get into each other's way."""
    many, files = 6, 60
    together = threading.Barrier(many)

    def begin(_at):
        for number in range(files):
            together.wait(60)
            try:
                SqliteStore(str(tmp_path / f"{number}.db"), [TABLE]).close()
            except StoreError as error:
                refused.append(str(error))

    refused: list[str] = []
    with ThreadPoolExecutor(many) as pool:
        list(pool.map(begin, range(many)))
    assert refused == []


def test_a_transaction_is_all_or_nothing(path):
    store = SqliteStore(str(path), [TABLE])

    def write(*names):
        with store.transaction():
            for name in names:
                store.execute("INSERT INTO things VALUES (?, 1)", (name,))
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        write("one", "two")
    with pytest.raises(sqlite3.IntegrityError):
        write("one", "one")
    assert store.rows("SELECT * FROM things", ()) == []
    assert store.row("SELECT * FROM things", ()) is None
    store.close()


def test_threads_take_turns(path):
    """No thread's row is lost in, or kept by, another thread's transaction."""
    store = SqliteStore(str(path), [TABLE])
    together = threading.Barrier(8)

    def write(at):
        together.wait()
        for number in range(50):
            try:
                with store.transaction():
                    store.execute("INSERT INTO things VALUES (?, ?)", (f"{at}-{number}", at))
                    if number % 2:
                        raise ValueError
            except ValueError:
                pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    names = {row[0] for row in store.rows("SELECT name FROM things", ())}
    store.close()
    assert names == {f"{at}-{number}" for at in range(8) for number in range(0, 50, 2)}


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", "1" * 5_000, "[" * 100_000])
def test_what_is_no_json_of_ours_reads_as_null(text):
    assert read_stored(text) is None


@pytest.mark.parametrize("value", [b"{}", 7, None, '"\u00e9"', '"\udcff"'])
def test_what_is_no_text_in_ascii_reads_as_null(value):
    assert read_stored(value) is None


# A host whose file cannot be used for a while.


class Troubled:
    """A host on a file, with a thread that waits for a yes, and trouble that comes at a moment."""

    def __init__(self, path, trouble):
        self.path = path
        self.trouble = trouble
        self.talk = Talk(TOKENS)
        self.host = None
        self.at = ""
        self.held = None

    def comes(self, moment):
        """Begin the trouble, where this is its moment."""
        if self.at == moment and self.held is None:
            self.held = self.trouble()
            self.held.__enter__()

    def goes(self):
        self.at = ""
        if self.held is not None:
            self.held.__exit__(None, None, None)
            self.held = None

    def parts(self, parts):
        door, after, effects = parts.door, parts.after_spend, parts.effects

        def watched_door(pending, answer, facts):
            self.comes("spend")
            return door(pending, answer, facts)

        def watched_spend(key):
            self.comes("effect")
            after(key)

        def watched_effect(*args):
            SqliteEffects.add(effects, *args)
            self.comes("end")

        effects.add = watched_effect
        return replace(parts, door=watched_door, after_spend=watched_spend)

    async def perform(self, work):
        self.host = build_host(
            tokens=TOKENS, database=str(self.path), inspect=True, fault=self.parts
        )
        self.target = AsgiTarget(self.host.app)
        try:
            await work(self)
        finally:
            self.goes()
            await self.target.aclose()
            self.host.close()

    async def send(self, request):
        return await self.target.send(request, LIMITS)

    def inside(self, method, path, body=b""):
        headers = (("authorization", f"Bearer {TOKENS[LOOK_INSIDE]}"),)
        return Request(method=method, path=path, headers=headers, body=body)


TROUBLES = {"locked": locked, "full": lambda _path: full_disk()}


@pytest.fixture(params=TROUBLES)
def troubled(request, path):
    return Troubled(path, lambda: TROUBLES[request.param](path))


def is_unavailable(exchange):
    document = exchange.json
    return (
        exchange.status == 503
        and exchange.content_type == "application/problem+json"
        and document["status"] == 503
        and exchange.header("retry-after") == "1"
        and "sqlite" not in exchange.text.lower()
        and str(exchange.text).isascii()
    )


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("moment", ["request", "spend"])
@pytest.mark.parametrize("cue", ["check_in", "ask_detail"])
def test_before_the_spend_nothing_runs_and_the_same_answer_works_later(
    troubled, moment, approved, cue
):
    async def work(it):
        interrupt = await it.talk.pause(it.target, "t1", cue, "n1")
        pending = pending_of(it.path, "t1")
        answer = it.talk.answer("t1", interrupt, YES if approved else NO)
        it.at = moment
        it.comes("request")
        assert is_unavailable(await it.send(answer))
        it.goes()
        assert pending_of(it.path, "t1") == pending
        assert how_spent(it.path, pending["request"]["id"]) is None
        assert effects_of(it.path, "t1") == []
        assert ran(await it.send(answer))
        assert len(effects_of(it.path, "t1")) == approved
        assert ran(await it.send(it.talk.cue("t1", "plain", "n2")))

    asyncio.run(troubled.perform(work))


@pytest.mark.usefixtures("impatient")
def test_between_spend_and_effect_nothing_runs_and_the_pause_is_settled_later(troubled):
    async def work(it):
        interrupt = await it.talk.pause(it.target, "t1", "check_in", "n1")
        answer = it.talk.answer("t1", interrupt, YES)
        it.at = "effect"
        failed = await it.send(answer)
        assert refusal_of(failed)[:2] == (200, None)
        it.goes()
        assert pending_of(it.path, "t1") is not None
        assert effects_of(it.path, "t1") == []
        assert refusal_of(await it.send(answer))[2] == "already-answered"
        assert effects_of(it.path, "t1") == []
        assert said_on(it.path, "t1")[-1]["content"] == OUTCOME_UNKNOWN
        assert ran(await it.send(it.talk.cue("t1", "plain", "n2")))

    asyncio.run(troubled.perform(work))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("then", ["answer", "message"])
def test_after_the_effect_it_is_not_done_again(troubled, then):
    async def work(it):
        interrupt = await it.talk.pause(it.target, "t1", "check_in", "n1")
        answer = it.talk.answer("t1", interrupt, YES)
        it.at = "end"
        assert refusal_of(await it.send(answer))[:2] == (200, None)
        it.goes()
        assert len(effects_of(it.path, "t1")) == 1
        if then == "answer":
            assert refusal_of(await it.send(answer))[2] == "already-answered"
        else:
            assert ran(await it.send(it.talk.cue("t1", "plain", "n2")))
        assert OUTCOME_UNKNOWN in [one.get("content") for one in said_on(it.path, "t1")]
        assert refusal_of(await it.send(answer))[1] == "ERR_NO_PENDING_ASK"
        assert len(effects_of(it.path, "t1")) == 1

    asyncio.run(troubled.perform(work))


@pytest.mark.usefixtures("impatient")
def test_a_message_and_a_question_wait_until_the_file_can_be_used(troubled):
    async def work(it):
        interrupt = await it.talk.pause(it.target, "t1", "question", "n1")
        message, answer = it.talk.cue("t2", "plain", "n2"), it.talk.answer("t1", interrupt, 0)
        it.at = "request"
        it.comes("request")
        assert is_unavailable(await it.send(message))
        assert is_unavailable(await it.send(answer))
        it.goes()
        assert ran(await it.send(message))
        assert ran(await it.send(answer))

    asyncio.run(troubled.perform(work))


@pytest.mark.usefixtures("impatient")
def test_who_looks_inside_is_told_too(troubled):
    async def work(it):
        await it.talk.pause(it.target, "t1", "check_in", "n1")
        body = json.dumps({"command": "close-pause", "caller": "alice", "thread": "t1"}).encode()
        close = it.inside("POST", "/hostproof/control", body)
        it.at = "request"
        it.comes("request")
        assert is_unavailable(await it.send(close))
        it.goes()
        assert (await it.send(close)).json == {"done": True}
        assert (await it.send(it.inside("GET", "/hostproof/observation"))).status == 200

    asyncio.run(troubled.perform(work))


@pytest.mark.usefixtures("impatient")
def test_a_host_can_be_closed_while_its_file_cannot_be_used(path):
    host = build_host(database=str(path))
    assert host.parts.sessions.hold(ThreadKey("alice", "t1"), "run")
    with locked(path):
        host.close()
    again = build_host(database=str(path))
    assert again.parts.sessions.hold(ThreadKey("alice", "t1"), "run")
    again.close()
    assert sorted(one.name for one in path.parent.iterdir()) == ["host.db"]


@pytest.mark.usefixtures("impatient")
def test_a_lease_that_could_not_be_given_back_holds_nobody_up(path):
    key, other = ThreadKey("alice", "t1"), ThreadKey("alice", "t2")
    one, two = SqliteSessions(str(path)), SqliteSessions(str(path))
    assert one.hold(key, "run-1")
    with locked(path):
        one.release(key, "run-1")
    assert not two.hold(key, "run-2")  # it cannot know yet
    assert one.hold(other, "run-3")
    assert two.hold(key, "run-4")
    assert not one.hold(key, "run-5")
    two.release(key, "run-4")
    assert one.hold(key, "run-6")
    one.close()
    two.close()


LOCKING = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
"""


def test_another_process_may_hold_the_file_for_a_while(path):
    """Both are processes of their own, and the host waits as long as it does."""
    environ = {"HOSTPROOF_TOKEN_ALICE": "a-token-of-alice-0123"}
    talk = Talk({"alice": environ["HOSTPROOF_TOKEN_ALICE"]})

    async def run():
        host = await HostProcess.start(serve_command(path), environ)
        target = host.target()
        try:
            interrupt = await talk.pause(target, "t1", "check_in", "n1")
            with talking_process(LOCKING, path) as locking:
                assert locking.stdout.readline() == "locked\n"
                answer = talk.answer("t1", interrupt, YES)
                assert is_unavailable(await target.send(answer, LIMITS))
            assert effects_of(path, "t1") == []
            assert ran(await target.send(answer, LIMITS))
            assert len(effects_of(path, "t1")) == 1
        finally:
            await target.aclose()
            assert await host.stop() == 0

    asyncio.run(run())
