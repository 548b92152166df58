"""Law 12: the laws bite. Each bug that is planted here is caught by the law that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reducer.engine import cuts, place, stability
from reducer.engine.cuts import Cut
from reducer.engine.place import Place
from reducer.engine.plan import Omission, Opened, open_return
from reducer.engine.restore import Restored
from reducer.values import dump
from tests.laws import laws
from tests.laws.laws import Case, case_of
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


def is_caught(law: Callable[[Case, Any], None], aimed: st.SearchStrategy[Any]) -> bool:
    """Return whether a law fails on a generated case. Any other exception is an error of the planted bug."""

    @hunt
    @given(aimed)
    def run(case: Any) -> None:
        found = case_of(case[0], case[2])
        law(found, found.reduce(found.content))

    try:
        run()
    except AssertionError:
        return True
    return False


def writes_another_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(content: Any) -> Opened | None:
        top = open_return(content)
        return top and Opened(top.value, lambda value: dump([value]), top.is_json, top.least)

    monkeypatch.setattr("reducer.engine.open_return", opened)


def forgets_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "is_root", property(lambda self: False))


def reorders_items(monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Omission.keep

    def reversed_keep(self: Omission, kept: Collection[Any], step: int) -> None:
        keep(self, kept[::-1] if isinstance(kept, list) else kept, step)

    monkeypatch.setattr(Omission, "keep", reversed_keep)


def checks_no_second_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stability, "_changed_again", lambda *_: None)


def cuts_even_if_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(self: Place, cut: Cut) -> None:
        cut.step, cut.before = self.work.step, None
        self._attach(cut)
        self.work.edits += 1

    def write(self: Cut, mentions: object = ()) -> str:
        start, end = next(iter(self.gaps()), (0, 0))
        return f"{self.text[:start]}{self.marker((start, end))}{self.text[end:]}"

    monkeypatch.setattr(Place, "_cut", cut)
    monkeypatch.setattr(Cut, "write", write)


def restores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("reducer.engine.run"), "restore", lambda *_: Restored())


def cuts_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "boundary", lambda text, at, direction, scan: at)


def forgets_media(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "is_media", lambda value: False)


@pytest.mark.parametrize(
    ("law", "plant"),
    [
        (laws.law_2_types, writes_another_type),
        (laws.law_3_root_keys, forgets_the_root),
        (laws.law_4_subset, reorders_items),
        (laws.law_5_idempotent, checks_no_second_pass),
        (laws.law_7_never_larger, cuts_even_if_longer),
        (laws.law_8_preserved, restores_nothing),
        (laws.law_8_no_halves, cuts_anywhere),
        (laws.media_stays, forgets_media),
    ],
    ids=lambda value: value.__name__,
)
def test_a_planted_bug_is_caught(
    law: Callable[[Case, Any], None], plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert is_caught(law, cases_of_records if law is laws.media_stays else cases)
