"""The hooks for pre-commit run as processes on a folder of rules."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import RECORDS, ROOT, RULE, process


def hook_entries() -> dict[str, list[str]]:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook for hook in hooks if hook["pass_filenames"] or hook["language"] != "python"] == []
    files = {hook["files"] for hook in hooks}
    assert [re.search(*files, name) is not None for name in ("rules/a.yaml", "rules/samples/a.txt", "a.py")] == [
        1,
        1,
        0,
    ]
    return {hook["id"]: shlex.split(hook["entry"]) for hook in hooks}


@pytest.mark.parametrize("args", [(), ("mine",)])
def test_hooks_run_on_a_folder_of_rules(folder: Path, args: tuple[str, ...]) -> None:
    rules = Path(args[0] if args else "rules")
    (folder / rules / "samples").mkdir(parents=True)
    (folder / rules / "samples" / "lookup.json").write_text(json.dumps({"records": RECORDS}))
    entries = hook_entries()
    assert list(entries) == ["reducer-check", "reducer-test"]
    given = "tests: [{name: a, given: {file: samples/lookup.json}, expect: {values: {'length(records)': 6}}}]\n"
    for text, codes in ((RULE + given, (0, 0)), (RULE + given.replace("6", "7"), (0, 1)), ("version: 1\n", (1, 2))):
        (folder / rules / "lookup.yaml").write_text(text)
        found = tuple(process(*entry[3:], *args).code for entry in entries.values())
        assert found == codes, text
