"""The JSON API of the workbench: what the page asks for, answered by the functions of the command line.

| request | query or body | answer |
|---|---|---|
| GET `/api/rules` | | `folder`; `why_not`: why nothing can be saved; `rules`: `name`, `tools` |
| GET `/api/rule` | `name`, also of a sample | `text`, `version` |
| PUT `/api/rule` | `name`, `text`, `version`, `sample_name`, `sample` | `version` |
| GET `/api/schema` | | the JSON Schema of rule files |
| GET `/api/tools` | | `tools`: `tool`, `returns`, `characters`, `rule`; `skipped`: unreadable files |
| POST `/api/returns` | `tools`: names and globs | `returns`: `number`, `file`, `tool`, `call`, `characters`; `count` |
| POST `/api/run` | `name`, `text`, `content` | `problems`; `tools`; `samples`; `did`; `tree` |
| POST `/api/check` | `name`, `text` | `problems`, also of samples; `tests`: `name`, `line`, `failures`, sizes |
| POST `/api/query` | `path`, `content` | `places`: the paths that a path selects; `why` there are none |
| POST `/api/draft` | `tool`, `content` | `name`, `text`, `sample_name`, `sample`, `saves` |

- `name` and `sample_name` are relative to the folder of rules. `text` is the text of a rule file. `version` identifies
  the text on disk and is empty if there is no file. A file that another program changed is not overwritten: the answer
  has the status 409 with the `text` and `version` on disk.
- `content` is the number of a return in a history, or the text of a sample; to run a rule on nothing, it is null.
- `problems` are as in `check --format json`, `did` has the fields of `try --format json`, and `tree` is that of
  `analysis/tree.py`. `tools` are the names and globs of the rule, and `samples` the names of the samples of its tests.
- Any other answer has a status from 400 on and an `error`, which is a sentence for the user.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from glob import escape
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, validate_call

from reducer.analysis.drafting import draft_rule, file_names
from reducer.analysis.explanation import explained
from reducer.analysis.laws import alone
from reducer.analysis.query import compile_query, query
from reducer.analysis.rule_tests import Case, run_sample
from reducer.analysis.sample_checks import problems_when_run
from reducer.analysis.samples import samples_of
from reducer.analysis.tree import tree as tree_of
from reducer.cli.answers import read_answer
from reducer.cli.check import problem_fields
from reducer.cli.schema import schema_text
from reducer.cli.screen import CommandError, fields_of, reason
from reducer.cli.screen import plain as plain_json
from reducer.cli.views.json_report import return_as_json
from reducer.engine import Outcome, attempt
from reducer.errors import Diagnostic
from reducer.files import MAX_RULE_BYTES, read_file
from reducer.paths import Expression, PathError
from reducer.rules import Rule, Ruleset, compile_rules
from reducer.rules.choose import is_glob
from reducer.rules.diagnostics import written
from reducer.rules.parser import MAX_CHARS, Tree, locate, plain
from reducer.rules.parser import parse as parse_rule
from reducer.values import Unreducible
from reducer.workbench.folder import ChangedError, RefusedName, is_rule, located, read, rule_names, save
from reducer.workbench.recordings import Recordings

_MAX_RETURNS = 2000
_MAX_PLACES = 1000
Text = Annotated[str, Field(max_length=MAX_CHARS)]
Content = int | str


@dataclass(frozen=True, slots=True)
class Bench:
    """What a workbench works on: a folder of rules, and the returns of histories."""

    folder: Path
    recordings: Future[Recordings]
    can_write: bool = False
    saving: AbstractContextManager[bool] = field(default_factory=Lock)


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
    except FileNotFoundError as error:
        raise ApiError(HTTPStatus.NOT_FOUND, f"{error.filename}: {reason(error)}") from None
    except OSError as error:
        raise ApiError(HTTPStatus.FORBIDDEN, f"{error.filename}: {reason(error)}") from None
    except (CommandError, RefusedName, UnicodeError) as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, str(error)) from None
    return found if type(found) is bytes else json.dumps(found).encode()


_endpoint = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
"""Checks the types of the fields of a request, which become keyword arguments."""


# --- rule files


@_endpoint
def _rules(bench: Bench) -> Any:
    rules = [{"name": name, "tools": _tools(_data(text, name))} for name, text in _texts(bench).items()]
    return {"folder": str(bench.folder.absolute()), "why_not": _why_not(bench), "rules": rules}


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
    if not is_rule(name):
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
    if not bench.can_write:
        return "start the workbench with --write to save rules"
    existing = next(path for path in (bench.folder, *bench.folder.absolute().parents) if path.exists())
    return "" if os.access(existing, os.W_OK) else f"{existing} is read-only"


@_endpoint
def _schema(bench: Bench) -> bytes:
    tools = {answer.tool for answer in bench.recordings.result().answers}
    return schema_text(tools, [str(bench.folder)] if rule_names(bench.folder) else [])


def _texts(bench: Bench) -> dict[str, bytes]:
    """Return the texts of the rule files that can be read, by name."""
    texts = {}
    for name in rule_names(bench.folder):
        with suppress(OSError, RefusedName):
            texts[name] = read_file(located(bench.folder, name), MAX_RULE_BYTES)
    return texts


def _data(text: str | bytes, name: str) -> dict[str, Any]:
    """Return the keys of a rule file, which may contain errors, or nothing if it is not YAML."""
    tree, _ = parse_rule(text, name)
    data = plain(tree) if tree is not None else None
    return data if type(data) is dict else {}


def _tools(data: Mapping[str, Any]) -> list[str]:
    """Return the names and globs of the tools of a rule file."""
    tools = data.get("tool")
    return [tool for tool in (tools if type(tools) is list else [tools]) if type(tool) is str]


def _samples(data: Mapping[str, Any], name: str) -> list[str]:
    """Return the names of the samples that the tests of a rule file start from."""
    tests = [test for test in data.get("tests") or () if type(test) is dict and type(test.get("given")) is dict]
    files = dict.fromkeys(file for test in tests if type(file := test["given"].get("file")) is str)
    return [(PurePosixPath(name).parent / file).as_posix() for file in files]


# --- returns


@_endpoint
def _recorded_tools(bench: Bench) -> Any:
    recordings = bench.recordings.result()
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for entry, size in zip(recordings.answers, recordings.sizes, strict=True):
        counts[entry.tool] += 1
        sizes[entry.tool] += size
    patterns = [(tool, rule["name"]) for rule in _rules(bench)["rules"] for tool in rule["tools"]]
    patterns.sort(key=lambda pair: (is_glob(pair[0]), -len(pair[0])))  # an exact name, then the longest glob
    tools = [
        {
            "tool": tool,
            "returns": counts[tool],
            "characters": size,
            "rule": next((name for pattern, name in patterns if fnmatchcase(tool, pattern)), None),
        }
        for tool, size in sizes.most_common()
    ]
    return {"tools": tools, "skipped": recordings.skipped}


@_endpoint
def _returns(bench: Bench, *, tools: list[str]) -> Any:
    recordings = bench.recordings.result()
    found = [
        {"number": number, "file": one.file, "tool": one.tool, "call": one.call, "characters": recordings.sizes[number]}
        for number, one in enumerate(recordings.answers)
        if any(fnmatchcase(one.tool, tool) for tool in tools)
    ]
    return {"returns": found[:_MAX_RETURNS], "count": len(found)}


def _content(bench: Bench, content: Content) -> Any:
    """Return the content of a recorded return, or the one that the text of a sample contains."""
    if isinstance(content, str):
        return read_answer("the sample", content.encode("utf-8", "surrogatepass"))
    answers = bench.recordings.result().answers
    if not 0 <= content < len(answers):
        raise ApiError(HTTPStatus.NOT_FOUND, f"there is no return with the number {content:,}")
    return answers[content].content


@_endpoint
def _query(bench: Bench, *, path: str, content: Content) -> Any:
    try:
        expression = compile_query(path)
        if isinstance(expression, Expression):
            return {"places": [], "why": ""}
        found = query(expression, _content(bench, content))
    except (PathError, Unreducible) as error:
        return {"places": [], "why": str(error)}
    return {"places": [place for place, _ in found.places[:_MAX_PLACES]], "why": found.nothing.message}


@_endpoint
def _draft(bench: Bench, *, tool: str, content: Content) -> Any:
    file = file_names([tool])[tool]
    for rule in _rules(bench)["rules"]:
        if tool in rule["tools"] or rule["name"] == f"{file}.yaml":
            raise ApiError(HTTPStatus.BAD_REQUEST, f"`{tool}` already has a rule: {rule['name']}")
    drafted = draft_rule(tool, [_content(bench, content)], f"an answer of `{tool}`", file)
    if drafted is None:
        text = f"version: 1\ntool: {written(escape(tool))}\nsteps:\n"
        return {"name": f"{file}.yaml", "text": text, "sample_name": "", "sample": "", "saves": 0}
    draft, trial = drafted
    sample = {"sample_name": draft.sample_file, "sample": draft.sample}
    return {"name": draft.file, "text": draft.text, **sample, "saves": round(trial.saved, 4)}


# --- running a rule


@_endpoint
def _run(bench: Bench, *, name: str, text: Text, content: Content | None) -> Any:
    rule, ruleset, problems = _compiled(bench, name, text)
    data = _data(text, name)
    found: dict[str, Any] = {"problems": list(map(problem_fields, problems)), "did": None}
    found |= {"tools": _tools(data), "samples": _samples(data, name)}
    if content is None:
        return {**found, "tree": None}
    value = _content(bench, content)
    if rule is None or ruleset is None:
        return {**found, "tree": tree_of(value, Outcome(None, value))}
    outcome = attempt(alone(rule, ruleset), rule.name, value)
    did = explained(rule.name, value, outcome)
    lost = {"lost_entities": plain_json(did.lost_entities)}
    return {**found, "did": {**return_as_json(did), **lost}, "tree": tree_of(value, outcome)}


@_endpoint
def _check(bench: Bench, *, name: str, text: Text) -> Any:
    rule, ruleset, problems = _compiled(bench, name, text)
    file = str(bench.folder / name)
    texts = {str(bench.folder / other): data for other, data in _texts(bench).items()} | {file: text.encode()}
    every, others = compile_rules(texts.items())
    found = {one for one in (*problems, *others) if one.location.file == file}
    tests: list[Any] = []
    if rule is not None and ruleset is not None:
        whole = every or ruleset
        found |= {*problems_when_run(rule, whole, text.encode())}
        tree, _ = parse_rule(text, file)
        results = (run_sample(whole, sample) for sample in samples_of(rule, whole))
        tests = [_test_as_json(result, tree) for result in results if result is not None]
    return {"problems": [problem_fields(one) for one in sorted(found, key=lambda one: one.location)], "tests": tests}


def _compiled(bench: Bench, name: str, text: str) -> tuple[Rule | None, Ruleset | None, Iterable[Diagnostic]]:
    """Compile the text of a rule file with the entity types and conditions that other files define.

    Return its rule and its ruleset, or None if there are errors, and its problems.
    """
    file = str(located(bench.folder, name))
    others = {str(bench.folder / other): data for other, data in _texts(bench).items() if other != name}
    shared = [(other, data) for other, data in others.items() if b"entities:" in data or b"conditions:" in data]
    ruleset, problems = compile_rules([*shared, (file, text)])
    rule = next((rule for rule in ruleset.rules if rule.file == file), None) if ruleset else None
    return rule, ruleset, [one for one in problems if one.location.file == file or one.severity == "error"]


def _test_as_json(result: Case, tree: Tree | None) -> dict[str, Any]:
    sizes = {} if result.did is None else {"before": result.did.before, "after": result.did.after}
    failures = [fields_of(one, "place", "what") for one in result.failures]
    line = 1 if tree is None else locate(tree, result.place).line
    return {"name": result.name, "line": line, "failures": failures, **sizes}


_ENDPOINTS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("GET", "/api/rules"): _rules,
    ("GET", "/api/rule"): _rule,
    ("PUT", "/api/rule"): _save,
    ("GET", "/api/schema"): _schema,
    ("GET", "/api/tools"): _recorded_tools,
    ("POST", "/api/returns"): _returns,
    ("POST", "/api/run"): _run,
    ("POST", "/api/check"): _check,
    ("POST", "/api/query"): _query,
    ("POST", "/api/draft"): _draft,
}
