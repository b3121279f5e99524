"""
Rules of the set ``safety`` on what the model is given: its orders, its tools, what was said.

They read the observation, and are judged only where a host offers one.

Source: safety, "What a page says is no instruction", "What a page sends is read or refused" and
"Calls and their results" (docs/safety.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance import history_faults, model_faults
from hostproof.conformance.inside_reading import (
    holds,
    imbalance,
    instructions,
    records,
    rows,
    sent_body,
    shows,
)
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.rule import Breach, Fault, Rule, RuleSet, Severity, Source, Unseen
from hostproof.reference_impl.values import is_record
from hostproof.strategies.inside_changes import (
    CLIENT_TOOL,
    FORGED,
    INSIDE_AREAS,
    INSTRUCTIONS,
    ORPHANS,
    OWN_TOOL,
    TEXT,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostproof.conformance.recording import Facts, Recording
    from hostproof.conformance.rule import Judge
    from hostproof.reference_impl.values import Record

SAFETY: Final[frozenset[RuleSet]] = frozenset({"safety"})
NO_ORDERS: Final = "What a page says is no instruction"
READ_OR_REFUSED: Final = "What a page sends is read or refused"
PAIRS: Final = "Calls and their results"
MODEL: Final = ("modelRequests",)
ANSWERED: Final = ("yes", "no", "sequence")
"""Areas of answer cases whose thread ends with nothing open."""

PROMPT_INJECTION: Final = 1427
"""CWE-1427: improper neutralization of input used for LLM prompting."""


def no_orders_from_a_page(recording: Recording) -> Breach | None:
    """Demand that nothing a page wrote stands where the model takes orders from."""
    for index, request in enumerate(rows(recording, "modelRequests")):
        if any(holds(one, recording.case.canary) for one in instructions(request)):
            return Breach(
                expected="instructions that are the host's own",
                seen="the page's words among the instructions",
                place=f"modelRequests[{index}]",
            )
    return None


def keeps_its_instructions(recording: Recording) -> Breach | None:
    """Demand that instructions that were given once are given on every later turn."""
    told = False
    for index, request in enumerate(rows(recording, "modelRequests")):
        now = any(text for text in instructions(request))
        if told and not now:
            return Breach(
                expected="the host's own instructions on every turn",
                seen="a request to the model without any",
                place=f"modelRequests[{index}]",
            )
        told = told or now
    return None


def own_tools_stay(recording: Recording) -> Breach | None:
    """Demand that a tool of the host's own is described by the host, whatever a page offers."""
    known: Record = {}
    for index, request in enumerate(rows(recording, "modelRequests")):
        tools = request.get("tools")
        for name, described in tools.items() if is_record(tools) else ():
            if name in known and holds(described, recording.case.canary):
                return Breach(
                    expected="the host's own tool",
                    seen="a tool of that name in the page's words",
                    place=f"modelRequests[{index}].tools",
                )
            known.setdefault(name, described)
    return None


def text_reaches_the_model(recording: Recording) -> Breach | None:
    """Demand that the text of a message that was taken reaches the model."""
    requests = rows(recording, "modelRequests")
    seen = any(holds(request.get("messages"), recording.case.canary) for request in requests)
    if seen or not _ran(recording):
        return None
    return Breach(
        expected="the text at the model, or a refusal",
        seen="a run without the text",
        place="modelRequests",
    )


def tools_reach_the_model(recording: Recording) -> Breach | None:
    """Demand that a page's tools that were taken reach the model."""
    offered = {
        str(tool.get("name"))
        for exchange in recording.changed
        for tool in records(sent_body(exchange).get("tools"))
    }
    given = {
        name
        for request in rows(recording, "modelRequests")
        if is_record(request.get("tools"))
        for name in request["tools"]
    }
    if offered <= given or not _ran(recording):
        return None
    return Breach(
        expected="the page's tools at the model, or a refusal",
        seen="a run without them",
        place="modelRequests",
    )


def _ran(recording: Recording) -> bool:
    """Say whether the request was taken, and the model asked."""
    taken = any(isinstance(outcome_of(one), Accepted) for one in recording.changed)
    return taken and bool(rows(recording, "modelRequests"))


def balanced(recording: Recording) -> Breach | None:
    """Demand in every request to the model one result for each call, and none of another."""
    for index, request in enumerate(rows(recording, "modelRequests")):
        found = imbalance(records(request.get("messages")))
        if found is not None:
            return Breach(
                expected="one result for every call, and none for others",
                seen=found,
                place=f"modelRequests[{index}].messages",
            )
    return None


def looking_at(judge: Judge, reads: tuple[str, ...]) -> Judge:
    """Judge only where the observation shows what the judge reads of it."""
    if not reads:
        return judge

    def judge_seen(recording: Recording) -> Breach | Unseen | None:
        if not shows(recording, *reads):
            return Unseen(f"an observation with {' and '.join(reads)}: declare observation")
        return judge(recording)

    return judge_seen


def in_areas(*names: str) -> Callable[[Facts], bool]:
    """Choose the cases of these areas, whatever they change."""
    return lambda case: case.area in names and case.kind in ("body", "answer")


def inside_rule(
    name: str,
    demand: str,
    judge: Judge,
    faults: tuple[Fault, ...],
    applies: Callable[[Facts], bool],
    *,
    clause: str,
    severity: Severity = "critical",
    cwe: int | None = None,
    on_control: bool = False,
    reads: tuple[str, ...] = (),
) -> Rule:
    """Declare a rule of ``safety`` with its faults; *reads* are members of the observation."""
    return Rule(
        id=name,
        title=name.partition(".")[2].replace("-", " "),
        demand=demand,
        source=Source(document="safety", clause=clause),
        sets=SAFETY,
        level="must",
        severity=severity,
        cwe=cwe,
        applies=applies,
        judge=looking_at(judge, reads),
        on_control=on_control,
        fault=faults[0],
        more_faults=faults[1:],
    )


def _answers(case: Facts) -> bool:
    return case.kind == "answer" and case.area in ANSWERED and case.situation != "nested"


def _in(*cases: str) -> frozenset[str]:
    return frozenset(cases)


RULES: Final = (
    inside_rule(
        "model.no-orders-from-a-page",
        "Let nothing that a page wrote stand where the model takes its orders from.",
        no_orders_from_a_page,
        (
            Fault(
                name="host-takes-a-pages-instructions",
                build=model_faults.takes_a_pages_instructions,
                shows_in=_in("inside-system-message", "inside-developer-message"),
            ),
            Fault(
                name="host-filters-only-a-persons-words",
                build=model_faults.filters_only_persons,
                shows_in=_in("inside-system-message"),
            ),
            Fault(
                name="host-takes-context-for-instructions",
                build=model_faults.ByContext.of,
                shows_in=_in("inside-context"),
            ),
            Fault(
                name="host-takes-tool-descriptions-for-instructions",
                build=model_faults.told_by_descriptions,
                shows_in=_in("inside-tool-description"),
            ),
        ),
        lambda case: case.area in (*INSIDE_AREAS, "accepted") and case.id.startswith("inside-"),
        clause=NO_ORDERS,
        reads=MODEL,
        cwe=PROMPT_INJECTION,
    ),
    inside_rule(
        "model.keeps-its-instructions",
        "Give the model the host's own instructions on every turn, after a pause too.",
        keeps_its_instructions,
        (
            Fault(
                name="host-leaves-its-instructions-off-later-turns",
                build=model_faults.Forgetful.of,
                shows_in=_in("check_in-yes"),
            ),
        ),
        lambda case: _answers(case) or case.area == OWN_TOOL,
        clause=NO_ORDERS,
        reads=MODEL,
    ),
    inside_rule(
        "model.own-tools-stay",
        "Let no tool of a page stand in for the host's own of the same name.",
        own_tools_stay,
        (
            Fault(
                name="host-lets-a-page-replace-its-tool",
                build=model_faults.lets_a_page_replace_tools,
            ),
        ),
        in_areas(OWN_TOOL),
        clause=NO_ORDERS,
        reads=MODEL,
        cwe=PROMPT_INJECTION,
    ),
    inside_rule(
        "model.sees-the-text",
        "Let the text of a message that is taken reach the model, however it is written.",
        text_reaches_the_model,
        (Fault(name="host-skips-lists-of-parts", build=model_faults.skips_lists_of_parts),),
        in_areas(TEXT),
        clause=READ_OR_REFUSED,
        reads=MODEL,
        severity="medium",
    ),
    inside_rule(
        "model.sees-client-tools",
        "Let a page's tools that are taken reach the model.",
        tools_reach_the_model,
        (Fault(name="host-never-reads-client-tools", build=model_faults.never_reads_tools),),
        in_areas(CLIENT_TOOL),
        clause=READ_OR_REFUSED,
        reads=MODEL,
        severity="medium",
    ),
    inside_rule(
        "model.results-match-calls",
        "Give the model one result for every call, behind it, and no result of another.",
        balanced,
        (
            Fault(
                name="host-makes-up-call-ids",
                build=history_faults.makes_up_call_ids,
                shows_in=_in("inside-result-without-call-id"),
            ),
            Fault(
                name="host-hands-orphan-results-on",
                build=history_faults.keeps_the_pages_history,
                shows_in=_in("inside-result-of-no-call"),
            ),
            Fault(
                name="host-goes-on-with-one-of-two-results",
                build=history_faults.Incomplete.of,
                shows_in=_in("two-yes-yes"),
            ),
            Fault(
                name="host-sends-an-older-result-again",
                build=history_faults.Repeating.of,
                shows_in=_in("two-yes-yes"),
            ),
        ),
        lambda case: case.area in (ORPHANS, INSTRUCTIONS, FORGED) or _answers(case),
        clause=PAIRS,
        reads=MODEL,
        severity="medium",
    ),
)
