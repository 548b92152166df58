"""Rules that are loaded again apply to returns that were not reduced before."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from reducer import Reducer
from reducer.agent import history_processor
from tests.agent.agents import RULE, contents, returns, same

ITEMS = list(range(20))


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    (tmp_path / "rule.yaml").write_text(RULE)
    return tmp_path / "rule.yaml"


def test_new_rules_apply_to_new_returns(rule: Path) -> None:
    reducer = Reducer.load(rule)
    reduce = history_processor(reducer)
    before = reduce(returns(ITEMS, tool="deep_research"))
    rule.write_text(RULE.replace("2", "3"))
    assert contents(reduce(returns(ITEMS, tool="deep_research"))) == [[0, 1]]
    assert reducer.reload() == ()
    after = reduce([*before, *returns(ITEMS, tool="deep_research")])
    assert same(after[:1], before)
    assert contents(after) == [[0, 1], [0, 1, 2]]
    assert reducer.reduce_content("deep_research", ITEMS) == [0, 1, 2]


def test_rules_with_errors_keep_the_old_rules_and_are_logged(rule: Path, caplog: pytest.LogCaptureFixture) -> None:
    reducer = Reducer.load(rule.parent)
    old = reducer.ruleset
    rule.write_text(RULE.replace("limit", "limt"))
    (problem,) = reducer.reload()
    assert problem.message == "unknown key `limt`"
    rule.unlink()
    assert [problem.message for problem in reducer.reload()] == ["no rule files found"]
    rule.parent.rmdir()
    (problem,) = reducer.reload()
    assert problem.location.file == str(rule.parent)
    assert [record.getMessage().splitlines()[0] for record in caplog.records] == ["the rules were not reloaded:"] * 3
    assert "unknown key `limt`" in caplog.messages[0]
    assert reducer.ruleset is old
    with pytest.raises(ValueError, match="were not loaded from files"):
        Reducer(old).reload()


def test_a_history_is_reduced_by_one_ruleset_during_a_reload(rule: Path) -> None:
    reducer = Reducer.load(rule)
    stop = threading.Event()

    def swap() -> None:
        for limit in "32" * 10_000:
            rule.write_text(RULE.replace("2", limit))
            assert reducer.reload() == ()
            if stop.is_set():
                break

    thread = threading.Thread(target=swap)
    thread.start()
    messages = returns(*[ITEMS] * 50, tool="deep_research")
    lengths = [{len(content) for content in contents(reducer.reduce(messages))} for _ in range(20)]
    stop.set()
    thread.join()
    assert all(one in ({2}, {3}) for one in lengths)
