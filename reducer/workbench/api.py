"""The JSON API of the workbench: what the page asks for, answered by the functions of the command line.

| request | query or body | answer |
|---|---|---|
| GET `/api/rules` | | `folder`; `why_not`: why nothing can be saved; `rules`; `tools`; `skipped`: unreadable files |
| GET `/api/rule` | `name`, also of a sample | `text`, `version` |
| PUT `/api/rule` | `name`, `text`, `version`, `sample_name`, `sample` | `version` |
| GET `/api/schema` | | the JSON Schema of rule files |
| POST `/api/run` | `name`, `text`, `content` | `problems`; `tools`; `samples`; `did`; `tree` |
| POST `/api/check` | `name`, `text` | `problems`, also of samples; `tests`: `name`, `line`, `failures`, sizes |
| POST `/api/places` | `text`, `line`, `content` | `places`: the paths that the step in a line selects |
| POST `/api/steps` | `text`, `keys`, `content` | `path` of the value at these keys; `steps`: `label`, `at`, `text` |
| POST `/api/draft` | `tool`, `content` | `name`, `text`, `sample_name`, `sample`, `saves` |

- `name` and `sample_name` are relative to the folder of rules. `text` is the text of a rule file. `version` identifies
  the text on disk and is empty if there is no file. A file that another program changed is not overwritten: the answer
  has the status 409 with the `text` and `version` on disk.
- Each of the `rules` has a `name` and its `tools`. Each of the `tools` in the histories has its `tool`, the name of its
  `rule`, the `count` of its returns, their `characters`, and its first `returns`: their `number`, `file`, `call` and
  `characters`.
- `content` is the number of a return in a history, or the text of a sample; to run a rule on nothing, it is null.
- `problems` are as in `check --format json`, `did` is as one of the `returns` of `run --format json`, and `tree` is
  that of `analysis/tree.py`. `tools` of a run are those in the histories that the rule is for, and `samples` the names
  of the samples of its tests.
- Any other answer has a status from 400 on and an `error`, which is a sentence for the user.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import escape
from http import HTTPStatus
from operator import itemgetter
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, validate_call

from reducer.analysis.drafting import draft_rule, file_names
from reducer.analysis.explanation import explained
from reducer.analysis.json_report import return_as_json
from reducer.analysis.laws import alone
from reducer.analysis.query import compile_query, query
from reducer.analysis.records import as_json, fields_of, problem_fields
from reducer.analysis.rule_tests import Case, run_sample
from reducer.analysis.sample_checks import problems_when_run
from reducer.analysis.samples import sample_content, samples_of
from reducer.analysis.tree import tree as tree_of
from reducer.engine import Outcome, attempt
from reducer.errors import Diagnostic, FileError, reason
from reducer.files import MAX_RULE_BYTES, read_file
from reducer.inputs.sources import Source
from reducer.paths import PathError
from reducer.rules import Rule, Ruleset, compile_rules
from reducer.rules.choose import is_glob
from reducer.rules.diagnostics import written
from reducer.rules.parser import MAX_CHARS, Tree, locate, plain
from reducer.rules.parser import parse as parse_rule
from reducer.rules.schema import schema_text
from reducer.values import Unreducible
from reducer.workbench.folder import ChangedError, RefusedName, located, read, rule_names, save
from reducer.workbench.recordings import Recordings, load
from reducer.workbench.steps import NoStep, offered, path_at, place_of, with_step

_MAX_RETURNS = 1000
_MAX_PLACES = 1000
Text = Annotated[str, Field(max_length=MAX_CHARS)]
Content = int | str


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
    worker.submit(_rules, bench)  # the page finds the rules parsed
    return bench


class ApiError(Exception):
    """A request that cannot be answered. The message is for the user, and `more` is added to the answer."""

    def __init__(self, status: HTTPStatus, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.more = more


def answer(bench: Bench, method: str, path: str, given: Mapping[str, Any]) -> bytes:
    """Answer a request with JSON. `given` are the fields of its query or body. Raises `ApiError`."""
    endpoint = _ENDPOINTS.get((method, path))
    if endpoint is None:
        raise ApiError(HTTPStatus.NOT_FOUND, f"there is no {method} {path}")
    try:
        found = endpoint(bench, **given)
    except ValidationError as error:
        first = error.errors()[0]
        raise ApiError(HTTPStatus.BAD_REQUEST, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ChangedError as error:
        raise ApiError(HTTPStatus.CONFLICT, str(error), text=error.text, version=error.version) from None
    except OSError as error:
        status = HTTPStatus.NOT_FOUND if isinstance(error, FileNotFoundError) else HTTPStatus.FORBIDDEN
        raise ApiError(status, f"{error.filename}: {reason(error)}") from None
    except (FileError, RefusedName, NoStep, PathError, Unreducible, UnicodeError) as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, str(error)) from None
    return found if type(found) is bytes else json.dumps(found).encode()


_endpoint = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
"""Checks the types of the fields of a request, which become keyword arguments."""


# --- rule files


@_endpoint
def _rules(bench: Bench) -> Any:
    rules = []
    for name, text in _texts(bench).items():
        rules.append({"name": name, "tools": _tools(_data(text))})
    recordings = bench.recordings.result()
    return {
        "folder": str(bench.folder.absolute()),
        "why_not": _why_not(bench),
        "rules": rules,
        "tools": _recorded_tools(recordings, rules),
        "skipped": recordings.skipped,
    }


def _recorded_tools(recordings: Recordings, rules: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the tools in the histories with their first returns, the largest tool first."""
    tools: dict[str, dict[str, Any]] = {}
    for number, (one, size) in enumerate(zip(recordings.returns, recordings.sizes, strict=True)):
        if one.tool not in tools:
            rule = _rule_of(one.tool, rules)
            tools[one.tool] = {"tool": one.tool, "rule": rule, "count": 0, "characters": 0, "returns": []}
        tool = tools[one.tool]
        tool["count"] += 1
        tool["characters"] += size
        if tool["count"] <= _MAX_RETURNS:
            tool["returns"].append({"number": number, "file": one.file, "call": one.call, "characters": size})
    return sorted(tools.values(), key=lambda tool: -tool["characters"])


def _rule_of(tool: str, rules: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the name of the rule for a tool: one with its name, otherwise one with the longest glob."""
    found = []
    for rule in rules:
        for pattern in rule["tools"]:
            if fnmatchcase(tool, pattern):
                found.append((is_glob(pattern), -len(pattern), rule["name"]))
    return min(found)[2] if found else None


@_endpoint
def _rule(bench: Bench, *, name: str) -> Any:
    text, version = read(bench.folder, name)
    return {"text": text, "version": version}


@_endpoint
def _save(
    bench: Bench, *, name: str, text: Text, version: str, sample: str | None = None, sample_name: str = ""
) -> Any:
    if why := _why_not(bench):
        raise ApiError(HTTPStatus.FORBIDDEN, why)
    if not name.endswith((".yaml", ".yml")):
        raise RefusedName(f"`{name}` does not end in .yaml")
    with bench.saving:
        if sample is not None:
            try:
                save(bench.folder, sample_name, sample, "")
            except ChangedError:
                raise ApiError(HTTPStatus.BAD_REQUEST, f"{sample_name} exists already; delete or rename it") from None
        return {"version": save(bench.folder, name, text, version)}


def _why_not(bench: Bench) -> str:
    """Return why rules cannot be saved, or an empty text."""
    existing = next(path for path in (bench.folder, *bench.folder.absolute().parents) if path.exists())
    return bench.read_only or ("" if os.access(existing, os.W_OK) else f"{existing} is read-only")


@_endpoint
def _schema(bench: Bench) -> bytes:
    tools = {one.tool for one in bench.recordings.result().returns}
    return schema_text(tools, map(bench.folder.joinpath, rule_names(bench.folder)))


def _texts(bench: Bench) -> dict[str, bytes]:
    """Return the texts of the rule files that can be read, by name."""
    texts = {}
    for name in rule_names(bench.folder):
        with suppress(OSError, RefusedName):
            texts[name] = read_file(located(bench.folder, name), MAX_RULE_BYTES)
    return texts


def _files(bench: Bench) -> dict[str, bytes]:
    """Return the texts of the rule files that can be read, by path."""
    return {str(bench.folder / name): text for name, text in _texts(bench).items()}


@lru_cache(maxsize=500)
def _data(text: str | bytes) -> dict[str, Any]:
    """Return the keys of a rule file, which may contain errors, or nothing if it is not YAML."""
    tree, _ = parse_rule(text, "")
    data = plain(tree) if tree is not None else None
    return data if type(data) is dict else {}


def _tools(data: Mapping[str, Any]) -> list[str]:
    """Return the names and globs of the tools of a rule file."""
    tools = data.get("tool")
    if type(tools) is not list:
        tools = [tools]
    return [tool for tool in tools if type(tool) is str]


@_endpoint
def _draft(bench: Bench, *, tool: str, content: Content) -> Any:
    file = file_names([tool])[tool]
    for name, text in _texts(bench).items():
        if tool in _tools(_data(text)) or name == f"{file}.yaml":
            raise ApiError(HTTPStatus.BAD_REQUEST, f"`{tool}` already has a rule: {name}")
    drafted = draft_rule(tool, [_content(bench, content)], f"a return of `{tool}`", file)
    if drafted is None:
        empty = f"version: 1\ntool: {written(escape(tool))}\nsteps:\n"
        return {"name": f"{file}.yaml", "text": empty, "sample_name": "", "sample": "", "saves": 0}
    draft, trial = drafted
    sample = {"sample_name": draft.sample_file, "sample": draft.sample}
    return {"name": draft.file, "text": draft.text, **sample, "saves": round(trial.saved, 4)}


# --- running a rule


@_endpoint
def _run(bench: Bench, *, name: str, text: Text, content: Content | None) -> Any:
    rule, ruleset, problems = _compiled(bench, name, text)
    rules = [{"name": name, "tools": _tools(_data(text))}]
    recorded = dict.fromkeys(one.tool for one in bench.recordings.result().returns)
    samples: dict[str, None] = {}  # those that the tests start from
    for test in rule.tests if rule else ():
        if test.given.file:
            samples[str(PurePosixPath(name).parent / test.given.file)] = None
    found: dict[str, Any] = {
        "problems": list(map(problem_fields, problems)),
        "tools": [tool for tool in recorded if _rule_of(tool, rules)],
        "samples": list(samples),
        "did": None,
        "tree": None,
    }
    if content is None:
        return found
    value = _content(bench, content)
    if rule is None or ruleset is None:
        return {**found, "tree": tree_of(value, Outcome(None, value))}
    outcome = attempt(alone(rule, ruleset), rule.name, value)
    did = explained(rule.name, value, outcome)
    did_as_json = {**return_as_json(did), "lost_entities": as_json(did.lost_entities)}
    return {**found, "did": did_as_json, "tree": tree_of(value, outcome)}


@_endpoint
def _check(bench: Bench, *, name: str, text: Text) -> Any:
    rule, ruleset, problems = _compiled(bench, name, text)
    file = str(bench.folder / name)
    every, others = compile_rules({**_files(bench), file: text.encode()}.items())
    found = {one for one in (*problems, *others) if one.location.file == file}
    tests: list[Any] = []
    if rule is not None and ruleset is not None:
        whole = every or ruleset
        found |= set(problems_when_run(rule, whole, text.encode()))
        tree, _ = parse_rule(text, file)
        for sample in samples_of(rule, whole):
            result = run_sample(whole, sample)
            if result is not None:
                tests.append(_test_as_json(result, tree))
    return {"problems": list(map(problem_fields, sorted(found, key=lambda one: one.location))), "tests": tests}


def _content(bench: Bench, content: Content) -> Any:
    """Return the content of a recorded return, or the one that the text of a sample contains."""
    if isinstance(content, str):
        return sample_content("the sample", content.encode("utf-8", "surrogatepass"))
    returns = bench.recordings.result().returns
    if not 0 <= content < len(returns):
        raise ApiError(HTTPStatus.NOT_FOUND, f"there is no return with the number {content:,}")
    return returns[content].content


def _compiled(bench: Bench, name: str, text: str) -> tuple[Rule | None, Ruleset | None, Iterable[Diagnostic]]:
    """Compile the text of a rule file with the entity types and conditions that other files define.

    Return its rule and its ruleset, or None if there are errors, and its problems.
    """
    file = str(located(bench.folder, name))
    texts: dict[str, bytes | str] = {}
    for other, data in _files(bench).items():
        if b"entities:" in data or b"conditions:" in data:
            texts[other] = data
    ruleset, problems = compile_rules({**texts, file: text}.items())
    rule = next((rule for rule in ruleset.rules if rule.file == file), None) if ruleset else None
    return rule, ruleset, [one for one in problems if one.location.file == file or one.severity == "error"]


def _test_as_json(result: Case, tree: Tree | None) -> dict[str, Any]:
    sizes = {} if result.did is None else {"before": result.did.before, "after": result.did.after}
    failures = [fields_of(one, "place", "what") for one in result.failures]
    line = 1 if tree is None else locate(tree, (*result.sample.place, "name")).line
    return {"name": result.sample.name, "line": line, "failures": failures, **sizes}


# --- places and steps


@_endpoint
def _places(bench: Bench, *, text: Text, line: int, content: Content) -> Any:
    places: list[str] = []
    with suppress(PathError, Unreducible):  # the path is being typed
        if path := path_at(text, line):
            places += map(itemgetter(0), query(compile_query(path), _content(bench, content)).places)
    return {"places": places[:_MAX_PLACES]}


@_endpoint
def _steps(bench: Bench, *, text: Text, keys: list[int | str], content: Content) -> Any:
    steps = []
    for path, action, value in offered(keys, _content(bench, content)):
        label = action if type(value) is list else f"{action} {value}"
        steps.append({"label": label, "at": path, "text": with_step(text, path, action, value)})
    return {"path": place_of(keys), "steps": steps}


_ENDPOINTS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("GET", "/api/rules"): _rules,
    ("GET", "/api/rule"): _rule,
    ("PUT", "/api/rule"): _save,
    ("GET", "/api/schema"): _schema,
    ("POST", "/api/run"): _run,
    ("POST", "/api/check"): _check,
    ("POST", "/api/places"): _places,
    ("POST", "/api/steps"): _steps,
    ("POST", "/api/draft"): _draft,
}
