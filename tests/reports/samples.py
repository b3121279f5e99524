"""Sample result documents: one with every verdict, hostile texts, and strategies for any."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final, get_args

from hypothesis import strategies as st

from hostproof.reports.document import (
    Actions,
    CodeCount,
    Exit,
    FailOn,
    Fuzz,
    Level,
    Reason,
    ResultDocument,
    RuleResult,
    Run,
    Severity,
    Source,
    Suite,
    Target,
    Verdict,
    Waiver,
    summarise,
)
from hostproof.reports.finding import Body, Exchange, Finding, Header, Request, Response

HOSTILE: Final = (
    "\x1b[2J\x1b]0;owned\x07",
    "\x00\x08\x7f\x9b31m",
    "fake\nexit 0: all well\r\n",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "half \ud800 of one",
    "x" * 5000,
    "[bold red]markup[/] :smile: <&>]]> \ufffe",
    "宽" * 200,
    "\U000e0041tag",
)


def a_body(**changes: Any) -> Body:
    given: dict[str, Any] = {
        "encoding": "text",
        "data": '{"resume":[{}]}',
        "size": 15,
        "cut": False,
    }
    return Body(**(given | changes))


def an_exchange(**response: Any) -> Exchange:
    given: dict[str, Any] = {
        "status": 200,
        "content_type": "text/event-stream",
        "end": "complete",
        "excerpt": "{}",
    }
    return Exchange(
        request=Request(
            method="POST",
            url="http://127.0.0.1:8000/agui",
            headers=(Header(name="Authorization", value="$CALLER_A"),),
            body=a_body(),
        ),
        response=Response(**(given | response)),
    )


def a_finding(**changes: Any) -> Finding:
    given: dict[str, Any] = {
        "replay": "0a1b2c",
        "case": "the same approval twice",
        "expected": "the action runs once",
        "seen": "the action ran twice",
        "place": "/resume/0",
        "body": a_body(),
        "curl": "curl -sS -H 'Authorization: '\"$CALLER_A\" --data '{}' http://127.0.0.1:8000/agui",
        "exchanges": (an_exchange(),),
        "steady": True,
        "note": None,
    }
    return Finding(**(given | changes))


def a_rule(rule_id: str = "safety.one-run", **changes: Any) -> RuleResult:
    given: dict[str, Any] = {
        "id": rule_id,
        "title": "One yes, one run",
        "demand": "An approved action runs once, however often the approval is sent.",
        "source": Source(document="Contract", clause="Resume", url="https://example.org/c#resume"),
        "sets": ("safety",),
        "level": "must",
        "severity": "critical",
        "cwe": 837,
        "verdict": "passed",
        "counts": True,
        "reason": None,
        "waiver": None,
        "cases": 3,
        "seconds": 0.25,
        "findings": (),
    }
    return RuleResult(**(given | changes))


def a_waiver(**changes: Any) -> Waiver:
    given: dict[str, Any] = {
        "kind": "by-design",
        "why": "the client owns the history",
        "until": None,
        "clause": "History",
        "stale": False,
    }
    return Waiver(**(given | changes))


def a_document(*rules: RuleResult, **changes: Any) -> ResultDocument:
    given: dict[str, Any] = {
        "suite": Suite(name="hostproof", version="0.1.0", ruleset="0.1"),
        "run": Run(
            mode="gate",
            started="2026-10-07T10:00:00Z",
            seconds=12.34,
            finished=True,
            seed=None,
            requests=412,
            fail_on=FailOn(level="must", severity="medium"),
        ),
        "target": Target(
            kind="http", name="http://127.0.0.1:8000/agui", profile="hostproof.toml", ag_ui="1.0"
        ),
        "sets": ("safety", "ag-ui"),
        "rules": rules,
        "summary": summarise(rules),
        "actions": Actions(triggered=0, note=""),
        "fuzz": None,
        "exit": Exit(code=0, why="nothing failed"),
    }
    return ResultDocument(**(given | changes))


def every_verdict() -> ResultDocument:
    """A document with each verdict, a stale and an expired waiver, and an unsteady failure."""
    no_effects = Reason(code="no-effects", text="declare [effects] in the profile")
    return a_document(
        a_rule("safety.good-run"),
        a_rule("safety.one-run", verdict="failed", findings=(a_finding(),)),
        a_rule(
            "ag-ui.guide",
            sets=("ag-ui",),
            level="guide",
            counts=False,
            cwe=None,
            verdict="failed",
            findings=(a_finding(replay="g1", body=None, curl=None, place=None),),
        ),
        a_rule("safety.foreign", verdict="not-judged", reason=no_effects, cases=0),
        a_rule("safety.forged", verdict="not-judged", reason=no_effects, cases=0),
        a_rule(
            "ag-ui.order",
            sets=("ag-ui", "safety"),
            verdict="inconclusive",
            reason=Reason(code="control-failed", text="the control run was refused"),
        ),
        a_rule(
            "safety.race",
            verdict="inconclusive",
            reason=Reason(code="unsteady", text="failed once, then held"),
            findings=(
                a_finding(
                    replay="r9",
                    steady=False,
                    exchanges=(an_exchange(), an_exchange(status=None, end="cut")),
                ),
            ),
        ),
        a_rule("safety.replay", verdict="waived", waiver=a_waiver(), findings=(a_finding(),)),
        a_rule("safety.stale", waiver=a_waiver(kind="known", until="2027-01-31", stale=True)),
        a_rule(
            "safety.expired",
            verdict="failed",
            waiver=a_waiver(kind="known", until="2020-01-31"),
            findings=(a_finding(replay="e1", note="since 0.3"),),
        ),
        actions=Actions(triggered=7, note="the guarded tool deploy"),
        exit=Exit(code=1, why="2 rules failed at or above must, medium"),
    )


def hostile(text: str) -> ResultDocument:
    """A document in which *text* stands wherever a host's words can stand."""
    exchange = an_exchange(content_type=text, excerpt=text)
    exchange = replace(exchange, request=replace(exchange.request, url=text, method=text))
    finding = a_finding(
        case=text,
        expected=text,
        seen=text,
        place=text,
        body=a_body(data=text, cut=True, size=10**6),
        curl="curl " + text,
        exchanges=(exchange,),
        note=text,
    )
    reason = Reason(code="unsteady", text=text)
    unsteady = replace(finding, steady=False)
    given = every_verdict()
    return a_document(
        a_rule("a.failed", title=text, demand=text, verdict="failed", findings=(finding,)),
        a_rule("a.unsteady", verdict="inconclusive", reason=reason, findings=(unsteady,)),
        a_rule("a.unsure", verdict="inconclusive", reason=reason),
        a_rule("a.none", verdict="not-judged", reason=reason),
        a_rule("a.waived", verdict="waived", waiver=a_waiver(why=text, clause=text)),
        target=replace(given.target, name=text, profile=text, ag_ui=text),
        actions=Actions(triggered=1, note=text),
        exit=Exit(code=1, why=text),
    )


_halves = st.text(st.characters(), max_size=20).filter(
    lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text)  # JSON joins two halves
)
texts = st.text(max_size=40) | st.sampled_from(HOSTILE) | _halves
some_text = texts.filter(bool)
counts = st.integers(0, 2**53 - 1)
seconds = st.floats(0, 1e9)
_findings = st.builds(
    a_finding,
    case=some_text,
    expected=some_text,
    seen=some_text,
    place=st.none() | texts,
    body=st.none() | st.builds(a_body, data=texts, size=counts, cut=st.booleans()),
    curl=st.none() | texts.map("curl -sS {}".format),
    exchanges=st.lists(
        st.builds(an_exchange, status=st.none() | st.integers(100, 999), excerpt=texts), max_size=2
    ).map(tuple),
    note=st.none() | texts,
)
_reasons = st.builds(Reason, code=st.just("some-reason"), text=some_text)


@st.composite
def rules(draw: st.DrawFn, rule_id: str) -> RuleResult:
    """Any coherent rule."""
    verdict: Verdict = draw(st.sampled_from(get_args(Verdict)))
    level: Level = draw(st.sampled_from(get_args(Level)))
    findings = tuple(draw(st.lists(_findings, min_size=1, max_size=2)))
    waiver = None
    if verdict in {"waived", "passed"}:
        waiver = a_waiver(why=draw(some_text), stale=verdict == "passed")
    return a_rule(
        rule_id,
        title=draw(some_text),
        sets=(draw(st.sampled_from(["safety", "ag-ui", "named"])),),
        level=level,
        severity=draw(st.sampled_from(get_args(Severity))),
        verdict=verdict,
        counts=level != "guide" and draw(st.booleans()),
        reason=draw(_reasons) if verdict in {"not-judged", "inconclusive"} else None,
        waiver=waiver,
        seconds=draw(seconds),
        findings=() if verdict in {"passed", "not-judged"} else findings,
    )


@st.composite
def documents(draw: st.DrawFn) -> ResultDocument:
    """Any coherent document."""
    made = tuple(draw(rules(f"area.rule-{at}")) for at in range(draw(st.integers(0, 4))))
    run = replace(
        every_verdict().run,
        mode=draw(st.sampled_from(["gate", "fuzz"])),
        finished=draw(st.booleans()),
        seconds=draw(seconds),
        seed=draw(st.none() | counts),
    )
    codes = st.builds(
        CodeCount, code=some_text.map(lambda text: text[:128]), owed=counts, seen=counts
    )
    per_code = tuple(draw(st.lists(codes, max_size=3)))
    return a_document(
        *made,
        run=run,
        actions=Actions(triggered=draw(counts), note=draw(texts)),
        fuzz=Fuzz(bodies=9, accepted=4, per_code=per_code) if run.mode == "fuzz" else None,
        exit=Exit(code=draw(st.sampled_from([0, 1, 2, 3, 130])), why=draw(some_text)),
    )
