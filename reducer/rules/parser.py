"""Reads YAML text into a tree, and refuses what the rule language does not have: aliases, tags, duplicate keys."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

import yaml
from yaml import events as e
from yaml.error import MarkedYAMLError
from yaml.resolver import Resolver

from reducer.errors import Edit
from reducer.rules.diagnostics import UNREADABLE, Report
from reducer.rules.syntax import explain, unquoted
from reducer.rules.tree import Mapping, Scalar, Sequence, Span, Tree, quoted, shortened

try:
    from yaml import CSafeLoader as _FastLoader  # ten times as fast as the pure parser
except ImportError:
    _FastLoader = yaml.SafeLoader  # type: ignore[assignment,misc]

MAX_CHARS = 250_000
"""Characters of a rule file: the pure parser takes up to 27 µs for each."""
MAX_DEPTH = 64
"""Levels of nesting: rules need six, inline samples some more."""

_STYLES: dict[str | None, Any] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}
_ANCHOR = re.compile(r"&([\w-]+)")
_COMMENT = re.compile(r"[ \t]+#.*")

MAX_DIGITS = 640
"""Characters of a number: `int` reads as many under every setting of the interpreter's own limit."""

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
"""Code, kind and more help by what YAML 1.1 reads where YAML 1.2 reads a text or something else."""
_CURLY = re.compile("[“”„‘’‚«].*[“”‘’»]", re.DOTALL)
_RESOLVERS: Any = Resolver.yaml_implicit_resolvers
"""The tags of YAML 1.1 with their patterns, by the first character of a value."""


class _Unreadable(Exception):
    """The rest of the text is not read: span, code, message."""


def parse(text: str | bytes, file: str) -> tuple[Tree | None, Report]:
    """Read one YAML document, a text or UTF-8 bytes, and return its tree and a report of its problems.

    The tree is None if the text is not readable YAML: the report then has one error. Never raises.
    """
    decoded = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    lines = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    report = Report(file, tuple(lines))
    _check_characters(text, report)
    if report.found:
        return None, report
    clean = "\n".join(lines)
    try:
        try:
            return _read(clean, report, _FastLoader), report
        except (MarkedYAMLError, ValueError, OverflowError):
            report.found.clear()
            # The pure parser says more precisely what is wrong.
            return _read(clean, report, yaml.SafeLoader), report
    except _Unreadable as error:
        report.found.clear()
        report.add(*error.args)
    except (MarkedYAMLError, ValueError, OverflowError) as error:
        fault = explain(report.lines, error)
        report.found.clear()
        report.add(fault.span, fault.code, fault.message, fault.help, fix=fault.fix)
    return None, report


def _check_characters(text: str | bytes, report: Report) -> None:
    """Report the first reason why a text has a size or characters that are not read."""
    if isinstance(text, bytes) and text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return report.add(Span(1, 1), "E001", "the file is UTF-16 text")
    if len(text) > MAX_CHARS:
        return report.add(Span(1, 1), "E003", f"the rule file has more than {MAX_CHARS:,} characters")
    found = ((row, match) for row, line in enumerate(report.lines, 1) if (match := UNREADABLE.search(line)))
    row, match = next(found, (0, None))
    if match is not None:
        code, span = ord(match[0]), Span(row, match.start() + 1)
        if isinstance(text, bytes) and 0xDC80 <= code <= 0xDCFF:
            return report.add(span, "E001", f"the byte 0x{code - 0xDC00:02x} is not UTF-8 text")
        escape = f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
        help = "remove it" if 0xD800 <= code <= 0xDFFF else f'remove it, or write {escape} inside "…"'
        report.add(span, "E002", f"invisible character (U+{code:04X})", help)
    return None


def _read(text: str, report: Report, loader_type: Any) -> Tree:
    """Return the tree of the only document. Raise the errors of PyYAML and `_Unreadable`."""
    loader = loader_type(text)
    try:
        loader.get_event()
        if loader.check_event(e.StreamEndEvent):
            raise _Unreadable(Span(1, 1), "E004", "the file is empty")
        start: Any = loader.get_event()
        root = _Reader(text, report, loader, frozenset(_ANCHOR.findall(text))).node(MAX_DEPTH)
        loader.get_event()
        second: Any = loader.get_event()
        if start.version or start.tags or type(second) is not e.StreamEndEvent:
            mark = (start if start.version or start.tags else second).start_mark
            raise _Unreadable(Span(mark.line + 1, mark.column + 1, 3), "E008", "a rule file is one YAML document")
    finally:
        loader.dispose()
    if isinstance(root, Scalar) and not root.raw:
        raise _Unreadable(Span(1, 1), "E004", "the file is empty")
    return root


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the nodes of a text from the events of a loader; `anchors` are the names of the anchors in the text."""

    text: str
    report: Report
    loader: Any
    anchors: frozenset[str]

    def node(self, depth: int) -> Tree:
        """Return the next node, with at most `depth` levels."""
        event = self.loader.get_event()
        start: Any = event.start_mark
        if isinstance(event, e.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, e.AliasEvent):
            self._refuse(event, is_text=event.anchor not in self.anchors)
            raw = self._raw(event)
            return Scalar(raw, start.line + 1, start.column + 1, len(raw), style="plain", raw=raw)
        if not depth:
            span = Span(start.line + 1, start.column + 1)
            raise _Unreadable(span, "E003", f"nested deeper than {MAX_DEPTH} levels")
        if event.anchor or event.tag:
            self._refuse(event)
        if isinstance(event, e.SequenceStartEvent):
            items = []
            while not self.loader.check_event(e.SequenceEndEvent):
                items.append(self.node(depth - 1))
            return self._sequence(event, tuple(items))
        entries, keys, incomplete = [], dict[str, int](), False
        while not self.loader.check_event(e.MappingEndEvent):
            key = self._key(self.node(depth - 1), keys)
            value = self.node(depth - 1)
            entries += [(key, value)] if key is not None else []
            incomplete = incomplete or key is None
        return Mapping(tuple(entries), *self._span(event, self.loader.get_event()), incomplete)

    def _raw(self, event: Any) -> str:
        return self.text[event.start_mark.index : event.end_mark.index]

    def _span(self, start: Any, end: Any) -> Span:
        """Return the characters of a list or object in its first line."""
        first, last = start.start_mark, end.end_mark
        whole = start.flow_style and last.line == first.line
        stop = last.column if whole else len(self.report.lines[first.line].rstrip())
        return Span(first.line + 1, first.column + 1, max(1, stop - first.column))

    def _refuse(self, event: Any, is_text: bool = False) -> None:
        """Report an anchor, alias or tag, which is usually a text without its quotes."""
        mark = event.start_mark
        fault = unquoted(self.report.lines[mark.line], mark.line, mark.column)
        self.report.add(fault.span, fault.code, fault.message, fault.help, fix=fault.fix if is_text else ())

    def _scalar(self, event: Any) -> Scalar:
        start, raw, style = event.start_mark, self._raw(event), _STYLES.get(event.style, "plain")
        if style not in ("single", "double"):
            raw = raw.rstrip(" \t\n")
        if style == "plain":
            raw = raw.replace("\t", " ")  # the two parsers differ on tabs
        width = max(1, len(raw.split("\n")[0]))
        node = Scalar(event.value, start.line + 1, start.column + 1, width, style=style, raw=raw)
        if event.anchor or event.tag:
            self._refuse(event)
            return replace(node, value=raw)
        if style != "plain":
            # JSON writes one character as a pair of escapes such as `\ud83d\ude00`.
            value = event.value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if "\ufffd" in value and "\ufffd" not in event.value:
                self.report.add(node, "E042", "an escape from \\ud800 to \\udfff lacks its other half", "remove it")
            return replace(node, value=value)
        return self._with_comment(node) or replace(node, value=self._plain_value(node, event.value.replace("\t", " ")))

    def _plain_value(self, node: Scalar, text: str) -> str | int | float | bool | None:
        """Return the value of a scalar without quotes; report one that YAML 1.1 and 1.2 read differently."""
        if text in _WORDS:
            return _WORDS[text]
        shown = shortened(text)
        if _NUMBER.fullmatch(text):
            number = math.inf if len(text) > MAX_DIGITS else float(text) if set(text) & set(".eE") else int(text)
            if not math.isinf(number):
                return number
            self.report.add(node, "E041", f"the number `{shown}` is too large", "put it in quotes")
        elif _CURLY.fullmatch(text):
            self.report.add(node, "E045", "curly quotes are not quotes in YAML")
        else:
            tags = (tag for tag, pattern in _RESOLVERS.get(text[:1], ()) if pattern.match(text))
            tag = next(tags, "").rpartition(":")[2]
            code, kind, more = _AMBIGUOUS.get(tag, ("", "", ""))
            if code:
                message = f"`{shown}` is ambiguous without quotes: a text or {kind}"
                # A date can only be meant as a text.
                edit = Edit(node.line, node.column, node.width, quoted(node.raw))
                fix = (edit,) if tag == "timestamp" and "\n" not in node.raw else ()
                self.report.add(node, code, message, f"write {quoted(shown)} for the text{more}", fix=fix)
        return text

    def _with_comment(self, node: Scalar) -> Scalar | None:
        """Return and report an expression that ` #` cut: a bracket is closed in the comment only."""
        raw = node.raw
        missing = sum(map(raw.count, "([{")) - sum(map(raw.count, ")]}"))
        if missing <= 0 or "\n" in raw:
            return None
        match = _COMMENT.match(self.report.lines[node.line - 1], node.column - 1 + len(raw))
        if match is None or sum(map(match[0].count, ")]}")) < missing:
            return None
        whole = raw + match[0].rstrip()
        span = Span(node.line, match.start() + match[0].index("#") + 1)
        fix = (Edit(node.line, node.column, len(whole), quoted(whole)),)
        message = "this `#` starts a comment, so the value ends before it"
        self.report.add(span, "E044", message, f"write {shortened(quoted(whole))}", fix=fix)
        return replace(node, value=whole)

    def _sequence(self, start: Any, items: tuple[Tree, ...]) -> Tree:
        """Return a list, or the text that a filter such as `[?a == 'b']` is."""
        end = self.loader.get_event()
        span = self._span(start, end)
        raw = self.text[start.start_mark.index : end.end_mark.index]
        if not (start.flow_style and raw.startswith("[?")):
            return Sequence(items, *span)
        fault = unquoted(self.report.lines[span.line - 1], span.line - 1, span.column - 1)
        self.report.found[:] = [one for one in self.report.found if one.location.line != span.line]
        self.report.add(span, fault.code, fault.message, fault.help, fix=fault.fix if "\n" not in raw else ())
        return Scalar(raw, *span, "plain", raw)

    def _key(self, node: Tree, keys: dict[str, int]) -> Scalar | None:
        """Return a key as a text, or None for a wrong one; `keys` has the lines of the keys before it."""
        if not isinstance(node, Scalar):
            self.report.add(node, "E016", "a key must be text, not a list or an object")
            return None
        if not isinstance(node.value, str):
            message = f"a key must be text, but `{shortened(node.raw)}` without quotes is not"
            fix = (Edit(node.line, node.column, node.width, quoted(node.raw)),)
            self.report.add(node, "E016", message, f"write {shortened(quoted(node.raw))}:", fix=fix)
            node = replace(node, value=node.raw)
        name = str(node.value)
        if name in keys:
            self.report.add(node, "E012", f"duplicate key `{shortened(name)}`, first used in line {keys[name]}")
            return None
        keys[name] = node.line
        return node
