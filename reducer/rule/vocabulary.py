"""The mappings `entities:` of all rule files, read into one vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import Field, ValidationError

from reducer.entities.entity import GROUPS, TYPES
from reducer.entities.foreign import meant
from reducer.entities.own import Own, Vocabulary, spelling
from reducer.entities.patterns import Pattern, compile_pattern
from reducer.entities.syntax import PatternError
from reducer.entities.words import MAX_WORDS, WordsError, fault, finder, read_words
from reducer.errors import Location
from reducer.op.fields import Names
from reducer.rule.model import Model
from reducer.rule.problems import Report, report_all
from reducer.source import Mapping as MappingNode
from reducer.source import Tree, locate, plain

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_HOST = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_SOURCES = ("pattern", "words", "words_file")
_MOST_HOST = 253


class EntityKeys(Model):
    """What a rule file says of one entity type."""

    pattern: Names | None = Field(None, description="A regex, or several, for what is an entity of this type (needs the extra `patterns`).")
    words: Names | None = Field(None, description="The words that are entities of this type.")
    words_file: Names | None = Field(None, description="A text file beside the rule file with a word on each line.")
    case_sensitive: bool | None = Field(None, description="`true`: words count only as they are written here.")
    ignore: Names | None = Field(None, description="What reads as an entity of this type and is none.")
    synonyms: Literal["one"] | None = Field(None, description="`one`: of the names of one actor it is enough that one stays.")


def read_vocabulary(files: Iterable[tuple[str, Tree, Report]]) -> Vocabulary:
    """Read what rule files, each with its name, its tree and where its problems are noted, say of entity types.

    A type whose definition is wrong is known nevertheless, so that using it is no second problem.
    """
    own: dict[str, Own] = {}
    ignored: dict[str, tuple[str, ...]] = {}
    synonyms: set[str] = set()
    places: dict[str, Location] = {}
    to_ignore: list[tuple[str, tuple[str, ...], Tree, Report]] = []
    for file, tree, report in files:
        types = locate(tree, ("entities",))
        if not isinstance(tree, MappingNode) or not isinstance(types, MappingNode) or types is tree:
            continue
        for key, node in types.entries:
            name = str(key.value)
            if not _named(name, key, report):
                own.setdefault(name, Own())
                continue
            if name in places:
                report(
                    key, "E092", f"the entity type `{name}` is described already, at {places[name]}", "describe it once: it holds for all files of the folder"
                )
                continue
            places[name] = Location(file, key.line, key.column)
            if name not in TYPES:
                own[name] = Own()
            keys = _keys(node, tree, name, report)
            if keys is None or not _fitting(keys, name, key, tree, report):
                continue
            if name not in TYPES:
                own[name] = _own(keys, name, Path(file).parent, tree, report)
            if keys.synonyms:
                synonyms.add(name)
            if keys.ignore:
                to_ignore.append((name, keys.ignore, tree, report))
    known = Vocabulary(MappingProxyType(own))
    for name, values, tree, report in to_ignore:
        ignored[name] = tuple(_ignored(known, name, value, locate(tree, ("entities", name, "ignore", number)), report) for number, value in enumerate(values))
    return Vocabulary(known.own, MappingProxyType({name: frozenset(values) for name, values in ignored.items()}), frozenset(synonyms))


def _named(name: str, key: Tree, report: Report) -> bool:
    if name in GROUPS:
        report(key, "E094", f"`{name}` is a group of types", f"name the type: {', '.join(f'`{kind}`' for kind in GROUPS[name])}")
    elif not _NAME.fullmatch(name):
        report(key, "E091", f"`{name}` cannot name an entity type", "small letters, digits and `_`, a letter first, 40 characters at most")
    else:
        return True
    return False


def _keys(node: Tree, tree: Tree, name: str, report: Report) -> EntityKeys | None:
    if not isinstance(node, MappingNode):
        help = "such as `{pattern: 'INC-\\d{6}'}` or `{words_file: hosts.txt}`" if name not in TYPES else "such as `{ignore: [example.org]}`"
        report(node, "E020", f"expected what `{name}` is: a mapping", help)
        return None
    try:
        return EntityKeys.model_validate(plain(node))
    except ValidationError as error:
        report_all(report, error, tree, ("entities", name), lambda keys: EntityKeys.model_fields)
        return None


def _fitting(keys: EntityKeys, name: str, key: Tree, tree: Tree, report: Report) -> bool:
    """Tell whether the keys are those that this type may have."""

    def at(field: str) -> Tree:
        return locate(tree, ("entities", name, field), key=True)

    given = [field for field in EntityKeys.model_fields if getattr(keys, field) is not None]
    if keys.synonyms and name != "threat_actor":
        report(at("synonyms"), "E094", "only a `threat_actor` has synonyms", "")
        return False
    if name in TYPES:
        wrong = next((field for field in given if field in (*_SOURCES, "case_sensitive")), None)
        if wrong is not None:
            report(at(wrong), "E094", f"`{name}` is a built-in type, so `{wrong}` has no place here", "give a type of your own another name")
        elif not given:
            report(key, "E093", f"nothing is said of `{name}`", "add `ignore`")
        return wrong is None and bool(given)
    if not any(field in given for field in _SOURCES):
        near = meant(name, TYPES) or tuple(get_close_matches(name, TYPES, 1))
        report(key, "E093", f"`{name}` needs `pattern`, `words` or `words_file`", f"did you mean `{near[0]}`?" if near and keys.ignore else "")
        return False
    if keys.case_sensitive is not None and keys.words is None and keys.words_file is None:
        report(at("case_sensitive"), "E094", "`case_sensitive` is about words", "a pattern without case begins with `(?i)`")
        return False
    return True


def _own(keys: EntityKeys, name: str, folder: Path, tree: Tree, report: Report) -> Own:
    patterns: list[Pattern] = []
    for number, text in enumerate(keys.pattern or ()):
        try:
            patterns.append(compile_pattern(text))
        except PatternError as error:
            node = locate(tree, ("entities", name, "pattern", number))
            report(node, "E095", error.message, error.help, offset=error.column - 1, width=error.width)
    words: dict[str, None] = {}
    for number, word in enumerate(keys.words or ()):
        wrong = fault(word)
        if wrong:
            report(locate(tree, ("entities", name, "words", number)), "E096", wrong)
        else:
            words[word] = None
    for number, file in enumerate(keys.words_file or ()):
        node = locate(tree, ("entities", name, "words_file", number))
        try:
            words.update(dict.fromkeys(read_words(folder / file)))
        except WordsError as error:
            report(node, "E096", error.message, error.help)
    if len(words) > MAX_WORDS:
        report(locate(tree, ("entities", name), key=True), "E096", f"`{name}` has {len(words):,} words", f"at most {MAX_WORDS:,} are read")
        words.clear()
    return Own(tuple(patterns), finder(name, tuple(words), bool(keys.case_sensitive)) if words else None)


def _ignored(vocabulary: Vocabulary, name: str, value: str, node: Tree, report: Report) -> str:
    """Give what is compared to know a value that is no entity."""
    entity = next((e for e in vocabulary.scanner(frozenset({name}))(value) if e.start == 0 and e.end == len(value)), None)
    if entity is not None:
        return spelling(entity)
    plain_name = value.lower().removeprefix("*.").rstrip(".")
    if name == "domain" and len(plain_name) <= _MOST_HOST and _HOST.fullmatch(plain_name):
        return plain_name
    if name not in vocabulary.own or vocabulary.own[name] != Own():
        report(node, "E097", f"`{value}` does not read as `{name}`, so nothing would be ignored", "write one whole value, as it stands in texts")
    return value
