from __future__ import annotations

import pytest

from reducer.errors import HistoryError
from reducer.stored import InputFormat, reduce_json, returns
from tests.doors.fakes import shorter
from tests.doors.spelled import history

EXPECTED = "expected a list of messages, each an object with `kind` and `parts`, or with `role` and `parts` in a session history"
NATIVE = '{"parts":[],"kind":"request"}'
SESSION = '{"role":"user","text_content":"hi","parts":[]}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty: expected a list of messages"),
        (b" \n", "empty: expected a list of messages"),
        (b"hello", "not JSON: Expecting value at line 1, column 1"),
        (
            b'[{"parts":[],\n "kind":"request",}]',
            "not JSON: Expecting property name enclosed in double quotes at line 2, column 19",
        ),
        (b'[{"parts":[],"kind":"request"}\n{}]', "not JSON: Expecting ',' delimiter at line 2, column 1"),
        (b'[{"parts":[],"kind":"request"}] x', "not JSON: Extra data at line 1, column 33"),
        (b'[{"parts":[],"kind":"reque', "cut off: the text ends at line 1, column 27, in the middle of a history"),
        (b'[{"parts":[tru', "cut off: the text ends at line 1, column 15, in the middle of a history"),
        (b"\xff\xfe[\x00]\x00", "not UTF-8 text: byte 0xff at line 1, byte 1"),
        (b'["a",\n"\xed\xa0\x80"]', "not UTF-8 text: byte 0xed at line 2, byte 2"),
        (b"12", f"not a history: found a number, {EXPECTED}"),
        (b'"a"', f"not a history: found a text, {EXPECTED}"),
        (b"null", f"not a history: found null, {EXPECTED}"),
        (b"{}", f"not a history: found an empty object, {EXPECTED}"),
        (b'{"answers":[],"id":1}', f"not a history: found an object with the keys answers, id, {EXPECTED}"),
        (b'{"data":{"items":[{"a":1}]}}', f"not a history: found an object with the keys data, {EXPECTED}"),
        (b'[{"role":"user","content":"hi"}]', f"not a history: message 1 is none: found an object with the keys role, content, {EXPECTED}"),
        (b'[{"role":"user","parts":[{"text":"hi"}]}]', f"not a history: found messages with `role` and `parts` that carry no activities, {EXPECTED}"),
        (
            f"[{NATIVE},{SESSION}]".encode(),
            "not a history: message 2 is none: found one of a session history, expected a list of messages, each an object with `kind` and `parts`",
        ),
        (
            f"[{SESSION},{SESSION},{NATIVE}]".encode(),
            "not a history: message 3 is none: found one as PydanticAI stores it, "
            "expected a list of messages of a session history, each an object with `role` and `parts`",
        ),
        (
            f'{{"data":{{"history":[{NATIVE},{NATIVE},7]}}}}'.encode(),
            "not a history: message 3 of `data.history` is none: found a number, expected a list of messages, each an object with `kind` and `parts`",
        ),
        (f"[7,{NATIVE}]".encode(), f"not a history: message 1 is none: found a number, {EXPECTED}"),
        (f'[{SESSION},\n{{"role":"user","parts":[],}}]'.encode(), "not JSON: Expecting property name enclosed in double quotes at line 2, column 27"),
        (f'[{SESSION},{{"role":"user","parts":[{{"content":"cu'.encode(), "cut off: the text ends at line 1, column 87, in the middle of a history"),
        (
            b'[{"parts":[],"kind":"request"},{"role":"user","content":"hi"}]',
            "not a history: message 2 is none: found an object with the keys role, content, expected a list of messages, "
            "each an object with `kind` and `parts`",
        ),
        (
            b"[[1]]",
            f"not a history: message 1 is none: found a list, {EXPECTED}",
        ),
        (b'[{"kind":"request","parts":{}}]', "not a history: found an empty object as `parts`, expected a list"),
        (b"[" * 100_000, "nested deeper than 10,000 levels at line 1, column 10002"),
        (
            history("[" * 100_000 + "]" * 100_000),
            "nested deeper than 10,000 levels at line 1, column 10036",
        ),
    ],
)
def test_what_is_no_history_is_refused(data: bytes, message: str) -> None:
    for read in (lambda: reduce_json(data, shorter), lambda: list(returns(data))):
        with pytest.raises(HistoryError) as caught:
            read()
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "input_format", "message"),
    [
        (f"[{SESSION}]", "model-messages", "expected a list of messages, each an object with `kind` and `parts`"),
        (f"[{NATIVE}]", "session", "expected a list of messages of a session history, each an object with `role` and `parts`"),
    ],
)
def test_a_history_of_another_form_than_asked_for_is_refused(data: str, input_format: InputFormat, message: str) -> None:
    with pytest.raises(HistoryError) as caught:
        reduce_json(data.encode(), shorter, input_format)
    assert str(caught.value).startswith("not a history: message 1 is none: found an object with the keys ")
    assert str(caught.value).endswith(message)
