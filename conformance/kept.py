"""
The store of cases that failed: one JSON file each, to be repeated later.

A body that cannot be typed into a shell lies beside its case, as raw bytes.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import secrets
from pathlib import Path
from typing import Final

from hostproof.conformance.checking import Problem
from hostproof.conformance.curl import needs_file
from hostproof.conformance.kept_case import (
    ID_FORM,
    KeptCase,
    KeptExchange,
    KeptRequest,
    from_document,
    kept_id,
    to_document,
)
from hostproof.reports.printable import printable

__all__ = [
    "CASES_FOLDER",
    "KeptCase",
    "KeptError",
    "KeptExchange",
    "KeptRequest",
    "body_file",
    "keep",
    "kept_id",
    "kept_ids",
    "load_case",
]

CASES_FOLDER: Final = Path(".hostproof/cases")
"""Where cases are kept unless another folder is given."""

_SHOWN_IDS: Final = 5


class KeptError(Exception):
    """A case cannot be kept or found; one line, with the way out."""

    def __str__(self) -> str:
        return printable(super().__str__())


def keep(case: KeptCase, folder: Path = CASES_FOLDER) -> Path:
    """
    Keep *case*, and give its file.

    A case of the same id is replaced, unless it holds more requests or
    exchanges, or says what the new one does not; then it stays. A file that
    cannot be read is set aside as ``<id>.json.broken``.

    Raises:
        KeptError: the folder cannot be written, the id is none, or a newer
            version of hostproof wrote the file that is there.
    """
    path = _file(case.id, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not _may_replace(path, case):
            return path
        for at, request in enumerate(case.requests):
            if needs_file(request.body):
                _write(_body_file(case.id, at, folder), request.body)
        text = json.dumps(to_document(case), indent=1)
        _write(path, text.encode("ascii") + b"\n")
    except OSError as error:
        raise KeptError(
            f"the case {case.id} cannot be kept in {folder}: {error.strerror}."
            " Choose a folder that can be written."
        ) from None
    return path


def _may_replace(path: Path, case: KeptCase) -> bool:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return True
    try:
        there = _read(content)
    except Problem as problem:
        if problem.key == ("version",):
            raise KeptError(
                f"{path} is of another version: {problem.text} Move it away, or update hostproof."
            ) from None
        path.replace(path.with_name(f"{path.name}.broken"))
        return True
    return all(new >= old for new, old in zip(_measure(case), _measure(there), strict=True))


def _measure(case: KeptCase) -> tuple[int, ...]:
    """Say how much a case holds, by what counts."""
    counts = (len(case.requests), len(case.exchanges))
    return (*counts, *(bool(text) for text in (case.expected, case.seen)))


def load_case(case_id: str, folder: Path = CASES_FOLDER) -> KeptCase:
    """
    Load the case *case_id*.

    Raises:
        KeptError: there is none, or its file is broken.
    """
    path = _file(case_id, folder)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise KeptError(_unknown(case_id, folder)) from None
    except OSError as error:
        raise KeptError(f"{path} cannot be read: {error.strerror}") from None
    try:
        case = _read(content)
        if case.id != case_id:
            raise Problem(("id",), "is not the name of the file")
    except Problem as problem:
        what = str(problem).rstrip(".")
        raise KeptError(
            f"{path} is broken: {what}. Delete it and run the rule again to keep it anew."
        ) from None
    return case


def kept_ids(folder: Path = CASES_FOLDER) -> tuple[str, ...]:
    """List the ids of the cases in *folder*, sorted; none where there is no folder."""
    with contextlib.suppress(OSError):
        return tuple(
            sorted(path.stem for path in folder.glob("*.json") if ID_FORM.fullmatch(path.stem))
        )
    return ()


def body_file(case: KeptCase, at: int, folder: Path = CASES_FOLDER) -> Path | None:
    """Say where the body of the request *at* lies as raw bytes; None if it can be typed."""
    return _body_file(case.id, at, folder) if needs_file(case.requests[at].body) else None


def _body_file(case_id: str, at: int, folder: Path) -> Path:
    return folder / f"{case_id}.{at}.body"


def _file(case_id: str, folder: Path) -> Path:
    if not ID_FORM.fullmatch(case_id):
        raise KeptError(
            f"{case_id[:60]!r} is no id of a case: letters, digits, dots, - and _, at most 100."
            f" {_known(folder, case_id)}"
        )
    return folder / f"{case_id}.json"


def _unknown(case_id: str, folder: Path) -> str:
    return f"no case {case_id} is kept in {folder}. {_known(folder, case_id)}"


def _known(folder: Path, case_id: str) -> str:
    known = kept_ids(folder)
    if not known:
        return f"No case is kept in {folder}: a run keeps those that fail."
    near = difflib.get_close_matches(case_id[:100], known, n=3, cutoff=0.5)
    if near:
        return f"Near it: {', '.join(near)}."
    more = len(known) - _SHOWN_IDS
    rest = f" and {more} more" if more > 0 else ""
    return f"There are {', '.join(known[:_SHOWN_IDS])}{rest}."


def _read(content: bytes) -> KeptCase:
    try:
        document = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Problem((), "it is no JSON") from None
    return from_document(document)


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
