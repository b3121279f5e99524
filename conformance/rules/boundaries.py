"""
Rules of the set ``safety`` on what stays apart: one caller from another, the host from the network.

Source: safety, "Whose a thread is" and "What a page names is not fetched" (docs/safety.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hostproof.conformance import sharing_faults as faults
from hostproof.conformance.inside_reading import holds
from hostproof.conformance.outcome import Accepted, outcome_of
from hostproof.conformance.rule import Breach, Fault, Unseen
from hostproof.conformance.rules.model_requests import inside_rule
from hostproof.strategies.inside_changes import FETCHED
from hostproof.strategies.shared_threads import SHARED

if TYPE_CHECKING:
    from hostproof.conformance.recording import Recording


def keeps_callers_apart(recording: Recording) -> Breach | Unseen | None:
    """Demand that what one caller left on a thread reaches no other, nor is added to by one."""
    shared, canary = recording.shared, recording.case.canary
    if shared is None:
        return None
    if any(canary in exchange.text for exchange in recording.changed):
        return _mixed("what another caller said, in the answer", "the answer's body")
    if any(holds(request, canary) for request in shared.requests):
        return _mixed("what two callers said, in one request to the model", "modelRequests")
    if holds(list(shared.stored), shared.mark):
        return _mixed("another caller's message on the thread", "messages")
    ran = any(isinstance(outcome_of(one), Accepted) for one in recording.changed)
    if ran and not shared.requests:
        return Unseen("an observation with modelRequests: declare observation")
    return None


def _mixed(seen: str, place: str) -> Breach:
    return Breach(expected="a thread that is one caller's alone", seen=seen, place=place)


def fetches_nothing(recording: Recording) -> Breach | None:
    """Demand that nothing was fetched from the URLs of a page's parts."""
    if not recording.fetched:
        return None
    return Breach(
        expected="no request to an address of this machine that a page names",
        seen="a request to it",
        place="the network",
    )


RULES = (
    inside_rule(
        "thread.bound-to-its-caller",
        "Give nothing of a thread to another caller who names its id, and take nothing into it.",
        keeps_callers_apart,
        (
            Fault(
                name="host-shares-threads-between-callers",
                build=faults.shares_threads,
                shows_in=frozenset({"thread-of-another-caller"}),
            ),
            Fault(
                name="host-shows-state-to-whoever-names-the-thread",
                build=faults.shows_state_to_anyone,
                shows_in=frozenset({"state-of-another-caller-carrying"}),
            ),
            Fault(
                name="host-shares-the-empty-thread",
                build=faults.shares_the_empty_thread,
                shows_in=frozenset({"empty-thread-of-two-callers"}),
            ),
        ),
        lambda case: case.area == SHARED,
        clause="Whose a thread is",
        cwe=639,
    ),
    inside_rule(
        "page.urls-stay-unfetched",
        "Fetch no URL of a page's that leads into the host's own machine.",
        fetches_nothing,
        (Fault(name="host-fetches-a-pages-urls", build=faults.fetches_urls),),
        lambda case: case.area == FETCHED,
        clause="What a page names is not fetched",
        severity="high",
        cwe=918,
    ),
)
