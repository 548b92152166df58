"""Compressed files: what is written is read again; what is cut short or damaged says where."""

from __future__ import annotations

import gzip
import io
import os
import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.histories.compressed import CompressedError, Compression, compressed, compression_of, decompressed
from reducer.histories.lines import Stream

KINDS = ["gz", pytest.param("zst", marks=pytest.mark.skipif(find_spec("zstandard") is None, reason="needs zstandard"))]


def opened(content: bytes) -> bytes:
    return decompressed(Stream(io.BytesIO(content).read)).read()


@pytest.mark.parametrize("kind", KINDS)
@given(contents=st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_archives_in_a_row_are_one(kind: Compression, contents: list[bytes]) -> None:
    archive = b"".join(compressed(content, kind) for content in contents)
    assert opened(archive) == b"".join(contents)
    assert archive == b"".join(compressed(content, kind) for content in contents)
    if kind == "gz":
        assert gzip.decompress(archive) == b"".join(contents)


@given(st.binary(max_size=50).map(lambda content: b"x" + content))
def test_what_is_no_archive_is_itself(content: bytes) -> None:
    assert opened(content) == content == compressed(content, "")


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_that_cannot_be_read_says_so(kind: Compression) -> None:
    archive = compressed(os.urandom(20_000), kind) + compressed(b"x" * 100_000, kind)
    for size in (5, 30, 10_000, len(archive) - 9, len(archive) - 1):
        with pytest.raises(CompressedError) as caught:
            opened(archive[:size])
        assert str(caught.value).startswith("cut short: the ")
        assert str(caught.value).endswith(f" file ends early, at byte {size:,}")
    damaged = archive[:10_000] + bytes([archive[10_000] ^ 1]) + archive[10_001:]
    for content in (damaged, compressed(b"whole", kind) + b"and more"):
        with pytest.raises(CompressedError, match=r"^damaged: the \w+ file cannot be read at about byte [\d,]+ \("):
            opened(content)


def test_zeros_after_gzip_are_nothing() -> None:
    archive = compressed(b"whole", "gz") + b"\0" * 100_000 + compressed(b", again", "gz") + b"\0"
    assert opened(archive) == b"whole, again"


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_is_unpacked_bit_by_bit(kind: Compression) -> None:
    stream = decompressed(Stream(io.BytesIO(compressed(b"\0" * 50_000_000, kind)).read))
    assert len(stream.read(1 << 18)) <= 1 << 18


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(CompressedError, match=r"need the package zstandard: pip install 'reducer\[zstd\]'$"):
        opened(b"\x28\xb5\x2f\xfd....")


def test_names_of_archives() -> None:
    names = ("a.jsonl.gz", "A.JSON.GZ", "a.zst", "a.json", "gz")
    assert [compression_of(name) for name in names] == ["gz", "gz", "zst", "", ""]
