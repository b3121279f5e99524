"""
Changes that a host of AG-UI takes, and that only the specification speaks of.

Unknown members at every depth, versions, metadata, media and encrypted values. What
the contract refuses all the same (media) carries the refusal that it owes.

Source: AG-UI 1.1, run-input, processing, versioning, metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostproof.strategies.changes import Change, EndpointName, Situation
from hostproof.strategies.edits import Edit, insert, put
from hostproof.strategies.plan_changes import FORM, LAST
from hostproof.strategies.wire_changes import WireChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostproof.reference_impl.values import Json

AREA: Final = "ag-ui"
MEDIA: Final = "ERR_MEDIA_NOT_CARRIED"

NEWER_MINORS: Final = ("1.99", "1.10")
OTHER_MAJORS: Final = ("2.0", "0.9")
UNREADABLE: Final = ("x", "1.1.0")
"""Versions of a client: later ones of the same line, other lines, and what is no version."""

ODD_METADATA: Final[Json] = {"": None, "x y.{canary}": [None], "__proto__": {"{canary}": 1}}


def _taken(
    name: str,
    *edits: Edit,
    situation: Situation = "fresh",
    endpoint: EndpointName = "main",
) -> Change:
    return Change(
        id=name, area=AREA, code=None, edits=edits, situation=situation, endpoint=endpoint
    )


def _versions() -> Iterator[Change]:
    for version in ("1.1", *NEWER_MINORS, *OTHER_MAJORS, *UNREADABLE):
        yield _taken(f"version-{version}", put("/protocolVersion", version))


def _unknown_members() -> Iterator[Change]:
    name, value = "x-{canary}", {"{canary}": [None, 1e300]}
    part: Json = {"type": "text", "text": "{plain}", name: value}
    yield _taken("member-of-a-part", put("/messages/{last}/content", [part]))
    yield _taken("member-of-a-tool", put("/tools", [{**FORM, name: value}]))
    entry: Json = {"description": "page", "value": "{canary}", name: value}
    yield _taken("member-of-a-context-entry", put("/context", [entry]), endpoint="carrying")
    yield _taken("member-of-a-resume-entry", put(f"/resume/0/{name}", value), situation="question")


def _metadata() -> Iterator[Change]:
    yield _taken("metadata-of-a-message", put("/messages/{last}/metadata", ODD_METADATA))
    yield _taken("metadata-of-a-tool", put("/tools", [{**FORM, "metadata": ODD_METADATA}]))
    yield _taken(
        "metadata-of-a-resume-entry",
        put("/resume/0/metadata", ODD_METADATA),
        situation="question",
    )


def _carried() -> Iterator[Change]:
    state: Json = {"page": "{canary}", "nothing": None}
    yield _taken("state-with-a-null", put("/state", state), endpoint="carrying")
    context: Json = [{"description": "page", "value": "{canary}"}]
    yield _taken(
        "context-repeated",
        put("/context", context),
        put("/messages/{last}/content", "{repeat}"),
        endpoint="carrying",
    )


def _encrypted() -> Iterator[Change]:
    thought: Json = {"id": "m-0", "role": "reasoning", "content": "Hm.", "encryptedValue": "eHg="}
    typed: Json = {**thought, "encryptedValueType": "example.{canary}"}
    yield _taken("encrypted-value", insert("/messages/0", thought))
    yield _taken("encrypted-value-of-a-type", insert("/messages/0", typed))


def _media() -> Iterator[Change]:
    handle: Json = {"type": "file", "value": "{canary}", "provider": "hostproof"}
    url: Json = {"type": "url", "value": "https://{canary}.example/", "mimeType": "image/png"}
    text: Json = {"type": "text", "text": "Look {canary}"}
    edit = put("/messages/{last}/content", [text, {"type": "image", "source": handle}])
    yield Change(id="part-file-handle", area=MEDIA, code=MEDIA, field=LAST, edits=(edit,))
    edit = put("/messages/{last}/content", [{"type": "image", "source": url}])
    yield Change(
        id="result-of-one-image",
        area=MEDIA,
        code=MEDIA,
        field=LAST,
        edits=(edit,),
        situation="client-call",
    )


AG_UI_CHANGES: Final[tuple[Change, ...]] = (
    *_versions(),
    *_unknown_members(),
    *_metadata(),
    *_carried(),
    *_encrypted(),
    *_media(),
)
"""Every change to a body's value that AG-UI alone speaks of."""

AG_UI_WIRE_CHANGES: Final[tuple[WireChange, ...]] = (
    WireChange(id="last-event-id", code=None, headers={"last-event-id": "1"}),
    WireChange(
        id="accept-no-protobuf",
        code=None,
        headers={"accept": "text/event-stream, application/vnd.ag-ui.event+proto;q=0"},
    ),
)
"""Every change below it: headers that must change nothing."""
