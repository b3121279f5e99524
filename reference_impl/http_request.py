"""
What a host demands of a request before it reads the body: method, media type, size.

Source: contract, "Host" (docs/contract.md); RFC 9110, 8.3, 8.4 and 15.5.
"""

from __future__ import annotations

from email.message import Message
from typing import TYPE_CHECKING, Final

from hostproof.reference_impl.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

METHOD: Final = "POST"
DEFAULT_MAX_BYTES: Final = 4 * 1024 * 1024

Headers = list[tuple[str, str]]
"""A request's headers in order, names in lower case; a name may stand there twice."""


def header_values(headers: Sequence[tuple[str, str]], name: str) -> list[str]:
    """Give every value of the header *name* (lower case), in order."""
    return [value for key, value in headers if key == name]


def check_method(method: str) -> None:
    """
    Take POST and nothing else.

    Raises:
        Refusal: ``ERR_METHOD_NOT_ALLOWED`` (405).
    """
    if method != METHOD:
        raise refuse("ERR_METHOD_NOT_ALLOWED", "A run is asked for with POST.")


def check_media_type(headers: Sequence[tuple[str, str]]) -> None:
    """
    Take a plain JSON body: ``application/json``, in UTF-8 if it says so, not encoded.

    Raises:
        Refusal: ``ERR_UNSUPPORTED_MEDIA_TYPE`` (415).
    """
    types = header_values(headers, "content-type")
    if len(types) != 1:
        raise _unsupported("content-type")
    message = Message()
    message["content-type"] = types[0]
    charset = message.get_param("charset", "utf-8")
    named = charset if isinstance(charset, str) else charset[2]
    if message.get_content_type() != "application/json" or not types[0].strip():
        raise _unsupported("content-type")
    if named.lower() not in ("utf-8", "utf8"):
        raise _unsupported("content-type")
    if header_values(headers, "content-encoding"):
        raise _unsupported("content-encoding")


def _unsupported(field: str) -> Refusal:
    return refuse(
        "ERR_UNSUPPORTED_MEDIA_TYPE",
        "The body must be application/json in UTF-8, without an encoding.",
        field=field,
    )


async def read_bytes(
    chunks: AsyncIterator[bytes], headers: Sequence[tuple[str, str]], max_bytes: int
) -> bytes:
    """
    Read a body of at most *max_bytes* bytes.

    What announces more is refused before it is read.

    Raises:
        Refusal: ``ERR_REQUEST_TOO_LARGE`` (413).
    """
    announced = header_values(headers, "content-length")
    if announced and announced[0].isdecimal() and int(announced[0][:20]) > max_bytes:
        raise _too_large(max_bytes)
    read = bytearray()
    async for chunk in chunks:
        read += chunk
        if len(read) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(read)


def _too_large(max_bytes: int) -> Refusal:
    return refuse("ERR_REQUEST_TOO_LARGE", f"The body has more than {max_bytes} bytes.")
