"""Exchanges as values: what they say of themselves, and what they keep to themselves."""

import gzip
import json
import zlib

import pytest

from hostproof.conformance.exchange import MAX_LEVELS, Event, Exchange, Request, read_json
from hostproof.conformance.recorder import Recorder
from hostproof.conformance.target import Limits
from hostproof.reference_impl.values import MISSING


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", '{"a": Infinity}', "[1,]", "9" * 5000, "[" * 200 + "]" * 200, "[" * 10**5],
)
def test_no_json(text):
    assert read_json(text) is MISSING


@pytest.mark.parametrize("leaf", ["[]", "{}", "[1]", '{"a": null}'])
def test_json_up_to_its_depth(leaf):
    for levels in (MAX_LEVELS - 1, MAX_LEVELS):
        text = "[" * levels + leaf + ", []" * 200 + "]" * levels
        if levels < MAX_LEVELS:
            assert json.dumps(read_json(text)) == text
        else:
            assert read_json(text) is MISSING


def test_what_an_exchange_says():
    exchange = Exchange(
        request=Request(headers=(("authorization", "secret"),)),
        status=200,
        headers=(("content-type", "Text/Event-Stream; charset=utf-8"), ("x", "1"), ("x", "2")),
        body=b"\xff{",
        end="complete",
        seconds=0.1,
    )
    assert exchange.is_stream
    assert exchange.header("X") == "1"
    assert exchange.header("y") is None
    assert exchange.json is MISSING
    assert exchange.text == "\ufffd{"
    assert "secret" not in repr(exchange)


@pytest.mark.parametrize("value", [MISSING, {}, {"type": 1}, {"type": ["RUN_ERROR"]}])
def test_an_event_without_a_type(value):
    event = Event(data="", value=value, offset=0, seconds=0)
    assert event.type == ""
    assert not event.is_terminal


@pytest.mark.parametrize("name", ["deadline_seconds", "max_bytes", "grace_seconds"])
@pytest.mark.parametrize("number", [0, -1, float("nan")])
def test_limits_are_above_zero(name, number):
    with pytest.raises(ValueError, match=name):
        Limits(**{name: number})


def test_the_time_to_wait():
    recorder = Recorder(Request(), Limits(deadline_seconds=10, head_seconds=4, grace_seconds=2))
    assert recorder.due_seconds == 4
    recorder.head(200, (("content-type", "text/event-stream"),))
    assert recorder.due_seconds == 10
    recorder.feed(b'data: {"type":"RUN_ERROR"}\n\n', 3)
    assert recorder.due_seconds == 5
    recorder.feed(b'data: {"type":"RUN_FINISHED"}\n\n', 4)
    assert recorder.due_seconds == 5


def test_the_cap_is_exact():
    for size, end in ((10, "complete"), (11, "cap")):
        recorder = Recorder(Request(), Limits(max_bytes=10))
        recorder.head(200, ())
        assert recorder.feed(b"x" * size, 0) is (end == "complete")
        exchange = recorder.finish("complete", 1)
        assert (exchange.end, len(exchange.body)) == (end, 10)


ZEROS = bytes(300_000)
GZIP = gzip.compress(ZEROS)


@pytest.mark.parametrize(
    ("coding", "sent", "body", "problems"),
    [
        ("gzip", GZIP, ZEROS, ()),
        ("x-gzip", GZIP, ZEROS, ()),
        ("deflate", zlib.compress(ZEROS), ZEROS, ()),
        ("GZIP", GZIP, ZEROS, ()),
        ("identity", GZIP, GZIP, ()),
        ("gzip", b"", b"", ()),
        ("br", b"x", b"x", ("content-encoding",)),
        ("gzip, gzip", b"x", b"x", ("content-encoding",)),
        ("gzip", GZIP + b"more", GZIP + b"more", ("content-encoding",)),
        ("gzip", GZIP[:-1], ZEROS, ("content-encoding",)),
        ("deflate", b"x", b"", ("content-encoding",)),
    ],
)
@pytest.mark.parametrize("step", [1, 10**6])
def test_a_coding_is_undone_or_named(coding, sent, body, problems, step):
    recorder = Recorder(Request(), Limits())
    recorder.head(200, (("content-encoding", coding),))
    for at in range(0, len(sent), step):
        assert recorder.feed(sent[at : at + step], 0)
    exchange = recorder.finish("complete", 1)
    assert (exchange.body, exchange.problems) == (body, problems)


def test_events_of_a_coded_stream_are_counted_too():
    recorder = Recorder(Request(), Limits(max_events=3))
    head = (("content-encoding", "gzip"), ("content-type", "text/event-stream"))
    recorder.head(200, head)
    assert not recorder.feed(gzip.compress(b"data: {}\n\n" * 10), 0)
    assert not recorder.feed(b"more", 0)
    exchange = recorder.finish("complete", 1)
    assert (exchange.end, len(exchange.events)) == ("cap", 3)
    assert exchange.detail == "the stream has more than 3 events"
