"""JSON lines that are read in pieces of whole lines, and what else a file contains."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.errors import FileError
from reducer.inputs import chunks


@pytest.mark.parametrize("content", [b" ", b"[1],\n"])
def test_a_history_above_the_limit_is_refused(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_HISTORY", 1_000_000)
    file = io.BytesIO(content * (2 * chunks.MAX_LINE // len(content)))
    with pytest.raises(FileError, match=r"^a\.json: larger than 1,000,000 bytes; split it into"):
        list(chunks._chunks(file, "a.json"))
    assert file.tell() < chunks.MAX_LINE + 2_000_000


_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_sizes = st.sampled_from([0, 1, 5, 28, 29, 30, 31, 60, 99, 100, 101, 130, 250])
_texts = st.lists(st.tuples(_sizes, st.sampled_from([b"\n", b"\r\n", b"\r", b""])))


def small(content: bytes) -> list[chunks.Chunk]:
    """Cut with lines of 100 bytes at most and chunks of 30."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_LINE", 100), ("_MIN_CHUNK", 30)):
            patch.setattr(f"reducer.inputs.chunks.{name}", value)
        return list(chunks._chunks(io.BytesIO(content), "a.jsonl"))


@given(_texts)
def test_chunks_are_the_stream_and_lines_stay_whole(sizes: list[tuple[int, bytes]]) -> None:
    content = b"".join(b"x" * size + end for size, end in sizes)
    found = small(content)
    assert b"".join(chunk.content for chunk in found) == content
    lines = _LINE.findall(content)
    short = [line for chunk in found if chunk.kind == "lines" for line in _LINE.findall(chunk.content)]
    assert short == [line for line in lines if len(line) <= 100]
    long = [chunk.number for chunk in found if chunk.kind == "long line"]
    assert long == [number for number, line in enumerate(lines, 1) if len(line) > 100]


def test_a_chunk_ends_at_the_first_possible_line() -> None:
    content = (b"x" * 99_999 + b"\n") * 100
    sizes = [len(chunk.content) for chunk in chunks._chunks(io.BytesIO(content), "a.jsonl")]
    assert sizes == [2_100_000] * 4 + [1_600_000]


NO_LINES = [b"", b" \n\n", b"{}\n\n  \r\n", b'[\n {"kind": "request"}\n]\n', b"hello\n{}\n", b"1\n2\n"]
NO_LINES += [b"[" * 100_000 + b"\n{}", b'["' + b"x" * chunks.MAX_LINE + b'"]\n{}', b"\n" * 400_000 + b"{}\n{}\n"]
LINES = [b"{}\r\n{}\r\n", b"\xef\xbb\xbf\n \n[]\nwrong"]
LINES += [b" \n" * 100_000 + b"{}" + b" " * 100_000 + b"\n" * 100_000 + b"{"]


@pytest.mark.parametrize(
    ("content", "expected"), [*((content, False) for content in NO_LINES), *((content, True) for content in LINES)]
)
def test_json_lines_are_detected_by_their_first_lines(content: bytes, expected: bool) -> None:
    stream = io.BytesIO(content)
    found, head = chunks._detect_lines(stream)
    assert found is expected
    assert b"".join(head) + stream.read() == content


@pytest.mark.parametrize(
    ("name", "is_lines"),
    [
        *(("a.jsonl", True), ("a.ndjson.gz", True), ("a.JSONL.zst", True), ("jsonl", False)),
        *(("a.json", False), ("A.JSON.GZ", False), ("a.zst", False), ("gz", False)),
    ],
)
def test_names_of_json_lines(name: str, is_lines: bool) -> None:
    (chunk,) = chunks._chunks(io.BytesIO(b"{}"), name)
    assert chunk.kind == ("lines" if is_lines else "history")
