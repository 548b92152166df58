"""Cases, each beside one that looks like it and is not: all types, every way to defang, names, real documents."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer import Reducer
from reducer.entities import GROUPS, TYPES, Entity, expand, scan, scanner
from reducer.entities.canonical import address_of, host_of
from reducer.entities.entity import ALL_TYPES
from tests.entities.texts import TEXTS
from tests.helpers import table
from tests.tools import build_names

HARD = Path(__file__).parents[2] / ".." / "shared" / "data" / "entities" / "hard_cases.jsonl"
HARD_CASES = [json.loads(line) for line in HARD.open(encoding="utf-8")] if HARD.exists() else []
CASES = [(kind, case) for kind, cases in table(__file__, "cases.yaml").items() for case in cases]
for kind, lines in table(__file__, "reports.yaml").items():
    CASES += [(kind, {"text": text, "found": values}) for text, values in lines]


def found(text: str, kind: str) -> list[str]:
    """Return the canonical values of one type, in order, as people read them."""
    return [readable(entity.canonical) for entity in scan(text, kind)]


def readable(canonical: str) -> str:
    """Return a canonical value with the letters that its punycode stands for."""
    return re.sub("xn--([a-z0-9-]+)", lambda label: label[1].encode().decode("punycode"), canonical)


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_case(kind: str, case: dict[str, Any]) -> None:
    assert found(case["text"], kind) == case["found"]
    if "written" in case:
        assert [entity.value for entity in scan(case["text"], [kind])] == case["written"]


@pytest.mark.data
@pytest.mark.parametrize("case", HARD_CASES, ids=[f"{n}-{case['why']}" for n, case in enumerate(HARD_CASES)])
def test_hard_case(case: dict[str, dict[str, list[str]]]) -> None:
    types = {"ttp": "mitre_attack"}
    text = str(case["text"])
    for kind, values in case["expected"].items():
        hits = [value if value.count("/") < 4 else value.rstrip("/") for value in found(text, types.get(kind, kind))]
        assert hits == [address_of(value) or value for value in values]
    for kind, values in case["must_not"].items():
        hits = found(text, types.get(kind, kind))
        assert hits == [] if values == "*" else not set(values) & set(hits)


LABELLED = {"ipv4", "ipv6", "domain", "url", "email", "md5", "sha1", "sha256", "cve", "mitre_attack"}


def labels(values: dict[str, list[str]]) -> set[tuple[str, str]]:
    """Return the type and the value of each label; the labels write URLs without a final slash."""
    named = {"ttp": "mitre_attack"}
    return {(named.get(kind, kind), value.lower().rstrip("/")) for kind, each in values.items() for value in each}


@pytest.mark.data
def test_real_documents_are_read_right(data: Path) -> None:
    """The labels do not contain tactics (TA0043). Optional values may be found or not."""
    right, false, missed = Counter[str](), Counter[str](), Counter[str]()
    for line in (data / "entities" / "labelled.jsonl").open(encoding="utf-8"):
        document = json.loads(line)
        expected = {label for label in labels(document["expected"]) if label[0] in LABELLED}
        values = {(e.type, e.canonical.lower().rstrip("/")) for e in scan(document["text"], LABELLED)}
        values = {(kind, value) for kind, value in values if not value.startswith("ta0")}
        values -= labels(document["optional"]) - expected
        for counts, some in ((right, values & expected), (false, values - expected), (missed, expected - values)):
            counts.update(kind for kind, _ in some)
    assert right.total() > 4500
    assert false.total() + missed.total() < 0.006 * right.total()  # an F1 of 99.7%
    for kind in ("domain", "url"):
        assert false[kind] + missed[kind] < 0.01 * right[kind]
    assert false["domain"] < 5


# --- defanged


def check(kind: str, value: str, canonical: str) -> None:
    for before, after in TEXTS["around"]:
        text = f"x {before}{value}{after} y"
        assert [(e.type, readable(e.canonical)) for e in scan(text, "ioc")] == [(kind, canonical)], text


@pytest.mark.parametrize("dot", TEXTS["dots"])
def test_dots(dot: str) -> None:
    for host in ("evil.com", "www.evil.co.uk", "bücher.de"):
        check("domain", dot.join(host.rsplit(".", 1)), host)
    for times in (1, -1):
        check("ipv4", "198.51.100.7".replace(".", dot, times), "198.51.100.7")
    check("email", f"bob@evil{dot}com", "bob@evil.com")
    check("url", f"hxxps://evil{dot}com/a", "https://evil.com/a")


@pytest.mark.parametrize("scheme", TEXTS["schemes"])
def test_schemes(scheme: str) -> None:
    for host in ("evil[.]com", "evil.com", "198.51.100[.]7", "bücher[.]de"):
        plain = host.replace("[", "").replace("]", "")
        check("url", f"{scheme}{host}/a", f"http://{plain}/a")
        check("url", f"{scheme.replace('p', 'ps', 1)}{host}/a", f"https://{plain}/a")


@pytest.mark.parametrize("at", TEXTS["ats"])
def test_ats(at: str) -> None:
    for host in ("evil.com", "evil[.]com"):
        check("email", f"bob{at}{host}", "bob@evil.com")


@pytest.mark.parametrize("dot", [dot for dot in TEXTS["dots"] if "DOT" not in dot])
@pytest.mark.parametrize("pair", ["see above", "f g(x)", "evil exe", "1 2", "a notatld", "198.51 100"])
def test_what_a_dot_in_brackets_does_not_make_a_host(dot: str, pair: str) -> None:
    for before, after in TEXTS["around"]:
        text = f"x {before}{pair.replace(' ', dot)}{after} y"
        assert scan(text, ["ioc"]) == [], text


# --- the canonical value


@pytest.mark.parametrize(
    "values",
    [
        ["2001:DB8:0:0:0:0:0:1", "2001:0db8::0001", "2001:db8::1"],
        ["::ffff:203.0.113.7", "::FFFF:cb00:7107"],
        ["2001:db8:0:1:1:1:1:1", "2001:DB8:0000:1:1:1:1:1"],
        ["münchen.de", "MÜNCHEN.de", "mu\u0308nchen[.]de", "xn--mnchen-3ya.de", "XN--MNCHEN-3YA.de"],
        ["пример.рф", "xn--e1afmkfd.xn--p1ai", "ПРИМЕР[.]РФ"],
        ["bob@münchen.de", "BOB[@]xn--mnchen-3ya.de"],
        ["https://a.com", "https://a.com/", "HTTPS://A.com:443", "hxxps://a[.]com:443/", "https://a.com./"],
        ["https://a.com/?q", "https://a.com?q", "https://a.com:443?q"],
        ["http://münchen.de/Ä", "http://xn--mnchen-3ya.de:80/Ä", "hxxp://MÜNCHEN[.]de/Ä"],
        ["http://[2001:DB8::0:1]:80/x", "http://[2001:db8::1]/x"],
        ["ftp://a.com:21/x", "fxp://a.com/x"],
    ],
)
def test_values_that_mean_the_same_have_one_canonical_value(values: list[str]) -> None:
    found = [scan(f"C2: {value}")[0] for value in values]
    assert [entity.value for entity in found] == values
    assert {entity.canonical for entity in found} == {found[0].canonical}


@pytest.mark.parametrize(
    "values",
    [
        ["https://a.com/x", "https://a.com/x/", "https://a.com/X", "http://a.com/x", "https://a.com:80/x"],
        ["https://a.com", "https://a.com//", "https://a.com:8443", "https://b@a.com", "https://B@a.com"],
        ["straße.de", "strasse.de"],
        ["аррӏе.com", "apple.com"],
        ["2001:db8::1", "2001:db8::1:0"],
    ],
)
def test_values_that_differ_have_canonical_values_that_differ(values: list[str]) -> None:
    assert len({entity.canonical for value in values for entity in scan(f"C2: {value}")}) == len(values)


@given(st.text(max_size=70))
def test_a_host_and_an_address_have_one_canonical_value(name: str) -> None:
    assert host_of(host_of(name)) == host_of(name)
    assert address_of(address_of(name)) == address_of(name)


# --- names

NAMES = files("reducer.entities").joinpath("names.txt").read_text("utf-8")
LISTED = {name for _, name in re.findall("(?m)^[amt]+([=~])([^|\n]+)", NAMES)}
WORDS = "waren Mitglieder komplex bonsoir minimo frutas "
WORDS += "Payload payload cmd.exe Defender Play First One at net STOP Trojan ping mercury Mercury conti"


@pytest.mark.parametrize(
    "text",
    [
        "TA0043 and TA0001, T1059, xAPT28, APT28x, UNC2452_x",
        "a Polar Bear, The Panda, red panda, Teddy Bear, Black Spider, super Typhoon, his Kitten",
        *WORDS.split(),
        "https://x.com/emotet-loader emotet.ru files/emotet/a.exe bob@emotet.com",
        "Emotets xEmotet Emotet_x Emotet2",
        "end. Tick the box. Watchdog timer runs. Patchwork of fields. Maze of rooms",
        "Die Mitglieder waren komplex. Bonsoir. Il minimo. Las frutas",
    ],
)
def test_tactics_animals_words_and_parts_of_addresses_are_no_names(text: str) -> None:
    assert scan(f"the {text} was", ["threat_actor", "malware"]) == []
    assert text not in LISTED


_BEFORE = [
    *("", " ", "\n", "\t", "(", '"', ", ", ": ", "x\n", "日", "\\n", "\\r", "\\t", "x\\n", "\\n\\n", "\\\\n"),
    *("x " * 40 + "\\n", "x" * 80 + "\\t"),
]
_named = st.sampled_from(sorted(LISTED))


@given(_named, st.sampled_from(_BEFORE), st.sampled_from(["", " ", "\n", ")", '"', ",", "\\n", "\\", "日"]))
@example("njRAT", "\\", "")
@example("Turla", "\\", "\\")
@example("Remcos", "\\n", "\\r")
@example("Evil Corp", "\\r", "")
@example("njRAT", "x " * 40 + "\\", "")
@example("njRAT", "x " * 40 + "\\n", "")
def test_a_name_reads_alike_after_all_that_is_no_letter(name: str, before: str, after: str) -> None:
    alone = [(e.type, e.value, e.canonical) for e in scan(name, ["threat_actor", "malware", "tool"])]
    found = scan(before + name + after, ["threat_actor", "malware", "tool"])
    if found and found[0].start < len(before):  # \\rEvil Corp: `rEvil` is a name too
        assert before[-2:] in ("\\n", "\\r", "\\t")
        assert found[0].value.startswith(before[-1])
    else:
        assert [(e.type, e.value, e.canonical) for e in found] == alone
        assert alone


def test_no_listed_name_can_break_a_marker() -> None:
    assert [name for name in LISTED if ", " in name or not re.fullmatch(r"[!-~][ -~]+[!-~]", name)] == []


@pytest.mark.data
def test_the_list_is_what_its_generator_writes(data: Path) -> None:
    """The generator reads packages that nothing else needs; its docstring names them."""
    for package in ("wordfreq", "pymispgalaxies", "cape_parsers"):
        pytest.importorskip(package)
    assert build_names.content(data / "entities" / "names.json") == NAMES


def test_a_name_has_one_canonical_name_of_each_type() -> None:
    canonical: dict[tuple[str, str], str] = {}
    for kinds, name, other in re.findall(r"(?m)^([amt]+)[=~?]([^|\n]+)\|?(.*)$", NAMES):
        for kind in kinds:
            key = (kind, re.sub("[-_ ]", "", name.lower()))
            assert canonical.setdefault(key, other or name) == (other or name)
    actors = {value for (kind, _), value in canonical.items() if kind == "a"}
    malware = {value for (kind, _), value in canonical.items() if kind == "m"}
    assert {"APT28", "APT41", "FIN7", "Turla"} <= actors
    assert {"APT28", "APT41", "FIN7", "APT29"}.isdisjoint(malware)


# --- the interface

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
    assert all(set(types) <= set(ALL_TYPES) for types in GROUPS.values())
    assert expand(["observable"]).isdisjoint(TYPES)
    assert scan(TEXT, "ip") == scan(TEXT, ["ipv4", "ipv6"]) == list(scanner({"ip"})(TEXT)) != []


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("ipv5", "unknown entity type ipv5; did you mean `ipv6`?"),
        (["cve", "IPv4"], "unknown entity type IPv4; did you mean `ipv4`?"),
        ({"hostname"}, "unknown entity type hostname; did you mean `domain`?"),
        (["nonsense"], f"unknown entity type nonsense; expected one of {', '.join((*ALL_TYPES, *GROUPS))}"),
    ],
)
def test_an_unknown_type_is_an_error_that_names_the_nearest_one(types: str | list[str], message: str) -> None:
    for read in (scanner, expand, lambda types: scan(TEXT, types)):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            read(types)


def test_bytes_are_read_as_utf_8_and_positions_count_characters() -> None:
    data = "\ufeffü 日本 münchen.de ".encode() + b"\xff\xfe 192.0.2.1 \xe2\x82"
    assert scan(data) == scan(data.decode(errors="replace"))
    assert [(e.value, e.start) for e in scan(data)] == [("münchen.de", 6), ("192.0.2.1", 20)]
    assert scan(b"evil.com", key="host") == scan("evil.com", key="host")


def test_the_rules_of_a_folder_define_types_and_ignore_values(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "version: 1\nentities: {ticket: {words: [INC-7]}, domain: {ignore: [evil.com]}}\n", encoding="utf-8"
    )
    reducer = Reducer.load(tmp_path)
    for rules in (reducer, reducer.ruleset):
        assert [e.value for e in scan("INC-7: bad.com, www.evil.com", rules=rules)] == ["INC-7", "bad.com"]
        assert [e.value for e in scan("INC-7: bad.com, www.evil.com", "ticket", rules=rules)] == ["INC-7"]
    assert [e.value for e in scan("INC-7: bad.com, www.evil.com")] == ["bad.com", "www.evil.com"]
    with pytest.raises(ValueError, match=r"^unknown entity type tickets; did you mean `ticket`\?$"):
        scanner("tickets", reducer)
    with pytest.raises(TypeError, match=r"^rules must be loaded: rules=Reducer.load\('rules'\)$"):
        scan("INC-7", rules=Path("rules"))  # type: ignore[arg-type]


def test_an_entity_is_written_as_a_row() -> None:
    found = {"type": "domain", "value": "evil[.]com", "canonical": "evil.com", "start": 6, "end": 16}
    assert scan("C2 at evil[.]com")[0].to_dict() == {**found, "evidence": "defanged"}


def test_a_scanner_is_made_once_and_shared_by_threads() -> None:
    find = scanner(frozenset(TYPES))
    assert scanner(frozenset(TYPES)) is find
    scan("evil.com").clear()  # callers cannot change the cache
    assert find("evil.com") == (Entity("domain", "evil.com", "evil.com", 0, 8, "name"),)
    with ThreadPoolExecutor(4) as pool:
        assert {tuple(found) for found in pool.map(find, [TEXT] * 200)} == {tuple(scan(TEXT))}


def test_importing_the_package_loads_neither_names_nor_patterns() -> None:
    names = "[name for name in sys.modules if name.startswith(('ahocorasick', 'reducer.entities.'))]"
    code = f"import sys, reducer.entities; print({names})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [
        "reducer.entities.canonical",
        "reducer.entities.observables",
        "reducer.entities.words",
        "reducer.entities.entity",
    ]
    assert done.stdout.strip() == str(loaded)
