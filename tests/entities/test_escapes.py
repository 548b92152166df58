r"""Escapes such as `\u0440` in JSON text: they are the characters that they write, and no cut splits them."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.entities import GROUPS, TYPES, scan, scanner
from reducer.entities.entity import Scan, under_key
from reducer.entities.search import compiled_for_many
from reducer.entities.vocabulary import BUILT_IN
from reducer.plan.cuts import Cut, shortened
from tests.entities.texts import observable, tempting
from tests.helpers import reduced, rules

ALL = frozenset(TYPES)
FIND = scanner(ALL)
# Paths contain backslashes, so their backslashes are never escapes.
OBSERVE = scanner(frozenset(GROUPS["observable"]) - {"file_path", "registry_key"})
POSTS = "b\\u00e4ckup-portal.com", "\\u0440\\u0430\\u0443\\u0440\\u0430l.com", "caf\\u00e9-login.net"


def escaped(text: str, backslashes: int = 1) -> str:
    """Return a text with everything but ASCII escaped, as JSON text within `backslashes - 1` other texts."""
    return re.sub("[^\x00-\x7f]+", lambda match: json.dumps(match[0])[1:-1].replace("\\", "\\" * backslashes), text)


@pytest.mark.parametrize(
    ("text", "kind", "value", "canonical"),
    [
        (r"b\u00e4ckup-portal.com", "domain", r"b\u00e4ckup-portal.com", "bäckup-portal.com"),
        (r"\u0440\u0430\u0443\u0440\u0430l.com", "domain", r"\u0440\u0430\u0443\u0440\u0430l.com", "раураl.com"),
        (r"caf\u00e9-login.net", "domain", r"caf\u00e9-login.net", "café-login.net"),
        (r"CAF\u00C9-login.net", "domain", r"CAF\u00C9-login.net", "café-login.net"),
        (r"\u043F\u0440.\u0440\u0444", "domain", r"\u043F\u0440.\u0440\u0444", "пр.рф"),
        (r"\u0065vil.c\u006fm", "domain", r"\u0065vil.c\u006fm", "evil.com"),
        (r"evil\u005b.\u005dcom", "domain", r"evil\u005b.\u005dcom", "evil.com"),
        (r"evil\uff0ecom", "domain", r"evil\uff0ecom", "evil.com"),
        (r"http://\ud835\udc1evil.com/a", "url", r"http://\ud835\udc1evil.com/a", "http://𝐞vil.com/a"),
        (r"http://\u0440aypal.com/\u0440?a=1\u0026b=2", "url", r"http://\u0440aypal.com/\u0440?a=1\u0026b=2",
         "http://рaypal.com/р?a=1&b=2"),
        (r"bob@\u0440aypal.com", "email", r"bob@\u0440aypal.com", "bob@рaypal.com"),
        (r"\u00311.22.33.44", "ipv4", r"\u00311.22.33.44", "11.22.33.44"),
        (r"CVE\u20112024\u20113400", "cve", r"CVE\u20112024\u20113400", "CVE-2024-3400"),
        (r"by \u201cAPT28\u201d", "threat_actor", "APT28", "APT28"),
        (r"\u000aAPT28\u0000", "threat_actor", "APT28", "APT28"),
        # one surrogate alone is no letter, before a name or in it
        (r"\ud835evil.com", "domain", "evil.com", "evil.com"),
        (r"\udc1eevil.com\ud835", "domain", "evil.com", "evil.com"),
        # doubled backslashes: JSON in JSON
        (r'{"a": "{\"b\": \"\\u0440aypal.com\"}"}', "domain", r"\\u0440aypal.com", "рaypal.com"),
        # a letter beyond U+FFFF is one of no script that separates words, also when it is not escaped
        (r"x\\ud835\\udc1evil.com", "domain", "vil.com", "vil.com"),
        # a log line, JSON below a head line, JSON that was cut
        (r'10:42 INFO got {"h": "\u0440aypal.com"', "domain", r"\u0440aypal.com", "рaypal.com"),
        ('HTTP/1.1 200\n\n{"h": "\\u0440aypal.com"}', "domain", r"\u0440aypal.com", "рaypal.com"),
        (r'{"h": "\u0440aypal.com", "n": "\u04', "domain", r"\u0440aypal.com", "рaypal.com"),
        # a letter is next to it
        (r"evil.com\u0430", "domain", "", ""),
        (r"\u0430evil.com\u00e4", "domain", "", ""),
        # no escapes
        (r"x \u0044", "domain", "", ""),
        (r"\u20evil.com", "domain", "", ""),
    ],
)  # fmt: skip
def test_an_escape_is_the_character_that_it_writes(text: str, kind: str, value: str, canonical: str) -> None:
    found = scan(text, [kind])
    assert [(e.value, e.canonical) for e in found] == ([(value, canonical)] if canonical else [])
    assert all(text[e.start : e.end] == e.value for e in found)


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


def test_own_types_read_escapes_too() -> None:
    own = {"place": {"words": ["Größe"]}, "ticket": {"pattern": r"INC-\d+"}}
    known = rules(max_chars=900, entities=own).rules[0].vocabulary
    found = known.scanner(frozenset(own))(r"\u201cINC-12\u201d Gr\u00f6\u00dfe INC-3\u00e9")
    assert [(e.value, e.canonical, e.start) for e in found] == [
        ("INC-12", "INC-12", 6),
        (r"Gr\u00f6\u00dfe", "Größe", 19),
    ]


def test_many_texts_with_escapes_are_read_as_alone() -> None:
    texts = [*POSTS, "evil.com", r"\ud835", r"\udc1evil.com", "münchen.de", r"x\u000ay APT28", "nothing"]
    assert compiled_for_many(ALL)(texts) == {text: tuple(FIND(text)) for text in texts if FIND(text)}


@pytest.mark.parametrize("value", [*POSTS, r"http://\ud835\udc1evil.com/a", r"bob@\\u0440aypal.com"])
def test_a_marker_mentions_a_value_as_written_and_is_read_again(value: str) -> None:
    rule = {"steps": [{"path": "log", "truncate": 20}], "preserve": ["ioc"]}
    content = {"log": f'10:42 INFO payload of the request {"x " * 50} {{"host": "{value}"}} {"y " * 50}'}
    result = reduced(rule, content)
    assert result["log"].endswith(f"; mentions {value}]")
    assert reduced(rule, result) is result


@given(st.sampled_from((*POSTS, r"evil.com\u0430", r"\ud835\udc1evil.com\\u00e4", r"\u201cevil.com\u201d")), st.data())
def test_no_cut_splits_an_escape(value: str, data: st.DataObject) -> None:
    text = f"{'-' * 90}{value}{'-' * 90}"
    head, tail = data.draw(st.integers(0, 90 + len(value))), data.draw(st.integers(0, 90 + len(value)))
    scan = BUILT_IN.everything()
    cut = shortened(Cut(text, ((0, len(text)),)), head, tail, scan)
    whole = {entity.canonical for entity in scan(text)}
    kept = [text[start:end] for start, end in cut.kept] if cut else [text]
    assert {entity.canonical for part in kept for entity in scan(part)} <= whole
