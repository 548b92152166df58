"""The JSON API of the workbench: what the page asks for, answered by the functions of the command line.

| request | query or body | answer |
|---|---|---|
| GET `/api/rules` | | `folder`; `why_not`: why nothing can be saved; `rules`; `tools`; `skipped` files |
| GET `/api/rule` | `name`, also of a sample | `text`, `version`, `samples` |
| PUT `/api/rule` | `name`, `text`, `version`, `sample_name`, `sample` | `version` |
| POST `/api/rename` | `name`, `version`, `to` | |
| POST `/api/delete` | `name`, `version` | |
| GET `/api/schema` | | the JSON Schema of rule files |
| GET `/api/return` | `number` | `text` and `ending` of the file for a return of a history |
| POST `/api/which` | `tool`, `content` | `rules` that apply: `name`, `is_own`, and `by`: `name` or `shape` |
| POST `/api/run` | `name`, `text`, `content`, `off` | `problems`; `tools`; `did`; `tree` |
| POST `/api/check` | as `run`, `sample_name`, `sample` | `problems`; `tests`: `name`, `line`, `failures`; `samples` |
| POST `/api/places` | `text`, `line`, `content` | `places`: the paths that the step in a line selects |
| POST `/api/query` | `text`, `expression`, `content` | `places` and their `count`, or the `value`; `nothing`: why |
| POST `/api/steps` | `text`, `keys`, `content`, `name`, `sample_name` | `path`, `steps`, `test` |
| POST `/api/move` | `text`, `line`, `by` | `text` in which a step is exchanged with the one before or after it |
| POST `/api/draft` | `tool`, `content` | `name`, `text`, `sample_name`, `sample`, `saves` |

- `name` and `sample_name` are relative to the folder of rules. `text` is the text of a rule file. `version` identifies
  the text on disk and is empty if there is no file. A file that another program changed is not overwritten, renamed or
  deleted: the answer has the status 409 with the `text` and `version` on disk.
- Each of the `rules` has its `name` and the names and globs of its `tools`. Each of the `tools` in the histories has
  its `tool`, the name of its `rule`, the `count` of its returns, their `characters`, and its first `returns`: their
  `number`, `file`, `call` and `characters`.
- `content` is the number of a return in a history, the text of a sample, or the name and the text of a file with one,
  which is read as `check` reads it; to run a rule on nothing, it is null. It is also a sample of `check`, and so is the
  `sample` that is not saved yet. `off` are the lines of steps to run without.
- `problems` are as in `check --format json`, `did` is as one of the `returns` of `run --format json`, and `tree` is
  that of `analysis/tree.py`. `tools` of a run are those in the histories that the rule is for, and `samples` the names
  of the files with its samples.
- Each of the `steps` to offer for the value at `keys` has a `label`, the path that it is `at`, and the `text` with it.
- `test` is null, or the `text` with one more test, which expects this value in the result. `sample_name` is
  the file of `content`, or empty: then `test` has the `sample_name` and the `sample` to save with the rule.
- Any other answer has a status from 400 on and an `error`, which is a sentence for the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from glob import escape
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError, validate_call

from reducer.analysis.drafting import draft_rule, file_names
from reducer.analysis.explanation import explained
from reducer.analysis.json_report import return_as_json
from reducer.analysis.laws import alone
from reducer.analysis.query import compile_query, query
from reducer.analysis.records import as_json, fields_of, problem_fields
from reducer.analysis.rule_tests import run_sample
from reducer.analysis.sample_checks import problems_when_run
from reducer.analysis.samples import Sample, sample_content, samples_of
from reducer.analysis.texts import excerpt, json_text
from reducer.analysis.tree import tree as tree_of
from reducer.engine import Outcome, attempt
from reducer.errors import FileError, reason
from reducer.paths import Path as Places
from reducer.paths import PathError
from reducer.rules import Rule, Ruleset
from reducer.rules.diagnostics import written
from reducer.rules.parser import MAX_CHARS, locate
from reducer.rules.parser import parse as parse_rule
from reducer.rules.schema import schema_text
from reducer.values import Unreducible
from reducer.workbench import bench as benches
from reducer.workbench.bench import Bench, Content, NoReturn, content_of, open_bench, rule_for, tools_in
from reducer.workbench.folder import ChangedError, RefusedName, delete, read, rename, rule_names, save
from reducer.workbench.offers import expectation, offered, place_of
from reducer.workbench.steps import NoStep, moved, notation_at, path_at, with_step, with_test, without_steps
from reducer.workbench.which import which_rules

__all__ = ["ApiError", "Bench", "answer", "open_bench"]

_MAX_PLACES = 1000
_EXCERPT, _MAX_VALUE = 100, 2000
"""The characters of the value at a place, and of the value of an expression."""
_DOES_NOTHING = "E015"
"""The problem of a rule of which all steps are switched off."""
Text = Annotated[str, Field(max_length=MAX_CHARS)]


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
    except NoReturn as error:
        raise ApiError(HTTPStatus.NOT_FOUND, str(error)) from None
    except (FileError, RefusedName, NoStep, PathError, Unreducible, UnicodeError) as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, str(error)) from None
    return found if isinstance(found, bytes) else json.dumps(found).encode()


_endpoint = validate_call(config=ConfigDict(arbitrary_types_allowed=True))
"""Checks the types of the fields of a request, which become keyword arguments."""


# --- rule files


@_endpoint
def _rules(bench: Bench) -> Any:
    tools_of = benches.tools_of_rules(bench)
    recordings = bench.recordings.result()
    tools = [{**tool, "rule": rule_for(tool["tool"], tools_of)} for tool in recordings.tools]
    return {
        "folder": str(bench.folder.absolute()),
        "why_not": bench.read_only,
        "rules": [{"name": name, "tools": patterns} for name, patterns in tools_of.items()],
        "tools": tools,
        "skipped": recordings.skipped,
    }


@_endpoint
def _rule(bench: Bench, *, name: str) -> Any:
    text, version = read(bench.folder, name)
    samples: list[str] = []
    if name.endswith((".yaml", ".yml")) and len(text) <= MAX_CHARS:
        found, _ = benches.compiled(bench, name, text, with_all=True)
        samples = _sample_names(bench, *found) if found else []
    return {"text": text, "version": version, "samples": samples}


def _check_can_write(bench: Bench, *names: str) -> None:
    """Raise an error if nothing can be saved, or if one of the names is not that of a rule file."""
    if bench.read_only:
        raise ApiError(HTTPStatus.FORBIDDEN, bench.read_only)
    for name in names:
        if not name.endswith((".yaml", ".yml")):
            raise RefusedName(f"`{name}` does not end in .yaml")


@_endpoint
def _save(
    bench: Bench, *, name: str, text: Text, version: str, sample: str | None = None, sample_name: str = ""
) -> Any:
    _check_can_write(bench, name)
    with bench.saving:
        if sample is not None:
            try:
                save(bench.folder, sample_name, sample, "")
            except ChangedError:
                raise ApiError(HTTPStatus.BAD_REQUEST, f"{sample_name} exists already; delete or rename it") from None
        return {"version": save(bench.folder, name, text, version)}


@_endpoint
def _rename(bench: Bench, *, name: str, version: str, to: str) -> Any:
    _check_can_write(bench, name, to)
    with bench.saving:
        rename(bench.folder, name, version, to)
    return {}


@_endpoint
def _delete(bench: Bench, *, name: str, version: str) -> Any:
    _check_can_write(bench, name)
    with bench.saving:
        delete(bench.folder, name, version)
    return {}


@_endpoint
def _schema(bench: Bench) -> bytes:
    tools = {tool["tool"] for tool in bench.recordings.result().tools}
    return schema_text(tools, map(bench.folder.joinpath, rule_names(bench.folder)))


@_endpoint
def _draft(bench: Bench, *, tool: str, content: Content) -> Any:
    file = file_names([tool])[tool]
    for name, tools in benches.tools_of_rules(bench).items():
        if tool in tools or name == f"{file}.yaml":
            raise ApiError(HTTPStatus.BAD_REQUEST, f"`{tool}` already has a rule: {name}")
    drafted = draft_rule(tool, [content_of(bench, content)], f"a return of `{tool}`", file)
    if drafted is None:
        empty = f"version: 1\ntool: {written(escape(tool))}\nsteps:\n"
        return {"name": f"{file}.yaml", "text": empty, "sample_name": "", "sample": "", "saves": 0}
    draft, trial = drafted
    sample = {"sample_name": draft.sample_file, "sample": draft.sample}
    return {"name": draft.file, "text": draft.text, **sample, "saves": round(trial.saved, 4)}


# --- returns


@_endpoint
def _return(bench: Bench, *, number: int) -> Any:
    text, ending = _file_of(content_of(bench, number))
    return {"text": text, "ending": ending}


def _file_of(content: Any) -> tuple[str, str]:
    """Return the text and the ending of the name of a file with a return."""
    return (content, ".txt") if type(content) is str else (f"{json_text(content, indent=2)}\n", ".json")


@_endpoint
def _which(bench: Bench, *, tool: str, content: Content) -> Any:
    return {"rules": list(which_rules(bench, tool, content_of(bench, content)))}


# --- running a rule


@_endpoint
def _run(bench: Bench, *, name: str, text: Text, content: Content | None, off: Sequence[int] = ()) -> Any:
    compiled, problems = benches.compiled(bench, name, without_steps(text, off) if off else text)
    if off:
        problems = [one for one in problems if one.code != _DOES_NOTHING]
    did = tree = None
    if content is not None:
        value = content_of(bench, content)
        outcome = Outcome(None, value)
        if compiled is not None:
            rule, ruleset = compiled
            outcome = attempt(alone(rule, ruleset), rule.name, value)
            explanation = explained(rule.name, value, outcome)
            did = {**return_as_json(explanation), "lost_entities": as_json(explanation.lost_entities)}
        tree = tree_of(value, outcome)
    tools = []
    for recorded in bench.recordings.result().tools:
        if rule_for(recorded["tool"], {name: tools_in(text)}):
            tools.append(recorded["tool"])
    return {"problems": list(map(problem_fields, problems)), "tools": tools, "did": did, "tree": tree}


@_endpoint
def _check(
    bench: Bench,
    *,
    name: str,
    text: Text,
    content: Content | None = None,
    sample_name: str = "",
    sample: str | None = None,
) -> Any:
    compiled, problems = benches.compiled(bench, name, text, with_all=True)
    found = set(problems)
    tests: list[Any] = []
    samples: list[str] = []
    if compiled is not None:
        rule, ruleset = compiled
        of_files = [_unsaved(one, name, sample_name, sample) for one in samples_of(rule, ruleset)]
        shown = []
        if content is not None:
            value = content_of(bench, content)
            shown.append(Sample(rule, "on this page", ("tool",), lambda: value))
        found |= set(problems_when_run(rule, ruleset, text.encode(), [*of_files, *shown]))
        samples = _sample_names(bench, rule, ruleset)
        tests = _tests(ruleset, of_files, text)
    return {
        "problems": list(map(problem_fields, sorted(found, key=lambda one: one.location))),
        "tests": tests,
        "samples": samples,
    }


def _unsaved(sample: Sample, name: str, sample_name: str, text: str | None) -> Sample:
    """Return a sample, which reads the text of its file if that is not saved yet."""
    file = sample.test.given.file if sample.test else None
    if text is None or file is None or _beside(name, file) != sample_name:
        return sample
    return replace(sample, read=lambda: sample_content(sample_name, text.encode()))


def _tests(ruleset: Ruleset, samples: Iterable[Sample], text: str) -> list[Any]:
    """Run the tests of a rule, whose file has this text."""
    tree, _ = parse_rule(text, "")
    tests: list[Any] = []
    if tree is None:
        return tests
    for sample in samples:
        result = run_sample(ruleset, sample)
        failures = [fields_of(one, "place", "what") for one in result.failures]
        line = locate(tree, (*sample.place, "name")).line
        tests.append({"name": sample.name, "line": line, "failures": failures})
    return tests


def _sample_names(bench: Bench, rule: Rule, ruleset: Ruleset) -> list[str]:
    """Return the names of the files from which the tests of a rule start, and of its other samples."""
    name = Path(rule.file).relative_to(bench.folder).as_posix()
    names: dict[str, None] = {}
    for sample in samples_of(rule, ruleset):
        file = sample.test.given.file if sample.test else sample.name
        if file:
            names[_beside(name, file)] = None
    return list(names)


def _beside(name: str, file: str) -> str:
    """Return the name of a file that the rule with a name refers to."""
    return str(PurePosixPath(name).parent / file)


# --- places and steps


@_endpoint
def _places(bench: Bench, *, text: Text, line: int, content: Content) -> Any:
    places: list[str] = []
    with suppress(PathError, Unreducible):  # the path is being typed
        if path := path_at(text, line):
            for place, _ in query(compile_query(path), content_of(bench, content)).places[:_MAX_PLACES]:
                places.append(place)
    return {"places": places}


@_endpoint
def _query(bench: Bench, *, text: Text, expression: str, content: Content) -> Any:
    compiled = compile_query(expression)
    notation = notation_at(text, "@")
    found = query(compiled, content_of(bench, content), (notation,) if notation else ())
    places = []
    for place, value in found.places[:_MAX_PLACES]:
        places.append({"place": place, "value": excerpt(value, _EXCERPT)})
    value = None if isinstance(compiled, Places) else excerpt(found.value, _MAX_VALUE)
    return {"places": places, "count": len(found.places), "value": value, "nothing": found.nothing.message}


@_endpoint
def _steps(
    bench: Bench, *, text: Text, keys: list[int | str], content: Content, name: str = "", sample_name: str = ""
) -> Any:
    value = content_of(bench, content)
    steps = []
    for offer in offered(text, keys, value):
        added = with_step(text, offer.path, offer.action, offer.value, offer.notation)
        steps.append({"label": offer.label, "at": offer.path, "text": added})
    expected = expectation(keys, value, text)
    test = None
    if expected is not None and name:
        test = _test(bench, text, name, sample_name, value, *expected)
    return {"path": place_of(keys), "steps": steps, "test": test}


def _test(
    bench: Bench, text: str, name: str, sample_name: str, value: Any, title: str, expect: dict[str, Any]
) -> dict[str, Any]:
    """Return the text of a rule with one more test, and the sample to save with it unless it has a file."""
    folder = PurePosixPath(name).parent
    sample: dict[str, str] = {}
    if not sample_name:
        content, ending = _file_of(value)
        number = 1
        while (
            bench.folder / (sample_name := _beside(name, f"samples/{PurePosixPath(name).stem}_{number}{ending}"))
        ).exists():
            number += 1
        sample = {"sample_name": sample_name, "sample": content}
    file = PurePosixPath(sample_name).relative_to(folder).as_posix()
    return {"text": with_test(text, title, file, expect), **sample}


@_endpoint
def _move(bench: Bench, *, text: Text, line: int, by: Literal[-1, 1]) -> Any:
    return {"text": moved(text, line, by)}


_ENDPOINTS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("GET", "/api/rules"): _rules,
    ("GET", "/api/rule"): _rule,
    ("PUT", "/api/rule"): _save,
    ("POST", "/api/rename"): _rename,
    ("POST", "/api/delete"): _delete,
    ("GET", "/api/schema"): _schema,
    ("GET", "/api/return"): _return,
    ("POST", "/api/which"): _which,
    ("POST", "/api/run"): _run,
    ("POST", "/api/check"): _check,
    ("POST", "/api/places"): _places,
    ("POST", "/api/query"): _query,
    ("POST", "/api/steps"): _steps,
    ("POST", "/api/move"): _move,
    ("POST", "/api/draft"): _draft,
}
