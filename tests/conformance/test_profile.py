"""Profiles: what is read, and that every mistake is named with its key and the way out."""

import copy
import datetime
import traceback
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hostproof.conformance.checking import MAX_LEVELS, schema_of
from hostproof.conformance.embedded_profile import NAMES, embedded_profile
from hostproof.conformance.profile import (
    SCHEMA,
    Profile,
    ProfileError,
    default_profile,
    load_profile,
    profile_from,
)
from hostproof.conformance.profile_parts import RULE_SETS, Waiver
from hostproof.reference_impl.control import COMMANDS
from hostproof.reference_impl.cues import AT_ONCE, CUES
from hostproof.reference_impl.embedded import SETUPS, new_tokens
from hostproof.reference_impl.turn import ValidatorContext
from hostproof.reference_impl.values import MISSING

SECRET = "s3cret-of-alice-0123456789"  # noqa: S105 - made up
ENVIRON = {"ALICE": SECRET, "BOB": "of-bob", "EMPTY": "", "LINES": "a\nb", "DOLLARS": "$$${X}"}

FULL = """
version = 1
sets = ["ag-ui", "named", "safety"]
ag_ui = "1.0"
ruleset = "0.1"
min_judged = 12
allow_inconclusive = true
fail_on = { level = "should", severity = "low" }

[target]
url = "http://127.0.0.1:8000/agui?tenant=7"
start = "uvicorn 'my server:app' --port 8000"
ready = "/health"

[callers.inspector]
role = "inspector"
headers = { X-Look-Inside = "${DOLLARS}" }

[callers.alice]
headers = { Authorization = "Bearer ${ALICE}", X-Price = "5$$" }

[callers.bob]
headers = { Authorization = "Bearer ${BOB}" }

[cues]
plain = "say {nonce}"
question = "ask me"

[history]
mode = "client"

[endpoints.main]

[endpoints.carrying]
path = "/carrying"
keeps_pauses = true
client_tools = ["show_form"]
state = "validated"
context = "not-carried"
good_state = { page = "home" }
bad_state = 7

[observation]
url = "/hostproof/observation"

[control]
url = "http://127.0.0.1:8000/control?x=1"
caller = "alice"
commands = ["close-pause"]

[limits]
deadline_seconds = 5
requests = 100

[[waivers]]
rule = "resume.once"
kind = "known"
why = "they are at it"
until = 2026-12-31

[[waivers]]
rule = "history.forged"
kind = "by-design"
why = "the client owns the history"
clause = "INT-01"
"""


@pytest.fixture
def full(tmp_path) -> Profile:
    path = tmp_path / "hostproof.toml"
    path.write_text(FULL)
    return load_profile(path, environ=ENVIRON)


def test_the_schema_describes_every_member():
    schema = schema_of(SCHEMA)
    Draft202012Validator.check_schema(schema)
    pending, without = [("", schema)], []
    while pending:
        at, one = pending.pop()
        if "$ref" not in one and "description" not in one:
            without.append(at)
        if one.get("type") == "object":
            assert "additionalProperties" in one, at
        for name in ("properties", "$defs"):
            pending += [(f"{at}/{key}", member) for key, member in one.get(name, {}).items()]
        for name in ("items", "propertyNames", "additionalProperties"):
            if isinstance(one.get(name), dict):
                pending.append((f"{at}/{name}", one[name]))
    assert without == []


def test_the_schema_knows_the_sets_and_the_cues():
    schema = schema_of(SCHEMA)
    assert tuple(schema["properties"]["sets"]["items"]["enum"]) == RULE_SETS
    assert set(schema["$defs"]["cues"]["properties"]) == {*CUES, *AT_ONCE}


def test_everything_is_read(full):
    assert full.sets == RULE_SETS
    assert (full.ag_ui, full.ruleset, full.min_judged) == ("1.0", "0.1", 12)
    assert full.allow_inconclusive
    assert (full.fail_on.level, full.fail_on.severity) == ("should", "low")
    assert full.target.start == ("uvicorn", "my server:app", "--port", "8000")
    assert full.history == "client"
    assert list(full.callers) == ["alice", "bob"]
    assert full.callers["alice"].headers == (
        ("Authorization", f"Bearer {SECRET}"),
        ("X-Price", "5$"),
    )
    assert full.inspectors["inspector"].headers == (("X-Look-Inside", "$$${X}"),)
    assert [one.name for one in full.everyone] == ["alice", "bob", "inspector"]
    assert full.identity("inspector") is full.inspectors["inspector"]
    assert full.identity("nobody") is full.identity(None) is None
    assert full.cue("plain", "abc") == "say abc"
    assert full.cue("question", "abc") == "ask me"
    assert full.cue("fail", "abc") is None
    assert full.main_endpoint.name == "main"
    carrying = full.endpoints["carrying"]
    assert (carrying.state, carrying.context) == ("validated", "not-carried")
    assert (carrying.keeps_pauses, carrying.keeps_conversation) == (True, True)
    assert carrying.client_tools == ("show_form",)
    assert (carrying.good_state, carrying.bad_state) == ({"page": "home"}, 7)
    assert carrying.good_context is MISSING
    assert full.observation is not None
    assert full.observation.caller == "inspector"
    assert full.control is not None
    assert full.control.caller == "alice"
    assert full.control_commands == ("close-pause",)
    assert (full.limits.requests, full.limits.concurrency) == (100, 8)
    assert full.limits.exchange.deadline_seconds == 5
    assert full.waivers == (
        Waiver(
            rule="resume.once",
            kind="known",
            why="they are at it",
            until=datetime.date(2026, 12, 31),
        ),
        Waiver(
            rule="history.forged",
            kind="by-design",
            why="the client owns the history",
            clause="INT-01",
        ),
    )


def test_paths_are_on_the_targets_origin(full):
    assert full.base_path == "/agui"
    assert full.endpoint_path(full.main_endpoint) == ""
    assert full.endpoint_path(full.endpoints["carrying"]) == "/agui/carrying?tenant=7"
    assert full.path_of("/a?b") == "/a?b"
    assert full.path_of("http://127.0.0.1:8000/control?x=1") == "/control?x=1"
    assert full.path_of("http://127.0.0.1:8001/control") is None
    assert full.ready_url() == "http://127.0.0.1:8000/health"


def test_an_apps_endpoints_are_below_its_path():
    given = {"app": "server:app", "path": "/agui/"}
    profile = profile_from(
        {"version": 1, "target": given, "endpoints": {"main": {}, "b": {"path": "/b"}}}
    )
    assert profile.base_path == "/agui/"
    assert profile.endpoint_path(profile.endpoints["b"]) == "/agui/b"
    assert profile.ready_url() is None
    assert profile.path_of("http://127.0.0.1/x") is None


def test_a_waiver_holds_through_its_last_day():
    day = datetime.date(2026, 12, 31)
    known = Waiver(rule="r", kind="known", why="w", until=day)
    assert known.holds(day)
    assert not known.holds(day + datetime.timedelta(days=1))
    assert Waiver(rule="r", kind="by-design", why="w").holds(datetime.date.max)


def test_what_is_left_off_has_its_default():
    default = default_profile()
    read = profile_from({"version": 1}, name=default.name)
    assert read == default
    assert default.sets == ("safety", "ag-ui")
    assert default.cues == CUES
    assert list(default.endpoints) == ["main"]
    assert not default.everyone
    assert default.control_commands == ()
    assert default.ready_url() is None


def test_no_header_value_is_in_a_repr(full):
    assert SECRET not in repr(full)
    assert SECRET not in repr(full.callers["alice"])
    assert SECRET not in repr(full.everyone)


def two(**more):
    return {"alice": {"headers": {"A": "1"}}, "bob": {"headers": {"A": "2"}}, **more}


def validated(**members):
    return {"endpoints": {"main": {"state": "validated", "context": "validated", **members}}}


def headers(text):
    return {"callers": two(carol={"headers": {"Authorization": text}})}


KNOWN = {"rule": "r", "kind": "known", "why": "w"}
URL = {"url": "http://h/a"}
AUTHORIZATION = "callers.carol.headers.Authorization"


def test_one_caller_will_do():
    only = {"headers": {"Authorization": "Bearer one-key"}}
    watcher = {"headers": {"Authorization": "Bearer another"}, "role": "inspector"}
    profile = profile_from({"version": 1, "callers": {"watcher": watcher, "alice": only}})
    assert list(profile.callers) == ["alice"]
    assert list(profile.inspectors) == ["watcher"]


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({"main": {"path": "/a"}}, {"main": "/a"}),
        ({"agent": {"path": "/a"}}, {"main": "/a"}),
        ({"agent": {"path": "/a"}, "main": {"path": "/b"}}, {"main": "/b", "agent": "/a"}),
        ({"carrying": {"path": "/c"}}, {"main": "", "carrying": "/c"}),
        ({"carrying": {}, "agent": {"path": "/a"}}, {"main": "/a", "carrying": ""}),
    ],
)
def test_there_is_always_a_main_endpoint_and_it_comes_first(given, paths):
    profile = profile_from({"version": 1, "endpoints": given})
    assert {name: one.path for name, one in profile.endpoints.items()} == paths
    assert next(iter(profile.endpoints)) == "main"


MISTAKES = [
    # unknown and missing keys
    ({"verson": 1}, "verson", "did you mean version?"),
    ({"target": {"ulr": "x"}}, "target.ulr", "did you mean url?"),
    ({"zzz": 1, "sets": []}, "zzz", "there are version, preset, sets"),
    ({"endpoints": {"main": {"keep_pauses": 1}}}, "endpoints.main.keep_pauses", "keeps_pauses?"),
    ({"a\nb": 1}, '"a\\nb"', "is no key"),
    ({"callers": two(carol={})}, "callers.carol.headers", "is missing"),
    ({"cues": {"plain": "say {nonse}"}}, "cues.plain", "stands for nothing"),
    ({"cues": {"plain": "say {Nonce}"}}, "cues.plain", "stands for nothing"),
    ({"cues": {"fail": "f"}}, "cues.plain", "is missing"),
    ({"history": {}}, "history.mode", "Allowed: server, client."),
    ({"waivers": [{"rule": "r", "why": "w"}]}, "waivers[0].kind", "Allowed: known, by-design."),
    # kinds and choices
    ({"version": 2}, "version", "must be 1"),
    ({"sets": ["safty"]}, "sets[0]", "must be one of safety, named, ag-ui"),
    ({"sets": []}, "sets", "must not be empty"),
    ({"sets": ["named", "named"]}, "sets", "twice"),
    ({"sets": "named"}, "sets", "must be an array"),
    ({"ag_ui": 1.0}, "ag_ui", "must be a text. The version of AG-UI that the host claims"),
    ({"ag_ui": "one"}, "ag_ui", 'such as "1.0"'),
    ({"min_judged": 0}, "min_judged", "must be at least 1"),
    ({"min_judged": True}, "min_judged", "must be a whole number"),
    ({"allow_inconclusive": "no"}, "allow_inconclusive", "must be true or false"),
    ({"fail_on": {"level": "guide"}}, "fail_on.level", "must be one of must, should"),
    ({"fail_on": {"severity": "hi"}}, "fail_on.severity", "low, medium, high, critical"),
    ({"fail_on": "must"}, "fail_on", "must be a table"),
    ({"history": {"mode": "both"}}, "history.mode", "must be one of server, client"),
    ({"limits": {"requests": 0}}, "limits.requests", "must be at least 1"),
    ({"limits": {"concurrency": 999}}, "limits.concurrency", "must be at most 256"),
    ({"limits": {"deadline_seconds": 0}}, "limits.deadline_seconds", "must be above 0"),
    ({"limits": {"deadline_seconds": float("nan")}}, "limits.deadline_seconds", "finite number"),
    ({"limits": {"head_seconds": float("inf")}}, "limits.head_seconds", "finite number"),
    # the target
    ({"target": URL | {"app": "a:b"}}, "target.url", "does not go with app"),
    ({"target": {"app": "a:b", "start": "x"}}, "target.start", "does not go with app"),
    ({"target": {"app": "a:b", "ready": "/x"}}, "target.ready", "does not go with app"),
    ({"target": {"app": "a.b"}}, "target.app", "as module:attribute"),
    ({"target": {"app": "a:b\n"}}, "target.app", "as module:attribute"),
    ({"target": {"path": "/a"}}, "target.path", "goes with app only"),
    ({"target": {"url": "h:8000"}}, "target.url", "such as http://127.0.0.1:8000/agui"),
    ({"target": {"url": f"http://u:{SECRET}@h/"}}, "target.url", "headers of a caller"),
    ({"target": {"url": f"htp://u:{SECRET}@h/"}}, "target.url", "without credentials"),
    ({"target": {"url": "http://\udc80/"}}, "target.url", "http or https URL"),
    ({"target": URL | {"start": "a 'b"}}, "target.start", "a quotation is not closed"),
    ({"target": URL | {"start": " "}}, "target.start", "a program and its arguments"),
    ({"target": URL | {"ready": "//evil/x"}}, "target.ready", "a path such as /health"),
    # pauses, answers, effects
    ({"pause": {"kind": "event"}}, "pause.kind", "must be one of interrupt, custom, call"),
    ({"pause": {"kind": "call"}}, "pause.tool", "is missing"),
    ({"answer": {"kind": "message"}}, "answer.kind", "resume, command, tool-message"),
    ({"answer": {"yes": "go"}}, "answer.no", "the yes has no true in it"),
    ({"answer": {"yes": {"approved": "yes!"}}}, "answer.no", "is missing"),
    ({"answer": {"yes": True, "no": True}}, "answer.no", "they must differ"),
    ({"answer": {"ja": True}}, "answer.ja", "is no key"),
    ({"effects": {}}, "effects", "must name one source: url, file, command, python, stream"),
    ({"effects": {"url": "/e", "file": "e"}}, "effects", "must name one source"),
    ({"effects": {"file": "e", "caller": "a"}}, "effects.caller", "goes with url only"),
    ({"effects": {"url": "//h/e"}}, "effects.url", "a path such as /health"),
    ({"target": URL, "effects": {"url": "http://other/e"}}, "effects.url", "other_origin = true"),
    ({"effects": {"file": "e", "other_origin": True}}, "effects.other_origin", "with url only"),
    ({"effects": {"url": "/e", "caller": "eve"}}, "effects.caller", "is no caller"),
    ({"effects": {"command": "a 'b"}}, "effects.command", "a quotation is not closed"),
    ({"effects": {"python": "paid"}}, "effects.python", "as module:function"),
    ({"effects": {"stream": "paid"}}, "effects.stream", "must contain {nonce}"),
    ({"setup": {}}, "setup.path", "is missing"),
    ({"setup": {"path": "threads"}}, "setup.path", "on the target's origin"),
    ({"setup": {"path": "//h/t"}}, "setup.path", "on the target's origin"),
    ({"setup": {"path": "/t", "method": "DELETE"}}, "setup.method", "must be one of POST"),
    # callers
    ({"callers": two(carol={"headers": {"a": "1"}})}, "callers.carol.headers", "that of alice"),
    ({"callers": two(carol={"headers": {"A": "1", "a": "2"}})}, "callers.carol.headers", "twice"),
    ({"callers": two(carol={"headers": {}})}, "callers.carol.headers", "must not be empty"),
    ({"callers": two(Alice={"headers": {"A": "3"}})}, "callers.Alice", "in case alone"),
    ({"callers": {"a b": {}}}, 'callers."a b"', "letters, digits, - and _"),
    ({"callers": two(carol={"headers": {"A": 7}})}, "callers.carol.headers.A", "must be a text"),
    ({"callers": two(c={"headers": {f"A: {SECRET}": "x"}})}, "callers.c.headers", "no header's"),
    ({"callers": two(c={"headers": {"HOST": "x"}})}, "callers.c.headers.HOST", "are the wire's"),
    (
        {"callers": two(c={"headers": {"A": "x"}, "role": "r"})},
        "callers.c.role",
        "caller, inspector",
    ),
    (headers("Bearer ${NOBODY}"), AUTHORIZATION, "variable NOBODY, which is not set"),
    (headers("Bearer ${EMPTY}"), AUTHORIZATION, "variable EMPTY, which is empty"),
    (headers("Bearer $ALICE"), AUTHORIZATION, "write ${NAME} for a variable, $$ for a dollar"),
    (headers(SECRET + "${"), AUTHORIZATION, "a lone $"),
    (headers("${LINES}"), AUTHORIZATION, "without line ends"),
    (headers(SECRET + " "), AUTHORIZATION, "white space at its ends"),
    (headers(SECRET + "\u2713"), AUTHORIZATION, "Latin-1"),
    (headers(""), AUTHORIZATION, "not empty"),
    # cues
    ({"cues": {"plain": "{nonce} {nonce}"}}, "cues.plain", "at most once"),
    ({"cues": {"plain": " "}}, "cues.plain", "must not be blank"),
    ({"cues": {"plain": ""}}, "cues.plain", "must not be empty"),
    ({"cues": {"plain": "x" * 4001}}, "cues.plain", "at most 4000 characters"),
    ({"cues": {"plain": "p", "plane": "q"}}, "cues.plane", "did you mean plain?"),
    # endpoints
    ({"endpoints": {}}, "endpoints", "must not be empty"),
    ({"endpoints": {"a": {}, "A": {}}}, "endpoints.A", "in case alone"),
    ({"endpoints": {"a": {"path": "b"}}}, "endpoints.a.path", "/more, or nothing"),
    ({"endpoints": {"a": {"state": "any"}}}, "endpoints.a.state", "validated, not-carried, free"),
    ({"endpoints": {"a": {"client_tools": [""]}}}, "endpoints.a.client_tools[0]", "empty"),
    ({"endpoints": {"a": {"good_state": 1}}}, "endpoints.a.good_state", 'state = "validated"'),
    (
        {"endpoints": {"a": {"bad_context": [{"description": "", "value": ""}]}}},
        "endpoints.a.bad_context",
        'context = "validated"',
    ),
    (validated(bad_state={}), "endpoints.main.bad_state", "no validator sees an empty one"),
    (
        validated(good_context=[{"value": "x"}]),
        "endpoints.main.good_context[0].description",
        "is missing",
    ),
    # observation and control
    ({"observation": {"url": "x"}}, "observation.url", "a path such as /health"),
    ({"target": URL, "observation": {"url": "http://e/x"}}, "observation.url", "other_origin"),
    ({"target": {"app": "a:b"}, "observation": {"url": "http://e/x"}}, "observation.url", "an app"),
    ({"observation": {"url": "/x", "caller": "eve"}}, "observation.caller", "no callers"),
    (
        {"callers": two(), "observation": {"url": "/x", "caller": "alise"}},
        "observation.caller",
        "did you mean alice?",
    ),
    ({"control": {"url": "/x"}}, "control.commands", "is missing"),
    (
        {"control": {"url": "/x", "commands": ["stop"]}},
        "control.commands[0]",
        "close-pause, spoil-pause",
    ),
    # waivers
    ({"waivers": [KNOWN]}, "waivers[0].until", "a known failure needs a last day"),
    ({"waivers": [KNOWN | {"until": "soon"}]}, "waivers[0].until", "such as 2026-12-31"),
    ({"waivers": [KNOWN | {"until": "2026-13-01"}]}, "waivers[0].until", "no date"),
    (
        {"waivers": [KNOWN | {"until": datetime.datetime(2026, 1, 1)}]},
        "waivers[0].until",
        "no date",
    ),
    ({"waivers": [KNOWN | {"until": "2026-12-31"}] * 2}, "waivers[1].rule", "waived already"),
    ({"waivers": [KNOWN | {"why": ""}]}, "waivers[0].why", "must not be empty"),
    ({"waivers": {}}, "waivers", "must be an array"),
    # no TOML at all
    ({"sets": {1, 2}}, "sets", "is no text"),
    ({"cues": {1: "x"}}, "cues", "is no text"),
]


@pytest.mark.parametrize(("document", "key", "words"), MISTAKES, ids=lambda one: str(one)[:40])
def test_a_mistake_is_named_with_its_key_and_what_is_allowed(document, key, words):
    with pytest.raises(ProfileError) as caught:
        profile_from({"version": 1} | document, name="my.toml", environ=ENVIRON)

    error = caught.value
    assert (error.name, error.key) == ("my.toml", key)
    assert words in error.problem
    assert str(error).startswith(f"my.toml: {key}: ")
    assert str(error).isprintable()
    assert SECRET not in "".join(traceback.format_exception(error))


def test_the_version_is_demanded():
    with pytest.raises(ProfileError, match=r"^hostproof\.toml: version: is missing\..* 1\.$"):
        profile_from({})


def test_an_unknown_key_comes_before_what_else_is_wrong_there():
    with pytest.raises(ProfileError) as caught:
        profile_from({"version": 1, "target": {"url": 7, "ap": "x"}, "sets": 3})
    assert caught.value.key == "target.ap"


def test_a_deep_document_is_refused():
    deep: object = 1
    for _ in range(MAX_LEVELS * 100):
        deep = [deep]
    with pytest.raises(ProfileError, match="nested too deeply"):
        profile_from({"version": 1, "endpoints": {"main": {"good_state": deep}}})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"version = 1\nsets = [safety]\n", "at line 2, column 9"),
        (b"version = 1\nsets = [", "at line 2, column 9, the end of the file"),
        (b"version = 1\n# \xff\n", "not UTF-8 (at line 2, byte 3)"),
        (b"x = " + b"[" * 20_000, "nested too deeply"),
        (b"x = " + b"9" * 20_000, "a number is too long"),
        (b"#" * (1024 * 1024 + 1), "more than 1048576 bytes"),
    ],
    ids=lambda one: str(one)[:20],
)
def test_a_file_that_is_no_toml_says_where(tmp_path, content, words):
    path = tmp_path / "hostproof.toml"
    path.write_bytes(content)
    with pytest.raises(ProfileError) as caught:
        load_profile(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    for path, words in (
        (tmp_path / "none.toml", "No such file"),
        (tmp_path, "directory"),
        ("a\0b", "no file name"),
    ):
        with pytest.raises(ProfileError, match=words) as caught:
            load_profile(path)
        assert caught.value.key == ""
        assert str(caught.value).isprintable()


def test_the_environment_is_the_processes_own_by_default(monkeypatch, tmp_path):
    monkeypatch.setenv("HOSTPROOF_TEST_TOKEN", SECRET)
    given = {"callers": two(carol={"headers": {"A": "${HOSTPROOF_TEST_TOKEN}"}})}
    assert profile_from({"version": 1} | given).callers["carol"].headers == (("A", SECRET),)


def test_options_take_the_profiles_place(full):
    changed = full.with_options(
        sets=["safety"],
        fail_on={"severity": "high", "level": None},
        limits={"concurrency": 2},
        min_judged=3,
        ag_ui=None,
    )
    assert changed.sets == ("safety",)
    assert (changed.fail_on.level, changed.fail_on.severity) == ("should", "high")
    assert (changed.limits.requests, changed.limits.concurrency) == (100, 2)
    assert changed.limits.exchange == full.limits.exchange
    assert (changed.min_judged, changed.ag_ui) == (3, "1.0")
    assert changed.target == full.target
    assert full.with_options() == full


def test_another_url_does_not_start_the_profiles_host(full):
    moved = full.with_options(
        target={"url": "http://127.0.0.1:8000/other", "app": None, "start": None}
    )
    assert (moved.target.start, moved.target.ready) == ((), None)
    started = full.with_options(target={"ready": "/up"})
    assert started.target.start == full.target.start
    assert started.ready_url() == "http://127.0.0.1:8000/up"


def test_a_url_completes_a_profile_that_names_none():
    profile = profile_from({"version": 1, "target": {"start": "serve", "ready": "/up"}})
    completed = profile.with_options(target={"url": "http://127.0.0.1:1/a"})
    assert completed.target.start == ("serve",)
    assert completed.ready_url() == "http://127.0.0.1:1/up"
    with pytest.raises(ProfileError, match=r"the command line: target\.start: does not go with"):
        profile.with_options(target={"app": "a:b"})


def test_options_are_checked_as_the_profile_is(full):
    for options, key in (
        ({"sets": ["all"]}, "sets[0]"),
        ({"target": {"url": "nowhere"}}, "target.url"),
        ({"target": {"url": "http://elsewhere/"}}, "control.url"),
        ({"limits": {"requests": "many"}}, "limits.requests"),
        ({"min_judged": 0}, "min_judged"),
    ):
        with pytest.raises(ProfileError) as caught:
            full.with_options(**options)
        assert (caught.value.name, caught.value.key) == ("the command line", key)
    with pytest.raises(TypeError, match="callers"):
        full.with_options(callers={})


def test_the_embedded_hosts_profile_claims_what_its_setups_say():
    tokens = new_tokens("alice", "bob") | {"inspector": "pa$$word-${X}"}
    profile = embedded_profile("http://127.0.0.1:8000/", tokens)
    assert profile.sets == RULE_SETS
    assert profile.cues == CUES
    assert profile.target.url == "http://127.0.0.1:8000/agui"
    assert list(profile.callers) == ["alice", "bob"]
    assert profile.inspectors["inspector"].headers == (("Authorization", "Bearer pa$$word-${X}"),)
    assert profile.control_commands == tuple(COMMANDS)
    for name, setup in zip(NAMES, SETUPS, strict=True):
        endpoint = profile.endpoints[name]
        assert (profile.endpoint_path(endpoint) or profile.base_path) == setup.path
        assert endpoint.keeps_pauses == setup.keeps_pauses
        assert endpoint.keeps_conversation == setup.keeps_conversation
        assert endpoint.client_tools == ("show_form",)
    carrying = profile.endpoints["carrying"]
    assert (carrying.state, carrying.context) == ("validated", "validated")
    assert profile.endpoints["main"].state == "not-carried"
    accept, nothing = SETUPS[1].rules.accept, ValidatorContext(thread=None, headers={})
    accept["state"](carrying.good_state, nothing)
    accept["context"](carrying.good_context, nothing)
    with pytest.raises(ValueError, match="page"):
        accept["state"](carrying.bad_state, nothing)
    with pytest.raises(ValueError, match="page"):
        accept["context"](carrying.bad_context, nothing)


def test_without_an_inspectors_token_nothing_is_observed():
    profile = embedded_profile("http://127.0.0.1:8000", new_tokens("alice", "bob"))
    assert (profile.observation, profile.control) == (None, None)


SCALARS = (
    st.text(max_size=12)
    | st.integers()
    | st.floats()
    | st.booleans()
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.sampled_from([SECRET, "http://h/", "/x", "alice", "named", "${ALICE}", "validated"])
)
KEYS = st.sampled_from(
    sorted(
        {
            name
            for one in (schema_of(SCHEMA), *schema_of(SCHEMA)["$defs"].values())
            for name in one.get("properties", {})
        }
        | {"alice", "main", "Authorization"}
    )
) | st.text(max_size=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
WHOLE = {
    "version": 1,
    "sets": ["named"],
    "fail_on": {"level": "must"},
    "target": {"url": "http://127.0.0.1/a", "start": "x", "ready": "/r"},
    "callers": two(carol={"headers": {"Authorization": "Bearer ${ALICE}"}, "role": "inspector"}),
    "cues": {"plain": "{nonce}"},
    "history": {"mode": "server"},
    "endpoints": {"main": {"state": "validated", "good_state": 1, "path": "/x"}},
    "observation": {"url": "/o", "caller": "alice"},
    "control": {"url": "http://127.0.0.1/c", "commands": ["close-pause"]},
    "limits": {"requests": 3, "deadline_seconds": 1.5},
    "waivers": [{"rule": "r", "kind": "known", "why": "w", "until": datetime.date.max}],
}


@st.composite
def nearly_right(draw):
    """Draw a right document with one place of it changed."""
    document = copy.deepcopy(WHOLE)
    holder: Any = document
    key: Any = draw(st.sampled_from(list(document)))
    while isinstance(holder[key], dict | list) and holder[key] and draw(st.booleans()):
        holder = holder[key]
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = draw(st.sampled_from(keys))
    holder[key if isinstance(holder, list) else draw(st.just(key) | KEYS)] = draw(VALUES)
    return document


@given(st.dictionaries(KEYS, VALUES, max_size=6) | nearly_right())
@example(WHOLE)
def test_any_document_makes_a_profile_or_names_its_mistake(document):
    try:
        profile = profile_from(document, environ=ENVIRON)
    except ProfileError as error:
        assert str(error).isprintable()
        assert SECRET not in "".join(traceback.format_exception(error))
        assert error.problem
    else:
        for endpoint in profile.endpoints.values():
            assert profile.endpoint_path(endpoint).isascii()
        profile.ready_url()
        assert f"Bearer {SECRET}" not in repr(profile)
