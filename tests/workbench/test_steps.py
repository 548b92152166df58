"""Steps are added to the text of a rule, and everything else in it stays."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reducer.workbench.steps import NoStep, offered, path_at, with_step

RULE = "tool: x\nsteps:\n  - path: a  # first\n    keep: [b]\n"
BLOCK = RULE.replace(" [b]\n", "\n      - b  # why")


@pytest.mark.parametrize(
    ("text", "step", "expected"),
    [
        ("tool: x\n", ("@", "limit", 3), "tool: x\nsteps:\n  - limit: 3\n"),
        ("tool: x", ("a.b", "truncate", 9), "tool: x\nsteps:\n  - path: a.b\n    truncate: 9\n"),
        ("steps:\nmax_chars: 9\n", ("a", "limit", 1), "steps:\n  - path: a\n    limit: 1\nmax_chars: 9\n"),
        (RULE, ("c[*]", "limit", 1), f"{RULE}  - path: 'c[*]'\n    limit: 1\n"),
        (f"{RULE}# end\n\ntests: []\n", ("c", "limit", 1), f"{RULE}  - path: c\n    limit: 1\n# end\n\ntests: []\n"),
        (f"{RULE}# end\n    when: {{}}\n", ("@", "limit", 1), f"{RULE}# end\n    when: {{}}\n  - limit: 1\n"),
        ("steps:\n- limit: 1\ntool: x\n", ("a", "limit", 2), "steps:\n- limit: 1\n- path: a\n  limit: 2\ntool: x\n"),
        ("steps:\r\n  - limit: 1\r\n", ("@", "limit", 2), "steps:\r\n  - limit: 1\r\n  - limit: 2\r\n"),
        (RULE, ("a", "drop", ["b"]), f"{RULE}  - path: a\n    drop: [b]\n"),
        (RULE, ("a", "keep", ["b"]), RULE),
        (RULE, ("a", "keep", ["c d"]), RULE.replace("[b]", "[b, c d]")),
        (RULE.replace("[b]", "b  # why"), ("a", "keep", ["c"]), RULE.replace("[b]", "[b, c]  # why")),
        (RULE.replace("[b]", "'b c'"), ("a", "keep", ["c"]), RULE.replace("[b]", "[b c, c]")),
        (RULE.replace("[b]", "[]"), ("a", "keep", ["no"]), RULE.replace("[b]", "['no']")),
        (f"{BLOCK}\n", ("a", "keep", ["c"]), f"{BLOCK}\n      - c\n"),
    ],
)  # fmt: skip
def test_a_step_is_added(text: str, step: tuple[str, str, Any], expected: str) -> None:
    assert with_step(text, *step) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "correct this first: the file is empty"),
        ("tool: [", "correct this first: "),
        ("- a\n", "this is not a rule"),
        ("tool: x\nsteps: [{limit: 1}]\n", "write each step in its own line, which starts with `-`"),
        ("{tool: x}\n", "write each step in its own line, which starts with `-`"),
        (RULE.replace("[b]", "[b,\n      c]"), "write the keys in one line, or each in its own line"),
    ],
)
def test_a_text_that_is_not_edited_is_reported(text: str, message: str) -> None:
    with pytest.raises(NoStep) as error:
        with_step(text, "a", "keep", ["z"])
    assert str(error.value).startswith(message)


KEYS = st.text("ab: #'\"[]{}-é", min_size=1, max_size=4).filter(str.strip)


@given(st.lists(st.tuples(KEYS, st.sampled_from(["keep", "drop", "limit"]), KEYS), max_size=5))
def test_added_steps_are_read_again(steps: list[tuple[str, str, str]]) -> None:
    text = head = "tool: x  # the tool\n# more\nsteps:\n"
    wanted: list[Any] = []
    for path, action, key in steps:
        value: Any = len(key) if action == "limit" else [key]
        text = with_step(f"{text}tests: []\n", path, action, value).removesuffix("tests: []\n")
        same = next((one for one in wanted if one.get("path") == path and action in one), None)
        if same is None or action == "limit":
            wanted.append({"path": path, action: value})
        elif key not in same[action]:
            same[action].append(key)
    assert text.startswith(head)
    assert (yaml.safe_load(text)["steps"] or []) == wanted
    lines = text.split("\n")
    for number, step in enumerate(wanted):
        first = [at for at, line in enumerate(lines, 1) if line.startswith("  - ")][number]
        assert path_at(text, first) == path_at(text, first + 1) == step["path"]


def of_key(key: str) -> list[Any]:
    return [("hosts", "keep", [key]), ("hosts", "drop", [key])]


HOSTS = {"hosts": [{"name": f"h{n}", "note": "x" * 90, "ports": [1]} for n in range(9)], "raw": '{"a": [1, 2, 3]}'}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([], []),
        (["hosts"], [("@", "keep", ["hosts"]), ("@", "drop", ["hosts"]), ("hosts", "limit", 4)]),
        (["hosts", 3], [("hosts", "limit", 4)]),
        (["hosts", 3, "note"], [*of_key("note"), ("hosts", "limit", 4), ("hosts[*].note", "truncate", 45)]),
        (["hosts", 3, "ports"], [*of_key("ports"), ("hosts[*].ports", "limit", 1)]),
        (["raw", "a", 1], [("raw.a", "limit", 1)]),
    ],
)
def test_steps_for_a_value(keys: list[int | str], expected: list[Any]) -> None:
    assert list(offered(keys, HOSTS)) == expected
