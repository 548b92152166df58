"""Answers of tools, from stored histories and from files that hold one answer each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reducer.cli.histories import Source, each
from reducer.cli.selection import Selection
from reducer.cli.stop import Stop
from reducer.codecs.json_text import read_json, read_quoted
from reducer.errors import HistoryError
from reducer.lines import ENDINGS
from reducer.reading import loads
from reducer.report.changes import characters
from reducer.stored import Return, returns

MOST_ANSWERS = 40
"""The longest answers of one tool that are held: more of them teach nothing that these do not."""
_TEXTS = (".json", ".txt", ".jsonl", ".ndjson", ".log", ".md", ".csv", ".xml", ".yaml", ".yml", ".out")


@dataclass(slots=True)
class Answers:
    """The answers of one tool: how many there are, and the longest of them as plain JSON values, each with its characters."""

    tool: str
    calls: int = 0
    chars: int = 0
    longest: list[tuple[int, Any]] = field(default_factory=list)

    def add(self, content: Any) -> None:
        """Count an answer, and hold it if it is one of the longest."""
        size = characters(content)
        self.calls += 1
        self.chars += size
        self.longest.append((size, content))
        if len(self.longest) > MOST_ANSWERS:
            self.longest.sort(key=lambda entry: -entry[0])
            del self.longest[MOST_ANSWERS:]

    @property
    def most(self) -> int:
        """Give the characters of the longest answer."""
        return max((size for size, _ in self.longest), default=0)

    @property
    def contents(self) -> list[Any]:
        """Give the answers that are held, the longest first."""
        return [content for _, content in sorted(self.longest, key=lambda entry: -entry[0])]


class Answer(NamedTuple):
    """One answer: the file it is in, its tool (empty for a sample whose tool is not known), its call as `--call` names it (empty for a sample)."""

    file: str
    tool: str
    call: str
    content: Any


def each_answer(names: Sequence[str], tool: str | None = None, call: str | None = None) -> Iterator[Answer]:
    """Give the answers in histories and samples that `--tool` and `--call` choose, in order. Raises `Stop`, for no such answer too."""
    selection = Selection(tool, call, {}, {})
    found = False
    for source in each(names):
        data = source.read()
        is_history = False
        for entry in _of_history(source.name, data):
            is_history = True
            if selection.takes(entry):
                found = True
                name = f"{entry.call_id}#{entry.nth}" if entry.nth > 1 else entry.call_id
                yield Answer(source.name, entry.tool, name, entry.content)
        if not is_history and call is None:
            found = True
            yield Answer(source.name, tool or "", "", _of_sample(source.name, data))
    if not found:
        raise Stop(selection.why_none())


def answers(names: Sequence[str], tool: str | None) -> tuple[dict[str, Answers], bool]:
    """Read the answers in histories and samples, by tool, of one `tool` alone if it is given; and tell whether any file was a history.

    A sample is an answer of `tool`, else of the tool that its file is named after. Raises `Stop`.
    """
    found: dict[str, Answers] = {}
    seen: dict[str, None] = {}
    is_history = False
    for source in each(names):
        data = source.read()
        stored = [(entry.tool, entry.content) for entry in _of_history(source.name, data)]
        is_history = is_history or bool(stored)
        for name, content in stored or [(tool or _named(source), _of_sample(source.name, data))]:
            seen[name] = None
            if tool is None or name == tool:
                found.setdefault(name, Answers(name)).add(content)
    if tool is not None and not found:
        raise Stop(f"--tool {tool}: no such tool; {_there_are(tool, seen)}")
    return found, is_history


def _of_history(name: str, data: bytes) -> Iterator[Return]:
    """Give each return that rules apply to; nothing for what is no history, or one without any. Raises `Stop`."""
    try:
        yield from _reducible(data)
        return
    except HistoryError as error:
        if _begins_as_one(data):
            raise Stop(f"{name}: {error}") from None
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) > 1 and _begins_as_one(lines[0]):
        for number, line in enumerate(lines, 1):
            try:
                yield from _reducible(line)
            except HistoryError as error:
                raise Stop(f"{name}:{number}: {error}") from None


def _begins_as_one(data: bytes) -> bool:
    """Tell whether something is probably a history, so that what is wrong with it should be told: its first message has parts."""
    try:
        value = loads(data)
    except (ValueError, RecursionError):
        return False
    first = value[0] if type(value) is list and value else None
    return type(first) is dict and type(first.get("parts")) is list and ("kind" in first or "role" in first)


def _reducible(data: bytes) -> Iterator[Return]:
    return (entry for entry in returns(data) if not entry.untouched)


def _of_sample(name: str, data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Stop(f"{name}: not UTF-8 text: byte 0x{data[error.start]:02x} at byte {error.start + 1:,}; expected JSON, or the text of an answer") from None
    if not text.strip():
        raise Stop(f"{name}: is empty; expected a history, or one answer of a tool")
    # What is no JSON is an answer in words: also JSON that a rule would leave alone as it is.
    value = read_json(text)
    return read_quoted(text) if value is text and text.lstrip()[:1] == '"' else value


def _named(source: Source) -> str:
    if source.path is None:
        raise Stop("standard input has no name: add --tool NAME, the tool that gave this answer")
    name = source.path.name
    lowered = name.lower()
    ending = next((end for end in (*ENDINGS, *_TEXTS) if lowered.endswith(end) and len(name) > len(end)), "")
    return name[: len(name) - len(ending)]


def _there_are(name: str, known: dict[str, None]) -> str:
    from difflib import get_close_matches

    nearest = get_close_matches(name, known, 1)
    if nearest:
        return f"did you mean `{nearest[0]}`?"
    named = ", ".join(f"`{one}`" for one in [*known][:8])
    return f"there {'is' if len(known) == 1 else 'are'} {named}" + (f" and {len(known) - 8:,} more" if len(known) > 8 else "")
