"""Where effects are read: every source gives the same rows, or says why it gives none."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

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


class Unsayable:
    def __str__(self):
        raise RuntimeError("secret")


class Ungettable(dict[str, object]):
    def get(self, *_given):
        raise RuntimeError("secret")


def nested(depth):
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


def circle():
    row: dict[str, object] = {}
    row["secret"] = row
    return [row]


def ends():
    raise SystemExit("secret")


def interrupts():
    raise KeyboardInterrupt


def with_odd_values():
    return ({"day": date(2026, 1, 2), "pair": (1, 2), 5: None},)


def ungettable():
    return [Ungettable(tool="pay")]


def blocks():
    time.sleep(3600)


HOSTILE = {
    "tuple keys": lambda: [{("secret",): 1}],
    "circle": circle,
    "too deep for us": lambda: [{"secret": nested(effect_sources.MOST_DEPTH)}],
    "deep": lambda: [{"secret": nested(900)}],
    "very deep": lambda: [{"secret": nested(50_000)}],
    "no text": lambda: [{"secret": Unsayable()}],
    "huge number": lambda: [{"secret": 10**5000}],
    "generator": lambda: ({} for _ in range(2)),
    "nothing": lambda: None,
    "ends": ends,
    "interrupts": interrupts,
}
hostile = HOSTILE["circle"]
"""What the test at hand takes."""


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
     '{"a": 1}\n[]', "<html>", '{"a": 1}\x0b{"a": 1}', '{"a": 1}\u2028{"a": 1}',
     '[{"a": ' + "[" * 200 + "]" * 200 + "}]", '[{"a": ' + "[" * 900 + "]" * 900 + "}]",
     '[{"a": ' + "1" * 5000 + "}]", "[" * 100_000, '{"a":' * 100_000],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_what_is_no_list_of_objects_is_none(text):
    with pytest.raises(NoEffectsError):
        rows_in(text)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x7f", "\xa0"])
def test_a_line_ends_at_its_line_feed_only(character, end):
    rows = [{"to": f"a{character}b"}, {"to": character}]
    assert rows_in("".join(json.dumps(row, ensure_ascii=False) + end for row in rows)) == rows


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


def test_only_a_regular_file_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path)):
        with pytest.raises(NoEffectsError, match="cannot be read") as raised:
            outside(kind="file", place=place)
        assert Path(place).name in str(raised.value)
    with pytest.raises(NoEffectsError, match="cannot be read"):
        outside(kind="file", place="a\0b")


def test_a_file_is_read_as_far_as_the_most(tmp_path, monkeypatch):
    (tmp_path / "e.jsonl").write_text(LINES)
    monkeypatch.setattr(effect_sources, "MOST_BYTES", len(LINES))
    assert outside(tmp_path, kind="file", place="e.jsonl") == ROWS
    monkeypatch.setattr(effect_sources, "MOST_BYTES", len(LINES) - 1)
    for at in ({"kind": "file", "place": "e.jsonl"}, {"kind": "command", "words": CAT}):
        with pytest.raises(NoEffectsError, match=r"(file e\.jsonl|command cat) gives over"):
            outside(tmp_path, **at)
    with pytest.raises(NoEffectsError, match="gives over"):
        outside(kind="python", place=f"{HERE}:paid")


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


NOTING = "import os, pathlib; pathlib.Path('pid').write_text(str(os.getpid())); "


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_command_that_prints_for_ever_is_killed(tmp_path):
    words = python(NOTING + "\nwhile True: print('secret' * 5000)")
    with pytest.raises(NoEffectsError, match="gives over 16 MB") as raised:
        outside(tmp_path, kind="command", words=words)
    assert "secret" not in str(raised.value)
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_command_is_killed_when_nobody_waits_for_it(tmp_path):
    noted = tmp_path / "pid"

    async def cancelled():
        at = EffectsAt(kind="command", words=python(NOTING + "import time; time.sleep(3600)"))
        task = asyncio.create_task(rows_outside(at, tmp_path))
        while not (noted.exists() and noted.read_text()):  # noqa: ASYNC110 - another process's
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancelled())
    assert is_gone(int(noted.read_text()))


def test_what_a_command_leaves_behind_is_not_waited_for():
    begun = time.monotonic()
    assert outside(kind="command", words=("sh", "-c", "sleep 5 & echo '[]'")) == []
    assert time.monotonic() - begun < 4


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


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_function_does_it_only_gives_no_rows(name, monkeypatch):
    monkeypatch.setattr(sys.modules[HERE], "hostile", HOSTILE[name])
    with pytest.raises(NoEffectsError, match=f"^{HERE}:hostile (gives|raised) ") as raised:
        outside(kind="python", place=f"{HERE}:hostile")
    assert "secret" not in str(raised.value)


def test_the_values_of_a_function_become_plain():
    (row,) = outside(kind="python", place=f"{HERE}:with_odd_values")
    assert row == {"day": "2026-01-02", "pair": [1, 2], "5": None}
    (row,) = outside(kind="python", place=f"{HERE}:ungettable")
    assert type(row) is dict
    assert row == {"tool": "pay"}


def test_values_may_be_nested_as_deep_as_the_most(monkeypatch):
    deepest = [{"a": nested(effect_sources.MOST_DEPTH - 3)}]
    monkeypatch.setattr(sys.modules[HERE], "hostile", lambda: deepest)
    assert (
        outside(kind="python", place=f"{HERE}:hostile") == deepest == rows_in(json.dumps(deepest))
    )


def test_a_function_that_blocks_is_left_behind(monkeypatch):
    monkeypatch.setattr(effect_sources, "COMMAND_SECONDS", 0.05)
    with pytest.raises(NoEffectsError, match=r":blocks took over 0\.05 s"):
        outside(kind="python", place=f"{HERE}:blocks")


def test_a_function_that_blocks_does_not_hold_up_ctrl_c():
    code = f"""
import asyncio, signal
from hostproof.conformance.effect_sources import rows_outside
from hostproof.conformance.profile_parts import EffectsAt
import {HERE}
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
signal.setitimer(signal.ITIMER_REAL, 0.2)
asyncio.run(rows_outside(EffectsAt(kind="python", place="{HERE}:blocks"), None))
"""
    root = Path(__file__).parent.parent.parent
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=root, timeout=9, check=False, stderr=subprocess.PIPE
    )
    assert ran.returncode in (130, -signal.SIGINT), ran.stderr


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
