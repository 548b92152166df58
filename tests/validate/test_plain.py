"""What PydanticAI wrote is read the quick way, and the same is found in it."""

from __future__ import annotations

import pytest
from hypothesis import event, example, given
from pydantic_core import from_json, to_json

from reducer.validate import Finding, document, validate
from tests.doors.spelled import histories


def slowly(stored: bytes) -> list[Finding]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "_plain", lambda stored: document._NOT_READ)
        return validate(stored)


@given(text=histories())
@example(text='[{"parts":[],"parts":[],"kind":"request"}]')
@example(text='[{"parts":[NaN,1e400,-0],"kind":"request"}]')
@example(text='[{"parts":[{"part_kind":"tool-return","tool_name":"t","content":"\\u0000\\ud800"}],"kind":"request"}]\n')
@example(text='[{"parts":[{"part_kind":"tool-return","tool_name":"t","content":"x"}],"kind":"request"}]\n')
def test_the_quick_way_finds_what_the_slow_way_finds(text: str) -> None:
    stored = text.encode()
    assert validate(stored) == slowly(stored)
    try:
        written = to_json(from_json(stored.removeprefix(b"\xef\xbb\xbf")))
    except ValueError:
        event("PydanticAI's reader refuses it")
        return
    event(f"read quickly: {document._plain(written) is not document._NOT_READ}")
    assert validate(written) == slowly(written)


def test_what_was_written_otherwise_is_not_read_quickly() -> None:
    for stored in (b'[{"a":1,"a":1}]', b'[{"a": 1}]', b"[NaN]", b"[1e400]", b"[1.50]", b'["\\u0041"]', b"[" * 300 + b"]" * 300, b"[1", b"\xff"):
        assert document._plain(stored) is document._NOT_READ
    assert document._plain(b'[{"a":1.5,"b":"\\n"}]\n') == [{"a": 1.5, "b": "\n"}]
