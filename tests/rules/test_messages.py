"""Wrong rule files and every problem that is found in them, as users see it: the cases are in `messages.txt`.

Each case is a rule file (or several, each after a line such as `# b.yaml`), and after `>>>` what `check` prints.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reducer.rules import compile_rules

TEXT = Path(__file__).with_name("messages.txt").read_text(encoding="utf-8")
CASES = re.findall(r"^=== (.+)\n((?s:.*?))^>>>\n((?s:.*?))(?=^=== |\Z)", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("files", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_messages(files: str, expected: str) -> None:
    first, *others = re.split(r"^# (\w+\.yaml)\n", files, flags=re.MULTILINE)
    problems = compile_rules([("r.yaml", first), *zip(others[::2], others[1::2], strict=True)])[1]
    assert "".join(f"{problem}\n" for problem in problems) == expected


def test_every_case_is_read() -> None:
    assert len(CASES) == TEXT.count("\n>>>\n") > 100
