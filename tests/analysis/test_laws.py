"""The laws as `test` checks them: the engine breaks none of them, and planted bugs are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given

from reducer.analysis.laws import broken_laws
from reducer.engine import attempt
from tests.helpers import rules
from tests.laws.strategies import cases, laws

LINES = {"steps": [{"path": "raw", "limit": 2, "text": "lines"}], "max_chars": 50}
MIXED_LINE_ENDS = rules(**LINES), {"raw": f"started\r\n{'a word ' * 40}\r\nstopped\n"}
# The first line is empty, and a text is never replaced by an empty one.
EMPTY_LINE = rules(steps=[{"limit": 1, "text": "lines", "mark": True}], max_chars=50), f"\n{'a ' * 40}\n1.2.3.4 b\nend"
# The letters and digits of an escape are not part of the word.
ESCAPES = rules(steps=[{"extract": ["domain"]}]), f"{'a word ' * 20}\\x41mail-diacie[.]top \\u00e4evil-updates.com"
# The bound on domains removes the second one, which is written with other escapes in the nested text.
NOTE = "seen at evil-updates.com in the night, again and again, by \\\\u0440\\\\u0430ypal.com"
NOTES = f'{{"a": {{"id": 7, "note": "{NOTE}"}}}}'
NESTED = rules(steps=[{"path": "raw.a", "keep": ["id"]}], preserve={"domain": 1}), {"raw": NOTES}


@laws
@example((None, *MIXED_LINE_ENDS))
@example((None, *EMPTY_LINE))
@example((None, *ESCAPES))
@example((None, *NESTED))
@given(cases)
def test_the_engine_breaks_no_law(case: Any) -> None:
    _, ruleset, content = case
    outcome = attempt(ruleset, "t", content)
    found = list(broken_laws(ruleset, content, outcome))
    if outcome.fault:
        assert {one.law for one in found} <= {5, 9}
    else:
        assert found == []


RULES = rules(steps=[{"path": "text", "truncate": 90}], keys="all")
CONTENT = {"text": "words of a text " * 20 + "CVE-2024-1111", "n": 1, "in": {"a": [1, 2], "c": 1}}


@pytest.mark.parametrize(
    ("change", "law", "message"),
    [
        ({"n": "1"}, 2, "`n`: found "),
        ({"in": {"b": [1, 2]}}, 4, "`in.b`: the original has no key"),
        ({"in": {"a": [2, 1]}}, 4, "`in.a[1]`: "),
        ({"text": "words of a text …[317 more characters]"}, 8, "the cve CVE-2024-1111 was removed"),
    ],
)
def test_planted_bugs_are_found(change: dict[str, Any], law: int, message: str) -> None:
    outcome = attempt(RULES, "t", CONTENT)
    wrong = replace(outcome, content={**outcome.content, **change})
    found = list(broken_laws(RULES, CONTENT, wrong))
    assert any(one.law == law and one.message.startswith(message) for one in found), found
