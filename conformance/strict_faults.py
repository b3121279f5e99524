"""Faults of a host that is too strict: it refuses what is right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.reference_impl.http_request import Headers, check_media_type, header_values
from hostproof.reference_impl.refusals import malformed, refuse

if TYPE_CHECKING:
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.reader import ReaderRequest, RunInput


def strict_reader(parts: HostParts) -> HostParts:
    """Refuse null where a list may be null."""
    right = parts.read

    def read(request: ReaderRequest) -> RunInput:
        body = request.body
        if isinstance(body, dict) and None in (body.get("tools", []), body.get("context", [])):
            raise malformed("tools", "`tools` must be an array.")
        return right(request)

    return replace(parts, read=read)


def strict_media_type(parts: HostParts) -> HostParts:
    """Refuse a media type that names its charset."""

    def check(headers: Headers) -> None:
        check_media_type(headers)
        if ";" in header_values(headers, "content-type")[0]:
            raise refuse("ERR_UNSUPPORTED_MEDIA_TYPE", "No parameters.", field="content-type")

    return replace(parts, check_media_type=check)
