"""Edit the text of a rule file: add, move and switch off steps, and add tests. Comments and layout stay."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from reducer.rules.diagnostics import written
from reducer.rules.parser import MappingNode, ScalarNode, SequenceNode, Tree, locate, parse, plain


class NoStep(ValueError):
    """A text that cannot be edited so. The message is for the user."""


def path_at(text: str, line: int) -> str | None:
    """Return the path of the step in a line, or None outside of the steps."""
    for step, end in _steps(text):
        if step.line <= line <= end:
            return _path_of(step)
    return None


def _steps(text: str) -> list[tuple[Tree, int]]:
    """Return the steps of a rule, each with its last line."""
    tree, _ = parse(text, "")
    steps = locate(tree, ("steps",)) if isinstance(tree, MappingNode) else None
    lines = text.split("\n")
    found: list[tuple[Tree, int]] = []
    if isinstance(steps, SequenceNode):
        for step in steps.items:
            found.append((step, _end(lines, step.line, steps.column)))
    return found


def _path_of(step: Tree) -> str:
    path = locate(step, ("path",))
    return str(path.value) if isinstance(path, ScalarNode) else "@"


def notation_at(text: str, path: str) -> str:
    """Return the first notation in which a rule reads the text at a path, or an empty text."""
    tree, _ = parse(text, "")
    nodes = [step for step, _ in _steps(text) if _path_of(step) == path]
    if path == "@" and tree is not None:
        nodes.append(tree)
    for node in nodes:
        fields = plain(node)
        if isinstance(fields, dict) and (named := fields.get("text")):
            first = named[0] if isinstance(named, list) else named
            return first if isinstance(first, str) else ""
    return ""


# --- steps


def with_step(text: str, path: str, action: str, value: Any, notation: str = "") -> str:
    """Return the text of a rule with one more step, which may read the text at its path in a notation.

    Keys and filters are added to a step with the same path and action. Raises `NoStep` if the text is not a rule in
    block style.
    """
    tree = _rule(text)
    lines = text.split("\n")
    for step, _ in _steps(text):
        fields = plain(step)
        is_same = isinstance(fields, dict) and action in fields and fields.get("path", "@") == path
        if is_same and isinstance(value, list):
            return _with_keys(lines, locate(step, (action,)), value)
    added = [f"path: {written(path)}"] if path != "@" else []
    added += [f"text: {notation}"] if notation else []
    added.append(f"{action}: {written(value)}")
    return _with_item(text, tree, "steps", added)


def moved(text: str, line: int, by: int) -> str:
    """Return the text in which the step that starts in a line is exchanged with the one before (-1) or after it (1).

    Comments above a step move with it. Raises `NoStep` if there is no such step.
    """
    steps = _steps(text)
    starts = [step.line for step, _ in steps]
    if line not in starts or not 0 <= starts.index(line) + by < len(starts):
        raise NoStep("there is no step to exchange it with")
    first, second = sorted((starts.index(line), starts.index(line) + by))
    above = steps[first - 1][1] if first else locate(_rule(text), ("steps",), key=True).line
    middle, end = steps[first][1], steps[second][1]
    lines = text.split("\n")
    exchanged = [*lines[:above], *lines[middle:end], *lines[above:middle], *lines[end:]]
    return _readable("\n".join(exchanged), _IN_LINES)


def without_steps(text: str, off: Collection[int]) -> str:
    """Return the text in which the steps that start in these lines are empty lines, so that all other lines stay."""
    lines, steps = text.split("\n"), _steps(text)
    for step, end in steps:
        if step.line in off:
            lines[step.line - 1 : end] = [""] * (end - step.line + 1)
    if steps and all(step.line in off for step, _ in steps):
        lines[locate(_rule(text), ("steps",), key=True).line - 1] = ""
    return "\n".join(lines)


# --- tests


def with_test(text: str, name: str, file: str, expect: dict[str, Any]) -> str:
    """Return the text of a rule with one more test, which starts from a file. Raises `NoStep`."""
    added = [f"name: {written(name)}", f"given: {written({'file': file})}", f"expect: {written(expect)}"]
    return _with_item(text, _rule(text), "tests", added)


# --- lines


_IN_LINES = "write each step in its own line, which starts with `-`"


def _rule(text: str) -> MappingNode:
    """Return the tree of a rule. Raises `NoStep`."""
    tree, report = parse(text, "")
    if not isinstance(tree, MappingNode):
        raise NoStep(f"correct this first: {report.problems[0].message}" if report.problems else "this is not a rule")
    return tree


def _with_item(text: str, tree: MappingNode, key: str, added: Sequence[str]) -> str:
    """Return the text with one more mapping, in these lines, in the list at a key of the rule. Raises `NoStep`."""
    lines = text.split("\n")
    node = locate(tree, (key,))
    items = node.items if isinstance(node, SequenceNode) else ()
    indent = " " * (node.column - 1) if items else "  "
    new = [f"{indent}- {added[0]}"]
    for line in added[1:]:
        new.append(f"{indent}  {line}")
    if items:
        at = _end(lines, items[-1].line, node.column)
    elif node is not tree:
        at = locate(tree, (key,), key=True).line
    else:
        at = len(text.rstrip().split("\n"))
        new.insert(0, f"{key}:")
    # Braces or brackets can surround the items.
    return _readable(_with_lines(lines, at, new), _IN_LINES.replace("step", key.removesuffix("s")))


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
