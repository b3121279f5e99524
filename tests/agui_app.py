"""Small AG-UI hosts for tests: one that is right as far as it goes, one that breaks, one slow."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

RUNS: list[str] = []
"""The run ids that were asked for, in order."""


def _stream(*events: dict[str, object]) -> Response:
    async def data():
        for event in events:
            yield f"data: {json.dumps(event)}\n\n"

    return StreamingResponse(data(), media_type="text/event-stream")


def _host(*, breaks: bool = False, seconds: float = 0.0) -> Starlette:
    async def run(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
            ids = {"threadId": body["threadId"], "runId": body["runId"]}
            text = body["messages"][-1]["content"]
            if not all(isinstance(value, str) for value in (*ids.values(), text)):
                raise TypeError
        except TypeError:
            return Response("oh", 500) if breaks else JSONResponse({"detail": "no"}, 422)
        except (ValueError, KeyError, IndexError, RecursionError):
            return JSONResponse({"detail": "no"}, 422)
        RUNS.append(body["runId"])
        await asyncio.sleep(seconds)
        started = {"type": "RUN_STARTED", **ids}
        if " fail " in text:
            return _stream(started, {"type": "RUN_ERROR", "message": "It failed."})
        return _stream(started, {"type": "RUN_FINISHED", **ids})

    return Starlette(routes=[Route("/agui", run, methods=["POST"])])


app = _host()
faulty = _host(breaks=True)
slow = _host(seconds=0.05)
