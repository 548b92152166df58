"""Streams cut into pieces: nothing is lost, lines stay whole, and where the cuts are depends on the bytes alone."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.lines import Stream, cut
from reducer.lines.pieces import Piece, lines_of

_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_texts = st.lists(st.tuples(st.sampled_from([0, 1, 5, 28, 29, 30, 31, 60, 99, 100, 101, 130, 250]), st.sampled_from([b"\n", b"\r\n", b"\r", b""])))


def of(content: bytes) -> Stream:
    return Stream(io.BytesIO(content).read)


def small(content: bytes, step: int) -> list[Piece]:
    """Cut with lines of 100 bytes at most and pieces of 30."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_LINE", 100), ("_AIM", 30), ("_STEP", step)):
            patch.setattr(f"reducer.lines.pieces.{name}", value)
        return list(cut(of(content)))


@given(_texts, st.integers(1, 64))
def test_pieces_are_the_stream_and_lines_stay_whole(sizes: list[tuple[int, bytes]], step: int) -> None:
    content = b"".join(b"x" * size + end for size, end in sizes)
    found = small(content, step)
    assert b"".join(piece.content for piece in found) == content
    assert all(piece.content for piece in found)
    lines = _LINE.findall(content)
    short = [line for piece in found if not piece.long for line in _LINE.findall(piece.content)]
    assert short == [line for line in lines if len(line) <= 100]
    assert sum(piece.long and piece.ends for piece in found) == sum(len(line) > 100 for line in lines)
    assert found == small(content, 1000)


@given(_texts)
def test_lines_of_a_piece(sizes: list[tuple[int, bytes]]) -> None:
    content = b"".join(b"x" * size + end for size, end in sizes)
    assert [content[start:end] for start, end in lines_of(content)] == [line.removesuffix(b"\n") for line in _LINE.findall(content)]


def test_a_piece_is_as_long_as_it_must_be() -> None:
    line = b"x" * 99_999 + b"\n"
    sizes = [len(piece.content) for piece in cut(of(line * 100))]
    assert sizes == [2_100_000] * 4 + [1_600_000]


@given(st.binary(max_size=50), st.lists(st.integers(1, 20)), st.integers(0, 60))
def test_a_stream_gives_back_and_skips(content: bytes, sizes: list[int], count: int) -> None:
    source = of(content)
    for size in sizes:
        before = source.at
        found = source.read(size)
        assert content.startswith(found, before)
        assert len(found) <= size
        assert found or before == len(content)
        source.back(found)
        assert source.at == before
    assert source.skip(count) == (count <= len(content))
    assert source.read() == content[count:]
