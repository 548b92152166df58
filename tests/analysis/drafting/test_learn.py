"""Drafts from recorded histories whose later uses are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reducer.analysis.drafting import Learned, Recording, drafts, learn, recorded
from reducer.analysis.drafting.evidence import split
from reducer.analysis.drafting.rule_text import compiled
from reducer.analysis.expectations import unmet
from reducer.analysis.rule_tests import chosen_tests, run_test
from reducer.engine import attempt, reduce_content
from reducer.rules import check_rules, compile_rules
from tests import helpers
from tests.analysis.drafting.recordings import hosts, recording, schema
from tests.laws.laws import Case, check

SMALL = ("secrl", "tau_airline")
"""Sources that are read in a few seconds."""


def read(*histories: bytes) -> list[Recording]:
    return [recorded("made-up", one) for one in histories]


def tool_draft(learned: Learned, tool: str) -> Any:
    return next(one for one in learned.tools if one.tool == tool)


@pytest.fixture(scope="module")
def learned() -> Learned:
    return learn(
        read(*(recording(f"site {task}", schema(task), hosts(task), ("ping", "ok", "Fine.")) for task in range(16))),
        0.95,
        0.5,
    )


def test_unused_values_are_removed_and_used_ones_stay(learned: Learned) -> None:
    rule = tool_draft(learned, "list_hosts").rule
    left = reduce_content(compiled(rule), "list_hosts", hosts(99)[1])
    assert any(helpers.is_bounded("srv-99-1.corp", text) for text in helpers.texts(left))
    assert len(json.dumps(left)) < 0.2 * len(json.dumps(hosts(99)[1]))


def test_a_listing_of_which_everything_is_used_is_left_alone(learned: Learned) -> None:
    assert not tool_draft(learned, "list_tables").plan
    content = schema(99)[1]
    texts = [(draft.file, draft.text) for draft in drafts(learned)]
    ruleset, problems = compile_rules(texts)
    assert ruleset is not None
    assert not problems
    assert reduce_content(ruleset, "list_tables", content) is content


def test_small_answers_are_left_alone_with_the_reason(learned: Learned) -> None:
    assert tool_draft(learned, "ping").rule is None
    assert "small" in tool_draft(learned, "ping").why


def test_it_is_measured_on_histories_that_were_not_learned_from(learned: Learned) -> None:
    assert {one.task for one in learned.training}.isdisjoint(one.task for one in learned.held)
    assert len(learned.training) == len(learned.held) == 8
    score = learned.measured.tools["list_hosts"]
    assert score.returns == 8
    assert score.saved > 0.8
    assert score.retention == 1


def test_the_order_in_which_histories_are_read_changes_nothing() -> None:
    one = read(*(recording(f"site {task}", hosts(task)) for task in range(12)))
    other = learn(one[::-1], 0.95, 0.5)
    assert list(drafts(other)) == list(drafts(learn(one, 0.95, 0.5)))


def test_histories_of_one_task_are_on_one_side() -> None:
    histories = read(*(recording(f"site {task % 3}", hosts(task)) for task in range(30)))
    training, held = split(histories, 0.5)
    assert {one.task for one in training}.isdisjoint(one.task for one in held)
    assert split(histories, 0.0)[1] == []


def test_histories_that_begin_alike_are_separate_tasks() -> None:
    training, held = split(read(*(recording("Hello", hosts(task)) for task in range(30))), 0.5)
    assert len(training) == len(held) == 15


def test_contradicting_uses_keep_more() -> None:
    # Whatever is cut, half of the agents needed it.
    histories = read(*(recording(f"site {task}", hosts(task, range(40) if task % 2 else (0,))) for task in range(24)))
    learned = learn(histories, 0.99, 0.5)
    assert learned.measured.total.retention >= 0.95


@pytest.mark.parametrize(
    ("histories", "tools"),
    [
        ([recording("one", hosts(1))], 1),
        ([recording("one", ("list_hosts", hosts(1)[1], ""))], 0),
        ([recording("one")], 0),
        ([recording(f"site {task}", ("list_hosts", hosts(task)[1], "")) for task in range(12)], 0),
    ],
    ids=["one return", "nothing after it", "no return", "never anything after it"],
)
def test_thin_evidence_makes_no_rule_of_a_tool(histories: list[bytes], tools: int) -> None:
    learned = learn(read(*histories), 0.95, 0.5)
    assert len(learned.tools) == tools
    assert all(one.rule is None and one.why for one in learned.tools)


def test_keys_that_name_things_are_never_dropped() -> None:
    def answer(task: int) -> dict[str, Any]:
        return {"found": f"id-{task}-77", "hits": {f"10.0.{task}.{number}": {"raw": "z" * 90} for number in range(9)}}

    histories = read(
        *(
            recording(
                f"q{task}", *(("scan", answer(task * 9 + turn), f"It is id-{task * 9 + turn}-77") for turn in range(3))
            )
            for task in range(12)
        )
    )
    learned = learn(histories, 0.95, 0.0)
    assert "10.0." not in str([one.rule for one in learned.tools])


def test_mentions_of_short_values_are_uses() -> None:
    def answer(task: int) -> dict[str, Any]:
        return {
            "id": f"R{task}77Q",
            "city": "Paris" if task % 2 else "Rome",
            "blob": "a very long text of no use " * 30,
        }

    steps = [
        [("trip", answer(task * 9 + turn), f"R{task * 9 + turn}77Q goes to Paris or Rome") for turn in range(3)]
        for task in range(12)
    ]
    rule = tool_draft(
        learn(read(*(recording(f"q{task}", *some) for task, some in enumerate(steps))), 0.95, 0.0), "trip"
    ).rule
    assert "blob" in str(rule) or "truncate" in str(rule)
    assert "city" not in str(rule)


def test_names_that_agents_use_in_other_tasks_stay_where_the_rest_is_cut() -> None:
    names = [f"table_{number}_logs" for number in range(6)]

    def answer(task: int) -> str:
        return "".join(
            f"{names[number]}\n{f'words of task {task} that nobody ever needs ' * 12}\n" for number in range(6)
        )

    histories = read(
        *(
            recording(f"q{task}", ("schema", answer(task), f"I read {names[task % 6]} and {names[task % 5]}"))
            for task in range(24)
        )
    )
    learned = learn(histories, 0.95, 0.5)
    rule = tool_draft(learned, "schema").rule
    (words,) = (one["words"] for one in rule.settings["entities"].values())
    assert set(words) <= set(names)
    assert learned.measured.total.saved > 0.5
    assert learned.measured.total.retention == 1
    draft = next(one for one in drafts(learned) if one.tool == "schema")
    ruleset, problems = compile_rules([(draft.file, draft.text)])
    assert ruleset is not None
    assert not problems
    assert f"# {len(words)} values that agents used" in draft.text
    left = list(helpers.texts(reduce_content(ruleset, "schema", answer(99))))
    assert all(any(helpers.is_bounded(name, text) for text in left) for name in words)


def test_rows_that_all_end_alike_are_cut_off_with_the_reason() -> None:
    def answer(task: int) -> str:
        return repr([(f"Column{task}x{number}", "text", "YES", "", None) for number in range(40)])

    said = [" and ".join(f"Column{task}x{number}" for number in range(task % 40, 40, 3)) for task in range(24)]
    learned = learn(
        read(*(recording(f"q{task}", ("describe", answer(task), said[task])) for task in range(24))), 0.95, 0.5
    )
    draft = next(one for one in drafts(learned) if one.tool == "describe")
    assert '# Rows that end in "text", "YES", "", null: 480 in 12 returns' in draft.text
    assert reduce_content(compiled(tool_draft(learned, "describe").rule), "describe", answer(99)).startswith(
        "[('Column99x0',), ('Column99x1',)"
    )
    assert learned.measured.total.retention == 1


texts = st.sampled_from(
    [
        "srv-1a.corp",
        "note 192.0.2.77 and CVE-2024-3400 " * 9,
        "x" * 900,
        '{"a": [1, {"b": "srv-9z.corp"}]}',
        "[('t1', 5), ('t2', None)]" * 1,
        "",
    ]
)
contents = st.recursive(
    texts | st.integers(0, 5000) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=12)
        | st.dictionaries(st.sampled_from(["id", "raw", "list", "10.0.0.1", "a b", "ключ"]), inner, max_size=5)
    ),
    max_leaves=30,
)
tools = st.sampled_from(["t", "u*", "with space", "ключ", "true", "a/b"])


@settings(
    max_examples=4,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(
    st.lists(st.tuples(tools, contents), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([0.5, 0.95, 1.0]),
)
def test_every_draft_is_sound_and_keeps_the_laws(answers: list[tuple[str, Any]], holdout: float, keep: float) -> None:
    # The same answers, made large, in many tasks: enough evidence on whatever they are.
    histories = read(
        *(
            recording(
                f"q{task}",
                *(
                    (tool, [content, f"v{task}{number}k"] * 30, f"v{task}{number}k")
                    for number, (tool, content) in enumerate(answers)
                ),
            )
            for task in range(6)
        )
    )
    drafted = list(drafts(learn(histories, keep, holdout)))
    ruleset, problems = compile_rules([(draft.file, draft.text) for draft in drafted])
    assert not problems
    for draft in drafted:
        assert ruleset is not None
        for _, content in answers:
            before = [content, "v11k"] * 30
            name = draft.tool if draft.tool != "*" else "unseen"
            check(Case(ruleset, before, tool=name, unwraps="unwrap" in draft.text))
        for test in next(rule for rule in ruleset.rules if rule.file == draft.file).tests:
            content = json.loads(draft.sample)
            assert (
                list(
                    unmet(
                        test.expect, content, attempt(ruleset, draft.tool if draft.tool != "*" else "unseen", content)
                    )
                )
                == []
            )


def test_what_is_learned_from_real_histories(data: Path, tmp_path: Path) -> None:
    histories = [
        recorded(file.parent.name, file.read_bytes())
        for file in sorted(data.glob("histories/*/*.json"))
        if file.parent.name in SMALL
    ]
    learned = learn(histories, 0.95, 0.5)
    assert learned.measured.total.saved >= 0.1
    assert learned.measured.total.retention >= 0.95
    assert learned.unseen.retention >= 0.9
    (tmp_path / "samples").mkdir()
    for draft in drafts(learned):
        (tmp_path / draft.file).write_text(draft.text)
        if draft.sample:
            (tmp_path / draft.sample_file).write_text(draft.sample)
    ruleset, problems = check_rules(tmp_path)
    assert ruleset is not None
    assert not problems
    results = [run_test(ruleset, *test) for test in chosen_tests(ruleset)]
    assert [failure for result in results for failure in result.failures] == []
