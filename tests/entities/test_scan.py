from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from reducer.entities import GROUPS, TYPES, Entity, expand, scan, scanner

TEXT = (
    "C2 at hxxps://evil[.]com/a.php and 45.1.2.3, mail bob[@]evil[.]com; APT28 (Fancy Bear) used Emotet, T1059.001 and"
    " CVE-2021-44228"
)


def test_entities_come_in_order() -> None:
    assert [(e.type, e.value, e.canonical) for e in scan(TEXT)] == [
        ("url", "hxxps://evil[.]com/a.php", "https://evil.com/a.php"),
        ("ipv4", "45.1.2.3", "45.1.2.3"),
        ("email", "bob[@]evil[.]com", "bob@evil.com"),
        ("threat_actor", "APT28", "APT28"),
        ("threat_actor", "Fancy Bear", "APT28"),
        ("malware", "Emotet", "Emotet"),
        ("mitre_attack", "T1059.001", "T1059.001"),
        ("cve", "CVE-2021-44228", "CVE-2021-44228"),
    ]
    assert all(TEXT[e.start : e.end] == e.value for e in scan(TEXT))


def test_types_and_groups_select() -> None:
    assert scan("") == scan("nothing to see here") == scan("\ud800") == []
    assert [e.type for e in scan(TEXT, ["cve", "ip"])] == ["ipv4", "cve"]
    assert scan(TEXT, []) == []
    assert expand(["hash", "cve"]) == {"md5", "sha1", "sha256", "sha512", "cve"}
    assert expand(TYPES) == set(TYPES)
    assert all(set(types) <= set(TYPES) for types in GROUPS.values())


@pytest.mark.parametrize("read", [expand, lambda types: scan(TEXT, types)])
def test_an_unknown_type_is_a_key_error_that_names_it(read: Callable[[list[str]], object]) -> None:
    with pytest.raises(KeyError, match="ip-src"):
        read(["cve", "ip-src"])


def test_a_hash_and_an_id_in_a_url_are_found_too() -> None:
    url = "https://www.virustotal.com/gui/file/d41d8cd98f00b204e9800998ecf8427e/detection"
    assert [(e.type, e.value) for e in scan(url)] == [("url", url), ("md5", "d41d8cd98f00b204e9800998ecf8427e")]
    assert [e.type for e in scan("https://nvd.nist.gov/vuln/detail/CVE-2021-44228")] == ["url", "cve"]


def test_a_scanner_is_made_once_and_shared_by_threads() -> None:
    find = scanner(frozenset(TYPES))
    assert scanner(frozenset(TYPES)) is find
    with ThreadPoolExecutor(4) as pool:
        assert {tuple(found) for found in pool.map(find, [TEXT] * 200)} == {tuple(scan(TEXT))}


def test_callers_cannot_change_the_cache() -> None:
    scan("evil.com").clear()
    assert scan("evil.com") == [Entity("domain", "evil.com", "evil.com", 0, 8)]
    assert isinstance(scanner(frozenset(TYPES))("evil.com"), tuple)


def test_importing_the_package_loads_neither_names_nor_patterns() -> None:
    names = "[name for name in sys.modules if name.startswith(('ahocorasick', 'reducer.entities.'))]"
    code = f"import sys, reducer.entities; print({names})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['reducer.entities.entity']"
