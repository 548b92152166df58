"""Rule files read: every problem of every file found in one run, then compiled rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from reducer.entities import expand
from reducer.entities.own import Vocabulary
from reducer.errors import Location, Problem, RuleError
from reducer.op import Amount, Op, names_of
from reducer.ops import operations
from reducer.path import Expression, Path, compile_path
from reducer.rule.choose import is_dead, is_glob, meet, rule_chooser, shadows
from reducer.rule.conditions import KEY, Conditions, read_conditions
from reducer.rule.doubts import doubts
from reducer.rule.form import conflicts, is_proven, same_place
from reducer.rule.model import SHARED_KEYS, Expect, Given, Model, Rule, RuleFile, Ruleset, SharedFile, Step, StepKeys, Test, When
from reducer.rule.opening import opening_of
from reducer.rule.problems import Report, doubted, report_all, reporter
from reducer.rule.spelling import respelled
from reducer.rule.vocabulary import read_vocabulary
from reducer.source import Mapping as MappingNode
from reducer.source import Sequence as SequenceNode
from reducer.source import Tree, locate, parse, plain

KEY_TYPES = expand(("ioc", "cve", "mitre_attack", "threat_actor"))
"""What a blind cut keeps by default: the identifiers an analyst would look for again."""
_STRUCTURAL = frozenset({"limit", "keep", "drop"})
_MODELS: Mapping[str, type[Model] | type[Amount]] = {"when": When, "given": Given, "expect": Expect, "limit": Amount, "truncate": Amount}
_LAID_OUT = frozenset({"E036", "E037", "E038"})
"""What is wrong around a value, and so with nothing in it."""
_SUFFIXES = (".yaml", ".yml")


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
    parsed = [_spelled(file, text, verbs) for file, text in texts]
    vocabulary = read_vocabulary((file, tree, reporter(text, file, noted)) for file, text, tree, _, noted in parsed if tree is not None)
    conditions = read_conditions((file, tree, reporter(text, file, noted)) for file, text, tree, _, noted in parsed if tree is not None)
    made = [None if tree is None else _rule(tree, file, reporter(text, file, noted), verbs, vocabulary, conditions) for file, text, tree, _, noted in parsed]
    _warn_of_unused_types(parsed, made, vocabulary)
    for (file, text, tree, found, noted), rule in zip(parsed, made, strict=True):
        problems += found
        if tree is None:
            continue
        # A broken key was reported where YAML was read: it would only be reported again for what it is not.
        noted = [problem for problem in noted if not any(_covers(other, problem) for other in found)]
        _tool_names(tree, text, file, tools, noted)
        problems += sorted(noted, key=lambda problem: problem.location)
        if rule is not None:
            rules.append(replace(rule, digest=_digest(text)))
    if any(problem.severity == "error" for problem in problems):
        return None, tuple(problems)
    return Ruleset(tuple(rules), rule_chooser(rules), tuple(problems), vocabulary), tuple(problems)


def _spelled(file: str, text: str | bytes, verbs: Mapping[str, type[Op]]) -> tuple[str, str | bytes, Tree | None, tuple[Problem, ...], list[Problem]]:
    tree, found = parse(text, file)
    noted: list[Problem] = []
    return file, text, None if tree is None else respelled(tree, reporter(text, file, noted), verbs), found, noted


def _covers(first: Problem, other: Problem) -> bool:
    """Tell whether a finding of YAML stands at the value of another one, which then is about what the value is not."""
    start = first.location.column
    return first.code not in _LAID_OUT and first.location.line == other.location.line and start <= other.location.column < start + first.width


def _digest(text: str | bytes) -> str:
    return blake2b(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _warn_of_unused_types(
    parsed: Iterable[tuple[str, str | bytes, Tree | None, Iterable[Problem], list[Problem]]], made: Iterable[Rule | None], vocabulary: Vocabulary
) -> None:
    """Note own entity types that no rule asks for, unless there are no rules, or errors, behind which one may ask."""
    rules = [rule for rule in made if rule is not None]
    parsed = list(parsed)
    if not rules or any(problem.severity == "error" for _, _, _, found, noted in parsed for problem in (*found, *noted)):
        return
    used = frozenset[str]().union(*(rule.types for rule in rules))
    for file, text, tree, _, noted in parsed:
        types = locate(tree, ("entities",)) if isinstance(tree, MappingNode) else None
        for key, _ in types.entries if isinstance(types, MappingNode) and types is not tree else ():
            name = str(key.value)
            if name in vocabulary.own and name not in used:
                message = f"no rule asks for `{name}`: it stands in no `preserve` and no `extract`"
                reporter(text, file, noted)(key, "W030", message, "name it in the rule that should keep it, or take it out")


def _files(source: FilePath) -> Iterator[FilePath]:
    if source.is_dir():
        yield from sorted(file for file in source.iterdir() if file.suffix in _SUFFIXES and file.is_file())
    else:
        yield source


def _rule(tree: Tree, file: str, report: Report, verbs: Mapping[str, type[Op]], vocabulary: Vocabulary, conditions: Conditions) -> Rule | None:
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
    checked = _checked(model, data, tree, (), report, vocabulary)
    if model is SharedFile:
        return None
    steps = list(_steps(tree, data, file, report, verbs, vocabulary, conditions)) if type(data.get("steps")) is list else []
    tests = []
    if type(data.get("tests")) is list:
        tests = [_checked(Test, test, tree, ("tests", number), report, vocabulary) for number, test in enumerate(data["tests"])]
    if checked is None or None in steps or None in tests or not sound:
        return None
    if not steps and checked.max_chars is None:
        if not tree.lost:
            report(locate(tree, ("tool",), key=True), "E015", "this rule does nothing", "add `steps` or `max_chars`")
        return None
    return _compiled(checked, tuple(steps), tuple(tests), tree, file, report, vocabulary)


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


def _steps(
    tree: Tree, data: dict[str, Any], file: str, report: Report, verbs: Mapping[str, type[Op]], vocabulary: Vocabulary, conditions: Conditions
) -> Iterator[Any]:
    for number, step in enumerate(data["steps"]):
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


def _tool_names(tree: Tree, text: str | bytes, file: str, tools: dict[str, Location], noted: list[Problem]) -> None:
    report = reporter(text, file, noted)
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
