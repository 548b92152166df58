"""Many brief texts at once: what is left out holds nothing, and what is chosen is chosen for a reason."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import event, example
from hypothesis import given as over
from hypothesis import strategies as st

from reducer.entities import GROUPS, TYPES, scanner
from reducer.entities.many import promising
from tests.contents import texts
from tests.entities.texts import tempting
from tests.laws.strategies import ENTITIES, WORDS

KINDS = (frozenset(TYPES), frozenset(GROUPS["ioc"]), frozenset(("cve",)), frozenset(("threat_actor",)), frozenset(("mitre_attack", "sha256")))
some = st.lists(st.one_of(tempting, st.text(max_size=40), st.sampled_from((*ENTITIES, *WORDS))), max_size=12)


@over(some, st.sampled_from(KINDS))
@example(["", "a", "CVE-2024", "-3400", "1.2.3", ".4", "evil", ".com"], KINDS[0])
@example(["2001:db8:1:2:3:4:5:6", "::1", "hxxp:\\\\evil.com", "a@b.de", "evil[.", "]com", "x\x01y.com"], KINDS[0])
def test_what_is_left_out_holds_nothing(given: list[str], types: frozenset[str]) -> None:
    scan = scanner(types)
    chosen = list(promising(types)(given))
    left_out = [text for text in given if text not in chosen]
    event(f"{len(left_out)} of {len(given)} left out")
    assert not [text for text in left_out if scan(text)]
    assert sorted(chosen) == sorted(text for text in given if text in chosen)


def test_dull_texts_are_left_out() -> None:
    dull = ["info", "2024-05-01T10:44:22.123Z", "version 4.2 of it", "Seen again. Then not", "a, b", "10:44:22", "x" * 40, "7"]
    assert list(promising(KINDS[0])([*dull, "evil.com", *dull])) == ["evil.com"]


def test_what_is_left_out_of_real_returns_holds_nothing(data: Path) -> None:
    scan, choose = scanner(KINDS[0]), promising(KINDS[0])
    for path in sorted((data / "tool_outputs").glob("*.json"))[::9]:
        found = dict.fromkeys(texts(json.loads(path.read_bytes())))
        chosen = set(choose(found))
        assert not [text for text in found if text not in chosen and scan(text)], path.name
