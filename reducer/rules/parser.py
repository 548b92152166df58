"""Reads YAML text into a tree, and refuses what the rule language does not have: aliases, tags, duplicate keys."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import yaml
from yaml import events as e
from yaml.error import MarkedYAMLError

from reducer.errors import Edit
from reducer.rules.diagnostics import UNREADABLE, Report
from reducer.rules.scalars import PlainValue, quoted, read_scalar, shortened
from reducer.rules.syntax import explain, quote_value
from reducer.rules.tree import Mapping, Scalar, Sequence, Span, Tree

try:
    from yaml import CSafeLoader as _FastLoader  # ten times as fast as the pure parser
except ImportError:
    _FastLoader = yaml.SafeLoader  # type: ignore[assignment,misc]

MAX_CHARS = 250_000
"""Characters of a rule file: the pure parser takes up to 27 µs for each."""
MAX_DEPTH = 64
"""Levels of nesting: rules need six, inline samples some more."""

_STYLES: dict[str | None, Any] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")
_ANCHOR = re.compile(r"&([\w-]+)")
_COMMENT = re.compile(r"[ \t]+#.*")


class _Unreadable(Exception):
    """The rest of the text is not read."""


def parse(text: str | bytes, file: str) -> tuple[Tree | None, Report]:
    """Read one YAML document, a text or UTF-8 bytes, and return its tree and a report of its problems.

    The tree is None if the text is not readable YAML: the report then has one error. Never raises.
    """
    decoded = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    lines = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    report = Report(file, tuple(lines))
    if not _is_readable(text, report):
        return None, report
    clean = "\n".join(lines)
    try:
        return _Builder(clean, report).read(_FastLoader), report
    except _Unreadable:
        return None, report
    except (MarkedYAMLError, ValueError, OverflowError):
        report = Report(file, report.lines)
    # The pure parser says more precisely what is wrong.
    try:
        return _Builder(clean, report).read(yaml.SafeLoader), report
    except _Unreadable:
        return None, report
    except (MarkedYAMLError, ValueError, OverflowError) as error:
        report.found.clear()
        explain(report, error)
        return None, report


def _is_readable(text: str | bytes, report: Report) -> bool:
    """Return whether a text has a size and characters that can be read, else report the first problem."""
    start = Span(1, 1)
    if isinstance(text, bytes) and text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        report.add(start, "E001", "the file is UTF-16 text")
    elif len(text) > MAX_CHARS:
        report.add(start, "E003", f"the rule file has more than {MAX_CHARS:,} characters")
    for row, line in enumerate(report.lines, 1) if not report.found else ():
        match = UNREADABLE.search(line)
        if match is None:
            continue
        code = ord(match[0])
        span = Span(row, match.start() + 1)
        if isinstance(text, bytes) and 0xDC80 <= code <= 0xDCFF:
            report.add(span, "E001", f"the byte 0x{code - 0xDC00:02x} is not UTF-8 text")
        else:
            escape = f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
            help = "remove it" if 0xD800 <= code <= 0xDFFF else f'remove it, or write {escape} inside "…"'
            report.add(span, "E002", f"invisible character (U+{code:04X})", help)
        break
    return not report.found


@dataclass(slots=True)
class _Open:
    """A list or object that is being read."""

    start: Any
    children: list[Tree | None] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)

    @property
    def expects_key(self) -> bool:
        return isinstance(self.start, e.MappingStartEvent) and len(self.children) % 2 == 0


class _Builder:
    """Builds the tree of a text from the events of a parser. Depth needs no stack, and is bounded."""

    def __init__(self, text: str, report: Report) -> None:
        self.text = text
        self.report = report
        self.starts = [0, *accumulate(len(line) + 1 for line in report.lines)]
        self.anchors = frozenset(_ANCHOR.findall(text))
        self.root: Tree | None = None
        self.stack: list[_Open] = []
        self.documents = 0

    def read(self, loader_type: Any) -> Tree | None:
        """Return the tree of the first document. Raise the errors of PyYAML and `_Unreadable`."""
        loader = loader_type(self.text)
        try:
            while loader.check_event():
                self._take(loader.get_event())
        finally:
            loader.dispose()
        if self.root is None or (isinstance(self.root, Scalar) and not self.root.raw):
            self._stop(Span(1, 1), "E004", "the file is empty")
        return self.root

    def _stop(self, span: Span, code: str, message: str, help: str = "") -> None:
        """Report an error that makes the rest unreadable, and nothing else."""
        self.report.found.clear()
        self.report.add(span, code, message, help)
        raise _Unreadable

    def _take(self, event: e.Event) -> None:
        mark: Any = event.start_mark
        span = Span(mark.line + 1, mark.column + 1)
        if isinstance(event, e.ScalarEvent):
            self._put(self._scalar(event))
        elif isinstance(event, e.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                self._stop(span._replace(width=3), "E008", "a second document starts here; a rule file has one")
            if event.version or event.tags:
                self._stop(span, "E008", "rule files have no lines that start with `%`", "remove the line")
        elif isinstance(event, e.AliasEvent):
            self._refuse(event, "*")
            raw = self._raw(event)
            self._put(Scalar(raw, span.line, span.column, len(raw), style="plain", raw=raw))
        elif isinstance(event, (e.SequenceStartEvent, e.MappingStartEvent)):
            if len(self.stack) == MAX_DEPTH:
                self._stop(span, "E003", f"nested deeper than {MAX_DEPTH} levels")
            self.stack.append(_Open(event))
            if event.anchor or event.tag:
                self._refuse(event, "&" if event.anchor else "!")
        elif isinstance(event, (e.SequenceEndEvent, e.MappingEndEvent)):
            self._put(self._collection(self.stack.pop(), event))

    def _put(self, node: Tree) -> None:
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        if parent.expects_key:
            parent.children.append(self._key(node, parent.keys))
            return
        if isinstance(parent.start, e.MappingStartEvent) and parent.start.flow_style and node.width == 1:
            self._check_flow_value(parent.children[-1], node)
        parent.children.append(node)

    def _raw(self, event: Any) -> str:
        return self.text[event.start_mark.index : event.end_mark.index]

    def _refuse(self, event: Any, sign: str) -> None:
        """Report an anchor, alias or tag, which is usually a text without its quotes."""
        mark = event.start_mark
        line = self.report.lines[mark.line]
        match = re.match(r"\S*", self._raw(event) or line[mark.column :])
        text = (match[0] if match else "") or sign
        edit, help = quote_value(line, mark.line, mark.column, text)
        # An alias whose anchor is in the file is not a text.
        is_text = sign == "*" and event.anchor not in self.anchors
        span = Span(mark.line + 1, mark.column + 1, len(text))
        message = f"a value cannot start with `{text[0]}` without quotes"
        self.report.add(span, "E030", message, help, fix=(edit,) if is_text else ())

    def _scalar(self, event: Any) -> Scalar:
        start, raw = event.start_mark, self._raw(event)
        row, column = (start.line, start.column) if raw else self._end_before(start.index)
        style = _STYLES.get(event.style, "plain")
        if style == "plain":
            raw = raw.rstrip(" \t\n").replace("\t", " ")  # the two parsers differ on tabs
        elif style in ("literal", "folded"):
            raw = raw.rstrip(" \t\n")
        width = max(1, len(raw.partition("\n")[0]))
        node = Scalar(event.value, row + 1, column + 1, width, style=style, raw=raw)
        if event.anchor or event.tag:
            self._refuse(event, "&" if event.anchor else "!")
            return replace(node, value=raw)
        if style != "plain":
            return self._joined_surrogates(node)
        found = read_scalar(event.value.replace("\t", " "))
        if found.code:
            self._report_value(node, found)
        elif raw and (whole := self._value_before_comment(node)):
            return replace(node, value=whole)
        return replace(node, value=found.value)

    def _report_value(self, node: Scalar, found: PlainValue) -> None:
        edits = (Edit(node.line, node.column, node.width, quoted(node.raw)),)
        fix = edits if found.needs_quotes and "\n" not in node.raw else ()
        self.report.add(node, found.code, found.message, found.help, fix=fix)

    def _end_before(self, index: int) -> tuple[int, int]:
        """Return the row and column, from 0, after the last character before `index`: the place of an absent value."""
        while index and self.text[index - 1] in " \t\n":
            index -= 1
        row = bisect_right(self.starts, index) - 1
        return row, index - self.starts[row]

    def _joined_surrogates(self, node: Scalar) -> Scalar:
        """Join pairs of escapes such as `\\ud83d\\ude00`, which JSON writes for one character."""
        value = str(node.value)
        if _LONE.search(value):
            value = _PAIR.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), value)
            if _LONE.search(value):
                value = _LONE.sub("\ufffd", value)
                self.report.add(node, "E042", "an escape from \\ud800 to \\udfff lacks its other half", "remove it")
        return replace(node, value=value)

    def _value_before_comment(self, node: Scalar) -> str:
        """Return the whole expression of which ` #` cut off a part: a bracket is closed in the comment only."""
        raw = node.raw
        missing = sum(map(raw.count, "([{")) - sum(map(raw.count, ")]}"))
        line = self.report.lines[node.line - 1]
        match = _COMMENT.match(line, node.column - 1 + len(raw)) if missing > 0 and "\n" not in raw else None
        if match is None or sum(map(match[0].count, ")]}")) < missing:
            return ""
        whole = raw + match[0].rstrip()
        span = Span(node.line, match.start() + match[0].index("#") + 1)
        fix = (Edit(node.line, node.column, len(whole), quoted(whole)),)
        message = "this `#` starts a comment and cuts the value"
        self.report.add(span, "E044", message, f"write {shortened(quoted(whole))}", fix=fix)
        return whole

    def _collection(self, opened: _Open, event: Any) -> Tree:
        start, end = opened.start.start_mark, event.end_mark
        row, column = start.line + 1, start.column + 1
        width = len(self.report.lines[start.line][start.column :].rstrip())
        if opened.start.flow_style and end.line == start.line:
            width = end.column - start.column
        width = max(1, width)
        if isinstance(opened.start, e.SequenceStartEvent):
            raw = self.text[start.index : end.index]
            if opened.start.flow_style and raw.startswith("[?"):
                edit, help = quote_value(self.report.lines[start.line], start.line, start.column, raw)
                message = "a value that starts with `[` needs quotes, unless it is a list"
                fix = () if "\n" in raw else (edit,)
                self.report.found[:] = [one for one in self.report.found if one.location.line != row]
                self.report.add(Span(row, column, width), "E031", message, help, fix=fix)
                return Scalar(raw, row, column, width, style="plain", raw=raw)
            return Sequence(tuple(item for item in opened.children if item is not None), row, column, width)
        pairs = zip(opened.children[::2], opened.children[1::2], strict=True)
        entries = tuple((key, value) for key, value in pairs if isinstance(key, Scalar) and value is not None)
        return Mapping(entries, row, column, width, incomplete=len(entries) * 2 < len(opened.children))

    def _key(self, node: Tree, keys: dict[str, int]) -> Scalar | None:
        """Return a key as a text, or None for a wrong one; `keys` has the lines of the keys before it."""
        if not isinstance(node, Scalar):
            kind = "a list" if isinstance(node, Sequence) else "an object"
            self.report.add(node, "E016", f"a key must be a text, not {kind}")
            return None
        if node.style == "plain" and node.raw == "<<":
            self.report.add(node, "E043", "rule files cannot copy keys with `<<`")
        if not isinstance(node.value, str):
            if node.raw:
                fix = (Edit(node.line, node.column, node.width, quoted(node.raw)),)
                message = f"a key must be a text, and `{shortened(node.raw)}` without quotes is not"
                self.report.add(node, "E016", message, f"write {shortened(quoted(node.raw))}:", fix=fix)
            else:
                self.report.add(node, "E016", "a key is missing", "write one before the colon")
            node = replace(node, value=node.raw)
        name = str(node.value)
        if name in keys:
            message = f"duplicate key `{shortened(name)}`, first used in line {keys[name]}"
            self.report.add(node, "E012", message)
            return None
        keys[name] = node.line
        return node

    def _check_flow_value(self, key: Tree | None, value: Tree) -> None:
        """Report a key without a value between braces, such as `{head:2}`."""
        if not isinstance(key, Scalar) or not isinstance(value, Scalar) or value.raw or value.style != "plain":
            return
        name, colon, rest = key.raw.partition(":")
        if colon and rest and key.style == "plain":
            help = f"write {shortened(f'{name}: {rest}')}"
            self.report.add(key, "E037", "a space is missing after the colon", help)
        else:
            message = f"the key `{shortened(str(key.value))}` has no value"
            self.report.add(key, "E035", message, "write a list with [ ], an object with { }")
