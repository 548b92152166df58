"""Reads the entity types and conditions that a rule file defines for all files of its folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from reducer.entities.canonical import host_of
from reducer.entities.custom import (
    CustomTypeError,
    Find,
    compile_pattern,
    unnamed_value,
    word_error,
    word_finder,
)
from reducer.entities.entity import ALL_TYPES, GROUPS
from reducer.entities.vocabulary import NAMES, Ignored, Vocabulary, ignore_key
from reducer.errors import Location
from reducer.paths import PathError, compile_expression
from reducer.paths.parser import FUNCTIONS
from reducer.rules.diagnostics import Report
from reducer.rules.model import EntityKeys, IgnoreKeys, Rule
from reducer.rules.parser import MappingNode, ScalarNode, Tree, locate, part, plain, replaced
from reducer.rules.steps import named
from reducer.rules.validation import listed, validated

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

WordsIn = Callable[[Path], tuple[str, ...]]
"""Returns the words of a word list. Raises `CustomTypeError`."""


class Definition(NamedTuple):
    """A name that a rule file defines, with its key, its value and the report of the file."""

    name: str
    key: ScalarNode
    node: Tree
    report: Report


def definitions(files: Iterable[tuple[Tree, Report]], section: str) -> Iterator[Definition]:
    """Yield the definitions in a section of rule files; report names that are invalid or defined twice in a source.

    A later source can define a name again.
    """
    first: dict[tuple[int, str], Location] = {}
    for tree, report in files:
        node = locate(tree, (section,))
        for key, value in node.entries if isinstance(node, MappingNode) and node is not tree else ():
            name = str(key.value)
            if earlier := first.get((report.source, name)):
                report.add(key, "E092", f"`{name}` is already defined at {earlier}")
                continue
            first[report.source, name] = Location(report.file, key.line, key.column)
            if not _NAME.fullmatch(name):
                report.add(key, "E091", f"`{name}` is not a valid name")
            yield Definition(name, key, value, report)


def read_conditions(files: Iterable[tuple[Tree, Report]]) -> Mapping[str, str]:
    """Return the named conditions of rule files as texts; an invalid one is `@`, so that its uses are not reported."""
    conditions: dict[str, str] = {}
    for name, _, node, _ in definitions(files, "conditions"):
        conditions[name] = str(plain(node))
        try:
            compile_expression(conditions[name])
        except PathError:
            conditions[name] = "@"
    return MappingProxyType(conditions)


def read_vocabulary(files: Iterable[tuple[Tree, Report]], words_in: WordsIn) -> Vocabulary:
    """Read the entity types of rule files and report their problems.

    An invalid definition still defines its type, so that its uses are not reported as well.
    """
    custom: dict[str, tuple[Find, ...]] = {}
    ignoring: list[tuple[Definition, tuple[str, ...]]] = []
    for definition in definitions(files, "entities"):
        keys = _keys(definition)
        finders = _finders(definition, keys, words_in) if isinstance(keys, EntityKeys) else ()
        if finders or definition.name not in ALL_TYPES:
            custom[definition.name] = finders
        if keys is not None and keys.ignore:
            ignoring.append((definition, keys.ignore))
    known = Vocabulary(MappingProxyType(custom), {})
    ignored = {definition.name: _ignored(known, definition, values) for definition, values in ignoring}
    return Vocabulary(known.custom, MappingProxyType(ignored))


def lint_unused_types(files: Iterable[tuple[Tree, Report]], used: Set[str]) -> None:
    """Warn about custom entity types that no rule uses."""
    for name, key, _, report in definitions(files, "entities"):
        if name not in used and name not in ALL_TYPES:
            report.add(key, "W030", f"no rule preserves or extracts the entity type `{name}`")


def lint_conditions(files: Iterable[tuple[Tree, Report]], conditions: Mapping[str, str], rules: Iterable[Rule]) -> None:
    """Warn about conditions with the name of a function or of a key that a condition or a rule reads."""
    keys: set[str] = set()
    for text in conditions.values():
        keys.update(*compile_expression(text).reads)
    for rule in rules:
        for step in rule.steps:
            keys.update(*map(set[Any], named(step)))
    for name, key, _, report in definitions(files, "conditions"):
        if name in keys:
            advice = "give it another name; only `always_keep` alone uses a condition by its name"
            report.add(key, "W031", f"`{name}` is also the name of a key that a rule reads", advice)
        elif name in FUNCTIONS.FUNCTION_TABLE:
            report.add(key, "W031", f"`{name}` is also the name of a function", "give it another name")


def _keys(definition: Definition) -> EntityKeys | IgnoreKeys | None:
    """Return the keys of a definition, or report their problems and return None."""
    name, key, node, report = definition
    if name in GROUPS:
        report.add(key, "E094", f"`{name}` is a group of types", f"use one of its types: {listed(GROUPS[name])}")
        return None
    if name in ALL_TYPES and name not in NAMES:
        return validated(IgnoreKeys, plain(node), node, report)
    keys = validated(EntityKeys, plain(node), node, report)
    if keys is None or keys.finds_something or (name in NAMES and keys.ignore):
        return keys
    subject, further = (f"`{name}`", ", `ignore`") if name in NAMES else ("a custom entity type", "")
    report.add(node, "E093", f"{subject} needs `pattern`, `words`{further} or `words_file`")
    return None


def _finders(definition: Definition, keys: EntityKeys, words_in: WordsIn) -> tuple[Find, ...]:
    """Compile the word lists and patterns of a custom type."""
    node, report = definition.node, definition.report
    finders: list[Find] = []
    words = dict.fromkeys(keys.words or ())
    for number, word in enumerate(keys.words or ()):
        if wrong := word_error(word):
            report.add(locate(node, ("words", number)), "E096", wrong)
    for number, file in enumerate(keys.words_file or ()):
        try:
            words.update(dict.fromkeys(words_in(Path(report.file).parent / file)))
        except CustomTypeError as error:
            report.add(locate(node, ("words_file", number)), "E096", error.message, error.help)
    if words:
        finders.append(word_finder(definition.name, tuple(words), bool(keys.case_sensitive)))
    for number, text in enumerate(keys.pattern or ()):
        at = locate(node, ("pattern", number))
        try:
            finders.append(compile_pattern(definition.name, text))
        except CustomTypeError as error:
            report.add(part(at, error.column - 1, error.width), "E095", error.message, error.help)
            continue
        if group := unnamed_value(text):
            start, end = group
            named = f"(?P<value>{text[start + 1 :]}"
            message = "the value is the whole match, because this group has no name"
            fix = replaced(at, text[:start] + named)
            report.add(part(at, start, end - start), "W073", message, f"write `{named[: end - start + 9]}`", fix)
    return tuple(finders)


def _ignored(vocabulary: Vocabulary, definition: Definition, values: tuple[str, ...]) -> Ignored:
    """Return what the values of `ignore` stand for; report those that no entity can be."""
    name = definition.name
    exact: set[str] = set()
    suffixes: list[str] = []
    networks: list[IPv4Network | IPv6Network] = []
    for number, value in enumerate(values):
        host = host_of(value.removeprefix("*.").rstrip("."))
        if name in GROUPS["ip"] and "/" in value:
            networks += _network(definition, number, value)
        elif name == "domain" and _HOST.fullmatch(host):
            exact.add(host)
            suffixes.append(f".{host}")
        elif value.startswith("*") and len(value) > 2:
            suffixes.append(value[1:].lower())
        else:
            exact.add(_value(vocabulary, definition, number, value))
    return Ignored(frozenset(exact), tuple(suffixes), tuple(networks))


def _network(definition: Definition, number: int, value: str) -> list[IPv4Network | IPv6Network]:
    """Return the network of a text, or report that it is not one of this type."""
    try:
        return [IPv4Network(value) if definition.name == "ipv4" else IPv6Network(value)]
    except ValueError:
        message = f"`{value}` is not a network of the type `{definition.name}`"
        advice = "write it without the bits of a host, as `10.0.0.0/8` for ipv4 or `2001:db8::/32` for ipv6"
        definition.report.add(locate(definition.node, ("ignore", number)), "E097", message, advice)
        return []


def _value(vocabulary: Vocabulary, definition: Definition, number: int, value: str) -> str:
    """Return the form of an ignored value that entities are compared with; report it if it is not an entity."""
    name = definition.name
    for entity in vocabulary.scanner(name)(value):
        if entity.start == 0 and entity.end == len(value):
            return ignore_key(entity)
    # A custom type without finders is already reported.
    if vocabulary.custom.get(name) != ():
        message = f"`{value}` is not an entity of the type `{name}`"
        definition.report.add(locate(definition.node, ("ignore", number)), "E097", message)
    return value
