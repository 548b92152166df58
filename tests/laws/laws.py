"""The laws of DESIGN 2 about a single content. Each function raises `AssertionError` if its law is broken."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reducer import markers
from reducer.engine import Outcome, attempt
from reducer.entities import Entity, expand, scan
from reducer.formats import unwrapped
from reducer.histories.against import check_content
from reducer.references import searched, searcher
from reducer.rules import Ruleset
from reducer.values import dump, is_media, plain
from tests.helpers import compiled, decoded, decoded_nested, is_bounded, texts
from tests.laws.strategies import laws


@dataclass(frozen=True)
class Case:
    """A content, the ruleset that reduces it as a return of `tool`, and what the laws depend on.

    preserved: the entity types that every step and `max_chars` preserve
    protected: the values that later messages reference
    """

    ruleset: Ruleset
    content: Any
    preserved: frozenset[str] = frozenset()
    all_keys: bool = False
    unwraps: bool = False
    protected: frozenset[str] = frozenset()
    tool: str = "t"

    def attempt(self, content: Any) -> Outcome:
        """Reduce a content with the ruleset of this case."""
        return attempt(self.ruleset, self.tool, content, self.protected or None)

    def reduce(self, content: Any) -> Any:
        """Return the result for a content."""
        return self.attempt(content).content


def written(content: Any) -> str:
    """Return the stored form of a content as JSON."""
    return dump(plain(content))


def case_of(rule: dict[str, Any], content: Any, protected: frozenset[str] = frozenset()) -> Case:
    """Return the case of a valid rule that is given as data, perhaps with `others` for the same tool."""
    ruleset = compiled(rule)
    assert ruleset is not None
    every = [rule, *rule.get("others", ())]
    preserved = frozenset.intersection(*map(_preserved, every))
    all_keys = all(one.get("keys") == "all" for one in every)
    unwraps = any("unwrap" in step for one in every for step in one["steps"])
    return Case(ruleset, content, preserved, all_keys, unwraps, protected)


def _preserved(rule: dict[str, Any]) -> frozenset[str]:
    """Return the types that every step of a rule preserves without a bound."""
    own = rule.get("preserve", ())
    preserves = (own, *(step.get("preserve", own) for step in rule["steps"]))
    return frozenset.intersection(*(frozenset(() if isinstance(each, dict) else expand(each)) for each in preserves))


def case_of_drawn(drawn: tuple[dict[str, Any], Ruleset, Any]) -> Case:
    """Return the case that `strategies.cases` drew."""
    rule, _, content = drawn
    return case_of(rule, content)


def structure(content: Any) -> Any:
    """Return the structure that the stored form of a content expresses."""
    return decoded(plain(content))


def expressed(content: Any) -> Any:
    """Replace every text that contains structure with the value that it expresses."""
    if isinstance(content, str):
        found = decoded_nested(content)
        return content if found is content else expressed(found)
    if isinstance(content, list):
        return [expressed(item) for item in content]
    if isinstance(content, dict) and not is_media(content):
        return {key: expressed(item) for key, item in content.items()}
    return content


# --- the laws


def laws_2_to_4_and_7(case: Case, result: Any) -> None:
    """What `validate --against` and `test` check: types, root keys, subsets with true counts, and sizes."""
    assert type(result) is type(case.content) or type(case.content) not in (dict, list, str, tuple)
    assert check_content(plain(case.content), plain(result), unwraps=case.unwraps) == []


def law_3_all_keys(case: Case, result: Any) -> None:
    if case.all_keys:
        _assert_all_keys(structure(case.content), structure(result))


def _assert_all_keys(old: Any, new: Any) -> None:
    if isinstance(old, dict) and isinstance(new, dict) and new:
        assert list(new) == list(old)
        for key in old:
            _assert_all_keys(old[key], new[key])


def law_5_idempotent(case: Case, result: Any) -> None:
    assert written(case.reduce(result)) == written(result)
    if not isinstance(result, str):
        assert written(case.reduce(json.loads(written(result)))) == written(result)


def law_8_preserved(case: Case, result: Any) -> None:
    first: dict[tuple[str, str], str] = {}
    for entity in _entities(case.content, case.preserved):
        first.setdefault((entity.type, entity.canonical), entity.value)
    found = list(texts(expressed(structure(result))))
    for value in first.values():
        assert any(is_bounded(value, text) for text in found), value


def law_8_no_halves(case: Case, result: Any) -> None:
    found = list(texts(expressed(structure(case.content))))
    arrived = {entity.value for entity in _entities(case.content)}
    for entity in _entities(result):
        assert entity.value in arrived or any(is_bounded(entity.value, text) for text in found), entity


def _entities(content: Any, types: frozenset[str] | None = None) -> Iterator[Entity]:
    return (entity for text in texts(expressed(structure(content))) for entity in scan(text, types))


def law_11_live_as_stored(case: Case, result: Any) -> None:
    stored = plain(case.content)
    assert stored is case.content or written(case.reduce(stored)) == written(result)


def references_stay(case: Case, result: Any) -> None:
    search = searcher(case.protected)
    assert search(searched(plain(result))) >= search(searched(plain(case.content)))


def media_stays(case: Case, result: Any) -> None:
    if isinstance(case.content, list):
        assert [item for item in result if is_media(item)] == [item for item in case.content if is_media(item)]


def law_14_nothing_vanishes(case: Case, outcome: Outcome) -> None:
    """What the result lacks is marked in it, or counted in the outcome. A thin item lacks what nothing needs."""
    if outcome.restored.preserved or outcome.restored.referenced:
        return
    lost = Counter[str]()
    _count_losses(_read(case.content), _read(outcome.content), lost)
    assert lost["items"] <= outcome.unmarked
    assert lost["keys"] <= outcome.removed_keys
    assert lost["values"] <= outcome.unmarked + outcome.removed_keys


def _read(content: Any) -> Any:
    return expressed(unwrapped(structure(content)))


def _count_losses(old: Any, new: Any, lost: Counter[str]) -> None:
    """Count the items and keys that vanish without a marker, and the values that become empty or have no marker.

    Items of a list that lost some are not compared, because any of them may be missing.
    """
    if isinstance(old, dict) and isinstance(new, dict) and new:
        lost["keys"] += len(old.keys() - new.keys())
        for key in new:
            _count_losses(old[key], new[key], lost)
    elif isinstance(old, list) and isinstance(new, list) and new:
        removed = len(old) - len(new)
        if _ends_with_marker(new):
            return
        lost["items"] += removed - _ends_with_marker(old)
        for old_item, new_item in zip(old, new, strict=False) if removed == 0 else ():
            _count_losses(old_item, new_item, lost)
    elif old and old != new and not (isinstance(new, str) and markers.PREFIX in new):
        lost["values"] += 1


def _ends_with_marker(items: list[Any]) -> bool:
    return isinstance(items[-1], str) and items[-1].startswith(markers.PREFIX)


LAWS = (
    laws_2_to_4_and_7,
    law_3_all_keys,
    law_5_idempotent,
    law_8_preserved,
    law_8_no_halves,
    law_11_live_as_stored,
    references_stay,
    media_stays,
)


def check(case: Case) -> Outcome:
    """Reduce a case, check all laws on the result, and return the outcome."""
    before = written(case.content)
    outcome = case.attempt(case.content)
    result = outcome.content
    assert written(case.content) == before, "the content was changed in place"
    if written(result) != before:
        for law in LAWS:
            law(case, result)
        law_14_nothing_vanishes(case, outcome)
    else:
        assert result is case.content
        law_11_live_as_stored(case, result)
    return outcome


def law_test(cases: st.SearchStrategy[Case], *pinned: Case) -> Callable[[], None]:
    """Return the test of a topic: the laws hold on generated and pinned cases, and rules reduce enough cases (law 12).

    Rules reduce every pinned case. If there are enough generated cases, as in CI, rules reduce at least 40% of them,
    and at most 5% have a fault.
    """
    counts: Counter[str] = Counter()

    @laws
    @given(cases)
    def hold(case: Case) -> None:
        outcome = check(case)
        counts.update(all=1, changed=outcome.content is not case.content, faults=bool(outcome.fault))

    def hold_and_reduce() -> None:
        for case in pinned:
            assert check(case).content is not case.content
        hold()
        if counts["all"] >= 150:
            assert counts["changed"] >= 0.4 * counts["all"], counts
            assert counts["faults"] <= 0.05 * counts["all"], counts

    return hold_and_reduce
