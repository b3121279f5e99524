"""
How fast the gate is, beside a bare loop over the same HTTP library.

    python benchmarks/gate_speed.py [--rounds N] [--json FILE]

Each round serves the embedded host in a process of its own, runs the gate, and then sends
the very same bytes again: by a loop over httpx with as many workers, and by raw sockets
(for information: they check nothing and parse nothing).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.embedded_profile import embedded_profile
from hostproof.conformance.gate import Gate
from hostproof.conformance.last_byte import Racing
from hostproof.conformance.opened_host import Leave, opened_host

if TYPE_CHECKING:
    from hostproof.conformance.exchange import Exchange, Request
    from hostproof.conformance.host_under_test import HostUnderTest
    from hostproof.conformance.last_byte import LastByte
    from hostproof.conformance.profile import Profile
    from hostproof.conformance.target import Limits

SERVED = """
import sys
from hostproof.reference_impl.embedded import build_host
from hostproof.reference_impl.serving import served
import json, logging
logging.disable(logging.CRITICAL)
host = build_host(inspect=True)
with served(host.app) as url:
    print(json.dumps({"url": url, "tokens": dict(host.tokens)}), flush=True)
    sys.stdin.read()
"""


class Noting:
    """A target that notes every request and hands it on."""

    def __init__(self, host: HostUnderTest) -> None:
        self.inner = host.target
        self.sent: list[Request] = []

    async def send(self, request: Request, limits: Limits) -> Exchange:
        """Note, and hand on."""
        self.sent.append(request)
        return await self.inner.send(request, limits)

    async def send_held(self, request: Request, limits: Limits, last: LastByte) -> Exchange:
        """Note, and hand on."""
        assert isinstance(self.inner, Racing)
        self.sent.append(request)
        return await self.inner.send_held(request, limits, last)

    async def aclose(self) -> None:
        """Hand on."""
        await self.inner.aclose()

    def describe(self) -> str:
        """Hand on."""
        return self.inner.describe()


async def gate_round(profile: Profile, seed: str) -> tuple[float, list[Request]]:
    """Run the gate; give its wall time and what it sent."""
    async with opened_host(profile, Leave()) as host:
        noting = Noting(host)
        host.target = noting
        gate = Gate(host, list(all_rules().values()), seed)
        begun = time.perf_counter()
        await gate.perform()
        gate.verdicts()
        return time.perf_counter() - begun, noting.sent


async def loop_round(profile: Profile, requests: list[Request]) -> float:
    """Send the same requests by a bare loop over httpx."""
    base = httpx.URL(profile.target.url or "")
    waiting = list(reversed(requests))

    async def work(client: httpx.AsyncClient) -> None:
        while waiting:
            one = waiting.pop()
            url = base.copy_with(raw_path=(one.path or base.path).encode())
            await client.request(one.method, url, headers=list(one.headers), content=one.body)

    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        begun = time.perf_counter()
        await asyncio.gather(*(work(client) for _ in range(profile.limits.concurrency)))
        return time.perf_counter() - begun


async def socket_round(profile: Profile, requests: list[Request]) -> float:
    """Send the same requests on raw sockets, one connection each."""
    base = httpx.URL(profile.target.url or "")
    waiting = list(reversed(requests))

    async def work() -> None:
        while waiting:
            one = waiting.pop()
            lines = [f"{one.method} {one.path or base.path} HTTP/1.1", "host: localhost"]
            lines += [f"{name}: {value}" for name, value in one.headers]
            lines += [f"content-length: {len(one.body)}", "connection: close", "", ""]
            reader, writer = await asyncio.open_connection(base.host, base.port)
            try:
                writer.write("\r\n".join(lines).encode() + one.body)
                await reader.read(-1)
            except ConnectionError:
                pass  # refused before it was read whole
            finally:
                writer.close()

    begun = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(profile.limits.concurrency)))
    return time.perf_counter() - begun


def one_round(seed: str) -> dict[str, float]:
    """Serve the host, and time all three on it."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        served = json.loads(process.stdout.readline())
        profile = embedded_profile(served["url"], served["tokens"])
        gate, requests = asyncio.run(gate_round(profile, seed))
        loop = asyncio.run(loop_round(profile, requests))
        sockets = asyncio.run(socket_round(profile, requests))
        assert process.stdin is not None
        process.stdin.close()
    count = len(requests)
    return {
        "requests": count,
        "gate_seconds": gate,
        "gate_per_second": count / gate,
        "loop_per_second": count / loop,
        "sockets_per_second": count / sockets,
        "ratio": loop / gate,
    }


def main() -> None:
    """Run the rounds, and print their medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    rounds = [one_round(f"round {at}") for at in range(options.rounds)]
    medians: dict[str, Any] = {
        name: statistics.median(one[name] for one in rounds) for name in rounds[0]
    }
    print(f"{medians['requests']:.0f} requests, median of {options.rounds} rounds")
    print(f"{'wall time of the gate':28} {medians['gate_seconds']:9.2f} s")
    print(f"{'gate':28} {medians['gate_per_second']:9.0f} requests/s")
    print(f"{'bare loop over httpx':28} {medians['loop_per_second']:9.0f} requests/s")
    print(f"{'raw sockets':28} {medians['sockets_per_second']:9.0f} requests/s")
    print(f"{'gate to bare loop':28} {medians['ratio']:9.2f}")
    if options.json is not None:
        options.json.write_text(json.dumps({"version": 1, **medians}, indent=2) + "\n")


if __name__ == "__main__":
    main()
