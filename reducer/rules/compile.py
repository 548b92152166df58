"""Compiles one rule file: checks its keys one by one and against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from reducer.entities import expand
from reducer.entities.vocabulary import Vocabulary
from reducer.errors import Location
from reducer.operations.op import Op
from reducer.paths import Expression, Path, compile_path, names_of
from reducer.rules.definitions import report_path
from reducer.rules.diagnostics import Report
from reducer.rules.idempotence import is_proven, same_place
from reducer.rules.lint import lint
from reducer.rules.model import Model, Rule, RuleFile, SharedFile, Step, StepKeys, Test, file_model
from reducer.rules.texts import text_paths
from reducer.rules.tree import Mapping as MappingNode
from reducer.rules.tree import Place, Tree, locate, plain
from reducer.rules.validation import listed, nearest, validated

KEY_TYPES = expand(("ioc", "cve", "mitre_attack", "threat_actor"))
"""The types that actions which cut blindly preserve by default: the identifiers an analyst would look for again."""
MAX_STEPS = 200


class Language(NamedTuple):
    """What the files of one ruleset share: operations by action, entity types, named conditions."""

    operations: Mapping[str, type[Op]]
    vocabulary: Vocabulary
    conditions: Mapping[str, str]


class _Part(NamedTuple):
    """A step with its keys checked."""

    keys: StepKeys
    op: Op
    location: Location


def compile_rule(tree: Tree, report: Report, language: Language) -> Rule | None:
    """Compile the tree of a rule file and report what is wrong; None for errors and for a file without a rule."""
    if not isinstance(tree, MappingNode):
        report.add(tree, "E005", "expected the keys of a rule")
        return None
    data = plain(tree)
    version = data.get("version", 1)
    if type(version) is int and version != 1:
        message = f"this reducer reads version 1 of the rule language, not {version}"
        report.add(locate(tree, ("version",)), "E017", message)
        data["version"] = 1
    model = file_model(data.keys())
    checked = validated(model, data, report, (tree, ()), context=language.vocabulary)
    if model is SharedFile:
        return None
    steps, tests = data.get("steps"), data.get("tests")
    if type(steps) is list and len(steps) > MAX_STEPS:
        message = f"this rule has {len(steps):,} steps; at most {MAX_STEPS} are allowed"
        help = "split the rule, or join steps on the same path"
        report.add(locate(tree, ("steps",), key=True), "E003", message, help)
        return None
    file = _File(tree, report, language)
    parts = [file.step(number, step) for number, step in enumerate(steps)] if type(steps) is list else []
    checked_tests = [
        validated(Test, test, report, (tree, ("tests", number)), context=language.vocabulary)
        for number, test in enumerate(tests if type(tests) is list else ())
    ]
    if checked is None or None in parts or None in checked_tests:
        return None
    if not parts and checked.max_chars is None:
        if not tree.incomplete:
            report.add(locate(tree, ("tool",), key=True), "E015", "this rule does nothing")
        return None
    return file.rule(checked, [part for part in parts if part is not None], tuple(checked_tests))


class _File(NamedTuple):
    """The tree of a rule file that is being compiled."""

    tree: Tree
    report: Report
    language: Language

    def step(self, number: int, step: Any) -> _Part | None:
        """Check the keys of one step."""
        operations, vocabulary, conditions = self.language
        place: Place = ("steps", number)
        node = locate(self.tree, place)
        if type(step) is not dict:
            help = f"the actions are {listed(operations)}"
            self.report.add(node, "E020", "expected a step: a mapping with one action", help)
            return None
        at = (self.tree, place)
        common = {key: value for key, value in step.items() if key in StepKeys.model_fields}
        keys = validated(StepKeys, common, self.report, at, context=vocabulary)
        actions = [key for key in step if key in operations]
        if len(actions) != 1:
            return None  # reported with the keys
        word = step.get("always_keep")
        own = {key: value for key, value in step.items() if key not in StepKeys.model_fields}
        if type(word) is str and word in conditions:
            own["always_keep"] = conditions[word]
        elif type(word) is str and word.isidentifier() and (near := nearest(word, conditions, 0.75)):
            message = f"there is no condition `{word}`, so this reads as a key"
            self.report.add(locate(self.tree, (*place, "always_keep")), "W032", message, f"did you mean `{near}`?")
        op = validated(operations[actions[0]], own, self.report, at, context=vocabulary)
        for part in (keys, op):
            self._warn(part, place)
        if keys is None or op is None:
            return None
        return _Part(keys, op, Location(self.report.file, node.line, node.column))

    def _warn(self, part: Model | Op | None, place: Place) -> None:
        """Report what is valid JMESPath, but probably not intended."""
        for name, value in part or ():
            for warning in value.warnings if isinstance(value, Path | Expression) else ():
                report_path(self.report, locate(self.tree, (*place, name)), warning)

    def rule(self, checked: RuleFile, parts: list[_Part], tests: tuple[Test, ...]) -> Rule | None:
        """Compile a rule from its checked parts; None if an index in a path is wrong."""
        vocabulary = self.language.vocabulary
        general = None if checked.preserve is None else vocabulary.expand(checked.preserve)
        steps = tuple(self._step(number, part, general) for number, part in enumerate(parts, 1))
        stable = [self._has_stable_path(step, steps) for step in steps]
        if not all(stable):
            return None
        for step, code, message, help in lint(steps):
            node = locate(self.tree, ("steps", step.number - 1, "path"), key=True)
            self.report.add(node, code, message, help)
        budget = frozenset[str]() if checked.max_chars is None else KEY_TYPES if general is None else general
        policies = (frozenset[str](), *(step.preserves for step in steps), budget)
        extracted = (vocabulary.expand(getattr(step.op, "extract", ())) for step in steps)
        return Rule(
            file=self.report.file,
            tools=checked.tool,
            description=checked.description,
            when=checked.when,
            all_keys=checked.keys == "all",
            steps=steps,
            max_chars=checked.max_chars,
            policies=policies,
            bounds=tuple(self._bounds([checked.preserve, *(part.keys.preserve for part in parts)])),
            # Markers in texts tell what was cut from them.
            traced=bool(budget) or any(step.preserves and not step.op.cuts_blindly for step in steps),
            types=frozenset[str]().union(*policies, *extracted),
            vocabulary=vocabulary,
            proven=checked.max_chars is None and is_proven(steps),
            opening=text_paths(steps, checked.when),
            tests=tests,
        )

    def _step(self, number: int, part: _Part, general: frozenset[str] | None) -> Step:
        default = KEY_TYPES if part.op.cuts_blindly else frozenset[str]()
        preserved = default if general is None else general
        if part.keys.preserve is not None:
            preserved = self.language.vocabulary.expand(part.keys.preserve)
        path = part.keys.path or compile_path("@")
        return Step(number, path, part.op, part.keys.when, preserves=preserved, location=part.location)

    def _bounds(self, preserves: Iterable[Any]) -> Iterator[tuple[frozenset[str], int]]:
        for preserve in preserves:
            if isinstance(preserve, dict):
                yield from ((self.language.vocabulary.expand([name]), count) for name, count in preserve.items())

    def _has_stable_path(self, step: Step, steps: tuple[Step, ...]) -> bool:
        """Report indexes that name another item when the rule is applied again."""
        shortened = [(*names_of(other.path.shape), *below) for other in steps for below in other.op.shortens()]
        node = locate(self.tree, ("steps", step.number - 1, "path"))
        for number, token in enumerate(step.path.shape):
            place = names_of(step.path.shape[:number])
            if token[0] in ("slice", "pick") or (token[0] == "index" and token[1] < 0):
                self.report.add(node, "E066", "a path cannot count from the end or slice a list")
                return False
            if token[0] == "index" and any(same_place(place, names) for names in shortened):
                self.report.add(node, "E067", "a path cannot have an index into a list that a step shortens")
                return False
        return True
