"""Reads the names that rule files define for all files of a folder: `entities:` and `conditions:`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from reducer.errors import Location
from reducer.paths import PathError, compile_expression
from reducer.rules.diagnostics import Report
from reducer.rules.tree import Mapping as MappingNode
from reducer.rules.tree import Scalar, Tree, locate

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class Definition(NamedTuple):
    """A name that a rule file defines: its key and value, and the report of the file."""

    name: str
    key: Scalar
    node: Tree
    report: Report
    is_valid: bool = True


def definitions(files: Iterable[tuple[Tree, Report]], section: str) -> Iterator[Definition]:
    """Yield what the mappings `section` of rule files define. Report names that are not valid or defined twice."""
    first: dict[str, Location] = {}
    for tree, report in files:
        node = locate(tree, (section,))
        for key, value in node.entries if isinstance(node, MappingNode) and node is not tree else ():
            definition = Definition(str(key.value), key, value, report)
            if definition.name in first:
                report.add(key, "E092", f"`{definition.name}` is already defined at {first[definition.name]}")
                continue
            first[definition.name] = Location(report.file, key.line, key.column)
            if not _NAME.fullmatch(definition.name):
                report.add(key, "E091", f"`{definition.name}` is not a valid name")
                definition = definition._replace(is_valid=False)
            yield definition


def read_conditions(files: Iterable[tuple[Tree, Report]]) -> Mapping[str, str]:
    """Return the JMESPath expressions of rule files by their names. Report what is wrong with them.

    A wrong expression is replaced with `@`, so that using it is no second problem.
    """
    return MappingProxyType({one.name: _expression(one) for one in definitions(files, "conditions")})


def _expression(definition: Definition) -> str:
    node, report = definition.node, definition.report
    if not isinstance(node, Scalar) or type(node.value) is not str:
        report.add(node, "E020", "expected a JMESPath expression", "for example `severity == 'critical'`")
        return "@"
    try:
        for warning in compile_expression(node.value).warnings:
            report_path(report, node, warning)
    except PathError as error:
        report_path(report, node, error)
        return "@"
    return node.value


def report_path(report: Report, node: Tree, error: PathError) -> None:
    """Report an error or warning in a JMESPath expression."""
    report.add(node, error.code, error.message, error.help, offset=error.column - 1, width=error.width)
