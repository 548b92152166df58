"""The files of inline tests next to the rule file: samples to start from, and snapshots of results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

from reducer.errors import FileError, did_you_mean
from reducer.files import read_file
from reducer.formats.json_text import read_json, read_string
from reducer.rules import Rule, Ruleset, Test
from reducer.rules.parser import Place
from reducer.values import dump, loads

MAX_SAMPLE = 100_000_000
_TOO_DEEP = "it is nested too deeply"
Snapshots: TypeAlias = dict[Path, bytes | None]
"""The snapshots to write, and None for the samples of tests, which are never overwritten."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A return on which a rule is tested: what an inline `test` starts from, or a file beside the rule file.

    `place` is the place of the test or the tool in the rule file. `read` returns the content, or raises `FileError`.
    """

    rule: Rule
    name: str
    place: Place
    read: Callable[[], Any]
    test: Test | None = None

    @property
    def what(self) -> Literal["test", "sample"]:
        """What it is called."""
        return "test" if self.test else "sample"

    @property
    def title(self) -> str:
        """The name for messages."""
        return f"the test `{self.name}`" if self.test else f"the sample {Path(self.name).name}"


def file_of(rule: Rule, name: str) -> Path:
    """Return the path of a file that a test of a rule names."""
    return Path(rule.file).parent / name


def sample(rule: Rule, test: Test) -> Any:
    """Return the content that a test starts from: a text, or a plain JSON value. Raises `FileError`."""
    given = test.given
    if given.text is not None:
        return given.text
    if given.file is not None:
        file, beside = file_of(rule, given.file), f"samples/{given.file}"
        if not file.exists() and file_of(rule, beside).is_file():
            raise FileError(f"{file}: No such file or directory; {did_you_mean(beside)}")
        return read_sample(file)
    try:
        dump(given.json_)
    except ValueError:
        raise FileError("NaN and infinity are not JSON, so no stored tool return contains them") from None
    return given.json_


def samples_of(rule: Rule, ruleset: Ruleset) -> Iterator[Sample]:
    """Yield what the tests of a rule start from, and the files `samples/TOOL*.json` and `.txt` beside the rule file.

    A file belongs to the rule unless another tool of the ruleset has a longer name that it starts with.
    """
    for number, test in enumerate(rule.tests):
        yield Sample(rule, test.name, ("tests", number), partial(sample, rule, test), test)
    for file in sample_files(rule, ruleset):
        yield Sample(rule, f"samples/{file.name}", ("tool",), partial(read_sample, file))


def sample_files(rule: Rule, ruleset: Ruleset) -> Iterator[Path]:
    """Yield the files `samples/TOOL*.json` and `.txt` of a rule that none of its tests names.

    The ruleset may be another compilation of the rule files.
    """
    names = [(name, other) for other in ruleset.rules for name in other.tools]
    names.sort(key=lambda pair: "*" not in pair[0])  # an exact name replaces a glob
    tools = {name.rstrip("*"): other for name, other in names}
    named = {name for test in rule.tests for name in (test.given.file, test.expect.snapshot)}
    for file in sorted(file_of(rule, "samples").glob("*")):
        tool = max(filter(file.name.startswith, tools), key=len, default=None)
        is_for_rule = tool is not None and tools[tool].file == rule.file
        if is_for_rule and file.suffix in (".json", ".txt") and f"samples/{file.name}" not in named:
            yield file


def read_sample(file: Path) -> Any:
    """Return the content in a file, as `sample_content` does. Raises `FileError`."""
    try:
        data = read_file(file, MAX_SAMPLE)
    except OSError as error:
        raise FileError(f"{file}: {error.strerror or error}") from None
    return sample_content(str(file), data)


def sample_content(name: str, data: bytes) -> Any:
    """Return the content of a return that was saved as the file `name`. Raises `FileError`.

    This is the JSON value if the name ends in `.json`, and the text if it ends in `.txt`. Data with another name is the
    JSON object, list or text that it encodes, otherwise a text.
    """
    if not data.strip():
        raise FileError(f"{name}: empty; expected a history or a sample")
    try:
        if name.endswith(".txt"):
            return data.decode()
        text = data.decode("utf-8-sig")
        if name.lower().endswith(".json"):
            return loads(text, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        why = f": not UTF-8 text: byte 0x{error.object[error.start]:02x} at byte {error.start + 1:,}"
    except json.JSONDecodeError as error:
        why = f":{error.lineno}:{error.colno}: not JSON: {error.msg}; the name of a plain text file must end in .txt"
    except ValueError as error:
        why = f": {error}"
    except RecursionError:
        why = f": {_TOO_DEEP}"
    else:
        value = read_string(text) if text.lstrip().startswith('"') else read_json(text)
        return text if value is None else value
    raise FileError(f"{name}{why}")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"not JSON: it contains {word}")


def snapshots_for(rules: Iterable[Rule]) -> Snapshots:
    """Return a collection for the snapshots of some rules."""
    snapshots: Snapshots = {}
    for rule in rules:
        for test in rule.tests:
            if test.given.file:
                snapshots[Path(realpath(file_of(rule, test.given.file)))] = None
    return snapshots
