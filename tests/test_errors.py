"""Words of messages: names that were probably meant, and texts that are shortened for the screen."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reducer.errors import did_you_mean, is_typo, nearest, shortened


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("limt", ["limit", "drop"], "limit"),
        ("Risk", ["risk", "score"], "risk"),
        ("last seen", ["last-seen", "last_scan"], "last-seen"),
        ("form", ["forum", "from"], "from"),
        ("--tpo", ["--top", "--type"], "--top"),
        ("xyz", ["limit"], ""),
        ("x" * 100_000, ["x" * 99_999], "x" * 99_999),
    ],
)
def test_the_nearest_name(word: str, known: list[str], found: str) -> None:
    assert nearest(word, known) == found
    assert did_you_mean(found) == (f"did you mean `{found}`?" if found else "")


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=6))
@example("A", ["a"])
@example("ab", ["ba", "ab"])
@example("a-b", ["a_b", "a-b"])
def test_the_nearest_name_is_one_of_the_names(name: str, known: list[str]) -> None:
    found = nearest(name, known)
    assert found == "" or found in known
    assert found in known or name not in known


@pytest.mark.parametrize(
    ("word", "name", "certain"),
    [("limt", "limit", True), ("md4", "md5", False), ("crop", "drop", False), ("teste", "tests", False)],
)
def test_a_slip_of_a_letter_is_certain_if_no_other_name_is_similar(word: str, name: str, certain: bool) -> None:
    assert is_typo(word, name, ["limit", "md5", "drop", "tests", "test"]) is certain


@given(st.text(max_size=20), st.integers(1, 10))
@example("one\ntwo", 10)
@example("one\n", 3)
def test_a_shortened_text_is_the_beginning_of_its_first_line(text: str, width: int) -> None:
    shown = shortened(text, width)
    assert len(shown) <= width
    assert "\n" not in shown
    if shown != text:
        assert shown.endswith("…")
        assert text.startswith(shown[:-1])


def test_the_end_of_a_shortened_text_can_stay() -> None:
    urls = [f"https://nvd.example.gov/vuln/detail/CVE-2024-{number}" for number in (3400, 3401)]
    assert [shortened(url, 30, 8) for url in urls] == [f"https://nvd.example.g…024-{n}" for n in (3400, 3401)]
    assert shortened(urls[0], len(urls[0]), 8) == urls[0]
