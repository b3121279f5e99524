"""The function program: every vector through its door, and any line survived."""

import io
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl import functions
from hostproof.reference_impl.function_ops import OPS
from hostproof.reference_impl.js_json import decode_numbers, encode_numbers, parse
from hostproof.reference_impl.values import json_text
from tests.golden import AREAS, area, exactly

WITHOUT_OP = {"readAgUiRequest", "planAgUiTurn"}


def members(vector):
    """Spell a vector's arguments as the members of its op."""
    op, names = {
        "readAgUiRunInput": ("read_request", ["body"]),
        "planFromBody": ("plan_turn", ["body", "held", "facts", "rules"]),
        "readAgUiSuspension": ("read_suspension", ["value"]),
        "elicitationOf": ("elicitation_request", ["awaiting"]),
        "answerFromElicitation": ("elicitation_answer", ["awaiting", "content"]),
        "isCheckInDecision": ("is_decision", ["value"]),
        "looksLikeDecision": ("looks_like_decision", ["value"]),
        "checkInApproved": ("approve", ["input"]),
        "checkInDeclined": ("decline", ["input"]),
        "shouldCheckIn": ("should_check_in", ["demand", "arguments"]),
        "standardEvidenceAssembler": ("evidence", ["input"]),
        "minimalEvidenceAssembler": ("evidence", ["input"]),
        "unitsFromHistory": ("context_units", ["history"]),
        "lexicalDriverScorer": ("score_drivers", []),
        "declinedResult": ("declined_result", ["note"]),
        "resolveCheckInConfig": ("check_in_config", ["options"]),
    }[vector.fn]
    request = {"op": op}
    if vector.fn == "lexicalDriverScorer":
        return request | vector.line["args"][0]
    if op == "evidence":
        request["kind"] = vector.fn.removesuffix("EvidenceAssembler")
    for name, argument in zip(names, vector.line["args"], strict=False):
        raw = isinstance(argument, dict) and set(argument) == {"raw"}
        if raw and name in ("body", "content"):
            request["raw"] = argument["raw"]
        elif raw:
            request[name] = parse(argument["raw"])
        else:
            request[name] = argument
    return request


VECTORS = [vector for name in AREAS for vector in area(name) if vector.fn not in WITHOUT_OP]


@pytest.fixture(scope="module")
def answers():
    """Send every vector to one running program, and read its answers back."""
    lines = [{"op": "start", "version": 1}]
    lines += [{"seq": at, **members(vector)} for at, vector in enumerate(VECTORS)]
    text = "".join(json_text(encode_numbers(line)) + "\n" for line in lines)
    ran = subprocess.run(
        [sys.executable, "-m", "hostproof.reference_impl.functions"],
        input=text.encode(),
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert ran.stderr == b""
    first, *rest = ran.stdout.split(b"\n")[:-1]
    assert json.loads(first)["ops"] == list(OPS)
    read = [decode_numbers(parse(line.decode())) for line in rest]
    assert [answer["seq"] for answer in read] == list(range(len(VECTORS)))
    return {vector.id: answer for vector, answer in zip(VECTORS, read, strict=True)}


def test_all_vectors_but_28_have_an_op():
    assert len(VECTORS) == 1_655 - 28


def without_sentences(fn, value):
    """Leave off what is our own sentence, which the contract does not prescribe."""
    if fn == "declinedResult":
        return isinstance(value, str | dict)
    if fn.endswith("EvidenceAssembler"):
        trail = {k: v for k, v in value.get("trail", {}).items() if k != "summary"}
        return {**value, "willDo": "", **({"trail": trail} if "trail" in value else {})}
    return value


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_vectors(vector, answers):
    answer = answers[vector.id]
    expect = vector.expect
    if "threw" in expect:
        assert set(answer) == {"seq", "error"}
    elif "refused" in expect:
        assert answer["refused"] == expect["refused"]
    else:
        seen = without_sentences(vector.fn, answer["ok"])
        assert exactly(seen) == exactly(without_sentences(vector.fn, expect["ok"]))


@given(st.lists(st.binary(max_size=40) | st.text().map(str.encode), max_size=6))
def test_any_line_is_answered_and_it_goes_on(lines):
    lines = [line.replace(b"\n", b"") for line in lines]
    output = io.BytesIO()

    functions.run([line + b"\n" for line in lines], output)

    answers = output.getvalue().split(b"\n")[:-1]
    assert len(answers) == len(lines)
    assert all(json.loads(answer) for answer in answers)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b'{"op":"start","version":2}',
        b'{"seq":1}',
        b'{"seq":1,"op":"no_such"}',
        b'{"seq":1,"op":[]}',
        b'{"seq":1,"op":"read_request","raw":5}',
        b'{"seq":1,"op":"read_request","raw":"{"}',
        b'{"seq":1,"op":"plan_turn","body":1,"rules":7}',
        b'{"seq":1,"op":"evidence","kind":"other","input":{}}',
        b'{"seq":1,"op":"evidence"}',
        b'{"seq":1,"op":"should_check_in","demand":"sometimes"}',
        b'{"seq":1,"op":"score_drivers","tool":{"name":"t","text":"x"},"units":[1]}',
        b'{"seq":1,"op":"elicitation_request","awaiting":{},"revision":"2024-11-05"}',
        b'{"seq":1,"op":"approve","input":{}}',
        b'{"seq":' + b"[" * 50_000,
    ],
)
def test_what_cannot_be_answered_is_an_error_or_a_refusal(line):
    answer = functions.answer(line)

    assert "ok" not in answer
    assert "error" in answer or "refused" in answer


def test_a_line_may_nest_far():
    line = b'{"seq":1,"op":"is_decision","value":' + b"[" * 100_000 + b"]" * 100_000 + b"}"

    assert functions.answer(line) == {"seq": 1, "ok": False}


def test_help_says_how(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["functions", "--help"])

    assert functions.main() == 0
    assert "docs/functions.md" in capsys.readouterr().out
