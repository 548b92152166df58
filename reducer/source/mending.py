"""A text with one fault mended, so that reading can go on behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import yaml

from reducer.source.faults import Edit, Fault, entry
from reducer.source.reader import build
from reducer.source.tree import Mapping, Scalar, Tree
from reducer.source.tree import Sequence as Sequences

_MOST_READ = 20_000
"""Characters of a text that is read once more for each way in which its indentation may be meant."""
_BELOW = 200
_LEAD = re.compile(r"[ \t]*")


def mend(text: str, edits: Iterable[Edit]) -> str:
    """Give a text with edits made, of which no two are on one line."""
    lines = text.split("\n")
    for edit in edits:
        line = lines[edit.row]
        lines[edit.row] = line[: edit.start] + edit.new + line[edit.end :]
    return "\n".join(lines)


def column_before(row: int, column: int, made: Sequence[Edit]) -> int:
    """Give the column that a character of a text had before the edits were made to it, one after the other; all from 0."""
    for edit in reversed(made):
        if edit.row == row:
            if column >= edit.start + len(edit.new):
                column += edit.end - edit.start - len(edit.new)
            elif column > edit.start:
                column = min(column, edit.end)
    return column


def moved(tree: Tree, made: Sequence[Edit]) -> Tree:
    """Give the tree of a mended text with the places of the text as it was; of values that were mended only the first character has one."""
    made = [edit for edit in made if len(edit.new) != edit.end - edit.start]
    rows = {edit.row for edit in made}

    def back(node: Tree) -> Tree:
        if isinstance(node, Mapping):
            node = replace(node, entries=tuple((scalar(key), back(value)) for key, value in node.entries))
        elif isinstance(node, Sequences):
            node = replace(node, items=tuple(map(back, node.items)))
        else:
            return scalar(node)
        return replace(node, column=column_before(node.line - 1, node.column - 1, made) + 1) if node.line - 1 in rows else node

    def scalar(node: Scalar) -> Scalar:
        if node.line - 1 not in rows:
            return node
        start = column_before(node.line - 1, node.column - 1, made)
        end = column_before(node.line - 1, node.column - 1 + node.width, made)
        inside = any(edit.row == node.line - 1 and edit.start < end and start < edit.end for edit in made)
        width = max(1, end - start) if inside else node.width
        return replace(node, column=start + 1, width=width, style="folded" if inside or end - start != node.width else node.style)

    return back(tree)


def edits_for(text: str, fault: Fault) -> tuple[Edit, ...]:
    """Give what mends a fault: its own edit, or for tabs and indentation the one after which the text reads on; none where that is not clear."""
    if fault.edit is not None:
        return (fault.edit,)
    if len(text) > _MOST_READ:
        return ()
    if fault.code == "E036":
        return _best(text, fault, (_untabbed(text, width) for width in (2, 4, 8)))
    if fault.code == "E038":
        return _best(text, fault, _indented(text.split("\n"), fault.row))
    return ()


def _untabbed(text: str, width: int) -> tuple[Edit, ...]:
    leads = [_LEAD.match(line) for line in text.split("\n")]
    return tuple(Edit(row, 0, lead.end(), lead[0].replace("\t", " " * width)) for row, lead in enumerate(leads) if lead and "\t" in lead[0])


def _indented(lines: list[str], row: int) -> Iterator[tuple[Edit, ...]]:
    """Give the ways to indent a line, with those below it that are deeper, as one above it."""
    own = _indent(lines[row])
    above = [line for line in lines[max(0, row - _BELOW) : row] if line.strip() and not line.lstrip().startswith("#")]
    wanted = {_indent(line) for line in above} | {entry(line).key for line in above}
    end = row + 1
    while end < min(len(lines), row + _BELOW) and (not lines[end].strip() or _indent(lines[end]) > own):
        end += 1
    block = [number for number in range(row, end) if lines[number].strip()]
    for indent in sorted(wanted - {own}, key=lambda indent: (abs(indent - own), indent)):
        yield tuple(Edit(number, 0, _indent(lines[number]), " " * (_indent(lines[number]) + indent - own)) for number in block)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _best(text: str, fault: Fault, ways: Iterable[tuple[Edit, ...]]) -> tuple[Edit, ...]:
    """Give the first way after which the text is read to its end, or else as far as any lets it, past the fault."""
    best: tuple[Edit, ...] = ()
    reached = (fault.row, False)
    for edits in ways:
        result = build(mend(text, edits), yaml.SafeLoader, explained=True)
        if result.fault is None:
            return edits if result.done else best
        far = (result.fault.row, result.fault.code not in ("E036", "E038"))
        if far > reached:
            best, reached = edits, far
    return best
