"""
How long it takes from a body's bytes to a checked request.

    python benchmarks/read_body.py [--rounds N] [--json FILE]

Ours is the strict reading a host does: I-JSON, then the contract's check. It is
timed in turn with pydantic's reading of the same bytes into ag-ui-protocol's
models (which checks less: it takes duplicate names), and with two parsers that
check nothing. Ratios are taken round by round and the median is given, so that
a drifting machine does not decide. Then the time a message costs, from 10 to
100,000 messages.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from ag_ui.core import RunAgentInput

from hostproof.reference_impl.ijson import read_ijson
from hostproof.reference_impl.reader import read_run_input

if TYPE_CHECKING:
    from collections.abc import Callable

COMPARED = 1_000
SIZES = (10, 100, 1_000, 10_000, 100_000)
MIN_SECONDS = 0.05


def identifier(number: int) -> str:
    """Give the same UUID for the same number."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))


def message(at: int) -> dict[str, Any]:
    """Give one message: half are a user's, a quarter assistant calls, a quarter their results."""
    if at % 4 == 2:
        arguments = json.dumps({"order": at, "note": "as agreed"})
        function = {"name": "refund_order", "arguments": arguments}
        call = {"id": identifier(at), "type": "function", "function": function}
        return {"id": identifier(-at), "role": "assistant", "content": "", "toolCalls": [call]}
    if at % 4 == 3:
        content = f"order {at - 1} refunded"
        return {
            "id": identifier(-at),
            "role": "tool",
            "toolCallId": identifier(at - 1),
            "content": content,
        }
    text = f"Please look at order {at} and refund it.\nThank you."
    if at % 3 == 0:
        parts = [{"type": "text", "text": text}, {"type": "text", "text": "It came late."}]
        return {"id": identifier(-at), "role": "user", "content": parts}
    return {"id": identifier(-at), "role": "user", "content": text}


def body(messages: int) -> bytes:
    """Write a request of so many messages."""
    request = {
        "threadId": identifier(1),
        "runId": identifier(2),
        "protocolVersion": "1.0",
        "messages": [message(at) for at in range(messages)],
        "state": {"page": 3, "filter": "open"},
        "tools": [],
        "context": [{"description": "time zone", "value": "Europe/Paris"}],
        "forwardedProps": {},
    }
    return json.dumps(request).encode()


def seconds(read: Callable[[bytes], object], data: bytes) -> float:
    """
    Time one call, as the mean of enough calls to be measurable.

    The cycle collector is off meanwhile, as in ``timeit``: how often it runs
    depends on everything else the process holds, and it slows the models down
    about twice as much as it slows our reading.
    """
    calls = 0
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        while True:
            read(data)
            calls += 1
            spent = time.perf_counter() - start
            if spent >= MIN_SECONDS:
                return spent / calls
    finally:
        gc.enable()


READERS: dict[str, Callable[[bytes], object]] = {
    "hostproof, strict": lambda data: read_run_input(read_ijson(data)),
    "pydantic, RunAgentInput": RunAgentInput.model_validate_json,
    "orjson, parse alone": orjson.loads,
    "json, parse alone": json.loads,
}


def compare(rounds: int) -> list[dict[str, Any]]:
    """Time every reader in turn, round by round, at one size."""
    data = body(COMPARED)
    times: dict[str, list[float]] = {name: [] for name in READERS}
    for _ in range(rounds):
        for name, read in READERS.items():
            times[name].append(seconds(read, data))
    base = times["pydantic, RunAgentInput"]
    return [
        {
            "reader": name,
            "milliseconds": statistics.median(spent) * 1e3,
            "ratio": statistics.median(one / other for one, other in zip(spent, base, strict=True)),
        }
        for name, spent in times.items()
    ]


def grow(rounds: int) -> list[dict[str, Any]]:
    """Time our reading at every size."""
    read = READERS["hostproof, strict"]
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        data = body(size)
        spent = statistics.median(seconds(read, data) for _ in range(rounds))
        rows.append(
            {
                "messages": size,
                "bytes": len(data),
                "milliseconds": spent * 1e3,
                "microseconds_per_message": spent * 1e6 / size,
            }
        )
    return rows


def main() -> None:
    """Run both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="rounds per figure (default: 9)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    compared = compare(options.rounds)
    print(f"{COMPARED:,} messages, {len(body(COMPARED)):,} bytes (median of {options.rounds})")
    print(f"{'reader':26} {'ms':>8} {'to pydantic':>12}")
    for row in compared:
        print(f"{row['reader']:26} {row['milliseconds']:8.3f} {row['ratio']:12.2f}")
    print()
    grown = grow(options.rounds)
    print(f"{'messages':>9} {'bytes':>12} {'ms':>10} {'us/message':>11}")
    for row in grown:
        print(
            f"{row['messages']:9,} {row['bytes']:12,} {row['milliseconds']:10.3f}"
            f" {row['microseconds_per_message']:11.3f}"
        )
    if options.json is not None:
        figures = {"version": 1, "python": sys.version.split()[0], "compared": compared}
        options.json.write_text(json.dumps({**figures, "growth": grown}, indent=2) + "\n")


if __name__ == "__main__":
    main()
