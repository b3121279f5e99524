"""What is demanded of a request before its body is read."""

from __future__ import annotations

import asyncio

import pytest

from hostproof.reference_impl.http_request import (
    check_media_type,
    check_method,
    header_values,
    read_bytes,
)
from hostproof.reference_impl.refusals import Refusal

TYPE = "content-type"
UNSUPPORTED = "ERR_UNSUPPORTED_MEDIA_TYPE"


@pytest.mark.parametrize("method", ["GET", "post", "PUT", "", "QUERY"])
def test_post_and_nothing_else(method):
    check_method("POST")
    with pytest.raises(Refusal) as caught:
        check_method(method)
    assert (caught.value.code, caught.value.status) == ("ERR_METHOD_NOT_ALLOWED", 405)


@pytest.mark.parametrize(
    "value",
    [
        "application/json",
        "application/json;charset=utf-8",
        'Application/JSON ; Charset="UTF-8"',
        "application/json; charset=utf8",
        "application/json;",
        "application/json; profile=x",
    ],
)
def test_json_in_utf_8_is_taken(value):
    check_media_type([(TYPE, value), ("accept", "*/*")])


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(TYPE, "")],
        [(TYPE, " ")],
        [(TYPE, "json")],
        [(TYPE, "text/plain")],
        [(TYPE, "application/jsonp")],
        [(TYPE, "application/problem+json")],
        [(TYPE, "application/json, text/plain")],
        [(TYPE, "application/json"), (TYPE, "application/json")],
        [(TYPE, "application/json; charset=utf-16")],
        [(TYPE, "application/json; charset=")],
        [(TYPE, "application/json; charset*=latin-1''x")],
    ],
)
def test_another_type_is_refused(headers):
    with pytest.raises(Refusal) as caught:
        check_media_type(headers)
    found = caught.value
    assert (found.code, found.status, found.field) == (UNSUPPORTED, 415, TYPE)


@pytest.mark.parametrize("coding", ["gzip", "identity", ""])
def test_any_encoding_is_refused(coding):
    with pytest.raises(Refusal) as caught:
        check_media_type([(TYPE, "application/json"), ("content-encoding", coding)])
    assert (caught.value.code, caught.value.field) == (UNSUPPORTED, "content-encoding")


def read(*chunks, most=10, headers=()):
    async def given():
        for chunk in chunks:
            yield chunk

    return asyncio.run(read_bytes(given(), list(headers), most))


def test_a_body_is_read_up_to_its_limit():
    assert read() == b""
    assert read(b"12345", b"", b"67890") == b"1234567890"
    with pytest.raises(Refusal) as caught:
        read(b"12345", b"678901")
    assert (caught.value.code, caught.value.status) == ("ERR_REQUEST_TOO_LARGE", 413)


def test_what_announces_more_is_refused_before_it_is_read():
    read_so_far = []

    async def given():
        read_so_far.append(b"1")
        yield b"1"

    for announced in ("11", "99999999999999999999999999"):
        with pytest.raises(Refusal) as caught:
            asyncio.run(read_bytes(given(), [("content-length", announced)], 10))
        assert caught.value.code == "ERR_REQUEST_TOO_LARGE"
    assert read_so_far == []


@pytest.mark.parametrize("announced", ["10", "-1", "x", "", "1_1"])
def test_a_length_that_is_no_number_or_fits_is_not_believed(announced):
    assert read(b"1", headers=[("content-length", announced)]) == b"1"


def test_every_value_of_a_header_is_found():
    headers = [("a", "1"), ("b", "2"), ("a", "3")]
    assert header_values(headers, "a") == ["1", "3"]
    assert header_values(headers, "c") == []
