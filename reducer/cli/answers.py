"""Answers of tools, from stored histories and from samples: files that contain one answer each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from reducer.analysis.steps import characters
from reducer.cli.inputs import Selection, Source, all_sources
from reducer.cli.messages import CommandError, suggestion
from reducer.errors import HistoryError
from reducer.formats.json_text import read_json, read_string
from reducer.histories.lines import ENDINGS
from reducer.histories.stored import Return, returns
from reducer.strict_json import loads

_MAX_ANSWERS = 40
"""Answers of one tool that are kept, the longest ones: more add nothing new."""
_TEXT_ENDINGS = (".json", ".txt", ".jsonl", ".ndjson", ".log", ".md", ".csv", ".xml", ".yaml", ".yml", ".out")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its file, its tool and its call as `--call` names it; both are empty if unknown, as for a sample."""

    file: str
    tool: str
    call: str
    content: Any


@dataclass(slots=True)
class Answers:
    """The answers of one tool: how many there are, and the longest of them as JSON values, each with its characters."""

    tool: str
    calls: int = 0
    longest: list[tuple[int, Any]] = field(default_factory=list)

    def add(self, content: Any) -> None:
        """Count an answer, and keep it if it is one of the longest."""
        self.calls += 1
        self.longest.append((characters(content), content))
        if len(self.longest) > _MAX_ANSWERS:
            self.longest.sort(key=lambda entry: -entry[0])
            del self.longest[_MAX_ANSWERS:]

    @property
    def max_characters(self) -> int:
        """The characters of the longest answer."""
        return max((size for size, _ in self.longest), default=0)

    @property
    def contents(self) -> list[Any]:
        """The answers that are kept, the longest first."""
        return [content for _, content in sorted(self.longest, key=lambda entry: -entry[0])]


def each_answer(names: Sequence[str], tool: str | None, call: str | None) -> Iterator[Answer]:
    """Yield the answers in histories and samples that `--tool` and `--call` select.

    Raises `CommandError`, also if there are none.
    """
    selection = Selection(tool, call)
    is_found = False
    for source in all_sources(names):
        data = source.read()
        is_history = False
        for entry in _of_history(source.name, data):
            is_history = True
            if selection.matches(entry):
                is_found = True
                name = f"{entry.call_id}#{entry.nth}" if entry.nth > 1 else entry.call_id
                yield Answer(source.name, entry.tool, name, entry.content)
        if not is_history and call is None:
            is_found = True
            yield Answer(source.name, tool or "", "", _of_sample(source.name, data))
    if not is_found:
        raise selection.nothing_found()


def answers_by_tool(names: Sequence[str], tool: str | None) -> tuple[dict[str, Answers], bool]:
    """Return the answers in histories and samples, of one tool if it is given, and whether any file is a history.

    A sample is an answer of `tool`, otherwise of the tool that its file is named after. Raises `CommandError`.
    """
    found: dict[str, Answers] = {}
    seen: dict[str, None] = {}
    is_history = False
    for source in all_sources(names):
        data = source.read()
        stored = [(entry.tool, entry.content) for entry in _of_history(source.name, data)]
        is_history = is_history or bool(stored)
        for name, content in stored or [(tool or _tool_name(source), _of_sample(source.name, data))]:
            seen[name] = None
            if tool is None or name == tool:
                found.setdefault(name, Answers(name)).add(content)
    if tool is not None and not found:
        raise CommandError(f"--tool {tool}: no such tool; {suggestion(tool, seen)}")
    return found, is_history


def _of_history(name: str, data: bytes) -> Iterator[Return]:
    """Yield the reducible returns of a history; nothing if the file is not one. Raises `CommandError`."""
    try:
        yield from _reducible(data)
        return
    except HistoryError as error:
        if _looks_like_history(data):
            raise CommandError(f"{name}: {error}") from None
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) > 1 and _looks_like_history(lines[0]):
        for number, line in enumerate(lines, 1):
            try:
                yield from _reducible(line)
            except HistoryError as error:
                raise CommandError(f"{name}:{number}: {error}") from None


def _looks_like_history(data: bytes) -> bool:
    """Tell whether JSON is probably meant as a history: its first item is an object with parts."""
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
        byte = f"byte 0x{data[error.start]:02x} at byte {error.start + 1:,}"
        raise CommandError(f"{name}: not UTF-8 text: {byte}; expected JSON, or the text of an answer") from None
    if not text.strip():
        raise CommandError(f"{name}: empty; expected a history, or one answer of a tool")
    # Anything but JSON is an answer in words, including JSON that rules would not read.
    value = read_json(text)
    if value is None and text.lstrip()[:1] == '"':
        value = read_string(text)
    return text if value is None else value


def _tool_name(source: Source) -> str:
    if source.path is None:
        raise CommandError("standard input has no file name; add --tool NAME, the tool that gave this answer")
    name = source.path.name
    lowered = name.lower()
    endings = (*ENDINGS, *_TEXT_ENDINGS)
    ending = next((end for end in endings if lowered.endswith(end) and len(name) > len(end)), "")
    return name[: len(name) - len(ending)]
