"""
What the rules of the set ``ag-ui`` share: how one is declared, and the judges most are made of.

A clause of the grammar or of the schema is one line in a table; what it takes
to tell the others stands beside them.

Source: AG-UI 1.1; docs/ag-ui-coverage.md lists its clauses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.agui_reading import readings
from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.rule import Breach, Fault, Level, Rule, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hostproof.conformance.agui_reading import Reading
    from hostproof.conformance.recording import Facts, Recording
    from hostproof.conformance.rule import Build, Judge

PLAIN: Final = frozenset({"plain-run"})
CLOSING: Final = frozenset({"STR-03", "RSN-01", "LIFE-10", "SUB-04"})
"""Clauses that what is left open at the end of a run breaks."""


def ag_ui_rule(
    name: str,
    where: str,
    demand: str,
    judge: Judge,
    fault: Fault,
    *,
    level: Level = "must",
    severity: Severity | None = None,
    applies: Callable[[Facts], bool] = lambda _case: True,
    on_control: bool = False,
    document: str = "AG-UI 1.0",
) -> Rule:
    """
    Declare a rule of the set.

    Args:
        name: its id without the set, which begins with its clause: ``str-01-open-once``.
        where: the page and heading of the clause.
        demand: what a host must do.
        judge: judges one recording.
        fault: its seeded fault.
        level: by the clause's keyword.
        severity: medium where the keyword is MUST, low where it is not.
        applies: chooses its cases.
        on_control: whether it judges even where the control run failed.
        document: the version that the clause came with.
    """
    family, number, *words = name.split("-")
    clause = f"{family}-{number}".upper()
    return Rule(
        id=f"ag-ui.{name}",
        title=" ".join(words),
        demand=demand,
        source=Source(document=document, clause=f"{clause}: {where}"),
        sets=frozenset({"ag-ui"}),
        level=level,
        severity=severity or ("medium" if level == "must" else "low"),
        cwe=None,
        applies=applies,
        judge=judge,
        on_control=on_control,
        fault=fault,
    )


def stream_rule(
    name: str,
    where: str,
    demand: str,
    fault: tuple[str, Build],
    judge: Judge,
    *,
    level: Level = "must",
    shows_in: frozenset[str] = PLAIN,
    document: str = "AG-UI 1.0",
    applies: Callable[[Facts], bool] = lambda _case: True,
) -> Rule:
    """Declare a rule on every stream that a host sends; its fault shows in a plain run."""
    return ag_ui_rule(
        name,
        where,
        demand,
        judge,
        Fault(name=fault[0], build=fault[1], shows_in=shows_in),
        level=level,
        applies=applies,
        on_control=True,
        document=document,
    )


def named(*cases: str) -> Callable[[Facts], bool]:
    """Choose cases by their ids."""
    return lambda case: case.id in cases


def grammar(demand: str, *clauses: str, at: Callable[[Reading, int], bool] | None = None) -> Judge:
    """Demand that no stream breaks these clauses of the grammar, where *at* says so."""

    def judge(recording: Recording) -> Breach | None:
        for where, reading in readings(recording):
            for breach in reading.grammar.breaches:
                if breach.clause in clauses and (at is None or at(reading, breach.index)):
                    place = f"{where}events[{breach.index}]"
                    return Breach(expected=_wanted(demand), seen=breach.text, place=place)
        return None

    return judge


def shape(demand: str, clause: str) -> Judge:
    """Demand that no event breaks this clause of the schema."""

    def judge(recording: Recording) -> Breach | None:
        for where, reading in readings(recording):
            for index, breach in reading.shapes:
                if breach.clause == clause:
                    dot = "." if breach.place else ""
                    place = f"{where}events[{index}]{dot}{breach.place}"
                    return Breach(expected=_wanted(demand), seen=breach.text, place=place)
        return None

    return judge


def _wanted(demand: str) -> str:
    return demand[0].lower() + demand[1:].removesuffix(".")


def of_stream(find: Callable[[Reading], Iterator[tuple[int, Breach]]]) -> Judge:
    """Demand that *find* finds nothing in any stream; it gives places and breaches."""

    def judge(recording: Recording) -> Breach | None:
        for where, reading in readings(recording):
            for index, found in find(reading):
                place = f"{where}events[{index}]"
                return Breach(expected=found.expected, seen=found.seen, place=place)
        return None

    return judge


def runs_as_control(recording: Recording) -> Breach | None:
    """Demand that the changed request runs to an end, as the control did."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Accepted):
            return Breach(expected="a run that finishes, as the control", seen=outcome.describe())
    return None


def never_runs(recording: Recording) -> Breach | None:
    """Demand that no run begins: a refusal, and no RUN_STARTED before it."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        begun = any(event.type == "RUN_STARTED" for event in exchange.events)
        if isinstance(outcome, Accepted) or (isinstance(outcome, Refused) and begun):
            how = "a run that began" if begun else outcome.describe()
            return Breach(expected="a refusal before any run", seen=how)
    return None
