"""From bytes to text, a piece at a time: gzip, byte order marks, and the bounds that keep a bad file from filling the memory."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from .errors import SnapshotError

PIECE = 1 << 20
MAX_EXPANDED = 4 << 30
"""Bytes of one file, unpacked. A dump of 5,000 nodes and 100,000 pods takes a quarter of it."""
MAX_RATIO = 300
"""How much a gzip file may grow (past the first RATIO_FREE bytes). Dumps shrink to a tenth or fiftieth; a bomb grows a thousandfold."""
RATIO_FREE = 64 << 20

_GZIP = b"\x1f\x8b"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class TextStream:
    """The text of one file. `read` gives the next piece, "" at the end. `name` is for errors."""

    def __init__(self, source: BinaryIO, name: str, progress: Callable[[int], None] | None = None) -> None:
        self.name = name
        self._source = source
        self._progress = progress
        self._packed = 0
        self._expanded = 0
        self._ended = False
        self._unpacker: Any = None
        self._left = b""
        first = self._take()
        if first.startswith(_GZIP):
            self._unpacker = zlib.decompressobj(wbits=31)
            self._left = first
            first = self._unpack()
            if first.startswith(_GZIP):
                raise SnapshotError(name, "is gzip within gzip; unpack it once")
        mark, encoding = next(((mark, encoding) for mark, encoding in _MARKS if first.startswith(mark)), (b"", "utf-8"))
        self._first = first[len(mark) :]
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._decoded = 0
        self._pushed: str = ""

    @property
    def first_character(self) -> str:
        """The first character that isn't white space, "" when there is none. Ask before anything is read."""
        while not (start := self._pushed.lstrip()):
            piece = self._read()
            if not piece:
                return ""
            self._pushed = (self._pushed + piece) if len(self._pushed) < PIECE else piece
        return start[0]

    def _take(self) -> bytes:
        """The next bytes as they are on disk."""
        piece = self._source.read(PIECE)
        self._packed += len(piece)
        if self._progress is not None and piece:
            self._progress(self._packed)
        return piece

    def _unpack(self) -> bytes:
        """The next unpacked bytes, b"" at the end."""
        while True:
            if not self._left:
                self._left = self._take()
                if not self._left:
                    if not self._unpacker.eof:
                        raise SnapshotError(self.name, "ends in the middle of its gzip data: the file is truncated; dump or copy it again")
                    return b""
            if self._unpacker.eof:  # another member may follow; padding may, too
                if not self._left.startswith(_GZIP[: len(self._left)]):
                    if self._left.strip(b"\0"):
                        raise SnapshotError(self.name, "has other bytes after its gzip data; pack it again")
                    self._left = b""
                    continue
                self._unpacker = zlib.decompressobj(wbits=31)
            try:
                piece: bytes = self._unpacker.decompress(self._left, PIECE)
            except zlib.error as error:
                raise SnapshotError(self.name, f"is damaged gzip data ({error}); dump or copy it again") from None
            self._left = self._unpacker.unconsumed_tail or self._unpacker.unused_data
            if piece:
                self._expanded += len(piece)
                if self._expanded > RATIO_FREE and self._expanded > MAX_RATIO * self._packed:
                    raise SnapshotError(
                        self.name,
                        f"grows more than {MAX_RATIO}-fold when unpacked: looks like a gzip bomb; if not, unpack it first",
                    )
                return piece

    def _next(self) -> bytes:
        if self._first:
            piece, self._first = self._first, b""
        elif self._unpacker is not None:
            piece = self._unpack()
        else:
            piece = self._take()
            self._expanded += len(piece)
        if self._expanded > MAX_EXPANDED:
            raise SnapshotError(self.name, f"is larger than {MAX_EXPANDED >> 30} GiB; leave out kinds that aren't needed")
        return piece

    def read(self) -> str:
        """The next piece of text, "" at the end."""
        if self._pushed:
            piece, self._pushed = self._pushed, ""
            return piece
        return self._read()

    def _read(self) -> str:
        while not self._ended:
            piece = self._next()
            self._ended = not piece
            try:
                text = self._decoder.decode(piece, final=self._ended)
            except UnicodeDecodeError as error:
                raise SnapshotError(
                    self.name,
                    f"is not {self._encoding.upper()} text (byte {self._decoded + error.start}); right would be JSON or YAML, plain or .gz",
                ) from None
            self._decoded += len(piece)
            if text:
                return text
        return ""

    def rest(self, limit: int, what: str) -> str:
        """All that is left, at most `limit` characters."""
        pieces: list[str] = []
        length = 0
        while piece := self.read():
            pieces.append(piece)
            length += len(piece)
            if length > limit:
                raise SnapshotError(self.name, f"{what} is larger than {limit >> 20} MiB; give JSON, which is read item by item")
        return "".join(pieces)
