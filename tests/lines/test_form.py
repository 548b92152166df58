"""Which files hold JSON lines."""

from __future__ import annotations

import io

import pytest

from reducer.lines import MAX_LINE, Stream, are_lines, is_lines_name


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", False),
        (b" \n\n", False),
        (b"{}", False),
        (b"{}\n\n  \r\n", False),
        (b'[\n {"kind": "request"}\n]\n', False),
        (b"hello\n{}\n", False),
        (b"1\n2\n", False),
        (b"[" * 100_000 + b"\n{}", False),
        (b'["' + b"x" * MAX_LINE + b'"]\n{}', False),
        (b"{}\n{}", True),
        (b"{}\r\n{}\r\n", True),
        (b"\xef\xbb\xbf\n \n[]\nwrong", True),
        (b" \n" * 100_000 + b"{}" + b" " * 100_000 + b"\n" * 100_000 + b"{", True),
    ],
)  # fmt: skip
def test_lines_are_known_by_how_they_begin(content: bytes, expected: bool) -> None:
    stream = Stream(io.BytesIO(content).read)
    assert are_lines(stream) is expected
    assert stream.at == 0
    assert stream.read() == content


@pytest.mark.parametrize(
    ("name", "expected"), [("a.jsonl", True), ("a.ndjson.gz", True), ("a.JSONL.zst", True), ("a.json.gz", False), ("a.json", False), ("jsonl", False)]
)
def test_names_of_json_lines(name: str, expected: bool) -> None:
    assert is_lines_name(name) is expected
