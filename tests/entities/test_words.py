"""Lists of words: as large as they may be, and boundaries."""

from __future__ import annotations

from reducer.entities.words import MAX_WORDS, finder


def test_a_list_as_large_as_may_be_in_which_words_begin_with_others_is_read() -> None:
    """Without the decoy it would take more than a minute."""
    find = finder("host", [f"host{number}" for number in range(MAX_WORDS)], False)
    text = "HOST1, host199999; host200000 and host12x"
    assert [(entity.value, entity.canonical) for entity in find(text, text.encode())] == [("HOST1", "host1"), ("host199999", "host199999")]


def test_the_decoy_is_no_word() -> None:
    text = "\x00" * 20_000 + " ab"
    assert [entity.value for entity in finder("x", ["ab"], True)(text, text.encode())] == ["ab"]
