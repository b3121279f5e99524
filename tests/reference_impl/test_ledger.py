"""The ledger: every request is spent once, from wherever it is spent, and stays so."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl.ledger import (
    DecisionRecord,
    MemoryLedger,
    SqliteLedger,
    is_record_of_ours,
)
from hostproof.reference_impl.values import MISSING
from tests.drawn_json import TEXTS, VALUES, bits
from tests.processes import talking_process
from tests.stored import changing, rows

RACERS = 8
REQUESTS = 50


def record(request="request-1", *, approved=True, **members):
    given: dict[str, Any] = {"by": "somebody", "caller": "alice", "at": 1_700_000_000_000}
    return DecisionRecord(request=request, approved=approved, **given | members)


@pytest.fixture(params=[SqliteLedger, MemoryLedger])
def ledger(request):
    made = request.param()
    yield made
    made.close()


@pytest.mark.parametrize("approved", [True, False])
def test_a_request_is_spent_once(ledger, approved):
    how = "approved" if approved else "declined"
    assert ledger.how_spent("request-1") is None
    assert ledger.spend(record(approved=approved))
    assert ledger.how_spent("request-1") == how
    assert not ledger.spend(record(approved=not approved, by="another"))
    assert not ledger.spend(record(approved=approved))
    assert not ledger.close_request("request-1")
    assert ledger.how_spent("request-1") == how
    assert ledger.records() == [record(approved=approved).to_json()]


def test_what_the_host_closed_is_spent_without_a_record(ledger):
    assert ledger.close_request("request-1")
    assert ledger.how_spent("request-1") == "closed"
    assert not ledger.close_request("request-1")
    assert not ledger.spend(record())
    assert ledger.records() == []


def test_records_are_kept_in_the_order_of_their_use(ledger):
    for number in (3, 1, 2):
        assert ledger.spend(record(f"request-{number}"))
    assert [one["request"] for one in ledger.records()] == ["request-3", "request-1", "request-2"]


def test_a_record_has_what_was_given_and_nothing_else():
    members = ["request", "approved", "by", "caller", "at"]
    assert list(record().to_json()) == members
    assert list(record(note="n", value=None).to_json()) == [*members, "note", "value"]
    assert record(note=MISSING, value=0).to_json()["value"] == 0


@pytest.mark.parametrize("shared", [True, False], ids=["one ledger", "a ledger each"])
def test_threads_spend_a_request_once(tmp_path, shared):
    path = str(tmp_path / "host.db")
    opened = [SqliteLedger(path) for _ in range(1 if shared else RACERS)]
    ledgers = opened * (RACERS if shared else 1)
    together = threading.Barrier(RACERS)

    def spend(at):
        won = []
        for number in range(REQUESTS):
            together.wait()
            approved = (at + number) % 2 == 0
            if ledgers[at].spend(record(f"request-{number}", approved=approved, by=f"by-{at}")):
                won.append((number, approved))
        return won

    with ThreadPoolExecutor(RACERS) as pool:
        won = [one for wins in pool.map(spend, range(RACERS)) for one in wins]
    assert sorted(number for number, _ in won) == list(range(REQUESTS))
    kept = {one["request"]: one["approved"] for one in ledgers[0].records()}
    assert kept == {f"request-{number}": approved for number, approved in won}
    for ledger in opened:
        ledger.close()


def test_the_memory_ledger_is_as_strict_between_threads():
    ledger = MemoryLedger()
    together = threading.Barrier(RACERS)

    def spend(at):
        together.wait()
        return sum(ledger.spend(record(f"request-{number}")) for number in range(REQUESTS))

    with ThreadPoolExecutor(RACERS) as pool:
        assert sum(pool.map(spend, range(RACERS))) == REQUESTS


SPENDING = """
import sys
from hostproof.reference_impl.ledger import DecisionRecord, SqliteLedger
ledger = SqliteLedger(sys.argv[1])
print(ledger.store_id, flush=True)
sys.stdin.readline()
won = [
    number
    for number in range(int(sys.argv[2]))
    if ledger.spend(
        DecisionRecord(request=f"request-{number}", approved=True, by="b", caller="alice", at=1)
    )
]
print(*won)
"""


def test_processes_spend_a_request_once(tmp_path):
    """Three processes open one new file at the same time, then spend the same requests."""
    path = tmp_path / "host.db"
    with ExitStack() as stack:
        processes = [
            stack.enter_context(talking_process(SPENDING, path, str(REQUESTS))) for _ in range(3)
        ]
        stores = {process.stdout.readline().strip() for process in processes}
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        printed = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(stores) == 1
    won = sorted(int(number) for text in printed for number in text.split())
    assert won == list(range(REQUESTS))


def test_the_store_id_stays_and_is_the_files_own(tmp_path):
    seen = []
    for name in ("one.db", "one.db", "other.db"):
        ledger = SqliteLedger(str(tmp_path / name))
        seen.append(ledger.store_id)
        ledger.close()
    assert seen[0] == seen[1] != seen[2]
    assert MemoryLedger().store_id is None


def test_what_is_spent_stays_spent_over_a_restart(tmp_path):
    path = str(tmp_path / "host.db")
    ledger = SqliteLedger(path)
    ledger.spend(record("request-1"))
    ledger.spend(record("request-2", approved=False))
    ledger.close_request("request-3")
    before = ledger.records()
    ledger.close()
    again = SqliteLedger(path)
    ways = [again.how_spent(f"request-{number}") for number in (1, 2, 3, 4)]
    assert ways == ["approved", "declined", "closed", None]
    assert again.records() == before
    assert not any(again.spend(record(f"request-{number}")) for number in (1, 2, 3))
    again.close()


RECORDS = st.builds(
    DecisionRecord,
    request=st.just("request-1"),
    approved=st.booleans(),
    by=TEXTS,
    caller=TEXTS,
    at=st.integers(0, 2**53),
    note=VALUES | st.just(MISSING),
    value=VALUES | st.just(MISSING),
)


@given(RECORDS)
def test_a_record_survives_json_and_a_restart_bit_for_bit(tmp_path_factory, one):
    path = str(tmp_path_factory.mktemp("ledger") / "host.db")
    ledger = SqliteLedger(path)
    assert ledger.spend(one)
    ledger.close()
    again = SqliteLedger(path)
    (kept,) = again.records()
    again.close()
    assert bits(kept) == bits(one.to_json())
    assert is_record_of_ours(kept)


FOREIGN = ["no JSON", "{", "null", "[]", "{}", '{"request": "r"}', '{"at": NaN}', b"\xff\xfe", 7]


@pytest.mark.parametrize("foreign", FOREIGN, ids=repr)
def test_a_record_that_is_none_of_ours_is_left_out_and_spends_all_the_same(tmp_path, foreign):
    path = tmp_path / "host.db"
    ledger = SqliteLedger(str(path))
    ledger.spend(record("request-1"))
    with changing(path) as database:
        database.execute("INSERT INTO spent VALUES ('request-2', 'approved', ?)", (foreign,))
    assert [one["request"] for one in ledger.records()] == ["request-1"]
    assert ledger.how_spent("request-2") == "approved"
    assert not ledger.spend(record("request-2"))
    ledger.close()


@pytest.mark.parametrize("foreign", ["", "APPROVED", "yes", b"approved", 1])
def test_a_way_that_is_none_of_ours_is_unknown_and_spent(tmp_path, foreign):
    path = tmp_path / "host.db"
    ledger = SqliteLedger(str(path))
    with changing(path) as database:
        database.execute("INSERT INTO spent VALUES ('request-1', ?, NULL)", (foreign,))
    assert ledger.how_spent("request-1") == "unknown"
    assert not ledger.spend(record())
    assert not ledger.close_request("request-1")
    ledger.close()


def test_a_record_is_written_as_json_in_ascii(tmp_path):
    path = tmp_path / "host.db"
    ledger = SqliteLedger(str(path))
    ledger.spend(record(note="\u00e9\ud83d"))
    ((text,),) = rows(path, "SELECT record FROM spent")
    ledger.close()
    assert text.isascii()
    assert json.loads(text)["note"] == "\u00e9\ud83d"


@given(VALUES)
def test_any_value_is_a_record_of_ours_or_none(value):
    assert not is_record_of_ours(value)
