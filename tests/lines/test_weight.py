"""Lines that would take too much memory are known by their bytes."""

from __future__ import annotations

import json

import pytest

from reducer.lines import is_heavy

_RECORD = {"id": 1, "hostname": "host-1.example.com", "address": "10.1.2.3", "tags": ["botnet", "tor"], "note": "Seen in a scan of the whole network. " * 4}


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
)  # fmt: skip
def test_what_is_heavy(line: bytes, expected: bool) -> None:
    assert len(line) < 16 * 1024 * 1024
    assert is_heavy(line) is expected
