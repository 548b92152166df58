"""Files of histories: compression, and JSON lines that are read in pieces of whole lines."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.histories import files
from reducer.histories.files import compressed

KINDS = ["gz", pytest.param("zst", marks=pytest.mark.skipif(find_spec("zstandard") is None, reason="needs zstandard"))]


def opened(content: bytes) -> bytes:
    return files.decompressed(io.BytesIO(content)).read()


@pytest.mark.parametrize("kind", KINDS)
@given(contents=st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_joined_archives_are_one_archive(kind: files.Compression, contents: list[bytes]) -> None:
    archive = b"".join(compressed(content, kind) for content in contents)
    assert opened(archive) == b"".join(contents)
    assert archive == b"".join(compressed(content, kind) for content in contents)
    if kind == "gz":
        assert gzip.decompress(archive) == b"".join(contents)


@given(st.binary(max_size=50).map(lambda content: b"x" + content))
def test_uncompressed_bytes_stay(content: bytes) -> None:
    assert opened(content) == content == compressed(content, "")


@pytest.mark.parametrize("kind", KINDS)
def test_broken_archives_are_reported(kind: files.Compression) -> None:
    archive = compressed(os.urandom(20_000), kind) + compressed(b"x" * 100_000, kind)
    for size in (5, 30, 10_000, len(archive) - 9, len(archive) - 1):
        with pytest.raises(files.CompressedError) as caught:
            opened(archive[:size])
        assert str(caught.value).startswith("cut short: the ")
        assert str(caught.value).endswith(f" file ends early, at byte {size:,}")
    damaged = archive[:10_000] + bytes([archive[10_000] ^ 1]) + archive[10_001:]
    for content in (damaged, compressed(b"whole", kind) + b"and more"):
        with pytest.raises(files.CompressedError, match=r"^damaged: the \w+ file cannot be read at about byte [\d,]+ "):
            opened(content)


def test_zeros_after_gzip_are_ignored() -> None:
    archive = compressed(b"whole", "gz") + b"\0" * 100_000 + compressed(b", again", "gz") + b"\0"
    assert opened(archive) == b"whole, again"


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_is_decompressed_in_steps(kind: files.Compression) -> None:
    archive = io.BytesIO(compressed(b"\0" * 50_000_000, kind))
    assert len(files.decompressed(archive).read(1 << 18)) == 1 << 18
    assert archive.tell() < len(archive.getvalue())


@pytest.mark.parametrize("content", [b" ", b"[1],\n"])
def test_a_history_above_the_limit_is_refused(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_HISTORY", 1_000_000)
    file = io.BytesIO(content * (2 * files.MAX_LINE // len(content)))
    with pytest.raises(OSError, match="larger than 1,000,000 bytes; split it into histories in JSON lines"):
        list(files.chunks(file, "a.json"))
    assert file.tell() < files.MAX_LINE + 2_000_000


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(files.CompressedError, match=r"need the package zstandard: pip install 'reducer\[zstd\]'$"):
        opened(b"\x28\xb5\x2f\xfd....")


_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_sizes = st.sampled_from([0, 1, 5, 28, 29, 30, 31, 60, 99, 100, 101, 130, 250])
_texts = st.lists(st.tuples(_sizes, st.sampled_from([b"\n", b"\r\n", b"\r", b""])))


def small(content: bytes, step: int) -> list[files.Chunk]:
    """Cut with lines of 100 bytes at most and chunks of 30."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_LINE", 100), ("_MIN_CHUNK", 30), ("_STEP", step)):
            patch.setattr(f"reducer.histories.files.{name}", value)
        return list(files.chunks(io.BytesIO(content), "a.jsonl"))


@given(_texts, st.integers(1, 64))
def test_chunks_are_the_stream_and_lines_stay_whole(sizes: list[tuple[int, bytes]], step: int) -> None:
    content = b"".join(b"x" * size + end for size, end in sizes)
    found = small(content, step)
    assert b"".join(chunk.content for chunk in found) == content
    lines = _LINE.findall(content)
    short = [line for chunk in found if chunk.kind == "lines" for line in _LINE.findall(chunk.content)]
    assert short == [line for line in lines if len(line) <= 100]
    long = [chunk.number for chunk in found if chunk.kind == "long line"]
    assert long == [number for number, line in enumerate(lines, 1) if len(line) > 100]
    assert found == small(content, 1000)


def test_a_chunk_ends_at_the_first_possible_line() -> None:
    content = (b"x" * 99_999 + b"\n") * 100
    sizes = [len(chunk.content) for chunk in files.chunks(io.BytesIO(content), "a.jsonl")]
    assert sizes == [2_100_000] * 4 + [1_600_000]


NO_LINES = [b"", b" \n\n", b"{}\n\n  \r\n", b'[\n {"kind": "request"}\n]\n', b"hello\n{}\n", b"1\n2\n"]
NO_LINES += [b"[" * 100_000 + b"\n{}", b'["' + b"x" * files.MAX_LINE + b'"]\n{}', b"\n" * 400_000 + b"{}\n{}\n"]
LINES = [b"{}\r\n{}\r\n", b"\xef\xbb\xbf\n \n[]\nwrong"]
LINES += [b" \n" * 100_000 + b"{}" + b" " * 100_000 + b"\n" * 100_000 + b"{"]


@pytest.mark.parametrize(
    ("content", "expected"), [*((content, False) for content in NO_LINES), *((content, True) for content in LINES)]
)
def test_json_lines_are_detected_by_their_first_lines(content: bytes, expected: bool) -> None:
    stream = io.BytesIO(content)
    found, head = files.detect_lines(stream)
    assert found is expected
    assert b"".join(head) + stream.read() == content


@pytest.mark.parametrize(
    ("name", "compression", "is_lines"),
    [
        *(("a.jsonl", "", True), ("a.ndjson.gz", "gz", True), ("a.JSONL.zst", "zst", True), ("jsonl", "", False)),
        *(("a.json", "", False), ("A.JSON.GZ", "gz", False), ("a.zst", "zst", False), ("gz", "", False)),
    ],
)
def test_names_of_files(name: str, compression: files.Compression, is_lines: bool) -> None:
    (chunk,) = files.chunks(io.BytesIO(b"{}"), name)
    assert (files.compression_of(name), chunk.kind) == (compression, "lines" if is_lines else "history")


_RECORD = {"id": 1, "hostname": "host-1.example.com", "tags": ["botnet", "tor"], "note": "Seen in a scan. " * 8}


TEXTS = [b"one, two, three and so on. " * 600_000, "… ".encode() * 4_000_000, b"\\u00e4" + b"x" * 15_000_000]
LIGHT = [b"[" + b"{}," * 1_000_000, json.dumps([_RECORD] * 50_000).encode()]  # 3 MB are never too much
LIGHT += [b'"' + text for text in (*TEXTS, "\U0001f600".encode() + b"x" * 11_000_000)]
HEAVY = [b"[" + b"{}," * 2_000_000, b"[" + b"1," * 8_000_000]
HEAVY += [b'"' + emoji + b"x" * 15_000_000 for emoji in ("\U0001f600".encode(), b"\\ud83d\\ude00")]


def test_lines_that_need_too_much_memory() -> None:
    assert [*map(files.is_heavy, [*LIGHT, *HEAVY])] == [False] * 6 + [True] * 4
