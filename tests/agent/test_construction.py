"""Wrong arguments fail when a processor, a capability or a toolset is created, and the message explains the fix."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reducer import Reducer, RuleError
from reducer.agent import Archive, ReduceToolReturns, history_processor, recall_tools
from reducer.archive import ArchiveError
from reducer.rules import compile_rules
from tests.agent.agents import RULE, contents, returns

RULESET, _ = compile_rules([("rule.yaml", RULE)])
MAKERS = [history_processor, ReduceToolReturns]


class Asynchronous:
    async def reduce_content(self, tool: str, content: Any) -> Any:
        return content

    async def __call__(self, reduction: Any) -> None: ...


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("value", [None, 5, b"rules", {"rules": 1}, RULESET, Reducer, [], ["rules", 5], (None,)])
def test_values_that_are_not_rules_are_refused(make: Callable[..., Any], value: Any) -> None:
    expected = "give a path ('rules'), several paths (['rules', 'more.yaml']), or a Reducer"
    with pytest.raises(TypeError) as caught:
        make(value)
    assert str(caught.value) == f"rules={reprlib.repr(value)} cannot be used; {expected}"


@pytest.mark.parametrize("make", MAKERS)
def test_asynchronous_functions_are_refused(make: Callable[..., Any], rules: Path) -> None:
    for function in (Asynchronous().__call__, partial(Asynchronous().__call__), Asynchronous()):
        with pytest.raises(TypeError, match="on_reduce is asynchronous; define it with `def`, not with `async def`"):
            make(rules, on_reduce=function)
    with pytest.raises(TypeError, match=r"rules\.reduce_content is asynchronous; define it with `def`"):
        make(Asynchronous())
    with pytest.raises(TypeError, match="on_reduce='log' is not a function that takes a Reduction"):
        make(rules, on_reduce="log")


@pytest.mark.parametrize("value", ["no", 0, None])
def test_options_that_are_not_booleans_are_refused(value: Any, rules: Path) -> None:
    options = [(ReduceToolReturns, name) for name in ("persist", "instructions", "telemetry")]
    for make, name in [*options, (history_processor, "telemetry"), (history_processor, "references")]:
        with pytest.raises(TypeError, match=f"^{name}={value!r} is not a boolean; give True or False$"):
            make(rules, **{name: value})


@pytest.mark.parametrize("make", MAKERS)
def test_missing_files_and_rules_with_errors_raise_rule_errors(make: Callable[..., Any], rules: Path) -> None:
    missing = rules / "none.yaml"
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
    (more / "other.yml").write_text(RULE.replace("deep_research", "other"))
    messages = returns([1, 2, 3], tool="deep_research") + returns([1, 2, 3], tool="other")
    for given, kept in [
        (rules, [2, 3]),
        (str(rules / "deep_research.yaml"), [2, 3]),
        ([rules, more], [2, 2]),
        ((str(more),), [3, 2]),
        (Reducer.load(rules, more), [2, 2]),
    ]:
        assert list(map(len, contents(history_processor(given)(messages)))) == kept
        ReduceToolReturns(given)


def test_archives_are_paths_or_objects_everywhere(rules: Path, archive: Archive) -> None:
    for make in (partial(history_processor, rules), partial(ReduceToolReturns, rules), recall_tools):
        for given in (archive.path, str(archive.path), archive):
            make(archive=given)
        with pytest.raises(TypeError) as caught:
            make(archive=5)
        assert str(caught.value) == "archive=5 cannot be used; give a path ('returns.db') or an Archive"
        with pytest.raises(ArchiveError):
            make(archive=rules)
    with pytest.raises(TypeError, match="archive=None cannot be used"):
        recall_tools(None)  # type: ignore[arg-type]
