"""
What a probe found, as values; and the words in which it is told.

Source: docs/profile.md, "Probe".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hostproof.conformance.outcome import Accepted
from hostproof.reference_impl.values import is_record, is_text

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.outcome import Outcome
    from hostproof.conformance.probe_answers import Answered, Trial
    from hostproof.conformance.profile_parts import HistoryMode
    from hostproof.conformance.style import AnswerStyle, PauseStyle

MOST_NAMES: Final = 6
_VERSION: Final = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}")


@dataclass(slots=True, kw_only=True)
class Findings:
    """
    What a probe found.

    Attributes:
        told: what is said of it, in order: a heading and a sentence.
        ag_ui: the version of AG-UI that a run declared, or "".
        history: who keeps the conversation; ``None`` where nothing shows it.
        pause: how it pauses, or ``None``.
        answer: how a pause is answered, or ``None``.
        by_schema: whether the yes is what the response schema asks for.
        stream: what only the result of a call that ran contains, or "".
        replays: whether an answer that was sent again ran again.
        client_tools: the page's tools that it calls.
        cues: what the cues are that do what their names say: another's name, or their own.
        left_out: what was seen of those that do not.
        likes: the presets that say the same.
        runs: how many were sent.
    """

    told: list[tuple[str, str]] = field(default_factory=list)
    ag_ui: str = ""
    history: HistoryMode | None = None
    pause: PauseStyle | None = None
    answer: AnswerStyle | None = None
    by_schema: bool = False
    stream: str = ""
    replays: bool = False
    client_tools: tuple[str, ...] = ()
    cues: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    likes: list[str] = field(default_factory=list)
    runs: int = 0


def declared_version(exchange: Exchange) -> str:
    """Read the version of AG-UI that a run declares; "" where it declares none."""
    for event in exchange.events:
        version = event.members.get("protocolVersion")
        if event.type == "RUN_STARTED" and is_text(version) and _VERSION.fullmatch(version):
            return version
    return ""


def outcome_text(outcome: Outcome) -> str:
    """Say what a run amounted to; of one that ended well no more than that."""
    is_well = isinstance(outcome, Accepted) and outcome.outcome == "success"
    return "accepted" if is_well else outcome.describe()


def glance_text(exchange: Exchange) -> str:
    """Say what a GET gave."""
    if exchange.status is None:
        return "no answer"
    document = exchange.json if exchange.status < 300 else None
    names = [name for name in document if name.isprintable()] if is_record(document) else []
    told = f" with {', '.join(names[:MOST_NAMES])}" if names else ""
    return f"{exchange.status}, {exchange.content_type or 'no content type'}{told}"


def plain_text(exchange: Exchange) -> str:
    """Say what a plain run that was accepted shows."""
    version = declared_version(exchange)
    claim = f"AG-UI {version} declared" if version else "no protocol version declared"
    kinds = {event.type for event in exchange.events}
    named = [kind for kind in ("MESSAGES_SNAPSHOT", "STATE_SNAPSHOT") if kind in kinds]
    return f"accepted, {claim}" + (f", with {' and '.join(named)}" if named else "")


def error_text(exchange: Exchange) -> str:
    """Give the host's own words for why a run failed, or ""."""
    errors = [e.members.get("message") for e in exchange.events if e.type == "RUN_ERROR"]
    return next((one for one in reversed(errors) if is_text(one)), "")


def sureness(answered: Answered) -> str:
    """Say how sure it is that this is the way to answer."""
    trial = answered.trial
    if trial.ran is None:
        told = "results" if trial.tells else "words"
        differ = "tell them apart" if answered.sound else "are the same after both"
        return f"by the stream alone: after a yes and a no, {told} {differ}; declare effects"
    if answered.sound:
        return "a yes ran the call once, a no ran nothing"
    return "a yes ran the call once" + (", and so did a no" if answered.no_ran else "")


def unanswered(trials: list[Trial]) -> str:
    """Say that no way to answer works, and what came of the likeliest."""
    first = trials[0]
    said = outcome_text(first.outcome) if first.outcome is not None else "not sent"
    return f"none of {len(trials)} ways ran the call once; {first.place.describe()} was {said}"
