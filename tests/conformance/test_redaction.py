"""Redaction: no secret of a caller survives, in whatever spelling it comes back."""

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.conformance.profile_parts import Caller
from hostproof.conformance.redaction import Redactor

TOKEN = 'to/k"en+<&of alice=='  # noqa: S105 - made up
ALICE = Caller(
    name="alice",
    headers=(
        ("Authorization", f"Bearer {TOKEN}"),
        ("X-Tenant", "t1"),
        ("Cookie", "session=s3ss10n-of-alice; theme=dark"),
    ),
)
BASIC = base64.b64encode(b"bob:hunter22").decode()
BOB = Caller(
    name="bob", headers=(("Authorization", f"Basic {BASIC}"), ("X-Name", "B\xf6b der Zweite"))
)
REDACTOR = Redactor((ALICE, BOB))


@pytest.mark.parametrize(
    "spelling",
    [
        TOKEN,
        quote(TOKEN),
        quote(TOKEN, safe=""),
        quote_plus(TOKEN),
        re.sub("%..", lambda found: found[0].lower(), quote(TOKEN, safe="")),
        json.dumps(TOKEN)[1:-1],
        json.dumps(TOKEN)[1:-1].replace("/", "\\/"),
        html.escape(TOKEN),
    ],
)
def test_a_token_is_found_however_it_is_spelled(spelling):
    assert REDACTOR.text(f"<{spelling}>") == "<[caller alice]>"
    assert REDACTOR.data(f"<{spelling}>".encode()) == b"<[caller alice]>"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_token_is_found_inside_base64(before, encode):
    coded = encode(f"{before}{TOKEN} and more".encode()).decode()
    redacted = REDACTOR.text(coded)
    assert "[caller alice]" in redacted
    kept = redacted.replace("[caller alice]", "")
    assert len(kept) <= len(coded) - len(TOKEN) * 8 // 6 + 1


def test_whole_values_schemes_pairs_and_cookies_are_found():
    for text in (f"Bearer {TOKEN}", TOKEN, "s3ss10n-of-alice"):
        assert REDACTOR.text(f"a {text} b") == "a [caller alice] b"
    for text in (f"Basic {BASIC}", BASIC, "bob:hunter22", "hunter22", "B\xf6b der Zweite"):
        assert REDACTOR.text(f"a {text} b") == "a [caller bob] b"


@pytest.mark.parametrize("token", ["no base64 !", "////////"])
def test_a_basic_token_that_is_no_pair_is_found_as_it_stands(token):
    redactor = Redactor([Caller(name="eve", headers=(("Authorization", f"Basic {token}"),))])
    assert redactor.text(f"<{token}>") == "<[caller eve]>"


def test_bytes_are_searched_in_latin_1_and_utf_8():
    for encoding in ("latin-1", "utf-8"):
        assert REDACTOR.data(b"\xff" + "B\xf6b der Zweite".encode(encoding)) == (
            b"\xff[caller bob]"
        )


def test_short_values_stay_in_texts_but_not_in_their_header():
    assert REDACTOR.text("t1 and dark") == "t1 and dark"
    assert REDACTOR.headers((("x-tenant", "t1"), ("X-Other", "t1"))) == (
        ("x-tenant", "[caller alice]"),
        ("X-Other", "t1"),
    )


def test_headers_come_back_with_the_values_of_today():
    headers = (("content-type", "text/plain"), *ALICE.headers, ("X-Odd", f"<{TOKEN}>"))
    redacted = REDACTOR.headers(headers)
    assert redacted[-1] == ("X-Odd", "<[caller alice]>")
    today = Redactor([Caller(name="alice", headers=(("authorization", "Bearer new-token"),))])
    assert today.restored(redacted)[:2] == (headers[0], ("Authorization", "Bearer new-token"))
    assert REDACTOR.restored(redacted)[:-1] == headers[:-1]


def test_nothing_is_changed_where_there_is_no_secret():
    for redactor in (REDACTOR, Redactor(())):
        assert redactor.text("hello") == "hello"
        assert redactor.data(b"\0hello") == b"\0hello"
        assert redactor.headers((("A", "b"),)) == (("A", "b"),)
    assert TOKEN not in repr(REDACTOR)


def test_each_header_of_a_caller_has_a_variable_of_its_own():
    first = Caller(name="a-b", headers=(("c", "1"), ("C-D", "2")))
    second = Caller(name="a", headers=(("B-C", "3"), ("c", "4")))
    redactor = Redactor((first, second))
    assert redactor.variable("C", "1") == "HOSTPROOF_A_B_C"
    assert redactor.variable("c-d", "2") == "HOSTPROOF_A_B_C_D"
    assert redactor.variable("b-c", "3") == "HOSTPROOF_A_B_C_2"
    assert redactor.variable("c", "4") == "HOSTPROOF_A_C"
    assert redactor.variable("c", "3") is None


SECRETS = st.text('abcXYZ019+/=&<"\\\u00e9', min_size=6, max_size=20)


@given(SECRETS, st.text('abcXYZ019+/=&<"\\\u00e9 ', max_size=12), st.integers(0, 12))
def test_no_spelling_of_a_secret_survives(secret, around, at):
    redactor = Redactor([Caller(name="q", headers=(("Authorization", f"Bearer {secret}"),))])
    for spelling in (
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        html.escape(secret),
    ):
        text = f"{around[:at]}{spelling}{around[at:]}"
        assert spelling not in redactor.text(text)
        assert spelling.encode() not in redactor.data(text.encode())
