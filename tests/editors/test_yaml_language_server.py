"""Rule files in an editor: yaml-language-server with the schema completes, explains, and says every mistake once.

Skipped without the server: `npm install yaml-language-server`, then have `yaml-language-server` on PATH or name it in YAML_LANGUAGE_SERVER.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from reducer.entities import GROUPS, TYPES
from reducer.op import Op
from reducer.ops import operations
from reducer.rule.model import Expect, RuleFile, StepKeys
from reducer.rule.model import Test as InlineTest
from reducer.schema import rule_schema
from tests.editors.server import SERVER, Server
from tests.schema.rules_wrong import RIGHT, STEPS, TESTS, WRONG
from tests.shipped import RULES

pytestmark = pytest.mark.skipif(SERVER is None, reason="needs yaml-language-server, which comes from npm")
MODELINE = "# yaml-language-server: $schema=.schema.json\n"
STEP_KEYS = {*StepKeys.model_fields, *(key for op in operations().values() for key in op.model_fields)}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("rules")
    (folder / ".schema.json").write_text(json.dumps(rule_schema(["vt_ip", "odd: name"], ["a"], ["severe", "recent"])), encoding="utf-8")
    with Server(folder) as running:
        yield running


def keys(offered: dict[str, object]) -> set[str]:
    return {label for label in offered if not label.startswith("step: ")}


def test_every_mistake_is_one_diagnostic_at_its_place(server: Server) -> None:
    found = server.diagnose(MODELINE + text for text, *_ in WRONG.values())
    said = {name: [(line - 1, column) for line, column, _ in told] for name, told in zip(WRONG, found, strict=True)}
    assert said == {name: [(line, column)] for name, (_, line, column, _) in WRONG.items()}
    for (_, _, _, message), told in zip(WRONG.values(), found, strict=True):
        assert told[0][2].startswith(message)


def test_right_rules_have_none(server: Server) -> None:
    assert dict(zip(RIGHT, server.diagnose(MODELINE + text for text in RIGHT.values()), strict=True)) == {name: [] for name in RIGHT}


def test_the_shipped_rules_have_none_with_the_schema_beside_them() -> None:
    files = sorted(RULES.glob("*.yaml"))
    with Server(RULES) as server:
        found = dict(zip((file.name for file in files), server.diagnose(file.read_text(encoding="utf-8") for file in files), strict=True))
        # The schema is the one that their first line names: a mistake is one here too.
        assert len(server.diagnose([files[0].read_text(encoding="utf-8") + "maxchars: 4\n"])[0]) == 1
    assert found == {file.name: [] for file in files}


@pytest.mark.parametrize("text", [STEPS + "  - path: a\n    |\n", STEPS + "  - |\n", STEPS + "  - path: a\n    li|\n"])
def test_in_a_step_its_actions_are_offered_and_no_keys_of_other_places(server: Server, text: str) -> None:
    offered = keys(server.complete(MODELINE + text))
    assert set(operations()) <= offered <= STEP_KEYS
    assert not offered & (set(RuleFile.model_fields) - set(StepKeys.model_fields))


def test_a_step_that_has_an_action_is_offered_its_keys_but_no_other_steps(server: Server) -> None:
    offered = server.complete(MODELINE + STEPS + "  - path: a\n    limit: 3\n    |\n")
    assert {"sort_by", "order", "always_keep", "when", "preserve"} <= offered.keys()
    assert not {label for label in offered if label.startswith("step: ")} | offered.keys() & {"path", "limit"}


def test_whole_steps_are_offered_to_fill_in(server: Server) -> None:
    offered = server.complete(MODELINE + STEPS + "  - |\n")
    assert {label.removeprefix("step: ") for label in offered if label.startswith("step: ")} == set(operations())
    assert offered["step: limit"]["insertText"].startswith("path: ${1:items}\n  limit: ${2:1}\n  sort_by: ${3:rank}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|", set(RuleFile.model_fields)),
        ("version: 1\ntool: |\n", {"vt_ip", "odd: name"}),
        ("version: 1\ntool: [|]\n", {"vt_ip", "odd: name"}),
        ("version: 1\ntool:\n  - |\n", {"vt_ip", "odd: name"}),
        (STEPS + "  - limit: 3\n    order: |\n", {"asc", "desc"}),
        (STEPS + "  - limit: 3\n    always_keep: |\n", {"severe", "recent"}),
        (STEPS + "  - limit:\n      |\n", {"head", "tail"}),
        (STEPS + "  - keep: a\n    when:\n      |\n", {"min_chars", "where"}),
        (STEPS + "  - keep: a\n    preserve: [|]\n", {*TYPES, *GROUPS, "a"}),
        (STEPS + "  - keep: a\n    preserve:\n      - |\n", {*TYPES, *GROUPS, "a"}),
        (STEPS + "  - keep: a\n    preserve:\n      |\n", {*TYPES, *GROUPS, "a"}),
        (STEPS + "  - extract: |\n", {*TYPES, *GROUPS, "a"}),
        (TESTS + "  - |\n", {*InlineTest.model_fields, "a test on a sample"}),
        (TESTS + "  - name: x\n    expect:\n      |\n", set(Expect.model_fields)),
        (TESTS + "  - name: x\n    given:\n      |\n", {"json", "text", "file", "history", "call"}),
    ],
)
def test_what_is_offered_is_what_may_stand_there(server: Server, text: str, expected: set[str]) -> None:
    assert set(server.complete(MODELINE + text)) == expected


@pytest.mark.parametrize(("verb", "op"), operations().items(), ids=operations())
def test_over_an_action_its_docstring_and_all_its_examples_are_shown(server: Server, verb: str, op: type[Op]) -> None:
    value = json.dumps(op.examples[0].step[verb])
    shown = server.hover(f"{MODELINE}{STEPS}  - {verb[:2]}|{verb[2:]}: {value}\n")
    assert shown.startswith(f"{op.__doc__}\n\n")
    assert shown.count("```yaml") == len(op.examples)


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("ver|sion: 1\n", "The version of the rule language."),
        ("version: 1\nto|ol: [a]\n", "The tool whose returns are reduced: a name, a glob such as `vt_*`, or a list of them."),
        (STEPS + "  - pa|th: a\n    keep: a\n", "Where: JMESPath that names places, such as `items`"),
        (STEPS + "  - limit: 3\n    or|der: asc\n", "`desc`: the highest and newest stay"),
        (STEPS + "  - limit: {he|ad: 3}\n", "So many of the start stay."),
        (STEPS + "  - keep: a\n    pre|serve: [ip]\n", "Entities of these types that the step takes away stay"),
        (STEPS + "  - keep: a\n    preserve: [i|p]\n", "Allowed Values:\n\n* `ip`: ipv4, ipv6\n"),
        (STEPS + "  - keep: a\n    wh|en: {min_chars: 3}\n", "The step is done only if this holds"),
        (TESTS + "  - {name: x, given: {json: 1}, expect: {min_re|duction: 80%}}\n", "The result is smaller by at least this share: `80%`."),
    ],
)
def test_over_a_key_it_is_explained(server: Server, text: str, beginning: str) -> None:
    shown = server.hover(MODELINE + text)
    assert shown.strip().startswith(beginning)
    assert "||" not in shown


def test_without_the_first_line_there_is_no_schema(server: Server) -> None:
    text, *_ = WRONG["an action misspelt"]
    assert server.diagnose([text]) == [[]]
