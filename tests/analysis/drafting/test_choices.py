"""What there is to choose from for a tool: steps that lose nothing, the list that holds most, values that stay."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.analysis.drafting.choices import COMPACT, UNWRAP, Choice, Options, find_options
from reducer.analysis.drafting.evidence import recorded
from reducer.analysis.drafting.rule_text import DraftRule, Step, compiled
from reducer.engine import attempt
from tests.analysis.drafting.recordings import recording


def ask(*contents: Any, used: str = "") -> Options:
    """The options of a tool that returned each content in a task of its own, after which the agent wrote `used`."""
    histories = [recorded("made-up", recording(f"q{n}", ("ask", one, used or "ok"))) for n, one in enumerate(contents)]
    return find_options(histories, "ask")


def only_step(options: Options) -> Step:
    ((), (step,)) = options.bases
    return step


def left(step: Step, content: Any) -> Any:
    return attempt(compiled(DraftRule("ask", (step,))), "ask", content).content


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


def test_values_that_were_used_and_are_shown_in_several_tasks_are_reused() -> None:
    histories = [
        recorded("made-up", recording(f"q{task}", ("ask", answer, f"I see SigninLogs and row-{task}-77x")))
        for task in range(4)
        for answer in [["SigninLogs", "AuditLogs", f"row-{task}-77x", f"{task}99, 5"]]
    ]
    assert find_options(histories, "ask").values == ("SigninLogs",)
    assert find_options(histories, "other").values == ()


@given(
    st.text(min_size=1, max_size=60).filter(str.isprintable),
    st.lists(st.sampled_from(["SigninLogs", "a b", "10.0.0.1", "it's", "ключ-1"]), min_size=1, max_size=3, unique=True),
)
def test_reused_values_survive_a_rule_that_keeps_them(tool: str, values: list[str]) -> None:
    options = Options(tool, (), ((),), tuple(values))
    rule = options.rule(Choice(action="max_chars", size=200, reused=True))
    assert rule is not None
    content = f"{'begin ' * 90}{' and '.join(values)}{' end' * 90}"
    after = attempt(compiled(replace(rule, tool="ask")), "ask", content).content
    assert len(after) < len(content)
    assert all(value in after for value in values)
    used = {value: {("made-up", "other task")} for value in values}
    (one,) = recorded("made-up", recording("q", ("ask", content, values[0]))).returns
    kept, cut = (options.effect(Choice(0, "max_chars", 200, reused), one, used) for reused in (True, False))
    assert kept.absent == frozenset()
    assert values[0] in cut.absent
    assert cut.chars < kept.chars <= len(content)
