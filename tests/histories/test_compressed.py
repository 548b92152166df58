"""Compressed files: what is written is read again; what is cut short or damaged says where."""

from __future__ import annotations

import gzip
import io
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.histories.compressed import CompressedError, Compression, compressed, compression_of, decompressed
from reducer.histories.lines import Stream

KINDS: tuple[Compression, ...] = ("gz", "zst")


def opened(content: bytes) -> bytes:
    return decompressed(Stream(io.BytesIO(content).read)).read()


def needs(kind: Compression) -> None:
    if kind == "zst":
        pytest.importorskip("zstandard")


@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_archives_in_a_row_are_one(kind: Compression, contents: list[bytes]) -> None:
    needs(kind)
    archive = b"".join(compressed(content, kind) for content in contents)
    assert opened(archive) == b"".join(contents)
    assert archive == b"".join(compressed(content, kind) for content in contents)
    if kind == "gz":
        assert gzip.decompress(archive) == b"".join(contents)


@given(
    st.binary(max_size=50).filter(
        lambda text: text[:2] != b"\x1f\x8b" and text[1:4] != b"\x2a\x4d\x18" and text[:4] != b"\x28\xb5\x2f\xfd"
    )
)
def test_what_is_no_archive_is_itself(content: bytes) -> None:
    assert opened(content) == content == compressed(content, "")


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_cut_short_says_so(kind: Compression) -> None:
    needs(kind)
    archive = compressed(os.urandom(20_000), kind) + compressed(b"x" * 100_000, kind)
    for size in (5, 30, 10_000, len(archive) - 9, len(archive) - 1):
        with pytest.raises(
            CompressedError, match=rf"^cut short: the \w+ archive ends in its middle, at byte {size:,}$"
        ):
            opened(archive[:size])


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_archive_says_so(kind: Compression) -> None:
    needs(kind)
    archive = bytearray(compressed(os.urandom(20_000), kind))
    archive[10_000] ^= 1
    with pytest.raises(CompressedError, match=r"^damaged: the \w+ archive cannot be read at about byte [\d,]+ \("):
        opened(bytes(archive))
    with pytest.raises(CompressedError, match=r"^damaged: "):
        opened(compressed(b"whole", kind) + b"and more")


def test_zeros_after_gzip_are_nothing() -> None:
    assert (
        opened(compressed(b"whole", "gz") + b"\0" * 100_000 + compressed(b", again", "gz") + b"\0") == b"whole, again"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_is_unpacked_bit_by_bit(kind: Compression) -> None:
    needs(kind)
    stream = decompressed(Stream(io.BytesIO(compressed(b"\0" * 50_000_000, kind)).read))
    assert len(stream.read(1 << 18)) <= 1 << 18


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(CompressedError, match=r"need the package zstandard: pip install 'reducer\[zstd\]'$"):
        opened(b"\x28\xb5\x2f\xfd....")


@pytest.mark.parametrize(
    ("name", "kind"), [("a.jsonl.gz", "gz"), ("A.JSON.GZ", "gz"), ("a.zst", "zst"), ("a.json", ""), ("gz", "")]
)
def test_names_of_archives(name: str, kind: Compression) -> None:
    assert compression_of(name) == kind
