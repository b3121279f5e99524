"""The golden vectors: facts about the contract, one JSON object a line (tests/vectors)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from hostproof.reference_impl.js_json import decode_numbers, parse

FOLDER = Path(__file__).parent / "vectors"
AREAS = ("answer", "checkin", "elicitation", "plan", "reader", "suspension")


@dataclass(frozen=True)
class Vector:
    """One fact: these arguments to this function of the contract give this."""

    id: str
    fn: str
    expect: dict[str, Any]
    tags: tuple[str, ...]
    note: str
    detail: dict[str, Any] | None
    line: dict[str, Any]
    """The line as it is written, for those who send it on."""

    @cached_property
    def args(self) -> tuple[Any, ...]:
        """
        The arguments as values.

        Raises:
            ValueError: an argument is given as text, and the text is no JSON.
        """
        return tuple(_argument(argument) for argument in self.line["args"])

    def __str__(self) -> str:
        return self.id


@cache
def area(name: str) -> tuple[Vector, ...]:
    """Read every vector of one area."""
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return tuple(_vector(parse(line)) for line in text.split("\n") if line)


def vectors(name: str, *functions: str) -> list[Vector]:
    """Choose the vectors of one area that are about these functions of the contract."""
    chosen = [vector for vector in area(name) if vector.fn in functions]
    assert {vector.fn for vector in chosen} == set(functions)
    return chosen


def _vector(line: dict[str, Any]) -> Vector:
    return Vector(
        id=line["id"],
        fn=line["fn"],
        expect=decode_numbers(line["expect"]),
        tags=tuple(line["tags"]),
        note=line["note"],
        detail=line.get("detail"),
        line=line,
    )


def _argument(argument: Any) -> Any:
    if isinstance(argument, dict) and set(argument) == {"raw"}:
        return parse(argument["raw"])
    return decode_numbers(argument)


def exactly(value: Any) -> Any:
    """Spell *value* so that ``true`` differs from 1, and -0 from 0, while 1.0 equals 1."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, int | float):
        return ("number", repr(float(value)))
    if isinstance(value, dict):
        return {key: exactly(member) for key, member in value.items()}
    return [exactly(item) for item in value]
