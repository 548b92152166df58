"""What inline tests start from: given in the rule file, or read from files beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from reducer.errors import HistoryError
from reducer.reading import first_fault, loads
from reducer.rule import Rule, Test
from reducer.rule.choose import rule_chooser
from reducer.stored import Return, returns
from reducer.values import dump

_NAMED = 6
_TOO_DEEP = "it is nested deeper than can be read"


class SampleError(ValueError):
    """A sample that cannot be used: `key` is the key of `given` that it is about, the message says why."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


def folder_of(rule: Rule) -> Path:
    """Give the folder that the files of a rule's tests are named from."""
    return Path(rule.file).parent


def sample(rule: Rule, test: Test) -> Any:
    """Give the content that a test of `rule` starts from: a text, or plain JSON. Raises `SampleError`."""
    given = test.given
    if given.text is not None:
        return given.text
    if given.file is not None:
        content = read_sample(folder_of(rule) / given.file, "file")
        key = "file"
    elif given.history is not None:
        content = _returned(rule, given.history, given.call)
        key = "history"
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
    """Read a file: what its JSON says, or the text of one whose name ends in `.txt`. Raises `SampleError`."""
    try:
        if file.suffix == ".txt":
            return file.read_bytes().decode("utf-8")
        return loads(file.read_bytes().decode("utf-8-sig"), parse_constant=_no_number)
    except OSError as error:
        raise SampleError(key, f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SampleError(key, f"{file}: not UTF-8 text: byte 0x{error.object[error.start]:02x} at byte {error.start + 1:,}") from None
    except json.JSONDecodeError as error:
        fault = first_fault(error)
        if fault is None:
            raise SampleError(key, f"{file}: {_TOO_DEEP}") from None
        raise SampleError(key, f"{file}:{fault.lineno}:{fault.colno}: not JSON: {fault.msg}; a text is a file whose name ends in .txt") from None
    except ValueError as error:
        raise SampleError(key, f"{file}: {error}") from None
    except RecursionError:
        raise SampleError(key, f"{file}: {_TOO_DEEP}") from None


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"not JSON: it holds {word}")


def _returned(rule: Rule, name: str, call: str | None) -> Any:
    """Give the content of the return that a test names. Raises `SampleError`."""
    file = folder_of(rule) / name
    try:
        found = list(returns(file.read_bytes()))
    except (OSError, HistoryError) as error:
        raise SampleError("history", f"{file}: {getattr(error, 'strerror', None) or error}") from None
    except RecursionError:
        raise SampleError("history", f"{file}: {_TOO_DEEP}") from None
    is_for = rule_chooser((rule,))
    of_tool = [one for one in found if is_for(one.tool) is not None]
    chosen = [one for one in of_tool if call is None or call in (one.call_id if one.nth == 1 else "", f"{one.call_id}#{one.nth}")]
    key = "history" if call is None else "call"
    if not of_tool:
        tools = ", ".join(f"`{tool}`" for tool in list(dict.fromkeys(one.tool for one in found))[:_NAMED])
        raise SampleError("history", f"{file}: no return of `{rule.name}` in it; there are {f'returns of {tools}' if tools else 'no tool returns'}")
    if len(chosen) != 1:
        ids = f"there are {', '.join(f'`{_id(one)}`' for one in of_tool[:_NAMED])}{' and more' if len(of_tool) > _NAMED else ''}"
        what = f"{len(chosen):,} returns of `{rule.name}` in it: choose one by `call`" if chosen else f"no return of `{rule.name}` has the call id `{call}`"
        raise SampleError(key, f"{file}: {what}; {ids}")
    if chosen[0].untouched:
        raise SampleError(key, f"{file}: rules never apply to this return: {chosen[0].untouched}")
    return chosen[0].content


def _id(found: Return) -> str:
    return f"{found.call_id}#{found.nth}" if found.nth > 1 else found.call_id
