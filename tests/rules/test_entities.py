"""Entity types in rule files: word lists in files, and patterns without the extra `patterns`."""

from __future__ import annotations

from pathlib import Path

import pytest

from reducer.rules import check_rules, read_rules

HEAD = "version: 1\ntool: t\nmax_chars: 900\nentities:\n"
JEWEL = HEAD + "  jewel: {words_file: hosts.txt}\npreserve: [jewel]\n"
REMOVE, FEWER = "remove the line, or put `#` before it", "at most 200,000 words are allowed"
CANNOT = "a word cannot contain"
CONTROL = f"{CANNOT} line breaks, control characters, `…[` or many brackets, or start or end with a space"
WORDS: dict[str, tuple[bytes | None, str, str]] = {
    "missing": (None, " cannot be read: No such file or directory", "the path is {}/hosts.txt"),
    "comments": (b"# only\n\n", " contains no words", "write one word or phrase on each line"),
    "bytes": (b"web01\nm\xfcller\n", " line 2: the byte 0xfc is not UTF-8 text", "save the file as UTF-8"),
    "UTF-16": ("web01".encode("utf-16"), " line 1: the byte 0xff is not UTF-8 text", "save the file as UTF-8"),
    "one character": (b"web01\n\nx\n", " line 3: a word needs at least two characters", REMOVE),
    "too long": (b"w" * 300, " line 1: the word has 300 characters; at most 256 are allowed", REMOVE),
    "24 MB": (b"web01\n" * 4_000_000, " cannot be read: larger than 20,000,000 bytes", "the path is {}/hosts.txt"),
    "too many words": (b"".join(b"h%d\n" % number for number in range(200_001)), " has 200,001 lines", FEWER),
    "a comma": (b"web01\nAcme, Inc\n", f" line 2: {CANNOT} `, `, which separates the values in a marker", REMOVE),
    "binary": (b"web01\n\x7fELF\x00\x01", f" line 2: {CONTROL}", REMOVE),
    "a form feed": (b"web01\nweb02\x0cweb03\n", f" line 2: {CONTROL}", REMOVE),
    "a line separator": ("web01\nweb02\u2028web03\n".encode(), f" line 2: {CONTROL}", REMOVE),
}


def test_a_words_file_is_read_from_the_folder_of_the_rules(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(JEWEL)
    (tmp_path / "hosts.txt").write_bytes("\ufeff# ours\r\nweb01\r\n\r\n  Crown Jewel \rMüller GmbH\nweb01\n".encode())
    ruleset = read_rules(tmp_path)
    scan = ruleset.rules[0].vocabulary.scanner(frozenset({"jewel"}))
    found = [entity.canonical for entity in scan("WEB01, crown jewel, müller gmbh; # ours")]
    assert found == ["web01", "Crown Jewel", "Müller GmbH"]
    assert ruleset.rules[0].types == {"jewel"}


@pytest.mark.parametrize(("data", "message", "advice"), WORDS.values(), ids=WORDS)
def test_an_invalid_words_file(tmp_path: Path, data: bytes | None, message: str, advice: str) -> None:
    (tmp_path / "r.yaml").write_text(JEWEL)
    if data is not None:
        (tmp_path / "hosts.txt").write_bytes(data)
    ruleset, (problem,) = check_rules(tmp_path)
    assert ruleset is None
    assert str(problem.location) == f"{tmp_path}/r.yaml:5:23"
    assert (problem.message, problem.help) == (f"`hosts.txt`{message}", advice.format(tmp_path))


@pytest.mark.parametrize(("name", "why"), [("folder", "not a regular file"), ("h" * 300, "File name too long")])
def test_a_folder_and_a_name_that_is_too_long_are_not_words_files(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "r.yaml").write_text(JEWEL.replace("hosts.txt", name))
    assert f"r.yaml:5:23: error[E096]: `{name}` cannot be read: {why}" in str(check_rules(tmp_path)[1][0])
