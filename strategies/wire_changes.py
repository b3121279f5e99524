"""
Changes below the body: the method, who asks, the media type, and the bytes themselves.

Source: contract, "Host" (docs/contract.md); RFC 7493, 2; RFC 9110, 15.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TextOp = Literal["as-it-is", "replace", "cut", "whole", "prefix", "suffix", "encode", "grow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WireChange:
    """
    One change to an accepted request, below its JSON value.

    Attributes:
        id: its stable name.
        code: the refusal it owes; ``None`` where it is to be accepted.
        method: the method to ask with.
        identity: ``right``, ``none`` (no headers of the caller) or ``wrong``.
        headers: headers to replace; ``None`` leaves one off.
        op: what is done to the body's text: ``replace`` *find* by *put*, ``cut``
            it in half, put *put* in place of the ``whole``, before it (``prefix``)
            or behind it (``suffix``), ``encode`` it as *put* says, or ``grow`` it
            to *size* bytes by a long message.
        aggressive: whether it needs leave on a target off this machine.
    """

    id: str
    code: str | None
    method: str = "POST"
    identity: Literal["right", "none", "wrong"] = "right"
    headers: Mapping[str, str | None] = field(default_factory=dict)
    op: TextOp = "as-it-is"
    find: bytes = b""
    put: bytes = b""
    size: int = 0
    aggressive: bool = False


def changed_text(text: bytes, change: WireChange) -> bytes:
    """
    Make the change to a body's text.

    Raises:
        ValueError: what is to be replaced does not stand there once.
    """
    if change.op == "replace":
        if text.count(change.find) != 1:
            raise ValueError(f"{change.id}: what to replace stands there not once")
        return text.replace(change.find, change.put)
    if change.op == "cut":
        return text[: len(text) // 2]
    if change.op == "whole":
        return change.put
    if change.op == "prefix":
        return change.put + text
    if change.op == "suffix":
        return text + change.put
    if change.op == "encode":
        return text.decode("utf-8").encode(change.put.decode("ascii"))
    if change.op == "grow":
        return text + b" " * (change.size - len(text))
    return text


def _methods() -> Iterator[WireChange]:
    for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"):
        yield WireChange(
            id=f"method-{method.lower()}", code="ERR_METHOD_NOT_ALLOWED", method=method
        )


def _identities() -> Iterator[WireChange]:
    code = "ERR_IDENTITY_NOT_VERIFIED"
    yield WireChange(id="identity-none", code=code, identity="none")
    yield WireChange(id="identity-wrong", code=code, identity="wrong")


def _media_types() -> Iterator[WireChange]:
    code = "ERR_UNSUPPORTED_MEDIA_TYPE"
    types: dict[str, str | None] = {
        "none": None,
        "empty": "",
        "text": "text/plain",
        "form": "application/x-www-form-urlencoded",
        "multipart": "multipart/form-data; boundary=x",
        "xml": "application/xml",
        "jsonp": "application/json-patch+json",
        "latin-1": "application/json; charset=iso-8859-1",
        "utf-16": "application/json; charset=utf-16",
    }
    for kind, value in types.items():
        yield WireChange(id=f"media-type-{kind}", code=code, headers={"content-type": value})
    for encoding in ("gzip", "deflate", "br", "identity"):
        headers = {"content-encoding": encoding}
        yield WireChange(id=f"encoding-{encoding}", code=code, headers=headers)
    for kind, value in {
        "with-charset": "application/json; charset=utf-8",
        "in-capitals": 'Application/JSON; Charset="UTF-8"',
    }.items():
        yield WireChange(id=f"media-type-{kind}", code=None, headers={"content-type": value})


def _sizes() -> Iterator[WireChange]:
    code = "ERR_REQUEST_TOO_LARGE"
    yield WireChange(id="body-of-5-mb", code=code, op="grow", size=5_000_000, aggressive=True)


_PROPS: Final = b'"forwardedProps":{}'


def _value(name: str, value: bytes, code: str | None = "ERR_INVALID_JSON") -> WireChange:
    return WireChange(
        id=name, code=code, op="replace", find=_PROPS, put=b'"forwardedProps":{"x":' + value + b"}"
    )


def _texts() -> Iterator[WireChange]:
    code = "ERR_INVALID_JSON"
    wholes = {
        "nothing": b"",
        "white-space": b" \n",
        "word": b"threadId",
        "brace": b"{",
        "nul": b"\x00",
        "form": b"threadId=t&runId=r",
        "two-values": b"{} {}",
        "single-quotes": b"{'threadId':'t'}",
        "comment": b"/* x */ {}",
        "many-brackets": b"[" * 10_000,
    }
    for kind, whole in wholes.items():
        yield WireChange(id=f"text-{kind}", code=code, op="whole", put=whole)
    yield WireChange(id="text-cut", code=code, op="cut")
    yield WireChange(id="text-with-a-byte-order-mark", code=code, op="prefix", put=b"\xef\xbb\xbf")
    yield WireChange(id="text-with-more-behind", code=code, op="suffix", put=b"x")
    for encoding in ("utf-16", "utf-32-le", "utf-8-sig"):
        yield WireChange(id=f"text-in-{encoding}", code=code, op="encode", put=encoding.encode())
    yield from (
        _value("nan", b"NaN"),
        _value("infinity", b"-Infinity"),
        _value("1e400", b"1e400"),
        _value("minus-1e400", b"-1e400"),
        _value("integer-of-400-digits", b"9" * 400),
        _value("leading-zero", b"01"),
        _value("trailing-comma", b"[1,]"),
        _value("lone-high-surrogate", b'"\\ud800"'),
        _value("lone-low-surrogate", b'"\\udc00x"'),
        _value("surrogates-swapped", b'"\\udc00\\ud800"'),
        _value("lone-surrogate-in-a-name", b'{"\\ud800":1}'),
        _value("invalid-utf-8", b'"\xff"'),
        _value("overlong-utf-8", b'"\xc0\xaf"'),
        _value("surrogate-in-utf-8", b'"\xed\xa0\x80"'),
        _value("control-character", b'"\x01"'),
        _value("bad-escape", b'"\\x41"'),
        _value("name-twice", b'{"a":1,"a":1}'),
        _value("name-twice-by-escape", b'{"a":1,"\\u0061":2,"b":"\\u003a"}'),
        _value("levels-129", b"[" * 127 + b"]" * 127),
        _value("levels-10000", b"[" * 10_000 + b"]" * 10_000),
        _value("levels-10000-objects", b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
        _value("levels-128", b"[" * 126 + b"]" * 126, None),
        _value("integer-of-300-digits", b"9" * 300, None),
        _value("minus-zero", b"-0", None),
        _value("paired-surrogates", b'"\\ud83d\\ude00"', None),
        _value("escaped-nul", b'"\\u0000"', None),
    )
    for member in ("threadId", "runId"):
        name = f'"{member}":"'.encode()
        yield WireChange(
            id=f"lone-surrogate-in-{member}",
            code=code,
            op="replace",
            find=name,
            put=name + b"\\ud800",
        )
    yield WireChange(
        id="thread-named-twice",
        code=code,
        op="replace",
        find=b'{"threadId"',
        put=b'{"threadId":"x","threadId"',
    )


def _orders() -> Iterator[WireChange]:
    """Two faults at once: what a host decides first is what it answers."""
    text = {"content-type": "text/plain"}
    yield WireChange(
        id="order-method-before-identity",
        code="ERR_METHOD_NOT_ALLOWED",
        method="PUT",
        identity="none",
    )
    yield WireChange(
        id="order-identity-before-media-type",
        code="ERR_IDENTITY_NOT_VERIFIED",
        identity="none",
        headers=text,
    )
    yield WireChange(
        id="order-media-type-before-size",
        code="ERR_UNSUPPORTED_MEDIA_TYPE",
        headers=text,
        op="grow",
        size=5_000_000,
        aggressive=True,
    )
    yield WireChange(
        id="order-media-type-before-text",
        code="ERR_UNSUPPORTED_MEDIA_TYPE",
        headers=text,
        op="whole",
        put=b"{",
    )
    yield WireChange(
        id="order-size-before-text",
        code="ERR_REQUEST_TOO_LARGE",
        op="whole",
        put=b"[" * 5_000_000,
        aggressive=True,
    )
    yield WireChange(
        id="order-text-before-shape",
        code="ERR_INVALID_JSON",
        op="whole",
        put=b'{"threadId":1,"threadId":2}',
    )


WIRE_CHANGES: Final[tuple[WireChange, ...]] = (
    *_methods(),
    *_identities(),
    *_media_types(),
    *_sizes(),
    *_texts(),
    *_orders(),
)
"""Every change below the JSON value, in the order in which a host decides."""
