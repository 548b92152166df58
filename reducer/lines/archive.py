"""Archives of one file: gzip (RFC 1952) and Zstandard (RFC 8878), each several members or frames long if it likes.

They are known by their first bytes when they are read, by the ending of their name when they are written.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Literal, cast

from reducer.lines.stream import Stream

Kind = Literal["", "gz", "zst"]
"""How bytes are packed: not at all, by gzip, by Zstandard."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_STEP = 1 << 16
_ZSTD_STEP = 1 << 10
"""Packed bytes that zstandard is given at once. It has no bound on what it unpacks of them: a block of 128 kB may take four bytes, so
one of 1 kB becomes 32 MB at worst. Real text is no slower for it."""
_GZIP_LEVEL = 6
_ZSTD_LEVEL = 3


class ArchiveError(ValueError):
    """An archive that is cut short, damaged or of a kind that cannot be read here; the message says where in the packed bytes."""


def kind_of(name: str) -> Kind:
    """Tell how a file of this name is packed."""
    lower = name.lower()
    return "gz" if lower.endswith(".gz") else "zst" if lower.endswith((".zst", ".zstd")) else ""


def open_archive(packed: Stream) -> Stream:
    """Give what an archive holds, or the same bytes when it is none. Reading raises `ArchiveError`."""
    head = b""
    while len(head) < 4 and (more := packed.read(4 - len(head))):
        head += more
    packed.back(head)
    if head.startswith(_GZIP):
        return Stream(_reader(_unzipped(packed)))
    if head == _ZSTD or (head[1:] == _SKIPPABLE and 0x50 <= head[0] <= 0x5F):
        return Stream(_reader(_unpacked(packed)))
    return packed


def packed(content: bytes, kind: Kind) -> bytes:
    """Pack bytes as a whole archive; several in a row are an archive of all of it. The same bytes give the same archive. Raises `ArchiveError`."""
    if kind == "gz":
        packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, 31)  # 31 writes the head of gzip without name and time
        return packer.compress(content) + packer.flush()
    if kind == "zst":
        return cast(bytes, _zstandard().ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True).compress(content))
    return content


def _reader(pieces: Iterator[bytes]) -> Callable[[int], bytes]:
    left = b""

    def read(most: int) -> bytes:
        nonlocal left
        while not left:
            piece = next(pieces, None)
            if piece is None:
                return b""
            left = piece
        found, left = left[:most], left[most:]
        return found

    return read


def _unzipped(packed: Stream) -> Iterator[bytes]:
    member = None
    waiting = b""
    while True:
        waiting = waiting or packed.read(_STEP)
        if member is None:
            waiting = waiting.lstrip(b"\0")  # some tools fill the last block up with zeros
            if waiting and not _GZIP.startswith(waiting[:2]):
                raise ArchiveError(f"damaged: what follows the gzip archive at byte {packed.at - len(waiting):,} is none")
        if not waiting:
            if member is not None:
                raise ArchiveError(f"cut short: the gzip archive ends in its middle, at byte {packed.at:,}")
            if not (waiting := packed.read(_STEP)):
                return
            continue
        member = member or zlib.decompressobj(31)
        try:
            piece = member.decompress(waiting, _STEP)
        except zlib.error as error:
            raise ArchiveError(f"damaged: the gzip archive cannot be read at about byte {packed.at - len(waiting):,} ({error})") from None
        waiting = member.unused_data if member.eof else member.unconsumed_tail
        member = None if member.eof else member
        if piece:
            yield piece


def _unpacked(packed: Stream) -> Iterator[bytes]:
    zstandard = _zstandard()
    frame = None
    waiting = b""
    while True:
        waiting = waiting or packed.read(_STEP)
        if not waiting:
            if frame is not None:
                raise ArchiveError(f"cut short: the zstd archive ends in its middle, at byte {packed.at:,}")
            return
        if frame is None:
            frame = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        step, waiting = waiting[:_ZSTD_STEP], waiting[_ZSTD_STEP:]
        try:
            piece = frame.decompress(step)
        except zstandard.ZstdError as error:
            raise ArchiveError(f"damaged: the zstd archive cannot be read at about byte {packed.at - len(waiting):,} ({error})") from None
        if frame.eof:
            waiting = frame.unused_data + waiting
            frame = None
        if piece:
            yield piece


def _zstandard() -> Any:
    try:
        return import_module("zstandard")
    except ImportError:
        raise ArchiveError("zstd archives need the package zstandard: pip install 'reducer[zstd]'") from None
