"""
The report for people: a page of at most 80 columns, what broke first, how it ended last.

It shows everything that needs somebody's attention in full and the rest in
counts, so a run in which all went well fits on one screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console

from hostproof.reports.document import VERDICTS, Verdict, summarise
from hostproof.reports.page import Page
from hostproof.reports.printable import clipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hostproof.reports.document import ResultDocument, RuleResult, Waiver
    from hostproof.reports.finding import Exchange, Finding

_FINDINGS: Final = 5  # findings of one rule that are shown
_IDS: Final = 4  # rule ids that are shown where many share a reason
_EXCERPT: Final = 200  # characters of a reply that are shown
_SET: Final = 24  # characters of a rule set's name in the table

_HEADINGS: Final[dict[Verdict, str]] = {
    "passed": "passed",
    "failed": "failed",
    "waived": "waived",
    "not-judged": "not judged",
    "inconclusive": "inconclusive",
}
_STYLES: Final[dict[Verdict, str]] = {
    "passed": "green",
    "failed": "bold red",
    "waived": "cyan",
    "not-judged": "",
    "inconclusive": "yellow",
}


def print_report(document: ResultDocument, console: Console | None = None) -> None:
    """
    Print the report of *document*.

    Args:
        document: the result to show.
        console: where to; standard output if none is given. Colour is the console's business.
    """
    page = Page(console or Console())
    _heading(page, document)
    page.blank()
    _table(page, document)
    unsteady = [rule for rule in _of(document, "inconclusive") if _is_unsteady(rule)]
    unsure = [rule for rule in _of(document, "inconclusive") if not _is_unsteady(rule)]
    _in_full(page, document, "Failed", _of(document, "failed"), "bold red")
    _in_full(page, document, "Unsteady: failed, and not again (inconclusive)", unsteady, "yellow")
    _grouped(page, "Inconclusive", unsure, _reason, "yellow")
    _grouped(page, "Not judged", _of(document, "not-judged"), _reason)
    _grouped(page, "Waived", _of(document, "waived"), _waiver, "cyan")
    stale = [rule for rule in document.rules if rule.waiver and rule.waiver.stale]
    _grouped(page, "Stale waivers: the rule passes, the waiver can go", stale, _waiver, "yellow")
    page.blank()
    code = document.exit.code
    page.line(f"exit {code}: {document.exit.why}", "bold red" if code else "bold green")


def _heading(page: Page, document: ResultDocument) -> None:
    suite, run, target = document.suite, document.run, document.target
    page.line(f"{suite.name} {suite.version}, rules {suite.ruleset}, {run.mode}", "bold")
    page.field("target", f"{target.name} ({target.kind})")
    claims = f", AG-UI {target.ag_ui} claimed" if target.ag_ui is not None else ""
    page.field("profile", f"{target.profile or 'none'}{claims}")
    page.field("sets", ", ".join(document.sets) or "none")
    seed = f", seed {run.seed}" if run.seed is not None else ""
    page.field("run", f"{run.started}, {run.seconds:.1f} s, {run.requests} requests{seed}")
    actions = document.actions
    if actions.triggered or actions.note:
        note = f": {actions.note}" if actions.note else ""
        page.field("actions", f"{actions.triggered} real guarded actions triggered{note}")
    _fuzz(page, document)
    if not run.finished:
        page.line("Interrupted: these results are partial.", "bold yellow")


def _fuzz(page: Page, document: ResultDocument) -> None:
    fuzz = document.fuzz
    if fuzz is None:
        return
    refused = sum(count.owed for count in fuzz.per_code)
    as_owed = sum(count.seen for count in fuzz.per_code)
    page.field(
        "fuzz",
        f"{fuzz.bodies} bodies, {fuzz.accepted} accepted; "
        f"{as_owed} of {refused} refusals came with the code they owed",
    )
    short = [count for count in fuzz.per_code if count.seen < count.owed]
    for count in short[:_FINDINGS]:
        page.field("", f"{count.code}: {count.seen} of {count.owed}", indent=2)
    if len(short) > _FINDINGS:
        page.field("", f"and {len(short) - _FINDINGS} more codes", indent=2)


def _table(page: Page, document: ResultDocument) -> None:
    """Count verdicts set by set (a rule may be in several), then over all rules."""
    names = [*document.sets]
    names += sorted({name for rule in document.rules for name in rule.sets} - set(names))
    wide = max(len("all rules"), *(min(len(name), _SET) for name in [*names, ""]))
    page.row([" " * wide, *_HEADINGS.values()], ["dim"] * 6)
    for name in names:
        counted = summarise(tuple(rule for rule in document.rules if name in rule.sets))
        _counts(page, f"{name[:_SET]:<{wide}}", counted.counts())
    if len(names) != 1:
        _counts(page, f"{'all rules':<{wide}}", document.summary.counts())


def _counts(page: Page, name: str, counts: dict[Verdict, int]) -> None:
    cells = [f"{counts[verdict]:>{len(_HEADINGS[verdict])}}" for verdict in VERDICTS]
    styles = [_STYLES[verdict] if counts[verdict] else "dim" for verdict in VERDICTS]
    page.row([name, *cells], ["", *styles])


def _of(document: ResultDocument, verdict: Verdict) -> list[RuleResult]:
    return [rule for rule in document.rules if rule.verdict == verdict]


def _is_unsteady(rule: RuleResult) -> bool:
    return any(not finding.steady for finding in rule.findings)


def _in_full(
    page: Page, document: ResultDocument, heading: str, rules: list[RuleResult], style: str
) -> None:
    """Write each of *rules* with its demand, its source and what was found."""
    if not rules:
        return
    page.blank()
    page.line(f"{heading} ({len(rules)})", style)
    for rule in rules:
        page.blank()
        page.line(f"{rule.id}  {rule.title}", "bold")
        cwe = f", CWE-{rule.cwe}" if rule.cwe is not None else ""
        counts = "" if rule.counts else "; does not count for the exit code"
        page.field("weight", f"{rule.level}, {rule.severity}{cwe}{counts}", indent=2)
        page.field("demand", rule.demand, indent=2)
        url = f", {rule.source.url}" if rule.source.url else ""
        page.field("source", f"{rule.source.document}, {rule.source.clause}{url}", indent=2)
        if rule.reason:
            page.field("reason", f"{rule.reason.code}: {rule.reason.text}", indent=2)
        if rule.waiver:
            expired = "expired: " if rule.verdict == "failed" else ""
            page.field("waiver", expired + _waiver(rule), indent=2)
        for finding in rule.findings[:1]:
            _finding(page, document, finding)
        for finding in rule.findings[1:_FINDINGS]:
            _further(page, document, finding, rule.findings[0])
        if len(rule.findings) > _FINDINGS:
            page.line(f"and {len(rule.findings) - _FINDINGS} more findings", indent=2)


def _finding(page: Page, document: ResultDocument, finding: Finding) -> None:
    unsteady = "" if finding.steady else " (did not repeat)"
    page.field("case", f"{finding.case}{unsteady}", indent=2)
    page.field("expected", finding.expected, indent=4, style="green")
    page.field("seen", finding.seen, indent=4, style="red")
    if finding.place is not None:
        page.field("place", finding.place, indent=4)
    if finding.note is not None:
        page.field("note", finding.note, indent=4)
    if not finding.steady:
        for exchange in finding.exchanges[:_FINDINGS]:
            _exchange(page, exchange)
    body = finding.body
    if body is not None:
        page.block("body" if body.encoding == "text" else "base64", body.data, indent=4)
        if body.cut:
            page.block("", f"... (the whole body has {body.size} bytes)", indent=4)
    page.whole("repeat", f"{document.suite.name} replay {finding.replay}", indent=4)
    if finding.curl is not None:
        page.command(finding.curl, indent=4)


def _further(page: Page, document: ResultDocument, finding: Finding, first: Finding) -> None:
    """Write a finding in two lines: where, what was seen if it is not the same, how to repeat."""
    unsteady = "" if finding.steady else " (did not repeat)"
    seen = "" if finding.seen == first.seen else f": {finding.seen}"
    page.short("case", f"{finding.case}{unsteady}{seen}", indent=2)
    page.whole("repeat", f"{document.suite.name} replay {finding.replay}", indent=4)


def _exchange(page: Page, exchange: Exchange) -> None:
    request, response = exchange.request, exchange.response
    status = "no status" if response.status is None else f"{response.status}"
    page.field("sent", f"{request.method} {request.url}", indent=4)
    page.field("got", f"{status}, {response.content_type or 'no type'}, {response.end}", indent=4)
    if response.excerpt:
        page.block("", clipped(response.excerpt, _EXCERPT), indent=4)


def _reason(rule: RuleResult) -> str:
    return f"{rule.reason.code}: {rule.reason.text}" if rule.reason else "no reason given"


def _waiver(rule: RuleResult) -> str:
    return _waiver_text(rule.waiver) if rule.waiver else "no waiver given"


def _waiver_text(waiver: Waiver) -> str:
    kind = "by design" if waiver.kind == "by-design" else "known"
    until = f" until {waiver.until}" if waiver.until is not None else ""
    clause = f" [{waiver.clause}]" if waiver.clause is not None else ""
    return f"{kind}{until}: {waiver.why}{clause}"


def _grouped(
    page: Page,
    heading: str,
    rules: list[RuleResult],
    why: Callable[[RuleResult], str],
    style: str = "bold",
) -> None:
    """Write the ids of *rules* below what they have in common."""
    if not rules:
        return
    groups: dict[str, list[str]] = {}
    for rule in rules:
        groups.setdefault(why(rule), []).append(rule.id)
    page.blank()
    page.line(f"{heading} ({len(rules)})", style)
    for reason, ids in groups.items():
        page.field("", f"{len(ids)}  {reason}", indent=2)
        page.field("", _some(ids), indent=4)


def _some(ids: Iterable[str]) -> str:
    names = list(ids)
    more = f" and {len(names) - _IDS} more" if len(names) > _IDS else ""
    return ", ".join(names[:_IDS]) + more
