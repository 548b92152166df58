"""Steps are added to the text of a rule, and everything else in it stays."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reducer.engine import reduce_content
from reducer.rules import compile_rules
from reducer.workbench.offers import offered
from reducer.workbench.steps import NoStep, moved, path_at, with_step, with_test, without_steps

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
LABELS = {"app.kubernetes.io/name": "web", "a*": 1, "source": {"ip": "192.0.2.1"}, "source.ip": "192.0.2.2"}
LOG = "".join(f"2024-05-0{n} INFO it's up\n" for n in range(9))


def steps_for(keys: list[int | str], content: Any, text: str = "tool: x\n") -> list[Any]:
    return [(offer.path, offer.action, offer.value) for offer in offered(text, keys, content)]


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
    assert steps_for(keys, HOSTS) == expected


@pytest.mark.parametrize("key", ["app.kubernetes.io/name", "source", "source.ip"])
def test_a_step_for_a_key_drops_this_key_only(key: str) -> None:
    content = {"labels": LABELS}
    (path, action, value) = next(step for step in steps_for(["labels", key], content) if step[1] == "drop")
    ruleset, problems = compile_rules([("x.yaml", with_step("version: 1\ntool: x\n", path, action, value))])
    assert (ruleset is not None, problems) == (True, ())
    left = {name: value for name, value in LABELS.items() if name != key}
    assert reduce_content(ruleset, "x", content) == {"labels": left}


def test_a_key_with_a_star_has_no_step_because_it_would_be_a_glob() -> None:
    assert steps_for(["labels", "a*"], {"labels": LABELS}) == []


@pytest.mark.parametrize(("keys", "content", "path"), [([], LOG, "@"), (["log"], {"log": LOG}, "log")])
def test_a_text_with_lines_is_read_as_lines(keys: list[int | str], content: Any, path: str) -> None:
    offer = next(one for one in offered("tool: x\n", keys, content) if one.notation)
    assert (offer.label, offer.path) == ("text: lines, limit 2 + 2", path)
    text = with_step("version: 1\ntool: x\n", offer.path, offer.action, offer.value, offer.notation)
    assert "    text: lines\n    limit: {head: 2, tail: 2}\n" in text.replace("  - text", "    text")
    for action in ("keep", "drop"):
        found = [step for step in steps_for([*keys, 1], content, text) if step[1] == action]
        assert found == [(path, action, [f"[?contains(@, '{words}')]"]) for words in ("INFO", "INFO it\\'s up")]
        for step in found:
            ruleset, problems = compile_rules([("x.yaml", with_step("version: 1\ntool: x\n", *step, "lines"))])
            assert (ruleset is not None, problems) == (True, ())
            assert (reduce_content(ruleset, "x", content) == content) == (action == "keep")
    ends = [step for step in steps_for([*keys, 1], content, text) if step[1] == "limit"]
    assert ends == [(path, "limit", 4), (path, "limit", {"head": 2, "tail": 2})]


STEPS = "tool: x\nsteps:\n  # the first\n  - path: a\n    limit: 1\n\n  - limit: 2  # last\n# end\ntests: []\n"


def test_steps_are_exchanged_with_their_comments() -> None:
    other = "tool: x\nsteps:\n\n  - limit: 2  # last\n  # the first\n  - path: a\n    limit: 1\n# end\ntests: []\n"
    assert moved(STEPS, 4, 1) == moved(STEPS, 7, -1) == other
    assert moved(STEPS.replace("\n", "\r\n"), 4, 1) == other.replace("\n", "\r\n")
    for line, by in ((4, -1), (7, 1), (5, 1), (99, 1)):
        with pytest.raises(NoStep, match="there is no step to exchange it with"):
            moved(STEPS, line, by)


def test_steps_are_switched_off_and_the_other_lines_stay() -> None:
    expected = "tool: x\nsteps:\n  # the first\n\n\n\n  - limit: 2  # last\n# end\ntests: []\n"
    assert without_steps(STEPS, [4]) == expected
    assert without_steps(STEPS, [4, 7]) == f"tool: x{chr(10) * 2}  # the first{chr(10) * 5}# end\ntests: []\n"
    assert without_steps(STEPS, [5]) == STEPS
    assert without_steps("tool: [", [1]) == "tool: ["


def test_a_test_is_added() -> None:
    flow = "  - name: it stays\n    given: {file: samples/x.json}\n    expect: {contains: [it]}\n"
    text = with_test("tool: x\ntests:\n", "it stays", "samples/x.json", {"contains": ["it"]})
    assert text == f"tool: x\ntests:\n{flow}"
    assert with_test("tool: x\n", "it stays", "samples/x.json", {"contains": ["it"]}) == text
    message = "write each test in its own line, which starts with `-`"
    with pytest.raises(NoStep, match=message):
        with_test("{tool: x, tests: [{}]}\n", "it stays", "samples/x.json", {"contains": ["it"]})
