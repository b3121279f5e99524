"""
What broke, in a result document: a finding, and the requests and replies that show it.

These are the innermost values of the document, member by member as in ``result.schema.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """
    The body of a request.

    Attributes:
        encoding: whether *data* is the body as text, or its bytes in base64.
        data: the body, or its beginning.
        size: the bytes of the whole body.
        cut: whether *data* is only the beginning.
    """

    encoding: Literal["text", "base64"]
    data: str
    size: int
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """One header of a request; a secret value is already replaced."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was sent, headers in order."""

    method: str
    url: str
    headers: tuple[Header, ...]
    body: Body | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """
    What came back.

    Attributes:
        status: the HTTP status, if one came.
        content_type: the Content-Type, if there was one.
        end: how the reply ended, in kebab-case: complete, or what went wrong.
        excerpt: the reply's beginning, at most 65536 characters, secrets and canaries removed.
    """

    status: int | None
    content_type: str | None
    end: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its reply."""

    request: Request
    response: Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    One case in which a rule broke.

    Attributes:
        replay: the id by which the suite repeats the case.
        case: what was done, in a few words.
        expected: what the host owed.
        seen: what it did.
        place: the field of the request or reply that it is about.
        body: the request's body, as small as it still breaks.
        curl: a curl command that sends the request, if one command can.
        exchanges: the requests and replies, in order.
        steady: false if the failure did not repeat.
        note: what else helps to understand it.
    """

    replay: str
    case: str
    expected: str
    seen: str
    place: str | None
    body: Body | None
    curl: str | None
    exchanges: tuple[Exchange, ...]
    steady: bool
    note: str | None
