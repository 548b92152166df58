"""Find the words of custom types: one automaton for each list, at word boundaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from reducer.entities.entity import MAX_CHARS, Entity, is_mentionable, is_separate

MAX_WORDS = 200_000
"""Words of one entity type: 200,000 host names take 1.4 s to load, and 120 MB."""
MAX_BYTES = 20_000_000
"""Bytes of a words file."""

# The library moves the states in which words end to the front, in quadratic time if nearly all are such (`host1`,
# `host10`): 80 s for 200,000 words, but 0.2 s after one long word.
_DECOY = b"\x00" * 5000

FindWords = Callable[[str, bytes], list[Entity]]
"""A function that finds the words of a list in a text and its ASCII bytes, one per character."""


class WordsError(ValueError):
    """A list of words that cannot be used: what is wrong and what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        self.message = message
        self.help = help
        super().__init__(message)


def word_error(word: str) -> str:
    """Return why a word cannot be an entity, empty if it can."""
    if len(word) < 2:
        return "a word needs at least two characters"
    if len(word) > MAX_CHARS:
        return f"the word has {len(word):,} characters; at most {MAX_CHARS} are allowed"
    if ", " in word:
        return "a word cannot contain `, `, which separates the values in a marker"
    if is_mentionable(word) and word.isprintable():
        return ""
    return "a word cannot contain line breaks, control characters, `…[` or many brackets, or start or end with a space"


def read_words(path: Path) -> tuple[str, ...]:
    """Return the words of a file: UTF-8, one per line, without blank lines and lines that start with `#`.

    Raises `WordsError`.
    """
    name = path.name or str(path)
    words: dict[str, None] = {}
    for number, row in enumerate(_read_text(path, name).splitlines(), 1):
        word = row.strip()
        if word and not word.startswith("#"):
            wrong = word_error(word)
            if wrong:
                raise WordsError(f"`{name}` line {number}: {wrong}", "remove the line, or put `#` before it")
            words[word] = None
    if not words:
        raise WordsError(f"`{name}` contains no words", "write one word or phrase on each line")
    if len(words) > MAX_WORDS:
        raise WordsError(f"`{name}` has {len(words):,} words", f"at most {MAX_WORDS:,} words are allowed")
    return tuple(words)


def _read_text(path: Path, name: str) -> str:
    """Return the text of a words file. Raises `WordsError` for a file that is too large or not UTF-8 text."""
    if not path.is_file():
        raise WordsError(f"`{name}` is {'a folder' if path.is_dir() else 'not a file'}", f"the path is {path}")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise WordsError(f"`{name}` cannot be read: {error.strerror}", f"the path is {path}") from error
    limit = f"at most {MAX_WORDS:,} words are allowed"
    if len(data) > MAX_BYTES:
        raise WordsError(f"`{name}` has more than {MAX_BYTES // 1_000_000} MB", limit)
    # Count before decoding: 10 million lines take one pass.
    lines = data.count(b"\n") + 1
    if lines > 2 * MAX_WORDS:
        raise WordsError(f"`{name}` has {lines:,} lines", limit)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = data.count(b"\n", 0, error.start) + 1, data[error.start]
        message = f"`{name}` line {line}: the byte 0x{byte:02x} is not UTF-8 text"
        raise WordsError(message, "save the file as UTF-8") from error


def finder(kind: str, words: Sequence[str], case_sensitive: bool) -> FindWords:
    """Return a function that finds `words` as entities of the type `kind`, in any case unless `case_sensitive`.

    The canonical value is the word as it is in the list.
    """
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    # Any character that is not ASCII is one `?` in the bytes, so that positions are the same. The text decides.
    table: dict[bytes, dict[str, str]] = {}
    for word in words:
        spelled = word if case_sensitive else word.lower()
        table.setdefault(_ascii(word, case_sensitive), {}).setdefault(spelled, word)
    automaton = BytesAhoCorasick([_DECOY, *table], implementation=Implementation.ContiguousNFA)
    entries = [{}, *table.values()]

    def find(text: str, data: bytes) -> list[Entity]:
        hits = automaton.find_matches_as_indexes(data if case_sensitive else data.lower(), overlapping=True)
        found: list[Entity] = []
        for index, start, end in hits:
            value = text[start:end]
            word = entries[index].get(value if case_sensitive else value.lower())
            if (
                word is not None
                and is_separate(text, start, end)
                and not (text[start - 1 : start] == "_" or text[end : end + 1] == "_")
            ):
                found.append(Entity(kind, value, word, start=start, end=end))
        return found

    return find


def _ascii(word: str, case_sensitive: bool) -> bytes:
    data = word.encode("ascii", "replace")
    return data if case_sensitive else data.lower()
