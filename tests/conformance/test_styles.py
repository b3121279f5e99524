"""
Every style a host may have: the right one passes all that is judged, and each fault is found.

The dimensions are pause, answer, history and effects. Not every one of the
combinations is run: a set is computed in which every legal pair of values
occurs. What does not hang on the style (a fresh thread's bodies) is tried on
one of them; the long test in ``tests/soak`` tries all on all.
"""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pytest

from hostproof.conformance.case import all_cases
from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.gate import Gate
from hostproof.conformance.opened_host import Leave, opened_host
from hostproof.conformance.profile import load_profile
from hostproof.conformance.styled_faults import SEEDED
from hostproof.conformance.styled_run import serving, styled
from hostproof.reference_impl.styled_setup import PAIRS, EffectsKept, History, StyledSetup

RULES = {name: rule for name, rule in all_rules().items() if rule.sets & {"safety", "ag-ui"}}
PROFILES = Path(__file__).parent / "styles"
MOST_LINES = 15

ON_THREADS = frozenset(
    case.id
    for case in all_cases()
    if case.kind in ("answer", "run") or case.situation != "fresh" or case.looks_inside
)
"""Cases that hang on the style: answers, runs, what is sent to a paused thread, looks inside."""

SEEN = {
    "effect.yes-runs-once",
    "effect.no-never-runs",
    "effect.waits-for-the-answer",
    "effect.needs-a-decision",
    "effect.bound-to-its-thread",
    "effect.bound-to-its-caller",
    "effect.forged-runs-nothing",
    "effect.odd-entries-run-nothing",
    "effect.in-sequence",
    "effect.asks-where-owed",
    "pause.survives-an-answer",
}
"""Rules that every style can be judged by."""

COUNTED = {
    "effect.once-only",
    "effect.replay-runs-nothing",
    "effect.later-turn-runs-nothing",
    "effect.race-runs-once",
    "effect.arguments-as-shown",
}
"""Rules that results in a stream cannot show: they tell neither a second run nor arguments."""

TOGETHER = {"effect.several-at-once", "effect.one-of-several"}
"""Rules on several questions at once, which a host with one id for all cannot ask."""

INSIDE = {"model.results-match-calls", "model.no-orders-from-a-page", "history.one-result-each"}
"""Rules that an observation shows."""


def expected(setup):
    """Name the rules that have to be judged, and to pass, on a right host of this style."""
    counted = set() if setup.effects == "stream" else COUNTED
    together = set() if setup.thread_as_id else TOGETHER
    return SEEN | counted | together | (INSIDE if setup.effects == "observation" else set())


def passed(verdicts):
    return {name for name, found in verdicts.items() if found.verdict == "passed"}


async def _gate(profile, rules, only, folder):
    async with opened_host(profile, Leave(), folder=folder) as host:
        gate = Gate(host, rules, "styles", only=only)
        await gate.perform()
        return {verdict.rule.id: verdict for verdict in gate.verdicts()}


def verdicts_of(profile, rules=None, only=frozenset(), folder=None):
    return asyncio.run(_gate(profile, rules or list(RULES.values()), only, folder))


def wrong(verdicts, waived=frozenset()):
    return {
        name: [(one.case, one.breach.expected, one.breach.seen) for one in found.findings]
        or found.reason
        for name, found in verdicts.items()
        if found.verdict in ("failed", "inconclusive") and name not in waived
    }


def named(setup):
    """Name a setup by what is unusual in it."""
    unusual = [
        f"{member.name}={getattr(setup, member.name)}"
        for member in fields(setup)
        if getattr(setup, member.name) != member.default
    ]
    return "-".join(unusual).replace(" ", "") or "usual"


# The combinations.

HISTORIES: tuple[History, ...] = ("server", "client")
SOURCES: tuple[EffectsKept, ...] = ("url", "file", "python", "stream", "observation")
LEGAL = [
    StyledSetup(pause=pause, answer=answer, history=history, effects=effects)
    for (pause, answer), history, effects in product(sorted(PAIRS), HISTORIES, SOURCES)
]


def pairs_in(setup):
    values = [(name, getattr(setup, name)) for name in ("pause", "answer", "history", "effects")]
    return {frozenset(pair) for pair in combinations(values, 2)}


@cache
def covering():
    """Choose combinations, the one that adds most first, until every legal pair occurs."""
    missing = set().union(*map(pairs_in, LEGAL))
    chosen = []
    while missing:
        best = max(LEGAL, key=lambda one: len(pairs_in(one) & missing))
        missing -= pairs_in(best)
        chosen.append(best)
    return tuple(chosen)


def test_every_legal_pair_of_values_is_covered_by_few():
    covered = set().union(*map(pairs_in, covering()))
    assert covered == set().union(*map(pairs_in, LEGAL))
    assert len(covering()) <= 20


USUAL = next(one for one in covering() if (one.pause, one.answer) == ("interrupt", "resume"))
"""The combination that is tried with every case."""


@pytest.mark.parametrize("setup", covering(), ids=named)
def test_a_right_host_of_any_style_passes_all_that_is_judged(setup):
    whole = setup is USUAL
    with styled(setup) as profile:
        verdicts = verdicts_of(profile, only=frozenset() if whole else ON_THREADS)
    assert wrong(verdicts) == {}
    assert expected(setup) - passed(verdicts) == set()
    assert len(passed(verdicts)) >= (125 if whole else 100)


# The other habits.

BASE = StyledSetup()
COMMAND = StyledSetup(pause="custom", answer="command")
RESULT = StyledSetup(answer="tool-message")
CONFIRM = StyledSetup(pause="call", answer="tool-message")
TWO_AGENTS = ("/agui", "/agui/more")

HABITS = (
    replace(BASE, yes={"confirmed": True}, tells_schema=False, on_replay="finish", shape="text"),
    replace(COMMAND, yes=True, on_replay="kept-text", drops_known_ids=True, shape="detail"),
    replace(BASE, effects="command", thread_as_id=True, parent_run=True, chunks=True),
    replace(
        BASE,
        history="client",
        effects="observation",
        on_replay="kept-result",
        shape="run-error",
        echo_input=True,
    ),
    replace(CONFIRM, shape="run-error", started_before_error=True, yes=True, error_result=True),
    replace(RESULT, chunks=True, snapshot=True, drops_known_ids=True, history="client"),
    replace(RESULT, yes="approve", no="reject", uuid_threads=True, get_capabilities=True),
    replace(COMMAND, confirm_beside=True, expires=True, event="on_interrupt", snapshot=True),
    replace(BASE, effects="observation", paths=TWO_AGENTS, shape="array", call_seconds=0.1),
    replace(CONFIRM, history="client", chunks=True, on_replay="finish", shape="html"),
    replace(CONFIRM, effects="observation", error_result=True, shape="error", snapshot=True),
)
BARE_NAME = "ag-ui.pass-02-prefixed-names"


@pytest.mark.parametrize("setup", HABITS, ids=named)
def test_no_habit_of_a_right_host_is_called_wrong(setup):
    with styled(setup) as profile:
        verdicts = verdicts_of(profile, only=ON_THREADS)
    bare = {BARE_NAME} if "." not in setup.event else set()
    assert wrong(verdicts, bare) == {}
    assert all(verdicts[name].verdict == "failed" for name in bare)
    assert expected(setup) - passed(verdicts) == set()


def test_every_habit_is_tried():
    tried = [*HABITS, *covering()]
    for member in fields(StyledSetup):
        assert any(getattr(one, member.name) != member.default for one in tried), member.name
    assert {one.shape for one in tried} == {
        "problem",
        "detail",
        "array",
        "error",
        "text",
        "html",
        "run-error",
    }
    assert {one.on_replay for one in tried} == {"refuse", "finish", "kept-text", "kept-result"}
    assert {one.effects for one in tried} == {
        "url",
        "file",
        "command",
        "python",
        "stream",
        "observation",
    }


@pytest.mark.parametrize(
    "members",
    [
        {"pause": "call"},
        {"pause": "custom"},
        {"error_result": True},
        {"started_before_error": True},
        {"pause": "call", "answer": "tool-message", "confirm_beside": True},
        {"pause": "call", "answer": "tool-message", "thread_as_id": True},
        {"paths": ()},
    ],
    ids=str,
)
def test_members_that_do_not_go_together_are_refused(members):
    with pytest.raises(ValueError, match=r"go with|goes with|answered by|at least|has no"):
        StyledSetup(**members)


# The faults.

PROOFS = [(fault, setup) for fault in SEEDED for setup in fault.setups]


@pytest.mark.parametrize(
    ("fault", "setup"), PROOFS, ids=[f"{fault.name}-{named(setup)}" for fault, setup in PROOFS]
)
def test_a_fault_is_found_by_its_rule(fault, setup):
    rule = RULES[fault.rule]
    assert all(rule.applies(case.facts()) for case in all_cases() if case.id in fault.cases)
    with styled(setup, fault.build) as profile:
        verdict = verdicts_of(profile, [rule], fault.cases)[rule.id]
    assert verdict.verdict == "failed", verdict.reason


def test_faults_have_names_of_their_own():
    names = [fault.name for fault in SEEDED]
    assert len(set(names)) == len(names)
    assert {case for fault in SEEDED for case in fault.cases} <= {one.id for one in all_cases()}


# Profiles as a user writes them: few lines, and no code.

FILED = StyledSetup(effects="file")
WRITTEN = [
    ("resume", replace(FILED, expires=True, shape="detail")),
    ("resume", replace(FILED, on_replay="kept-result", get_capabilities=True, shape="run-error")),
    ("resume", replace(FILED, on_replay="finish", drops_known_ids=True, uuid_threads=True)),
    ("whole-history", StyledSetup(history="client", effects="stream", shape="array")),
    ("whole-history", StyledSetup(history="client", effects="stream", shape="error")),
    ("whole-history", StyledSetup(history="client", effects="stream", thread_as_id=True)),
    ("parent-run", replace(FILED, parent_run=True)),
    ("bare-true", StyledSetup(yes=True, tells_schema=False, shape="error", expires=True)),
    ("custom-event", replace(COMMAND, effects="file", event="on_interrupt", shape="detail")),
    ("custom-event", replace(COMMAND, effects="file", event="on_interrupt", confirm_beside=True)),
    ("open-call", StyledSetup(answer="tool-message", effects="stream", yes={"accepted": True})),
    ("confirm-call", replace(CONFIRM, yes={"confirmed": True}, error_result=True)),
    ("several-agents", replace(FILED, paths=TWO_AGENTS)),
]


@pytest.mark.parametrize(
    ("name", "setup"), WRITTEN, ids=[f"{name}-{named(setup)}" for name, setup in WRITTEN]
)
def test_a_short_profile_drives_a_host_of_its_style(name, setup):
    path = PROFILES / f"{name}.toml"
    with serving(setup) as (url, host, file):
        tokens = {who.upper(): token for who, token in host.tokens.items()}
        profile = load_profile(path, environ=tokens)
        profile = profile.with_options(target={"url": url + setup.paths[0]})
        verdicts = verdicts_of(profile, only=ON_THREADS, folder=file.parent)
    assert wrong(verdicts, {waiver.rule for waiver in profile.waivers}) == {}
    assert all(verdicts[waiver.rule].verdict == "failed" for waiver in profile.waivers)
    judged = [one for one in passed(verdicts) if one.startswith(("effect.", "pause."))]
    assert len(judged) >= (9 if setup.effects == "stream" else 12)


def test_every_profile_is_short_and_used():
    files = {path.stem: path.read_text().splitlines() for path in PROFILES.glob("*.toml")}
    assert set(files) == {name for name, _ in WRITTEN}
    said = {name: [line for line in lines if line.strip()] for name, lines in files.items()}
    assert {name: len(lines) for name, lines in said.items() if len(lines) > MOST_LINES} == {}
