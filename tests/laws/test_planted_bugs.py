"""Law 12: the laws bite. Each bug that is planted here is caught by the law that it breaks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reducer import marks
from reducer.engine import cut, draft, reduce_content
from reducer.engine.draft import Draft
from reducer.ops.limit import Limit
from tests.laws import test_laws
from tests.laws.strategies import cases, cases_of_records

hunt = settings(
    max_examples=1000,
    database=None,
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def is_caught(law: Callable[..., None], aimed: st.SearchStrategy[Any]) -> bool:
    """Tell whether a law fails on generated cases."""
    check = law.hypothesis.inner_test  # type: ignore[attr-defined]
    try:
        hunt(given(aimed)(check))()
    except AssertionError:
        return True
    return False


def no_settling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["reducer.engine.run"], "settle", lambda draft, old, new, rule: new)


def no_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Draft, "_is_root", lambda self, value: False)


def cuts_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "head_end", lambda text, limit, scan: limit)


def never_reads_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "read", lambda *_: None)
    monkeypatch.setattr("reducer.engine._changed_again", lambda *_: None)


def always_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(self: Draft, text: str, head: int, tail: int) -> str:
        return text if marks.read(text, head, tail, self.reading.reads) else f"{text[:head]} {marks.Mark(len(text) - head, 'characters')}"

    monkeypatch.setattr(Draft, "cut", cut)


def reorders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Limit, "apply", lambda self, items, draft: draft.take_items(items, [*range(len(items) - 1)][::-1]))
    monkeypatch.setattr("reducer.engine._changed_again", lambda *_: None)


def answers_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.laws.test_laws.reduce_content", lambda ruleset, tool, content: str(reduce_content(ruleset, tool, content)))


def forgets_media(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "is_media", lambda value: False)
    monkeypatch.setattr(sys.modules["reducer.engine.run"], "is_media", lambda value: False)


@pytest.mark.parametrize(
    ("law", "plant", "aimed"),
    [
        (test_laws.test_law_2_a_content_keeps_its_type, answers_texts, cases),
        (test_laws.test_law_3_an_object_at_the_root_keeps_its_keys, no_root, cases),
        (test_laws.test_law_4_the_result_lies_within_the_input, reorders, cases),
        (test_laws.test_law_5_reducing_again_changes_nothing, never_reads_marks, cases),
        (test_laws.test_law_7_the_result_is_never_larger, always_marks, cases),
        (test_laws.test_law_8_preserved_entities_still_stand, no_settling, cases),
        (test_laws.test_law_8_a_cut_leaves_no_half_entity, cuts_anywhere, cases),
        (test_laws.test_media_stays_and_nothing_is_changed_in_place, forgets_media, cases_of_records),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_planted_bug_is_caught(
    law: Callable[..., None], plant: Callable[[pytest.MonkeyPatch], None], aimed: st.SearchStrategy[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert is_caught(law, aimed)
