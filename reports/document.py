"""
The result document: what one run of a suite found out about one host, as values.

The format is kept by ``result.schema.json``, member by member as here. A
document describes itself: whoever shows it needs no catalogue and no profile.
Its texts may hold anything a host sent, so whoever shows them escapes them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from hostproof.reports.finding import Finding  # noqa: TC001 - reading.py reads the hints

Json: TypeAlias = Any
"""Any JSON value, not yet checked."""

Verdict = Literal["passed", "failed", "waived", "not-judged", "inconclusive"]
"""What a run says about a rule."""

Level = Literal["must", "should", "guide"]
"""How strongly a source demands something; guide never fails a run."""

Severity = Literal["low", "medium", "high", "critical"]
"""How much harm a failure can do."""

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)

FORMAT: Final = "hostproof-result"
VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The program that ran: its command's name, its version, the version of its rules."""

    name: str
    version: str
    ruleset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailOn:
    """The lowest level and the lowest severity at which a failure counts."""

    level: Literal["must", "should"]
    severity: Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    How and when the suite ran.

    Attributes:
        mode: fixed cases (gate) or drawn ones (fuzz).
        started: RFC 3339 in UTC, ending in Z.
        seconds: how long it took.
        finished: false if it was interrupted; the results are partial then.
        seed: what random choices came from, if there were any.
        requests: how many requests were sent.
        fail_on: from where on a failure counts.
    """

    mode: Literal["gate", "fuzz"]
    started: str
    seconds: float
    finished: bool
    seed: int | None
    requests: int
    fail_on: FailOn


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """
    What was tested.

    Attributes:
        kind: how it was reached, such as http, asgi, mcp or program.
        name: its URL, without credentials, or what else names it.
        profile: the profile's path or the preset's name.
        ag_ui: the version of AG-UI that it claims.
    """

    kind: str
    name: str
    profile: str | None
    ag_ui: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a demand comes from: document, clause, and where to read it."""

    document: str
    clause: str
    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why there is no judgement: a kebab-case code, and words that say what to do."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """
    A failure that the profile expects.

    Attributes:
        kind: to be mended (known), or meant so (by-design).
        why: the profile's reason.
        until: the last day on which it holds, YYYY-MM-DD.
        clause: the clause that the host departs from.
        stale: whether the rule passed, so that the waiver can go.
    """

    kind: Literal["known", "by-design"]
    why: str
    until: str | None
    clause: str | None
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """
    One rule and what became of it.

    Attributes:
        id: the rule's id, stable over versions.
        title: what it is about, in a few words.
        demand: what a host must do, in one sentence.
        source: where the demand comes from.
        sets: the rule sets it counts in, at least one.
        level: how strongly it is demanded.
        severity: how much harm a failure can do.
        cwe: the number in the CWE list, if one fits.
        verdict: what the run says about it.
        counts: whether a failure sets the exit code, under the run's *fail_on*.
        reason: why there is no judgement (not judged, inconclusive; perhaps waived).
        waiver: the profile's waiver, stale and expired ones too.
        cases: how many cases were run.
        seconds: how long they took.
        findings: what broke, the clearest first.
    """

    id: str
    title: str
    demand: str
    source: Source
    sets: tuple[str, ...]
    level: Level
    severity: Severity
    cwe: int | None
    verdict: Verdict
    counts: bool
    reason: Reason | None
    waiver: Waiver | None
    cases: int
    seconds: float
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How many rules got each verdict."""

    passed: int
    failed: int
    waived: int
    not_judged: int = field(metadata={"member": "not-judged"})
    inconclusive: int

    def counts(self) -> dict[Verdict, int]:
        """Give the counts by verdict, in the order of :data:`VERDICTS`."""
        return {
            "passed": self.passed,
            "failed": self.failed,
            "waived": self.waived,
            "not-judged": self.not_judged,
            "inconclusive": self.inconclusive,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """The real guarded actions that the run triggered: how many, and what they were."""

    triggered: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCount:
    """One refusal code: how many bodies owed it, how many of these were answered with it."""

    code: str
    owed: int
    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuzz:
    """What fuzzing sent: bodies, how many the host accepted, refusals code by code."""

    bodies: int
    accepted: int
    per_code: tuple[CodeCount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How the run ended for whoever called it: 0, 1, 2, 3 or 130, and why."""

    code: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultDocument:
    """
    The whole document.

    Attributes:
        suite: the program that ran.
        run: how and when.
        target: what was tested.
        sets: the rule sets that the profile claims.
        rules: every rule of the run, in catalogue order, each id once.
        summary: how many rules got each verdict.
        actions: the real guarded actions that were triggered.
        fuzz: what fuzzing sent; none for a gate run.
        exit: how the run ended.
    """

    suite: Suite
    run: Run
    target: Target
    sets: tuple[str, ...]
    rules: tuple[RuleResult, ...]
    summary: Summary
    actions: Actions
    fuzz: Fuzz | None
    exit: Exit

    def to_json(self) -> dict[str, Json]:
        """Write the document as plain JSON values, members in the schema's order."""
        return {"format": FORMAT, "version": VERSION, **_plain(self)}

    def to_text(self) -> str:
        """
        Write the document as JSON text: ASCII, indented, with a final newline.

        Raises:
            ValueError: a number of seconds is not finite.
        """
        return json.dumps(self.to_json(), indent=2, allow_nan=False) + "\n"


def summarise(rules: tuple[RuleResult, ...]) -> Summary:
    """Count the verdicts of *rules*."""
    verdicts = [rule.verdict for rule in rules]
    return Summary(**{verdict.replace("-", "_"): verdicts.count(verdict) for verdict in VERDICTS})


def _plain(value: Json) -> Json:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {
            member.metadata.get("member", member.name): _plain(getattr(value, member.name))
            for member in fields(value)
        }
    return value
