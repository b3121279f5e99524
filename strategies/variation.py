"""
The changes of the tables with other values of the same kind in them.

A table holds one value of each kind that is wrong: one number, one text, one
list. Any other value of that kind is as wrong, as long as the kind is what is
wrong about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from hostproof.strategies.changes import WRONG, Change
from hostproof.strategies.edits import Edit
from hostproof.strategies.json_values import (
    CANARY,
    escaped,
    marked_texts,
    numbers,
    wrong_lists,
    wrong_objects,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from hostproof.reference_impl.values import Json

_RUN_IDS: Final = ("/threadId", "/runId", "/parentRunId")
_GOOD_IN_IDS: Final = "ABCXYZabcxyz0189._:-"


def bad_run_ids() -> SearchStrategy[str]:
    """Thread and run ids with one character that none may have."""
    bad = st.characters(codec="utf-8", exclude_categories=("L", "Nd")).filter(
        lambda character: character not in _GOOD_IN_IDS
    )
    tails = st.text(_GOOD_IN_IDS, max_size=4)
    return st.builds(lambda one, tail: CANARY + escaped(one) + tail, bad, tails)


def varied(change: Change) -> SearchStrategy[tuple[Edit, ...]]:
    """Edits of a hostile change, its own first, then with other values of the same kind."""
    if change.code is None:
        return st.just(change.edits)
    return st.tuples(*(_edit(edit) for edit in change.edits))


_OTHERS: Final[dict[str, SearchStrategy[Json]]] = {
    "true": st.booleans(),
    "number": numbers(),
    "text": marked_texts(),
    "list": wrong_lists(),
    "object": wrong_objects(),
}


def _edit(edit: Edit) -> SearchStrategy[Edit]:
    others = _others(edit)
    if others is None:
        return st.just(edit)
    return st.one_of(st.just(edit), others.map(lambda value: Edit(edit.op, edit.path, value)))


def _others(edit: Edit) -> SearchStrategy[Json] | None:
    """Give the values that are wrong in the same way, where there are others."""
    if edit.op == "remove":
        return None
    if edit.path in _RUN_IDS and isinstance(edit.value, str) and CANARY in edit.value:
        return bad_run_ids()
    for kind, value in WRONG.items():
        if kind in _OTHERS and type(edit.value) is type(value) and edit.value == value:
            return _OTHERS[kind]
    return None
