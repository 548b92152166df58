"""Rules that are loaded again apply to returns that were not reduced before."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from reducer import Reducer
from reducer.agent import history_processor

RULE = "version: 1\ntool: ['deep_*', explore]\nsteps:\n  - limit: {}\npreserve: [cve]\n"
ITEMS = ["one", "two", "three", "another item, which is longer", "CVE-2024-3400"]


def rules(folder: Path, limit: int = 2) -> Reducer:
    (folder / "rule.yaml").write_text(RULE.format(limit))
    return Reducer.load(folder)


def history(*tools: str, content: Any = None) -> list[ModelMessage]:
    return [
        ModelRequest([ToolReturnPart(tool, list(ITEMS) if content is None else content, f"call_{number}")])
        for number, tool in enumerate(tools)
    ]


def test_new_rules_apply_to_new_returns(tmp_path: Path) -> None:
    reducer = rules(tmp_path)
    reduce = history_processor(reducer)
    before = reduce(history("deep_research", "explore"))
    rules(tmp_path, 3)
    assert reduce(history("explore"))[0].parts[0].content[:3] == [
        "one",
        "two",
        "…[3 more items; mentions CVE-2024-3400]",
    ]
    assert reducer.reload() == ()
    after = reduce([*before, *history("explore")])
    assert all(new is old for new, old in zip(after[:2], before, strict=True))
    assert after[-1].parts[0].content == ["one", "two", "three", "…[2 more items; mentions CVE-2024-3400]"]
    assert len(reducer.reduce(history("explore"))[0].parts[0].content) == 4
    assert len(reducer.reduce_content("explore", ITEMS)) == 4


def test_rules_with_errors_keep_the_old_rules_and_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    reducer = rules(tmp_path)
    old = reducer.ruleset
    (tmp_path / "rule.yaml").write_text("version: 1\ntool: explore\nsteps:\n  - limt: 3\n")
    (problem,) = reducer.reload()
    assert problem.message == "unknown key `limt`"
    assert reducer.ruleset is old
    (tmp_path / "rule.yaml").unlink()
    assert [problem.message for problem in reducer.reload()] == ["no rule files found"]
    tmp_path.rmdir()
    (problem,) = reducer.reload()
    assert problem.location.file == str(tmp_path)
    assert [record.getMessage().splitlines()[0] for record in caplog.records] == ["the rules were not reloaded:"] * 3
    assert "unknown key `limt`" in caplog.records[0].getMessage()
    assert len(reducer.reduce_content("explore", ITEMS)) == 3
    with pytest.raises(ValueError, match="were not loaded from files"):
        Reducer(old).reload()


def test_a_history_is_reduced_by_one_ruleset_during_a_reload(tmp_path: Path) -> None:
    reducer = rules(tmp_path)
    stop = threading.Event()

    def swap() -> None:
        limit = 2
        while not stop.is_set():
            limit = 5 - limit
            rules(tmp_path, limit)
            assert reducer.reload() == ()

    logging.getLogger("reducer").disabled = True
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(20):
            assert len({len(message.parts[0].content) for message in reducer.reduce(history(*["explore"] * 50))}) == 1
    finally:
        stop.set()
        thread.join()
        logging.getLogger("reducer").disabled = False
