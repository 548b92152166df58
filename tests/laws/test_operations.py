"""Every operation is generated from its own examples, also a new one that nobody lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from hypothesis import given, settings

from reducer.engine import attempt
from reducer.operations import operations
from reducer.operations.op import Example, Op
from reducer.plan import Place
from reducer.rules.model import RuleFile
from tests.laws.laws import case_of_drawn, check
from tests.laws.strategies import cases, cases_of_examples, laws
from tests.laws.test_planted_bugs import is_caught


class DropNull(Op):
    """Drop items that are null."""

    accepts = frozenset({list})
    examples = (Example("a list with gaps", {"drop_null": True}, [1, None, 0], [1, 0]),)

    drop_null: Literal[True]

    @classmethod
    def verb(cls) -> str:
        return "drop_null"

    def apply(self, place: Place) -> None:
        place.keep_items_that(lambda item: item is not None)

    def describe(self, place: str) -> str:
        return f"drops null from {place}"


class Failing(DropNull):
    """Fail at null."""

    def apply(self, place: Place) -> None:
        assert None not in place.contents()


@contextmanager
def added(op: type[Op]) -> Iterator[None]:
    """Add an operation to those that rules may have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(operations(), op.verb(), op)
        RuleFile.model_rebuild(force=True)
        yield
    RuleFile.model_rebuild(force=True)


@pytest.mark.slow
def test_every_operation_is_generated_and_a_new_one_obeys_the_laws() -> None:
    effective: Counter[str] = Counter()

    @settings(laws, max_examples=1000, database=None, derandomize=True, deadline=None)
    @given(cases)
    def hold(drawn: Any) -> None:
        rule, ruleset, content = drawn
        runs = attempt(ruleset, "t", content).steps
        effective.update(run.step.op.verb() for run in runs if run.step and run.changed)
        if any("drop_null" in step for step in rule["steps"]):
            check(case_of_drawn(drawn))

    with added(DropNull):
        hold()
        assert all(effective[verb] >= 5 for verb in operations()), effective


@pytest.mark.slow
def test_a_bug_in_a_new_operation_is_found() -> None:
    with added(Failing):
        assert is_caught(lambda case, result: None, cases_of_examples.map(case_of_drawn))
