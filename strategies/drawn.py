"""
A drawn case: what was drawn, what it owes, and how its bytes are written.

It holds slots where only the sender knows what stands there, so the same case
can be sent again on another thread; with the same fillings its bytes are the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from hostproof.strategies.edits import filled
from hostproof.strategies.wire_changes import WireChange, changed_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.reference_impl.values import Json
    from hostproof.strategies.changes import EndpointName, Situation

Kind = Literal["valid", "accepted", "changed", "several", "wire", "bytes", "shape"]
"""
How a case was made: a valid body; one accepted change; one hostile change;
several at once; one change below the JSON value; bytes damaged at random; a
JSON value of any shape.
"""

BRACE: Final[Mapping[str, str]] = {"brace": "{"}
"""The slot that strategies write for a brace of their own."""

ByteOpName = Literal["flip", "put", "insert", "remove", "cut", "repeat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteOp:
    """
    One random change to a text's bytes; places are taken modulo its length.

    Attributes:
        op: ``flip`` bits of one byte, ``put`` bytes over others, ``insert`` some,
            ``remove`` some, ``cut`` the rest off, ``repeat`` a piece elsewhere.
        at: where.
        count: how many bytes are removed or repeated.
        to: where a piece is repeated.
        data: bytes to put or insert; the first is the mask of a flip.
    """

    op: ByteOpName
    at: int
    count: int = 1
    to: int = 0
    data: bytes = b"\x01"

    def applied(self, text: bytes) -> bytes:
        """Make the change; nothing to change stays nothing, but for an insertion."""
        at = self.at % (len(text) + 1)
        if self.op == "insert":
            return text[:at] + self.data + text[at:]
        if self.op == "cut":
            return text[:at]
        if not text:
            return text
        at = self.at % len(text)
        if self.op == "flip":
            return text[:at] + bytes([text[at] ^ self.data[0]]) + text[at + 1 :]
        if self.op == "put":
            return text[:at] + self.data + text[at + len(self.data) :]
        if self.op == "remove":
            return text[:at] + text[at + self.count :]
        piece = text[at : at + self.count]
        to = self.to % len(text)
        return text[:to] + piece + text[to:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """
    What a case owes by construction.

    Attributes:
        code: the refusal's code; ``None`` where it is to be accepted.
        field: the member that refusal names, or ``None``.
    """

    code: str | None
    field: str | None = None


ACCEPTED: Final = Expectation(code=None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DrawnCase:
    """
    One drawn case.

    Attributes:
        kind: how it was made.
        changes: names of the changes in it, in the order in which they were made.
        area: what it is about, as the tables say; "" where nothing is owed by construction.
        endpoint: which agent it is sent to.
        situation: where the thread stands before it.
        body: its JSON value, with slots.
        owed: what it owes by construction; ``None`` where several faults may
            meet and only the reference can say.
        is_ascii: whether its text is written in ASCII, or in UTF-8 as it is.
        wire: a change below the JSON value, or ``None``.
        ops: random changes to its bytes.
    """

    kind: Kind
    changes: tuple[str, ...] = ()
    area: str = ""
    endpoint: EndpointName = "main"
    situation: Situation = "fresh"
    body: Json
    owed: Expectation | None = None
    is_ascii: bool = True
    wire: WireChange | None = None
    ops: tuple[ByteOp, ...] = ()

    @property
    def name(self) -> str:
        """A stable name: the change's own where there is one, else how it was made."""
        return "+".join(self.changes) if self.changes else self.kind

    def text(self, slots: Mapping[str, str]) -> bytes:
        """
        Write its exact bytes.

        Raises:
            KeyError: a slot has no filling.
        """
        text = body_text(filled(self.body, {**slots, **BRACE}), is_ascii=self.is_ascii)
        if self.wire is not None:
            text = changed_text(text, self.wire)
        for op in self.ops:
            text = op.applied(text)
        return text

    def __repr__(self) -> str:
        if self.owed is None:
            owes = "what the reference says"
        elif self.owed.code is None:
            owes = "a run"
        else:
            owes = self.owed.code + (f" at {self.owed.field}" if self.owed.field else "")
        ops = f", then {list(self.ops)}" if self.ops else ""
        encoding = "" if self.is_ascii else " in UTF-8"
        return (
            f"<{self.kind} {self.name!r} to {self.endpoint}, {self.situation}, owes {owes}: "
            f"{body_text(self.body).decode('ascii')}{encoding}{ops}>"
        )


def body_text(body: Json, *, is_ascii: bool = True) -> bytes:
    """Write a body compactly, names in order."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=is_ascii, allow_nan=False)
    return text.encode("utf-8")
