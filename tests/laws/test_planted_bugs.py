"""Law 12: the tests bite. Each bug that is planted here is caught by the law that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reducer.engine import run
from reducer.engine.choose import Candidates, Chosen
from reducer.engine.restore import Restored
from reducer.plan import cuts, place
from reducer.plan.cuts import Cut
from reducer.plan.nodes import Omission, Opened, open_return
from reducer.plan.place import Place
from reducer.values import dump
from tests.laws import laws
from tests.laws.laws import Case, case_of_drawn
from tests.laws.strategies import cases, cases_of_records, cases_of_texts
from tests.laws.test_live_values import live_cases

hunt = settings(
    max_examples=1000,
    database=None,
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
_keep = Omission.keep


def is_caught(law: Callable[[Case, Any], None], aimed: st.SearchStrategy[Case]) -> bool:
    """Return whether a law fails on a generated case. Any other exception is an error of the planted bug."""

    @hunt
    @given(aimed)
    def run(case: Case) -> None:
        law(case, case.reduce(case.content))

    try:
        run()
    except AssertionError:
        return True
    return False


def write_a_list(content: Any) -> Opened | None:
    top = open_return(content)
    return top and Opened(top.value, lambda value: dump([value]), top.is_json, top.least)


class ChooseOnce(Candidates):
    """Choose the rule of the first pass again, whatever it left."""

    def choose(self, content: Any, top: Opened | None = None) -> Chosen:
        chosen = Candidates.choose(self, content, top)
        self.rules = (chosen.rule,)
        return chosen._replace(number=0)


def keep_in_reverse(self: Omission, kept: Collection[Any], step: int) -> None:
    _keep(self, kept[::-1] if isinstance(kept, list) else kept, step)


def cut_even_if_longer(self: Place, cut: Cut) -> None:
    cut.step, cut.before = self.work.step, None
    self._attach(cut)
    self.work.edits += 1


def write_the_first_gap(self: Cut, mentions: object = ()) -> str:
    start, end = next(iter(self.gaps()), (0, 0))
    return f"{self.text[:start]}{self.marker((start, end))}{self.text[end:]}"


Patch = tuple[Any, str, Any]
BUGS: dict[str, tuple[Callable[[Case, Any], None], *tuple[Patch, ...]]] = {
    "writes another type": (laws.laws_2_to_4_and_7, (run, "open_return", write_a_list)),
    "forgets the root": (laws.laws_2_to_4_and_7, (Place, "is_root", property(lambda self: False))),
    "reorders items": (laws.laws_2_to_4_and_7, (Omission, "keep", keep_in_reverse)),
    "checks no second pass": (laws.law_5_idempotent, (run, "stabilized", lambda rule, content, first, one_pass: first)),
    "chooses a rule only once": (laws.law_5_idempotent, (run, "Candidates", ChooseOnce)),
    "cuts even if longer": (
        laws.laws_2_to_4_and_7,
        (Place, "_cut", cut_even_if_longer),
        (Cut, "write", write_the_first_gap),
    ),
    "restores nothing": (laws.law_8_preserved, (run, "restore", lambda *_: Restored())),
    "cuts anywhere": (laws.law_8_no_halves, (cuts, "boundary", lambda text, at, direction, scan: at)),
    "never opens live objects": (laws.law_11_live_as_stored, (place, "has_structure", lambda value: False)),
    "forgets media": (laws.media_stays, (place, "is_media", lambda value: False)),
}
AIMED = {
    "never opens live objects": live_cases(),
    "forgets media": cases_of_records.map(case_of_drawn),
    "cuts even if longer": cases_of_texts.map(case_of_drawn),
    "checks no second pass": cases_of_records.map(case_of_drawn),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law, *patches = BUGS[bug]
    for patch in patches:
        monkeypatch.setattr(*patch)
    assert is_caught(law, AIMED.get(bug, cases.map(case_of_drawn)))
