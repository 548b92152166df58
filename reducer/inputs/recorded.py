"""The tool returns that sources contain: those of histories, and samples, which are files with the content of one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from reducer.errors import FileError, HistoryError
from reducer.formats.json_text import read_json, read_string
from reducer.histories.stored import Return, returns
from reducer.inputs.chunks import TOO_LARGE, Chunk, read_lines
from reducer.inputs.sources import ENDINGS, STANDARD_INPUT, Source

_T = TypeVar("_T")
_TEXT_ENDINGS = (".txt", ".log", ".md", ".csv", ".xml", ".yaml", ".yml", ".out")


@dataclass(frozen=True, slots=True)
class Selection:
    """The tool returns selected by `--tool` (a glob) and `--call`; None selects all."""

    tool: str | None = None
    call: str | None = None

    @property
    def is_everything(self) -> bool:
        """Return whether all tool returns are selected."""
        return self.tool is None and self.call is None

    def matches_tool(self, tool: str) -> bool:
        """Return whether the returns of a tool are selected."""
        return self.tool is None or fnmatchcase(tool, self.tool)

    def matches(self, entry: Return) -> bool:
        """Return whether a tool return is selected."""
        is_call = self.call is None or self.call in (entry.call_id, f"{entry.call_id}#{entry.nth}")
        return is_call and self.matches_tool(entry.tool)


ALL = Selection()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded return, with the call as `--call` names it. A sample has no call, and its tool may be empty."""

    file: str
    tool: str
    call: str
    content: Any

    @property
    def tool_or_file(self) -> str:
        """Return the tool, or the one that the file of a sample is named after. Raises `FileError`."""
        return self.tool or _tool_of(self.file)


def recorded(source: Source, selection: Selection, skipped: list[str]) -> Iterator[Recorded]:
    """Yield the selected returns that rules apply to, or the sample of a source.

    Lines of JSON lines that are no histories are added to `skipped`. Raises `FileError`.
    """

    def returns_in(source: Source, line: Chunk) -> Iterator[Recorded]:
        if line.kind == "sample":
            yield Recorded(source.name, selection.tool or "", "", read_sample(source.name, line.content))
            return
        for entry in returns(line.content):
            if not entry.untouched and selection.matches(entry):
                yield Recorded(source.name, entry.tool, entry.name, entry.content)

    return read_each(source, returns_in, skipped, or_sample=selection.call is None)


def read_each(
    source: Source, read: Callable[[Source, Chunk], Iterable[_T]], skipped: list[str], *, or_sample: bool = False
) -> Iterator[_T]:
    """Yield what `read(source, line)` finds in each history or sample of a source.

    Lines of JSON lines that are no histories are added to `skipped`. Raises `FileError`.
    """
    for line in read_lines(source, or_sample=or_sample):
        place = line.place(source.name)
        if line.kind == "long line":
            skipped.append(f"{place}: {TOO_LARGE}")
        elif not line.is_blank:
            try:
                yield from read(source, line)
            except HistoryError as error:
                if not line.number:
                    raise FileError(f"{place}: {error}") from None
                skipped.append(f"{place}: {error}")


def as_history(name: str, sample: bytes, tool: str) -> bytes:
    """Return a history with a sample as its only return, of `tool`. Raises `FileError`."""
    content = read_sample(name, sample)
    part = {"part_kind": "tool-return", "tool_name": tool, "tool_call_id": name, "content": content}
    return json.dumps([{"kind": "request", "parts": [part]}]).encode()


def _tool_of(file: str) -> str:
    if file == STANDARD_INPUT:
        raise FileError("standard input has no file name; add --tool NAME, the tool that returned this sample")
    name = Path(file).name
    ending = next((end for end in (*ENDINGS, *_TEXT_ENDINGS) if name.lower().endswith(end)), "")
    return name[: len(name) - len(ending)] or name


def read_sample(name: str, data: bytes) -> Any:
    """Return the JSON object, list or text in a sample. Raises `FileError`, also for `.json` that rules cannot read."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at byte {error.start + 1:,}"
        raise FileError(f"{name}: not UTF-8 text: {byte}; expected JSON or text") from None
    if not text.strip():
        raise FileError(f"{name}: empty; expected a history or a sample")
    first = text.lstrip()[0]
    value = read_string(text) if first == '"' else read_json(text)
    if value is None and first in "[{" and name.lower().endswith(".json"):
        raise FileError(f"{name}: not JSON that rules can read; the name of a text ends in .txt")
    return text if value is None else value
