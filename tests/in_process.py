"""The reference host on a file, in this process: asked without a wire, and started anew."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from hostproof.conformance.asgi_target import AsgiTarget
from hostproof.conformance.exchange import Exchange, Request
from hostproof.reference_impl.agui_host import usual_pausing
from hostproof.reference_impl.embedded import LOOK_INSIDE, build_host
from tests.talk import LIMITS, Talk

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from hostproof.reference_impl.embedded import Fault
    from hostproof.reference_impl.values import Json

TOKENS = {"alice": "token-of-alice", "bob": "token-of-bob", LOOK_INSIDE: "token-of-inspector"}
TALK = Talk(TOKENS)


class InProcess:
    """A host; :meth:`restart` is what a new process would find."""

    def __init__(self, path: Path | str, fault: Fault | None = None):
        self.path: Any = path
        self.fault = fault
        self._start()

    def _start(self) -> None:
        self.host = build_host(
            tokens=TOKENS, database=str(self.path), inspect=True, fault=self.fault
        )
        self.pausing = usual_pausing(self.host.parts)
        self.target = AsgiTarget(self.host.app)

    async def aclose(self) -> None:
        await self.target.aclose()
        self.host.close()

    async def restart(self) -> None:
        await self.aclose()
        self._start()

    async def send(self, request: Request) -> Exchange:
        return await self.target.send(request, LIMITS)

    async def pause(self, cue: str, thread: str = "t1", nonce: str = "n1") -> str:
        return await TALK.pause(self.target, thread, cue, nonce)

    async def observe(self, thread: str = "t1") -> Json:
        query = f"?caller=alice&thread={thread}"
        exchange = await self.send(_inside("GET", f"/hostproof/observation{query}"))
        assert exchange.status == 200, exchange
        return exchange.json

    async def control(self, command: str, thread: str = "t1") -> bool:
        body = {"command": command, "caller": "alice", "thread": thread}
        exchange = await self.send(_inside("POST", "/hostproof/control", body))
        assert exchange.status == 200, exchange
        return exchange.json["done"] is True


def _inside(method: str, path: str, body: Json = None) -> Request:
    return Request(
        method=method,
        path=path,
        headers=(("authorization", f"Bearer {TOKENS[LOOK_INSIDE]}"),),
        body=b"" if body is None else json.dumps(body).encode("ascii"),
    )


def with_host(
    work: Callable[[InProcess], Awaitable[None]], path: Path | str, fault: Fault | None = None
) -> None:
    """Do some work with a host."""

    async def inside() -> None:
        host = InProcess(path, fault)
        try:
            await work(host)
        finally:
            await host.aclose()

    asyncio.run(inside())
