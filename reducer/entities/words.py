"""Find the words and phrases of own lists: one automaton for each list, at word boundaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from reducer.entities.edges import LONGEST, free, sound
from reducer.entities.entity import Entity

MAX_WORDS = 200_000
"""Words of one entity type: 200,000 host names take 1.4 s to load and 120 MB."""
MAX_BYTES = 20_000_000
"""Bytes of a words file."""

# The library moves the states in which words end before the others, in time that is quadratic where nearly all are such (`host1`, `host10`):
# 80 s for 200,000 of them, 0.2 s with one long word first that breaks up what is moved.
_DECOY = b"\x00" * 5000

FindWords = Callable[[str, bytes], list[Entity]]
"""Finds the words of a list in a text and its ASCII bytes, one a character."""


class WordsError(ValueError):
    """A words list that cannot be used: what is wrong and what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        self.message = message
        self.help = help
        super().__init__(message)


def fault(word: str) -> str:
    """Say what keeps a word from being an entity; nothing if it is one."""
    if len(word) < 2:
        return "a word of one character would be found everywhere"
    if len(word) > LONGEST:
        return f"a word of {len(word):,} characters; at most {LONGEST} are read"
    if ", " in word:
        return "a word cannot hold `, `, which separates the values in a mark"
    return "" if sound(word) and word.isprintable() else "a word cannot hold line breaks, control characters, blanks around it, `…[` or many brackets"


def read_words(path: Path) -> tuple[str, ...]:
    """Read a words file: UTF-8, one word or phrase a line; blank lines and lines that begin with `#` are none. Raises `WordsError`."""
    name = path.name or str(path)
    try:
        if path.is_dir():
            raise WordsError(f"`{name}` is a folder", "name a text file with one word a line")
        if not path.is_file():
            raise WordsError(f"`{name}` is no file", f"it was looked for as {path}")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise WordsError(f"`{name}` cannot be read: {error.strerror}", f"it was looked for as {path}") from error
    if len(data) > MAX_BYTES:
        raise WordsError(f"`{name}` has more than {MAX_BYTES // 1_000_000} MB", f"at most {MAX_WORDS:,} words are read")
    # Counted before anything is decoded: 10 million lines cost one pass.
    lines = data.count(b"\n") + 1
    if lines > 2 * MAX_WORDS:
        raise WordsError(f"`{name}` has {lines:,} lines", f"at most {MAX_WORDS:,} words are read")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise WordsError(f"`{name}` is UTF-16 text", "save it as UTF-8")
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        raise WordsError(f"`{name}` is not a text file (line {line} holds a NUL byte)", "a words file is UTF-8 text with one word a line")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise WordsError(f"`{name}` line {line}: the byte 0x{data[error.start]:02x} is not UTF-8 text", "save the file as UTF-8") from error
    words: dict[str, None] = {}
    for number, row in enumerate(text.splitlines(), 1):
        word = row.strip()
        if word and not word.startswith("#"):
            wrong = fault(word)
            if wrong:
                raise WordsError(f"`{name}` line {number}: {wrong}", "take the line out, or put `#` before it")
            words[word] = None
    if not words:
        raise WordsError(f"`{name}` holds no words", "write one word or phrase a line")
    if len(words) > MAX_WORDS:
        raise WordsError(f"`{name}` holds {len(words):,} words", f"at most {MAX_WORDS:,} words are read")
    return tuple(words)


def finder(kind: str, words: Sequence[str], case_sensitive: bool) -> FindWords:
    """Give the function that finds `words` as entities of the type `kind`; their canonical value is the word as the list has it.

    Compared without case unless `case_sensitive`.
    """
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    # What is not ASCII is one `?` a character in the bytes, so that places agree; the text itself decides then.
    table: dict[bytes, dict[str, str]] = {}
    for word in words:
        spelled = word if case_sensitive else word.lower()
        table.setdefault(_flat(word, case_sensitive), {}).setdefault(spelled, word)
    automaton = BytesAhoCorasick([_DECOY, *table], implementation=Implementation.ContiguousNFA)
    entries = [{}, *table.values()]

    def find(text: str, data: bytes) -> list[Entity]:
        hits = automaton.find_matches_as_indexes(data if case_sensitive else data.lower(), overlapping=True)
        found: list[Entity] = []
        for index, start, end in hits:
            value = text[start:end]
            word = entries[index].get(value if case_sensitive else value.lower())
            if word is not None and free(text, start, end) and not (text[start - 1 : start] == "_" or text[end : end + 1] == "_"):
                found.append(Entity(kind, value, word, start, end))
        return found

    return find


def _flat(word: str, case_sensitive: bool) -> bytes:
    data = word.encode("ascii", "replace")
    return data if case_sensitive else data.lower()
