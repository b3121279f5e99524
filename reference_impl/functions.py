"""
The pure rules as a program: one JSON object a line in, one a line out.

    python -m hostproof.reference_impl.functions

It is the reference for implementations in other languages, and speaks the
protocol they are tested through. Answers come in the order of the lines, one
for every line. A line it cannot read, an op it does not know and an error the
contract does not name are answered with ``error``, and it goes on. It ends
with its input.

Source: contract, "Function program" (docs/contract.md).
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, BinaryIO, Final

from hostproof.reference_impl.function_ops import OPS
from hostproof.reference_impl.js_json import decode_numbers, encode_numbers, parse
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.values import Json, Record, is_record, is_text, json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

PROTOCOL_VERSION: Final = 1

USAGE: Final = """\
usage: python -m hostproof.reference_impl.functions

Answers one JSON object a line, for every line of standard input. For example:

  {"op": "start", "version": 1}
  {"seq": 1, "op": "read_request", "body": {"threadId": "t1"}}

docs/functions.md lists the ops and their members.
"""


def start(request: Record) -> Record:
    """Answer the opening line: who this is, and what it can do."""
    if request.get("version") != PROTOCOL_VERSION:
        return {"error": f"this program speaks version {PROTOCOL_VERSION} of the protocol"}
    return {
        "name": "hostproof",
        "language": f"Python {platform.python_version()}",
        "version": version("hostproof"),
        "ops": list(OPS),
    }


def answer(line: bytes) -> Record:
    """
    Answer one line. It never raises.

    Returns:
        ``ok``, ``refused`` or ``error`` beside the line's ``seq``; for the
        opening line, this program's name and ops.
    """
    try:
        request = decode_numbers(parse(line.decode("utf-8")))
    except (UnicodeDecodeError, ValueError):
        return {"seq": None, "error": "the line is no JSON text in UTF-8"}
    if not is_record(request):
        return {"seq": None, "error": "the line is no JSON object"}
    if request.get("op") == "start":
        return start(request)
    return {"seq": request.get("seq"), **_outcome(request)}


def _outcome(request: Record) -> Record:
    name = request.get("op")
    op = OPS.get(name) if is_text(name) else None
    if op is None:
        return {"error": f"no such op; these are known: start, {', '.join(OPS)}"}
    try:
        return {"ok": op(request)}
    except Refusal as refusal:
        return {"refused": _refused(refusal)}
    except Exception as error:  # noqa: BLE001 - the program goes on, whatever the rule raised
        return {"error": f"{type(error).__name__}: {error}"}


def _refused(refusal: Refusal) -> Record:
    field = ", ".join(refusal.properties) if refusal.properties else refusal.field
    refused: Record = {"code": refusal.code, "status": refusal.status, "field": field}
    if refusal.reason is not None:
        refused["reason"] = refusal.reason
    return refused


def run(lines: Iterable[bytes], output: BinaryIO) -> None:
    """Answer every line, each answer written out before the next line is read."""
    for line in lines:
        output.write(_written(answer(line.rstrip(b"\r\n"))))
        output.flush()


def _written(value: Json) -> bytes:
    return json_text(encode_numbers(value)).encode("utf-8") + b"\n"


def main() -> int:
    """Run the program on standard input and output, and give its exit code."""
    if len(sys.argv) > 1:
        sys.stdout.write(USAGE)
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    try:
        run(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
