"""
What a profile lacks for a case to be performed or judged, and what to declare to have it.

Source: docs/verdicts.md, "Not judged".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.case import ASKING_RUNS, CALLERS_FOR_OTHERS
from hostproof.strategies.decisions import AnswerCase
from hostproof.strategies.inside_changes import FORGED
from hostproof.strategies.plan_changes import FORM
from hostproof.strategies.shared_threads import SharedThread
from hostproof.strategies.wire_changes import WireChange

if TYPE_CHECKING:
    from hostproof.conformance.case import Case
    from hostproof.conformance.profile import Profile
    from hostproof.conformance.profile_parts import Endpoint

_COMMAND: Final = {"spoiled": "spoil-pause"}
_CUES: Final = {
    "question": "question",
    "spoiled": "question",
    "client-call": "client_tool",
    "failing-run": "fail",
    "concurrent-run": "slow",
    "hung-up-run": "slow",
    "paused-run": "check_in",
    "client-call-run": "client_tool",
    "context-repeated": "repeat",
}


def missing_for(case: Case, profile: Profile) -> str | None:
    """Say what the profile lacks for a case to be performed, or ``None``."""
    if isinstance(case.change, AnswerCase):
        return _missing_for_answer(case.change, profile)
    if isinstance(case.change, SharedThread):
        return _missing_for_sharing(case.change, profile)
    endpoint = profile.endpoints.get(case.endpoint)
    if endpoint is None:
        return f"an endpoint named {case.endpoint}: declare [endpoints.{case.endpoint}]"
    by_effects = case.area == FORGED and profile.shows_effects
    if case.looks_inside and profile.observation is None and not by_effects:
        return "an observation of model requests: declare observation"
    return (
        _missing_cue(case, profile)
        or _missing_for_asking(case, endpoint)
        or _missing_for_situation(case, endpoint, profile)
        or _missing_caller(case, profile)
    )


def _missing_cue(case: Case, profile: Profile) -> str | None:
    cue = _CUES.get(case.id) or _CUES.get(case.situation)
    if cue == "question" and cue not in profile.cues:
        cue = "check_in"
    return None if cue is None or cue in profile.cues else f"a cue: declare cues.{cue}"


def _missing_for_asking(case: Case, endpoint: Endpoint) -> str | None:
    if case.id not in ASKING_RUNS:
        return None
    if not endpoint.keeps_pauses:
        return f"pauses that are kept: declare endpoints.{case.endpoint}.keeps_pauses"
    if case.id == "client-call-run" and FORM["name"] not in endpoint.client_tools:
        return f"a page's tool: declare endpoints.{case.endpoint}.client_tools"
    return None


def _missing_for_situation(case: Case, endpoint: Endpoint, profile: Profile) -> str | None:
    if case.situation == "fresh":
        return None
    if not endpoint.keeps_pauses:
        return f"pauses that are kept: declare endpoints.{case.endpoint}.keeps_pauses"
    if case.situation == "client-call" and not endpoint.client_tools:
        return f"a page's tool: declare endpoints.{case.endpoint}.client_tools"
    if case.situation != "client-call" and profile.answer.kind != "resume":
        return "answers in resume: this host takes them elsewhere"
    command = _COMMAND.get(case.situation)
    if command is not None and command not in profile.control_commands:
        return f"the control command {command}: declare it in control.commands"
    return None


def _missing_caller(case: Case, profile: Profile) -> str | None:
    if not isinstance(case.change, WireChange) or case.change.identity == "right":
        return None
    return None if profile.callers else "callers: declare [callers.NAME] with their headers"


def _missing_for_sharing(shared: SharedThread, profile: Profile) -> str | None:
    if len(profile.callers) < CALLERS_FOR_OTHERS:
        return "a second caller: declare [callers.NAME]"
    for endpoint in (shared.first, shared.second):
        if endpoint not in profile.endpoints:
            return f"an endpoint named {endpoint}: declare [endpoints.{endpoint}]"
    return None


def _missing_for_answer(answer: AnswerCase, profile: Profile) -> str | None:
    endpoint = profile.endpoints.get(answer.endpoint) or profile.main_endpoint
    if answer.endpoint != "main" and answer.endpoint not in profile.endpoints:
        return f"an endpoint named {answer.endpoint}: declare [endpoints.{answer.endpoint}]"
    if not endpoint.keeps_pauses:
        return "pauses that can be answered: declare pause and answer, or keeps_pauses = true"
    if answer.cue not in profile.cues:
        return f"a cue: declare cues.{answer.cue}"
    if not profile.shows_effects:
        return "what ran: declare effects, or observation"
    if answer.contract and "named" not in profile.sets:
        return "a host that claims the contract: add named to sets"
    if answer.sends_results and profile.answer.kind == "tool-message":
        return "answers that are no tool messages: here a result is an answer"
    if answer.caller == "other" and len(profile.callers) < CALLERS_FOR_OTHERS:
        return "a second caller: declare [callers.NAME]"
    wanted = [*answer.commands, *answer.undo]
    wanted += ["stop-after-spend"] if answer.stopped else []
    wanted += ["close-pause"] if answer.follow == "closed" else []
    if "restart" in wanted and not profile.restarts:
        return "a host that can be restarted: declare target.start, or the command restart"
    if answer.outlives_a_restart and not endpoint.durable:
        return f"pauses that outlive a restart: declare endpoints.{endpoint.name}.durable"
    for command in wanted:
        if command != "restart" and command not in profile.control_commands:
            return f"the control command {command}: declare it in control.commands"
    return None


def named_facts_missing(case: Case, profile: Profile) -> str | None:
    """
    Say which fact of the endpoint the contract's answer to a case hangs on, and is not declared.

    The contract says what a host owes that lets a page decide just so much; a
    host that takes state freely owes no ``ERR_STATE_NOT_CARRIED``.
    """
    endpoint = profile.endpoints.get(case.endpoint)
    wanted = _FACTS.get(case.owed.code or "")
    if endpoint is None or wanted is None:
        return None
    member, value = wanted
    if getattr(endpoint, member) == value:
        return None
    return f"the fact that it holds: declare endpoints.{case.endpoint}.{member} = {value!r}"


_FACTS: Final[dict[str, tuple[str, object]]] = {
    "ERR_STATE_NOT_CARRIED": ("state", "not-carried"),
    "ERR_CONTEXT_NOT_CARRIED": ("context", "not-carried"),
    "ERR_STATE_REFUSED": ("state", "validated"),
    "ERR_CONTEXT_REFUSED": ("context", "validated"),
    "ERR_CLIENT_TOOLS_NOT_CARRIED": ("keeps_pauses", False),
    "ERR_CONVERSATION_NOT_KEPT": ("keeps_conversation", False),
}
