"""Compiles one rule file: checks its keys one by one and against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from reducer.entities import expand
from reducer.entities.vocabulary import Vocabulary
from reducer.errors import Location
from reducer.operations.op import Op
from reducer.paths import Expression, Path, compile_path, names_of
from reducer.rules.checks import is_statically_idempotent, lint, same_place
from reducer.rules.definitions import report_path
from reducer.rules.diagnostics import Report
from reducer.rules.model import SHARED_KEYS, Rule, RuleFile, Step, StepKeys, Test
from reducer.rules.texts import text_paths
from reducer.rules.tree import Mapping as MappingNode
from reducer.rules.tree import Tree, locate, plain
from reducer.rules.validation import listed, nearest, report_unknown, validated

KEY_TYPES = expand(("ioc", "cve", "mitre_attack", "threat_actor"))
"""The types that actions which cut blindly preserve by default: the identifiers an analyst would look for again."""
MAX_STEPS = 200


class Language(NamedTuple):
    """What the files of one ruleset share: operations by action, entity types, named conditions."""

    operations: Mapping[str, type[Op]]
    vocabulary: Vocabulary
    conditions: Mapping[str, str]


def compile_rule(tree: Tree, report: Report, language: Language, digest: str) -> Rule | None:
    """Compile the tree of a rule file and report what is wrong; None for errors and for a file without a rule."""
    if not isinstance(tree, MappingNode):
        report.add(tree, "E005", "expected a mapping with the keys of a rule")
        return None
    data, vocabulary = plain(tree), language.vocabulary
    checked = _checked_file(tree, data, report, vocabulary)
    data_of_steps, data_of_tests = (data[key] if type(data.get(key)) is list else [] for key in ("steps", "tests"))
    if len(data_of_steps) > MAX_STEPS:
        message = f"this rule has {len(data_of_steps):,} steps; at most {MAX_STEPS} are allowed"
        report.add(
            locate(tree, ("steps",), key=True), "E003", message, "split the rule, or join steps on the same path"
        )
        return None
    general = None if checked is None or checked.preserve is None else vocabulary.expand(checked.preserve)
    steps = [_step((tree, report), language, general, entry) for entry in enumerate(data_of_steps)]
    tests = [
        validated(Test, test, locate(tree, ("tests", number)), report, context=vocabulary)
        for number, test in enumerate(data_of_tests)
    ]
    if checked is None or None in steps or None in tests:
        return None
    if not steps and checked.max_chars is None:
        if not tree.incomplete:
            report.add(locate(tree, ("tool",), key=True), "E015", "this rule does nothing")
        return None
    ready = tuple(step for step in steps if step is not None)
    stable = [_has_stable_path(step, ready, tree, report) for step in ready]
    if not all(stable):
        return None
    for step, code, message, help in lint(ready):
        report.add(locate(tree, ("steps", step.number - 1, "path"), key=True), code, message, help)
    preserves = (data.get("preserve"), *(step.get("preserve") for step in data_of_steps))
    bounds = (pair for preserve in preserves if type(preserve) is dict for pair in preserve.items())
    budget = frozenset[str]() if checked.max_chars is None else KEY_TYPES if general is None else general
    preserved = (frozenset[str](), *(step.preserves for step in ready), budget)
    extracted = (vocabulary.expand(getattr(step.op, "extract", ())) for step in ready)
    return Rule(
        file=report.file,
        tools=checked.tool,
        description=checked.description,
        when=checked.when,
        all_keys=checked.keys == "all",
        steps=ready,
        max_chars=checked.max_chars,
        preserved=preserved,
        bounds=tuple((vocabulary.expand([name]), count) for name, count in bounds),
        types=frozenset[str]().union(*preserved, *extracted),
        vocabulary=vocabulary,
        statically_idempotent=checked.max_chars is None and is_statically_idempotent(ready),
        text_paths=text_paths(ready, checked.when),
        tests=tuple(tests),
        digest=digest,
    )


def _checked_file(tree: MappingNode, data: dict[str, Any], report: Report, vocabulary: Vocabulary) -> RuleFile | None:
    """Check the keys of a rule file."""
    version = data.get("version", 1)
    if type(version) is int and version != 1:
        report.add(locate(tree, ("version",)), "E017", f"expected version 1 of the rule language, not {version}")
        data["version"] = 1
    if not {"entities", "conditions"}.isdisjoint(data) and set(data) <= set(SHARED_KEYS):
        validated(RuleFile, {**data, "tool": "-"}, tree, report, context=vocabulary)
        return None
    checked: RuleFile | None = validated(RuleFile, data, tree, report, context=vocabulary)
    return checked


def _step(
    file: tuple[Tree, Report], language: Language, general: frozenset[str] | None, entry: tuple[int, Any]
) -> Step | None:
    """Check and compile one step, by its index from 0; `general` are the types that the rule preserves."""
    (tree, report), (operations, vocabulary, conditions), (index, data) = file, language, entry
    node = locate(tree, ("steps", index))
    if type(data) is not dict:
        help = f"the actions are {listed(operations)}"
        report.add(node, "E020", "expected a step: a mapping with one action", help)
        return None
    common = {key: value for key, value in data.items() if key in StepKeys.model_fields}
    keys: StepKeys | None = validated(StepKeys, common, node, report, context=vocabulary)
    actions = [key for key in data if key in operations]
    if len(actions) != 1:
        _report_actions(report, node, actions, operations)
        return None
    own = {key: value for key, value in data.items() if key not in StepKeys.model_fields}
    word = data.get("always_keep")
    if type(word) is str and word in conditions:
        own["always_keep"] = conditions[word]
    elif type(word) is str and word.isidentifier() and (near := nearest(word, conditions, 0.75)):
        message = f"`{word}` is not a condition, so it is read as a key"
        report.add(locate(node, ("always_keep",)), "W032", message, f"did you mean `{near}`?")
    op: Op | None = validated(operations[actions[0]], own, node, report, context=vocabulary)
    for part in (keys, op):
        for name, value in part or ():
            for warning in value.warnings if isinstance(value, Path | Expression) else ():
                report_path(report, locate(node, (name,)), warning)
    if keys is None or op is None:
        return None
    default = KEY_TYPES if op.cuts_blindly else frozenset[str]()
    preserves = default if general is None else general
    if keys.preserve is not None:
        preserves = vocabulary.expand(keys.preserve)
    path = keys.path or compile_path("@")
    place = Location(report.file, node.line, node.column)
    return Step(index + 1, path, op, when=keys.when, preserves=preserves, location=place)


def _report_actions(report: Report, node: Tree, actions: list[str], operations: Mapping[str, type[Op]]) -> None:
    """Report that a step has several actions or none, which may be misspelt."""
    if actions:
        report.add(locate(node, (actions[1],), key=True), "E014", f"this step already has the action `{actions[0]}`")
        return
    # The keys of a misspelt action are no problem of their own.
    known = {*StepKeys.model_fields, *(key for op in operations.values() for key in op.model_fields)}
    unknown = [key for key in plain(node) if key not in known]
    for key in unknown:
        report_unknown(report, node, key, [*operations, *StepKeys.model_fields])
    if not unknown:
        report.add(node, "E013", "this step has no action", f"expected one of {listed(operations)}")


def _has_stable_path(step: Step, steps: tuple[Step, ...], tree: Tree, report: Report) -> bool:
    """Report indexes that name another item when the rule is applied again."""
    shortened = [(*names_of(other.path.shape), *below) for other in steps for below in other.op.shortens()]
    node = locate(tree, ("steps", step.number - 1, "path"))
    for number, token in enumerate(step.path.shape):
        place = names_of(step.path.shape[:number])
        if token[0] in ("slice", "pick") or (token[0] == "index" and token[1] < 0):
            report.add(node, "E066", "a path cannot count from the end or slice a list")
            return False
        if token[0] == "index" and any(same_place(place, names) for names in shortened):
            report.add(node, "E067", "a path cannot have an index into a list that a step shortens")
            return False
    return True
