"""The events of a YAML parser to a tree, with everything that the rule language refuses of YAML."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from yaml import events as e
from yaml.error import MarkedYAMLError

from reducer.source import scalars
from reducer.source.faults import LONGEST_KEY, Edit, Fault, explain, written
from reducer.source.scalars import quoted, short
from reducer.source.tree import MAX_DEPTH, Mapping, Scalar, Sequence, Tree

_STYLES: dict[str | None, Any] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_NO_HEADER = re.compile("[|>][-+0-9]*(?:#| *\t)")
_TAB_INDENT = re.compile(r"\n *\t")
_LONE = re.compile("[\ud800-\udfff]")
_CUT = re.compile(r"[ \t]+#.*")


class Finding(NamedTuple):
    """One thing that is wrong at `row` and `column` (from 0); `width` characters are meant."""

    row: int
    column: int
    width: int
    code: str
    message: str
    help: str = ""
    edits: tuple[Edit, ...] = ()


class Result(NamedTuple):
    """What one run of a parser gave: `done` is False where it stopped, and `fault` is the syntax fault that stopped it."""

    done: bool
    tree: Tree | None
    findings: list[Finding]
    fault: Fault | None = None


class _Stop(Exception):
    """Nothing behind this place is read; or libyaml has read what the pure parser refuses, whose word counts."""


@dataclass(slots=True)
class _Open:
    """A list or object that is being read."""

    start: Any
    findings: int
    children: list[Tree | None] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)


def build(text: str, loader_type: Any, explained: bool) -> Result:
    """Read the first document of `text` with a PyYAML loader class, C or pure; with `explained` say what a syntax fault means.

    `text` has `\\n` for line breaks and no character that YAML forbids. Iterative: depth costs no stack, and is bounded besides.
    """
    builder = _Builder(text, explained)
    loader = loader_type(text)
    try:
        while loader.check_event():
            builder.take(loader.get_event())
    except _Stop:
        return Result(False, builder.root, builder.findings)
    except (MarkedYAMLError, ValueError, OverflowError) as error:
        if not explained:
            return Result(False, None, [])
        if not isinstance(error, MarkedYAMLError):  # chr() of an escape past the last character of Unicode
            error = MarkedYAMLError("quoted scalar", None, "escape", loader.get_mark())
        fault = explain(builder.lines, error, bool(loader.flow_level))
        return Result(False, None, builder.findings, fault)
    finally:
        loader.dispose()
    root = builder.root
    if root is None or (isinstance(root, Scalar) and not root.raw):
        builder.add(0, 0, 1, "E004", "the file is empty", "a rule starts with version: 1, then tool: and steps:")
        return Result(True, None, builder.findings)
    return Result(True, root, builder.findings)


class _Builder:
    def __init__(self, text: str, pure: bool) -> None:
        self.pure = pure
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.findings: list[Finding] = []
        self.root: Tree | None = None
        self.stack: list[_Open] = []
        self.documents = 0

    def add(self, row: int, column: int, width: int, code: str, message: str, help: str = "", *edits: Edit) -> None:
        self.findings.append(Finding(row, column, width, code, message, help, edits))

    def take(self, event: e.Event) -> None:
        mark: Any = event.start_mark
        end: Any = event.end_mark
        if isinstance(event, e.ScalarEvent):
            self.put(self.scalar(event))
        elif isinstance(event, e.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                message = "a second document starts here; a rule file holds one"
                self.add(mark.line, mark.column, 3, "E008", message, "put the other in a file of its own")
                raise _Stop
            if event.version or event.tags:
                self.add(mark.line, mark.column, 1, "E008", "a line that starts with `%` is not for rule files", "take it out")
        elif isinstance(event, e.AliasEvent):
            if not self.pure:
                raise _Stop
            raw = self.text[mark.index : end.index]
            edit, help = written(self.lines[mark.line], mark.column, raw)
            self.add(mark.line, mark.column, len(raw), "E030", "a value cannot start with `*` without quotes", help, edit._replace(row=mark.line))
            self.put(Scalar(raw, mark.line + 1, mark.column + 1, len(raw), "plain", raw))
        elif isinstance(event, (e.SequenceStartEvent, e.MappingStartEvent)):
            if len(self.stack) == MAX_DEPTH:
                self.add(mark.line, mark.column, 1, "E003", f"nested deeper than {MAX_DEPTH} levels")
                self.root = None
                raise _Stop
            self.stack.append(_Open(event, len(self.findings)))
            self.decorated(event)
        elif isinstance(event, (e.SequenceEndEvent, e.MappingEndEvent)):
            self.put(self.collection(self.stack.pop(), event))

    def put(self, read: Tree) -> None:
        node: Tree | None = read
        if not self.stack:
            self.root = read
            return
        frame = self.stack[-1]
        if isinstance(frame.start, e.MappingStartEvent):
            if len(frame.children) % 2 == 0:
                node = self.key(read, frame.keys)
            elif frame.start.flow_style and isinstance(read, Scalar) and read.style == "plain" and not read.raw:
                self.no_value(frame.children[-1])
        frame.children.append(node)

    def decorated(self, event: Any) -> bool:
        """Refuse an anchor or tag in front of a value."""
        sign = "&" if event.anchor else "!" if event.tag else ""
        if not sign:
            return False
        if not self.pure:
            raise _Stop
        mark = event.start_mark
        raw = self.text[mark.index : event.end_mark.index]
        token = re.match(r"\S*", raw or self.lines[mark.line][mark.column :])
        text = token[0] if token else sign
        edit, help = written(self.lines[mark.line], mark.column, text)
        self.add(
            mark.line, mark.column, len(text), "E030", f"a value cannot start with `{text[:1] or sign}` without quotes", help, edit._replace(row=mark.line)
        )
        return True

    def scalar(self, event: Any) -> Scalar:
        start, end = event.start_mark, event.end_mark
        raw = self.text[start.index : end.index]
        row, column = start.line, start.column
        style = _STYLES.get(event.style, "plain")
        if not raw:
            row, column = self.empty(start)
            frame = self.stack[-1] if self.stack else None
            if not self.pure and frame and isinstance(frame.start, e.MappingStartEvent) and len(frame.children) % 2 == 0:
                raise _Stop
        if style == "plain":
            # The pure parser takes no tab in a plain scalar, libyaml does: a blank is what both can give.
            in_flow = bool(self.stack) and self.stack[-1].start.flow_style
            if not self.pure and (_TAB_INDENT.search(raw) or (in_flow and "?" in raw)):
                raise _Stop
            raw = raw.rstrip(" \t\n").replace("\t", " ")
        elif style in ("literal", "folded"):
            raw = raw.rstrip(" \t\n")
            if not self.pure and _NO_HEADER.match(self.lines[start.line], start.column):
                raise _Stop
        width = max(1, len(raw.partition("\n")[0]))
        value: Any = event.value
        if self.decorated(event):
            value = raw
        elif style == "plain":
            value, code, message, help = scalars.read(value.replace("\t", " "))
            if code:
                edit = (Edit(start.line, start.column, start.column + width, quoted(raw)),) if "\n" not in raw and help == f"write {quoted(raw)}" else ()
                self.add(start.line, start.column, width, code, message, help, *edit)
            elif raw and "#" in self.lines[end.line if end.line < len(self.lines) else -1]:
                value = self.cut(start, raw) or value
        elif _LONE.search(value):
            # JSON text writes a character past U+FFFF as a pair of escapes.
            value = _PAIR.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), value)
            if _LONE.search(value):
                value = _LONE.sub("\ufffd", value)
                self.add(start.line, start.column, width, "E042", "an escape from \\ud800 to \\udfff stands without its other half")
        return Scalar(value, row + 1, column + 1, width, style, raw)

    def empty(self, mark: Any) -> tuple[int, int]:
        """Give the place behind the last character before `mark`: an absent value has no place of its own."""
        index = mark.index
        while index and self.text[index - 1] in " \t\n":
            index -= 1
        # By the index: at the end of a text without a line break libyaml counts one line more.
        row = bisect_right(self.starts, index) - 1
        return row, index - self.starts[row]

    def cut(self, start: Any, raw: str) -> str:
        """Find where ` #` made the rest of an expression a comment, as a bracket that was open closes behind it; give the whole."""
        left = sum(raw.count(char) for char in "([{") - sum(raw.count(char) for char in ")]}")
        last = start.line + raw.count("\n")
        column = start.column + len(raw) if last == start.line else len(raw) - raw.rfind("\n") - 1
        match = _CUT.match(self.lines[last], column) if left > 0 else None
        if match and sum(match[0].count(char) for char in ")]}") >= left:
            whole = raw + match[0].rstrip()
            help = f"write {short(quoted(whole))}"
            edit = (Edit(last, start.column, start.column + len(whole), quoted(whole)),) if last == start.line else ()
            self.add(last, column + match[0].index("#"), 1, "E044", "this `#` cuts the value: what follows is a comment", help, *edit)
            return whole
        return ""

    def collection(self, frame: _Open, event: Any) -> Tree:
        start, end = frame.start.start_mark, event.end_mark
        line = self.lines[start.line]
        flow = bool(frame.start.flow_style)
        style: Literal["block", "flow"] = "flow" if flow else "block"
        width = end.column - start.column if flow and end.line == start.line else len(line[start.column :].rstrip())
        width = max(1, width)
        row, column = start.line + 1, start.column + 1
        if isinstance(frame.start, e.SequenceStartEvent):
            raw = self.text[start.index : end.index]
            if flow and raw.startswith("[?"):
                del self.findings[frame.findings :]
                message = "a value that starts with `[` must be in quotes, unless it is a list"
                edit, help = written(line, start.column, raw)
                self.add(start.line, start.column, width, "E031", message, help, *((edit._replace(row=start.line),) if "\n" not in raw else ()))
                return Scalar(raw, row, column, width, "plain", raw)
            return Sequence(tuple(item for item in frame.children if item is not None), row, column, width, style)
        pairs = zip(frame.children[::2], frame.children[1::2], strict=True)
        entries = tuple((key, value) for key, value in pairs if isinstance(key, Scalar) and value is not None)
        return Mapping(entries, row, column, width, style, len(entries) * 2 < len(frame.children))

    def key(self, node: Tree, keys: dict[str, int]) -> Scalar | None:
        """Give the key as a text, or None for one that cannot be; `keys` are the lines of those before it."""
        row, column = node.line - 1, node.column - 1
        if not isinstance(node, Scalar):
            kind = "a list" if isinstance(node, Sequence) else "an object"
            self.findings = [found for found in self.findings if found[:2] < (row, column)]
            self.add(row, column, node.width, "E016", f"a key must be a text, not {kind}", "put it in quotes")
            return None
        if node.style == "plain" and node.raw == "<<":
            self.add(row, column, 2, "E043", "`<<` takes over keys from elsewhere, which rule files cannot", "write the keys out")
        if not isinstance(node.value, str):
            message = f"a key must be a text; `{short(node.raw)}` without quotes is none" if node.raw else "a key is missing here"
            self.add(
                row,
                column,
                node.width,
                "E016",
                message,
                f"write {short(quoted(node.raw))}:" if node.raw else "write one before the colon",
                *((Edit(row, column, column + node.width, quoted(node.raw)),) if node.raw and "\n" not in node.raw else ()),
            )
            node = Scalar(node.raw, node.line, node.column, node.width, "plain", node.raw)
        name = str(node.value)
        if name in keys:
            self.add(row, column, node.width, "E012", f"the key `{short(name)}` stands here twice; first on line {keys[name]}")
            return None
        keys[name] = node.line
        return node

    def no_value(self, key: Tree | None) -> None:
        if not isinstance(key, Scalar):
            return
        name, colon, rest = key.raw.partition(":")
        edits: tuple[Edit, ...] = ()
        code, message, help = "E035", f"the key `{short(str(key.value))}` has no value", "write a list with [ ], an object with { }"
        if len(key.raw) > LONGEST_KEY:
            message, help = f"`{short(str(key.value))}` is too long for a key: YAML takes at most {LONGEST_KEY:,} characters for one", "write a shorter one"
        elif colon and rest and key.style == "plain":
            code, message, help = "E037", "a space is missing after the colon", f"write {short(f'{name}: {rest}')}"
            at = key.column + len(name)
            edits = (Edit(key.line - 1, at, at, " "),)
        self.add(key.line - 1, key.column - 1, key.width, code, message, help, *edits)
