"""
A host's words for yes and no: said in its profile, or made from what a pause asks for.

Source: docs/profile.md, "Pauses and answers"; AG-UI 1.0, patterns/interrupt-resume.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.values import Json, Missing, Record, is_record, is_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAIRS: Final[Mapping[str, str]] = {
    "approved": "rejected",
    "confirmed": "declined",
    "accepted": "denied",
    "approve": "reject",
    "confirm": "decline",
    "accept": "deny",
    "allow": "deny",
    "yes": "no",
}
"""Words that say yes in hosts in use, the likelier first, and the no that goes with each."""

YES_WORDS: Final = tuple(PAIRS)
NO_WORDS: Final = tuple(dict.fromkeys(PAIRS.values()))
TEXT: Final = "hostproof"
"""What is said where any text will do."""

MOST_LEVELS: Final = 8
"""How deep a schema's alternatives are looked into."""


@dataclass(frozen=True, slots=True)
class Words:
    """What this host takes for a *yes* and a *no*."""

    yes: Json
    no: Json

    @property
    def key(self) -> str | None:
        """The one member that is true in the yes and is not in the no; ``None`` for others."""
        if not is_record(self.yes):
            return None
        no = self.no if is_record(self.no) else {}
        telling = [
            name for name, value in self.yes.items() if value is True and no.get(name) is not True
        ]
        return telling[0] if len(telling) == 1 else None


USUAL: Final = Words({"approved": True}, {"approved": False})
"""The words for a host that says nothing of them."""


def words_for(yes: Json | Missing, no: Json | Missing, schema: Json) -> Words:
    """
    Give the host's words for a question.

    Args:
        yes: the profile's, or ``MISSING``.
        no: the profile's, or ``MISSING``.
        schema: what the pause says an answer looks like.
    """
    made = made_from(schema)
    said = made.yes if isinstance(yes, Missing) else yes
    if not isinstance(no, Missing):
        return Words(said, no)
    return Words(said, made.no if said == made.yes else opposite(said))


def opposite(yes: Json) -> Json:
    """Turn a yes round: every true in it at any depth, and a word that has its no."""
    if is_record(yes):
        return {name: opposite(value) for name, value in yes.items()}
    if isinstance(yes, list):
        return [opposite(value) for value in yes]
    if isinstance(yes, str):
        return PAIRS.get(yes, yes)
    return False if yes is True else yes


def made_from(schema: Json) -> Words:
    """Make a yes and a no that a response schema takes; the usual ones where it says nothing."""
    return said_by(schema) or USUAL


def said_by(schema: Json, level: int = 0) -> Words | None:
    """
    Make the yes and the no that a response schema asks for; ``None`` where it does not tell.

    A boolean tells if it stands alone or has a name that says yes or no; a choice
    tells if it has a word for both. Any other boolean may mean anything
    ("remember"), and a guess would make a yes of a no.
    """
    if not is_record(schema) or level > MOST_LEVELS:
        return None
    found = _bare(schema) or _of_members(schema)
    alternatives = (schema.get(name) for name in ("anyOf", "oneOf", "allOf"))
    for listed in alternatives:
        for one in listed if isinstance(listed, list) else ():
            found = found or said_by(one, level + 1)
    return found


def _bare(schema: Record) -> Words | None:
    if _is_flag(schema):
        return Words(True, False)
    choices = schema.get("enum")
    if not isinstance(choices, list):
        return None
    yes = next((one for one in YES_WORDS if one in choices), None)
    if yes is None:
        return None
    no = next((one for one in (PAIRS[yes], *NO_WORDS) if one in choices), None)
    return None if no is None else Words(yes, no)


def _of_members(schema: Record) -> Words | None:
    members = schema.get("properties")
    if not is_record(members):
        return None
    for name, words in _telling(members):
        required = schema.get("required")
        named = [one for one in required if is_text(one)] if isinstance(required, list) else []
        rest = {one: _example(members.get(one)) for one in named if one != name}
        return Words({**rest, name: words.yes}, {**rest, name: words.no})
    return None


def _telling(members: Record) -> Iterator[tuple[str, Words]]:
    """Give the members that tell a yes from a no, the surest first."""
    flags = [name for name, one in members.items() if is_record(one) and _is_flag(one)]
    yield from ((name, Words(True, False)) for name in YES_WORDS if name in flags)
    for name, one in members.items():
        words = _bare(one) if is_record(one) and name not in flags else None
        if words is not None:
            yield name, words
    yield from ((name, Words(False, True)) for name in NO_WORDS if name in flags)
    if len(members) == 1 and flags:
        yield flags[0], Words(True, False)


def _is_flag(schema: Record) -> bool:
    return "boolean" in _kinds(schema)


def _kinds(schema: Record) -> list[str]:
    kinds = schema.get("type")
    return [one for one in (kinds if isinstance(kinds, list) else [kinds]) if is_text(one)]


def _example(schema: Json) -> Json:
    """Give a value that a simple schema takes."""
    if not is_record(schema):
        return TEXT
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    examples: dict[str, Json] = {
        "number": schema.get("minimum", 0),
        "integer": schema.get("minimum", 0),
        "boolean": False,
        "array": [],
        "object": {},
        "null": None,
        "string": TEXT,
    }
    return next((examples[kind] for kind in _kinds(schema) if kind in examples), TEXT)
