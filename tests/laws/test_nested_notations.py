"""Texts in texts: each keeps its notation and its brackets, whatever its neighbours are."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.values import chars
from tests.helpers import decoded, prose, reduced
from tests.laws.laws import case_of, expressed, law_test
from tests.laws.strategies import laws, rules_of, some

_HITS = [{"host": "gw1", "noise": 1}, {"host": "gw2", "noise": 2}]
_LOG = '{"level": "info"}\n{"level": "error", "payload": "{}"}'
_HOSTS = {"path": "hits", "keep": ["host"]}


@pytest.mark.parametrize("path", ["log[*].payload", "log[*].payload.raw", "log[*]", "log[*].payload[*]"])
@pytest.mark.parametrize("before", [0, 1, 7])
def test_a_list_next_to_json_lines_keeps_its_brackets(path: str, before: int) -> None:
    content = {**{f"k{number}": [number] for number in range(before)}, "hits": _HITS, "log": _LOG}
    left = {**content, "hits": [{"host": "gw1"}, {"host": "gw2"}]}
    steps = [_HOSTS, {"path": path, "drop": ["raw"]}]
    assert reduced({"steps": steps}, str(content)) == str(left)
    assert reduced({"steps": steps}, content) == left


def _layer(chosen: Random, depth: int) -> dict[str, Any]:
    """Return an object with records, a tuple, which `json` writes as a list, and texts that contain further objects."""
    rows = []
    for _ in range(chosen.randrange(1, 5)):
        number, note = chosen.randrange(4), prose(chosen, chosen.randrange(12))
        rows.append({"id": number, "note": note, "tags": ("a", "b")[: chosen.randrange(3)]})
    layer: dict[str, Any] = {"hits": rows, "pair": (chosen.randrange(9), ["x"] * chosen.randrange(3))}
    if chosen.random() < 0.5:
        layer["note"] = prose(chosen, chosen.randrange(40))
    if depth:
        layer["body"] = _written(chosen, _layer(chosen, depth - 1))
        lines = [{"level": "info"}, {"level": "error", "payload": _written(chosen, _layer(chosen, depth - 1))}]
        layer["log"] = "\n".join(map(json.dumps, lines * chosen.randrange(1, 3)))
        parts = [_written(chosen, _layer(chosen, depth - 1)), "no structure"]
        layer["content"] = [{"type": "text", "text": text} for text in parts]
    keys = chosen.sample(sorted(layer), len(layer))
    return {key: layer[key] for key in keys}


_NOTATIONS: tuple[Callable[[Any], str], ...] = (
    str,
    str,
    json.dumps,
    lambda value: json.dumps(value, indent=1),
    lambda value: json.dumps(json.dumps(value)),
    lambda value: f"Retrieved {len(value)} entries:\n{json.dumps(value)}",
)


def _written(chosen: Random, value: Any) -> str:
    return chosen.choice(_NOTATIONS)(value)


def _content(seed: int, depth: int, as_text: bool) -> Any:
    chosen = Random(seed)
    layer = _layer(chosen, depth)
    return _written(chosen, layer) if as_text else json.loads(json.dumps(layer))


_PREFIXES = (
    *("", "", "body.", "log[*].payload.", "body.body.", "body.log[*].payload."),
    *("log[*].payload.body.", "content[*].text.", "content[0].text.", "body.content[].text."),
)
_ACTIONS: tuple[dict[str, Any], ...] = (
    *({"path": "hits", "keep": ["id"]}, {"path": "hits", "drop": ["note", "raw"]}, {"path": "raw", "drop": ["raw"]}),
    *({"path": "hits", "limit": 1}, {"path": "hits[*].tags", "limit": 1}, {"path": "hits", "dedupe": "id"}),
    *({"path": "pair", "limit": 1}, {"path": "pair[*]", "limit": 1}, {"path": "hits", "compact": True}),
    *({"path": "hits[*].note", "truncate": 10}, {"path": "note", "truncate": 20}, {"path": "note", "extract": ["ioc"]}),
)
_steps = st.builds(lambda prefix, step: {**step, "path": prefix + step["path"]}, some(*_PREFIXES), some(*_ACTIONS))
_unwrap = some("@", "body", "log", "content[*].text").map(lambda path: {"path": path, "unwrap": True})
_rules = rules_of(
    st.one_of(_steps, _steps, _steps, _unwrap),
    preserve=some([], ["ioc"], ["cve", "ip"]),
    max_chars=some(300, 2000),
    keys=st.just("all"),
)
_contents = st.builds(_content, st.integers(0, 1 << 30), st.integers(0, 3), st.booleans())
_UNWRAP = {"steps": [{"unwrap": True}], "preserve": ["domain"]}
test_the_laws_hold = law_test(
    st.builds(case_of, _rules, _contents),
    case_of({"steps": [_HOSTS]}, str({"hits": _HITS, "log": _LOG})),
    case_of(_UNWRAP, {"body": '{"raw": "seen \\ud800mail-diacie[.]top"}', "status": 200}),
)


@laws
@given(_contents)
def test_an_unwrapped_content_expresses_the_same(content: Any) -> None:
    result = reduced({"steps": [{"unwrap": True}]}, content)
    assert chars(result) <= chars(content)
    assert json.dumps(expressed(decoded(result))) == json.dumps(expressed(decoded(content)))
