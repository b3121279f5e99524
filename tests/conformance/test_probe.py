"""A probe: what it finds of hosts of every style, what it writes of it, and how it ends."""

from __future__ import annotations

import re
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from hostproof.conformance.answer_words import opposite
from hostproof.conformance.cli import main
from hostproof.conformance.preset import preset_names, preset_text
from hostproof.conformance.probe_asking import MOST_RUNS
from hostproof.conformance.probe_findings import Findings
from hostproof.conformance.probe_profile import profile_text
from hostproof.conformance.probe_reading import presets_like
from hostproof.conformance.profile import load_profile, profile_from
from hostproof.conformance.style import AnswerStyle, Asked, PauseStyle, words_of
from hostproof.conformance.styled_run import serving as styled_serving
from hostproof.conformance.styled_run import styled_document
from hostproof.reference_impl.cues import CUES
from hostproof.reference_impl.embedded import LOOK_INSIDE, build_host
from hostproof.reference_impl.serving import served
from hostproof.reference_impl.styled_setup import StyledSetup
from hostproof.reference_impl.values import MISSING, Missing
from tests.pausing_app import SCHEMA, Pausing, Ways

THREE = {name: CUES[name] for name in ("plain", "check_in", "client_tool")}
EFFECTS = {"url": "/effects"}
RULES = ("live.good-run", "effect.once-only", "effect.in-sequence")
QUICK = ("--quiet", *(word for rule in RULES for word in ("--rule", rule)))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder that is empty, and wait for no effects that are late."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hostproof.conformance.probe_asking.LOOK_SECONDS", 0.0)
    monkeypatch.delenv("HOSTPROOF_DEBUG", raising=False)


def ended(*words, code=0):
    """Run a probe; demand how it ends, and that no line is too long."""
    found = CliRunner().invoke(main, ["probe", "--quiet", *map(str, words)])
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    return found


@contextmanager
def serving(app):
    with served(app) as url:
        yield f"{url}/agui"


def probed(ways, partial=None, cues=None, **tables):
    """Probe a host of *ways*; give what was said, the profile, its text, and the host."""
    host = Pausing(ways)
    with serving(host.app) as url:
        document = {
            "version": 1,
            "target": {"url": url},
            "cues": cues or THREE,
            "effects": EFFECTS,
            **tables,
        }
        document = {name: value for name, value in document.items() if value}
        Path("partial.toml").write_text(tomli_w.dumps(document))
        said = ended("--profile", "partial.toml", "--write", "found.toml", "--force").output
    assert max(map(len, said.splitlines())) <= 80
    text = Path("found.toml").read_text()
    load_profile("found.toml")
    assert host.requests <= MOST_RUNS
    return " ".join(said.split()), tomllib.loads(text), text, host


# How a host pauses, and is answered.

INTERRUPT = {"kind": "interrupt"}
FOUND = {
    "the specification's way": (
        Ways(),
        {},
        INTERRUPT,
        {"kind": "resume", "yes": {"approved": True}},
    ),
    "a bare true": (Ways(yes=True), {}, INTERRUPT, {"kind": "resume", "yes": True}),
    "a schema's words": (Ways(schema=SCHEMA, yes=None), {}, INTERRUPT, {"kind": "resume"}),
    "a schema of two types": (
        Ways(schema={"type": ["string", "boolean"]}, yes=True),
        {},
        INTERRUPT,
        {"kind": "resume"},
    ),
    "the whole history and the paused run": (
        Ways(client=True, parent_run=True),
        {"mode": "client"},
        INTERRUPT,
        {"kind": "resume", "yes": {"approved": True}, "parent_run": True},
    ),
    "an interrupt by a command": (
        Ways(answer="command"),
        {},
        INTERRUPT,
        {"kind": "command", "yes": {"approved": True}},
    ),
    "a CUSTOM event": (
        Ways(pause="custom", answer="command", yes={"accepted": True}, event="please-approve"),
        {},
        {"kind": "custom", "event": "please-approve"},
        {"kind": "command", "yes": {"accepted": True}},
    ),
    "an open call": (
        Ways(pause="call", answer="tool-message", yes={"confirmed": True}),
        {},
        {"kind": "call", "tool": "pay"},
        {"kind": "tool-message", "yes": {"confirmed": True}},
    ),
    "a page's confirmation beside a result": (
        Ways(pause="confirmation", answer="tool-message", yes={"accepted": True}),
        {},
        {"kind": "call", "tool": "request_approval", "offered": True},
        {"kind": "tool-message", "yes": {"accepted": True}},
    ),
}


@pytest.mark.parametrize(("ways", "history", "pause", "answer"), FOUND.values(), ids=FOUND)
def test_how_a_host_pauses_and_is_answered_is_found(ways, history, pause, answer):
    said, found, _, _ = probed(ways)
    assert found.get("history", {}) == history
    assert found["pause"] == pause
    assert found["answer"] == answer
    assert found["endpoints"] == {"main": {"client_tools": ["show_form"]}}
    assert found["ag_ui"] == "1.0"
    assert found["cues"] == THREE
    assert found["effects"] == EFFECTS
    assert "a yes ran the call once, a no ran nothing" in said


def test_an_answer_sent_again_that_runs_again_gives_waivers_as_comments():
    said, found, text, _ = probed(Ways(client=True))
    assert "the same answer sent again ran the call again" in said
    assert "waivers" not in found
    uncommented = re.sub(r"^# ?(?=\[\[|rule|kind|why)", "", text, flags=re.M)
    rules = {one["rule"] for one in tomllib.loads(uncommented)["waivers"]}
    assert rules == {  # there is no second caller
        "effect.replay-runs-nothing",
        "effect.race-runs-once",
        "effect.bound-to-its-thread",
        "effect.forged-approval-runs-nothing",
    }
    assert "like the preset django-ag-ui or pydantic-ai" in said
    assert "waivers" not in probed(Ways())[2]


def test_without_effects_the_stream_is_gone_by_and_said_so():
    said, found, text, _ = probed(Ways(yes=True), effects=None)
    assert found["answer"] == {"kind": "resume", "yes": True}
    assert "by the stream alone" in said
    assert '# stream = "paid 10 to {nonce}"' in text
    assert "effects" not in found


def test_effects_that_cannot_be_read_are_named():
    said, found, _, _ = probed(Ways(), effects={"file": "."})
    assert "effects cannot be read" in said
    assert found["answer"]["kind"] == "resume"


def test_effects_without_the_nonce_are_asked_about():
    said, _, _, _ = probed(Ways(), effects={"file": "none.json"})
    assert "ways ran the call once" in said
    assert "is the nonce in them?" in said


def test_a_pause_that_no_answer_ends_is_not_said_to_be_kept():
    said, found, text, _ = probed(Ways(yes="open sesame"))
    assert "none of 20 ways ran the call once; an entry of resume was accepted" in said
    assert found["pause"] == INTERRUPT
    assert "answer" not in found
    assert found["endpoints"]["main"]["keeps_pauses"] is False
    assert "No way to answer a pause was found" in text


def test_a_no_that_runs_the_call_is_told():
    said, found, _, host = probed(Ways(heeds=False))
    assert host.requests == 2 + 4 * 4 + 2  # no other words help; then the page's tool
    assert "a yes ran the call once, and so did a no" in said
    assert found["answer"]["kind"] == "resume"


@pytest.mark.parametrize(
    ("pause", "words"),
    [
        ("unasked", "the call ran at once: nobody was asked"),
        ("none", "the cue check_in led to no pause that is known"),
    ],
)
def test_a_cue_that_leads_to_no_pause_is_left_out(pause, words):
    said, found, text, _ = probed(Ways(pause=pause))
    assert words in said
    assert "pause" not in found
    assert "answer" not in found
    assert set(found["cues"]) == {"plain", "client_tool"}
    assert f"# Left out: {words}." in text
    assert f'# check_in = "{CUES["check_in"]}"' in text


def test_what_the_user_knows_is_not_tried():
    given = {
        "history": {"mode": "client"},
        "pause": {"kind": "interrupt"},
        "answer": {"kind": "resume", "yes": {"approved": True}, "parent_run": False},
    }
    _, found, _, host = probed(
        Ways(), cues={name: CUES[name] for name in ("plain", "check_in")}, **given
    )
    assert {name: found[name] for name in given} == given
    assert host.requests == 9  # plain, the pause, a yes and a no to it, and a yes sent again


def test_a_preset_that_is_named_stays_and_nothing_of_it_is_written_again():
    _, found, _, _ = probed(Ways(client=True), preset="pydantic-ai")
    assert found["preset"] == "pydantic-ai"
    assert not {"history", "pause", "ag_ui", "waivers"} & found.keys()
    assert found["answer"] == {"yes": {"approved": True}}  # which the preset leaves to a schema


# The cues.


def test_a_cue_that_does_not_do_what_it_says_is_left_out_with_what_was_seen():
    cues = {**THREE, "slow": CUES["slow"], "fail": CUES["fail"]}
    _, found, text, _ = probed(Ways(fails=False, takes=0.0, calls_form=False), cues=cues)
    assert set(found["cues"]) == {"plain", "check_in"}
    assert "# Left out: takes 0.0 s." in text
    assert "# Left out: accepted." in text
    assert "# Left out: show_form was offered, and 0 calls of it were left open." in text
    assert "endpoints" not in found
    assert set(probed(Ways(), cues=cues)[1]["cues"]) == set(cues)


TWO = "hostproof: pay two at once {nonce}"


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("name", ["two_at_once", "two_in_sequence"])
def test_two_calls_are_named_by_how_they_are_asked_about(name, in_turn):
    said, found, text, _ = probed(Ways(two_in_turn=in_turn), cues={**THREE, name: TWO})
    right = "two_in_sequence" if in_turn else "two_at_once"
    assert set(found["cues"]) == {*THREE, right}
    assert found["cues"][right] == TWO
    assert (f"# What was given as {name} does what {right} says." in text) == (name != right)
    assert "a yes to each ran two calls" in said


def test_two_cues_do_not_become_one():
    cues = {**THREE, "two_at_once": TWO, "two_in_sequence": TWO}
    _, found, text, _ = probed(Ways(), cues=cues)
    assert set(found["cues"]) == {*THREE, "two_at_once"}
    assert "# two_in_sequence = " in text


@pytest.mark.parametrize("status", [200, 403])
def test_a_second_caller_is_tried(status, monkeypatch):
    monkeypatch.setenv("FIRST_TOKEN", "of-the-first-caller")
    callers = {
        "ann": {"headers": {"Authorization": "Bearer ${FIRST_TOKEN}"}},
        "bob": {"headers": {"Authorization": "Bearer second"}},
    }
    said, found, text, _ = probed(Ways(second=status), callers=callers)
    assert ("bob's was accepted" if status == 200 else "bob's was refused (HTTP 403") in said
    assert found["callers"] == callers
    assert "of-the-first-caller" not in text + said


def test_a_version_is_claimed_with_a_comment_where_none_is_declared():
    said, found, text, _ = probed(Ways(version=None))
    assert "no protocol version declared" in said
    assert "AG-UI 1.0 in the profile, so that it is judged" in said
    assert found["ag_ui"] == "1.0"
    assert "# The host declares no version of AG-UI" in text
    assert probed(Ways(version="the newest"))[1]["ag_ui"] == "1.0"


# The reference host.


def test_the_reference_host_is_described(monkeypatch):
    host = build_host(inspect=True)
    for name, token in host.tokens.items():
        monkeypatch.setenv(name.upper(), token)
    callers: Any = {
        name: {"headers": {"Authorization": f"Bearer ${{{name.upper()}}}"}} for name in host.tokens
    }
    callers[LOOK_INSIDE]["role"] = "inspector"
    try:
        with serving(host.app) as url:
            partial = {
                "version": 1,
                "target": {"url": url},
                "callers": callers,
                "observation": {"url": "/hostproof/observation"},
                "cues": dict(CUES),
            }
            Path("partial.toml").write_text(tomli_w.dumps(partial))
            said = ended("--profile", "partial.toml", "--write", "-")
            Path("found.toml").write_text(said.stdout)
            judged = CliRunner().invoke(main, ["run", "--profile", "found.toml", *QUICK])
    finally:
        host.close()
    found = tomllib.loads(said.stdout)
    assert "a yes ran the call once, a no ran nothing" in said.stderr
    assert said.stderr.count("not tried") == 1  # repeat, which goes to an endpoint of its own
    assert found["cues"] == dict(CUES)
    assert {name: found[name] for name in partial} == partial
    assert found["pause"] == INTERRUPT
    assert found["answer"] == {"kind": "resume"}
    assert "history" not in found
    assert not any(token in said.output for token in host.tokens.values())
    assert judged.exit_code == 0, judged.output
    assert "exit 0: 3 rules judged" in judged.output


# The styled host: a style each, with the habits of hosts in use.

STYLED = (
    StyledSetup(),
    StyledSetup(yes="yes", no="no"),
    StyledSetup(tells_schema=False, yes=True, thread_as_id=True),
    StyledSetup(parent_run=True, history="client", shape="run-error"),
    StyledSetup(confirm_beside=True, expires=True, chunks=True, effects="observation"),
    StyledSetup(answer="command", yes={"accepted": True}, snapshot=True),
    StyledSetup(answer="command", tells_schema=False, yes=True, on_replay="finish"),
    StyledSetup(answer="tool-message", echo_input=True, effects="file"),
    StyledSetup(answer="tool-message", parent_run=True, tells_schema=False),
    StyledSetup(pause="custom", answer="command", event="ask", get_capabilities=True),
    StyledSetup(pause="custom", answer="command", parent_run=True, effects="stream"),
    StyledSetup(pause="call", answer="tool-message", error_result=True),
    StyledSetup(pause="call", answer="tool-message", yes={"confirmed": True}, parent_run=True),
    StyledSetup(pause="call", answer="tool-message", chunks=True, yes=True, drops_known_ids=True),
)


@pytest.mark.parametrize("setup", STYLED, ids=range(len(STYLED)))
def test_a_styled_host_is_found_out(setup):
    with styled_serving(setup) as (url, host, file):
        right = styled_document(setup, url, host.tokens, file)
        unknown = {"ag_ui", "pause", "answer", "history", "endpoints"}
        partial = {name: value for name, value in right.items() if name not in unknown}
        Path("partial.toml").write_text(tomli_w.dumps(partial))
        said = ended("--profile", "partial.toml", "--write", "found.toml").output
    found, hand = load_profile("found.toml"), profile_from(right)
    schema = setup.response_schema if setup.tells_schema and setup.pause != "call" else None
    asked = Asked("i", "", schema)
    assert words_of(found.answer, asked).yes == words_of(hand.answer, asked).yes
    assert found.answer.kind == hand.answer.kind
    assert found.answer.parent_run == hand.answer.parent_run
    if setup.pause != "custom":  # it asks in an outcome beside its event
        assert found.pause == hand.pause
    assert found.main_endpoint == hand.main_endpoint
    assert found.cues == hand.cues
    assert found.ag_ui == "1.0"
    assert "stopped" not in said


# What is written.

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30).filter(str.strip)
CUE_NAMES = sorted(set(CUES) - {"plain"} | {"two_at_once"})
PAUSES = (
    st.just(PauseStyle())
    | st.builds(PauseStyle, kind=st.just("custom"), event=NAMES)
    | st.builds(PauseStyle, kind=st.just("call"), tool=NAMES, offered=st.booleans())
)
PAYLOADS = st.just(MISSING) | st.booleans() | TEXTS | st.dictionaries(NAMES, st.booleans() | TEXTS)
ANSWERS = st.builds(
    AnswerStyle,
    kind=st.sampled_from(["resume", "command", "tool-message"]),
    yes=PAYLOADS,
    parent_run=st.booleans(),
).filter(lambda answer: isinstance(answer.yes, Missing) or opposite(answer.yes) != answer.yes)
"""A yes is found where a no differs from it."""


@st.composite
def said_and_found(draw):
    """Draw what a user said, and what may have been found of it."""
    cues = {"plain": "say {nonce}"} | draw(
        st.dictionaries(st.sampled_from(CUE_NAMES), TEXTS.map(lambda text: text.replace("{", "")))
    )
    document = {
        "version": 1,
        "target": {"url": "http://127.0.0.1:9/agui"},
        "cues": cues,
        "callers": {"ann": {"headers": {"X-A": "${A}"}}},
        "waivers": [{"rule": "live.good-run", "kind": "known", "why": "x", "until": "2030-01-01"}],
        "endpoints": {"main": {"client_tools": ["pick"]}, "other": {"path": "/other"}},
    }
    optional = {"preset": st.sampled_from(preset_names()), "ag_ui": st.just("1.0")}
    document |= draw(st.fixed_dictionaries({}, optional=optional))
    for name in draw(st.lists(st.sampled_from(sorted(document)), unique=True)):
        if name != "version":
            del document[name]
    given_cues = document.get("cues", {"plain": ""})
    left = draw(st.sets(st.sampled_from(sorted(given_cues)))) - {"plain"}
    pause = draw(st.none() | PAUSES)
    found = Findings(
        ag_ui=draw(st.sampled_from(["", "1.0"])),
        history=draw(st.sampled_from([None, "server", "client"])),
        pause=pause,
        answer=None if pause is None else draw(st.none() | ANSWERS),
        by_schema=draw(st.booleans()),
        stream=draw(st.sampled_from(["", "paid {nonce}"])),
        replays=draw(st.booleans()),
        client_tools=draw(st.sampled_from([(), ("show_form",)])),
        cues={name: name for name in given_cues if name not in left},
        left_out={name: draw(TEXTS) for name in left},
        likes=draw(st.lists(st.sampled_from(preset_names()), max_size=2)),
    )
    return document, found


@given(said_and_found())
def test_what_is_written_is_a_profile_that_says_what_was_said_and_found(drawn):
    document, found = drawn
    text = profile_text(document, found)
    written = tomllib.loads(text)
    profile_from(written, environ={"A": "the secret"})
    assert "the secret" not in text
    for name in document.keys() - {"cues", "endpoints", "answer"}:
        assert written[name] == document[name]
    assert written["cues"].keys() == found.cues.keys()
    tools = written.get("endpoints", {}).get("main", {}).get("client_tools", [])
    assert set(found.client_tools) <= set(tools)
    preset = tomllib.loads(preset_text(document["preset"])) if "preset" in document else {}
    if found.pause is not None and "pause" not in preset:
        assert PauseStyle(**written["pause"]) == found.pause
    if found.answer is not None and "answer" not in preset:
        assert AnswerStyle(**written["answer"]) == found.answer


@pytest.mark.parametrize("name", preset_names())
def test_what_equals_a_preset_is_said_to_be_like_it(name):
    preset = tomllib.loads(preset_text(name))
    answer = AnswerStyle(**preset["answer"])
    found = presets_like(
        preset.get("history", {}).get("mode", "server"),
        PauseStyle(**preset["pause"]),
        answer,
        words_of(answer, Asked("")),
    )
    assert name in found


# How it ends.


def answering(response):
    async def run(_):
        return response

    return Starlette(routes=[Route("/agui", run, methods=["GET", "POST"])])


ERROR = 'data: {"type": "RUN_ERROR", "message": "no key for the model"}\n\n'
NO_HOSTS = {
    "a page": (HTMLResponse("<p>hello"), "not with an event stream"),
    "nobody": (JSONResponse({}, 401), "declare callers with their headers"),
    "nowhere": (JSONResponse({}, 404), "check the path of the URL"),
    "an error": (Response(ERROR, media_type="text/event-stream"), "no key for the model"),
    "a crash": (Response("oh", 500), "a server error (HTTP 500)"),
}


@pytest.mark.parametrize(("response", "words"), NO_HOSTS.values(), ids=NO_HOSTS)
def test_a_host_on_which_no_run_works_is_named_and_nothing_written(response, words):
    with serving(answering(response)) as url:
        said = ended(url, code=2).output
    assert words in said
    assert said.startswith(f"error: {url}")
    assert len(said.splitlines()) == 1
    assert not Path("hostproof.toml").exists()


def test_a_host_that_is_not_there_is_named():
    assert "nothing listens" in ended("http://127.0.0.1:9/", code=2).output
    assert not Path("hostproof.toml").exists()


def test_something_has_to_be_named():
    assert "nothing to probe" in ended(code=2).output


def test_a_file_that_is_there_is_kept_unless_forced():
    host = Pausing(Ways())
    Path("hostproof.toml").write_text("version = 1\n")
    with serving(host.app) as url:
        assert "hostproof.toml is there already" in ended(url, code=2).output
        assert host.requests == 0
        assert Path("hostproof.toml").read_text() == "version = 1\n"
        said = ended(url, "--force").output
    assert "now: hostproof run --profile hostproof.toml" in said
    found = load_profile("hostproof.toml")
    assert found.target.url == url
    assert dict(found.cues) == {"plain": CUES["plain"]}


def test_a_profile_from_another_folder_is_pointed_out():
    Path("there").mkdir()
    with serving(Pausing(Ways()).app) as url:
        Path("there/partial.toml").write_text(tomli_w.dumps({"version": 1, "target": {"url": url}}))
        said = ended("--profile", "there/partial.toml").output
    assert "it stands in another folder" in said


def test_a_get_that_tells_what_the_host_can_do_is_told():
    host = Pausing(Ways())
    host.app.routes.append(
        Route("/agui", lambda _: JSONResponse({"name": "x", "skills": []}), methods=["GET"])
    )
    with serving(host.app) as url:
        assert "200, application/json with name, skills" in ended(url).output


def test_a_place_that_cannot_be_written_is_known_before_anything_is_sent():
    host = Pausing(Ways())
    with serving(host.app) as url:
        assert "cannot be written" in ended(url, "--write", "no/where.toml", code=2).output
    assert host.requests == 0


def test_an_application_is_probed_and_options_are_kept():
    words = ("tests.agui_app:app/agui", "--deadline", "7", "--write", "-")
    found = tomllib.loads(ended(*words).stdout)
    assert found["target"] == {"app": "tests.agui_app:app", "path": "/agui"}
    assert found["limits"] == {"deadline_seconds": 7.0}


def test_an_interruption_writes_nothing(monkeypatch):
    async def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("hostproof.conformance.commands.probe.Probe.perform", interrupt)
    with serving(Pausing(Ways()).app) as url:
        assert "interrupted" in ended(url, code=130).output
    assert not Path("hostproof.toml").exists()


def test_as_many_runs_as_are_allowed_are_sent_and_the_rest_is_said(monkeypatch):
    monkeypatch.setattr("hostproof.conformance.probe_asking.MOST_RUNS", 4)
    said, found, _, host = probed(Ways())
    assert host.requests == 4
    assert "what is not told was not tried" in said
    assert found["cues"] == THREE
