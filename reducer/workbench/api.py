"""The JSON API of the workbench: what the page asks for, answered by the functions of the command line.

| request | query or body | answer |
|---|---|---|
| GET `/api/rules` | | `folder`; `why_not`: why nothing can be saved; `rules`: names; `tools`; `skipped` files |
| GET `/api/rule` | `name`, also of a sample | `text`, `version` |
| PUT `/api/rule` | `name`, `text`, `version`, `sample_name`, `sample` | `version` |
| GET `/api/schema` | | the JSON Schema of rule files |
| POST `/api/run` | `name`, `text`, `content` | `problems`; `tools`; `samples`; `did`; `tree` |
| POST `/api/check` | `name`, `text` | `problems`, also of samples; `tests`: `name`, `line`, `failures` |
| POST `/api/places` | `text`, `line`, `content` | `places`: the paths that the step in a line selects |
| POST `/api/steps` | `text`, `keys`, `content` | `path` of the value at these keys; `steps`: `label`, `at`, `text` |
| POST `/api/draft` | `tool`, `content` | `name`, `text`, `sample_name`, `sample`, `saves` |

- `name` and `sample_name` are relative to the folder of rules. `text` is the text of a rule file. `version` identifies
  the text on disk and is empty if there is no file. A file that another program changed is not overwritten: the answer
  has the status 409 with the `text` and `version` on disk.
- Each of the `tools` in the histories has its `tool`, the name of its `rule`, the `count` of its returns, their
  `characters`, and its first `returns`: their `number`, `file`, `call` and `characters`.
- `content` is the number of a return in a history, or the text of a sample; to run a rule on nothing, it is null.
- `problems` are as in `check --format json`, `did` is as one of the `returns` of `run --format json`, and `tree` is
  that of `analysis/tree.py`. `tools` of a run are those in the histories that the rule is for, and `samples` the names
  of the samples of its tests.
- Any other answer has a status from 400 on and an `error`, which is a sentence for the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import escape
from http import HTTPStatus
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
from reducer.analysis.rule_tests import run_sample
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
from reducer.rules.parser import MAX_CHARS, MappingNode, ScalarNode, SequenceNode, locate
from reducer.rules.parser import parse as parse_rule
from reducer.rules.schema import schema_text
from reducer.values import Unreducible
from reducer.workbench.folder import ChangedError, RefusedName, located, read, rule_names, save
from reducer.workbench.recordings import Recordings, load
from reducer.workbench.steps import NoStep, offered, path_at, place_of, with_step

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
        raise ApiError(HTTPStatus.BAD_REQUEST, f"{first['loc'][0]}: {first['msg']}") from None
    except ChangedError as error:
        raise ApiError(HTTPStatus.CONFLICT, str(error), text=error.text, version=error.version) from None
    except OSError as error:
        status = HTTPStatus.NOT_FOUND if isinstance(error, FileNotFoundError) else HTTPStatus.FORBIDDEN
        raise ApiError(status, f"{error.filename}: {reason(error)}") from None
    except (FileError, RefusedName, NoStep, PathError, Unreducible, UnicodeError) as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, str(error)) from None
    return found if isinstance(found, bytes) else json.dumps(found).encode()


_endpoint = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
"""Checks the types of the fields of a request, which become keyword arguments."""


# --- rule files


@_endpoint
def _rules(bench: Bench) -> Any:
    tools_of = {name: _tools(text) for name, text in _texts(bench).items()}
    recordings = bench.recordings.result()
    tools = [{**tool, "rule": _rule_of(tool["tool"], tools_of)} for tool in recordings.tools]
    return {
        "folder": str(bench.folder.absolute()),
        "why_not": bench.read_only,
        "rules": list(tools_of),
        "tools": tools,
        "skipped": recordings.skipped,
    }


def _rule_of(tool: str, tools_of: Mapping[str, Iterable[str]]) -> str | None:
    """Return the name of the rule for a tool: one with its name, otherwise one with the longest glob."""
    found = []
    for name, patterns in tools_of.items():
        for pattern in patterns:
            if fnmatchcase(tool, pattern):
                found.append((is_glob(pattern), -len(pattern), name))
    return min(found)[2] if found else None


@_endpoint
def _rule(bench: Bench, *, name: str) -> Any:
    text, version = read(bench.folder, name)
    return {"text": text, "version": version}


@_endpoint
def _save(
    bench: Bench, *, name: str, text: Text, version: str, sample: str | None = None, sample_name: str = ""
) -> Any:
    if bench.read_only:
        raise ApiError(HTTPStatus.FORBIDDEN, bench.read_only)
    if not name.endswith((".yaml", ".yml")):
        raise RefusedName(f"`{name}` does not end in .yaml")
    with bench.saving:
        if sample is not None:
            try:
                save(bench.folder, sample_name, sample, "")
            except ChangedError:
                raise ApiError(HTTPStatus.BAD_REQUEST, f"{sample_name} exists already; delete or rename it") from None
        return {"version": save(bench.folder, name, text, version)}


@_endpoint
def _schema(bench: Bench) -> bytes:
    tools = {tool["tool"] for tool in bench.recordings.result().tools}
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
def _tools(text: str | bytes) -> list[str]:
    """Return the names and globs of the tools of a rule file, which may contain errors."""
    tree, _ = parse_rule(text, "")
    node = locate(tree, ("tool",)) if isinstance(tree, MappingNode) else None
    tools = []
    for item in node.items if isinstance(node, SequenceNode) else [node]:
        if isinstance(item, ScalarNode) and isinstance(item.value, str):
            tools.append(item.value)
    return tools


@_endpoint
def _draft(bench: Bench, *, tool: str, content: Content) -> Any:
    file = file_names([tool])[tool]
    for name, text in _texts(bench).items():
        if tool in _tools(text) or name == f"{file}.yaml":
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
    compiled, problems = _compiled(bench, name, text)
    did = tree = None
    if content is not None:
        value = _content(bench, content)
        outcome = Outcome(None, value)
        if compiled is not None:
            rule, ruleset = compiled
            outcome = attempt(alone(rule, ruleset), rule.name, value)
            explanation = explained(rule.name, value, outcome)
            did = {**return_as_json(explanation), "lost_entities": as_json(explanation.lost_entities)}
        tree = tree_of(value, outcome)
    samples: dict[str, None] = {}  # those that the tests start from
    for test in compiled[0].tests if compiled else ():
        if test.given.file:
            samples[str(PurePosixPath(name).parent / test.given.file)] = None
    tools = []
    for recorded in bench.recordings.result().tools:
        if _rule_of(recorded["tool"], {name: _tools(text)}):
            tools.append(recorded["tool"])
    return {
        "problems": list(map(problem_fields, problems)),
        "tools": tools,
        "samples": list(samples),
        "did": did,
        "tree": tree,
    }


@_endpoint
def _check(bench: Bench, *, name: str, text: Text) -> Any:
    compiled, problems = _compiled(bench, name, text)
    file = str(bench.folder / name)
    every, others = compile_rules({**_files(bench), file: text.encode()}.items())
    found = {one for one in (*problems, *others) if one.location.file == file}
    tests: list[Any] = []
    if compiled is not None:
        rule, ruleset = compiled
        whole = every or ruleset  # another file has errors
        found |= set(problems_when_run(rule, whole, text.encode()))
        tree, _ = parse_rule(text, file)
        for sample in samples_of(rule, whole):
            result = run_sample(whole, sample)
            if tree is not None:
                failures = [fields_of(one, "place", "what") for one in result.failures]
                line = locate(tree, (*sample.place, "name")).line
                tests.append({"name": sample.name, "line": line, "failures": failures})
    return {"problems": list(map(problem_fields, sorted(found, key=lambda one: one.location))), "tests": tests}


def _content(bench: Bench, content: Content) -> Any:
    """Return the content of a recorded return, or the one that the text of a sample contains."""
    if isinstance(content, str):
        return sample_content("the sample", content.encode("utf-8", "surrogatepass"))
    returns = bench.recordings.result().returns
    if not 0 <= content < len(returns):
        raise ApiError(HTTPStatus.NOT_FOUND, f"there is no return with the number {content:,}")
    return returns[content].content


def _compiled(bench: Bench, name: str, text: str) -> tuple[tuple[Rule, Ruleset] | None, list[Diagnostic]]:
    """Compile the text of a rule file with the entity types and conditions that other files define.

    Return its rule and its ruleset, or None if it has errors or no rule, and its problems.
    """
    file = str(located(bench.folder, name))
    texts: dict[str, bytes | str] = {}
    for other, data in _files(bench).items():
        if b"entities:" in data or b"conditions:" in data:
            texts[other] = data
    ruleset, problems = compile_rules({**texts, file: text}.items())
    own = [one for one in problems if one.location.file == file or one.severity == "error"]
    for rule in ruleset.rules if ruleset else ():
        if ruleset and rule.file == file:
            return (rule, ruleset), own
    return None, own


# --- places and steps


@_endpoint
def _places(bench: Bench, *, text: Text, line: int, content: Content) -> Any:
    places: list[str] = []
    with suppress(PathError, Unreducible):  # the path is being typed
        if path := path_at(text, line):
            for place, _ in query(compile_query(path), _content(bench, content)).places[:_MAX_PLACES]:
                places.append(place)
    return {"places": places}


@_endpoint
def _steps(bench: Bench, *, text: Text, keys: list[int | str], content: Content) -> Any:
    steps = []
    for path, action, value in offered(keys, _content(bench, content)):
        label = f"{action} {value}" if isinstance(value, int) else action
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
