"""Session histories on the command line: recognised, or asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from reducer import Reducer
from tests.cli.conftest import Result

Cli = Callable[..., Result]
SAMPLES = Path(__file__).parents[1] / "histories" / "data"
RULE = "version: 1\ntool: query_logs\nsteps: [{limit: 2}]\n"


def test_a_session_history_is_recognised_and_each_return_counts_once(folder: Path, cli: Cli) -> None:
    (folder / "logs.yaml").write_text(RULE)
    sample = SAMPLES / "session_index.json"
    result = cli(str(sample), "--rules", "logs.yaml", "--format", "json", "-o", "out.json")
    assert result.code == 0
    report = json.loads(result.out)
    assert report["totals"]["calls"] == 4
    (entry,) = (entry for entry in report["returns"] if entry["status"] == "reduced")
    content = json.loads(sample.read_bytes())["hits"]["hits"][1]["_source"]["parts"][1]["results"][0]["content"]
    assert (entry["tool"], entry["call_id"], entry["message"], entry["part"], entry["characters"]["before"]) == (
        "query_logs",
        "call_2",
        1,
        1,
        len(content),
    )
    assert (
        (folder / "out.json").read_bytes()
        == Reducer.load("logs.yaml").reduce_json(sample.read_bytes())
        != sample.read_bytes()
    )


def test_a_return_of_a_session_history_is_chosen_by_its_call(folder: Path, cli: Cli) -> None:
    result = cli(str(SAMPLES / "session_history.json"), "--call", "tool_0_deep_research#2", "--format", "json")
    (entry,) = json.loads(result.out)["returns"]
    assert (entry["nth"], entry["message"], entry["part"]) == (2, 1, 5)


def test_the_format_that_is_asked_for_is_the_one_that_is_read(folder: Path, cli: Cli) -> None:
    sample = str(SAMPLES / "session_document.json")
    assert cli(sample, "--input-format", "session").code == 0
    result = cli(sample, "--input-format", "model-messages")
    assert result.code == 2
    assert "not a history: found an object with the keys session_id, user_id" in result.err
    assert cli("h.json", "--input-format", "session", "--format", "diff").code == 2
    # Messages with nothing that only a session history has are read as such when asked for.
    (folder / "bare.json").write_text('[{"role": "user", "parts": [{"text": "hi"}]}]')
    assert (cli("bare.json").code, cli("bare.json", "--input-format", "session").code) == (2, 0)
    (folder / "bare.jsonl").write_text('[{"role": "user", "parts": [{"text": "hi"}]}]\n' * 2)
    assert (cli("bare.jsonl").code, cli("bare.jsonl", "--input-format", "session").code) == (1, 0)
