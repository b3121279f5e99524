"""Check-in evidence, by the contract's vectors and its properties."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl import result_texts
from hostproof.reference_impl.checkin import declined_result
from hostproof.reference_impl.evidence import (
    MAX_ARGUMENT,
    MAX_SUMMARY,
    begin_standard,
    finish_standard,
    lexical_driver_scorer,
    minimal_evidence,
    summary_parts,
    summary_text,
    trail,
    units_from_history,
    will_do_parts,
    will_do_text,
)
from hostproof.reference_impl.evidence_types import (
    Evidence,
    EvidenceInput,
    ScorerInput,
    Tool,
    ToolText,
)
from hostproof.reference_impl.frozen import frozen_copy
from hostproof.reference_impl.values import MISSING, utf16_length
from tests.golden import Vector, exactly, vectors

PAY = Tool(name="pay", description="Pay a bill")


def as_json_reads(text: str) -> str:
    """Join the halves of a character that stand side by side, as a JSON parser does."""
    joined: str = json.loads(json.dumps(text))
    return joined


TEXT = st.text(st.characters(exclude_categories=()), max_size=80).map(as_json_reads)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "tool", "assistant", "developer"])},
    optional={
        "content": st.none() | TEXT,
        "toolName": TEXT,
        "notDispatched": st.booleans() | st.none(),
    },
)
HISTORIES = st.lists(MESSAGES, max_size=6)


def evidence_input(value: dict[str, Any]) -> EvidenceInput:
    return EvidenceInput(
        tool=Tool(**value["tool"]),
        args=value["args"],
        iteration=value.get("iteration", MISSING),
        history=value.get("history", []),
    )


def standard(given_input: EvidenceInput) -> Evidence:
    begun = begin_standard(given_input)
    asked = begun.scorer_input
    return finish_standard(begun, lexical_driver_scorer(asked) if asked else [])


def in_parts(evidence: Evidence, given_input: EvidenceInput) -> dict[str, Any]:
    """Put the facts in place of the sentences, once each sentence is the one they make."""
    what, shown = will_do_parts(given_input.tool, given_input.args)
    assert evidence["willDo"] == will_do_text(what, shown)
    parts: dict[str, Any] = {**evidence, "willDo": {"what": what, "with": shown}}
    if "trail" in evidence:
        said = summary_parts(len(evidence["trail"]["toolCalls"]), given_input.iteration)
        assert evidence["trail"]["summary"] == summary_text(said)
        parts["trail"] = {**evidence["trail"], "summary": said}
    return parts


@pytest.mark.parametrize("vector", vectors("checkin", "unitsFromHistory"), ids=str)
def test_units_from_history(vector: Vector) -> None:
    assert exactly(units_from_history(*vector.args)) == exactly(vector.expect["ok"])


@pytest.mark.parametrize("vector", vectors("checkin", "lexicalDriverScorer"), ids=str)
def test_lexical_driver_scorer(vector: Vector) -> None:
    (value,) = vector.args
    asked = ScorerInput(tool=ToolText(**value["tool"]), units=value["units"])
    assert exactly(lexical_driver_scorer(asked)) == exactly(vector.expect["ok"])


@pytest.mark.parametrize("vector", vectors("checkin", "minimalEvidenceAssembler"), ids=str)
def test_minimal_evidence(vector: Vector) -> None:
    given_input = evidence_input(vector.args[0])
    parts = in_parts(minimal_evidence(given_input), given_input)
    assert exactly(parts) == exactly(vector.expect["ok"])


@pytest.mark.parametrize("vector", vectors("checkin", "standardEvidenceAssembler"), ids=str)
def test_standard_evidence(vector: Vector) -> None:
    given_input = evidence_input(vector.args[0])
    parts = in_parts(standard(given_input), given_input)
    assert exactly(parts) == exactly(vector.expect["ok"])


@given(HISTORIES)
def test_units_have_ids_of_their_own_and_say_something(history: list[dict[str, Any]]) -> None:
    units = units_from_history(history)
    assert len({unit["id"] for unit in units}) == len(units)
    assert all(unit["id"].startswith(f"{unit['channel']}-") for unit in units)
    assert all(unit["text"] for unit in units)


@given(TEXT, TEXT, st.dictionaries(TEXT, JSON, max_size=4), HISTORIES, st.integers(0, 9))
def test_evidence_survives_json(
    name: str, description: str, args: dict[str, Any], history: list[dict[str, Any]], iteration: int
) -> None:
    given_input = EvidenceInput(
        tool=Tool(name=name, description=description),
        args=args,
        iteration=iteration,
        history=history,
    )
    for evidence in (standard(given_input), minimal_evidence(given_input)):
        text = json.dumps(evidence, ensure_ascii=True, allow_nan=False)
        assert text.isascii()
        assert json.loads(text) == evidence
        assert json.dumps(json.loads(text)) == text


@given(st.dictionaries(TEXT, JSON, max_size=4), HISTORIES)
def test_a_frozen_copy_of_the_arguments_reads_the_same(
    args: dict[str, Any], history: list[dict[str, Any]]
) -> None:
    plain = EvidenceInput(tool=PAY, args=args, iteration=1, history=history)
    frozen = EvidenceInput(tool=PAY, args=frozen_copy(args), iteration=1, history=history)
    assert standard(frozen) == standard(plain)


@given(HISTORIES, TEXT)
def test_what_is_shown_is_short(history: list[dict[str, Any]], value: str) -> None:
    begun = begin_standard(EvidenceInput(tool=PAY, args={}, history=history))
    assert all(utf16_length(frame["summary"]) <= MAX_SUMMARY for frame in begun.read)
    _, shown = will_do_parts(PAY, {"a": value})
    assert shown is not None
    assert utf16_length(shown) <= len("a=") + MAX_ARGUMENT


@given(st.text(), st.lists(st.text()))
def test_scores_are_ranked_between_nothing_and_all(text: str, texts: list[str]) -> None:
    units = units_from_history([{"role": "user", "content": content} for content in texts])
    drivers = lexical_driver_scorer(ScorerInput(tool=ToolText(name="t", text=text), units=units))
    scores = [driver["score"] for driver in drivers]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert sorted(driver["id"] for driver in drivers) == sorted(unit["id"] for unit in units)


@pytest.mark.parametrize(
    "text",
    [
        result_texts.DECLINED,
        result_texts.DENIED,
        result_texts.CREDENTIAL_FAILED,
        result_texts.CREDENTIAL_CONSENT,
        *result_texts.CONTRACT_BEGINNINGS,
        declined_result(),
    ],
)
def test_a_call_that_did_not_run_reads_as_not_ok(text: str) -> None:
    for content in (text, text.upper(), f"{text}: more"):
        history = [{"role": "tool", "toolName": "pay", "content": content}]
        assert trail(history)["toolCalls"] == [{"name": "pay", "ok": False}]
    for content in (f" {text}", f"x {text}", text[:-1]):
        history = [{"role": "tool", "toolName": "pay", "content": content}]
        assert trail(history)["toolCalls"] == [{"name": "pay", "ok": True}]


@pytest.mark.parametrize(
    ("tools", "iteration", "sentence"),
    [
        (0, 1, "No tool has run so far; this is iteration 1."),
        (1, 1, "1 tool has run in 1 iteration."),
        (1, 1.0, "1 tool has run in 1 iteration."),
        (2, 3, "2 tools have run in 3 iterations."),
        (1, True, "1 tool has run in true iterations."),
    ],
)
def test_a_summary_is_a_sentence(tools: int, iteration: Any, sentence: str) -> None:
    assert summary_text(summary_parts(tools, iteration)) == sentence


def test_keys_come_in_javascript_order() -> None:
    _, shown = will_do_parts(PAY, {"b": 1, "10": 2, "2": None, "01": "x"})
    assert shown == "2=null, 10=2, b=1, 01=x"


@pytest.mark.parametrize("role", ["system", "user", "tool", "assistant"])
def test_content_that_is_no_text_is_a_fault(role: str) -> None:
    history = [{"role": role, "toolName": "t", "content": [{"type": "text"}]}]
    with pytest.raises(TypeError, match="content"):
        units_from_history(history)
