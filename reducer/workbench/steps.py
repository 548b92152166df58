"""Find and add steps in the text of a rule file. Comments and layout stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reducer.analysis.query import compile_query, query
from reducer.paths.written import path_text
from reducer.rules.diagnostics import written
from reducer.rules.parser import MappingNode, ScalarNode, SequenceNode, Tree, locate, parse, plain

_MOST_ITEMS, _MOST_CHARACTERS = 20, 400
"""The largest values that are offered for `limit` and `truncate`."""
_MIN_TEXT = 40
"""The length of a text that is worth a cut."""
Step = tuple[str, str, int | list[str]]
"""The path, the action and its value."""


class NoStep(ValueError):
    """A text to which no step can be added. The message is for the user."""


def path_at(text: str, line: int) -> str | None:
    """Return the path of the step in a line, or None outside of the steps."""
    tree, _ = parse(text, "")
    if not isinstance(tree, MappingNode):
        return None
    lines = text.split("\n")
    steps = locate(tree, ("steps",))
    for step in steps.items if isinstance(steps, SequenceNode) else ():
        if step.line <= line <= _end(lines, step.line, steps.column):
            path = locate(step, ("path",))
            return str(path.value) if isinstance(path, ScalarNode) else "@"
    return None


def offered(keys: Sequence[int | str], content: Any) -> Iterator[Step]:
    """Yield the steps to offer for a value: keep or drop its key, limit the list around it, truncate it.

    Raises `PathError` and `Unreducible`.
    """
    if keys and isinstance(keys[-1], str):
        # `keep` and `drop` look into the items of a list, so the path of the list is enough.
        path = place_of(keys[:-1]).removesuffix("[*]") or "@"
        yield path, "keep", [keys[-1]]
        yield path, "drop", [keys[-1]]
    path = place_of(keys)
    around = path[: path.rfind("[*]")] if "[*]" in path else "@"
    for place in (path, around or "@"):
        if most := _longest(place, content, list):
            yield place, "limit", min(_MOST_ITEMS, max(1, most // 2))
            break
    if (most := _longest(path, content, str)) >= _MIN_TEXT:
        yield path, "truncate", min(_MOST_CHARACTERS, most // 2)


def place_of(keys: Sequence[int | str]) -> str:
    """Write keys and indexes as a path in which every index is `[*]`."""
    return path_text([-1 if isinstance(key, int) else key for key in keys])


def _longest(path: str, content: Any, kind: type[list[Any] | str]) -> int:
    """Return the length of the longest list or text at a path."""
    places = query(compile_query(path), content).places
    return max((len(value) for _, value in places if isinstance(value, kind)), default=0)


def with_step(text: str, path: str, action: str, value: int | list[str]) -> str:
    """Return the text of a rule with one more step. Keys are added to a step with the same path and action.

    Raises `NoStep` if the text is not a rule in block style.
    """
    tree, report = parse(text, "")
    if not isinstance(tree, MappingNode):
        raise NoStep(f"correct this first: {report.problems[0].message}" if report.problems else "this is not a rule")
    lines = text.split("\n")
    steps = locate(tree, ("steps",))
    items = steps.items if isinstance(steps, SequenceNode) else ()
    for step in items:
        fields = plain(step)
        is_same = isinstance(fields, dict) and action in fields and fields.get("path", "@") == path
        if is_same and isinstance(value, list):
            return _with_keys(lines, locate(step, (action,)), value)
    indent = " " * (steps.column - 1) if items else "  "
    added = [f"{indent}- {action}: {written(value)}"]
    if path != "@":
        added = [f"{indent}- path: {written(path)}", f"{indent}  {action}: {written(value)}"]
    if items:
        at = _end(lines, items[-1].line, steps.column)
    elif steps is not tree:
        at = locate(tree, ("steps",), key=True).line
    else:
        at = len(text.rstrip().split("\n"))
        added.insert(0, "steps:")
    # Braces or brackets can surround the steps.
    return _readable(_with_lines(lines, at, added), "write each step in its own line, which starts with `-`")


def _with_keys(lines: list[str], node: Tree, keys: list[str]) -> str:
    """Return the text in which the value of `keep` or `drop` has more keys."""
    value = plain(node)
    present = value if isinstance(value, list) else [value]
    new = [key for key in keys if key not in present]
    start = node.column - 1
    line = lines[node.line - 1]
    if new and isinstance(node, SequenceNode) and line[start] == "-":
        added = [f"{' ' * start}- {written(key)}" for key in new]
        return _with_lines(lines, _end(lines, node.items[-1].line, node.column), added)
    if new:
        lines[node.line - 1] = f"{line[:start]}{written([*present, *new])}{line[start + node.width :]}"
    return _readable("\n".join(lines), "write the keys in one line, or each in its own line")


def _readable(text: str, otherwise: str) -> str:
    """Return a text if it is YAML. Raises `NoStep` with the message `otherwise`."""
    if parse(text, "")[0] is None:
        raise NoStep(otherwise)
    return text


def _with_lines(lines: list[str], at: int, added: list[str]) -> str:
    """Return the text with lines added after line `at`, which end as the others."""
    ending = "\r" if lines[0].endswith("\r") else ""
    new = [line + ending for line in added]
    return "\n".join([*lines[:at], *new, *(lines[at:] or [""])])


def _end(lines: Sequence[str], line: int, column: int) -> int:
    """Return the number of the last line of an item that starts in a line, after a dash in a column."""
    end = line
    for number, text in enumerate(lines[line:], line + 1):
        start = text.lstrip()
        if start and len(text) - len(start) >= column:
            end = number
        elif start and not start.startswith("#"):
            break
    return end
