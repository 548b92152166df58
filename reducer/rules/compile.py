"""Compiles rule files into a ruleset and reports all problems of all files in one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from reducer.entities import expand
from reducer.entities.custom import read_words
from reducer.entities.vocabulary import Vocabulary
from reducer.errors import Diagnostic, Location, RuleError
from reducer.files import EMPTY, MAX_RULE_BYTES, read_file, rule_files
from reducer.operations.fields import Mark, Preserved
from reducer.operations.op import Op
from reducer.paths import Expression, compile_path
from reducer.plan import Settings
from reducer.rules.choose import check_tool_names, is_glob, rule_chooser
from reducer.rules.definitions import lint_conditions, lint_unused_types, read_conditions, read_vocabulary
from reducer.rules.diagnostics import Report, catalogue
from reducer.rules.model import SHARED_KEYS, Replaced, Rule, RuleFile, Ruleset, Step, Texts
from reducer.rules.parser import MappingNode, Tree, locate, parse, plain
from reducer.rules.steps import is_statically_idempotent, lint, marked_lists, reads_marked, text_paths
from reducer.rules.validation import validated, without_empty_keys
from reducer.values import escaped

KEY_TYPES = expand(("ioc", "cve", "mitre_attack", "threat_actor"))
"""The entity types that `truncate`, `max_chars` and other blind cuts preserve by default."""


def read_rules(*sources: FilePath | str) -> Ruleset:
    """Read rule files, folders, and built-in packs into a ruleset: `rule_files` describes sources.

    If several sources contain the same tool name or glob, the last one is tried first. Raises `RuleError` with all
    errors.
    """
    ruleset, problems = check_rules(*sources)
    if ruleset is None:
        raise RuleError(tuple(problem for problem in problems if problem.severity == "error"))
    return ruleset


def check_rules(
    *sources: FilePath | str, edited: Mapping[str, bytes] = MappingProxyType({})
) -> tuple[Ruleset | None, tuple[Diagnostic, ...]]:
    """Return the ruleset, or None if there are errors, and all problems ordered by file and line.

    `edited` contains the texts of files with unsaved changes, by name.
    """
    sources_of: dict[FilePath, int] = {}  # the number of the last source that contains a file
    unreadable: list[Diagnostic] = []
    for number, source in enumerate(sources):
        try:
            for file in rule_files(source):
                sources_of[file] = number
        except (OSError, ValueError) as error:
            unreadable.append(_unreadable(source, "cannot load the rules", error))
    texts: list[list[tuple[str, bytes]]] = [[] for _ in sources]
    for file, number in sources_of.items():
        name = str(file)
        try:
            texts[number].append((name, edited[name] if name in edited else read_file(file, MAX_RULE_BYTES)))
        except (OSError, ValueError) as error:
            unreadable.append(_unreadable(file, "cannot read the file", error))
    if not any(texts) and not unreadable:
        names = ", ".join(map(str, sources))
        return None, (Diagnostic(Location(names, 1, 1), "E006", "no rule files found", catalogue()["E006"].help),)
    ruleset, problems = compile_rules(*texts)
    return (None if unreadable else ruleset), (*unreadable, *problems)


def _unreadable(name: FilePath | str, what: str, error: OSError | ValueError) -> Diagnostic:
    why = error.strerror if isinstance(error, OSError) else None  # a name with NUL or a lone surrogate: `ValueError`
    return Diagnostic(Location(escaped(str(name) or EMPTY), 1, 1), "E007", f"{what}: {why or error}")


def rules_of(texts: Texts) -> Ruleset:
    """Compile the texts of a ruleset again. Raises `RuleError`, such as for an extra that this process lacks."""
    ruleset, problems = compile_rules(*texts.sources, word_lists=texts.word_lists)
    if ruleset is None:
        raise RuleError(problems)
    return ruleset


def compile_rules(
    *sources: Iterable[tuple[str, str | bytes]], word_lists: Iterable[tuple[str, tuple[str, ...]]] = ()
) -> tuple[Ruleset | None, tuple[Diagnostic, ...]]:
    """Compile pairs of a file name and a text, for each source, and return the same as `check_rules`.

    Word lists that are not in `word_lists` are read from their files.
    """
    words = dict(word_lists)

    def words_in(file: FilePath) -> tuple[str, ...]:
        if str(file) not in words:
            words[str(file)] = read_words(file)
        return words[str(file)]

    texts = tuple(map(tuple, sources))
    reports: list[Report] = []
    files: list[tuple[Tree, Report]] = []
    for number, source in enumerate(texts):
        for file, text in source:
            tree, parsed = parse(text, file)
            report = replace(parsed, source=number)
            reports.append(report)
            if tree is not None:
                files.append((without_empty_keys(tree, report), report))
    vocabulary, conditions = read_vocabulary(files, words_in), read_conditions(files)
    rules: list[Rule] = []
    for tree, report in files:
        rules += _compile_rule(tree, _Context(report, vocabulary, conditions))
    replaced = check_tool_names(files)
    has_errors = any(report.has_errors for report in reports)
    used = set[str]()
    for rule in rules:
        used |= rule.types
    if rules and not has_errors:
        lint_unused_types(files, used)
        lint_conditions(files, conditions, rules)
    found: list[Diagnostic] = []
    for report in reports:
        found += report.in_order()
    problems = tuple(found)
    if has_errors:
        return None, problems
    applied = tuple(_without(rules, replaced))
    read = Texts(texts, tuple(words.items()))
    ruleset = Ruleset(applied, rule_chooser(applied), problems, vocabulary=vocabulary, replaced=replaced, texts=read)
    return ruleset, problems


def _without(rules: Iterable[Rule], replaced: Iterable[Replaced]) -> Iterator[Rule]:
    """Yield the rules without the tool names that another source replaces, unless none is left."""
    gone = {(each.instead_of, tool) for each in replaced for tool in each.tools}
    for rule in rules:
        tools = tuple(name for name in rule.tools if (rule.file, name) not in gone)
        if tools:
            yield rule if tools == rule.tools else replace(rule, tools=tools)


@dataclass(frozen=True, slots=True)
class _Context:
    """What the parts of a rule file are compiled with; the named conditions are texts."""

    report: Report
    vocabulary: Vocabulary
    conditions: Mapping[str, str]


def _compile_rule(tree: Tree, context: _Context) -> Iterator[Rule]:
    """Yield the rule of a file, or nothing if keys are wrong or the file contains no rule; report its problems."""
    report = context.report
    if not isinstance(tree, MappingNode):
        report.add(tree, "E005", "expected a mapping with the keys of a rule")
        return
    data = plain(tree)
    is_shared = not {"entities", "conditions"}.isdisjoint(data) and set(data) <= set(SHARED_KEYS)
    if is_shared:
        data["tool"] = "-"
    _insert_conditions(data, context.conditions)
    checked = validated(RuleFile, data, tree, report, context=context.vocabulary)
    if checked is None or is_shared:
        return
    if checked.prefixed:
        _check_prefixed(tree, report, checked)
    if not checked.steps and checked.max_chars is None:
        if not tree.incomplete:
            report.add(locate(tree, ("tool",), key=True), "E015", "this rule does nothing")
        return
    general = None if checked.preserve is None else context.vocabulary.expand(checked.preserve)
    steps = tuple(_step(number, op, tree, context, general) for number, op in enumerate(checked.steps, 1))
    for step, (code, message, advice, key) in lint(steps):
        report.add(locate(tree, ("steps", step.number - 1, key), key=code[0] == "W"), code, message, advice)
    yield _assembled(report, checked, steps, context.vocabulary, general)


def _insert_conditions(data: dict[str, Any], conditions: Mapping[str, str]) -> None:
    """Replace the names of conditions in `always_keep` by their texts."""
    steps = data.get("steps")
    for step in steps if type(steps) is list else ():
        word = step.get("always_keep") if type(step) is dict else None
        if type(word) is str:
            step["always_keep"] = conditions.get(word, word)


def _step(number: int, op: Op, tree: Tree, context: _Context, general: frozenset[str] | None) -> Step:
    """Return a step. It preserves its own entity types, those of the rule (`general`), or by default the key types."""
    preserves = KEY_TYPES if op.cuts_blindly else frozenset()
    if op.preserve is not None:
        preserves = context.vocabulary.expand(op.preserve)
    elif general is not None:
        preserves = general
    node = locate(tree, ("steps", number - 1))
    location = Location(context.report.file, node.line, node.column)
    return Step(number, op.path or compile_path("@"), op, preserves, location)


def _check_prefixed(tree: MappingNode, report: Report, checked: RuleFile) -> None:
    """Report `prefixed` without a `when.where` or without a name."""
    key = locate(tree, ("prefixed",), key=True)
    if checked.when is None or checked.when.where is None:
        report.add(key, "E084", "`prefixed` requires `when: {where: ...}`")
    elif all(map(is_glob, checked.tool)):
        report.add(key, "E084", "`prefixed` requires a name; a glob matches prefixes itself", "remove `prefixed`")


def _assembled(
    report: Report, checked: RuleFile, steps: tuple[Step, ...], vocabulary: Vocabulary, general: frozenset[str] | None
) -> Rule:
    """Return the rule of a file with its checked keys; `general` are the entity types that it preserves."""
    budget = frozenset[str]()
    if checked.max_chars is not None:
        budget = KEY_TYPES if general is None else general
    preserved = (frozenset[str](), *(step.preserves for step in steps), budget)
    default = False if checked.mark is False or checked.keys == "all" else None
    types = frozenset[str]().union(*preserved)
    named = general or frozenset()
    marks: list[Mark] = []
    bounds = _bounds(checked.preserve, vocabulary)
    for step in steps:
        types |= vocabulary.expand(step.op.entity_types())
        marks.append(default if step.op.counted is None else step.op.counted)
        bounds += _bounds(step.op.preserve, vocabulary)
        if step.op.preserve is not None:
            named |= step.preserves
    labels = frozenset(mark.text for mark in marks if isinstance(mark, Expression))
    marked = marked_lists(steps, marks, any_list=checked.max_chars is not None and default is None)
    return Rule(
        file=report.file,
        tools=checked.tool,
        description=checked.description,
        when=checked.when,
        settings=Settings(marked, labels, all_keys=checked.keys == "all"),
        steps=steps,
        max_chars=checked.max_chars,
        preserved=preserved,
        named=named,
        marks=(default, *marks, default),
        reads_marked=reads_marked(steps, checked.when, marked),
        bounds=tuple(bounds),
        types=types,
        vocabulary=vocabulary,
        statically_idempotent=not (checked.max_chars or checked.text) and is_statically_idempotent(steps),
        text_paths=text_paths(steps, checked.when, checked.text or ()),
        tests=tuple(checked.tests),
        text=checked.text or (),
        prefixed=checked.prefixed,
        source=report.source,
        digest=blake2b("\n".join(report.lines).encode(), digest_size=6).hexdigest(),
    )


def _bounds(preserve: Preserved | None, vocabulary: Vocabulary) -> list[tuple[frozenset[str], int]]:
    """Return the entity types of a map with the maximum numbers of their values."""
    bounds = []
    if isinstance(preserve, dict):
        for name, count in preserve.items():
            bounds.append((vocabulary.expand([name]), count))
    return bounds
