"""Wrong arguments fail when a processor, a capability or a toolset is made, with the fix in the message."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelRequest, ToolReturnPart

from reducer import Reducer, RuleError
from reducer.agent import Archive, ReduceToolReturns, history_processor, recall_tools
from reducer.archive import ArchiveError
from reducer.rules import compile_rules

RULE = "version: 1\ntool: look\nsteps:\n  - limit: 2\npreserve: []\n"
PATHS = "give a path ('rules'), several paths (['rules', 'more.yaml']), or a Reducer"
MAKERS = [history_processor, ReduceToolReturns]
RULESET, _ = compile_rules([("rule.yaml", RULE)])


class AsyncRules:
    async def reduce_content(self, tool: str, content: Any) -> Any:
        return content


class AsyncCallable:
    async def __call__(self, reduction: Any) -> None: ...


async def async_on_reduce(reduction: Any) -> None: ...


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "rule.yaml").write_text(RULE)
    return tmp_path


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None cannot be used"),
        (5, "5 cannot be used"),
        (b"rules", "b'rules' cannot be used"),
        ({"rules": 1}, "{'rules': 1} cannot be used"),
        (RULESET, "Ruleset(…) cannot be used"),
        (Reducer, f"{Reducer!r} cannot be used"),
        ([], "[] is not a list of paths"),
        (["rules", 5], "['rules', 5] is not a list of paths"),
        ((None,), "(None,) is not a list of paths"),
    ],
)
def test_values_that_are_no_rules_are_refused(make: Callable[..., Any], value: Any, shown: str) -> None:
    with pytest.raises(TypeError) as caught:
        make(value)
    assert str(caught.value) == f"rules={shown}; {PATHS}"


@pytest.mark.parametrize("make", MAKERS)
def test_asynchronous_functions_are_refused(make: Callable[..., Any], rules: Path) -> None:
    for function in (async_on_reduce, partial(async_on_reduce), AsyncCallable()):
        with pytest.raises(TypeError) as caught:
            make(rules, on_reduce=function)
        assert (
            str(caught.value)
            == "on_reduce is asynchronous and would never run; define it with `def`, not with `async def`"
        )
    with pytest.raises(TypeError) as caught:
        make(AsyncRules())
    assert str(caught.value) == "rules.reduce_content is asynchronous; define it with `def`, not with `async def`"
    with pytest.raises(TypeError) as caught:
        make(rules, on_reduce="log")
    assert str(caught.value) == "on_reduce='log' cannot be called; give a function that takes a Reduction"


@pytest.mark.parametrize(
    ("make", "name"),
    [(ReduceToolReturns, name) for name in ("persist", "instructions", "telemetry")]
    + [(history_processor, name) for name in ("telemetry", "references")],
)
@pytest.mark.parametrize("value", ["no", "You are an analyst.", 0, None])
def test_options_that_are_no_booleans_are_refused(make: Callable[..., Any], name: str, value: Any, rules: Path) -> None:
    with pytest.raises(TypeError) as caught:
        make(rules, **{name: value})
    assert str(caught.value) == f"{name}={value!r} is not a boolean; give True or False"


@pytest.mark.parametrize("make", MAKERS)
def test_missing_files_and_rules_with_errors_raise_rule_errors(make: Callable[..., Any], rules: Path) -> None:
    for missing in (rules / "none", rules / "none.yaml"):
        for sources in (missing, str(missing), [rules, missing]):
            with pytest.raises(RuleError) as caught:
                make(sources)
            assert str(caught.value) == f"{missing}:1:1: error[E007]: cannot read the file: No such file or directory"
    (rules / "wrong.yaml").write_text(RULE.replace("limit", "limitt"))
    for sources in (rules, str(rules), [rules]):
        with pytest.raises(RuleError, match="unknown key `limitt`"):
            make(sources)


def test_rules_come_from_paths_lists_of_paths_and_objects(rules: Path) -> None:
    more = rules / "more"
    more.mkdir()
    (more / "other.yml").write_text(RULE.replace("look", "other"))
    messages: list[Any] = [ModelRequest([ToolReturnPart(tool, [1, 2, 3], tool) for tool in ("look", "other")])]
    for given, kept in [
        (rules, [2, 3]),
        (str(rules / "rule.yaml"), [2, 3]),
        ([rules, more], [2, 2]),
        ((str(more),), [3, 2]),
        (Reducer.load(rules, more), [2, 2]),
    ]:
        assert [len(part.content) for part in history_processor(given)(messages)[0].parts] == kept
        ReduceToolReturns(given)


def test_archives_are_paths_or_objects_everywhere(rules: Path) -> None:
    path = rules / "returns.db"
    with Archive(path) as archive:
        for given in (path, str(path), archive):
            history_processor(rules, archive=given)
            ReduceToolReturns(rules, archive=given)
            recall_tools(given)
    for make in (partial(history_processor, rules), partial(ReduceToolReturns, rules), recall_tools):
        with pytest.raises(TypeError) as caught:
            make(archive=5)
        assert str(caught.value) == "archive=5 cannot be used; give a path ('returns.db') or an Archive"
        with pytest.raises(ArchiveError):
            make(archive=rules)
    with pytest.raises(TypeError, match="archive=None cannot be used"):
        recall_tools(None)  # type: ignore[arg-type]
