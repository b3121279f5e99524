"""
A case that failed, as it is kept: what was sent and what came back, without secrets.

The format is kept by ``kept.schema.json``, member by member as here; bodies of
requests are base64 there.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from hostproof.conformance.checking import Problem, check, plain_value

if TYPE_CHECKING:
    from hostproof.conformance.exchange import End, Exchange, Headers, Request
    from hostproof.conformance.redaction import Redactor
    from hostproof.reference_impl.values import Json, Record

VERSION: Final = 1
SCHEMA: Final = "kept.schema.json"

ID_FORM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""What an id looks like; it is the name of a file, too."""

MAX_BODY: Final = 4000
"""How many characters of a response's body are kept."""

MAX_EVENTS: Final = 200
"""Of how many events the types are kept."""

Mode: TypeAlias = Literal["gate", "fuzz"]
"""Fixed cases, or drawn ones."""

_NO_ID: Final = re.compile(r"[^A-Za-z0-9._-]+")


def kept_id(rule: str, case: str, body: bytes) -> str:
    """
    Make the id under which a case is kept: the rule's, and what tells its cases apart.

    The same arguments give the same id, on every machine. A *body* with fresh
    thread and run ids gives a fresh id each time: give it as it was before
    them, if a failure shall keep its id from run to run.
    """
    digest = hashlib.sha256()
    for part in (
        rule.encode("utf-8", "surrogatepass"),
        case.encode("utf-8", "surrogatepass"),
        body,
    ):
        digest.update(len(part).to_bytes(8, "big") + part)
    word = _NO_ID.sub("-", rule).strip("._-")[:40].rstrip("._-") or "case"
    return f"{word}-{digest.hexdigest()[:10]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRequest:
    """
    A request that was sent.

    Attributes:
        method: its method.
        path: as a ``Request`` has it.
        headers: redacted; ``Redactor.restored`` puts the callers' values back.
        body: its exact bytes, unless a secret was in them.
    """

    method: str
    path: str
    headers: Headers
    body: bytes

    @classmethod
    def of(cls, request: Request, redactor: Redactor) -> KeptRequest:
        """Take a request, without secrets."""
        return cls(
            method=request.method,
            path=redactor.text(request.path),
            headers=redactor.headers(request.headers),
            body=redactor.data(request.body),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptExchange:
    """
    What came back for a request, in short.

    Attributes:
        status: the HTTP status, or None.
        end: how it ended.
        detail: a sentence of ours on the end, or "".
        seconds: how long it took.
        headers: of the response, redacted.
        events: the types of the first ``MAX_EVENTS`` events.
        body: its first ``MAX_BODY`` characters, redacted.
        body_bytes: how long it was.
    """

    status: int | None
    end: End
    detail: str
    seconds: float
    headers: Headers
    events: tuple[str, ...]
    body: str
    body_bytes: int

    @classmethod
    def of(cls, exchange: Exchange, redactor: Redactor) -> KeptExchange:
        """Take an exchange, without secrets."""
        return cls(
            status=exchange.status,
            end=exchange.end,
            detail=redactor.text(exchange.detail),
            seconds=round(exchange.seconds, 3),
            headers=redactor.headers(exchange.headers),
            events=tuple(redactor.text(event.type) for event in exchange.events[:MAX_EVENTS]),
            body=redactor.text(exchange.text)[:MAX_BODY],
            body_bytes=len(exchange.body),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCase:
    """
    A case that failed.

    Attributes:
        id: as :func:`kept_id` makes it.
        rule: the id of the rule.
        case: the case's name within the rule.
        mode: how it was found.
        seed: what random choices came from, or None.
        target: what was tested, without secrets.
        endpoint: which of its agents.
        created: when, RFC 3339 in UTC, ending in Z.
        expected: what the host owed, in words.
        seen: what it did, in words.
        requests: what was sent, in order.
        exchanges: what came back, in the order of the requests; perhaps fewer.
        version: of the format.
    """

    id: str
    rule: str
    case: str
    mode: Mode
    seed: int | None
    target: str
    endpoint: str
    created: str
    expected: str
    seen: str
    requests: tuple[KeptRequest, ...]
    exchanges: tuple[KeptExchange, ...] = ()
    version: int = VERSION


def to_document(case: KeptCase) -> Record:
    """Write a case as a JSON object of the format."""
    document = asdict(case)
    for request in document["requests"]:
        request["body"] = base64.b64encode(request["body"]).decode("ascii")
    plain: Record = plain_value(document)
    return plain


def from_document(document: Json) -> KeptCase:
    """
    Read a case from a JSON object of the format.

    Raises:
        Problem: it is none; where and why.
    """
    given = plain_value(document)
    check(given, SCHEMA)
    requests = tuple(_request(one, at) for at, one in enumerate(given["requests"]))
    exchanges = tuple(
        KeptExchange(**one | {"headers": _headers(one["headers"]), "events": tuple(one["events"])})
        for one in given["exchanges"]
    )
    return KeptCase(**given | {"requests": requests, "exchanges": exchanges})


def _request(given: Record, at: int) -> KeptRequest:
    try:
        body = base64.b64decode(given["body"].encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise Problem(("requests", at, "body"), "is no base64. Its body, in base64.") from None
    return KeptRequest(**given | {"headers": _headers(given["headers"]), "body": body})


def _headers(given: list[list[str]]) -> Headers:
    return tuple((name, value) for name, value in given)
