"""The laws, for generated rules and contents that are aimed at each other, and for shipped rules on all real data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from reducer.analysis.samples import sample
from reducer.engine import prepare, reduce_content
from reducer.values import chars, dump
from tests.helpers import BY_FILE, PRODUCTS, forced, reduced, rules
from tests.laws.laws import Case, case_of, case_of_drawn, check, law_test
from tests.laws.strategies import cases

# A marker would be one character longer than the two items that it replaces.
_LONG_MARKER = {"steps": [{"extract": ["ipv4"], "preserve": ["threat_actor"]}]}
# Only an empty line stays, so the marker decides whether the text changes.
_EMPTY_LINE = {"preserve": ["ipv4"], "steps": [{"path": "raw", "extract": ["cve"], "text": "lines"}]}
_EMPTIED_TWICE = {"steps": [{"path": "items", "keep": "[?risk == 'high']"}, {"extract": ["ipv4"]}]}
test_the_laws_hold = law_test(
    cases.map(case_of_drawn),
    case_of({"steps": [{"text": "lines", "limit": 1}]}, 'INFO started\nINFO started\n{"level": "ERROR"}'),
    case_of(_EMPTY_LINE, {"raw": "\nthe first line\nlogin from 185.220.101.34 in the night of the report"}),
    case_of(_EMPTIED_TWICE, {"items": [{"risk": "low"}, {"risk": "low"}, {"risk": "low"}], "note": "of last night"}),
    case_of(_LONG_MARKER, ["\ud800 größer Fancy Bear 🙂", "end. größer"]),
)


def results() -> str:
    """Reduce texts whose markers mention entities, and what the tests of every tenth shipped rule start from."""
    texts = [f"APT{n} and Fancy Bear used 192.0.2.{n} and evil{n}[.]com in the night of the report" for n in range(12)]
    steps = [{"path": "articles", "limit": 1}, {"path": "items", "keep": ["id"]}, {"truncate": 20}]
    content = {"items": [{"id": n, "notes": text} for n, text in enumerate(texts)], "articles": texts}
    found = [reduced({"preserve": ["ioc", "threat_actor"], "steps": steps}, content)]
    for rule in list(BY_FILE.values())[::10]:
        found += [reduce_content(forced(rule), "any", sample(rule, test)) for test in rule.tests]
    return dump(found)


def test_law_10_another_process_with_another_hash_seed_gives_the_same_bytes() -> None:
    code = "from tests.laws.test_laws import results; print(ascii(results()))"
    expected = results()
    assert "mentions" in expected
    seed = "4711" if os.environ.get("PYTHONHASHSEED") == "0" else "0"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ascii(expected)


@pytest.mark.parametrize("step", [{"limit": 1}, {"keep": ["id"]}, {"truncate": 5}])
def test_what_no_rule_changes_is_the_same_object(step: dict[str, Any]) -> None:
    ruleset = rules(steps=[{"path": "none", **step}])
    prepare(ruleset)
    for content in ({"a": 1}, [1], "text", '{"a": 1}', None, 3, b"bytes"):
        assert reduce_content(ruleset, "t", content) is content
        assert reduce_content(ruleset, "other", content) is content


# --- shipped rules on real data

LARGE = 300_000
"""Larger answers are checked with their own rules only."""
PARTS = 10
"""Each rule is checked with one of so many parts of the returns, because all returns with all rules take minutes."""


@lru_cache(maxsize=1)
def contents(folder: Path) -> list[tuple[str, Any]]:
    """Read all recorded answers, and all distinct returns of the recorded histories."""
    files = [file for file in sorted((folder / "tool_outputs").glob("*.json")) if file.name != "manifest.json"]
    different: dict[str, tuple[str, Any]] = {}
    for file in sorted((folder / "histories").glob("*/*.json")):
        for part in (part for message in json.loads(file.read_bytes()) for part in message["parts"]):
            if part.get("part_kind") == "tool-return" and part["content"]:
                label = f"{file.parent.name}/{file.name} {part['tool_call_id']}"
                different.setdefault(dump(part["content"]), (label, part["content"]))
    return [*((file.name, json.loads(file.read_bytes())) for file in files), *different.values()]


def chosen(name: str, folder: Path) -> list[Any]:
    """Return what the tests of a rule start from, the answers of its product, and another part of all other returns."""
    rule, own = BY_FILE[name], PRODUCTS.get(name, ())
    part = list(BY_FILE).index(name) % PARTS
    found = [sample(rule, test) for test in rule.tests]
    for number, (label, content) in enumerate(contents(folder)):
        is_own = any(Path(label).match(f"{glob}.json") for glob in own)
        if is_own or (number % PARTS == part and chars(content) <= LARGE):
            found.append(content)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_FILE)
def test_the_laws_hold_on_all_real_data(name: str, data: Path) -> None:
    rule = BY_FILE[name]
    # No step can remove the types that every step preserves. `max_chars` must keep only those that the author names.
    preserved = frozenset.intersection(*rule.preserved[1:-1]) if rule.steps else rule.named
    if rule.max_chars is not None:
        preserved &= rule.named
    preserved -= frozenset[str]().union(*(types for types, _ in rule.bounds))
    unwraps = any("unwrap" in step.name for step in rule.steps)
    cases = [Case(forced(rule), content, preserved, rule.settings.all_keys, unwraps) for content in chosen(name, data)]
    assert len(cases) > 15
    assert sum(check(case).content is not case.content for case in cases) >= 1
