"""The command line: what each command prints, writes and ends with, above all when it cannot."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.cli import main
from hostproof.conformance.commands import run as run_command
from hostproof.reference_impl.serving import served
from hostproof.reports.reading import read_document
from tests import agui_app

if TYPE_CHECKING:
    from hostproof.reports.document import ResultDocument

PROGRAM = [sys.executable, "-c", "from hostproof.conformance.cli import main; main()"]
IN_BACKGROUND = [
    *PROGRAM[:2],
    f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {PROGRAM[2]}",
]
"""As a shell that is no terminal's starts what it runs in the background."""

ROOT = Path(__file__).parent.parent.parent
RULES = all_rules()
QUICK = ("--rule", "reader.thread-id", "--rule", "live.good-run", "--quiet")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder that is empty, and leave no trace in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv("HOSTPROOF_DEBUG", raising=False)


def ended(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def ends_in_a_line(code, *words, lines=1):
    """Demand an end in few lines, without a traceback; give what was said."""
    found = ended(*words)
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output
    assert 1 <= len(found.output.splitlines()) <= lines, found.output
    text: str = found.output
    return text


@contextmanager
def serving(app):
    with served(app) as url:
        yield f"{url}/agui"


def endpoint(answer):
    return Starlette(routes=[Route("/agui", answer, methods=["GET", "POST", "OPTIONS"])])


def written(path):
    return read_document(json.loads(Path(path).read_text()))


def verdicts(document: ResultDocument):
    return {rule.id: rule.verdict for rule in document.rules}


# run: the embedded host.


def test_without_a_target_the_embedded_host_is_judged_and_passes():
    found = ended("run", "--quiet", "--json", "r.json", "--junit", "r.xml")
    assert found.exit_code == 0, found.output
    assert found.output.splitlines()[-1].startswith("exit 0: ")
    document = written("r.json")
    assert list(verdicts(document)) == list(RULES)
    asked_one_by_one = {rule.id for rule in RULES.values() if rule.fault.styled is not None}
    seen = {name for name, verdict in verdicts(document).items() if verdict == "not-judged"}
    assert seen == asked_one_by_one
    assert set(verdicts(document).values()) == {"passed", "waived", "not-judged"}
    assert document.exit.code == 0
    assert document.run.finished
    assert document.target.name == "the embedded reference host"
    suites = ET.parse("r.xml").getroot()  # noqa: S314 - we wrote it
    assert len(list(suites.iter("testcase"))) == len(RULES)
    assert not list(suites.iter("failure"))
    is_waived = "waived" in verdicts(document).values()  # such a failure is kept like any other
    assert Path(".hostproof").exists() == is_waived


@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_a_report_on_standard_output_is_alone_there(option):
    found = ended("run", *QUICK, option, "-")
    assert found.exit_code == 0
    if option == "--json":
        assert read_document(json.loads(found.stdout)).exit.code == 0
    else:
        assert ET.fromstring(found.stdout).tag == "testsuites"  # noqa: S314 - we wrote it
    assert "exit 0: 2 rules judged" in found.stderr
    assert not Path("-").exists()


def test_only_one_report_goes_to_standard_output():
    found = ended("run", *QUICK, "--json", "-", "--junit", "-")
    assert found.exit_code == 2
    assert "only one report" in found.output
    assert "Traceback" not in found.output


def test_the_same_seed_makes_the_same_run():
    documents = []
    for _ in range(2):
        assert ended("run", *QUICK, "--seed", "7", "--json", "r.json").exit_code == 0
        documents.append(written("r.json"))
    assert documents[0].run.seed == documents[1].run.seed == 7
    assert documents[0].rules == documents[1].rules


def test_progress_is_told_where_there_is_no_terminal_and_never_when_quiet(monkeypatch):
    monkeypatch.setattr("hostproof.conformance.commands.shared.LINE_SECONDS", 0.0)
    found = ended("run", *QUICK[:-1])
    assert re.search(r"judging: \d+ of \d+", found.stderr)
    assert "judging" not in ended("run", *QUICK).output


# run: other hosts.


def test_a_url_is_judged():
    with serving(agui_app.app) as url:
        found = ended("run", url, "--quiet", "--json", "r.json", "--set", "safety")
    assert found.exit_code == 0, found.output
    document = written("r.json")
    assert document.target.name == url
    assert document.sets == ("safety",)
    assert verdicts(document)["live.good-run"] == "passed"
    assert verdicts(document)["leak.body"] == "passed"


def test_a_failure_is_reported_kept_and_can_be_replayed():
    with serving(agui_app.faulty) as url:
        found = ended("run", url, "--quiet", "--json", "r.json", "--rule", "live.no-server-error")
        assert found.exit_code == 1, found.output
        (rule,) = written("r.json").rules
        case = rule.findings[0].replay
        assert f"hostproof replay {case}" in found.output
        assert "curl" in found.output
        again = ended("replay", case)
        assert again.exit_code == 1, again.output
        assert f"{case}: still failing" in again.output
    assert (Path(".hostproof/cases") / f"{case}.json").exists()
    with serving(agui_app.app) as url:
        fixed = ended("replay", case, url)
    assert fixed.exit_code == 0, fixed.output
    assert f"{case}: fixed" in fixed.output
    gone = ends_in_a_line(2, "replay", case)
    assert "nothing listens" in gone


def test_failures_below_the_bar_do_not_count():
    with serving(agui_app.faulty) as url:
        words = ("run", url, "--quiet", "--rule", "live.no-server-error")
        assert ended(*words, "--rule", "live.good-run", "--fail-on", "must:high").exit_code == 0
        assert ended(*words, "--fail-on", "must:medium").exit_code == 1
        assert "levle" not in ends_in_a_line(2, *words, "--fail-on", "levle")


def test_an_application_is_judged_in_this_process(monkeypatch):
    Path("my_app.py").write_text("from tests.agui_app import app\n")
    monkeypatch.syspath_prepend(str(ROOT))
    found = ended("run", "my_app:app/agui", *QUICK[2:], "--json", "r.json")
    sys.modules.pop("my_app", None)
    assert written("r.json").target.kind == "asgi"
    assert verdicts(written("r.json"))["live.good-run"] == "passed"
    assert found.exit_code == 0


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_such_module:app", "no module no_such_module"),
        ("json:nothing_there", "json has no nothing_there"),
        ("localhost:8000/agui", "write http://localhost:8000/agui"),
        ("ftp://127.0.0.1/agui", "must be an http or https URL"),
        ("http://", "must be an http or https URL"),
        ("http://user:secret-word@127.0.0.1/agui", "credentials"),
        ("http://127.0.0.1:1/agui", "nothing listens at 127.0.0.1:1"),
        ("http://192.0.2.1/agui", "--allow-remote"),
        ("https://example.invalid/agui", "--allow-remote"),
    ],
)
def test_a_target_that_cannot_be_used_is_one_line(target, words):
    said = ends_in_a_line(2, "run", target, "--quiet")
    assert words in said
    assert "secret-word" not in said


def test_an_unknown_name_is_one_line():
    said = ends_in_a_line(2, "run", "http://host.invalid/agui", "--allow-remote", "--quiet")
    assert "not known" in said


def test_a_web_page_is_no_agui_host():
    async def page(request):
        return HTMLResponse("<p>hello")

    with serving(endpoint(page)) as url:
        said = ends_in_a_line(2, "run", url, "--quiet")
    assert "text/html" in said
    assert "AG-UI endpoint?" in said


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "check the path"), (401, "declare callers"), (429, "slow down"), (418, "check the URL")],
)
def test_a_host_that_refuses_a_plain_run_is_named(status, words):
    async def refuse(request):
        return Response("no", status, headers={"retry-after": "0"})

    with serving(endpoint(refuse)) as url:
        said = ends_in_a_line(2, "run", url, "--quiet")
    assert f"HTTP {status}" in said
    assert words in said


def test_a_redirect_is_named():
    async def away(request):
        return RedirectResponse("/agui/")

    with serving(endpoint(away)) as url:
        assert "slash" in ends_in_a_line(2, "run", url, "--quiet")


def test_https_where_plain_http_is_spoken():
    with serving(agui_app.app) as url:
        said = ends_in_a_line(2, "run", url.replace("http:", "https:"), "--quiet")
    assert "write http://" in said


def test_nothing_judged_ends_in_a_few_lines():
    with serving(agui_app.app) as url:
        said = ends_in_a_line(
            2, "run", url, "--quiet", "--rule", "host.identity", "--rule", "plan.state-refused",
            lines=5,
        )  # fmt: skip
    assert "nothing was judged" in said
    assert "[callers.NAME]" in said
    assert "[endpoints.carrying]" in said


def test_all_inconclusive_ends_in_a_few_lines():
    with serving(agui_app.app) as url:
        words = ("run", url, "--quiet", "--requests", "2", "--rule", "reader.thread-id")
        said = ends_in_a_line(2, *words, lines=5)
    assert "raise limits.requests" in said


def test_an_unknown_rule_names_the_nearest():
    said = ends_in_a_line(2, "run", "--rule", "reader.thread_id", "--quiet")
    assert "Did you mean reader.thread-id?" in said


@pytest.mark.parametrize("path", ["none/r.json", "."])
@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_a_report_that_cannot_be_written_is_known_before_anything_is_sent(option, path):
    asked = []

    async def count(request):
        asked.append(request)
        return Response()

    with serving(endpoint(count)) as url:
        said = ends_in_a_line(2, "run", url, option, path, "--quiet")
    assert f"{path} cannot be written" in said
    assert asked == []


def test_a_report_of_a_run_that_cannot_begin_leaves_no_file():
    ends_in_a_line(2, "run", "http://127.0.0.1:1/", "--json", "r.json", "--quiet")
    assert not Path("r.json").exists()
    Path("r.json").write_text("old")
    ends_in_a_line(2, "run", "http://127.0.0.1:1/", "--json", "r.json", "--quiet")
    assert Path("r.json").read_text() == "old"


def test_our_own_fault_is_one_line_and_exit_3(monkeypatch):
    def broken(*_given):
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(run_command, "judge", broken)
    said = ends_in_a_line(3, "run", "--quiet")
    assert "ZeroDivisionError" in said
    assert "HOSTPROOF_DEBUG=1" in said
    monkeypatch.setenv("HOSTPROOF_DEBUG", "1")
    assert isinstance(ended("run", "--quiet").exception, ZeroDivisionError)


# Profiles.


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 2", "hostproof.toml: version"),
        ("version = 1\n[target", "line 2"),
        ("version = 1\n[history]\nmode = 'both'", "history.mode"),
        ("version = 1\n[targte]\nurl = 'x'", "did you mean target"),
        ("version = 1\nsets = ['saftey']", "safety"),
        ("version = 1\n[callers.a.headers]\nAuthorization = '${NOT_THERE}'", "NOT_THERE"),
    ],
)
def test_a_broken_profile_names_the_key_and_what_is_allowed(text, words):
    Path("hostproof.toml").write_text(text)
    said = ends_in_a_line(2, "run", "--quiet")
    assert said.startswith("error: hostproof.toml: ")
    assert words in said


def test_a_profile_that_is_not_there_is_named():
    assert "none.toml" in ends_in_a_line(2, "run", "--profile", "none.toml", "--quiet")


def test_a_waiver_of_an_unknown_rule_names_the_nearest():
    Path("hostproof.toml").write_text(
        "version = 1\n[target]\nurl = 'http://127.0.0.1:1/'\n"
        "[[waivers]]\nrule = 'leak.bdoy'\nkind = 'by-design'\nwhy = 'x'\nclause = 'y'\n"
    )
    assert "Did you mean leak.body?" in ends_in_a_line(2, "run", "--quiet")


def test_a_waiver_is_kept_to():
    with serving(agui_app.faulty) as url:
        Path("hostproof.toml").write_text(
            f"version = 1\n[target]\nurl = '{url}'\n"
            "[[waivers]]\nrule = 'live.no-server-error'\nkind = 'known'\nwhy = 'reported'\n"
            "until = 2999-12-31\n"
        )
        words = ("--rule", "live.no-server-error", "--rule", "live.good-run")
        found = ended("run", *words, "--quiet", "--json", "r.json")
    assert found.exit_code == 0, found.output
    assert verdicts(written("r.json")) == {
        "live.good-run": "passed",
        "live.no-server-error": "waived",
    }
    assert "known until 2999-12-31: reported" in re.sub(r"\s+", " ", found.output)


# A process of our own.


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def starting(port, app="app"):
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    code += f"import uvicorn; from tests.agui_app import {app}; "
    code += f"uvicorn.run({app}, port={port}, log_level='error')"
    return f'{sys.executable} -c "{code}"'


def test_a_host_is_started_judged_and_stopped():
    with serving(agui_app.app) as url:  # a port that will be free
        pass
    port = int(re.findall(r":(\d+)/", url)[0])
    found = ended("run", url, "--start", starting(port), *QUICK[2:], "--json", "r.json")
    assert found.exit_code == 0, found.output
    assert verdicts(written("r.json")) == {"live.good-run": "passed"}
    assert "nothing listens" in ends_in_a_line(2, "run", url, "--quiet")


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("hostproof-none", "cannot be started"),
        ("'", "quotation"),
        (f"{sys.executable} -c pass", "ended with 0"),
    ],
)
def test_a_host_that_cannot_be_started_is_one_line(start, words):
    said = ends_in_a_line(2, "run", "http://127.0.0.1:1/agui", "--start", start, "--quiet")
    assert words in said


DYING = """
import pathlib, sys
if pathlib.Path("started").exists():
    sys.exit("cannot open the database")
pathlib.Path("started").touch()
sys.path.insert(0, ROOT)
import uvicorn
from tests.pausing_app import Pausing, Ways
uvicorn.run(Pausing(Ways(heeds=HEEDS)).app, port=PORT, log_level="error")
"""
AFTER_A_RESTART = ("effect.decides-after-a-restart", "pause.survives-a-restart")


@pytest.mark.parametrize(
    ("heeds", "verdict", "code"), [(True, "inconclusive", 2), (False, "failed", 1)]
)
def test_a_host_that_does_not_come_back_leaves_what_was_found(heeds, verdict, code):
    with serving(agui_app.app) as url:  # a port that will be free
        pass
    port = re.findall(r":(\d+)/", url)[0]
    text = DYING.replace("ROOT", repr(str(ROOT))).replace("PORT", port)
    Path("dying.py").write_text(text.replace("HEEDS", str(heeds)))
    Path("hostproof.toml").write_text(
        f"version = 1\n[target]\nurl = '{url}'\nstart = '{sys.executable} dying.py'\n"
        "[effects]\nurl = '/effects'\n[endpoints.main]\nkeeps_pauses = true\ndurable = true\n"
    )
    named = ("live.good-run", "effect.no-never-runs", *AFTER_A_RESTART)
    rules = [word for name in named for word in ("--rule", name)]
    found = ended("run", "--quiet", "--json", "r.json", *rules)
    assert found.exit_code == code, found.output
    document = written("r.json")
    assert document.run.finished
    unclear = dict.fromkeys(AFTER_A_RESTART, "inconclusive")
    assert verdicts(document) == {named[0]: "passed", named[1]: verdict, **unclear}
    after = [rule for rule in document.rules if rule.id in AFTER_A_RESTART]
    why = [rule.reason.text for rule in after if rule.reason is not None]
    assert len(why) == 2
    assert all(one.startswith("the host did not come back after a restart") for one in why)
    assert any("cannot open the database" in one for one in why)


def test_what_is_polled_after_a_start_needs_one():
    assert "--start" in ends_in_a_line(2, "run", "--ready", "http://127.0.0.1:1/", "--quiet")


@pytest.mark.parametrize("port", [0, 65536, 99999])
def test_a_port_that_there_is_none_of_is_named(port):
    said = ends_in_a_line(2, "run", f"http://127.0.0.1:{port}/agui", "--quiet")
    assert "target.url" in said
    assert "65535" in said


@pytest.mark.parametrize("one", ["r.xml", "./r.xml"])
def test_two_reports_need_two_places(one):
    found = ended("run", *QUICK, "--json", "r.xml", "--junit", one)
    assert found.exit_code == 2
    assert "two reports" in found.output
    assert not Path("r.xml").exists()


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0"])
def test_a_time_to_fuzz_is_a_finite_one(seconds):
    found = ended("fuzz", "--seconds", seconds)
    assert found.exit_code == 2
    assert "--seconds" in found.output


def test_start_needs_a_url():
    assert "url" in ends_in_a_line(2, "run", "--start", "true", "--quiet").lower()


# serve.


@contextmanager
def program(*words, command=PROGRAM):
    process = subprocess.Popen(
        [*command, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(process, last):
    """Read lines up to one that begins with *last*."""
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith(last):
            return lines
    raise AssertionError("it ended: " + (process.stderr.read() if process.stderr else ""))


def profile_of(lines):
    """Write the profile that `serve` gives the words for."""
    url = next(line.split()[1] for line in lines if line.startswith("agent"))
    callers = dict(re.findall(r"caller   (\w+): Authorization: Bearer (\S+)", "\n".join(lines)))
    text = f"version = 1\nsets = ['named', 'safety']\n[target]\nurl = '{url}'\n"
    for name, token in callers.items():
        text += f"[callers.{name}.headers]\nAuthorization = 'Bearer {token}'\n"
    Path("hostproof.toml").write_text(text)
    assert tomllib.loads(text)
    return callers


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_served_host_passes_and_one_with_a_fault_fails(number):
    for fault, code in ((), 0), (("--fault", "host-forgets-allow"), 1):
        with program("serve", "--port", "0", *fault) as process:
            lines = until(process, "Stop with Ctrl-C.")
            tokens = profile_of(lines).values()
            words = ("--rule", "host.allow-header", "--fail-on", "must:low")
            found = ended("run", *words, "--quiet", "--json", "r.json")
            assert found.exit_code == code, found.output
            kept = [path.read_text() for path in Path(".hostproof").rglob("*.json")]
            for text in (found.output, Path("r.json").read_text(), *kept):
                assert not [token for token in tokens if token in text]
            process.send_signal(number)
            _, said = process.communicate(timeout=10)
            assert "Traceback" not in said
            if number == signal.SIGINT:
                assert process.returncode == 0


def test_an_unknown_fault_names_the_nearest():
    said = ends_in_a_line(2, "serve", "--fault", "host-quotes-in-the-bdy")
    assert "Did you mean host-quotes-in-the-body?" in said


def test_a_port_that_is_taken_is_named():
    with serving(agui_app.app) as url:
        port = re.findall(r":(\d+)/", url)[0]
        assert f"port {port}" in ends_in_a_line(2, "serve", "--port", port)


def test_a_database_that_is_none_is_named():
    Path("notes.txt").write_text("no database " * 100)
    assert "hoose" in ends_in_a_line(2, "serve", "--port", "0", "--database", "notes.txt")


# Ctrl-C.

INTERRUPTS = pytest.mark.parametrize(
    ("number", "command"),
    [
        (signal.SIGINT, PROGRAM),
        (signal.SIGTERM, PROGRAM),
        (signal.SIGINT, IN_BACKGROUND),
        (signal.SIGTERM, IN_BACKGROUND),
    ],
    ids=["ctrl-c", "term", "ctrl-c-in-background", "term-in-background"],
)


@INTERRUPTS
def test_an_interrupted_run_keeps_what_it_found(number, command):
    with serving(agui_app.slow) as url:
        agui_app.RUNS.clear()
        with program("run", url, "--quiet", "--json", "r.json", command=command) as process:
            deadline = time.monotonic() + 20
            while len(agui_app.RUNS) < 30:
                assert time.monotonic() < deadline
                assert process.poll() is None
            process.send_signal(number)
            said, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert "Traceback" not in said + errors
    assert "these results are partial" in said
    assert said.splitlines()[-1].startswith("exit 130: interrupted")
    document = written("r.json")
    assert not document.run.finished
    assert document.exit.code == 130
    found = verdicts(document)
    assert found["live.good-run"] == "passed"
    assert "inconclusive" in found.values()


@INTERRUPTS
def test_an_interrupted_run_stops_the_host_that_it_started(number, command):
    with serving(agui_app.app) as url:  # a port that will be free
        pass
    port = int(re.findall(r":(\d+)/", url)[0])
    words = ("run", url, "--start", starting(port, "slow"), "--quiet")
    with program(*words, command=command) as process:
        deadline = time.monotonic() + 20
        while not listens(port):
            assert time.monotonic() < deadline
            assert process.poll() is None
        process.send_signal(number)
        said, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert "Traceback" not in said + errors
    assert not listens(port)


def test_a_run_interrupted_before_it_began_is_one_line(monkeypatch):
    def interrupted(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_command, "judge", interrupted)
    assert "interrupted" in ends_in_a_line(130, "run", "--quiet")


# rules, selftest, replay, help.


def test_the_rules_are_listed():
    lines = ended("rules").output.splitlines()
    assert [line.split()[0] for line in lines] == list(RULES)
    assert max(map(len, lines)) <= 80


def test_a_rule_is_described():
    found = ended("rules", "leak.body")
    assert found.exit_code == 0
    for words in ("leak.body: body", "CWE-209", "host-quotes-in-the-body", "safety"):
        assert words in found.output
    assert "Did you mean leak.body?" in ends_in_a_line(2, "rules", "leak.bodi")


def test_the_selftest_of_one_rule():
    found = ended("selftest", "--rule", "host.method", "--verbose", "--quiet")
    assert found.exit_code == 0, found.output
    assert re.search("caught +host.method +host-lets-through-method", found.output)
    assert found.output.splitlines()[-1].startswith("1 of 1 faults caught, 1 of 1 rules passed")
    assert "Did you mean" in ends_in_a_line(2, "selftest", "--rule", "host.methd")


def test_the_selftest_says_what_was_missed(monkeypatch):
    from dataclasses import replace  # noqa: PLC0415

    blind = replace(RULES["host.method"], judge=lambda _recording: None)
    monkeypatch.setattr("hostproof.conformance.commands.selftest.rule_of", lambda _rule_id: blind)
    found = ended("selftest", "--rule", "host.method", "--quiet")
    assert found.exit_code == 1
    assert "missed: host-lets-through-method (host.method passed)" in found.output


def test_a_case_that_is_not_kept_is_named():
    said = ends_in_a_line(2, "replay", "leak.body-0123456789")
    assert "No case is kept in .hostproof/cases" in said
    assert "no id of a case" in ends_in_a_line(2, "replay", "../../etc/passwd")


@pytest.mark.parametrize("command", [None, *sorted(main.commands)])
def test_help(command):
    found = ended(*([command] if command else []), "--help")
    assert found.exit_code == 0
    assert found.output.startswith("Usage: ")
    assert "\\b" not in found.output
    assert max(map(len, found.output.splitlines())) <= 80


def test_every_option_says_what_it_does():
    for name, command in main.commands.items():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_the_version_is_told():
    assert re.fullmatch(r"hostproof \d+\.\d+\.\d+\S*\n", ended("--version").output)


def test_a_pipe_that_closes_is_no_fault_of_ours():
    with program("rules") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        process.wait(10)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_no_thread_is_left():
    before = threading.active_count()
    ended("run", *QUICK)
    assert threading.active_count() == before


def test_the_environments_proxies_are_not_used(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setitem(os.environ, name, "http://127.0.0.1:1")
    with serving(agui_app.app) as url:
        assert ended("run", url, *QUICK[2:]).exit_code == 0
