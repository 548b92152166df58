"""The laws over generated rules and contents that are aimed at each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given

from reducer.engine import prepare, reduce_content
from tests.helpers import rules
from tests.laws.laws import assert_most_are_reduced, case_of, check
from tests.laws.strategies import cases, laws

aimed = cases.map(lambda case: case_of(case[0], case[2]))


@laws
@given(aimed)
def test_the_laws_hold(case: Any) -> None:
    check(case)


def test_most_cases_are_reduced() -> None:
    assert_most_are_reduced(aimed)


def test_law_10_another_process_gives_the_same_bytes() -> None:
    steps = [
        {"path": "items", "limit": 1},
        {"path": "items", "keep": ["id"]},
        {"path": "articles", "limit": 1},
        {"truncate": 20},
    ]
    texts = [f"APT{n} and Fancy Bear used 192.0.2.{n} and evil{n}[.]com in the night of the report" for n in range(12)]
    content = {"items": [{"id": n, "notes": text} for n, text in enumerate(texts)], "articles": texts}
    rule = {"preserve": ["ioc", "threat_actor"], "steps": steps}
    code = (
        "import json, sys; from tests.helpers import reduced; print(ascii(json.dumps(reduced(*json.load(sys.stdin)))))"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps([rule, content]),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(results) == 1
    assert "mentions" in results.pop()


@pytest.mark.parametrize("step", [{"limit": 1}, {"keep": ["id"]}, {"truncate": 5}])
def test_what_no_rule_changes_is_the_same_object(step: dict[str, Any]) -> None:
    ruleset = rules(steps=[{"path": "none", **step}])
    prepare(ruleset)
    for content in ({"a": 1}, [1], "text", '{"a": 1}', None, 3, b"bytes"):
        assert reduce_content(ruleset, "t", content) is content
        assert reduce_content(ruleset, "other", content) is content
