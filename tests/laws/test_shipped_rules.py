"""The laws, for each shipped rule on all real data."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from reducer.engine import reduce_content
from reducer.values import chars, dump
from tests.helpers import BY_FILE, PRODUCTS, forced
from tests.laws.laws import Case, check

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "ci"
LARGE = 300_000 if FULL else 20_000
"""Answers above this size meet their own rule only: every file under every rule takes minutes."""


@lru_cache(maxsize=1)
def contents(folder: Path) -> list[tuple[str, Any]]:
    """Read every recorded answer, and every different return of the recorded histories."""
    found = [
        (file.name, json.loads(file.read_bytes()))
        for file in sorted((folder / "tool_outputs").glob("*.json"))
        if file.name != "manifest.json"
    ]
    seen = set()
    for file in sorted((folder / "histories").glob("*/*.json")):
        for message in json.loads(file.read_bytes()):
            for part in message["parts"]:
                if (
                    part.get("part_kind") == "tool-return"
                    and part["content"]
                    and (key := dump(part["content"])) not in seen
                ):
                    seen.add(key)
                    found.append((f"{file.parent.name}/{file.name} {part['tool_call_id']}", part["content"]))
    return found


def chosen(name: str, folder: Path) -> list[tuple[str, Any]]:
    own = PRODUCTS.get(name, ())
    first = list(BY_FILE).index(name) % 10
    return [
        (label, content)
        for number, (label, content) in enumerate(contents(folder))
        if any(Path(label).match(f"{glob}.json") for glob in own)
        # Of the returns of histories each rule meets another tenth.
        or (chars(content, LARGE) <= LARGE and (FULL or "/" not in label or number % 10 == first))
    ]


@pytest.mark.parametrize("name", BY_FILE)
def test_the_laws_hold_on_all_real_data(name: str, data: Path) -> None:
    rule = BY_FILE[name]
    # What every step and `max_chars` preserve: no step can remove it.
    preserved = frozenset.intersection(*rule.preserved[1 : None if rule.max_chars else -1])
    unwraps = any("unwrap" in step.name for step in rule.steps)
    found = chosen(name, data)
    changed = 0
    for _, content in found:
        case = Case(forced(rule), content, preserved, rule.all_keys, unwraps)
        changed += check(case) is not content
    assert len(found) > 250
    assert changed >= 1


def digest(folder: Path) -> str:
    """Hash the results of all rules on the smaller answers."""
    whole = hashlib.sha256()
    for rule in BY_FILE.values():
        for _, content in contents(folder)[::7]:
            if chars(content, 20_000) <= 20_000:
                whole.update(dump(reduce_content(forced(rule), "any", content)).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def test_another_process_with_another_hash_seed_gives_the_same_bytes(data: Path) -> None:
    imports = "from pathlib import Path; from tests.laws.test_shipped_rules import digest"
    code = f"{imports}; print(digest(Path({str(data)!r})))"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "4711",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(data)
