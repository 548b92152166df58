"""Compiles rule files into a ruleset and reports all problems of all files in one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from reducer.entities import expand
from reducer.entities.custom import read_words
from reducer.entities.vocabulary import Vocabulary
from reducer.errors import Diagnostic, Location, RuleError, did_you_mean, nearest
from reducer.files import EMPTY, MAX_RULE_BYTES, read_file, rule_files
from reducer.operations import operations
from reducer.operations.op import Op, StepKeys
from reducer.paths import compile_path
from reducer.rules.choose import check_tool_names, is_glob, rule_chooser
from reducer.rules.definitions import lint_unused_types, read_conditions, read_vocabulary
from reducer.rules.diagnostics import Report, catalogue
from reducer.rules.model import SHARED_KEYS, Replaced, Rule, RuleFile, Ruleset, Step, Texts
from reducer.rules.parser import MappingNode, SequenceNode, Tree, locate, parse, plain
from reducer.rules.steps import is_statically_idempotent, lint, text_paths
from reducer.rules.validation import listed, report_unknown, validated, without_empty_keys
from reducer.values import escaped

KEY_TYPES = expand(("ioc", "cve", "mitre_attack", "threat_actor"))
"""The entity types that `truncate`, `max_chars` and other blind cuts preserve by default."""
MAX_STEPS = 200


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
    numbers: dict[FilePath, int] = {}  # of the last source that contains a file
    unreadable: list[Diagnostic] = []
    for number, source in enumerate(sources):
        try:
            numbers.update(dict.fromkeys(rule_files(source), number))
        except (OSError, ValueError) as error:
            unreadable.append(_unreadable(source, "cannot load the rules", error))
    texts: list[list[tuple[str, bytes]]] = [[] for _ in sources]
    for file, number in numbers.items():
        try:
            name = str(file)
            texts[number].append((name, edited[name] if name in edited else read_file(file, MAX_RULE_BYTES)))
        except (OSError, ValueError) as error:
            unreadable.append(_unreadable(file, "cannot read the file", error))
    if not any(texts) and not unreadable:
        names = ", ".join(str(source) for source in sources)
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

    texts = tuple(tuple(source) for source in sources)
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
    compiled = [_compile_rule(tree, report, vocabulary, conditions) for tree, report in files]
    replaced = check_tool_names(files)
    if any(report.has_errors for report in reports):
        return None, _in_order(reports)
    rules = [rule for rule in compiled if rule is not None]
    if rules:
        lint_unused_types(files, frozenset[str]().union(*(rule.types for rule in rules)))
    problems, applied = _in_order(reports), tuple(_without(rules, replaced))
    found = Texts(texts, tuple(words.items()))
    ruleset = Ruleset(applied, rule_chooser(applied), problems, vocabulary=vocabulary, replaced=replaced, texts=found)
    return ruleset, problems


def _in_order(reports: Iterable[Report]) -> tuple[Diagnostic, ...]:
    return tuple(problem for report in reports for problem in report.in_order())


def _without(rules: Iterable[Rule], replaced: Iterable[Replaced]) -> Iterator[Rule]:
    """Yield the rules without the tool names that another source replaces, unless none is left."""
    gone = {(each.instead_of, tool) for each in replaced for tool in each.tools}
    for rule in rules:
        tools = tuple(name for name in rule.tools if (rule.file, name) not in gone)
        if tools:
            yield rule if tools == rule.tools else replace(rule, tools=tools)


def _compile_rule(tree: Tree, report: Report, vocabulary: Vocabulary, conditions: Mapping[str, str]) -> Rule | None:
    """Compile a rule file and report its problems. Return None if keys are wrong or the file contains no rule."""
    if not isinstance(tree, MappingNode):
        report.add(tree, "E005", "expected a mapping with the keys of a rule")
        return None
    data = plain(tree)
    if not {"entities", "conditions"}.isdisjoint(data) and set(data) <= set(SHARED_KEYS):
        validated(RuleFile, {**data, "tool": "-"}, tree, report, context=vocabulary)
        return None
    checked = validated(RuleFile, data, tree, report, context=vocabulary)
    general = None if checked is None or checked.preserve is None else vocabulary.expand(checked.preserve)
    steps = _compile_steps(tree, report, vocabulary, conditions, general)
    if checked is not None and checked.prefixed:
        _check_prefixed(tree, report, checked)
    if checked is None or steps is None:
        return None
    if not steps and checked.max_chars is None:
        if not tree.incomplete:
            report.add(locate(tree, ("tool",), key=True), "E015", "this rule does nothing")
        return None
    for step, (code, message, advice) in lint(steps):
        report.add(locate(tree, ("steps", step.number - 1, "path"), key=code[0] == "W"), code, message, advice)
    return _assembled(report, checked, steps, vocabulary, general)


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
    extracted = [vocabulary.expand(step.op.entity_types()) for step in steps]
    marks = [step.op.counted for step in steps]
    bounds: list[tuple[frozenset[str], int]] = []
    for preserve in (checked.preserve, *(step.op.preserve for step in steps)):
        if isinstance(preserve, dict):
            bounds += [(vocabulary.expand([name]), count) for name, count in preserve.items()]
    return Rule(
        file=report.file,
        tools=checked.tool,
        description=checked.description,
        when=checked.when,
        all_keys=checked.keys == "all",
        steps=steps,
        max_chars=checked.max_chars,
        preserved=preserved,
        marks=(None, *marks, None),
        bounds=tuple(bounds),
        types=frozenset[str]().union(*preserved, *extracted),
        vocabulary=vocabulary,
        statically_idempotent=checked.max_chars is None and is_statically_idempotent(steps),
        text_paths=text_paths(steps, checked.when),
        tests=tuple(checked.tests),
        prefixed=checked.prefixed,
        source=report.source,
        digest=blake2b("\n".join(report.lines).encode(), digest_size=6).hexdigest(),
    )


def _compile_steps(
    tree: MappingNode,
    report: Report,
    vocabulary: Vocabulary,
    conditions: Mapping[str, str],
    general: frozenset[str] | None,
) -> tuple[Step, ...] | None:
    """Compile the steps of a rule, or return None if one of them is wrong; report all problems."""
    node = locate(tree, ("steps",))
    items = node.items if isinstance(node, SequenceNode) else ()
    if len(items) > MAX_STEPS:
        message = f"this rule has {len(items):,} steps; at most {MAX_STEPS} are allowed"
        advice = "split the rule, or combine steps that have the same path"
        report.add(locate(tree, ("steps",), key=True), "E003", message, advice)
        return None
    compiled = [
        _compile_step(item, report, vocabulary, conditions, number=number, general=general)
        for number, item in enumerate(items, 1)
    ]
    steps = tuple(step for step in compiled if step is not None)
    return steps if len(steps) == len(compiled) else None


def _compile_step(
    node: Tree,
    report: Report,
    vocabulary: Vocabulary,
    conditions: Mapping[str, str],
    *,
    number: int,
    general: frozenset[str] | None,
) -> Step | None:
    """Compile a step and report its problems; `general` are the entity types that the rule preserves."""
    if not isinstance(node, MappingNode):
        message, advice = (
            "expected a step, which is a mapping with one action",
            f"the actions are {listed(operations())}",
        )
        report.add(node, "E020", message, advice)
        return None
    data = plain(node)
    actions = [key for key in data if key in operations()]
    if len(actions) != 1:
        _report_actions(report, node, actions)
        shared = {key: data[key] for key in data if key in StepKeys.model_fields}
        validated(StepKeys, shared, node, report, context=vocabulary)
        return None
    _insert_condition(data, node, report, conditions)
    op = validated(operations()[actions[0]], data, node, report, context=vocabulary)
    if op is None:
        return None
    location = Location(report.file, node.line, node.column)
    return Step(number, op.path or compile_path("@"), op, _preserved(op, vocabulary, general), location)


def _insert_condition(data: dict[str, Any], node: Tree, report: Report, conditions: Mapping[str, str]) -> None:
    """Replace the name of a condition in `always_keep` by its text, or warn if it is misspelt."""
    word = data.get("always_keep")
    if type(word) is not str:
        return
    near = nearest(word, conditions) if word.isidentifier() else ""
    if word in conditions:
        data["always_keep"] = conditions[word]
    elif near:
        message = f"`{word}` is not a condition, so it is used as a key"
        report.add(locate(node, ("always_keep",)), "W032", message, did_you_mean(near))


def _preserved(op: Op, vocabulary: Vocabulary, general: frozenset[str] | None) -> frozenset[str]:
    """Return the entity types that a step preserves: its own, or those of the rule, or by default the key types."""
    if op.preserve is not None:
        return vocabulary.expand(op.preserve)
    if general is not None:
        return general
    return KEY_TYPES if op.cuts_blindly else frozenset()


def _report_actions(report: Report, node: MappingNode, actions: list[str]) -> None:
    """Report a step with several actions, or with none, perhaps because it is misspelt."""
    data = plain(node)
    if actions:
        second = locate(node, (actions[1],), key=True)
        report.add(second, "E014", f"this step already has the action `{actions[0]}`")
        return
    # Do not report the keys that belong to a misspelt action.
    known = {key for op in operations().values() for key in op.model_fields}
    unknown = [key for key in data if key not in known]
    for key in unknown:
        report_unknown(report, node, key, [*operations(), *StepKeys.model_fields])
    if not unknown and not node.incomplete:
        report.add(node, "E013", "this step has no action", f"add one of {listed(operations())}, for example limit: 20")
