"""Rule files read: every problem of every file found in one run, then compiled rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import NamedTuple

from reducer.entities.own import Vocabulary
from reducer.errors import Location, Problem, RuleError
from reducer.op import Op
from reducer.ops import operations
from reducer.rule.choose import is_dead, is_glob, meet, rule_chooser, shadows
from reducer.rule.compile import Language, compile_rule
from reducer.rule.conditions import read_conditions
from reducer.rule.model import Rule, Ruleset
from reducer.rule.problems import Report, reporter
from reducer.rule.spelling import respelled
from reducer.rule.vocabulary import read_vocabulary
from reducer.source import Mapping as MappingNode
from reducer.source import Sequence as SequenceNode
from reducer.source import Tree, locate, parse

_LAID_OUT = frozenset({"E036", "E037", "E038"})
"""What is wrong around a value, and so with nothing in it."""
_SUFFIXES = (".yaml", ".yml")


class _Parsed(NamedTuple):
    """A file parsed: its tree, the findings of YAML, and what is `noted` of the file since."""

    file: str
    text: str | bytes
    tree: Tree | None
    found: tuple[Problem, ...]
    noted: list[Problem]

    @property
    def report(self) -> Report:
        return reporter(self.text, self.file, self.noted)


def read_rules(*sources: FilePath | str) -> Ruleset:
    """Read rule files, and all `.yaml` and `.yml` files of folders, into a ruleset.

    Raises `RuleError` with every error of every file; OSError for what cannot be opened.
    """
    ruleset, problems = check_rules(*sources)
    errors = tuple(problem for problem in problems if problem.severity == "error")
    if ruleset is None or errors:
        raise RuleError(errors)
    return ruleset


def check_rules(*sources: FilePath | str) -> tuple[Ruleset | None, tuple[Problem, ...]]:
    """Read rule files and give the ruleset, None when there are errors, with all errors and warnings in the order of files and lines."""
    files = [file for source in sources for file in _files(FilePath(source))]
    if not files:
        names = ", ".join(str(source) for source in sources)
        problem = Problem(Location(names, 1, 1), "E006", "no rule files here", "expected files that end in .yaml or .yml")
        return None, (problem,)
    return compile_rules((str(file), file.read_bytes()) for file in files)


def compile_rules(texts: Iterable[tuple[str, str | bytes]]) -> tuple[Ruleset | None, tuple[Problem, ...]]:
    """Compile rule texts, each with the name of its file, as `check_rules` does."""
    rules: list[Rule] = []
    problems: list[Problem] = []
    tools: dict[str, Location] = {}
    verbs = operations()
    parsed = [_parsed(file, text, verbs) for file, text in texts]
    trees = [(each.file, each.tree, each.report) for each in parsed if each.tree is not None]
    language = Language(verbs, read_vocabulary(trees), read_conditions(trees))
    made = [None if each.tree is None else compile_rule(each.tree, each.file, each.report, language) for each in parsed]
    _warn_of_unused_types(parsed, made, language.vocabulary)
    for each, rule in zip(parsed, made, strict=True):
        problems += each.found
        if each.tree is None:
            continue
        # A broken key was reported where YAML was read: it would only be reported again for what it is not.
        noted = [problem for problem in each.noted if not any(_covers(other, problem) for other in each.found)]
        _tool_names(each.tree, each.file, tools, reporter(each.text, each.file, noted))
        problems += sorted(noted, key=lambda problem: problem.location)
        if rule is not None:
            rules.append(replace(rule, digest=_digest(each.text)))
    if any(problem.severity == "error" for problem in problems):
        return None, tuple(problems)
    return Ruleset(tuple(rules), rule_chooser(rules), tuple(problems), language.vocabulary), tuple(problems)


def _parsed(file: str, text: str | bytes, verbs: Mapping[str, type[Op]]) -> _Parsed:
    tree, found = parse(text, file)
    noted: list[Problem] = []
    return _Parsed(file, text, None if tree is None else respelled(tree, reporter(text, file, noted), verbs), found, noted)


def _covers(first: Problem, other: Problem) -> bool:
    """Tell whether a finding of YAML stands at the value of another one, which then is about what the value is not."""
    start = first.location.column
    return first.code not in _LAID_OUT and first.location.line == other.location.line and start <= other.location.column < start + first.width


def _digest(text: str | bytes) -> str:
    return blake2b(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _warn_of_unused_types(parsed: Collection[_Parsed], made: Iterable[Rule | None], vocabulary: Vocabulary) -> None:
    """Note own entity types that no rule asks for, unless there are no rules, or errors, behind which one may ask."""
    rules = [rule for rule in made if rule is not None]
    if not rules or any(problem.severity == "error" for each in parsed for problem in (*each.found, *each.noted)):
        return
    used = frozenset[str]().union(*(rule.types for rule in rules))
    for each in parsed:
        types = locate(each.tree, ("entities",)) if isinstance(each.tree, MappingNode) else None
        for key, _ in types.entries if isinstance(types, MappingNode) and types is not each.tree else ():
            name = str(key.value)
            if name in vocabulary.own and name not in used:
                message = f"no rule asks for `{name}`: it stands in no `preserve` and no `extract`"
                each.report(key, "W030", message, "name it in the rule that should keep it, or take it out")


def _files(source: FilePath) -> Iterator[FilePath]:
    if source.is_dir():
        yield from sorted(file for file in source.iterdir() if file.suffix in _SUFFIXES and file.is_file())
    else:
        yield source


def _tool_names(tree: Tree, file: str, tools: dict[str, Location], report: Report) -> None:
    node = locate(tree, ("tool",))
    items = node.items if isinstance(node, SequenceNode) else (node,)
    for item in items:
        name = getattr(item, "value", None)
        if type(name) is not str or not isinstance(tree, MappingNode):
            continue
        here = Location(file, item.line, item.column)
        if name in tools:
            report(item, "E080", f"the tool `{name}` has a rule already, at {tools[name]}", "one rule for each name or glob")
            continue
        if is_glob(name) and is_dead(name):
            report(item, "E081", f"the glob `{name}` can match nothing", "close the `[`, or write `[[]` for a bracket")
        for other, location in tools.items() if is_glob(name) and name != "*" else ():
            if not is_glob(other) or other == "*":
                continue
            if shadows(other, name) or shadows(name, other):
                message = f"the glob `{name}` is never used: `{other}` at {location} matches all that it does, and goes before it"
                if shadows(name, other):
                    message = f"the glob `{name}` matches all that `{other}` at {location} does, and goes before it"
                report(item, "W021", message, "take the shadowed one out, or name its tools")
            elif meet(name, other):
                message = f"the glob `{name}` can match a name that `{other}` at {location} matches too"
                report(item, "W020", message, "the one with more literal characters is used")
        tools[name] = here
