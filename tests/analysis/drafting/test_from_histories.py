"""Drafts from recorded histories whose later uses are known, and the candidates for a tool."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reducer.analysis.drafting import Draft, Learned, Recording, drafts, learn, recorded
from reducer.analysis.drafting.evidence import Score, Scores, folds, split
from reducer.analysis.drafting.from_histories import COMPACT, UNWRAP, Candidates, find_candidates, keeps_enough
from reducer.analysis.drafting.rule_text import DraftRule, Step, compiled
from reducer.analysis.rule_tests import chosen_samples, run_sample, unmet
from reducer.cli.init import write_drafts
from reducer.engine import attempt, reduce_content
from reducer.rules import Ruleset, check_rules, compile_rules
from tests import helpers
from tests.analysis.drafting import recordings
from tests.analysis.drafting.recordings import hosts, recording, schema
from tests.laws.laws import Case, check

SMALL = ("secrl", "tau_airline")
"""Sources that are read in a few seconds."""


def read(*histories: bytes) -> list[Recording]:
    return [recorded("made-up", one) for one in histories]


def tool_draft(learned: Learned, tool: str) -> Any:
    return next(one for one in learned.tools if one.tool == tool)


def loaded(drafted: Iterable[Draft]) -> Ruleset:
    ruleset, problems = compile_rules([(draft.file, draft.text) for draft in drafted])
    assert not problems
    assert ruleset is not None
    return ruleset


@pytest.fixture(scope="module")
def learned() -> Learned:
    steps = [(schema(task), hosts(task), ("ping", "ok", "Fine.")) for task in range(16)]
    return learn(read(*(recording(f"site {task}", *each) for task, each in enumerate(steps))), 0.95, 0.5)


def test_unused_values_are_removed_and_used_ones_stay(learned: Learned) -> None:
    rule = tool_draft(learned, "list_hosts").rule
    left = reduce_content(compiled(rule), "list_hosts", hosts(99)[1])
    assert any(helpers.is_bounded("srv-99-1.corp", text) for text in helpers.texts(left))
    assert len(json.dumps(left)) < 0.2 * len(json.dumps(hosts(99)[1]))


def test_listings_of_which_everything_is_used_and_small_answers_are_left_alone(learned: Learned) -> None:
    content = schema(99)[1]
    assert reduce_content(loaded(drafts(learned)), "list_tables", content) is content
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


def test_histories_of_one_task_are_on_one_side_unless_all_begin_alike() -> None:
    histories = read(*(recording(f"site {task % 3}", hosts(task)) for task in range(30)))
    training, held = split(histories, 0.5)
    assert {one.task for one in training}.isdisjoint(one.task for one in held)
    assert split(histories, 0.0)[1] == []
    assert [*map(len, split(read(*(recording("Hello", hosts(task)) for task in range(30))), 0.5))] == [15, 15]


@pytest.mark.parametrize(
    ("kept", "references", "least"), [(0, 0, 0), (20, 20, 0.92), (19, 20, 0.85), (950, 1000, 0.94)]
)
def test_the_retention_to_expect_is_lower_with_less_evidence(kept: int, references: int, least: float) -> None:
    assert round(Score(references=references, kept=kept).at_least, 2) == least


@pytest.mark.parametrize(("kept", "references", "expected"), [(950, 1000, True), (930, 1000, False), (45, 50, False)])
def test_every_source_with_many_references_keeps_enough(kept: int, references: int, expected: bool) -> None:
    source = Score(references=references, kept=kept)
    assert keeps_enough(Scores({("a", "t"): source, ("b", "t"): Score(references=2000, kept=2000)}), 0.94) is expected
    assert keeps_enough(Scores({("a", "t"): source}), 0.96) is False


def test_contradicting_uses_keep_more() -> None:
    # Whatever is cut, half of the agents needed it.
    histories = read(*(recording(f"site {task}", hosts(task, range(40) if task % 2 else (0,))) for task in range(24)))
    learned = learn(histories, 0.99, 0.5)
    assert learned.measured.total.retention >= 0.95


def test_thin_evidence_makes_no_rule_of_a_tool() -> None:
    one = recording("one", hosts(1))
    nothing_after = [recording(f"site {task}", ("list_hosts", hosts(task)[1], "")) for task in range(12)]
    for histories, tools in (([one], 1), (nothing_after[:1], 0), ([recording("one")], 0), (nothing_after, 0)):
        learned = learn(read(*histories), 0.95, 0.5)
        assert len(learned.tools) == tools
        assert all(tool.rule is None and tool.why for tool in learned.tools)


def test_the_default_rule_cuts_texts_in_the_middle_and_no_lists() -> None:
    log = "\n".join(f"10:{n % 60:02} job {n} took {n % 7} s" for n in range(3000))

    def answers(task: int) -> Iterator[recordings.Step]:
        yield ("log", f"{task}x{log}{task}y", f"It ends in {task}y")
        yield ("list", {"text": json.dumps([f"n{task}"] * 300), "none": None}, f"n{task}")

    learned = learn(read(*(recording(f"q{task}", *answers(task)) for task in range(12))), 0.95, 0)
    (rule,) = [one.rule for one in (learned.default,) if one.rule is not None]
    assert not any("limit" in step.keys for step in rule.steps)
    ruleset, cut = loaded(drafts(learned)), rule.settings["max_chars"]
    ends = {"head": cut * 9 // 10 * 7 // 10, "tail": cut * 9 // 10 * 3 // 10}
    assert ends in [step.keys.get("truncate") for step in rule.steps]
    left = reduce_content(ruleset, "another", {"text": json.dumps([{"a": None}] * 900), "none": None})
    assert left == {"text": [{}] * 900, "none": None}
    assert len(reduce_content(ruleset, "another", log)) <= cut


def test_a_rule_of_a_tool_saves_more_than_the_default_rule(learned: Learned) -> None:
    ruled = [one.tool for one in learned.tools if one.sample is not None]
    assert ruled == ["list_hosts"]
    ruleset, content = loaded(drafts(learned)), hosts(99)[1] * 4
    own, default = (len(json.dumps(reduce_content(ruleset, tool, content))) for tool in ("list_hosts", "another"))
    assert own < default < len(json.dumps(content))


def test_only_large_returns_are_cut_if_all_of_small_ones_is_used() -> None:
    def answers(task: int) -> Iterator[recordings.Step]:
        yield hosts(task, (0, 39))
        few = [{"host": f"few-{task}-{n}.corp", "note": "seen again " * 8} for n in range(6)]
        yield "list_hosts", few, "I read " + ", ".join(one["host"] for one in few)

    learned = learn(read(*(recording(f"site {task}", *answers(task)) for task in range(24))), 0.95, 0)
    ruleset, (_, large, _) = compiled(tool_draft(learned, "list_hosts").rule), hosts(99)
    left = reduce_content(ruleset, "list_hosts", large)
    assert len(left) < 10
    assert {left[0]["host"], left[-2]["host"]} == {large[0]["host"], large[-1]["host"]}
    assert "more items]" in left[-1]
    few = reduce_content(ruleset, "list_hosts", large[:6])
    assert [one["host"] for one in few] == [one["host"] for one in large[:6]]


def test_folds_have_the_same_number_of_tasks_of_each_source() -> None:
    histories = [recorded(source, recording(f"site {n // 2}", hosts(n))) for source in "ab" for n in range(20)]
    fold_of = folds(histories, 5)
    assert len(fold_of) == 20
    assert Counter((source, fold) for (source, _), fold in fold_of.items()) == {
        (s, n): 2 for s in "ab" for n in range(5)
    }


texts = st.sampled_from(["srv-1a.corp", "note 192.0.2.77 " * 9, "x" * 900, '{"a": [1, {"b": "z"}]}', "[('t1', 5)]", ""])
keys = st.sampled_from(["id", "raw", "list", "10.0.0.1", "a b", "ключ"])
contents = st.recursive(
    texts | st.integers(0, 5000) | st.none(),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=30,
)
tools = st.sampled_from(["t", "u*", "with space", "ключ", "true", "a/b"])


@settings(max_examples=4, suppress_health_check=[*HealthCheck])
@given(
    st.lists(st.tuples(tools, contents), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([0.5, 0.95, 1.0]),
)
def test_every_draft_is_sound_and_keeps_the_laws(answers: list[tuple[str, Any]], holdout: float, keep: float) -> None:
    # The same answers, made large, in many tasks: enough evidence on whatever they are.
    def steps(task: int) -> Iterator[recordings.Step]:
        yield from ((tool, [one, f"v{task}{n}k"] * 30, f"v{task}{n}k") for n, (tool, one) in enumerate(answers))

    histories = read(*(recording(f"q{task}", *steps(task)) for task in range(6)))
    drafted = list(drafts(learn(histories, keep, holdout)))
    ruleset = loaded(drafted)
    for draft in drafted:
        tool = draft.tool if draft.tool != "*" else "unseen"
        for _, content in answers:
            before = [content, "v11k"] * 30
            check(Case(ruleset, before, tool=tool, unwraps="unwrap" in draft.text))
        for test in next(rule for rule in ruleset.rules if rule.file == draft.file).tests:
            content = json.loads(draft.sample)
            assert list(unmet(test.expect, content, attempt(ruleset, tool, content))) == []


def test_what_is_learned_from_real_histories(data: Path, tmp_path: Path) -> None:
    files = [file for file in sorted(data.glob("histories/*/*.json")) if file.parent.name in SMALL]
    learned = learn([recorded(file.parent.name, file.read_bytes()) for file in files], 0.95, 0.5)
    assert learned.measured.total.saved >= 0.1
    assert learned.measured.total.retention >= 0.95
    assert learned.unseen.retention >= 0.9
    write_drafts(tmp_path, list(drafts(learned)))
    ruleset, problems = check_rules(tmp_path)
    assert ruleset is not None
    assert not problems
    cases = [run_sample(ruleset, sample) for sample in chosen_samples(ruleset, "")]
    assert [case for case in cases if case is None or case.failures] == []


# --- candidates


def ask(*contents: Any, used: str = "") -> Candidates:
    """Return the candidates for a tool that returned one content per task, after which the agent wrote `used`."""
    histories = read(*(recording(f"q{n}", ("ask", one, used or "ok")) for n, one in enumerate(contents)))
    return find_candidates(histories, "ask")


def only_step(candidates: Candidates) -> Step:
    ((step,),) = candidates.bases
    return step


def left(step: Step, content: Any) -> Any:
    return attempt(compiled(DraftRule("ask", (step,))), "ask", content).content


def columns(*names: str, end: tuple[Any, ...] = ("text", "YES", None)) -> str:
    return repr([(name, *end) for name in names])


def test_the_common_end_of_rows_is_cut_off_and_other_rows_stay() -> None:
    step = only_step(ask(*(columns(*(f"Column{task}x{n}" for n in range(9))) for task in range(6))))
    assert step.reason == 'Rows that end in "text", "YES", null: 54 in 6 returns, 0 later uses'
    mixed = "[('Name', 'text', 'YES', None), ('Size', 'bigint', 'YES', None), ('text',)]"
    assert left(step, mixed) == "[('Name',), ('Size', 'bigint', 'YES', None), ('text',)]"


def test_an_end_that_was_used_stays() -> None:
    tables = [columns(*(f"Column{n}" for n in range(9)), end=("Kind_A7x", None)) for _ in range(6)]
    assert only_step(ask(*tables)).keys["limit"] == 1
    assert only_step(ask(*tables, used="Kind_A7x")).keys["limit"] == 2


def test_other_ends_stay() -> None:
    different = [columns(*(f"C{n}" for n in range(9)), end=(n, task)) for task in range(6) for n in range(2)]
    too_few = [columns(*(f"Column{n}" for n in range(9)))] * 3
    for contents in (different, too_few, ["no rows at all", {"rows": 1}]):
        assert ask(*contents).bases == ((),)


items = st.none() | st.sampled_from(["text", "YES", "", "it's", "a\\b", "ключ", "x" * 30, "\n"]) | st.integers(0, 9)


@given(st.lists(st.lists(items, min_size=1, max_size=5), min_size=1, max_size=12))
def test_only_ends_of_rows_are_cut_off(rows: list[list[Any]]) -> None:
    for step in [step for base in ask(*[rows * 3] * 6).bases for step in base if "limit" in step.keys]:
        after = left(step, rows * 3)
        assert after != rows * 3
        assert all(row == old[: len(row)] for row, old in zip(after, rows * 3, strict=True))
        assert {len(row) for row, old in zip(after, rows * 3, strict=True) if row != old} == {step.keys["limit"]}


def test_json_in_texts_is_unwrapped() -> None:
    nested = [{"text": json.dumps({"name": f"n{n}", "more": None, "words": "a b c " * 9})} for n in range(5)]
    assert ask(*nested).bases[-1] == (UNWRAP, COMPACT)
    assert ask({"name": "nothing to save"}).bases == ((),)


@pytest.mark.parametrize(("said", "dropped"), [("srv3k", ["note", "raw"]), ("srv3k and zz9plural", ["raw"])])
def test_keys_of_maps_are_dropped_at_their_values_unless_used(said: str, dropped: list[str]) -> None:
    host = {"raw": "x" * 90, "note": "zz9plural"}
    hosts = {f"10.0.0.{number}": {"name": f"srv{number}k", **host} for number in range(6)}
    step = only_step(ask(*[{"hosts": hosts}] * 24, used=said))
    assert step.keys == {"path": "hosts.*", "drop": dropped}
    assert f"of the characters, 0 of {24 * len(said.split()[::2])} later uses" in step.reason


def test_keys_that_are_mentioned_or_name_things_stay() -> None:
    def answer(**keys: Any) -> dict[str, Any]:
        return {"found": "id-77-9x", **keys}

    assert only_step(ask(*[answer(raw="z" * 90)] * 24, used="id-77-9x")).keys["drop"] == ["raw"]
    for content in (answer(state="new"), answer(**{"10.0.0.1": "z" * 90})):
        assert ask(*[content] * 24, used="id-77-9x is new").bases == ((),)
