"""Compressed files: joined, broken and hostile ones."""

from __future__ import annotations

import gzip
import io
import os
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.errors import FileError
from reducer.inputs.compression import compressed, decompressed

KINDS = ["a.gz", "a.zst"]
GZIP, ZSTANDARD = ("a.jsonl.gz", "A.JSON.GZ"), ("a.zst", "a.json.ZSTD")


def opened(content: bytes) -> bytes:
    with decompressed(io.BytesIO(content), "a") as stream:
        return stream.read()


@pytest.mark.parametrize("name", KINDS)
@given(contents=st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_joined_archives_are_one_archive(name: str, contents: list[bytes]) -> None:
    archive = b"".join(compressed(content, name) for content in contents)
    assert opened(archive) == b"".join(contents)
    assert archive == b"".join(compressed(content, name) for content in contents)
    if name == "a.gz":
        assert gzip.decompress(archive) == b"".join(contents)


@given(st.binary(max_size=50).map(lambda content: b"x" + content))
def test_uncompressed_bytes_stay(content: bytes) -> None:
    assert opened(content) == content == compressed(content, "a.json")


def test_the_name_selects_the_compression() -> None:
    for names, start in ((GZIP, b"\x1f\x8b"), (ZSTANDARD, b"\x28\xb5\x2f\xfd"), (("gz", "a.json"), b"{}")):
        assert all(compressed(b"{}", name).startswith(start) for name in names)


@pytest.mark.parametrize("name", KINDS)
def test_broken_archives_are_reported(name: str) -> None:
    archive = compressed(os.urandom(20_000), name) + compressed(b"x" * 100_000, name)
    for size in (5, 30, 10_000, len(archive) - 9, len(archive) - 1):
        with pytest.raises(FileError, match=r"^a: cut short: the compressed file ends early$"):
            opened(archive[:size])
    damaged = archive[:10_000] + bytes([archive[10_000] ^ 1]) + archive[10_001:]
    for content in (damaged, compressed(b"whole", name) + b"and more"):
        with pytest.raises(FileError, match=r"^a: damaged: the compressed file cannot be read: "):
            opened(content)


def test_zeros_after_gzip_and_skipped_frames_of_zstandard_are_ignored() -> None:
    archive = compressed(b"whole", "a.gz") + b"\0" * 100_000 + compressed(b", again", "a.gz") + b"\0"
    assert opened(archive) == b"whole, again"
    skipped = b"\x5e\x2a\x4d\x18\x04\0\0\0abcd"
    assert opened(skipped + compressed(b"whole", "a.zst") + skipped) == b"whole"


@pytest.mark.parametrize("name", KINDS)
def test_a_bomb_is_decompressed_in_steps(name: str) -> None:
    archive = io.BytesIO(compressed(b"\0" * 50_000_000, name))
    tracemalloc.start()
    try:
        with decompressed(archive, "a") as stream:
            assert len(stream.read(1 << 18)) == 1 << 18
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


class OneByte(io.RawIOBase):
    """A pipe whose writer sends single bytes."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        return self._content.readinto(buffer[:1])


@pytest.mark.parametrize("name", KINDS)
def test_the_first_bytes_may_arrive_one_by_one(name: str) -> None:
    with decompressed(io.BufferedReader(OneByte(compressed(b"whole", name))), "a") as stream:
        assert stream.read() == b"whole"
