"""
What the model reads as the result of a call that did not run, and how it is told apart.

The contract tells such results by how they begin. A trail reads the
contract's own beginnings and ours as not ok.

Source: contract, "Check-in" (docs/contract.md).
"""

from __future__ import annotations

from typing import Final

DECLINED: Final = "Not run: a person declined this call"
"""A person said no. A note follows after ``": "``."""

DENIED: Final = "Not run: this caller may not make this call"
"""The permission check, which comes before any ask, said no."""

CREDENTIAL_FAILED: Final = "Not run: the credential for this call could not be had"
"""The credential's provider failed or refused."""

CREDENTIAL_CONSENT: Final = "Not run: the credential's provider needs consent first"
"""The credential's provider has to be asked for consent before the call can run."""

CLOSED: Final = "Not run: this call was closed without an answer"
"""The host closed the pause, and the call can never run."""

NOT_REACHED: Final = "Not run: an earlier call of this turn did not come to its end"
"""A call behind one whose outcome is not known."""

OUTCOME_UNKNOWN: Final = "Outcome not known: this call may or may not have run"
"""The process ended between the spend and the end of the run."""

NOT_RUN: Final = (
    DECLINED,
    DENIED,
    CREDENTIAL_FAILED,
    CREDENTIAL_CONSENT,
    CLOSED,
    NOT_REACHED,
)
"""Every text of ours that says that a call did not run."""

CONTRACT_BEGINNINGS: Final = (
    "[permission denied",
    "declined by human",
    "credential error",
    "authorization required",
)
"""How the contract's texts for a call that did not run begin, in lower case."""

_BEGINNINGS: Final = (
    *CONTRACT_BEGINNINGS,
    *(text.lower() for text in NOT_RUN),
)


def reads_as_not_run(content: str) -> bool:
    """
    Say whether a tool result begins as that of a call that did not run.

    Letter case does not count; white space in front does, so a padded text is ok.
    """
    return content.lower().startswith(_BEGINNINGS)
