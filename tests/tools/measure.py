"""Print how much there is to understand in the Python files of a folder: `python -m tests.tools.measure [FOLDER] [-v]`.

Nodes of the syntax tree are counted, so neither line breaks nor comments nor docstrings matter. A statement does not
include the statements in it. It is packed if it has two comprehensions, or one and more than 60 nodes. The head of a
function or class is packed only by two comprehensions. A decision is a branch, a loop, an `and` or `or`, a
comprehension or an exception handler. `-v` also prints where packed statements and long functions are.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from statistics import median

COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
BRANCH = ast.If | ast.IfExp | ast.For | ast.While | ast.BoolOp | ast.comprehension | ast.ExceptHandler | ast.match_case
MAX_NODES, MAX_DECISIONS = 60, 15


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def nodes_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and its nodes, without the statements in it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from nodes_of(child)


def measures(folder: Path) -> tuple[str, list[str]]:
    """Return a line of numbers about a folder, and the places of packed statements and of long functions."""
    sizes, packed, long, comprehensions = list[int](), list[str](), list[str](), 0
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not is_docstring(node)]
        for statement in statements:
            nodes, place = list(nodes_of(statement)), f"{path}:{statement.lineno}"
            inside = sum(isinstance(node, COMPREHENSION) for node in nodes)
            sizes.append(len(nodes))
            comprehensions += inside
            is_head = isinstance(statement, DEFINITION)
            if inside > 1 or (inside and len(nodes) > MAX_NODES and not is_head):
                packed.append(f"{place}: packed, {len(nodes)} nodes")
            decisions = sum(isinstance(node, BRANCH) for node in ast.walk(statement))
            if is_head and not isinstance(statement, ast.ClassDef) and decisions > MAX_DECISIONS:
                long.append(f"{place}: {statement.name}, {decisions} decisions")
    share = 1000 * comprehensions / len(sizes)
    line = f"{folder}: {sum(sizes):,} nodes, median statement {median(sizes):.0f}, "
    line += f"{share:.0f} comprehensions per 1,000 statements, {len(packed)} packed statements, "
    return f"{line}{len(long)} functions over {MAX_DECISIONS} decisions", long + packed


if __name__ == "__main__":
    folders = [name for name in sys.argv[1:] if name != "-v"] or ["reducer"]
    for line, places in map(measures, map(Path, folders)):
        print(line, *chain(places if "-v" in sys.argv else ()), sep="\n  ")
