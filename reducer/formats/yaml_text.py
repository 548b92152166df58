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
from yaml.events import (
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from reducer.formats.lines import line_end
from reducer.formats.parts import is_marker, is_part, origins
from reducer.values import MAX_DEPTH

_LOADER = getattr(yaml, "CLoader", yaml.SafeLoader)
_BOM = "\ufeff"

_BREAKS = r"\r\n\x85\u2028\u2029"
_GAP = re.compile(rf"(?:[ \t{_BREAKS}]|#[^{_BREAKS}]*+)*+")
_FLOW_GAP = re.compile(rf"(?:[ \t{_BREAKS},]|#[^{_BREAKS}]*+)*+")
_REST_OF_LINE = re.compile(rf"[^{_BREAKS}]*+(\r\n|[{_BREAKS}]|\Z)")
_LAST_BREAK = re.compile(rf"(?:\r\n|[{_BREAKS}])\Z")
_LINE_WITHOUT_VALUE = re.compile(rf"( *+)(#[^{_BREAKS}]*+|[ \t]*+)(?:\r\n|[{_BREAKS}]|\Z)")

_NULLS = ("", "~", "null")
_BOOLEANS = {"true": True, "false": False}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,299})")
_DECIMAL = re.compile(rf"{_INTEGER.pattern}\.[0-9]{{1,300}}")
_MERGE = "<<"
_REFUSED_IN_QUOTES = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""The characters that JSON allows in quotes and YAML does not, or reads as a line break."""


class _Node(NamedTuple):
    """A value and its range in the text, without the last line break of a block scalar.

    `column` is where the entries of a list or an object in block style start.
    """

    value: Any
    start: int
    stop: int
    entries: Sequence[_Entry] = ()
    column: int = 0
    is_flow: bool = False
    is_plain: bool = False


class _Entry(NamedTuple):
    """An entry of an object or an item of a list.

    `start` is where its key or its dash starts, and `before` is the end of its colon or dash.
    """

    start: int
    before: int
    node: _Node


class _Document(NamedTuple):
    start: int
    node: _Node


class _Edit(NamedTuple):
    """A range of the text, and what is written in its place."""

    start: int
    stop: int
    text: str = ""


_Events: TypeAlias = Iterator[Event]


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
    value = values if len(values) > 1 else values[0]

    def write(new: Any) -> str | None:
        if not is_part(new, value):
            return None
        if len(documents) > 1:
            return head + _with_documents(body, documents, new)
        edits: list[_Edit] = []
        root = documents[0].node
        _reduce(body, root, new, root.start, edits)
        return head + _edited(body, edits)

    return value, write


def _has_structure(values: list[Any]) -> bool:
    """Return whether each document is a list or an object; some of several can be empty, the last can be a marker."""
    if len(values) > 1 and is_marker(values[-1]):
        values = values[:-1]
    kinds = {type(value) for value in values}
    if len(values) > 1:
        kinds.discard(type(None))
    return bool(kinds) and kinds <= {list, dict}


def _documents(text: str) -> list[_Document]:
    """Return the documents of a text. Raise `ValueError` or `YAMLError` if it has none that can be written."""
    if text.startswith(_BOM):
        raise ValueError("the parser does not count this character")
    events: _Events = yaml.parse(text, Loader=_LOADER)
    found: list[_Document] = []
    next(events)
    while type(event := next(events)) is not StreamEndEvent:
        if type(event) is DocumentStartEvent:
            found.append(_Document(_start(event), _node(text, next(events), events, 1)))
        elif type(event) is not DocumentEndEvent:
            raise ValueError("not a document")
    return found


def _node(text: str, event: Event, events: _Events, level: int) -> _Node:
    """Return the node that starts with an event."""
    if not isinstance(event, NodeEvent) or event.anchor is not None:
        raise ValueError("an alias or an anchor")
    if getattr(event, "tag", None) is not None:
        raise ValueError("a tag")
    if type(event) is ScalarEvent:
        return _scalar(text, event)
    if level == MAX_DEPTH:
        raise ValueError(f"deeper than {MAX_DEPTH} levels")
    if type(event) is SequenceStartEvent:
        return _list(text, event, events, level + 1)
    if type(event) is MappingStartEvent:
        return _object(text, event, events, level + 1)
    raise ValueError("not a value")


def _scalar(text: str, event: ScalarEvent) -> _Node:
    start, stop = _start(event), _stop(event)
    if event.style == "|" or event.style == ">":
        last = _LAST_BREAK.search(text, max(start, stop - 2), stop)
        return _Node(event.value, start, stop if last is None else last.start())
    is_plain = event.implicit[0]
    value = _resolved(event.value) if is_plain else event.value
    return _Node(value, start, stop, is_plain=is_plain)


def _resolved(text: str) -> Any:
    """Return the value of a plain scalar if JSON has it, otherwise its text."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text


def _list(text: str, opening: SequenceStartEvent, events: _Events, level: int) -> _Node:
    is_flow = _is_flow(text, opening, "[")
    start = _start(opening)
    at = start + is_flow
    entries: list[_Entry] = []
    values: list[Any] = []
    while type(event := next(events)) is not SequenceEndEvent:
        node = _node(text, event, events, level)
        dash = _gap(text, at, is_flow)
        if is_flow:
            _require(dash == node.start)
            entries.append(_Entry(dash, dash, node))
        else:
            _require(text[dash] == "-")
            entries.append(_Entry(dash, dash + 1, node))
        values.append(node.value)
        at = node.stop
    stop = _stop(event) if is_flow else at
    return _Node(values, start, stop, entries, _column(opening), is_flow)


def _object(text: str, opening: MappingStartEvent, events: _Events, level: int) -> _Node:
    is_flow = _is_flow(text, opening, "{")
    start = _start(opening)
    at = start + is_flow
    entries: list[_Entry] = []
    value: dict[str, Any] = {}
    while type(event := next(events)) is not MappingEndEvent:
        key = _node(text, event, events, MAX_DEPTH)
        _require(type(event) is ScalarEvent and key.start == _gap(text, at, is_flow))
        name = str(getattr(event, "value", ""))
        if name in value or (key.is_plain and name == _MERGE):
            raise ValueError("a duplicate or a merge key")
        node = _node(text, next(events), events, level)
        before = _after_colon(text, key.stop)
        _require(is_flow or before > key.stop)
        entries.append(_Entry(key.start, before, node))
        value[name] = node.value
        at = node.stop
    stop = _stop(event) if is_flow else at
    return _Node(value, start, stop, entries, _column(opening), is_flow)


def _is_flow(text: str, opening: SequenceStartEvent | MappingStartEvent, bracket: str) -> bool:
    if opening.flow_style:
        _require(text[_start(opening)] == bracket)
    return bool(opening.flow_style)


def _gap(text: str, at: int, is_flow: bool) -> int:
    """Return the end of the blanks and comments at a position; in flow style also of the comma."""
    match = (_FLOW_GAP if is_flow else _GAP).match(text, at)
    return match.end() if match else at


def _after_colon(text: str, at: int) -> int:
    """Return the end of the colon after a key, or of the key if there is none."""
    colon = _gap(text, at, False)
    return colon + 1 if text.startswith(":", colon) else at


def _start(event: Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _stop(event: Event) -> int:
    return event.end_mark.index if event.end_mark else 0


def _column(event: Event) -> int:
    return event.start_mark.column if event.start_mark else 0


def _require(expected: bool) -> None:
    if not expected:
        raise ValueError("a notation that is not written")


def _with_documents(text: str, documents: list[_Document], new: list[Any]) -> str:
    """Return a text with some of its documents, at least two, because one is not read as a list."""
    reduced, marker = _kept_items(new, [document.node.value for document in documents])
    for index, document in enumerate(documents):
        if len(reduced) + bool(marker) >= 2:
            break
        reduced.setdefault(index, document.node.value)
    edits: list[_Edit] = []
    for index, document in enumerate(documents):
        if index in reduced:
            _reduce(text, document.node, reduced[index], document.node.start, edits)
        else:
            stop = documents[index + 1].start if index + 1 < len(documents) else len(text)
            edits.append(_Edit(document.start, stop))
    result = _edited(text, edits)
    if not marker:
        return result
    end = line_end(text)
    return f"{result}{'' if result.endswith(end) else end}--- {_quoted(marker)}{end}"


def _reduce(text: str, node: _Node, new: Any, before: int, edits: list[_Edit], in_flow: bool = False) -> int:
    """Add the edits that leave a part of a node, and return where the text ends that stays."""
    if type(new) is str and new != node.value:
        _replace(node.start, node.stop, _spelled(node, new, in_flow), edits)
    if type(new) is not list and type(new) is not dict:
        return node.stop
    kept, marker = _kept(node, new)
    if not kept:
        _empty(node, marker, before, edits)
        return node.stop
    if node.is_flow:
        _leave_out_in_flow(node, kept, edits)
    else:
        _leave_out_lines(text, node, kept, edits)
    stop = node.stop
    for index, item in kept.items():
        entry = node.entries[index]
        stop = _reduce(text, entry.node, item, entry.before, edits, node.is_flow)
    if marker and node.is_flow:
        edits.append(_Edit(stop, stop, f", {_quoted(marker)}"))
    elif marker:
        edits.append(_marker_line(text, stop, f"{' ' * node.column}- {_quoted(marker)}"))
    return node.stop if node.is_flow else stop


def _kept(node: _Node, new: Any) -> tuple[dict[int, Any], str]:
    """Return the part of each entry that stays by its index, and the marker at the end of a list."""
    if type(new) is dict:
        return {index: new[key] for index, key in enumerate(node.value) if key in new}, ""
    return _kept_items(new, node.value)


def _kept_items(new: list[Any], old: list[Any]) -> tuple[dict[int, Any], str]:
    """Return the part of each item that stays by its index, and the marker if the list does not have it already."""
    marker = new[-1] if new and is_marker(new[-1]) else ""
    items = new[:-1] if marker else new
    kept = dict(zip(origins(items, old) or (), items, strict=True))
    if marker and marker == old[-1]:
        kept[len(old) - 1] = marker
        marker = ""
    return kept, marker


def _empty(node: _Node, marker: str, before: int, edits: list[_Edit]) -> None:
    """Leave an empty list or object, or only a marker."""
    if not node.entries:
        return
    if marker and not node.is_flow:
        edits.append(_Edit(node.entries[0].before, node.stop, f" {_quoted(marker)}"))
    elif marker:
        edits.append(_Edit(node.start, node.stop, f"[{_quoted(marker)}]"))
    else:
        brackets = "[]" if type(node.value) is list else "{}"
        start = node.start if node.is_flow else before
        _replace(start, node.stop, brackets if start == node.start else f" {brackets}", edits)


def _replace(start: int, stop: int, text: str, edits: list[_Edit]) -> None:
    """Replace a range of the text unless that makes it longer."""
    if len(text) <= stop - start:
        edits.append(_Edit(start, stop, text))


def _leave_out_in_flow(node: _Node, kept: dict[int, Any], edits: list[_Edit]) -> None:
    """Leave out items in brackets: those before the first that stays with the following comma, others with theirs."""
    first = min(kept)
    edits.append(_Edit(node.entries[0].start, node.entries[first].start))
    for index in range(first + 1, len(node.entries)):
        if index not in kept:
            edits.append(_Edit(node.entries[index - 1].node.stop, node.entries[index].node.stop))


def _leave_out_lines(text: str, node: _Node, kept: dict[int, Any], edits: list[_Edit]) -> None:
    """Leave out the lines of entries. If the first stands behind a dash, the first that stays takes its place."""
    begin = node.entries[0].start
    first = 0
    if text[begin - node.column : begin].strip(" "):
        first = min(kept)
        edits.append(_Edit(begin, node.entries[first].start))
    for index in range(first, len(node.entries)):
        if index not in kept:
            entry = node.entries[index]
            edits.append(_Edit(entry.start - node.column, _next_line(text, entry.node.stop, node.column)))


def _next_line(text: str, at: int, column: int) -> int:
    """Return the start of the line after an entry, and after the blank lines and deeper comments that follow it."""
    rest = _REST_OF_LINE.match(text, at)
    at = rest.end() if rest else at
    while at < len(text):
        line = _LINE_WITHOUT_VALUE.match(text, at)
        if line is None or (line[2].startswith("#") and len(line[1]) <= column):
            break
        at = line.end()
    return at


def _marker_line(text: str, at: int, line: str) -> _Edit:
    """Return the edit that adds a line after the line of a position."""
    rest = _REST_OF_LINE.match(text, at)
    stop = rest.end() if rest else at
    end = line_end(text)
    return _Edit(stop, stop, f"{line}{end}" if rest and rest[1] else f"{end}{line}")


def _spelled(node: _Node, new: str, in_flow: bool) -> str:
    """Return how a text is written: without quotes if it had none and needs none, otherwise as in JSON."""
    if node.is_plain and not in_flow:
        found = read_yaml(f"- {new}")
        if found is not None and found[0] == [new]:
            return new
    return _quoted(new)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _REFUSED_IN_QUOTES.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _edited(text: str, edits: list[_Edit]) -> str:
    """Return a text with some edits, which do not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        parts += text[at : edit.start], edit.text
        at = edit.stop
    return "".join([*parts, text[at:]])
