"""The files of inline tests next to the rule file: samples to start from, and snapshots of results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from reducer.analysis.texts import listed
from reducer.errors import FileError, HistoryError
from reducer.files import read_file
from reducer.formats.json_text import read_json, read_string
from reducer.histories.stored import returns
from reducer.rules import Rule, Ruleset, Test
from reducer.rules.choose import rule_chooser
from reducer.rules.parser import Place
from reducer.values import dump, loads

MAX_SAMPLE = 100_000_000
_TOO_DEEP = "it is nested too deeply"
Snapshots: TypeAlias = dict[Path, bytes | None]
"""The snapshots to write, and None for the samples of tests, which are never overwritten."""


@dataclass(frozen=True, slots=True)
class Sample:
    """An answer on which a rule is tested: what an inline `test` starts from, or a file beside the rule file.

    `place` is its place in the rule file. `read` returns the content, or raises `FileError`.
    """

    rule: Rule
    name: str
    place: Place
    read: Callable[[], Any]
    test: Test | None = None

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
        content = read_sample(file_of(rule, given.file))
    elif given.history is not None:
        content = _from_history(rule, given.history, given.call)
    else:
        content = given.json_
    try:
        dump(content)
    except ValueError:
        raise FileError("NaN and infinity are not JSON, so no stored tool return contains them") from None
    except RecursionError:
        raise FileError(_TOO_DEEP) from None
    return content


def samples_of(rule: Rule, ruleset: Ruleset) -> Iterator[Sample]:
    """Yield what the tests of a rule start from, and the files `samples/TOOL*.json` beside the rule file.

    A file belongs to the rule unless another tool of the ruleset has a longer name that it starts with.
    """
    for number, test in enumerate(rule.tests):
        yield Sample(rule, test.name, ("tests", number, "given"), partial(sample, rule, test), test)
    for file in sample_files(rule, ruleset):
        yield Sample(rule, f"samples/{file.name}", ("tool",), partial(read_sample, file))


def sample_files(rule: Rule, ruleset: Ruleset) -> Iterator[Path]:
    """Yield the files `samples/TOOL*.json` of a rule that none of its tests names."""
    names = [(name, other) for other in ruleset.rules for name in other.tools]
    names.sort(key=lambda pair: "*" not in pair[0])  # an exact name replaces a glob
    tools = {name.rstrip("*"): other for name, other in names}
    named = {name for test in rule.tests for name in (test.given.file, test.given.history, test.expect.snapshot)}
    for file in sorted(file_of(rule, "samples").glob("*.json")):
        tool = max(filter(file.name.startswith, tools), key=len, default=None)
        if tool is not None and tools[tool] is rule and f"samples/{file.name}" not in named:
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


def _from_history(rule: Rule, name: str, call: str | None) -> Any:
    """Return the content of the tool return that a test names. Raises `FileError`."""
    file = file_of(rule, name)
    try:
        found = list(returns(read_file(file, MAX_SAMPLE)))
    except (OSError, HistoryError) as error:
        raise FileError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    except RecursionError:
        raise FileError(f"{file}: {_TOO_DEEP}") from None
    is_for = rule_chooser((rule,))
    of_tool = [one for one in found if is_for(one.tool)]
    chosen = [one for one in of_tool if call is None or call in (one.name, f"{one.call_id}#{one.nth}")]
    if not of_tool:
        tools = listed(f"`{one.tool}`" for one in found) or "no tool"
        raise FileError(f"{file}: contains no return of `{rule.name}`; it contains returns of {tools}")
    if len(chosen) != 1:
        what = f"{len(chosen):,} returns of `{rule.name}`" if chosen else f"no return with the call id `{call}`"
        ids = listed(f"`{one.name}`" for one in of_tool)
        raise FileError(f"{file}: contains {what}; choose one with `call`: {ids}")
    if chosen[0].untouched:
        raise FileError(f"{file}: rules never apply to this return: {chosen[0].untouched}")
    return chosen[0].content


def snapshots_for(rules: Iterable[Rule]) -> Snapshots:
    """Return a collection for the snapshots of some rules."""
    names = ((rule, name) for rule in rules for test in rule.tests for name in (test.given.file, test.given.history))
    return {Path(realpath(file_of(rule, name))): None for rule, name in names if name}
