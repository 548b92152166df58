"""What a workbench works on: the rule files of a folder, as they are or edited, and the returns of histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from reducer.analysis.samples import sample_content
from reducer.errors import Diagnostic
from reducer.files import MAX_RULE_BYTES, read_file
from reducer.inputs.sources import Source
from reducer.rules import Rule, Ruleset, compile_rules
from reducer.rules.choose import is_glob
from reducer.rules.parser import MappingNode, ScalarNode, SequenceNode, locate, parse
from reducer.workbench.folder import RefusedName, located, rule_names
from reducer.workbench.recordings import Recordings, load

Content = int | str | tuple[str, str]
"""A return: its number in the histories, the text of a sample, or the name and the text of a sample's file."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a workbench works on: a folder of rules, and the returns of histories.

    `read_only` is the reason why rules cannot be saved, or empty.
    """

    folder: Path
    recordings: Future[Recordings]
    read_only: str = ""
    saving: AbstractContextManager[bool] = field(default_factory=Lock)


def open_bench(folder: Path, sources: Sequence[Source], read_only: str = "") -> Bench:
    """Return a workbench that reads its histories and rules in the background."""
    worker = ThreadPoolExecutor(1)
    bench = Bench(folder, worker.submit(load, sources), read_only)
    worker.submit(tools_of_rules, bench)  # the page finds the rules parsed
    return bench


class NoReturn(LookupError):
    """There is no return with a number. The message is for the user."""


def content_of(bench: Bench, content: Content) -> Any:
    """Return the content of a return, read as `check` reads it. Raises `NoReturn` and `FileError`."""
    if not isinstance(content, int):
        name, text = ("the sample", content) if isinstance(content, str) else content
        return sample_content(name, text.encode("utf-8", "surrogatepass"))
    returns = bench.recordings.result().returns
    if not 0 <= content < len(returns):
        raise NoReturn(f"there is no return with the number {content:,}")
    return returns[content].content


# --- rule files


def texts_of(bench: Bench) -> dict[str, bytes]:
    """Return the texts of the rule files that can be read, by name."""
    texts = {}
    for name in rule_names(bench.folder):
        with suppress(OSError, RefusedName):
            texts[name] = read_file(located(bench.folder, name), MAX_RULE_BYTES)
    return texts


def files_of(bench: Bench) -> dict[str, bytes]:
    """Return the texts of the rule files that can be read, by path."""
    return {str(bench.folder / name): text for name, text in texts_of(bench).items()}


def valid_files(bench: Bench) -> dict[str, bytes]:
    """Return the texts of the rule files without errors, by path."""
    files = files_of(bench)
    _, problems = compile_rules(files.items())
    for one in problems:
        if one.severity == "error":
            files.pop(one.location.file, None)
    return files


def tools_of_rules(bench: Bench) -> dict[str, list[str]]:
    """Return the names and globs of the tools of each rule file, by name."""
    return {name: tools_in(text) for name, text in texts_of(bench).items()}


@lru_cache(maxsize=500)
def tools_in(text: str | bytes) -> list[str]:
    """Return the names and globs of the tools of a rule file, which may contain errors."""
    tree, _ = parse(text, "")
    node = locate(tree, ("tool",)) if isinstance(tree, MappingNode) else None
    tools = []
    for item in node.items if isinstance(node, SequenceNode) else [node]:
        if isinstance(item, ScalarNode) and isinstance(item.value, str):
            tools.append(item.value)
    return tools


def rule_for(tool: str, tools_of: Mapping[str, Iterable[str]]) -> str | None:
    """Return the name of the rule for a tool: one with its name, otherwise one with the longest glob."""
    found = []
    for name, patterns in tools_of.items():
        for pattern in patterns:
            if fnmatchcase(tool, pattern):
                found.append((is_glob(pattern), -len(pattern), name))
    return min(found)[2] if found else None


# --- rules


def compiled(
    bench: Bench, name: str, text: str, *, with_all: bool = False
) -> tuple[tuple[Rule, Ruleset] | None, list[Diagnostic]]:
    """Compile the text of a rule file with the entity types and conditions that other files define.

    Return its rule and its ruleset, or None if it has errors or no rule, and its problems. The ruleset contains the
    other rules of the folder only `with_all`.
    """
    file = str(located(bench.folder, name))
    texts: dict[str, bytes | str] = {}
    for other, data in (valid_files(bench) if with_all else files_of(bench)).items():
        if with_all or b"entities:" in data or b"conditions:" in data:
            texts[other] = data
    ruleset, problems = compile_rules({**texts, file: text}.items())
    own = [one for one in problems if one.location.file == file or one.severity == "error"]
    if ruleset is not None:
        for rule in ruleset.rules:
            if rule.file == file:
                return (rule, ruleset), own
    return None, own
