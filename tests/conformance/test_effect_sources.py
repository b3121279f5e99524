"""Where effects are read: every source gives the same rows, or says why it gives none."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.conformance import effect_sources
from hostproof.conformance.effect_sources import (
    NoEffectsError,
    rows_in,
    rows_in_streams,
    rows_of,
    rows_outside,
)
from hostproof.conformance.host_under_test import HostUnderTest
from hostproof.conformance.profile import profile_from
from hostproof.conformance.profile_parts import EffectsAt
from hostproof.conformance.target import Limits
from tests.conformance.recorded import FINISHED, STARTED, Scripted, answer, silent, stream
from tests.drawn_json import WHOLE_VALUES

ROWS = [
    {"tool": "pay", "arguments": {"to": "n1", "amount": 10}, "callId": "c1", "thread": "t1"},
    {"tool": "pay", "arguments": {"to": "n2", "amount": 20}, "callId": "c2", "thread": "t2"},
]
LINES = "\n".join(map(json.dumps, ROWS))
PAID = ROWS
CAT = ("cat", "e.jsonl")


def paid():
    return ROWS


def paid_in_a_document():
    return {"effects": ROWS}


def paid_nothing():
    raise RuntimeError("secret")


def paid_badly():
    return [1]


# Text.


@given(st.lists(st.dictionaries(st.text(), WHOLE_VALUES, max_size=3), max_size=4))
def test_every_form_of_text_gives_the_same_rows(rows):
    assert rows_in(json.dumps(rows)) == rows
    assert rows_in(json.dumps({"effects": rows})) == rows
    lines = "\n".join(map(json.dumps, rows))
    if len(rows) != 1 or "effects" not in rows[0]:
        assert rows_in(lines) == rows
        assert rows_in(f"\n{lines}\n\n") == rows


@given(st.text())
def test_any_text_gives_rows_or_says_that_it_has_none(text):
    try:
        assert all(isinstance(row, dict) for row in rows_in(text))
    except NoEffectsError as error:
        assert text not in str(error) or len(text) < 5


@pytest.mark.parametrize(
    "text",
    ["5", "null", '"x"', "[1]", '[{"a": 1}, []]', '{"effects": 1}', '{"effects": [1]}', "{} x",
     '{"a": 1}\n[]', "<html>", "[" * 100_000, '{"a":' * 100_000],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_what_is_no_list_of_objects_is_none(text):
    with pytest.raises(NoEffectsError):
        rows_in(text)


def test_an_empty_text_has_no_rows():
    assert rows_in("") == rows_in(" \n ") == []


# Sources.


def outside(folder=None, **members):
    return asyncio.run(rows_outside(EffectsAt(**members), folder))


def test_a_file_is_read_beside_the_profile(tmp_path):
    assert outside(tmp_path, kind="file", place="e.jsonl") == []
    (tmp_path / "e.jsonl").write_text(LINES)
    assert outside(tmp_path, kind="file", place="e.jsonl") == ROWS
    assert outside(kind="file", place=str(tmp_path / "e.jsonl")) == ROWS


def test_a_line_that_is_written_just_now_is_waited_for(tmp_path, monkeypatch):
    file = tmp_path / "e.jsonl"

    def writing():
        yield 0
        file.write_text(LINES)
        yield 0

    for at in ({"kind": "file", "place": "e.jsonl"}, {"kind": "command", "words": CAT}):
        file.write_text(LINES[:-5])
        monkeypatch.setattr(effect_sources, "WRITING_SECONDS", writing())
        assert outside(tmp_path, **at) == ROWS


@pytest.mark.parametrize("content", [b"\xff\xfe", b"paid 10"])
def test_a_file_that_shows_no_rows_says_so(tmp_path, content):
    (tmp_path / "e.jsonl").write_bytes(content)
    with pytest.raises(NoEffectsError, match=r"text|neither"):
        outside(tmp_path, kind="file", place="e.jsonl")
    with pytest.raises(NoEffectsError, match="cannot be read"):
        outside(tmp_path.parent, kind="file", place=tmp_path.name)


def test_a_command_is_run_in_the_profiles_folder(tmp_path):
    (tmp_path / "e.jsonl").write_text(LINES)
    assert outside(tmp_path, kind="command", words=CAT) == ROWS


def python(code):
    return tuple(shlex.split(f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hostproof-no-such-command",), "cannot be started"),
        (python("import sys; sys.exit(3)"), "ended with 3"),
        (python("print('secret')"), "neither"),
    ],
)
def test_a_command_that_shows_no_rows_says_so(words, said):
    with pytest.raises(NoEffectsError, match=said) as raised:
        outside(kind="command", words=words)
    assert "secret" not in str(raised.value)


def test_a_command_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(effect_sources, "COMMAND_SECONDS", 0.05)
    with pytest.raises(NoEffectsError, match="took over"):
        outside(kind="command", words=python("import time; time.sleep(60)"))


HERE = "tests.conformance.test_effect_sources"


@pytest.mark.parametrize("name", ["paid", "paid_in_a_document"])
def test_a_function_gives_its_rows(name):
    rows = outside(kind="python", place=f"{HERE}:{name}")
    assert rows == ROWS
    assert rows[0] is not ROWS[0]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tests.nothing:paid", "no module"),
        (f"{HERE}:nothing", "has no"),
        (f"{HERE}:PAID", "is no function"),
        (f"{HERE}:paid_nothing", "raised RuntimeError"),
        (f"{HERE}:paid_badly", "no list of objects"),
    ],
)
def test_a_function_that_gives_no_rows_says_so(name, said):
    with pytest.raises(NoEffectsError, match=said) as raised:
        outside(kind="python", place=name)
    assert "secret" not in str(raised.value)


def from_url(exchange):
    at = {"url": "http://127.0.0.1:1/agui"}
    profile = profile_from({"version": 1, "target": at, "effects": {"url": "/effects"}})
    target = Scripted(lambda request: exchange)
    rows = asyncio.run(HostUnderTest(target, profile, Limits()).effect_rows())
    assert [(one.method, one.path) for one in target.sent] == [("GET", "/effects")]
    return rows


def test_a_url_gives_its_rows():
    assert from_url(answer(json.dumps(ROWS), "application/json")) == ROWS
    assert from_url(answer(LINES, "text/plain")) == ROWS


@pytest.mark.parametrize(
    ("exchange", "said"),
    [
        (answer('{"detail": "Not Found"}', "application/json", 404), "said 404"),
        (answer("[]", "application/json", 401), "said 401"),
        (answer("[]", "application/json", 500), "said 500"),
        (silent(), "was not answered"),
        (answer("<html>", "text/html"), "neither"),
    ],
)
def test_a_url_that_shows_no_rows_says_so(exchange, said):
    """An error that is JSON is no list of effects: it would show that nothing has run."""
    with pytest.raises(NoEffectsError, match=said):
        from_url(exchange)


def test_a_stream_is_no_source_that_can_be_asked():
    profile = profile_from({"version": 1, "effects": {"stream": "paid {nonce}"}})
    host = HostUnderTest(Scripted(lambda request: silent()), profile, Limits())
    with pytest.raises(NoEffectsError, match="no source"):
        asyncio.run(host.effect_rows())


# Choosing.


@pytest.mark.parametrize(
    ("thread", "marks", "calls"),
    [
        ("t1", [], ["c1"]),
        ("t3", [], []),
        ("t3", ["n2"], ["c2"]),
        ("t1", ["n2"], ["c1", "c2"]),
        ("t1", ["n1"], ["c1"]),
        ("t3", ["n9"], []),
    ],
)
def test_a_row_belongs_to_its_thread_or_its_word(thread, marks, calls):
    assert [row["callId"] for row in rows_of(ROWS, [thread], marks)] == calls


@given(WHOLE_VALUES, st.from_regex(r"[a-z]{3,8}", fullmatch=True))
def test_a_word_is_found_wherever_it_stands(value, word):
    assert rows_of([{"deep": [{"er": value}, {word: 1}]}], ["t"], [word])
    assert rows_of([{"deep": [value, f"to {word}."]}], ["t"], [word])


# Streams.


def result(call_id, content):
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": f"m-{call_id}",
        "toolCallId": call_id,
        "content": content,
    }


def begun(call_id, name="pay"):
    return {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": name}


@pytest.mark.parametrize(
    ("runs", "calls"),
    [
        ([[begun("a"), result("a", "paid n1: 10")]], ["a"]),
        ([[begun("a")], [result("a", "paid n1: 10")]], ["a"]),
        ([[begun("a"), result("a", "paid n1")], [result("a", "paid n1")]], ["a"]),
        ([[result("a", "paid n1"), result("b", "paid n1")]], ["a", "b"]),
        ([[result("a", "paid n2")]], []),
        ([[result("a", "declined n1")]], []),
        ([[result("a", [{"type": "text", "text": "paid n1"}])]], ["a"]),
        ([[{"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "paid n1"}]], []),
        ([["no json"]], []),
    ],
)
def test_results_in_a_stream_are_counted_by_call(runs, calls):
    exchanges = [stream(STARTED, *events, FINISHED) for events in runs]
    rows = rows_in_streams(exchanges, "paid {nonce}", ["n1"])
    assert [row["callId"] for row in rows] == calls


def test_a_row_of_a_stream_names_its_tool():
    events = [begun("a", "pay"), result("a", "paid n1")]
    (row,) = rows_in_streams([stream(STARTED, *events, FINISHED)], "paid {nonce}", ["n1"])
    assert row == {"tool": "pay", "callId": "a"}
