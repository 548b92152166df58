r"""Escapes such as `\u0440` in JSON text: they are the characters that they write, and no cut splits them."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.entities import GROUPS, TYPES, scan, scanner
from reducer.entities.entity import Scan, under_key
from reducer.entities.vocabulary import BUILT_IN
from reducer.plan.cuts import Cut, shortened
from tests.entities.texts import observable, tempting

ALL = frozenset(TYPES)
FIND = scanner(ALL)
# Paths contain backslashes, so their backslashes are never escapes.
OBSERVE = scanner(frozenset(GROUPS["observable"]) - {"file_path", "registry_key"})
POSTS = "b\\u00e4ckup-portal.com", "\\u0440\\u0430\\u0443\\u0440\\u0430l.com", "caf\\u00e9-login.net"


def escaped(text: str, backslashes: int = 1) -> str:
    """Return a text with everything but ASCII escaped, as JSON text within `backslashes - 1` other texts."""
    return re.sub("[^\x00-\x7f]+", lambda match: json.dumps(match[0])[1:-1].replace("\\", "\\" * backslashes), text)


@pytest.mark.parametrize("find", [FIND, OBSERVE], ids=["default types", "observables"])
@pytest.mark.parametrize("backslashes", [1, 2, 4])
@given(text=st.one_of(tempting, observable, st.text(st.sampled_from("раy.com@/:éß𝐞 “”\n[]1"), max_size=30)))
@example(text="\ud835é😀evil.com“ü.рф”")
def test_an_escaped_text_has_the_entities_of_its_text(find: Scan, backslashes: int, text: str) -> None:
    text = re.sub(r"\\+(?=[^\x00-\x7f]|u)", "", text)
    event(f"{min(len(find(text)), 3)} entities")
    found = find(escaped(text, backslashes))
    assert [(e.type, e.canonical) for e in found] == [(e.type, e.canonical) for e in find(text)]
    assert [e.value for e in found] == [escaped(e.value, backslashes) for e in find(text)]
    for entity in found:
        same = [e for e in under_key(find, "mentions", entity.value) if e.type == entity.type]
        assert [(e.value, e.canonical) for e in same] == [(entity.value, entity.canonical)]


def test_a_path_is_read_as_written() -> None:
    path = r"C:\Users\u123456\AppData\x.exe"
    assert [(e.value, e.canonical) for e in scan(path, ["file_path"])] == [(path, path)]
    quoted = r"\u201c/etc/passwd\u201d, \u201cHKLM\Software\Run"
    assert [e.value for e in scan(quoted, ["file_path", "registry_key"])] == ["/etc/passwd", r"HKLM\Software\Run"]


@given(st.sampled_from((*POSTS, r"evil.com\u0430", r"\ud835\udc1evil.com\\u00e4", r"\u201cevil.com\u201d")), st.data())
def test_no_cut_splits_an_escape(value: str, data: st.DataObject) -> None:
    text = f"{'-' * 90}{value}{'-' * 90}"
    head, tail = data.draw(st.integers(0, 90 + len(value))), data.draw(st.integers(0, 90 + len(value)))
    scan = BUILT_IN.everything()
    cut = shortened(Cut(text, ((0, len(text)),)), head, tail, scan)
    whole = {entity.canonical for entity in scan(text)}
    kept = [text[start:end] for start, end in cut.kept] if cut else [text]
    assert {entity.canonical for part in kept for entity in scan(part)} <= whole
