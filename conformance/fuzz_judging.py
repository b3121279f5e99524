"""
How a drawn body's exchange is judged: by construction, by the reference, and by the safety rules.

Pure: recordings in, breaches out.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from hostproof.conformance.outcome import Broken as BrokenOutcome
from hostproof.conformance.outcome import outcome_of
from hostproof.conformance.recording import Facts, Owed
from hostproof.conformance.rule import Breach
from hostproof.reference_impl.refusals import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hostproof.conformance.recording import Recording
    from hostproof.conformance.rule import Rule
    from hostproof.strategies.drawn import DrawnCase

NO_SERVER_ERROR: Final = "live.no-server-error"
_PLACES: Final = re.compile(r"\[[^]]*\]")
_NUMBERS: Final = re.compile(r"\d+")


class Broken(NamedTuple):
    """A rule that a recording breaks: its id (``None`` for our own reference), and how."""

    rule: str | None
    breach: Breach
    crash: str = ""


class Key(NamedTuple):
    """What makes two findings the same."""

    rule: str | None
    owed: str
    seen: str


def owed_by_construction(case: DrawnCase) -> Owed | None:
    """Give what a case owes by construction, with the status of the catalogue."""
    if case.owed is None:
        return None
    code = case.owed.code
    status = 200 if code is None else catalogue()[code].status
    return Owed(code=code, status=status, field=case.owed.field)


def is_decidable(case: DrawnCase) -> bool:
    """Say whether the reference can read the request: its body is all that is odd about it."""
    wire = case.wire
    return wire is None or (wire.method == "POST" and wire.identity == "right" and not wire.headers)


def facts_of(case: DrawnCase, owed: Owed | None, canary: str) -> Facts:
    """Give what rules may know of a drawn case; its area follows from what it owes."""
    is_wire = case.kind == "wire"
    area = case.area
    if owed is not None and not area:
        area = "accepted" if owed.code is None else owed.code
        decided = None if owed.code is None else catalogue()[owed.code].decided
        is_wire = decided == "host"
        if decided == "reader":
            area = _PLACES.sub("", owed.field or "body")
    return Facts(
        id=case.name,
        area=area,
        kind="wire" if is_wire else "body",
        situation=case.situation,
        endpoint=case.endpoint,
        owed=owed or Owed(code=None, status=200),
        canary=canary,
    )


def disagreement(owed: Owed, expected: Owed, *, with_field: bool) -> Broken | None:
    """Say how the reference differs from what a case owes by construction, if it does."""
    same = (owed.code, owed.status) == (expected.code, expected.status)
    if same and (owed.field == expected.field or not with_field):
        return None
    seen = f"the reference says: {expected.describe()}"
    return Broken(None, Breach(expected=owed.describe(), seen=seen))


def applied_rules(recording: Recording, rules: Sequence[Rule], *, is_owed: bool) -> list[Rule]:
    """
    Give the rules that a recording is judged by.

    Args:
        recording: of a drawn case.
        rules: the rules that may be judged.
        is_owed: whether the host claims the contract, and what it owes is known.
    """
    as_body = replace(recording.case, kind="body")
    # An answer that broke is the safety rules' business; it says nothing about what was owed.
    is_answered = not any(isinstance(outcome_of(one), BrokenOutcome) for one in recording.changed)
    # What an error may show does not hang on where in the request the fault was.
    return [
        rule
        for rule in rules
        if (
            rule.applies(as_body)
            if "safety" in rule.sets
            else is_owed and is_answered and rule.applies(recording.case)
        )
    ]


def broken_rules(recording: Recording, applied: Sequence[Rule]) -> Iterator[Broken]:
    """Give every rule of those applied that a recording breaks."""
    crash = next((one.crash for one in recording.exchanges if one.crash is not None), None)
    place = "" if crash is None else crash_place(crash)
    broken = False
    for rule in applied:
        breach = rule.judge(recording)
        if isinstance(breach, Breach):
            broken = True
            yield Broken(rule.id, breach, place)
    if crash is not None and not broken:
        seen = f"an unhandled {type(crash).__name__}"
        yield Broken(NO_SERVER_ERROR, Breach(expected="no unhandled exception", seen=seen), place)


def crash_place(crash: BaseException) -> str:
    """Say where an exception was raised: its type, and the file and line, without a path."""
    trace = crash.__traceback__
    if trace is None:
        return type(crash).__name__
    while trace.tb_next is not None:
        trace = trace.tb_next
    name = re.split(r"[\\/]", trace.tb_frame.f_code.co_filename)[-1]
    return f"{type(crash).__name__} at {name}:{trace.tb_lineno}"


def key_of(found: Broken, owed: Owed | None, recording: Recording) -> Key:
    """
    Tell a finding from others: by its rule, what was owed, and the shape of what was seen.

    An exception that was not handled is told by the place where it was raised,
    another way to break by that way alone.
    """
    if found.crash:
        return Key(found.rule, "", found.crash)
    outcomes = [outcome_of(one) for one in recording.changed]
    shape = found.breach.seen
    if found.rule is not None:
        shape += "".join(outcome.describe() for outcome in outcomes)
    code = "" if owed is None else f"{owed.code} {_PLACES.sub('', owed.field or '')}"
    if any(isinstance(outcome, BrokenOutcome) for outcome in outcomes):
        code = ""
    return Key(found.rule, code, _NUMBERS.sub("#", shape))
