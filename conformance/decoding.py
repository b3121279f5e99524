"""Undoing a ``Content-Encoding`` piece by piece, so that no bomb goes off."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE_BYTES: Final = 64 * 1024
"""Most bytes of one decoded piece."""

_GZIP: Final = zlib.MAX_WBITS | 16
_ZLIB: Final = zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS


class Decoder:
    """
    Undoes ``gzip`` or ``deflate`` (with or without its zlib frame).

    Raises:
        ValueError: *coding* is another one.
    """

    def __init__(self, coding: str) -> None:
        if coding not in ("gzip", "x-gzip", "deflate"):
            raise ValueError("only gzip and deflate can be undone")
        self._inflater = None if coding == "deflate" else zlib.decompressobj(_GZIP)
        self._start = b""  # until it is long enough to tell whether there is a frame

    @property
    def is_finished(self) -> bool:
        """Whether the coded body came to its own end."""
        return self._inflater is not None and self._inflater.eof

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """
        Decode *data*, at most :data:`PIECE_BYTES` at a time and only when asked.

        Raises:
            ValueError: the bytes are not of that coding, or go on after its end.
        """
        if self._inflater is None:
            self._start += data
            if len(self._start) < 2:
                return
            data = self._start
            self._inflater = zlib.decompressobj(_ZLIB if _has_zlib_frame(data) else _RAW)
        if self._inflater.eof and data:
            raise ValueError("bytes follow the end of the coded body")
        while True:
            try:
                piece = self._inflater.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                raise ValueError("the body is not of the coding it declares") from error
            if piece:
                yield piece
            if self._inflater.unused_data:
                raise ValueError("bytes follow the end of the coded body")
            data = self._inflater.unconsumed_tail
            if not data and len(piece) < PIECE_BYTES:
                return


def _has_zlib_frame(data: bytes) -> bool:
    """Look at the two bytes of a zlib header (RFC 1950, section 2.2)."""
    return data[0] & 0x0F == zlib.DEFLATED and (data[0] * 256 + data[1]) % 31 == 0
