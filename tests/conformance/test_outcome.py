"""What an answer amounts to: accepted, refused or broken, whatever the host's style."""

from __future__ import annotations

import pytest

from hostproof.conformance.outcome import BREAKAGES, Accepted, Broken, Refused, outcome_of
from tests.conformance.recorded import (
    FINISHED,
    PROBLEM,
    STARTED,
    STREAM,
    answer,
    error,
    problem,
    ran,
    silent,
    stream,
)

INTERRUPTED = FINISHED | {"outcome": {"type": "interrupt", "interrupts": [{"id": "i"}]}}

ACCEPTED = {
    "a plain run": (ran(), "success"),
    "an outcome that names its type": (
        stream(STARTED, FINISHED | {"outcome": {"type": "success"}}),
        "success",
    ),
    "an interrupt": (stream(STARTED, INTERRUPTED), "interrupt"),
    "a legacy outcome": (stream(STARTED, FINISHED | {"outcome": "interrupt"}), "success"),
    "an odd type": (stream(STARTED, FINISHED | {"outcome": {"type": 7}}), "success"),
    "something behind the end": (stream(STARTED, FINISHED, {"type": "CUSTOM"}), "success"),
    "two runs in one stream": (stream(STARTED, error(), STARTED, FINISHED), "success"),
    "a body left open after the end": (stream(STARTED, FINISHED, end="deadline"), "success"),
    "without a start": (stream(FINISHED), "success"),
}

REFUSED = {
    "a problem document": (
        problem(400, "ERR_X", "threadId"),
        Refused(400, "ERR_X", "threadId", in_stream=False),
    ),
    "a framework's detail": (
        answer('{"detail":[{"loc":["body"]}]}', "application/json", 422),
        Refused(422, None, None, in_stream=False),
    ),
    "an array": (answer("[1]", "application/json", 400), Refused(400, None, None, in_stream=False)),
    "text": (answer("no", "text/plain", 404), Refused(404, None, None, in_stream=False)),
    "HTML": (answer("<p>no", "text/html", 403), Refused(403, None, None, in_stream=False)),
    "nothing": (answer("", None, 401), Refused(401, None, None, in_stream=False)),
    "a redirect": (answer("", None, 307), Refused(307, None, None, in_stream=False)),
    "members that are no texts": (
        answer('{"code":7,"field":["f"]}', PROBLEM, 400),
        Refused(400, None, None, in_stream=False),
    ),
    "broken JSON": (answer("{", PROBLEM, 400), Refused(400, None, None, in_stream=False)),
    "RUN_ERROR": (stream(STARTED, error()), Refused(200, None, None, in_stream=True)),
    "RUN_ERROR alone": (stream(error("ERR_X")), Refused(200, "ERR_X", None, in_stream=True)),
    "RUN_ERROR with members": (
        stream(STARTED, error("ERR_X", field="f", reason="stale")),
        Refused(200, "ERR_X", "f", in_stream=True, reason="stale"),
    ),
    "RUN_ERROR with odd members": (
        stream({"type": "RUN_ERROR", "code": 7, "metadata": []}),
        Refused(200, None, None, in_stream=True),
    ),
    "RUN_ERROR in a body left open": (
        stream(error("ERR_X"), end="deadline"),
        Refused(200, "ERR_X", None, in_stream=True),
    ),
}

BROKEN = {
    "a server error": (answer("oh", "text/plain", 500), "server-error"),
    "a problem document of a server error": (problem(503, "ERR_X"), "server-error"),
    "an odd status": (answer(status=999), "server-error"),
    "silence": (silent(), "silence"),
    "a stream that never ends": (stream(STARTED, end="deadline"), "silence"),
    "a cut answer": (stream(STARTED, end="cut"), "cut"),
    "a stream cut after its end": (stream(STARTED, FINISHED, end="cut"), "cut"),
    "a cut refusal": (answer("{", PROBLEM, 400, "cut"), "cut"),
    "a dropped connection": (answer(status=None, end="reset"), "dropped"),
    "a flood": (stream(STARTED, FINISHED, end="cap"), "flood"),
    "no HTTP": (answer(status=None, end="protocol"), "not-http"),
    "nobody there": (answer(status=None, end="unreachable"), "unreachable"),
    "a success that is no stream": (answer("{}", "application/json"), "no-stream"),
    "a success without a type": (answer("", None, 204), "no-stream"),
    "a stream of nothing": (answer("", STREAM), "no-events"),
    "no terminal event": (stream(STARTED, {"type": "CUSTOM"}), "no-terminal-event"),
    "data that is no object": (stream("[DONE]", "7"), "no-terminal-event"),
    "a second run that does not end": (stream(STARTED, FINISHED, STARTED), "no-terminal-event"),
    "an app that crashed after its end": (
        stream(STARTED, FINISHED, end="deadline", crash=ValueError()),
        "silence",
    ),
}


@pytest.mark.parametrize(("exchange", "kind"), ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(exchange, kind):
    found = outcome_of(exchange)
    assert isinstance(found, Accepted)
    assert found.outcome == kind
    assert found.describe() == f"accepted (RUN_FINISHED, {kind})"


@pytest.mark.parametrize(("exchange", "refused"), REFUSED.values(), ids=REFUSED)
def test_refused(exchange, refused):
    assert outcome_of(exchange) == refused
    how = "RUN_ERROR" if refused.in_stream else f"HTTP {refused.status}"
    assert how in refused.describe()
    assert (refused.code or "no code") in refused.describe()


@pytest.mark.parametrize(("exchange", "kind"), BROKEN.values(), ids=BROKEN)
def test_broken(exchange, kind):
    found = outcome_of(exchange)
    assert isinstance(found, Broken)
    assert found.kind == kind
    assert BREAKAGES[found.kind] in found.describe()


def test_every_breakage_is_shown_above():
    assert {kind for _, kind in BROKEN.values()} == set(BREAKAGES)


def test_a_hosts_own_words_are_cut():
    long = "x" * 5000
    refused = outcome_of(stream(error(long, field=long, reason=long)))
    assert len(refused.describe()) < 600
    assert len(outcome_of(stream(FINISHED | {"outcome": {"type": long}})).describe()) < 300
