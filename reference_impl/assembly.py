"""
Run the configured assembler and scorer; either may answer at once or be awaited.

Source: contract, "Check-in" (docs/contract.md).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hostproof.reference_impl.evidence import (
    begin_standard,
    finish_standard,
    lexical_driver_scorer,
    minimal_evidence,
)
from hostproof.reference_impl.evidence_types import (
    Assembler,
    Driver,
    Evidence,
    EvidenceInput,
    Scorer,
    ScorerInput,
)
from hostproof.reference_impl.values import MISSING, Json, is_record, is_text

Assembly: TypeAlias = Literal["standard", "minimal"] | Assembler
"""Which evidence is built: one of the two words, or a function of the host's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInConfig:
    """
    How evidence is built.

    Attributes:
        evidence: ``"standard"``, ``"minimal"`` or an assembler. A value that is
            none of them is kept, and fails when evidence is built.
        scorer: what ranks the drivers; kept likewise.
    """

    evidence: Assembly = "standard"
    scorer: Scorer = lexical_driver_scorer


DEFAULT: Final = CheckInConfig()
"""Standard evidence and the lexical scorer: no model, no network."""


def resolve_check_in_config(options: Json = MISSING) -> CheckInConfig:
    """
    Read a host's options: ``evidence`` and ``scorer``, each optional.

    Left off and ``None`` mean the default, and so do options that are no
    record. Any other value is kept as it is.

    Raises:
        ValueError: a ``scorer`` is named (``None`` too) beside minimal
            evidence, which never asks it: configured so, it would only look at work.

    Source: contract, "Check-in" (docs/contract.md).
    """
    if not is_record(options):
        return DEFAULT
    evidence = options.get("evidence", MISSING)
    scorer = options.get("scorer", MISSING)
    if scorer is not MISSING and is_text(evidence) and evidence == "minimal":
        raise ValueError(
            "check-in options: minimal evidence has no drivers, so its `scorer` would never be "
            'asked; leave the `scorer` off, or choose `evidence: "standard"`'
        )
    return CheckInConfig(
        evidence=DEFAULT.evidence if evidence is None or evidence is MISSING else evidence,
        scorer=DEFAULT.scorer if scorer is None or scorer is MISSING else scorer,
    )


async def assemble(config: CheckInConfig, given: EvidenceInput) -> Evidence:
    """
    Build the evidence for one ask.

    The input's cancel signal is handed on to the assembler and the scorer,
    which may heed it; it is not read here. What they raise passes through.

    Raises:
        TypeError: the configured evidence or scorer is no function, or the
            input is not as :func:`~hostproof.reference_impl.evidence.begin_standard` needs it.

    Source: contract, "Check-in" (docs/contract.md).
    """
    if config.evidence == "minimal":
        return minimal_evidence(given)
    if config.evidence == "standard":
        begun = begin_standard(given)
        asked = begun.scorer_input
        return finish_standard(begun, await score(config.scorer, asked) if asked else [])
    if not callable(config.evidence):
        raise TypeError('check-in evidence is "standard", "minimal" or an assembler')
    built = config.evidence(given, config.scorer)
    return await built if inspect.isawaitable(built) else built


async def score(scorer: Scorer, asked: ScorerInput) -> list[Driver]:
    """
    Ask a scorer, awaiting its answer where it has to be awaited.

    Raises:
        TypeError: *scorer* is no function. What it raises itself passes through.

    Source: contract, "Check-in" (docs/contract.md).
    """
    if not callable(scorer):
        raise TypeError("a check-in scorer must be a function")
    ranked = scorer(asked)
    return await ranked if inspect.isawaitable(ranked) else ranked
