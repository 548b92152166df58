from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.entities import scan
from tests.tools import build_names

NAMES = files("reducer.entities").joinpath("names.txt").read_text("utf-8")
LISTED = {line[2:].partition("|")[0] for line in NAMES.splitlines()}
WORDS = "Payload payload cmd.exe Defender Play First One at net STOP Trojan ping mercury Mercury conti"


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
    alone = [(e.type, e.value, e.canonical) for e in scan(name, ["threat_actor", "malware"])]
    found = scan(before + name + after, ["threat_actor", "malware"])
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
    assert build_names.content(data / "entities" / "names.json", data / "common_words.txt") == NAMES
