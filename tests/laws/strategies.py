"""Contents and rules that are aimed at each other: rules name places that the contents have, contents hold what rules
look for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, partial
from operator import itemgetter
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


# --- contents

# Tool answers may forge markers.
_markers = some(
    *(" …[12 more characters]", "…[3 more items]", " …[40 more characters; mentions APT28]"),
    *("…[2 more items; mentions CVE-2024-3400]", "…[9 more characters; mentions nobody]"),
)


def _sentence(seed: int, length: int, glue: str, tail: str, times: int) -> str:
    chosen = Random(seed)
    words = (chosen.choice((WORDS, WORDS, ENTITIES)[chosen.randrange(3)]) for _ in range(length))
    return (glue.join(words) + tail) * times


# The words come of one drawn number, not of a draw each: generating took most of the time of these tests.
sentences = st.builds(
    _sentence,
    st.integers(0, 1 << 30),
    st.integers(2, 40),
    some(" ", " ", " ", ", ", "", "\n"),
    st.one_of(st.just(""), st.just(""), _markers),
    some(1, 3, 12),
)
texts = st.one_of(sentences, some(*ENTITIES), some(*WORDS), st.just(""))
_numbers = st.one_of(st.integers(-3, 3), some(10**40, -0.0, 0.5, 1e300, 9.75))
scalars = st.one_of(some(None, True, False, "low", "high", "9.1", "2024-03-01", "2023-01-31"), _numbers, texts)
NAMES = ("id", "name", "risk", "seen", "tags", "notes", "raw", "ip")
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(some(*NAMES, "kind", *ENTITIES[:2]), inner, max_size=5),
    max_leaves=12,
)
_media = st.just({"kind": "image-url", "url": "https://example.org/a.png"})


def _record(extra: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return fields(
        {"id": st.integers(0, 6), "risk": some("low", "high", None)},
        name=texts,
        seen=some(None, True, False, *range(10), "2024-03-01", "2023-01-31", "", float("nan")),
        tags=st.lists(st.one_of(texts, scalars), max_size=6),
        notes=sentences,
        raw=st.one_of(extra, _media),
        ip=some(*ENTITIES[:3]),
    )


_items = st.one_of(*[_record(values)] * 3, values, _media)
_edges = fields({"source": st.integers(0, 6), "target": st.integers(0, 6)}, label=texts)
records = st.lists(_items, min_size=3, max_size=12)
articles = st.lists(sentences, min_size=2, max_size=8)
_objects = fields(
    {
        "items": records,
        "articles": articles,
        "whois": fields({"raw": sentences}, name=texts),
        "nodes": st.lists(_record(scalars), min_size=1, max_size=5),
        "edges": st.lists(_edges, min_size=1, max_size=10),
    },
    report=values,
    total=scalars,
    empty=some([], {}, "", None),
)
KINDS = {"object": _objects, "records": records, "articles": articles, "text": sentences, "any": values}


def _storable(value: Any) -> Any:
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


_ways = some(_storable, _storable, partial(json.dumps, indent=1), partial(json.dumps, ensure_ascii=False))


# --- rules

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
_conditions = some(
    *("risk == 'high'", "risk != 'low'", "!seen", "seen > `3`", "length(tags) > `1`", "contains(name, 'the')"),
    *("tags[0]", "id == `1` || risk"),
)
_key = some(*NAMES, "source", "target", "items", "articles", "raw.notes", "whois.raw")
_keys = st.lists(_key, min_size=1, max_size=5, unique=True)
_types = st.lists(some(*TYPES), max_size=4, unique=True)
_amounts = st.one_of(st.integers(1, 8), fields({"head": st.integers(0, 3), "tail": st.integers(1, 3)}))
_ends = fields({"head": st.integers(0, 80), "tail": st.integers(1, 80)})
_lengths = st.one_of(st.integers(1, 300), some(1, 5, 40, 120), _ends)
_where = some("items", "!total", "length(@) > `2`", "items[?risk=='high']", "whois.name != 'x'")
_gates = st.one_of(*[st.just({"min_chars": 1})] * 6, fields({"where": _where}), fields({"min_chars": some(1, 50, 400)}))


def _step(paths: Sequence[str], action: str, value: Any, **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return fields({"path": some(*paths), action: value}, **optional, preserve=_types, when=_gates)


def _steps(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    lists, objects, anything = (paths.get(kind, ("@", "*", "items")) for paths in (_LISTS, _OBJECTS, _ANY))
    ranks = some("seen", "id", "name", "length(tags)", "raw.id")
    drops = st.one_of(_keys, _conditions.map(lambda c: f"[?{c}]"), _conditions.map(lambda c: f"items[?{c}].notes"))
    counterparts = {"source": "nodes[*].id", "target": "nodes[*].id"}
    limits = _step(lists, "limit", _amounts, sort_by=ranks, order=some("asc", "desc"), always_keep=_conditions)
    of_lists = [_step(lists, "drop", drops), _step(lists, "dedupe", some(True, "id", "name", "risk", "notes"))]
    of_objects = [_step(objects, "keep", _keys), _step(objects, "drop", _keys)]
    of_texts = [_step(anything, "truncate", _lengths), _step(anything, "extract", _types.filter(bool))]
    others = [_step(anything, "compact", st.just(True)), _step(("edges",), "drop_dangling", st.just(counterparts))]
    every = [limits, *of_lists, *of_objects, *of_texts]
    own = {"object": [*every, *others], "articles": [limits, *of_texts], "text": of_texts}
    return st.one_of(*own.get(kind, every))


@cache
def rule_files(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    return fields(
        {"version": st.just(1), "tool": st.just("t"), "steps": st.lists(_steps(kind), min_size=1, max_size=4)},
        preserve=_types,
        keys=st.just("all"),
        max_chars=some(50, 400, 2000),
        when=_gates,
    )


def rules_of(steps: st.SearchStrategy[dict[str, Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw rules of up to four of these steps, with some of the optional keys."""
    return fields({"steps": st.lists(steps, min_size=1, max_size=4)}, **optional).filter(compiled)


@st.composite
def _cases(draw: st.DrawFn, kinds: st.SearchStrategy[str]) -> tuple[dict[str, Any], Any, Any]:
    kind = draw(kinds)
    rule, ruleset = draw(rule_files(kind).map(lambda rule: (rule, compiled(rule))).filter(itemgetter(1)))
    return rule, ruleset, draw(_ways)(_storable(draw(KINDS[kind])))


cases = _cases(some(*["object"] * 5, "records", "records", "articles", "text", "any"))
"""A rule as data, its ruleset for the tool `t`, and the content of a return that the rule is aimed at."""
cases_of_records = _cases(st.just("records"))
"""Cases whose content is a list of objects."""
