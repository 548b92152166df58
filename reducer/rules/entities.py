"""Reads the mappings `entities:` of all rule files into one vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import Field

from reducer.entities.aliases import types_for
from reducer.entities.entity import GROUPS, TYPES
from reducer.entities.patterns import Pattern, PatternError, compile_pattern
from reducer.entities.vocabulary import CustomType, Vocabulary, ignore_key
from reducer.entities.words import MAX_WORDS, WordsError, finder, read_words, word_error
from reducer.errors import Location
from reducer.operations.fields import Names
from reducer.rules.conditions import NAME
from reducer.rules.diagnostics import Report
from reducer.rules.model import FileNames, Model
from reducer.rules.tree import Mapping as MappingNode
from reducer.rules.tree import Tree, entries_at, locate, plain
from reducer.rules.validation import listed, nearest, validated

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_SOURCES = ("pattern", "words", "words_file")


class EntityKeys(Model):
    """The definition of one entity type in a rule file."""

    pattern: Names | None = Field(
        None, description="A regex, or several, for entities of this type (needs the extra `patterns`)."
    )
    words: Names | None = Field(None, description="The words that are entities of this type.")
    words_file: FileNames | None = Field(None, description="A text file beside the rule file with a word on each line.")
    case_sensitive: bool | None = Field(None, description="`true`: words match only as they are written here.")
    ignore: Names | None = Field(None, description="Values that look like an entity of this type, but are not.")


def read_vocabulary(files: Iterable[tuple[Tree, Report]]) -> Vocabulary:
    """Read the entity types of rule files and report what is wrong with them.

    A type whose definition is wrong is known nevertheless, so that using it is no second problem.
    """
    custom: dict[str, CustomType] = {}
    defined: dict[str, Location] = {}
    ignoring: list[tuple[_Definition, tuple[str, ...]]] = []
    for tree, report in files:
        for key, _ in entries_at(tree, "entities"):
            name = str(key.value)
            if not _is_name(name, key, report):
                custom.setdefault(name, CustomType())
                continue
            if name in defined:
                report.add(key, "E092", f"the entity type `{name}` is already defined at {defined[name]}")
                continue
            defined[name] = Location(report.file, key.line, key.column)
            definition = _Definition(name, tree, report)
            keys = definition.keys()
            if name not in TYPES:
                custom[name] = CustomType() if keys is None else definition.custom(keys)
            if keys is not None and keys.ignore:
                ignoring.append((definition, keys.ignore))
    known = Vocabulary(MappingProxyType(custom))
    ignored = {
        definition.name: frozenset(_ignored(known, definition, *pair) for pair in enumerate(values))
        for definition, values in ignoring
    }
    return Vocabulary(known.custom, MappingProxyType(ignored))


def _is_name(name: str, key: Tree, report: Report) -> bool:
    if name in GROUPS:
        report.add(key, "E094", f"`{name}` is a group of types", f"name one of its types: {listed(GROUPS[name])}")
    elif not NAME.fullmatch(name):
        report.add(key, "E091", f"`{name}` cannot name an entity type")
    else:
        return True
    return False


@dataclass(frozen=True, slots=True)
class _Definition:
    """The definition of the entity type `name` in the tree of a rule file."""

    name: str
    tree: Tree
    report: Report

    def at(self, *place: str | int, key: bool = False) -> Tree:
        return locate(self.tree, ("entities", self.name, *place), key=key)

    def keys(self) -> EntityKeys | None:
        """Return the keys of the definition, or None if they are wrong."""
        node = self.at()
        if not isinstance(node, MappingNode):
            own, built_in = "`{pattern: 'INC-\\d{6}'}` or `{words_file: hosts.txt}`", "`{ignore: [example.org]}`"
            help = f"for example {built_in if self.name in TYPES else own}"
            self.report.add(node, "E020", f"expected the definition of `{self.name}`: a mapping", help)
            return None
        place = ("entities", self.name)
        keys: EntityKeys | None = validated(EntityKeys, plain(node), self.report, (self.tree, place))
        return keys if keys is not None and self._fits(keys) else None

    def _fits(self, keys: EntityKeys) -> bool:
        """Return whether a type of this name may have the keys that are set."""
        name, given = self.name, [field for field in EntityKeys.model_fields if getattr(keys, field) is not None]
        if name in TYPES:
            wrong = next((field for field in given if field != "ignore"), None)
            if wrong is not None:
                message = f"`{name}` is a built-in type and cannot have `{wrong}`"
                self.report.add(self.at(wrong, key=True), "E094", message, "give your own type another name")
            elif not given:
                self.report.add(self.at(key=True), "E093", f"the definition of `{name}` is empty", "add `ignore`")
            return wrong is None and bool(given)
        if not any(field in given for field in _SOURCES):
            near = next(iter(types_for(name, TYPES)), "") or nearest(name, TYPES)
            help = f"did you mean `{near}`?" if near and keys.ignore else ""
            self.report.add(self.at(key=True), "E093", f"`{name}` needs {listed(_SOURCES[:2])} or `words_file`", help)
            return False
        if keys.case_sensitive is not None and keys.words is None and keys.words_file is None:
            message, help = "`case_sensitive` applies to words only", "start the pattern with `(?i)` to ignore case"
            self.report.add(self.at("case_sensitive", key=True), "E094", message, help)
            return False
        return True

    def custom(self, keys: EntityKeys) -> CustomType:
        """Compile the patterns and word lists of a custom type."""
        patterns: list[Pattern] = []
        for number, text in enumerate(keys.pattern or ()):
            try:
                patterns.append(compile_pattern(text))
            except PatternError as error:
                offset, node = error.column - 1, self.at("pattern", number)
                self.report.add(node, "E095", error.message, error.help, offset=offset, width=error.width)
        words: dict[str, None] = {}
        for number, word in enumerate(keys.words or ()):
            wrong = word_error(word)
            if wrong:
                self.report.add(self.at("words", number), "E096", wrong)
            else:
                words[word] = None
        for number, file in enumerate(keys.words_file or ()):
            try:
                words.update(dict.fromkeys(read_words(Path(self.report.file).parent / file)))
            except WordsError as error:
                self.report.add(self.at("words_file", number), "E096", error.message, error.help)
        if len(words) > MAX_WORDS:
            message = f"`{self.name}` has {len(words):,} words; at most {MAX_WORDS:,} are allowed"
            self.report.add(self.at(key=True), "E096", message)
            words.clear()
        return CustomType(
            tuple(patterns), finder(self.name, tuple(words), bool(keys.case_sensitive)) if words else None
        )


def _ignored(vocabulary: Vocabulary, definition: _Definition, number: int, value: str) -> str:
    """Return what an entity is compared with to be ignored."""
    name = definition.name
    entities = vocabulary.scanner(frozenset({name}))(value)
    entity = next((entity for entity in entities if entity.start == 0 and entity.end == len(value)), None)
    if entity is not None:
        return ignore_key(entity)
    host = value.lower().removeprefix("*.").rstrip(".")
    if name == "domain" and _HOST.fullmatch(host):
        return host
    # The definition of a custom type without any source is wrong and already reported.
    if name not in vocabulary.custom or vocabulary.custom[name] != CustomType():
        node = definition.at("ignore", number)
        definition.report.add(node, "E097", f"`{value}` does not read as `{name}`, so nothing would be ignored")
    return value


def lint_unused_types(files: Iterable[tuple[Tree, Report]], vocabulary: Vocabulary, used: frozenset[str]) -> None:
    """Warn about custom entity types that no rule uses."""
    for tree, report in files:
        for key, _ in entries_at(tree, "entities"):
            name = str(key.value)
            if name in vocabulary.custom and name not in used:
                report.add(key, "W030", f"no rule preserves or extracts `{name}`")
