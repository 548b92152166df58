"""Reads YAML text into a tree with positions.

Reports what rules do not allow: aliases, tags, duplicate keys, and values that YAML versions interpret differently.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import yaml
from yaml import events as e
from yaml.error import MarkedYAMLError
from yaml.resolver import Resolver

from reducer.errors import Edit, shortened
from reducer.rules.diagnostics import UNREADABLE, Report, Span, quoted
from reducer.rules.syntax import explain, unquoted

MAX_CHARS = 250_000
"""The maximum length of a rule file: the pure parser needs up to 27 µs per character."""
MAX_DEPTH = 64
"""The maximum number of levels: rules need six, inline samples a few more."""


@dataclass(frozen=True, slots=True)
class ScalarNode(Span):
    """A single value; `raw` is its source with quotes, and the span covers its first line."""

    value: str | int | float | bool | None
    raw: str


@dataclass(frozen=True, slots=True)
class MappingNode(Span):
    """An object with distinct keys.

    `incomplete` is true if an invalid entry is left out, so a missing key is not reported as well.
    """

    entries: tuple[tuple[ScalarNode, Tree], ...]
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class SequenceNode(Span):
    """A list."""

    items: tuple[Tree, ...]


Tree: TypeAlias = ScalarNode | MappingNode | SequenceNode
Place: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the root of a tree."""


def plain(tree: Tree) -> Any:
    """Convert a tree to dicts, lists and scalars."""
    if isinstance(tree, MappingNode):
        return {str(key.value): plain(value) for key, value in tree.entries}
    if isinstance(tree, SequenceNode):
        return [plain(item) for item in tree.items]
    return tree.value


def locate(tree: Tree, place: Sequence[str | int], *, key: bool = False) -> Tree:
    """Return the node at `place`, or its nearest existing ancestor.

    With `key=True`, return the last key of `place` instead of its value.
    """
    node = tree
    for number, step in enumerate(place, 1):
        if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            continue
        for name, value in node.entries if isinstance(node, MappingNode) else ():
            if name.value == step:
                node = name if key and number == len(place) else value
                break
        else:
            break
    return node


_CHARACTERS = {'"': re.compile(r"\\(?:x.{2}|u.{4}|U.{8}|.)|."), "'": re.compile("''|.")}
"""The source of one character of a text, by its quote."""


def part(node: Tree, offset: int, width: int) -> Span:
    """Return the span of `width` characters at `offset` in a text, or at the start of a text with several lines."""
    column = node.column
    if isinstance(node, ScalarNode) and "\n" not in node.raw:
        if characters := _CHARACTERS.get(node.raw[:1]):
            column += 1 + sum(map(len, characters.findall(node.raw[1:-1])[:offset]))
        else:
            column += min(offset, len(str(node.value)))
    return Span(node.line, column, width)


def replaced(node: Tree, value: str) -> tuple[Edit, ...]:
    """Return the edit that replaces the value of a scalar and keeps its quotes, if its source contains the value."""
    if not isinstance(node, ScalarNode) or str(node.value) not in node.raw or "\n" in node.raw:
        return ()
    return node.edit(node.raw.replace(str(node.value), value))


_FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times as fast as the pure parser, which reports errors more precisely."""
_YAML_ERRORS = (MarkedYAMLError, ValueError, OverflowError)
_WORDS: dict[str, str | int | float | bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_AMBIGUOUS = {
    "bool": ("E040", "a boolean", ", or true or false"),
    "timestamp": ("E040", "a date", ""),
    "int": ("E041", "a number", ", or only digits for the number"),
    "float": ("E041", "a number", ", or only digits for the number"),
}
"""The code, the other meaning, and additional help, by the type that YAML 1.1 finds in a value without quotes."""
_CURLY = re.compile("[“”„‘’‚«].*[“”‘’»]", re.DOTALL)
_STRAIGHT = str.maketrans(dict.fromkeys("“”„‘’‚", "'"))
_BACKSPACE = re.compile(r"(?<!\\)(?:\\\\)*\\b")
"""`\b` in double quotes; after two backslashes, `b` is a letter."""
_RESOLVERS: Any = Resolver.yaml_implicit_resolvers
"""The types of YAML 1.1 with their patterns, by first character. `resolve` fails in the sandbox of Temporal."""
_SCALARS = (e.ScalarEvent, e.AliasEvent)
_START = Span(1, 1, 1)


class _Unreadable(Exception):
    """Stops reading. The arguments are those of a `Fault`."""


def parse(text: str | bytes, file: str) -> tuple[Tree | None, Report]:
    """Read one YAML document from a text or UTF-8 bytes and return its tree and a report of its problems.

    If the text is not valid YAML, the tree is None and the report contains one error. Never raises.
    """
    decoded = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    lines = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    report = Report(file, tuple(lines))
    _check_characters(text, report)
    if report.problems:
        return None, report
    failure = Exception()
    for loader in (_FAST_LOADER, yaml.SafeLoader):
        try:
            return _read("\n".join(lines), report, loader), report
        except (_Unreadable, *_YAML_ERRORS) as error:
            failure = error
        report.problems.clear()
    report.add(*(failure.args if isinstance(failure, _Unreadable) else explain(report.lines, failure)))
    return None, report


def _check_characters(text: str | bytes, report: Report) -> None:
    """Report the first problem with the size, the encoding or the characters of a text."""
    if len(text) > MAX_CHARS:
        return report.add(_START, "E003", f"the rule file has more than {MAX_CHARS:,} characters")
    for row, line in enumerate(report.lines, 1):
        match = UNREADABLE.search(line)
        if match is not None:
            code, span = ord(match[0]), Span(row, match.start() + 1, 1)
            if isinstance(text, bytes) and 0xDC80 <= code <= 0xDCFF:
                return report.add(span, "E001", f"the byte 0x{code - 0xDC00:02x} is not UTF-8 text")
            return report.add(span, "E002", f"invisible character (U+{code:04X})")
    return None


def _read(text: str, report: Report, loader_type: Any) -> Tree:
    """Return the tree of the only document. Raises `_Unreadable` and the errors of PyYAML."""
    loader = loader_type(text)
    loader.get_event()
    if loader.check_event(e.StreamEndEvent):
        raise _Unreadable(_START, "E004", "the file is empty")
    loader.get_event()
    root = _Reader(text, report, loader).node(MAX_DEPTH)
    loader.get_event()
    second: Any = loader.get_event()
    if type(second) is not e.StreamEndEvent:
        raise _Unreadable(Span(*_at(second), 3), "E008", "a rule file can have only one YAML document")
    return root


def _at(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


@dataclass(frozen=True, slots=True)
class _Reader:
    """Builds the nodes of a text from the events of a loader."""

    text: str
    report: Report
    loader: Any

    def node(self, depth: int) -> Tree:
        """Return the next node, which may have at most `depth` levels."""
        event = self.loader.get_event()
        kind = type(event)
        is_refused = kind is e.AliasEvent or bool(event.anchor or event.tag)
        if is_refused:  # usually a text without quotes, but not certainly
            at = Span(*_at(event), 1)
            if self._is_anchor(event):
                self.report.add(at, "E043", "a rule file cannot use anchors (`&name`) and aliases (`*name`)")
            else:
                self.report.add(*unquoted(self.report.lines, at)._replace(fix=()))
        if kind in _SCALARS:
            return self._scalar(event, is_refused)
        if not depth:
            raise _Unreadable(Span(*_at(event), 1), "E003", f"nested deeper than {MAX_DEPTH} levels")
        if kind is e.SequenceStartEvent:
            items = []
            while not self.loader.check_event(e.SequenceEndEvent):
                items.append(self.node(depth - 1))
            found = SequenceNode(*self._span(event, self.loader.get_event()), items=tuple(items))
            if not self.report.lines[found.line - 1].startswith("[?", found.column - 1):
                return found
            self.report.add(*unquoted(self.report.lines, found))
            return replace(found, items=())  # only the missing quotes are reported
        entries, incomplete = dict[str, tuple[ScalarNode, Tree]](), False
        while not self.loader.check_event(e.MappingEndEvent):
            key, value = self.node(depth - 1), self.node(depth - 1)
            name = self._name(key, entries)
            if name is None:
                incomplete = True
            else:
                entries[str(name.value)] = name, value
        span = self._span(event, self.loader.get_event())
        return MappingNode(*span, entries=tuple(entries.values()), incomplete=incomplete)

    def _is_anchor(self, event: Any) -> bool:
        """Return whether an event has an anchor that is used, or one for several keys or items, or uses one."""
        other = "&" if isinstance(event, e.AliasEvent) else "*"
        is_used = event.anchor and re.search(rf"(?<!\S){re.escape(other + event.anchor)}(?!\S)", self.text)
        return bool(is_used) or (bool(event.anchor) and not isinstance(event, e.ScalarEvent | e.AliasEvent))

    def _span(self, start: Any, end: Any) -> tuple[int, int, int]:
        """Return the line, column and width of a list or object on its first line."""
        first, last = start.start_mark, end.end_mark
        stop = last.column if last.line == first.line else len(self.report.lines[first.line].rstrip())
        return (*_at(start), max(1, stop - first.column))

    def _scalar(self, event: Any, is_refused: bool) -> ScalarNode:
        raw = self.text[event.start_mark.index : event.end_mark.index]
        if raw[:1] not in ("'", '"'):
            raw = raw.rstrip(" \t\n")
        if not (is_refused or event.style):  # the two parsers differ on tabs
            raw = raw.replace("\t", " ")
        node = ScalarNode(*_at(event), max(1, len(raw.partition("\n")[0])), value=raw, raw=raw)
        if is_refused:
            return node
        value = self._styled_value(node, event) if event.style else self._plain_value(node, event.value)
        return node if value == raw else ScalarNode(node.line, node.column, node.width, value, raw)

    def _styled_value(self, node: ScalarNode, event: Any) -> str:
        """Return the value of a text in quotes or of a block, and report escapes that are probably wrong."""
        value: str = event.value
        if not value.isascii():
            # JSON escapes some characters as pairs such as `\ud83d\ude00`.
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if "\ufffd" in value and "\ufffd" not in event.value:
                self.report.add(node, "E042", "escapes from \\ud800 to \\udfff are valid only in pairs", "remove it")
        if event.style == '"' and _BACKSPACE.search(node.raw) and "\n" not in node.raw:
            message = "`\\b` in double quotes is a backspace character, not the end of a word"
            self.report.add(node, "W040", message)
        return value

    def _plain_value(self, node: ScalarNode, text: str) -> str | int | float | bool | None:
        """Return the value of a scalar without quotes, and report it if YAML 1.1 and 1.2 disagree about it."""
        text = text.replace("\t", " ")
        if text in _WORDS:
            return _WORDS[text]
        if _NUMBER.fullmatch(text):
            number = float(text)
            if not math.isinf(number):
                return number if set(text) & set(".eE") else int(text)
            self.report.add(node, "E041", f"the number `{shortened(text)}` is too large", "put it in quotes")
            return text
        if _CURLY.fullmatch(text):
            text = text[1:-1].translate(_STRAIGHT)
            advice = f"write {shortened(quoted(text))}"
            self.report.add(node, "E045", "YAML does not read curly quotes as quotes", advice)
        for tag, pattern in _RESOLVERS.get(text[:1], ()):
            kind = tag.rpartition(":")[2]
            if kind in _AMBIGUOUS and pattern.match(text):
                code, meaning, more = _AMBIGUOUS[kind]
                shown = shortened(text)
                message = f"`{shown}` is ambiguous without quotes: a text or {meaning}"
                fix = node.edit(quoted(node.raw)) if kind == "timestamp" else ()  # a date is always meant as a text
                self.report.add(node, code, message, f"write {quoted(shown)} for the text{more}", fix=fix)
                break
        return text

    def _name(self, node: Tree, entries: Mapping[str, tuple[ScalarNode, Tree]]) -> ScalarNode | None:
        """Return a key as a text, or None if it is invalid or one of the previous entries."""
        if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
            self.report.add(node, "E016", "a key must be text")
            return None
        name = node.value
        if name in entries:
            first, _ = entries[name]
            message = f"duplicate key `{shortened(name)}`, first used in line {first.line}"
            self.report.add(node, "E012", message, f"join it with line {first.line}, or remove one of them")
            return None
        return node
