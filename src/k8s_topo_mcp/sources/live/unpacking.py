"""Bodies as they come over the wire, unpacked as they come.

An API server of 1.37 compresses a watch that begins with what there is, and ends the gzip member at every flush (WatchListCompression;
k8s.io/apiserver pkg/endpoints/handlers/watch.go, perFlushGzipWriter). httpx reads the first member and drops the others in silence, so
it isn't asked to unpack anything.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

from .errors import Unanswered

_GZIP = 16 + zlib.MAX_WBITS


async def unpacked(parts: AsyncIterator[bytes], encoding: str | None) -> AsyncIterator[bytes]:
    """The body in plain. Raises Unanswered for an encoding that wasn't asked for, or data that isn't in it."""
    if encoding in (None, "", "identity"):
        async for part in parts:
            yield part
        return
    if encoding != "gzip":
        raise Unanswered(f"an answer packed as {encoding[:20]!r}, which wasn't asked for")
    member = zlib.decompressobj(_GZIP)
    async for part in parts:
        plain: list[bytes] = []
        try:
            while part:
                plain.append(member.decompress(part))
                part = member.unused_data
                if member.eof:
                    member = zlib.decompressobj(_GZIP)
        except zlib.error:
            raise Unanswered("an answer whose compression is broken") from None
        if any(plain):
            yield b"".join(plain)
