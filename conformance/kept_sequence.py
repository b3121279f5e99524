"""
A failing sequence as it is kept: a JSON file of its steps, to be performed again as it is.

It lies in the folder of the kept cases; its id begins with ``sequence-``.
There are no ids, headers or bodies in it: a host gets fresh ones each time.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.conformance.kept import CASES_FOLDER, KeptError
from hostproof.conformance.kept_case import ID_FORM
from hostproof.conformance.replay import Replayed
from hostproof.conformance.sequence_run import perform
from hostproof.reference_impl.values import Json, Record, is_record, is_text
from hostproof.strategies.sequence_steps import steps_from_json, steps_to_json

if TYPE_CHECKING:
    from pathlib import Path

    from hostproof.conformance.sequence_report import Disagreement
    from hostproof.conformance.sequence_stand import Stand
    from hostproof.strategies.sequence_steps import Steps

FORMAT: Final = "hostproof-sequence"
VERSION: Final = 1
PREFIX: Final = "sequence-"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSequence:
    """
    A sequence that failed.

    Attributes:
        id: made from its steps.
        target: what was tested.
        created: when, RFC 3339 in UTC, ending in Z.
        seed: where it was drawn from, or ``None``.
        expected: what the host owed, in words.
        seen: what it did, in words.
        steps: the sequence.
    """

    id: str
    target: str
    created: str
    seed: int | None
    expected: str
    seen: str
    steps: Steps

    def to_json(self) -> Record:
        """Write it as it is kept."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "id": self.id,
            "target": self.target,
            "created": self.created,
            "seed": self.seed,
            "expected": self.expected,
            "seen": self.seen,
            "steps": steps_to_json(self.steps),
        }


def is_sequence_id(case_id: str) -> bool:
    """Say whether the id of a kept case is a sequence's."""
    return case_id.startswith(PREFIX)


def sequence_id(steps: Steps) -> str:
    """Make the id of a sequence; the same steps give the same id."""
    text = json.dumps(steps_to_json(steps), sort_keys=True)
    return PREFIX + hashlib.sha256(text.encode("ascii")).hexdigest()[:10]


def kept_of(
    failure: Disagreement, *, target: str, created: str, seed: int | None = None
) -> KeptSequence:
    """Make what is kept of a disagreement."""
    return KeptSequence(
        id=sequence_id(failure.steps),
        target=target,
        created=created,
        seed=seed,
        expected=failure.expected,
        seen=failure.seen,
        steps=failure.steps,
    )


def keep_sequence(kept: KeptSequence, folder: Path = CASES_FOLDER) -> Path:
    """
    Keep a sequence, and give its file.

    Raises:
        KeptError: the folder cannot be written.
    """
    path = folder / f"{kept.id}.json"
    draft = folder / f".{kept.id}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_text(json.dumps(kept.to_json(), indent=1) + "\n", encoding="ascii")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise KeptError(
            f"the sequence {kept.id} cannot be kept in {folder}: {error.strerror}."
            " Choose a folder that can be written."
        ) from None
    return path


def load_sequence(case_id: str, folder: Path = CASES_FOLDER) -> KeptSequence:
    """
    Load the sequence *case_id*.

    Raises:
        KeptError: there is none, or its file is broken.
    """
    if not is_sequence_id(case_id) or ID_FORM.fullmatch(case_id) is None:
        raise KeptError("that is no id of a sequence: it begins with sequence-.")
    path = folder / f"{case_id}.json"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise KeptError(f"no sequence {case_id} is kept in {folder}.") from None
    except OSError as error:
        raise KeptError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise KeptError(f"{path} is broken: it is no JSON.") from None
    try:
        return read_kept(document)
    except ValueError as error:
        raise KeptError(f"{path} is broken: {error}.") from None


def read_kept(document: Json) -> KeptSequence:
    """
    Read what was kept of a sequence.

    Raises:
        ValueError: it is none that this release can read.
    """
    if not is_record(document) or document.get("format") != FORMAT:
        raise ValueError("it is no kept sequence")
    if document.get("version") != VERSION:
        raise ValueError(f"it is of another version than {VERSION}: update hostproof")
    texts: dict[str, str] = {}
    for name in ("id", "target", "created", "expected", "seen"):
        if not is_text(document.get(name)):
            raise ValueError(f"{name} must be a text")
        texts[name] = document[name]
    seed = document.get("seed")
    if isinstance(seed, bool) or not isinstance(seed, int | None):
        raise ValueError("seed must be a whole number or null")  # noqa: TRY004 - as above
    return KeptSequence(seed=seed, steps=steps_from_json(document.get("steps")), **texts)


async def replay_sequence(kept: KeptSequence, stand: Stand) -> Replayed:
    """
    Perform a kept sequence again: fixed, still failing, or changed.

    Raises:
        BudgetSpentError: the profile's number of requests is used up.
        NoRestartError: it restarts the host, and this one cannot be restarted.
        UnfitHostError: the host cannot be compared with the model.
    """
    failure = await perform(kept.steps, stand)
    if failure is None:
        return Replayed(became="fixed", seen="every step did what it must")
    same = (failure.expected, failure.seen) == (kept.expected, kept.seen)
    return Replayed(became="still failing" if same else "changed", seen=failure.seen)
