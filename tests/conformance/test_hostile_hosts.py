"""Hosts that are hostile, through the whole engine: a finding or a line, in time, within memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
import tracemalloc
from contextlib import contextmanager
from dataclasses import replace

import pytest
from click.testing import CliRunner

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.cli import main
from hostproof.conformance.findings import Keeper
from hostproof.conformance.gate import PLAIN_RUN, Gate
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.profile import default_profile
from hostproof.conformance.profile_parts import TargetAt
from hostproof.conformance.redaction import Redactor
from hostproof.conformance.result import RunFacts, result_document
from hostproof.conformance.target import Limits
from hostproof.reports.reading import read_document
from tests.hostile import BEHAVIOURS, serve

RULES = [rule for rule in all_rules().values() if {"safety", "ag-ui"} & rule.sets]
LIMITS = Limits(
    deadline_seconds=0.5,
    head_seconds=0.4,
    max_bytes=200_000,
    max_events=2_000,
    max_event_bytes=100_000,
    grace_seconds=0.1,
)
BAD_INPUT = frozenset({PLAIN_RUN, "thread-id-number"})
PEAK = 64 * 1024 * 1024 + 60_000_000
"""What the bomb takes to be made, and what the suite may take."""
AT_MOST = 60.0
GOOD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    b'data: {"type":"RUN_STARTED","threadId":"%b","runId":"%b","protocolVersion":"1.0"}\n\n'
    b'data: {"type":"RUN_FINISHED","threadId":"%b","runId":"%b"}\n\n'
)
HARMLESS = {"longer_than_its_length", "stays_open_after_the_end"}
"""To a plain run these answer in a way that another rule judges."""


def kind_to_good_runs(behaviour):
    """Run what is right, and be hostile to everything else."""

    async def answer(reader, writer):
        body = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                while not body.endswith(b"}") and (piece := await reader.read(65536)):
                    body += piece
        try:
            given = json.loads(body)
            ids = (given["threadId"].encode(), given["runId"].encode())
            is_good = given["messages"][0]["role"] == "user"
        except (ValueError, KeyError, TypeError, AttributeError):
            is_good = False
        if is_good:
            writer.write(GOOD % (*ids, *ids))
        else:
            await behaviour(reader, writer)

    return answer


async def judged(behaviour, folder):
    """Judge one hostile host; give its document."""
    async with serve(behaviour) as port:
        url = f"http://127.0.0.1:{port}/agui"
        profile = replace(default_profile(), target=TargetAt(url=url))
        async with opened_host(profile, Leave(), limits=LIMITS) as host:
            gate = Gate(host, RULES, "seed", only=BAD_INPUT)
            await gate.perform()
    keeper = Keeper(
        base_url=url,
        target=url,
        redactor=Redactor(()),
        mode="gate",
        seed=1,
        folder=folder,
    )
    facts = RunFacts(
        mode="gate",
        started="2026-01-01T00:00:00Z",
        seconds=1,
        finished=True,
        seed=1,
        requests=host.requests,
        kind="http",
        target=url,
    )
    document = result_document(gate.verdicts(), profile, facts, keeper.findings_of, redact=str)
    return read_document(json.loads(document.to_text()))


def all_of_them(behaviours, folder):
    """Judge hosts side by side; give the documents, and hold time and memory."""

    async def side_by_side():
        async with asyncio.TaskGroup() as group:
            tasks = {
                name: group.create_task(judged(behaviour, folder / name))
                for name, behaviour in behaviours.items()
            }
        return {name: task.result() for name, task in tasks.items()}

    begun = time.monotonic()
    tracemalloc.start()
    try:
        documents = asyncio.run(side_by_side())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < PEAK
    assert time.monotonic() - begun < AT_MOST
    return documents


HALF = sorted(BEHAVIOURS)[::2], sorted(BEHAVIOURS)[1::2]


@pytest.mark.parametrize("names", HALF, ids=["one half", "the other"])
def test_a_host_that_is_hostile_to_everything_is_a_finding(tmp_path, names):
    documents = all_of_them({name: BEHAVIOURS[name] for name in names}, tmp_path)
    for name, document in documents.items():
        good = next(rule for rule in document.rules if rule.id == "live.good-run")
        if name in HARMLESS and good.verdict == "passed":
            continue
        assert good.verdict == "failed", name
        assert good.findings, name
        assert document.exit.code == 1, name


TO_BAD_INPUT = (
    "never_answers",
    "resets",
    "garbage",
    "endless_stream",
    "stream_flood",
    "gigabyte",
    "cut_chunked",
    "gzip_bomb",
    "invalid_utf8",
    "slow_drip",
    "deep_json",
)


@pytest.mark.parametrize("name", TO_BAD_INPUT)
def test_a_host_that_is_hostile_to_bad_input_alone_is_a_finding(tmp_path, name):
    document = asyncio.run(judged(kind_to_good_runs(BEHAVIOURS[name]), tmp_path))
    verdicts = {rule.id: rule.verdict for rule in document.rules}
    assert verdicts["live.good-run"] == "passed"
    assert "failed" in verdicts.values()
    assert document.exit.code == 1


# By the command line.


@contextmanager
def listening(behaviour):
    """Serve a behaviour in a thread of its own; give the URL."""
    found: list[int] = []
    ready, over = threading.Event(), threading.Event()

    async def until_over():
        async with serve(behaviour) as port:
            found.append(port)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(until_over()))
    thread.start()
    try:
        assert ready.wait(5)
        yield f"http://127.0.0.1:{found[0]}/agui"
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("never_answers", 1),
        ("endless_stream", 1),
        ("stream_flood", 1),
        ("garbage", 2),
        ("resets", 1),
        ("invalid_utf8", 1),
        ("cut_chunked", 1),
        ("gigabyte", 1),
        ("gzip_bomb", 1),
        ("short_of_its_length", 1),
        ("redirect_elsewhere", 2),
        ("false_gzip", 2),
    ],
)
def test_the_command_ends_with_a_report_or_a_line(tmp_path, monkeypatch, name, code):
    monkeypatch.chdir(tmp_path)
    with listening(BEHAVIOURS[name]) as url:
        ended = CliRunner().invoke(main, ["run", url, "--quiet", "--deadline", "0.3"])
    assert ended.exit_code == code, ended.output
    assert "Traceback" not in ended.output
    assert ended.output.isprintable() or ended.output.replace("\n", "").isprintable()
    if code == 1:
        assert "live.good-run" in ended.output
    else:
        assert len(ended.output.splitlines()) == 1
