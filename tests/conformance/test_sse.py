"""Server-sent events: WHATWG's rules, whatever the bytes and however they are split."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hostproof.conformance.sse import SseParser

PIECES = [b"data", b"data:", b"data: ", b"event: e", b"id: 1", b":", b"\n", b"\r", b"\r\n"]
PIECES += [b"\n\n", b"\r\r", b"\r\n\r\n", b"\xef\xbb\xbf", b"\xff", b"\xe2\x82", b"x", b'{"a":1}']
STREAMS = st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=30).map(b"".join)


def parsed(*pieces, max_event_bytes=1000):
    parser = SseParser(max_event_bytes)
    events = [event for piece in pieces for event in parser.feed(piece)]
    parser.finish()
    return events, parser.problems


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\n\n", ["a"]),
        (b"data:a\n\ndata:  b\n\n", ["a", " b"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", [""]),
        (b"data\ndata\n\n", ["\n"]),
        (b"data: a\r\n\r\n", ["a"]),
        (b"data: a\r\r", ["a"]),
        (b"data: a\r\ndata: b\rdata: c\n\n", ["a\nb\nc"]),
        (b": comment\ndata: a\n\n", ["a"]),
        (b":\n\n", []),
        (b"event: only\n\n", []),
        (b"\n\n\ndata: a\n\n\n\n", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", ["a"]),
        (b"Data: a\n\ndatax: b\n\n data: c\n\n", []),
        (b"retry: 10\nid: 4\nfoo: bar\ndata: a\n\n", ["a"]),
        (b"data: a:b: c\n\n", ["a:b: c"]),
        (b"data: a\x00b\n\n", ["a\x00b"]),
        ("data: a\u2028b\x85c\n\n".encode(), ["a\u2028b\x85c"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"data: a", []),
        (b"data: a\n", []),
        (b"", []),
    ],
)
def test_streams(stream, data):
    assert [event.data for event in parsed(stream)[0]] == data


@pytest.mark.parametrize(
    ("stream", "problems"),
    [
        (b"data: a\n\n", ()),
        (b"data: a\n\n: bye", ()),
        (b"\xef\xbb\xbf", ()),
        (b"data: a\r\n\r\n", ("cr-line-end",)),
        (b"data: \xc3\n\n", ("invalid-utf-8",)),
        (b": \xc3\n\n", ("invalid-utf-8",)),
        (b"data: a", ("unfinished-event",)),
        (b"data: a\n", ("unfinished-event",)),
        (b"data: " + b"x" * 1000 + b"\n\n", ("event-too-large",)),
        (b"data: " + b"x" * 1000, ("event-too-large", "unfinished-event")),
    ],
)
def test_problems(stream, problems):
    assert parsed(stream)[1] == problems


def test_an_event_knows_its_name_and_place():
    stream = b": hello\n\nevent: a\ndata: 1\n\n\r\n\ndata: 2\n\n"
    first, second = parsed(stream)[0]
    assert (first.name, second.name) == ("a", "")
    assert stream[first.offset :].startswith(b"event: a")
    assert stream[second.offset :].startswith(b"data: 2")


def test_an_event_that_is_too_large_is_left_out_alone():
    large = b"data: " + b"x" * 400 + b"\n"
    events, problems = parsed(b"data: a\n\n", large * 3, b"event: z\n\n", b"data: b\n\n")
    assert [(event.data, event.name) for event in events] == [("a", ""), ("b", "")]
    assert problems == ("event-too-large",)


def test_comments_alone_are_never_too_large():
    events, problems = parsed(b": ping\n" * 1000, b"data: a\n\n")
    assert (len(events), problems) == (1, ())


def test_memory_is_bounded():
    parser = SseParser(1000)
    for _ in range(1000):
        assert parser.feed(b"data: " + b"x" * 500) == []
        assert parser.feed(b"\ndata: y") == []
    assert sum(len(line) for line in parser._data) + len(parser._line) <= 1000
    assert [event.data for event in parser.feed(b"\n\ndata: a\n\n")] == ["a"]


@given(STREAMS, st.integers(3, 40))
@example(b"data: a\r\n\r\ndata: b\n\n", 1000)
@example(b"\r\ndata: a\n\n", 1000)
def test_any_split_gives_the_same(stream, most):
    whole = parsed(stream, max_event_bytes=most)
    bytewise = parsed(*(stream[at : at + 1] for at in range(len(stream))), max_event_bytes=most)
    assert bytewise == whole


@given(STREAMS, st.data())
def test_any_two_cuts_give_the_same(stream, data):
    first = data.draw(st.integers(0, len(stream)))
    second = data.draw(st.integers(first, len(stream)))
    pieces = (stream[:first], stream[first:second], b"", stream[second:])
    assert parsed(*pieces) == parsed(stream)


@given(st.binary(max_size=200))
def test_any_bytes_give_events_or_problems(stream):
    events, problems = parsed(stream)
    assert all(isinstance(event.data, str) for event in events)
    assert [event.offset for event in events] == sorted({event.offset for event in events})
    assert len(set(problems)) == len(problems)


LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)


@given(
    st.lists(st.lists(LINES, min_size=1, max_size=3), max_size=5),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
def test_what_was_written_is_read(events, line_end):
    written = "".join(
        "".join(f"data: {line}{line_end}" for line in lines) + line_end for lines in events
    )
    read, _ = parsed(written.encode())
    assert [event.data for event in read] == ["\n".join(lines) for lines in events]
