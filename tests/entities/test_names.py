from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.entities import scan
from tests.tools import build_names

LISTED = {
    line[2:].partition("|")[0]
    for line in files("reducer.entities").joinpath("names.txt").read_text("utf-8").splitlines()
}
WORDS = "Payload payload cmd.exe Defender Play First One at net STOP Trojan ping mercury Mercury conti"


def actors(text: str) -> list[tuple[str, str]]:
    return [(e.value, e.canonical) for e in scan(text, ["threat_actor"])]


def malware(text: str) -> list[str]:
    return [e.value for e in scan(text, ["malware"])]


def test_synonyms_share_their_canonical_name() -> None:
    names = ["APT28", "Fancy Bear", "FANCY BEAR", "Sofacy", "STRONTIUM", "Forest Blizzard"]
    assert actors("; ".join(names)) == [(name, "APT28") for name in names]


def test_code_names_are_found_also_when_no_list_has_them() -> None:
    text = (
        "APT97, APT-97, apt97, APT-C-99, UNC9876, TA9876, FIN99, Storm-9876, UAC-9876, Muddled Spider, QUANTUM KITTEN"
    )
    assert [value for value, _ in actors(text)] == text.split(", ")
    assert [c for _, c in actors("APT97 APT-97 apt97 APT 97")] == ["APT97"] * 4
    assert {c for _, c in actors("APT28 APT-28 apt28 APT 28 fancy bear")} == {"APT28"}
    # `apt c 00` is a listed name, and what digits are read as.
    listed = ["Donot Team", "Blind Eagle", "Blind Eagle"]
    assert [canonical for _, canonical in actors("apt c 35, APT-C-36, apt-c-36, apt c 99")] == listed


@pytest.mark.parametrize(
    "text",
    [
        "TA0043 and TA0001, T1059, xAPT28, APT28x, UNC2452_x",
        "a Polar Bear, The Panda, red panda, Teddy Bear, Black Spider, super Typhoon, his Kitten",
        *WORDS.split(),
        "https://x.com/emotet-loader emotet.ru files/emotet/a.exe bob@emotet.com",
        "Emotets xEmotet Emotet_x Emotet2",
    ],
)
def test_tactics_animals_words_and_parts_of_addresses_are_no_names(text: str) -> None:
    assert actors(f"the {text} was") == malware(f"the {text} was") == []
    assert text not in LISTED


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Conti, not conti", ["Conti"]),
        ("Win32/Emotet.A, Emotet-infected, (Emotet). emotet.", ["Emotet", "Emotet", "Emotet", "emotet"]),
        ("emotet, EMOTET, Cobalt-Strike, cobalt strike", ["emotet", "EMOTET", "Cobalt-Strike", "cobalt strike"]),
        (
            "C:\\njRAT \\njRAT \\nnjRAT \\Remcos \\nRemcos \\NRemcos nRemcos x\\tTurla",
            ["njRAT", "njRAT", "njRAT", "Remcos", "Remcos"],
        ),
    ],
)
def test_malware(text: str, values: list[str]) -> None:
    assert malware(text) == values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Lazarus and the lazarus effect", [("Lazarus", "Lazarus Group")]),
        ("MERCURY, not mercury or Mercury", [("MERCURY", "MuddyWater")]),
        ("the Lazarus Group, Winnti Group", [("Lazarus Group", "Lazarus Group"), ("Winnti Group", "APT41")]),
        (
            "x\\tTurla \\Turla \\tAPT28 \\TA505 \\nTA505 \\NTA505",
            [*[("Turla", "Turla")] * 2, ("APT28", "APT28"), *[("TA505", "TA505")] * 2],
        ),
    ],
)
def test_actors(text: str, found: list[tuple[str, str]]) -> None:
    assert actors(text) == found


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
    alone = [(e.type, e.value, e.canonical) for e in scan(name, ["threat_actor", "malware"])]
    found = scan(before + name + after, ["threat_actor", "malware"])
    if found and found[0].start < len(before):  # \\rEvil Corp: `rEvil` is a name too
        assert before[-2:] in ("\\n", "\\r", "\\t")
        assert found[0].value.startswith(before[-1])
    else:
        assert [(e.type, e.value, e.canonical) for e in found] == alone
        assert alone


def test_no_listed_name_can_break_a_marker() -> None:
    assert not [
        name
        for name in LISTED
        if ", " in name or name != name.strip() or "\n" in name or not name.isascii() or len(name) < 3
    ]


@pytest.mark.data
def test_the_list_is_what_its_generator_writes(data: Path) -> None:
    assert build_names.OUT.read_text("utf-8") == build_names.content(
        data / "entities" / "names.json", data / "common_words.txt"
    )
