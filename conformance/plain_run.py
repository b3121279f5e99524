"""
What a plain run shows of a target: an AG-UI host, or something else.

Source: docs/verdicts.md, "Exit codes".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.conformance.findings import shown_words
from hostproof.conformance.outcome import Broken, Refused, outcome_of
from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.redaction import Redactor

_HINTS: Final = {
    401: "declare callers with their headers",
    403: "declare callers with their headers",
    404: "check the path of the URL",
    405: "check the path of the URL",
    429: "it asks to slow down; try again later, or lower limits.concurrency",
}


def check_is_agui(exchange: Exchange, name: str, redactor: Redactor) -> None:
    """
    Tell a host that is none from one that is broken.

    Args:
        exchange: a plain run.
        name: what the host is called.
        redactor: keeps the callers' secrets out of what is said.

    Raises:
        TargetError: the plain run was refused before any stream, or answered by no stream
            or by no HTTP.
    """
    outcome = outcome_of(exchange)
    if isinstance(outcome, Broken) and outcome.kind == "no-stream":
        media_type = shown_words(exchange.content_type, redactor) or "no content type"
        raise TargetError(
            f"{name} answers a plain run with {media_type}, "
            "not with an event stream: is it the URL of an AG-UI endpoint?"
        )
    if isinstance(outcome, Broken) and outcome.kind == "not-http":
        raise TargetError(f"{name} answers with something that is no HTTP: is it the port?")
    if isinstance(outcome, Refused) and not outcome.in_stream:
        hint = _HINTS.get(outcome.status, "check the URL, and the profile's cues and callers")
        if 300 <= outcome.status <= 399:
            hint = "write the URL that it redirects to; a slash at the end may do"
        said = shown_words(outcome.describe(), redactor)
        raise TargetError(f"{name} refuses a plain run ({said}): {hint}.")
