"""What inline tests start from: content in the rule file, or in files beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from reducer.errors import HistoryError
from reducer.files import read_file
from reducer.histories.stored import Return, returns
from reducer.rules import Rule, Test
from reducer.rules.choose import rule_chooser
from reducer.strict_json import loads
from reducer.values import dump

MAX_SAMPLE = 100_000_000
_MAX_NAMED = 6
_TOO_DEEP = "it is nested too deeply"


class SampleError(ValueError):
    """A sample that cannot be used: `key` is the key of `given` that it is about."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


def folder_of(rule: Rule) -> Path:
    """Return the folder to which the files of a rule's tests are relative."""
    return Path(rule.file).parent


def sample(rule: Rule, test: Test) -> Any:
    """Return the content that a test of `rule` starts from: a text, or plain JSON. Raises `SampleError`."""
    given = test.given
    if given.text is not None:
        return given.text
    if given.file is not None:
        content, key = read_sample(folder_of(rule) / given.file, "file"), "file"
    elif given.history is not None:
        content, key = _from_history(rule, given.history, given.call), "history"
    else:
        content, key = given.json_, "json"
    try:
        dump(content)
    except ValueError:
        raise SampleError(key, "NaN and infinity are no JSON, and no tool return is stored with them") from None
    except RecursionError:
        raise SampleError(key, _TOO_DEEP) from None
    return content


def read_sample(file: Path, key: str) -> Any:
    """Read a file: the value of its JSON, or its text if the name ends in `.txt`. Raises `SampleError`."""
    try:
        if file.suffix == ".txt":
            return read_file(file, MAX_SAMPLE).decode("utf-8")
        return loads(read_file(file, MAX_SAMPLE).decode("utf-8-sig"), parse_constant=_refuse)
    except OSError as error:
        where, why = "", error.strerror or str(error)
    except UnicodeDecodeError as error:
        where, why = "", f"not UTF-8 text: byte 0x{error.object[error.start]:02x} at byte {error.start + 1:,}"
    except json.JSONDecodeError as error:
        where = f":{error.lineno}:{error.colno}"
        why = f"not JSON: {error.msg}; a text is a file whose name ends in .txt"
    except ValueError as error:
        where, why = "", str(error)
    except RecursionError:
        where, why = "", _TOO_DEEP
    raise SampleError(key, f"{file}{where}: {why}")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"not JSON: it contains {word}")


def _from_history(rule: Rule, name: str, call: str | None) -> Any:
    """Return the content of the tool return that a test names. Raises `SampleError`."""
    file = folder_of(rule) / name
    try:
        found = list(returns(read_file(file, MAX_SAMPLE)))
    except (OSError, HistoryError) as error:
        raise SampleError("history", f"{file}: {getattr(error, 'strerror', None) or error}") from None
    except RecursionError:
        raise SampleError("history", f"{file}: {_TOO_DEEP}") from None
    is_for = rule_chooser((rule,))
    of_tool = [one for one in found if is_for(one.tool) is not None]
    if not of_tool:
        tools = ", ".join(f"`{tool}`" for tool in list(dict.fromkeys(one.tool for one in found))[:_MAX_NAMED])
        others = f"returns of {tools}" if tools else "no tool returns"
        raise SampleError("history", f"{file}: contains no return of `{rule.name}`; there are {others}")
    chosen = [one for one in of_tool if call is None or call in (_id(one), f"{one.call_id}#{one.nth}")]
    key = "history" if call is None else "call"
    if len(chosen) != 1:
        ids = f"{', '.join(f'`{_id(one)}`' for one in of_tool[:_MAX_NAMED])}"
        more = " and more" if len(of_tool) > _MAX_NAMED else ""
        problem = (
            f"contains {len(chosen):,} returns of `{rule.name}`: choose one with `call`"
            if chosen
            else f"no return of `{rule.name}` has the call id `{call}`"
        )
        raise SampleError(key, f"{file}: {problem}; there are {ids}{more}")
    if chosen[0].untouched:
        raise SampleError(key, f"{file}: rules never apply to this return: {chosen[0].untouched}")
    return chosen[0].content


def _id(found: Return) -> str:
    return f"{found.call_id}#{found.nth}" if found.nth > 1 else found.call_id
