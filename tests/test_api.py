"""A `Reducer` can be pickled: another process needs no files, and compiles the same rules once."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reducer import Reducer, RuleError, api
from reducer.analysis.laws import alone
from tests.cli.conftest import ENVIRONMENT, RECORDS, RULE, folder

__all__ = ["folder"]

WORDS = """\
version: 1
tool: lookup
preserve: [host]
entities:
  host: {words_file: lists/hosts.txt}
  other: {words_file: [more.txt, lists/hosts.txt]}
steps:
  - path: records
    limit: 1
"""
LOAD = """
import json, pickle, sys
reducer = pickle.load(sys.stdin.buffer)
print(json.dumps([reducer.reduce_content(tool, json.loads(sys.argv[1])) for tool in ("lookup", "other")]))
"""


@pytest.fixture
def reducer(folder: Path) -> Reducer:
    (folder / "rules" / "lists").mkdir(parents=True)
    (folder / "rules" / "words.yaml").write_text(WORDS)
    (folder / "rules" / "more.txt").write_text("nothing\n")
    (folder / "rules" / "lists" / "hosts.txt").write_text("host17\n")
    (folder / "more.yaml").write_text(RULE.replace("lookup", "other"))
    return Reducer.load("rules", "more.yaml")


def test_another_process_needs_no_files(reducer: Reducer, folder: Path) -> None:
    content = {"records": RECORDS}
    expected = [reducer.reduce_content(tool, content) for tool in ("lookup", "other")]
    assert "host17" in json.dumps(expected[0])
    assert "host17" not in json.dumps(expected[1])
    pickled = pickle.dumps(reducer)
    shutil.rmtree(folder / "rules")
    (folder / "more.yaml").unlink()
    command = [sys.executable, "-c", LOAD, json.dumps(content)]
    done = subprocess.run(command, input=pickled, capture_output=True, check=True, env=ENVIRONMENT)
    assert json.loads(done.stdout) == expected


def test_the_same_rules_are_compiled_once(reducer: Reducer) -> None:
    pickled = pickle.dumps(reducer)
    first, second = pickle.loads(pickled), pickle.loads(pickled)
    assert first.ruleset is second.ruleset
    assert first.instructions() == reducer.instructions()
    assert pickle.dumps(first) == pickled


def test_rules_without_texts_cannot_be_pickled(reducer: Reducer) -> None:
    with pytest.raises(ValueError, match="these rules cannot be pickled, because they were not compiled from texts"):
        pickle.dumps(Reducer(alone(reducer.ruleset.rules[0], reducer.ruleset)))


def test_a_process_that_cannot_compile_the_rules_says_why(reducer: Reducer, monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(reducer)
    api._rules_of.cache_clear()
    monkeypatch.setattr("reducer.rules.parser.MAX_CHARS", 0)
    with pytest.raises(RuleError, match="the rule file has more than 0 characters"):
        pickle.loads(pickled)
