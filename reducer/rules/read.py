"""Reads rule files into a ruleset, and reports every problem of every file in one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from errno import EFBIG, EINVAL
from hashlib import blake2b
from pathlib import Path as FilePath

from reducer.errors import Diagnostic, Location, RuleError
from reducer.operations import operations
from reducer.rules.choose import check_tool_names, rule_chooser
from reducer.rules.compile import Language, compile_rule
from reducer.rules.definitions import lint_unused_types, read_conditions, read_vocabulary
from reducer.rules.diagnostics import catalogue
from reducer.rules.model import Ruleset
from reducer.rules.parser import parse

MAX_RULE_BYTES = 1_000_000
"""Maximum size of a rule file in bytes."""

_SUFFIXES = (".yaml", ".yml")


def read_rules(*sources: FilePath | str) -> Ruleset:
    """Read rule files, and all `.yaml` and `.yml` files of folders, into a ruleset.

    Raise `RuleError` with every error of every file.
    """
    ruleset, problems = check_rules(*sources)
    errors = tuple(problem for problem in problems if problem.severity == "error")
    if ruleset is None or errors:
        raise RuleError(errors)
    return ruleset


def check_rules(*sources: FilePath | str) -> tuple[Ruleset | None, tuple[Diagnostic, ...]]:
    """Read rule files and return the ruleset, or None if there are errors, and all problems by file and line."""
    texts: list[tuple[str, bytes]] = []
    unreadable: list[Diagnostic] = []
    for file in (file for source in sources for file in _files(FilePath(source))):
        try:
            texts.append((str(file), read_file(file, MAX_RULE_BYTES)))
        except OSError as error:
            message = f"cannot read the file: {error.strerror or error}"
            unreadable.append(Diagnostic(Location(str(file), 1, 1), "E007", message))
    if not texts and not unreadable:
        names = ", ".join(str(source) for source in sources)
        return None, (Diagnostic(Location(names, 1, 1), "E006", "no rule files found", catalogue()["E006"].help),)
    ruleset, problems = compile_rules(texts)
    return (None if unreadable else ruleset), (*unreadable, *problems)


def compile_rules(texts: Iterable[tuple[str, str | bytes]]) -> tuple[Ruleset | None, tuple[Diagnostic, ...]]:
    """Compile rule texts, each with the name of its file, as `check_rules` does."""
    reports, files, digests = [], [], []
    for file, text in texts:
        tree, report = parse(text, file)
        reports.append(report)
        if tree is not None:
            files.append((tree, report))
            data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
            digests.append(blake2b(data, digest_size=6).hexdigest())
    language = Language(operations(), read_vocabulary(files), read_conditions(files))
    compiled = [compile_rule(*file, language, digest) for file, digest in zip(files, digests, strict=True)]
    check_tool_names(files)
    rules = tuple(rule for rule in compiled if rule is not None)
    if rules and not any(problem.severity == "error" for report in reports for problem in report.found):
        lint_unused_types(files, frozenset[str]().union(*(rule.types for rule in rules)))
    problems = tuple(problem for report in reports for problem in report.in_order())
    if any(problem.severity == "error" for problem in problems):
        return None, problems
    return Ruleset(rules, rule_chooser(rules), problems, language.vocabulary), problems


def _files(source: FilePath) -> Iterator[FilePath]:
    if source.is_dir():
        yield from sorted(file for file in source.iterdir() if file.suffix in _SUFFIXES and file.is_file())
    else:
        yield source


def read_file(path: FilePath, max_bytes: int) -> bytes:
    """Return the bytes of a regular file. Raises OSError for a folder, device or FIFO, and above `max_bytes`."""
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(EFBIG, f"larger than {max_bytes:,} bytes", str(path))
    return data
