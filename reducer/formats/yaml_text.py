"""YAML texts in block and flow style, with one or several documents.

The events of the parser have exact positions, so a part of the value is written by leaving out ranges of the text:
whole lines in block style, and items with their comma in flow style. Nothing is dumped again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import yaml
from yaml import events as e  # Temporal's sandbox imports `yaml.events` again, and then its classes are others

from reducer.formats.lines import line_end
from reducer.formats.parts import is_marker, is_part, origins
from reducer.values import MAX_DEPTH

_LOADER = getattr(yaml, "CLoader", yaml.SafeLoader)
_BOM = "\ufeff"

_BREAKS = r"\r\n\x85\u2028\u2029"
_GAP = re.compile(rf"(?:[ \t{_BREAKS}]|#[^{_BREAKS}]*+)*+")
_FLOW_GAP = re.compile(rf"(?:[ \t{_BREAKS},]|#[^{_BREAKS}]*+)*+")
_REST_OF_LINE = re.compile(rf"[^{_BREAKS}]*+(?:\r\n|[{_BREAKS}]|\Z)")
_LAST_BREAK = re.compile(rf"(?:\r\n|[{_BREAKS}])\Z")
_LINE_WITHOUT_VALUE = re.compile(rf"( *+)(#[^{_BREAKS}]*+|[ \t]*+)(?:\r\n|[{_BREAKS}]|\Z)")

_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,299})(\.[0-9]{1,300})?")
_MERGE = "<<"
_DOCUMENT = "---"
_REFUSED_IN_QUOTES = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""The characters that JSON allows in quotes and YAML does not, or reads as a line break."""

_CLOSING = (e.SequenceEndEvent, e.MappingEndEvent)
_Events: TypeAlias = Iterator[Any]


class _Node(NamedTuple):
    """A value and its range in the text, without the last line break of a block scalar.

    `column` is where the entries of a list or an object in block style start, and `dash` is written before an item.
    """

    value: Any
    start: int
    stop: int
    entries: Sequence[_Entry] = ()
    column: int = 0
    is_flow: bool = False
    is_plain: bool = False
    dash: str = "-"


class _Entry(NamedTuple):
    """An entry of an object, an item of a list, or a document.

    `start` is where its key, its dash or its dashes start, and `before` is where its value may start at the earliest.
    """

    start: int
    before: int
    node: _Node


_Edit: TypeAlias = tuple[int, int, str]
"""A range of the text by its start and stop, and what is written in its place."""


def read_yaml(text: str) -> tuple[Any, Callable[[Any], str | None]] | None:
    """Return the value of a YAML text, and a function that writes parts of it; None for any other text.

    The value of several documents is a list. Also return None if the root of a document is a scalar, and for anchors,
    aliases, tags, merge keys, duplicate keys and keys that are not scalars.
    """
    body = text.removeprefix(_BOM)
    head = text[: len(text) - len(body)]
    try:
        documents = _documents(body)
    except (yaml.YAMLError, ValueError, OverflowError):
        return None
    values = [document.node.value for document in documents]
    if not _has_structure(values):
        return None
    whole = documents[0]
    if len(documents) > 1:
        whole = _Entry(0, 0, _Node(values, 0, len(body), documents, dash=_DOCUMENT))

    def write(new: Any) -> str | None:
        if not is_part(new, whole.node.value):
            return None
        edits: list[_Edit] = []
        _reduce(body, whole, new, edits)
        return head + _edited(body, edits)

    return whole.node.value, write


def _has_structure(values: list[Any]) -> bool:
    """Return whether a document is a list or an object, and all others too, or empty; the last can be a marker."""
    if len(values) > 1 and is_marker(values[-1]):
        values = [*values[:-1], []]
    kinds = {type(value) for value in values}
    return kinds <= {list, dict, type(None)} and not kinds <= {type(None)}


def _documents(text: str) -> list[_Entry]:
    """Return the documents of a text. Raise `ValueError` or `YAMLError` if it is not a text that can be written.

    A missing last line end is added, so that a block scalar at the end has the same value before another line.
    """
    whole = text if text.endswith(("\r", "\n")) else f"{text}\n"
    events: _Events = yaml.parse(whole, Loader=_LOADER)
    found: list[_Entry] = []
    for event in events:
        start = event.start_mark.index
        if type(event) is e.DocumentStartEvent:
            node = _node(text, next(events), events, 1)
            found.append(_Entry(start, node.start, node))
    return found


def _node(text: str, event: Any, events: _Events, level: int) -> _Node:
    """Return the node that starts with an event."""
    _require(event.anchor is None and event.tag is None)
    if type(event) is e.ScalarEvent:
        return _scalar(text, event)
    _require(level < MAX_DEPTH)
    return _collection(text, event, events, level + 1)


def _require(expected: bool) -> None:
    if not expected:
        raise ValueError("YAML that is not read")


def _scalar(text: str, event: Any) -> _Node:
    start, stop = event.start_mark.index, event.end_mark.index
    if event.style == "|" or event.style == ">":
        last = _LAST_BREAK.search(text, max(start, stop - 2), stop)
        return _Node(event.value, start, last.start() if last else min(stop, len(text)))
    is_plain = event.implicit[0]
    value = _resolved(event.value) if is_plain else event.value
    return _Node(value, start, stop, is_plain=is_plain)


def _resolved(text: str) -> Any:
    """Return the value of a plain scalar if JSON has it, otherwise its text."""
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number[1] else int(text)


def _collection(text: str, opening: Any, events: _Events, level: int) -> _Node:
    """Return the list or the object that starts with an event."""
    is_list = type(opening) is e.SequenceStartEvent
    is_flow = opening.flow_style
    start = at = opening.start_mark.index
    if is_flow:
        _require(text[start] == ("[" if is_list else "{"))
        at += 1
    entries: list[_Entry] = []
    names: dict[str, None] = {}
    while type(event := next(events)) not in _CLOSING:
        begin = before = _end(_FLOW_GAP if is_flow else _GAP, text, at)
        if not is_list:
            key = _node(text, event, events, MAX_DEPTH)
            _require(key.start == begin and event.value not in names and not (key.is_plain and event.value == _MERGE))
            names[event.value] = None
            before = _after_colon(text, key.stop)
            _require(is_flow or before > key.stop)
            event = next(events)
        elif not is_flow:
            _require(text[begin] == "-")
            before += 1
        node = _node(text, event, events, level)
        _require(node.start >= before)
        entries.append(_Entry(begin, before, node))
        at = node.stop
    values = [entry.node.value for entry in entries]
    value = values if is_list else dict(zip(names, values, strict=True))
    stop = event.end_mark.index if is_flow else at
    return _Node(value, start, stop, entries, opening.start_mark.column, is_flow)


def _after_colon(text: str, at: int) -> int:
    """Return the end of the colon after a key, or of the key if there is none."""
    colon = _end(_GAP, text, at)
    return colon + 1 if text.startswith(":", colon) else at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return the end of a pattern that matches everywhere."""
    match = pattern.match(text, at)
    return match.end() if match else at


def _kept(new: Any, old: Any) -> tuple[dict[int, Any], str]:
    """Return the part of each entry that stays, by its index, and a new marker, which replaces an earlier one."""
    if type(new) is dict:
        return {index: new[key] for index, key in enumerate(old) if key in new}, ""
    marker = new[-1] if new and is_marker(new[-1]) else ""
    items = new[:-1] if marker else new
    kept = dict(zip(origins(items, old) or (), items, strict=False))
    if marker and old and marker == old[-1]:
        return {**kept, len(old) - 1: marker}, ""
    if marker and old and is_marker(old[-1]):
        kept.pop(len(old) - 1, None)
    return kept, marker


def _reduce(text: str, entry: _Entry, new: Any, edits: list[_Edit], in_flow: bool = False) -> int:
    """Add the edits that leave a part of the value of an entry, and return where the text ends that stays."""
    node = entry.node
    if type(new) is str and new != node.value:
        _shorten(node.start, node.stop, _spelled(node, new, in_flow), edits)
    if not node.entries:
        return node.stop
    kept, marker = _kept(new, node.value)
    if node.dash == _DOCUMENT:
        for index, value in enumerate(node.value):
            if len(kept) + bool(marker) < 2:  # one document is not read as a list
                kept.setdefault(index, value)
    if not kept:
        _empty(entry, marker, edits)
        return node.stop
    _leave_out(text, node, kept, edits)
    stop = node.stop
    for index, item in sorted(kept.items()):
        stop = _reduce(text, node.entries[index], item, edits, node.is_flow)
    if node.is_flow:
        edits.append((stop, stop, f", {_quoted(marker)}" if marker else ""))
        return node.stop
    if marker:
        edits.append(_marker_line(text, stop, f"{' ' * node.column}{node.dash} {_quoted(marker)}"))
    return stop


def _empty(entry: _Entry, marker: str, edits: list[_Edit]) -> None:
    """Leave an empty list or object, or a list with only a marker, on the line of the key or the dash."""
    node = entry.node
    start = node.start if node.is_flow else entry.before
    blank = "" if start == node.start else " "
    if marker:
        edits.append((start, node.stop, f"{blank}[{_quoted(marker)}]"))
    else:
        _shorten(start, node.stop, blank + ("[]" if type(node.value) is list else "{}"), edits)


def _shorten(start: int, stop: int, text: str, edits: list[_Edit]) -> None:
    """Replace a range of the text unless that makes it longer."""
    if len(text) <= stop - start:
        edits.append((start, stop, text))


def _leave_out(text: str, node: _Node, kept: dict[int, Any], edits: list[_Edit]) -> None:
    """Leave out the lines of entries, or in brackets the items with their comma.

    The first entry that stays takes the place of those before it if they start behind a bracket or a dash.
    """
    entries = node.entries
    begin = entries[0].start
    first = 0
    if node.is_flow or text[begin - node.column : begin].strip(" "):
        first = min(kept)
        edits.append((begin, entries[first].start, ""))
    for index in range(first, len(entries)):
        stop = entries[index].node.stop
        if index in kept:
            continue
        if node.is_flow:
            edits.append((entries[index - 1].node.stop, stop, ""))
        elif node.dash == _DOCUMENT:
            following = entries[index + 1 :]
            edits.append((entries[index].start, following[0].start if following else len(text), ""))
        else:
            edits.append((entries[index].start - node.column, _next_line(text, stop, node.column), ""))


def _next_line(text: str, at: int, column: int) -> int:
    """Return the start of the line after an entry, and after the blank lines and deeper comments that follow it."""
    at = _end(_REST_OF_LINE, text, at)
    while at < len(text):
        line = _LINE_WITHOUT_VALUE.match(text, at)
        if line is None or (line[2].startswith("#") and len(line[1]) <= column):
            break
        at = line.end()
    return at


def _marker_line(text: str, at: int, line: str) -> _Edit:
    """Return the edit that adds a line after the line of a position."""
    stop = _end(_REST_OF_LINE, text, at)
    end = line_end(text)
    has_end = text.endswith(("\r", "\n"), at, stop)
    return stop, stop, line + end if has_end else end + line


def _spelled(node: _Node, new: str, in_flow: bool) -> str:
    """Return how a text is written: without quotes if it had none and needs none, otherwise as in JSON."""
    found = read_yaml(f"- {new}") if node.is_plain and not in_flow else None
    return new if found is not None and found[0] == [new] else _quoted(new)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _REFUSED_IN_QUOTES.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _edited(text: str, edits: list[_Edit]) -> str:
    """Return a text with some edits, which do not overlap."""
    parts: list[str] = []
    at = 0
    for start, stop, new in sorted(edits, key=lambda edit: edit[:2]):
        parts += text[at:start], new
        at = stop
    return "".join([*parts, text[at:]])
