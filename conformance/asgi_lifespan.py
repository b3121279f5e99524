"""The lifespan of an ASGI application in this process: started up once, shut down once."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

from hostproof.conformance.target import TargetError

if TYPE_CHECKING:
    from hostproof.conformance.asgi_app import AsgiApp, Message

_SHOWN: Final = 200
"""Characters that are shown of what an app says of its own failure: the last, its error."""


class Lifespan:
    """
    Keeps an app started. An app that knows no lifespan is fine.

    Args:
        app: to start.
        deadline_seconds: for the startup, and again for the shutdown.
    """

    def __init__(self, app: AsgiApp, deadline_seconds: float) -> None:
        self.state: dict[str, Any] = {}
        """What the app keeps for its requests; each of them gets a shallow copy."""
        self._app = app
        self._deadline_seconds = deadline_seconds
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        self._answered = asyncio.Event()
        self._answer: Message = {}
        self._task: asyncio.Task[None] | None = None

    async def start_up(self) -> None:
        """
        Start the app.

        Raises:
            TargetError: it says that its startup failed, or does not say anything in time.
        """
        self._task = task = asyncio.create_task(self._run())
        if not await self._ask("lifespan.startup", task):
            await self._cancel(task)
            raise TargetError(
                f"the app did not start within {self._deadline_seconds:g} s: see what its"
                " lifespan waits for"
            )
        if self._answer.get("type") == "lifespan.startup.failed":
            await self._cancel(task)
            why = ascii(str(self._answer.get("message", ""))[-_SHOWN:])
            raise TargetError(f"the app's startup failed, make it start by itself first: {why}")

    async def shut_down(self) -> None:
        """Shut the app down; one that does not end in time is cancelled."""
        task, self._task = self._task, None
        if task is None:
            return
        if not task.done() and await self._ask("lifespan.shutdown", task):
            await asyncio.wait({task}, timeout=self._deadline_seconds)
        await self._cancel(task)

    async def _run(self) -> None:
        scope = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": self.state,
        }
        # Whatever it raises says that it knows no lifespan, or that its own is over.
        with contextlib.suppress(Exception, BaseExceptionGroup, SystemExit):
            await self._app(scope, self._inbox.get, self._send)

    async def _send(self, message: Message) -> None:
        self._answer = message
        self._answered.set()

    async def _ask(self, question: str, task: asyncio.Task[None]) -> bool:
        """Put a message to the app; say whether it answered, or ended, in time."""
        self._answered.clear()
        self._inbox.put_nowait({"type": question})
        answered = asyncio.create_task(self._answered.wait())
        try:
            done, _ = await asyncio.wait(
                {answered, task},
                timeout=self._deadline_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            answered.cancel()
        return bool(done)

    async def _cancel(self, task: asyncio.Task[None]) -> None:
        """End the task; one that will not end is left behind."""
        task.cancel()
        await asyncio.wait({task}, timeout=self._deadline_seconds)
