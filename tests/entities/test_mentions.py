"""One example of each type in a marker: it is mentioned, read again, and found there by another rule."""

from __future__ import annotations

import pytest

from reducer.entities import TYPES, scan
from reducer.entities.entity import ALL_TYPES
from reducer.entities.observables import TABLE
from tests.helpers import reduced

EXAMPLES = {
    "ipv4": "203.0.113[.]7", "ipv6": "2001:db8::1", "domain": "mail-diacie[.]top", "url": "hxxps://a[.]com/x",
    "email": "bob[@]evil.com", "md5": "d41d8cd98f00b204e9800998ecf8427e", "sha1": "a1b2c3d4" * 5,
    "sha256": "a1b2c3d4" * 8, "sha512": "a1b2c3d4" * 16, "cve": "CVE-2024-3400", "mitre_attack": "T1566.002",
    "threat_actor": "Fancy Bear", "malware": "LummaC2", "tool": "AnyDesk",
    **{row.type: row.example for row in TABLE},
}  # fmt: skip
ESCAPED = [
    ("domain", r"b\u00e4ckup-portal.com"),
    ("url", r"http://\ud835\udc1evil.com/a"),
    ("email", r"b@\\u0440al.com"),
]
QUOTED = r"HKLM\Software\Run Key"
BEFORE = {"ja3": "ja3: ", "registry_key": '"'}
AFTER = {"registry_key": '"'}
WORDS = "this is said at some length " * 12


def test_each_type_has_an_example() -> None:
    assert set(EXAMPLES) == set(ALL_TYPES) >= set(TYPES)


@pytest.mark.parametrize(("kind", "value"), [*EXAMPLES.items(), *ESCAPED, ("registry_key", QUOTED)])
def test_truncate_mentions_an_entity_and_reads_it_again(kind: str, value: str) -> None:
    """If an example fails, its row needs text before a value: declare it as `before` of the row."""
    rule = {"steps": [{"path": "note", "truncate": 30}], "preserve": [kind]}
    result = reduced(rule, {"note": f"{WORDS}with {BEFORE.get(kind, '')}{value}{AFTER.get(kind, '')} in it. {WORDS}"})
    assert result["note"].endswith(f" more characters; mentions {value}]")
    assert reduced(rule, result) is result
    shorter = {"steps": [{"path": "note", "truncate": 10}], "preserve": [kind]}
    assert reduced(shorter, result)["note"].endswith(f" more characters; mentions {value}]")


@pytest.mark.parametrize(("kind", "value"), [*EXAMPLES.items(), ("registry_key", QUOTED)])
def test_each_entity_that_a_marker_mentions_is_found_in_it(kind: str, value: str) -> None:
    for mentions in (value, f"{value}, {value}", f"198.51.100.9, {value}"):
        text = f"this is …[120 more characters; mentions {mentions}]"
        assert [e.value for e in scan(text, [kind]) if e.value == value] == [value] * mentions.count(value)


def test_a_value_that_needs_text_before_it_is_nothing_in_other_lists() -> None:
    value = EXAMPLES["ja3"]
    assert scan(f"{value}, {value}; nobody says so. {value}, {value}", ["ja3"]) == []
    assert [e.start for e in scan(f"JA3={value}, {value}", ["ja3"])] == [4]
