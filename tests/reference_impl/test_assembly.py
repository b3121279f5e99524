"""Assembling evidence: configuration, and functions that answer at once or later."""

from __future__ import annotations

import asyncio
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from hostproof.reference_impl.assembly import (
    DEFAULT,
    CheckInConfig,
    assemble,
    resolve_check_in_config,
)
from hostproof.reference_impl.evidence import lexical_driver_scorer
from hostproof.reference_impl.evidence_types import (
    Driver,
    Evidence,
    EvidenceInput,
    Scorer,
    ScorerInput,
    Tool,
)
from hostproof.reference_impl.values import MISSING
from tests.golden import Vector, exactly, vectors


class Signal:
    """A run's cancel signal; reading it is counted."""

    def __init__(self) -> None:
        self.reads = 0

    @property
    def cancelled(self) -> bool:
        self.reads += 1
        return True


INPUT = EvidenceInput(
    tool=Tool(name="pay", description="Pay a bill"),
    args={"sum": 700},
    iteration=2,
    history=[{"role": "user", "content": "pay the bill"}],
)


def named(config: CheckInConfig) -> dict[str, Any]:
    evidence: Any = config.evidence
    scorer: Any = config.scorer
    return {
        "evidence": evidence if evidence in ("standard", "minimal") else {"literal": evidence},
        "scorer": "lexical" if scorer is lexical_driver_scorer else {"literal": scorer},
    }


@pytest.mark.parametrize("vector", vectors("checkin", "resolveCheckInConfig"), ids=str)
def test_resolve_check_in_config(vector: Vector) -> None:
    options = vector.args[0] if vector.args else MISSING
    if "threw" in vector.expect:
        assert vector.expect["threw"]["name"] == "Error"
        with pytest.raises(ValueError, match="scorer"):
            resolve_check_in_config(options)
    else:
        assert exactly(named(resolve_check_in_config(options))) == exactly(vector.expect["ok"])


def test_functions_and_odd_values_are_kept() -> None:
    def own(_given: EvidenceInput, _scorer: Scorer) -> Evidence:
        return {"willDo": "x"}

    assert resolve_check_in_config({"evidence": own, "scorer": own}) == CheckInConfig(
        evidence=own,
        scorer=own,  # type: ignore[arg-type] # kept, whatever it is
    )
    assert resolve_check_in_config({"scorer": MISSING, "evidence": "minimal"}).scorer
    assert resolve_check_in_config([]) is DEFAULT


def test_what_is_passed_is_frozen() -> None:
    for value, name in ((INPUT, "args"), (DEFAULT, "scorer"), (INPUT.tool, "name")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, None)


def test_standard_evidence_by_default() -> None:
    evidence = asyncio.run(assemble(DEFAULT, INPUT))
    assert list(evidence) == ["willDo", "read", "drivers", "trail"]
    assert [driver["id"] for driver in evidence["drivers"]] == ["task-1"]


def test_minimal_evidence() -> None:
    evidence = asyncio.run(assemble(CheckInConfig(evidence="minimal"), INPUT))
    assert list(evidence) == ["willDo"]


RANKED: list[Driver] = [{"id": "task-1", "channel": "task", "text": "t", "score": 0.5}]


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("signal", [None, Signal()])
def test_a_scorer_of_the_hosts_own(awaited: bool, signal: Signal | None) -> None:
    asked: list[ScorerInput] = []

    def at_once(given: ScorerInput) -> list[Driver]:
        asked.append(given)
        return RANKED

    async def later(given: ScorerInput) -> list[Driver]:
        await asyncio.sleep(0)
        return at_once(given)

    config = CheckInConfig(scorer=later if awaited else at_once)
    given = EvidenceInput(
        tool=INPUT.tool, args=INPUT.args, iteration=1, history=INPUT.history, signal=signal
    )
    evidence = asyncio.run(assemble(config, given))
    assert evidence["drivers"] == RANKED
    assert [each.signal for each in asked] == [signal]
    assert asked[0].tool.text == "pay Pay a bill sum=700"
    assert signal is None or signal.reads == 0


def test_no_unit_no_scorer() -> None:
    def never(_given: ScorerInput) -> list[Driver]:
        pytest.fail("there was nothing to score")

    given = EvidenceInput(tool=INPUT.tool, args={})
    evidence = asyncio.run(assemble(CheckInConfig(scorer=never), given))
    assert evidence["drivers"] == []
    assert "iteration" not in evidence["trail"]


@pytest.mark.parametrize("awaited", [False, True])
def test_an_assembler_of_the_hosts_own(awaited: bool) -> None:
    signal = Signal()
    seen: list[Any] = []

    def at_once(given: EvidenceInput, scorer: Scorer) -> Evidence:
        seen.extend((given, scorer))
        return {"willDo": "of my own"}

    async def later(given: EvidenceInput, scorer: Scorer) -> Evidence:
        await asyncio.sleep(0)
        return at_once(given, scorer)

    given = EvidenceInput(tool=INPUT.tool, args={}, signal=signal)
    evidence = asyncio.run(assemble(CheckInConfig(evidence=later if awaited else at_once), given))
    assert evidence == {"willDo": "of my own"}
    assert seen == [given, lexical_driver_scorer]
    assert signal.reads == 0


def test_what_a_function_raises_passes_through() -> None:
    async def cancelled(_given: ScorerInput) -> list[Driver]:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(assemble(CheckInConfig(scorer=cancelled), INPUT))


@pytest.mark.parametrize("options", [{"evidence": ""}, {"evidence": 1}, {"scorer": False}])
def test_what_is_no_function_fails_when_it_is_needed(options: dict[str, Any]) -> None:
    config = resolve_check_in_config(options)
    with pytest.raises(TypeError, match="check-in"):
        asyncio.run(assemble(config, INPUT))
