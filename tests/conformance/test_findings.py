"""Findings: kept so that they can be repeated, and without a caller's secret anywhere."""

from __future__ import annotations

import base64
import json
import urllib.parse
from dataclasses import replace

import pytest

from hostproof.conformance.findings import (
    MAX_EXCERPT,
    MAX_KEPT_A_RULE,
    MAX_SHOWN_BODY,
    MAX_WORDS,
    Keeper,
    shown_words,
)
from hostproof.conformance.kept import load_case
from hostproof.conformance.profile_parts import Caller
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.rule import Breach
from hostproof.conformance.verdict import CaseFinding
from tests.conformance.recorded import (
    CANARY,
    POST,
    STREAM,
    answer,
    facts,
    problem,
    ran,
    recording,
)

TOKEN = "t0ken-of-alice"  # noqa: S105 - made up
ALICE = Caller(name="alice", headers=(("Authorization", f"Bearer {TOKEN}"),))
REDACTOR = Redactor([ALICE])
SPELLINGS = (TOKEN, base64.b64encode(TOKEN.encode()).decode()[:-2], urllib.parse.quote(TOKEN))
ASKED = replace(
    POST, headers=(("content-type", "application/json"), *ALICE.headers), body=b'{"a":1}'
)


@pytest.fixture
def keeper(tmp_path):
    return Keeper(
        base_url="http://127.0.0.1:8000/agui",
        target="http://127.0.0.1:8000/agui",
        redactor=REDACTOR,
        mode="gate",
        seed=7,
        folder=tmp_path / "cases",
    )


def found(*changed, case="thread-id-missing", steady=True, again=None, **members):
    given = {"expected": "a refusal", "seen": "a run", "place": None}
    breach = Breach(**{name: members.pop(name, value) for name, value in given.items()})
    return CaseFinding(
        case=case,
        breach=breach,
        recording=recording(*changed, case=facts(case), **members),
        again=again,
        steady=steady,
    )


def one(keeper, finding):
    (made,) = keeper.findings_of("reader.thread-id", [finding])
    return made


def test_a_finding_shows_the_request_that_broke_the_rule(keeper):
    control = ran(request=replace(ASKED, body=b"{}"))
    made = one(keeper, found(ran(request=ASKED), control=control, place="body"))
    assert (made.case, made.expected, made.seen) == ("thread-id-missing", "a refusal", "a run")
    assert made.place == "body"
    assert made.body is not None
    assert (made.body.data, made.body.size, made.body.cut) == ('{"a":1}', 7, False)
    assert [exchange.request.body.data for exchange in made.exchanges] == ["{}", '{"a":1}']
    assert made.steady
    assert made.note is None


def test_a_finding_is_kept_under_its_id_with_its_exact_bytes(keeper):
    made = one(keeper, found(ran(request=ASKED), after=ran()))
    kept = load_case(made.replay, keeper.folder)
    assert (kept.rule, kept.case, kept.mode) == ("reader.thread-id", "thread-id-missing", "gate")
    assert (kept.seed, kept.seen) == (7, "a run")
    assert [request.body for request in kept.requests] == [b'{"a":1}', POST.body]
    assert kept.exchanges[0].events == ("RUN_STARTED", "RUN_FINISHED")


def test_the_same_case_keeps_its_id_from_run_to_run(keeper):
    first = one(keeper, found(ran(request=ASKED)))
    second = one(keeper, found(ran(request=replace(ASKED, body=b"other ids"))))
    other = one(keeper, found(ran(request=ASKED), case="thread-id-empty"))
    assert first.replay == second.replay != other.replay


def test_a_curl_line_has_a_variable_in_place_of_the_secret(keeper):
    made = one(keeper, found(ran(request=ASKED)))
    assert made.curl is not None
    assert '"Authorization: $HOSTPROOF_ALICE_AUTHORIZATION"' in made.curl
    assert "http://127.0.0.1:8000/agui" in made.curl


def test_a_body_that_cannot_be_typed_is_a_file(keeper):
    made = one(keeper, found(ran(request=replace(ASKED, body=b"\xff\x00"))))
    assert made.body is not None
    assert made.body.encoding == "base64"
    assert base64.b64decode(made.body.data) == b"\xff\x00"
    (file,) = keeper.folder.glob("*.body")
    assert file.read_bytes() == b"\xff\x00"
    assert str(file) in (made.curl or "")


def test_a_long_body_is_cut_in_the_report_and_whole_in_the_file(keeper):
    body = b"x" * (MAX_SHOWN_BODY + 1)
    made = one(keeper, found(ran(request=replace(ASKED, body=body))))
    assert made.body is not None
    assert (len(made.body.data), made.body.size, made.body.cut) == (4000, 4001, True)
    (file,) = keeper.folder.glob("*.body")
    assert file.read_bytes() == body


def test_an_unsteady_finding_has_both_exchanges(keeper):
    again = recording(problem(request=replace(ASKED, body=b"again")))
    made = one(keeper, found(ran(request=ASKED), steady=False, again=again))
    assert not made.steady
    assert [exchange.response.status for exchange in made.exchanges] == [200, 400]


def test_the_first_so_many_are_kept_and_the_rest_counted(keeper):
    cases = [found(ran(request=ASKED), case=f"case-{at}") for at in range(MAX_KEPT_A_RULE + 5)]
    made = keeper.findings_of("reader.thread-id", cases)
    assert len(made) == len(list(keeper.folder.glob("*.json"))) == MAX_KEPT_A_RULE
    assert made[0].note == "15 cases broke the rule; the first 10 are kept"
    assert [finding.note for finding in made[1:]] == [None] * 9


def test_the_marker_is_not_in_what_came_back(keeper):
    made = one(keeper, found(answer(f"you sent {CANARY}", "text/plain", 400, request=ASKED)))
    assert made.exchanges[0].response.excerpt == "you sent [the marker]"


# Secrets.


def check_clean(keeper, made):
    texts = {"finding": repr(made)}
    texts |= {path.name: path.read_bytes().decode("latin-1") for path in keeper.folder.iterdir()}
    for name, text in texts.items():
        unpacked = [text]
        if name.endswith(".json"):
            requests = json.loads(text)["requests"]
            unpacked += [base64.b64decode(one["body"]).decode("latin-1") for one in requests]
        for shown in unpacked:
            assert not [spelling for spelling in SPELLINGS if spelling in shown], name


REFLECTING = {
    "the body": answer(f"hello {TOKEN}", "text/plain", 400, request=ASKED),
    "a header": answer("", "text/plain", 400, headers=(("x-echo", TOKEN),), request=ASKED),
    "the media type": answer("", f"text/{TOKEN}", 400, request=ASKED),
    "JSON": problem(400, f"ERR {TOKEN}", TOKEN, request=ASKED),
    "base64": answer(SPELLINGS[1] + "==", "text/plain", 400, request=ASKED),
    "often": answer(f"Bearer {TOKEN} " * 4000, STREAM, 400, request=ASKED),
    "where an excerpt ends": answer(
        "x" * (MAX_EXCERPT - 5) + TOKEN + "y" * 9000, "text/plain", 400, request=ASKED
    ),
    "where twice an excerpt ends": answer(
        f"Bearer {TOKEN}" * 137 + "z" * 5000, "text/plain", 400, request=ASKED
    ),
}


@pytest.mark.parametrize("exchange", REFLECTING.values(), ids=REFLECTING)
def test_no_secret_that_a_host_sends_back_is_shown_or_kept(keeper, exchange):
    finding = found(exchange, control=exchange, after=exchange, again=recording(exchange))
    check_clean(keeper, one(keeper, replace(finding, steady=False)))


def test_no_secret_in_what_was_sent_or_seen_is_shown_or_kept(keeper):
    asked = replace(ASKED, path=f"/agui?key={TOKEN}", body=f'{{"t":"{TOKEN}\x00"}}'.encode())
    seen = f"refused (HTTP 400, {TOKEN})"
    made = one(keeper, found(ran(request=asked), seen=seen, place=f"the header {TOKEN}"))
    check_clean(keeper, made)
    assert made.seen == "refused (HTTP 400, [caller alice])"
    assert made.place == "the header [caller alice]"


def test_a_hosts_words_are_cut():
    assert len(shown_words("x" * 5000, REDACTOR)) < MAX_WORDS + 50
    assert shown_words(f"a {TOKEN}", REDACTOR) == "a [caller alice]"
