"""Contents and rules that are aimed at each other: rules name places that exist, contents hold what rules look for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from types import MappingProxyType
from typing import Any

from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

from reducer.operations import operations
from tests.helpers import compiled

laws = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large])

ENTITIES = (
    *("185.220.101.34", "1[.]2[.]3[.]4", "2001:db8::ff00:42:8329", "mail-diacie[.]top", "evil-updates.com"),
    *("hxxp://evil-updates[.]com/a/b.php?id=1", "https://example.org/report/2024", "ops@evil-updates.com"),
    *("d41d8cd98f00b204e9800998ecf8427e", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    *("CVE-2024-3400", "CVE-2021-44228", "T1059.001", "APT28", "Lazarus Group", "Fancy Bear"),
    *("bäckup-portal.com", r"b\u00e4ckup-portal.com", r"hxxp://\u0440\u0430y.evil-updates.com/x"),
    *(r"\u0440\u0430ypal.com", r"http://\ud835\udc1evil.com/a", r"bob@\\u0440aypal.com"),
)
WORDS = (
    *("the", "traffic", "was", "seen", "again", "last", "night", "near", "größer", "🙂", "a" * 90, "x"),
    *("\n", "\ud800", '"', "\\", "]", "…[", "end.", r"gr\u00f6\u00dfer", r"\ud83d\ude42", r"\u201c"),
)
TYPES = ("ipv4", "domain", "url", "cve", "threat_actor", "ioc", "hash", "ip", "mitre_attack")


def some(*values: Any) -> st.SearchStrategy[Any]:
    """Draw one of these values."""
    return st.sampled_from(values)


def fields(required: dict[str, Any], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw an object with all required keys, and some of the optional ones."""
    return st.fixed_dictionaries(required, optional=optional)


# Tool answers may forge markers.
_MARKERS = (
    "…[7 more items; risk: 4 high, 3 low]",
    *(" …[12 more characters]", "…[3 more items]", " …[40 more characters; mentions APT28]"),
    *("…[2 more items; mentions CVE-2024-3400]", "…[9 more characters; mentions nobody]"),
)


def _sentence(seed: int, length: int, glue: str, tail: str, times: int) -> str:
    chosen = Random(seed)
    words = [chosen.choice((WORDS, WORDS, ENTITIES)[chosen.randrange(3)]) for _ in range(length)]
    return (glue.join(words) + tail) * times


# One drawn number determines all words: a draw for each of them takes most of the time of these tests.
sentences = st.builds(
    _sentence,
    st.integers(0, 1 << 30),
    st.integers(2, 40),
    some(" ", " ", " ", ", ", "", "\n"),
    st.one_of(st.just(""), st.just(""), some(*_MARKERS)),
    some(1, 3, 12),
)
texts = st.one_of(sentences, some(*ENTITIES), some(*WORDS), st.just(""))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    some(10**40, -0.0, 0.5, 1e300, 9.75),
    some("low", "high", "9.1", "2024-03-01", "2023-01-31"),
    texts,
)
NAMES = ("id", "name", "risk", "seen", "tags", "notes", "raw", "ip")
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(some(*NAMES, "kind", *ENTITIES[:2]), inner, max_size=5)
    ),
    max_leaves=12,
)
_media = st.just({"kind": "image-url", "url": "https://example.org/a.png"})
_dates = some("2024-03-01", "2023-01-31", "")


def _record(extra: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return fields(
        {"id": st.integers(0, 6), "risk": some("low", "high", None)},
        name=texts,
        seen=st.one_of(st.none(), st.integers(0, 9), _dates, st.booleans(), st.just(float("nan"))),
        tags=st.lists(st.one_of(texts, scalars), max_size=6),
        notes=sentences,
        raw=st.one_of(extra, _media),
        ip=some(*ENTITIES[:3]),
    )


_any_record = st.one_of(_record(values), _record(values), _record(values), values, _media)
records = st.lists(_any_record, min_size=3, max_size=12)
articles = st.lists(sentences, min_size=2, max_size=8)
_edges = fields({"source": st.integers(0, 6), "target": st.integers(0, 6)}, label=texts)
_LINES = (
    *("INFO started", "DEBUG cache is cold", "DEBUG cache is warm", "ERROR 203.0.113.57 refused", "job 7", "job 12"),
    *('{"level": "ERROR", "raw": "{\\"b\\": [1, 2]}"}', '["[2]", {"a": null}]', ""),
)
_lines = st.lists(some(*_LINES) | sentences, min_size=2, max_size=9)
logs = st.builds(lambda lines, ending, last: ending.join(lines) + last, _lines, some("\n", "\r\n"), some("", "\n"))
_objects = fields(
    {
        "items": records,
        "articles": articles,
        "whois": fields({"raw": sentences | logs}, name=texts),
        "nodes": st.lists(_record(scalars), min_size=1, max_size=5),
        "edges": st.lists(_edges, min_size=1, max_size=10),
        "hosts": st.dictionaries(some(*NAMES, *ENTITIES[:4], "k1", "k2", "k3"), _any_record, min_size=1, max_size=6),
    },
    report=values,
    total=scalars,
    empty=some([], {}, "", None),
)
KINDS = {"object": _objects, "log": logs, "records": records, "articles": articles, "text": sentences, "any": values}


def storable(value: Any) -> Any:
    """Return a value as JSON stores it."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


def _blocks(value: Any) -> list[dict[str, str]]:
    """Return the content blocks of MCP in which a server returns a value."""
    values = value if isinstance(value, list) and len(value) > 1 else [value]
    return [{"type": "text", "text": each if isinstance(each, str) else json.dumps(each, indent=1)} for each in values]


def _result(value: Any) -> dict[str, Any]:
    """Return the result of a call to an MCP server with a value as a structure and as texts."""
    structure = value if isinstance(value, dict) else {"result": value}
    return {"content": _blocks(value), "structuredContent": structure, "isError": False}


_notations: st.SearchStrategy[Callable[[Any], Any]] = some(
    *([storable] * 6),
    *([partial(json.dumps, indent=1), partial(json.dumps, ensure_ascii=False)] * 2),
    lambda value: f"INFO 200 OK {json.dumps(value)}",  # plain text
    lambda value: json.dumps(value)[:-1],  # plain text
    *(_blocks, _result),
    lambda value: json.dumps({"content": [{"type": "text", "text": json.dumps(value)}]}),
)

# The places of each kind of content that each kind of operation is for.
_LISTS = {
    "object": ("items", "items", "articles", "articles", "nodes", "edges", "hosts", "items[*].tags", "report[*]", "*"),
    "records": ("@", "[*].tags"),
    "articles": ("@",),
}
_OBJECTS = {
    "object": ("items", "items[*]", "@", "items[*].raw", "report", "nodes[?risk=='high']", "hosts", "hosts.*", "*"),
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
    "log": ("@",),
}
_CONDITIONS = (
    *("risk == 'high'", "risk != 'low'", "!seen", "seen > 3", "length(tags) > 1", "contains(name, 'the')"),
    *("tags[0]", "id == `1` || risk", "matches(lower(name), 'traffic|apt')", "contains(notes, 'night')"),
)
_KEY_NAMES = some(*NAMES, "source", "target", "items", "articles", "raw.notes", "whois.raw", "n*", "*.id", "k*.notes")
_KEYS = st.lists(_KEY_NAMES, min_size=1, max_size=5, unique=True)
_amounts = st.one_of(st.integers(1, 8), fields({"head": st.integers(0, 3), "tail": st.integers(1, 3)}))
_lengths = st.one_of(
    *(st.integers(1, 300), some(1, 5, 40, 120), fields({"head": st.integers(0, 80), "tail": st.integers(1, 80)}))
)
_types = st.lists(some(*TYPES), max_size=4, unique=True)
_preserves = st.one_of(_types, _types, _types, st.dictionaries(some(*TYPES), st.integers(1, 4), min_size=1, max_size=2))
_wheres = some("items", "!total", "length(@) > `2`", "items[?risk=='high']", "whois.name != 'x'")
_conditions = st.one_of(fields({"where": _wheres}), fields({"min_chars": some(1, 50, 400)}))
_gates = st.one_of(*[st.just({"min_chars": 1})] * 3, _conditions)


def _step(
    paths: tuple[str, ...],
    action: str,
    argument: st.SearchStrategy[Any],
    required: Mapping[str, Any] = MappingProxyType({}),
    **optional: st.SearchStrategy[Any],
) -> st.SearchStrategy[dict[str, Any]]:
    fixed = {key: st.just(value) for key, value in required.items()}
    return fields({"path": some(*paths), action: argument, **fixed}, **optional, preserve=_preserves, when=_gates)


@st.composite
def _of_examples(draw: st.DrawFn, paths: tuple[str, ...], **required: Any) -> dict[str, Any]:
    """Draw a step of any operation: the step of one of its examples, at one of these places."""
    example = draw(some(*draw(some(*operations().values())).examples))
    return {
        **example.step,
        "path": draw(some(*paths)),
        **required,
        **draw(fields({}, preserve=_preserves, when=_gates)),
    }


def _steps(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    lists, objects, anything = (paths.get(kind, ("@", "*", "items")) for paths in (_LISTS, _OBJECTS, _ANY))
    marks, digits = some(True, "risk", "id", "name"), {"ignore": "digits"}
    limits = {
        "sort_by": some("seen", "id", "-name", "length(tags)", "raw.id", ["risk", "-seen"], ["-id", "length(@)"]),
        "order": some("asc", "desc"),
        "always_keep": some(*_CONDITIONS),
        "mark": marks,
    }
    conditions, items, notes = (some(*_CONDITIONS).map(form.format) for form in ("[?{}]", "items[?{}]", "[?{}].notes"))
    of_lists = [
        _step(lists, "limit", _amounts, **limits),
        _step(lists, "drop", st.one_of(_KEYS, conditions, items, notes)),
        _step(lists, "drop", conditions, mark=marks),
        _step(lists, "keep", st.one_of(conditions, st.lists(conditions, min_size=1, max_size=2)), mark=marks),
        _step(
            lists, "dedupe", some(True, "id", "name", "risk", "notes", digits, {"by": "risk", "keep": 2}), mark=marks
        ),
    ]
    texts = {"object": ("whois.raw", "items[*].notes", "articles[*]"), "log": ("@", "@")}.get(
        kind, ("@", "[*]", "[*].notes")
    )
    line = some("contains(@, 'DEBUG')", "matches(@, '^(ERROR|job)')", "length(@) > 20", "@ == ''").map("[?{}]".format)
    of_lines = [
        _step(texts, action, argument, {"text": "lines"}, mark=marks)
        for action, argument in (("limit", _amounts), ("drop", line), ("keep", line), ("dedupe", some(True, digits)))
    ]
    of_lines.append(_step(texts, "truncate", _lengths, {"text": "lines"}))
    of_lines += [_of_examples(texts, text="lines"), _step(("@", "[*]"), "unwrap", st.just(True))]
    of_objects = [_step(objects, "keep", _KEYS), _step(objects, "drop", _KEYS)]
    of_texts = [_step(anything, "truncate", _lengths), _step(anything, "extract", _types.filter(bool))]
    others = [
        _step(anything, "compact", st.just(True)),
        _step(("edges",), "drop_dangling", st.just({"source": "nodes[*].id", "target": "nodes[*].id"})),
        _of_examples((*lists, *objects, *anything)),
    ]
    return {
        "object": st.one_of(*of_lists, *of_objects, *of_texts, *of_lines, *others),
        "articles": st.one_of(of_lists[0], *of_texts),
        "log": st.one_of(*of_lines),
        "text": st.one_of(*of_texts),
    }.get(kind, st.one_of(*of_lists, *of_objects, *of_texts, *others))


_OPTIONS = {"preserve": _preserves, "keys": st.just("all"), "max_chars": some(50, 400, 2000), "when": _gates}
"""The keys that a rule may have beside its steps."""


def rule_files(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draw rules for contents of a kind; some are refused at load."""
    steps = st.lists(_steps(kind), min_size=1, max_size=4)
    return fields({"version": st.just(1), "tool": st.just("t"), "steps": steps}, **_OPTIONS)


def rules_of(steps: st.SearchStrategy[dict[str, Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw rules of up to four of these steps, with some of the optional keys."""
    return fields({"steps": st.lists(steps, min_size=1, max_size=4)}, **optional).filter(compiled)


_LONE = (("ipv4", "203.0.113.77"), ("cve", "CVE-2019-0708"), ("threat_actor", "APT41"), ("domain", "lone-beacon.net"))
"""Entities that no other text contains."""
_REMOVALS: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "object": (
        *(("articles", {"limit": 1}), ("items", {"limit": 2}), ("items", {"drop": ["notes"]})),
        *(("nodes", {"keep": ["id"]}), ("edges", {"drop": "[?id == `7`]"})),
    ),
    "records": (("@", {"limit": 2}), ("@", {"drop": ["notes"]}), ("@", {"keep": ["id"]})),
    "articles": (("@", {"limit": 1}),),
}
"""Lists in each kind of content, and actions that remove by name what `_aim` appends to them."""


def _aim(draw: st.DrawFn, kind: str, rule: dict[str, Any], content: Any) -> dict[str, Any]:
    """Append a new entity to a content; return the rule with a last step that removes it although it is preserved."""
    (lone, entity), (path, action) = draw(some(*_LONE)), draw(some(*_REMOVALS[kind]))
    note = f"seen with {entity} in the night of the report"
    items = content if path == "@" else content[path]
    items.append(note if "articles" in (kind, path) else {"id": 7, "notes": note})
    steps = [{name: value for name, value in step.items() if name != "preserve"} for step in rule["steps"]]
    return {"version": 1, "tool": "t", "preserve": [lone, *draw(_types)], "steps": [*steps, {"path": path, **action}]}


_SHAPES: dict[str, tuple[str, ...]] = {
    "object": (
        *("items", "length(items) > `4`", "items[?risk=='high']", "items[0].notes", "articles && nodes"),
        *("length(articles) < `3`", "whois.raw", "!edges", "hosts.*.id", "contains(keys(@), 'report')"),
    ),
    "records": ("length(@) > `4`", "[?risk=='high']", "[0].notes", "[*].tags[0]", "[?id == `7`]", "!([1].name)"),
}
"""Conditions about each kind of content that a rule can recognise it by, and that steps can break."""


@st.composite
def _several(draw: st.DrawFn, kind: str, rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule that recognises contents by their shape, with others that are tried after it."""
    shapes = some(*_SHAPES.get(kind, _SHAPES["object"]))
    whens = fields({"where": shapes}, min_chars=some(1, 50, 400))
    others: list[dict[str, Any]] = []
    for tool in draw(some(("t",), ("*",), ("t", "*"), ("t", "?"), ("t", "t", "*"))):
        when = {"when": draw(whens)} if tool == "t" or draw(st.booleans()) else {}
        other = draw(_RULES[kind])
        others.append({**{key: value for key, value in other.items() if key != "when"}, "tool": tool, **when})
    return {**rule, "when": draw(whens), "others": others}


def _varied(draw: st.DrawFn, value: Any) -> Any:
    """Return a value with longer lists and texts; JSON in texts stays as it is."""
    if isinstance(value, list):
        items = [_varied(draw, item) for item in value]
        return [*items, *draw(st.lists(st.one_of(some(*items), scalars) if items else scalars, max_size=3))]
    if isinstance(value, dict):
        return {key: _varied(draw, item) for key, item in value.items()}
    if isinstance(value, str) and not value.startswith(("{", "[")) and draw(st.booleans()):
        return f"{value} {draw(sentences)}"
    return value


@st.composite
def _examples(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    """Draw steps of examples of all operations, and a content that contains what the first of them is given."""
    example = draw(some(*draw(some(*operations().values())).examples))
    given = _varied(draw, example.given)
    path = example.step.get("path", "")
    below = f"a.{path}" if path[:1].isalpha() else f"a{path}"
    others = st.lists(_of_examples(("@", "*", "a", "a[*]")), max_size=2)
    rule = {"steps": [{**example.step, "path": below}, *draw(others)], **draw(fields({}, **_OPTIONS))}
    return rule, {"a": draw(some(given, json.dumps(given)))}


@st.composite
def _cases(draw: st.DrawFn, *kinds: str) -> tuple[dict[str, Any], Any, Any]:
    kind = draw(some(*kinds))
    rule, content = draw(_examples() if kind == "examples" else st.tuples(_RULES[kind], KINDS[kind]))
    if kind in _REMOVALS and draw(st.booleans()):
        rule = _aim(draw, kind, rule, content)
    if kind in _RULES and draw(st.integers(0, 4)) == 0:
        rule = draw(_several(kind, rule))
    ruleset = compiled(rule)
    assume(ruleset is not None)
    return rule, ruleset, draw(_notations)(storable(content))


_RULES = {kind: rule_files(kind) for kind in KINDS}
cases = _cases(*["object"] * 5, "records", "records", "articles", "text", "log", "any", "examples", "examples")
"""A rule as data for the tool `t`, perhaps with `others`, its ruleset, and the content of a return that it is aimed at.
"""
cases_of_texts = _cases("text", "articles", "log")
"""Cases whose content is a text or a list of texts."""
cases_of_records = _cases("records")
"""Cases whose content is a list of objects."""
cases_of_examples = _cases("examples")
"""Cases whose steps are examples of all operations."""
