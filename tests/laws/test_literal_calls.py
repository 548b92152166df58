"""Calls in Python literals are atoms: they stay unchanged, or are removed with their item or key."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import strategies as st

from tests.helpers import prose, reduced
from tests.laws.laws import case_of, law_test
from tests.laws.strategies import fields, rules_of, some

_NAMES = {"__builtins__": {}, "datetime": datetime, "Decimal": Decimal, "Fraction": Fraction, "UUID": UUID, "set": set}
_ATOMS: tuple[Any, ...] = (
    datetime.datetime(2025, 8, 4, 20, 30, 22),
    datetime.datetime(2025, 8, 4, 20, 30, 22, 123, tzinfo=datetime.UTC),
    datetime.datetime(2025, 8, 4, tzinfo=datetime.timezone(datetime.timedelta(hours=2), "]), ('")),
    datetime.date(2025, 8, 4),
    datetime.time(20, 30),
    datetime.timedelta(days=1, seconds=7),
    Decimal("1"),
    Decimal("-1.50"),
    Decimal("1E+400"),
    Fraction(1, 3),
    UUID("12345678-1234-5678-1234-567812345678"),
)


@pytest.mark.parametrize("atom", _ATOMS, ids=repr)
@pytest.mark.parametrize("bound", [1, 10, {"head": 3, "tail": 3}])
def test_a_call_is_not_cut(atom: Any, bound: Any) -> None:
    long = "word " * 40
    rule = {"steps": [{"truncate": bound}], "preserve": []}
    for content in ([(1, atom)], [atom], {"a": atom, "b": [atom, (atom,)]}, (atom, atom)):
        assert reduced(rule, str(content)) == str(content)
        mixed = [content, long]
        result = reduced(rule, str(mixed))
        assert len(result) < len(str(mixed))
        assert eval(result, dict(_NAMES))[0] == content


@pytest.mark.parametrize("atom", _ATOMS, ids=repr)
def test_a_call_is_not_entered(atom: Any) -> None:
    content = str({"rows": [{"id": 1, "at": atom, "note": ""}, {"id": 2, "at": atom, "note": ""}], "at": atom})
    for path in ("rows[*].at", "rows[*].at.*", "rows[*].at.days", "at", "at[*]"):
        for action in ({"keep": ["days"]}, {"drop": ["days", "hours"]}, {"limit": 1}, {"extract": ["cve"]}):
            assert reduced({"steps": [{"path": path, **action}]}, content) == content


@pytest.mark.parametrize("atom", _ATOMS, ids=repr)
def test_a_call_goes_with_its_key_or_item_and_stays_under_a_key_of_the_root(atom: Any) -> None:
    rows = [{"id": 1, "at": atom}, {"id": 2, "at": atom}]
    assert reduced({"steps": [{"drop": ["at"]}]}, str(rows)) == "[{'id': 1}, {'id': 2}]"
    assert reduced({"steps": [{"limit": 1}], "mark": False}, str([atom] * 3)) == str([atom])
    assert reduced({"steps": [{"drop": ["at"]}]}, str(rows[0])) == str(rows[0])
    assert reduced({"steps": [{"path": "[*].at", "truncate": 5}]}, str(rows)) == str(rows)


def test_a_preserved_entity_in_a_call_keeps_the_call() -> None:
    content = "{'rows': [{'id': 1}, {'id': 2, 'at': IPv4Address('185.220.101.34'), 'note': 'nothing at all'}], 'n': 3}"
    rule = {"steps": [{"path": "rows", "limit": 1}], "preserve": ["ip"]}
    left = "{'rows': [{'id': 1}, {'at': IPv4Address('185.220.101.34')}], 'n': 3}"
    assert reduced(rule, content) == left
    assert reduced(rule, left) == left
    extract = {"steps": [{"path": "rows", "extract": ["ip"]}]}
    assert reduced(extract, content) == "{'rows': [{'at': IPv4Address('185.220.101.34')}], 'n': 3}"


_scalars = some(*_ATOMS, *map(str, _ATOMS), None, True, 7, 0.5, "", "[1, 2]", '{"a": "b"}')
_texts = st.builds(lambda seed, words: prose(Random(seed), words), st.integers(0, 1 << 30), st.integers(0, 30))
_values = st.recursive(
    _scalars | _texts,
    lambda inner: st.one_of(
        *(st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple)),
        st.dictionaries(some("id", "at", "note", "rows", "days"), inner, max_size=4),
    ),
)
_rows = st.lists(fields({"id": st.integers(0, 6), "at": some(*_ATOMS), "note": _texts, "raw": _values}), min_size=1)
_contents = st.one_of(_rows, _rows.map(tuple), fields({"rows": _rows, "at": some(*_ATOMS)})).map(str)
_steps = some(
    *({"truncate": 5}, {"truncate": {"head": 0, "tail": 12}}, {"path": "rows[*].at", "truncate": 3}),
    *({"path": "[*].at", "extract": ["cve"]}, {"extract": ["ioc"]}, {"dedupe": True}, {"compact": True}),
    *({"path": "rows", "keep": ["id", "at"]}, {"keep": ["at", "raw"]}, {"path": "rows", "drop": ["at"]}),
    *({"path": "[*].raw", "drop": ["at", "days"]}, {"path": "rows[*].raw.*", "keep": ["days", "tzinfo"]}),
    *({"path": "[*].raw", "limit": 1}, {"path": "rows", "limit": 2}, {"limit": 2}),
)
_rules = rules_of(_steps, max_chars=some(100, 500), preserve=some([], ["ioc", "cve"]))
test_the_laws_hold = law_test(st.builds(case_of, _rules, _contents))
