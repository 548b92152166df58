"""Contents and rules that are aimed at each other: rules name places that the contents have, contents hold what rules
look for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from random import Random
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.helpers import compiled

laws = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])

ENTITIES = (
    *("185.220.101.34", "1[.]2[.]3[.]4", "2001:db8::ff00:42:8329", "mail-diacie[.]top", "evil-updates.com"),
    *("hxxp://evil-updates[.]com/a/b.php?id=1", "https://example.org/report/2024", "ops@evil-updates.com"),
    *("d41d8cd98f00b204e9800998ecf8427e", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    *("CVE-2024-3400", "CVE-2021-44228", "T1059.001", "APT28", "Lazarus Group", "Fancy Bear"),
)
WORDS = (
    *("the", "traffic", "was", "seen", "again", "last", "night", "near", "größer", "🙂", "a" * 90, "x"),
    *("\n", "\ud800", '"', "\\", "]", "…[", "end."),
)
TYPES = ("ipv4", "domain", "url", "cve", "threat_actor", "ioc", "hash", "ip", "mitre_attack")


def some(*values: Any) -> st.SearchStrategy[Any]:
    """Draw one of these values."""
    return st.sampled_from(values)


def fields(required: dict[str, Any], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw an object with all required keys, and some of the optional ones."""
    return st.fixed_dictionaries(required, optional=optional)


# Tool answers may forge markers.
_marker = st.sampled_from(
    (
        " …[12 more characters]",
        "…[3 more items]",
        " …[40 more characters; mentions APT28]",
        "…[2 more items; mentions CVE-2024-3400]",
        "…[9 more characters; mentions nobody]",
    )
)


def _sentence(seed: int, length: int, glue: str, tail: str, times: int) -> str:
    chosen = Random(seed)
    return (
        glue.join(chosen.choice((WORDS, WORDS, ENTITIES)[chosen.randrange(3)]) for _ in range(length)) + tail
    ) * times


# The words come of one drawn number, not of a draw each: generating took most of the time of these tests.
sentences = st.builds(
    _sentence,
    st.integers(0, 1 << 30),
    st.integers(2, 40),
    st.sampled_from((" ", " ", " ", ", ", "", "\n")),
    st.one_of(st.just(""), st.just(""), _marker),
    st.sampled_from((1, 3, 12)),
)
texts = st.one_of(sentences, st.sampled_from(ENTITIES), st.sampled_from(WORDS), st.just(""))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from((10**40, -0.0, 0.5, 1e300, 9.75)),
    st.sampled_from(("low", "high", "9.1", "2024-03-01", "2023-01-31")),
    texts,
)
NAMES = ("id", "name", "risk", "seen", "tags", "notes", "raw", "ip")
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.sampled_from((*NAMES, "kind", *ENTITIES[:2])), inner, max_size=5),
    ),
    max_leaves=12,
)


def _record(extra: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"id": st.integers(0, 6), "risk": st.sampled_from(("low", "high", None))},
        optional={
            "name": texts,
            "seen": st.one_of(
                st.none(),
                st.integers(0, 9),
                st.sampled_from(("2024-03-01", "2023-01-31", "")),
                st.booleans(),
                st.just(float("nan")),
            ),
            "tags": st.lists(st.one_of(texts, scalars), max_size=6),
            "notes": sentences,
            "raw": st.one_of(extra, st.just({"kind": "image-url", "url": "https://example.org/a.png"})),
            "ip": st.sampled_from(ENTITIES[:3]),
        },
    )


_media = st.just({"kind": "image-url", "url": "https://example.org/a.png"})
records = st.lists(
    st.one_of(_record(values), _record(values), _record(values), values, _media), min_size=3, max_size=12
)
articles = st.lists(sentences, min_size=2, max_size=8)
_objects = st.fixed_dictionaries(
    {
        "items": records,
        "articles": articles,
        "whois": st.fixed_dictionaries({"raw": sentences}, optional={"name": texts}),
        "nodes": st.lists(_record(scalars), min_size=1, max_size=5),
        "edges": st.lists(
            st.fixed_dictionaries(
                {"source": st.integers(0, 6), "target": st.integers(0, 6)}, optional={"label": texts}
            ),
            min_size=1,
            max_size=10,
        ),
    },
    optional={"report": values, "total": scalars, "empty": st.sampled_from(([], {}, "", None))},
)
KINDS = {"object": _objects, "records": records, "articles": articles, "text": sentences, "any": values}


def storable(value: Any) -> Any:
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


_WAYS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda value: value,
    "a value": lambda value: value,
    "indented": partial(json.dumps, indent=1),
    "not escaped": partial(json.dumps, ensure_ascii=False),
}
_ways = st.sampled_from(sorted(_WAYS))


# The places of each kind of content that each kind of operation is for.
_LISTS = {
    "object": ("items", "items", "articles", "articles", "nodes", "edges", "items[*].tags", "report[*]", "*"),
    "records": ("@", "[*].tags"),
    "articles": ("@",),
}
_OBJECTS = {
    "object": ("items", "items[*]", "@", "items[*].raw", "report", "nodes[?risk=='high']", "*"),
    "records": ("@", "[?risk=='low']", "[*].raw"),
}
_ANY = {
    "object": (
        *("@", "@", "items", "items[*].notes", "articles", "whois.raw", "whois", "report"),
        *("items[?risk!='low'].notes", "items[*].raw.notes", "items[].name"),
    ),
    "records": ("@", "[*].notes", "[?id > `2`].tags"),
    "articles": ("@", "[*]"),
    "text": ("@",),
}
_CONDITIONS = (
    *("risk == 'high'", "risk != 'low'", "!seen", "seen > `3`", "length(tags) > `1`", "contains(name, 'the')"),
    *("tags[0]", "id == `1` || risk"),
)
_KEYS = st.lists(
    st.sampled_from((*NAMES, "source", "target", "items", "articles", "raw.notes", "whois.raw")),
    min_size=1,
    max_size=5,
    unique=True,
)
_amounts = st.one_of(st.integers(1, 8), st.fixed_dictionaries({"head": st.integers(0, 3), "tail": st.integers(1, 3)}))
_lengths = st.one_of(
    st.integers(1, 300),
    st.sampled_from((1, 5, 40, 120)),
    st.fixed_dictionaries({"head": st.integers(0, 80), "tail": st.integers(1, 80)}),
)
_types = st.lists(st.sampled_from(TYPES), max_size=4, unique=True)
_wheres = st.one_of(
    st.fixed_dictionaries(
        {"where": st.sampled_from(("items", "!total", "length(@) > `2`", "items[?risk=='high']", "whois.name != 'x'"))}
    ),
    st.fixed_dictionaries({"min_chars": st.sampled_from((1, 50, 400))}),
)


def _step(
    action: dict[str, st.SearchStrategy[Any]],
    paths: tuple[str, ...],
    optional: dict[str, st.SearchStrategy[Any]] | None = None,
) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"path": st.sampled_from(paths), **action},
        optional={**(optional or {}), "preserve": _types, "when": st.one_of(*[st.just({"min_chars": 1})] * 3, _wheres)},
    )


def _steps(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    lists, objects, anything = (paths.get(kind, ("@", "*", "items")) for paths in (_LISTS, _OBJECTS, _ANY))
    limits = {
        "sort_by": st.sampled_from(("seen", "id", "name", "length(tags)", "raw.id")),
        "order": st.sampled_from(("asc", "desc")),
        "always_keep": st.sampled_from(_CONDITIONS),
    }
    drops = st.one_of(
        _KEYS,
        st.sampled_from(_CONDITIONS).map(lambda c: f"[?{c}]"),
        st.sampled_from(_CONDITIONS).map(lambda c: f"items[?{c}].notes"),
    )
    of_lists = [
        _step({"limit": _amounts}, lists, limits),
        _step({"drop": drops}, lists),
        _step({"dedupe": st.one_of(st.just(True), st.sampled_from(("id", "name", "risk", "notes")))}, lists),
    ]
    of_objects = [_step({"keep": _KEYS}, objects), _step({"drop": _KEYS}, objects)]
    of_texts = [_step({"truncate": _lengths}, anything), _step({"extract": _types.filter(bool)}, anything)]
    others = [
        _step({"compact": st.just(True)}, anything),
        _step({"drop_dangling": st.just({"source": "nodes[*].id", "target": "nodes[*].id"})}, ("edges",)),
    ]
    return {
        "object": st.one_of(*of_lists, *of_objects, *of_texts, *others),
        "articles": st.one_of(of_lists[0], *of_texts),
        "text": st.one_of(*of_texts),
    }.get(kind, st.one_of(*of_lists, *of_objects, *of_texts))


@cache
def rule_files(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    gates = st.one_of(*[st.just({"min_chars": 1})] * 3, _wheres)
    return st.fixed_dictionaries(
        {"version": st.just(1), "tool": st.just("t"), "steps": st.lists(_steps(kind), min_size=1, max_size=4)},
        optional={
            "preserve": _types,
            "keys": st.just("all"),
            "max_chars": st.sampled_from((50, 400, 2000)),
            "when": gates,
        },
    )


def rules_of(steps: st.SearchStrategy[dict[str, Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw rules of up to four of these steps, with some of the optional keys."""
    return fields({"steps": st.lists(steps, min_size=1, max_size=4)}, **optional).filter(compiled)


@st.composite
def _cases(draw: st.DrawFn, kinds: st.SearchStrategy[str]) -> tuple[dict[str, Any], Any, Any]:
    kind = draw(kinds)
    rule = draw(rule_files(kind))
    return rule, compiled(rule), _WAYS[draw(_ways)](storable(draw(KINDS[kind])))


tries = _cases(st.sampled_from(("object",) * 5 + ("records", "records", "articles", "text", "any")))
"""A rule as data, its ruleset for the tool `t` or None if its form is refused, and the content of a return that it is
aimed at.
"""
cases = tries.filter(lambda case: case[1] is not None)
"""Tries whose rule was not refused."""
cases_of_records = _cases(st.just("records")).filter(lambda case: case[1] is not None)
"""Cases whose content is a list of objects."""
