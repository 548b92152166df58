"""Reads rule files into a ruleset, and reports every problem of every file in one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import NamedTuple

from reducer.errors import Diagnostic, Location, RuleError
from reducer.files import MAX_RULE_BYTES, read_file
from reducer.operations import operations
from reducer.rules.choose import check_tool_name, rule_chooser
from reducer.rules.compile import Language, compile_rule
from reducer.rules.definitions import read_conditions
from reducer.rules.diagnostics import Report, catalogue
from reducer.rules.entities import lint_unused_types, read_vocabulary
from reducer.rules.keys import checked_keys
from reducer.rules.model import Rule, Ruleset
from reducer.rules.parser import parse
from reducer.rules.tree import Mapping as MappingNode
from reducer.rules.tree import Scalar, Tree, locate
from reducer.rules.tree import Sequence as SequenceNode

_SUFFIXES = (".yaml", ".yml")


class _Parsed(NamedTuple):
    """The tree of a file, None if it is not YAML, and the report of its problems."""

    tree: Tree | None
    report: Report
    digest: str


def read_rules(*sources: FilePath | str) -> Ruleset:
    """Read rule files, and all `.yaml` and `.yml` files of folders, into a ruleset.

    Raise `RuleError` with every error of every file.
    """
    ruleset, problems = check_rules(*sources)
    errors = tuple(problem for problem in problems if problem.severity == "error")
    if ruleset is None or errors:
        raise RuleError(errors)
    return ruleset


def check_rules(*sources: FilePath | str) -> tuple[Ruleset | None, tuple[Diagnostic, ...]]:
    """Read rule files and return the ruleset, or None if there are errors, and all problems by file and line."""
    texts: list[tuple[str, bytes]] = []
    unreadable: list[Diagnostic] = []
    for file in (file for source in sources for file in _files(FilePath(source))):
        try:
            texts.append((str(file), read_file(file, MAX_RULE_BYTES)))
        except OSError as error:
            message = f"cannot read the file: {error.strerror or error}"
            unreadable.append(Diagnostic(Location(str(file), 1, 1), "E007", message))
    if not texts and not unreadable:
        names = ", ".join(str(source) for source in sources)
        return None, (Diagnostic(Location(names, 1, 1), "E006", "no rule files found", catalogue()["E006"].help),)
    ruleset, problems = compile_rules(texts)
    return (None if unreadable else ruleset), (*unreadable, *problems)


def compile_rules(texts: Iterable[tuple[str, str | bytes]]) -> tuple[Ruleset | None, tuple[Diagnostic, ...]]:
    """Compile rule texts, each with the name of its file, as `check_rules` does."""
    parsed = [_parsed(file, text) for file, text in texts]
    trees = [(one.tree, one.report) for one in parsed if one.tree is not None]
    language = Language(operations(), read_vocabulary(trees), read_conditions(trees))
    rules: list[Rule] = []
    tools: dict[str, Location] = {}
    for tree, report, digest in parsed:
        if tree is None:
            continue
        rule = compile_rule(tree, report, language)
        for node in _tool_names(tree):
            check_tool_name(node, tools, report)
        if rule is not None:
            rules.append(replace(rule, digest=digest))
    if rules and not any(_errors(one.report) for one in parsed):
        lint_unused_types(trees, frozenset[str]().union(*(rule.types for rule in rules)))
    problems = tuple(problem for one in parsed for problem in _in_order(one.report))
    if any(problem.severity == "error" for problem in problems):
        return None, problems
    return Ruleset(tuple(rules), rule_chooser(rules), problems, language.vocabulary), problems


def _parsed(file: str, text: str | bytes) -> _Parsed:
    tree, report = parse(text, file)
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    checked = None if tree is None else checked_keys(tree, report, operations())
    return _Parsed(checked, report, blake2b(data, digest_size=6).hexdigest())


def _errors(report: Report) -> bool:
    return any(problem.severity == "error" for problem in report.found)


def _in_order(report: Report) -> list[Diagnostic]:
    """Return the diagnostics of a file by line, one for each place: the first one found explains the others."""
    first: dict[Location, Diagnostic] = {}
    for problem in report.found:
        first.setdefault(problem.location, problem)
    return sorted(first.values(), key=lambda problem: problem.location)


def _files(source: FilePath) -> Iterator[FilePath]:
    if source.is_dir():
        yield from sorted(file for file in source.iterdir() if file.suffix in _SUFFIXES and file.is_file())
    else:
        yield source


def _tool_names(tree: Tree) -> Iterator[Scalar]:
    if not isinstance(tree, MappingNode):
        return
    node = locate(tree, ("tool",))
    for item in node.items if isinstance(node, SequenceNode) else (node,):
        if isinstance(item, Scalar) and type(item.value) is str:
            yield item
