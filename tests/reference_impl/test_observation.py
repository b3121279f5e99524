"""The observation: gathered only where it is on, of one thread or of all, and bounded."""

from __future__ import annotations

import pytest

from hostproof.reference_impl.effects import SqliteEffects
from hostproof.reference_impl.ledger import MemoryLedger
from hostproof.reference_impl.observation import MOST_KEPT, Observation
from hostproof.reference_impl.scripted_model import ModelRequest
from hostproof.reference_impl.sessions import SqliteSessions, StoredPause, ThreadKey

ALICE, BOB = ThreadKey("alice", "t"), ThreadKey("bob", "t")
ASKED = ModelRequest(system="s", messages=({"role": "user"},), tools={"a": "b"}, given={})


@pytest.fixture
def sessions():
    found = SqliteSessions()
    found.save(ALICE, [{"id": "m"}], StoredPause(suspension={"interruptId": "i"}, pending=None))
    found.save(BOB, [], StoredPause(suspension="spoiled", pending=None))
    yield found
    found.close()


@pytest.fixture
def written(sessions):
    """Write the document of an observation, with what the host keeps beside it."""
    ledger, effects = MemoryLedger(), SqliteEffects()
    effects.add(ALICE, "pay", {"to": "n"}, "call-1")

    def document(observation, key=None):
        return observation.document(sessions, ledger, effects, key)

    yield document
    effects.close()


def test_off_it_gathers_nothing(written):
    observation = Observation()
    observation.model_asked(ALICE, ASKED)
    assert written(observation)["modelRequests"] == []


def test_of_one_thread_or_of_all(written):
    observation = Observation(enabled=True)
    observation.model_asked(ALICE, ASKED)
    observation.model_asked(BOB, ASKED)
    everything, mine = written(observation), written(observation, ALICE)
    assert [row["caller"] for row in everything["modelRequests"]] == ["alice", "bob"]
    assert [row["interruptId"] for row in everything["pauses"]] == ["i", None]
    assert everything["messages"] == []
    (pause,) = mine["pauses"]
    assert (pause["caller"], pause["thread"], pause["interruptId"]) == ("alice", "t", "i")
    assert [row["caller"] for row in mine["effects"]] == ["alice"]
    assert written(observation, BOB)["effects"] == []
    assert mine["messages"] == [{"id": "m"}]
    (row,) = mine["modelRequests"]
    assert (row["system"], row["messages"], row["tools"]) == ("s", [{"role": "user"}], {"a": "b"})


def test_it_keeps_the_newest(written):
    observation = Observation(enabled=True)
    for at in range(MOST_KEPT + 5):
        observation.model_asked(ThreadKey("alice", str(at)), ASKED)
    kept = written(observation)["modelRequests"]
    assert len(kept) == MOST_KEPT
    assert kept[-1]["thread"] == str(MOST_KEPT + 4)
