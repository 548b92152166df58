"""JSON lines that are read in pieces of whole lines, and what else a file contains."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.errors import FileError
from reducer.inputs import chunks


@pytest.mark.parametrize("content", [b" ", b"[1],\n", b"{}\n{}" + b" " * 2_000_000])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_history_above_the_limit_is_refused(content: bytes, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_HISTORY", 1_000_000)
    file = io.BytesIO(content * (40_000_000 // len(content)))
    if name == "a.jsonl" and content == b"[1],\n":
        assert {chunk.kind for chunk in chunks._chunks(file, name)} == {"lines"}
        return
    with pytest.raises(FileError, match=f"^{name}: a history larger than 1,000,000 bytes; split it$"):
        list(chunks._chunks(file, name))
    assert file.tell() < 5_000_000


_sizes = st.sampled_from([0, 1, 5, 28, 29, 30, 31, 60, 99, 100])
_texts = st.lists(st.tuples(_sizes, st.sampled_from([b"\n", b"\r\n", b"\r", b""])))


@given(_texts)
def test_chunks_are_the_stream_and_lines_stay_whole(sizes: list[tuple[int, bytes]]) -> None:
    content = b"".join(b"x" * size + end for size, end in sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reducer.inputs.chunks._MIN_CHUNK", 30)
        found = list(chunks._chunks(io.BytesIO(content), "a.jsonl"))
    assert b"".join(chunk.content for chunk in found) == content
    number = 1
    for chunk in found[:-1]:
        assert (chunk.number, chunk.content[-1:]) == (number, b"\n")
        assert 30 <= len(chunk.content) < 30 + len(chunk.histories[-2]) + 1
        number += len(chunk.histories) - 1
    assert found[-1].number == number


NO_LINES = [b"", b" \n\n", b"{}\n\n  \r\n", b'[\n {"kind": "request"}\n]\n', b"hello\n{}\n", b"1\n2\n"]
NO_LINES += [b"[" * 100_000 + b"\n{}", b"\n" * 400_000 + b"{}\n{}\n"]
LINES = [b"{}\r\n{}\r\n", b"\xef\xbb\xbf\n \n[]\nwrong"]
LINES += [b" \n" * 100_000 + b"{}" + b" " * 100_000 + b"\n" * 100_000 + b"{"]
SESSIONS = [b'{"type": "summary", "leafUuid": "u"}\n{}\n', b'\n{"type": "session_meta", "payload": {}}\r\n{}']


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        *((content, "a", "history") for content in NO_LINES),
        *((content, "a", "lines") for content in LINES),
        *((content, name, "history") for content in SESSIONS for name in ("a", "a.jsonl")),
        (b'{"type": "x"}\n' + SESSIONS[0], "a.jsonl", "lines"),
        *((b"{}", name, "lines") for name in ("a.jsonl", "a.ndjson.gz", "a.JSONL.zst")),
        *((b"{}", name, "history") for name in ("a.json", "A.JSON.GZ", "a.zst", "gz", "jsonl")),
    ],
)
def test_json_lines_are_detected_by_their_name_or_their_first_lines(content: bytes, name: str, expected: str) -> None:
    found = list(chunks._chunks(io.BytesIO(content), name))
    assert {chunk.kind for chunk in found} == {expected}
    assert b"".join(chunk.content for chunk in found) == content
