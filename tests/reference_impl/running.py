"""The reference host served for a test, and asked as a page would ask it."""

from __future__ import annotations

import itertools
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from hostproof.reference_impl.cues import cue_text
from hostproof.reference_impl.embedded import EmbeddedHost, build_host
from hostproof.reference_impl.serving import served

if TYPE_CHECKING:
    from collections.abc import Iterator

MAIN, CARRYING, STATELESS = "/agui", "/agui/carrying", "/agui/stateless"
FORM = {"name": "show_form", "description": "A form.", "parameters": {"type": "object"}}
_NUMBERS = itertools.count()


def fresh(prefix: str) -> str:
    return f"{prefix}-{next(_NUMBERS)}"


def message(text: str, message_id: str | None = None) -> dict[str, Any]:
    return {"id": message_id or fresh("message"), "role": "user", "content": text}


def body(thread: str, *messages: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"threadId": thread, "runId": fresh("run"), "messages": list(messages), **members}


def events_of(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = response.text.split("\n\n")
    assert blocks.pop() == ""
    assert all(block.startswith("data: ") for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


@dataclass
class Running:
    url: str
    host: EmbeddedHost
    client: httpx.Client = field(repr=False)

    def headers(self, caller: str | None = "alice") -> dict[str, str]:
        return {} if caller is None else {"authorization": f"Bearer {self.host.tokens[caller]}"}

    def post(
        self, sent: Any, caller: str | None = "alice", path: str = MAIN, **headers: str
    ) -> httpx.Response:
        content = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        given = {"content-type": "application/json", **self.headers(caller)}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(self.url + path, content=content, headers=given | named)

    def run(self, sent: Any, caller: str = "alice", path: str = MAIN) -> list[dict[str, Any]]:
        return events_of(self.post(sent, caller, path))

    def say(
        self,
        cue: str,
        thread: str,
        nonce: str = "n1",
        *,
        caller: str = "alice",
        path: str = MAIN,
        **members: Any,
    ) -> list[dict[str, Any]]:
        return self.run(body(thread, message(cue_text(cue, nonce)), **members), caller, path)

    def refused(self, sent: Any, caller: str | None = "alice", path: str = MAIN, **headers: str):
        """Give status, code and field of a refusal."""
        response = self.post(sent, caller, path, **headers)
        assert response.headers["content-type"] == "application/problem+json", response.text
        problem = response.json()
        assert problem["status"] == response.status_code
        return response.status_code, problem["code"], problem.get("field")

    def observed(self, thread: str, caller: str = "alice") -> dict[str, Any]:
        response = self.client.get(
            f"{self.url}/hostproof/observation",
            params={"caller": caller, "thread": thread},
            headers=self.headers("inspector"),
        )
        assert response.status_code == 200
        found: dict[str, Any] = response.json()
        return found

    def command(self, command: str, thread: str, caller: str = "alice") -> Any:
        sent = {"command": command, "caller": caller, "thread": thread}
        response = self.client.post(
            f"{self.url}/hostproof/control", json=sent, headers=self.headers("inspector")
        )
        assert response.status_code == 200
        return response.json()


@contextmanager
def running(**options: Any) -> Iterator[Running]:
    host = build_host(**options)
    try:
        with (
            served(host.app) as url,
            httpx.Client(trust_env=False, timeout=10, follow_redirects=False) as client,
        ):
            yield Running(url, host, client)
    finally:
        host.close()
