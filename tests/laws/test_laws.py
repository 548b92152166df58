"""The laws over generated rules and contents that are aimed at each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from reducer.engine import prepare, reduce_content
from reducer.values import dump
from tests.helpers import BY_FILE, RULES, forced, reduced, rules
from tests.laws.laws import case_of, law_tests
from tests.laws.strategies import cases

test_the_laws_hold, test_most_cases_are_reduced = law_tests(cases.map(lambda case: case_of(case[0], case[2])))


def results() -> str:
    """Reduce texts whose markers mention entities, and every sample with every shipped rule."""
    texts = [f"APT{n} and Fancy Bear used 192.0.2.{n} and evil{n}[.]com in the night of the report" for n in range(12)]
    steps = [{"path": "articles", "limit": 1}, {"path": "items", "keep": ["id"]}, {"truncate": 20}]
    content = {"items": [{"id": n, "notes": text} for n, text in enumerate(texts)], "articles": texts}
    found = [reduced({"preserve": ["ioc", "threat_actor"], "steps": steps}, content)]
    for sample in sorted((RULES / "samples").glob("*.json")):
        content = json.loads(sample.read_bytes())
        found += [reduce_content(forced(rule), "any", content) for rule in BY_FILE.values()]
    return dump(found)


def test_law_10_another_process_with_another_hash_seed_gives_the_same_bytes() -> None:
    code = "from tests.laws.test_laws import results; print(ascii(results()))"
    expected = results()
    assert "mentions" in expected
    for seed in ("0", "4711"):
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
