"""JSON lines: how they are recognised, and how a stream is cut into pieces of whole lines."""

from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.histories.lines import MAX_LINE, Piece, Stream, are_lines, is_heavy, is_lines_name, lines_of, pieces

_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_sizes = st.sampled_from([0, 1, 5, 28, 29, 30, 31, 60, 99, 100, 101, 130, 250])
_texts = st.lists(st.tuples(_sizes, st.sampled_from([b"\n", b"\r\n", b"\r", b""])))


def of(content: bytes) -> Stream:
    return Stream(io.BytesIO(content).read)


def small(content: bytes, step: int) -> list[Piece]:
    """Cut with lines of 100 bytes at most and pieces of 30."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_LINE", 100), ("_PIECE", 30), ("_STEP", step)):
            patch.setattr(f"reducer.histories.lines.{name}", value)
        return list(pieces(of(content)))


@given(_texts, st.integers(1, 64))
def test_pieces_are_the_stream_and_lines_stay_whole(sizes: list[tuple[int, bytes]], step: int) -> None:
    content = b"".join(b"x" * size + end for size, end in sizes)
    found = small(content, step)
    assert b"".join(piece.content for piece in found) == content
    lines = _LINE.findall(content)
    short = [line for piece in found if not piece.long for line in _LINE.findall(piece.content)]
    assert short == [line for line in lines if len(line) <= 100]
    assert sum(piece.long and piece.ends for piece in found) == sum(len(line) > 100 for line in lines)
    assert found == small(content, 1000)
    assert [content[start:end] for start, end in lines_of(content)] == [line.removesuffix(b"\n") for line in lines]


def test_a_piece_is_as_long_as_it_must_be() -> None:
    sizes = [len(piece.content) for piece in pieces(of((b"x" * 99_999 + b"\n") * 100))]
    assert sizes == [2_100_000] * 4 + [1_600_000]


@given(st.binary(max_size=50), st.lists(st.integers(1, 20)))
def test_a_stream_unreads(content: bytes, sizes: list[int]) -> None:
    source = of(content)
    for size in sizes:
        before = source.at
        found = source.read(size)
        assert content.startswith(found, before)
        assert len(found) <= size
        assert found or before == len(content)
        source.unread(found)
        assert source.at == before
    assert source.read() == content


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", False),
        (b" \n\n", False),
        (b"{}\n\n  \r\n", False),
        (b'[\n {"kind": "request"}\n]\n', False),
        (b"hello\n{}\n", False),
        (b"1\n2\n", False),
        (b"[" * 100_000 + b"\n{}", False),
        (b'["' + b"x" * MAX_LINE + b'"]\n{}', False),
        (b"{}\r\n{}\r\n", True),
        (b"\xef\xbb\xbf\n \n[]\nwrong", True),
        (b" \n" * 100_000 + b"{}" + b" " * 100_000 + b"\n" * 100_000 + b"{", True),
    ],
)
def test_lines_are_recognised_by_how_they_begin(content: bytes, expected: bool) -> None:
    stream = of(content)
    assert are_lines(stream) is expected
    assert stream.at == 0
    assert stream.read() == content


def test_names_of_json_lines() -> None:
    assert all(map(is_lines_name, ("a.jsonl", "a.ndjson.gz", "a.JSONL.zst")))
    assert not any(map(is_lines_name, ("a.json.gz", "a.json", "jsonl")))


_RECORD = {"id": 1, "hostname": "host-1.example.com", "tags": ["botnet", "tor"], "note": "Seen in a scan. " * 8}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"[" + b"{}," * 1_000_000, False),  # 3 MB: whatever it is
        (b"[" + b"{}," * 2_000_000, True),
        (b"[" + b"1," * 8_000_000, True),
        (json.dumps([_RECORD] * 50_000).encode(), False),
        (b'"' + b"one, two, three and so on. " * 600_000, False),
        (('"' + "… " * 4_000_000).encode(), False),
        (('"\U0001f600' + "x" * 11_000_000).encode(), False),
        (('"\U0001f600' + "x" * 15_000_000).encode(), True),
        (b'"\\ud83d\\ude00' + b"x" * 15_000_000, True),
        (b'"\\u00e4' + b"x" * 15_000_000, False),
    ],
)
def test_what_is_heavy(line: bytes, expected: bool) -> None:
    assert is_heavy(line) is expected
