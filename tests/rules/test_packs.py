"""Sources of rules: files, folders with packs, and the built-in packs. A later source replaces an earlier one."""

from __future__ import annotations

from pathlib import Path

import pytest

from reducer import Reducer, RuleError
from reducer.rules import read_rules
from tests.helpers import RULES

PACKS = f"the packs are {', '.join(sorted(path.name for path in RULES.iterdir() if path.is_dir()))}"
SMALL, LARGE = "max_chars: 300\n", "max_chars: 9000\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(file: str, tool: str, rest: str = SMALL) -> None:
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"version: 1\ntool: {tool}\n{rest}", encoding="utf-8")


def loaded(*sources: str) -> dict[str, int | None]:
    """Return the bound of each tool name."""
    return {name: rule.max_chars for rule in read_rules(*sources).rules for name in rule.tools}


def test_a_folder_is_loaded_with_its_packs(folder: Path) -> None:
    write("own/a.yaml", "a")
    write("own/web/b.yml", "b")
    for ignored in ("samples", "general", ".git", "web/deeper"):
        write(f"own/{ignored}/x.yaml", "x")
    assert loaded("own") == {"a": 300, "b": 300}
    assert loaded("own", "own/general") == {"a": 300, "b": 300, "x": 300}
    write("own/web/c.yaml", "a")
    with pytest.raises(RuleError, match=r"c\.yaml:2:7: error\[E080\]: the tool `a` already has a rule at own/a\.yaml"):
        read_rules("own")


def test_built_in_packs_are_loaded_by_name(folder: Path) -> None:
    web, every = loaded("builtin:web"), loaded("builtin")
    assert "fetch" in web
    assert "*" not in every
    assert every == loaded(str(RULES))
    assert set(web) < set(every)
    assert every | {"*": loaded("builtin:general")["*"]} == loaded("builtin", "builtin:general")
    write("builtin/a.yaml", "a")
    assert loaded("./builtin") == {"a": 300}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("builtin:wbe", "no such pack; did you mean `builtin:web`?"),
        *((f"builtin:{pack}", f"no such pack; {PACKS}") for pack in ("../rules", "")),
        ("", "a source of rules is empty; write `.` for the current folder"),
    ],
)
def test_an_unknown_source_is_an_error_with_advice(source: str, reason: str) -> None:
    with pytest.raises(RuleError) as caught:
        Reducer.load("builtin:web", source)
    shown = source or '""'
    assert str(caught.value) == f"{shown}:1:1: error[E007]: cannot load the rules: {reason}"


def test_the_later_source_replaces_names_and_globs(folder: Path) -> None:
    write("one/a.yaml", "[a, b, 'c*']")
    write("one/d.yaml", "d")
    write("two/a.yaml", "[a, 'c*', d]", LARGE)
    ruleset = read_rules("one", "two")
    assert [(rule.file, rule.tools) for rule in ruleset.rules] == [
        ("one/a.yaml", ("b",)),
        ("two/a.yaml", ("a", "c*", "d")),
    ]
    assert [str(each) for each in ruleset.replaced] == [
        "two/a.yaml replaces one/a.yaml for `a`, `c*`",
        "two/a.yaml replaces one/d.yaml for `d`",
    ]
    assert loaded("two", "one") == {"a": 300, "b": 300, "c*": 300, "d": 300}


def test_the_more_specific_name_applies_whatever_its_source(folder: Path) -> None:
    write("one/a.yaml", "look_up")
    write("two/a.yaml", "look*", LARGE)
    rules_for = read_rules("one", "two").rules_for
    assert [rule.file for rule in rules_for("look_up")] == ["one/a.yaml"]
    assert [rule.file for rule in rules_for("look_at")] == ["two/a.yaml"]


def test_the_last_of_three_sources_applies_and_a_file_counts_once(folder: Path) -> None:
    for number, name in enumerate(("one", "two", "three"), 1):
        write(f"{name}.yaml", "a", f"max_chars: {number}000\n")
    assert loaded("one.yaml", "two.yaml", "three.yaml") == {"a": 3000}
    assert loaded("one.yaml", "two.yaml", "one.yaml") == {"a": 1000}
    assert read_rules("one.yaml", "one.yaml").replaced == ()


def test_definitions_of_a_replaced_rule_stay(folder: Path) -> None:
    write("one/a.yaml", "a", LARGE + "preserve: [ticket]\nentities: {ticket: {words: [INC-1]}}\n")
    write("two/a.yaml", "a", LARGE + "preserve: [ticket]\n")
    assert len(read_rules("one", "two").rules) == 1


def test_a_later_source_can_define_a_condition_and_a_type_again(folder: Path) -> None:
    shared = "conditions: {bad: risk == '%s'}\nentities: {ticket: {words: [%s-1]}}\npreserve: [ticket]\n"
    steps = "steps: [{limit: 1, always_keep: bad}]\n"
    write("one.yaml", "a", shared % ("high", "INC") + steps)
    write("two.yaml", "b", shared % ("low", "REQ") + steps)
    content = [{"risk": "high"}, {"risk": "high"}, {"risk": "low"}, {"of": "REQ-1"}, {"of": "INC-1"}]
    reducer = Reducer.load("one.yaml", "two.yaml")
    assert reducer.reduce_content("b", content) == [{"risk": "high"}, {"risk": "low"}, {"of": "REQ-1"}]
    with pytest.raises(RuleError, match="`bad` is already defined at "):
        read_rules(folder)
