"""One rule file compiled: its keys checked each and against each other, every problem reported at its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from reducer.entities import expand
from reducer.entities.own import Vocabulary
from reducer.errors import Location
from reducer.op import Op
from reducer.op.fields import Amount
from reducer.path import Expression, Path, compile_path, names_of
from reducer.rule.conditions import KEY, Conditions
from reducer.rule.doubts import doubts
from reducer.rule.form import conflicts, is_proven, same_place
from reducer.rule.model import SHARED_KEYS, Expect, Given, Model, Rule, RuleFile, SharedFile, Step, StepKeys, Test, When
from reducer.rule.opening import opening_of
from reducer.rule.problems import Report, doubted, report_all
from reducer.source import Mapping as MappingNode
from reducer.source import Tree, locate, plain

KEY_TYPES = expand(("ioc", "cve", "mitre_attack", "threat_actor"))
"""What a blind cut keeps by default: the identifiers an analyst would look for again."""
_STRUCTURAL = frozenset({"limit", "keep", "drop"})
_MODELS: Mapping[str, type[Model] | type[Amount]] = {"when": When, "given": Given, "expect": Expect, "limit": Amount, "truncate": Amount}


class Language(NamedTuple):
    """What the files of one ruleset are read with: the operations by verb, the entity types, the named conditions."""

    verbs: Mapping[str, type[Op]]
    vocabulary: Vocabulary
    conditions: Conditions


def compile_rule(tree: Tree, file: str, report: Report, language: Language) -> Rule | None:
    """Compile the tree of one rule file; None for a file without rules and where anything is wrong, which `report` is told."""
    if not isinstance(tree, MappingNode):
        report(tree, "E005", "expected the keys of a rule", "a rule file starts with `version: 1` and `tool:`")
        return None
    data = plain(tree)
    sound = True
    model: type[Model] = SharedFile if data.keys() & SHARED_KEYS and data.keys() <= SharedFile.model_fields.keys() else RuleFile
    version = data.get("version", 1)
    if type(version) is int and version != 1:
        report(
            locate(tree, ("version",)), "E017", f"this reducer reads version 1 of the rule language, not {version}", "write version: 1, or use a newer reducer"
        )
        data["version"], sound = 1, False
    checked = _checked(model, data, tree, (), report, language.vocabulary)
    if model is SharedFile:
        return None
    steps = list(_steps(tree, data["steps"], file, report, language)) if type(data.get("steps")) is list else []
    tests = []
    if type(data.get("tests")) is list:
        tests = [_checked(Test, test, tree, ("tests", number), report, language.vocabulary) for number, test in enumerate(data["tests"])]
    if checked is None or None in steps or None in tests or not sound:
        return None
    if not steps and checked.max_chars is None:
        if not tree.lost:
            report(locate(tree, ("tool",), key=True), "E015", "this rule does nothing", "add `steps` or `max_chars`")
        return None
    return _compiled(checked, tuple(steps), tuple(tests), tree, file, report, language.vocabulary)


def _compiled(checked: RuleFile, parts: tuple[Any, ...], tests: tuple[Any, ...], tree: Tree, file: str, report: Report, vocabulary: Vocabulary) -> Rule | None:
    general = None if checked.preserve is None else vocabulary.expand(checked.preserve)
    steps = tuple(_step(number, keys, op, location, general, vocabulary) for number, (keys, op, location) in enumerate(parts, 1))
    sound = True
    for conflict in conflicts(steps):
        sound = False
        node = locate(tree, ("steps", conflict.taker.number - 1, conflict.taker.op.verb()), key=True)
        who = "itself" if conflict.reader is conflict.taker else f"step {conflict.reader.number} (`{conflict.reader.op.verb()}`)"
        report(node, "E070", f"this takes away `{conflict.read}`, which {who} decides by: applied again, it would choose otherwise", conflict.fix)
    for step in steps:
        sound = _checked_indexes(step, steps, tree, report) and sound
    if not sound:
        return None
    for doubt in doubts(steps):
        report(locate(tree, ("steps", doubt.step.number - 1, "path"), key=True), doubt.code, doubt.message, doubt.help)
    ladder = frozenset[str]() if checked.max_chars is None else KEY_TYPES if general is None else general
    policies = (frozenset[str](), *(step.owes for step in steps), ladder)
    extracted = (vocabulary.expand(getattr(step.op, "extract", ())) for step in steps)
    structural = frozenset(type(step.op) for step in steps if step.op.verb() in _STRUCTURAL)
    return Rule(
        file=file,
        tools=checked.tool,
        description=checked.description,
        when=checked.when,
        all_keys=checked.keys == "all",
        steps=steps,
        max_chars=checked.max_chars,
        policies=policies,
        bounds=tuple(_bounds([checked.preserve, *(keys.preserve for keys, _, _ in parts)], vocabulary)),
        # What only cuts texts is owed by marks in them.
        traced=bool(ladder) or any(step.owes and not step.op.cuts_blindly for step in steps),
        types=frozenset[str]().union(*policies, *extracted),
        vocabulary=vocabulary,
        proven=checked.max_chars is None and is_proven(steps, structural),
        opening=opening_of(steps, checked.when),
        tests=tests,
    )


def _bounds(preserves: Iterable[Any], vocabulary: Vocabulary) -> Iterator[tuple[frozenset[str], int]]:
    for preserve in preserves:
        if isinstance(preserve, dict):
            yield from ((vocabulary.expand([name]), most) for name, most in preserve.items())


def _step(number: int, keys: StepKeys, op: Op, location: Location, general: frozenset[str] | None, vocabulary: Vocabulary) -> Step:
    default = KEY_TYPES if op.cuts_blindly else frozenset[str]()
    owes = vocabulary.expand(keys.preserve) if keys.preserve is not None else default if general is None else general
    return Step(number, keys.path or compile_path("@"), op, keys.when, owes, location)


def _checked_indexes(step: Step, steps: tuple[Step, ...], tree: Tree, report: Report) -> bool:
    sound = True
    shortened = [(*names_of(other.path.shape), *below) for other in steps for below in other.op.shortens()]
    for number, token in enumerate(step.path.shape):
        if token[0] in ("slice", "pick") or (token[0] == "index" and token[1] < 0):
            code, message = "E066", "a place counted from the end, or a slice, moves when a list gets shorter"
            help = "use an index from 0, or `[*]`, or `limit`"
        elif token[0] == "index" and any(same_place(names_of(step.path.shape[:number]), names) for names in shortened):
            code, message, help = "E067", "an index names another item when a step shortens the list", "use a filter such as `[?name == 'x']`"
        else:
            continue
        sound = False
        report(locate(tree, ("steps", step.number - 1, "path")), code, message, help)
    return sound


def _steps(tree: Tree, steps: list[Any], file: str, report: Report, language: Language) -> Iterator[Any]:
    verbs, vocabulary, conditions = language
    for number, step in enumerate(steps):
        place = ("steps", number)
        node = locate(tree, place)
        if type(step) is not dict:
            report(node, "E020", "expected a step: a mapping with one action", f"the actions are {', '.join(f'`{verb}`' for verb in verbs)}")
            yield None
            continue
        actions = [key for key in step if key in verbs]
        common = {key: value for key, value in step.items() if key in StepKeys.model_fields}
        if len(actions) != 1:
            # What is wrong with its keys is told already.
            _checked(StepKeys, common, tree, place, report, vocabulary)
            yield None
            continue
        meant = conditions.doubt(step)
        if meant:
            report(locate(tree, (*place, KEY)), "W032", f"there is no condition `{step[KEY]}`: this reads as a key", f"did you mean `{meant}`?")
        own = {key: value for key, value in conditions.resolved(step).items() if key not in StepKeys.model_fields}
        op_type = verbs[actions[0]]
        keys = _checked(StepKeys, common, tree, place, report, vocabulary)
        op = _checked(op_type, own, tree, place, report, vocabulary, StepKeys.model_fields)
        _warn(keys, tree, place, report)
        _warn(op, tree, place, report)
        yield None if keys is None or op is None or conditions.names_wrong(step) else (keys, op, Location(file, node.line, node.column))


def _warn(part: Model | Op | None, tree: Tree, place: tuple[str | int, ...], report: Report) -> None:
    """Note what is valid JMESPath in the keys of a step, but hardly meant."""
    for name, value in part or ():
        for doubt in value.warnings if isinstance(value, Path | Expression) else ():
            report(
                locate(tree, (*place, name)), doubt.code, doubt.message, doubt.help, offset=doubt.column - 1, width=doubt.width, fix=doubted(value.text, doubt)
            )


def _checked(model: Any, data: Any, tree: Tree, place: tuple[str | int, ...], report: Report, vocabulary: Vocabulary, more: Iterable[str] = ()) -> Any:
    def known(keys: tuple[str | int, ...]) -> list[str]:
        names = [key for key in keys if type(key) is str]
        fields = _MODELS[names[-1]].model_fields if names and names[-1] in _MODELS else model.model_fields
        return [field.alias or name for name, field in fields.items()] + ([] if names else list(more))

    try:
        return model.model_validate(data, context=vocabulary)
    except ValidationError as error:
        report_all(report, error, tree, place, known)
        return None
