"""Laws of histories without repeats, for histories whose returns share texts, lines and items."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessagesTypeAdapter

from reducer import Reducer, markers
from reducer.formats import parse
from reducer.histories import RECALL, repeats
from reducer.histories.against import compare
from reducer.histories.repeats import Repeats, _Pass
from reducer.histories.stored import returns
from reducer.values import chars, is_media
from tests.helpers import decoded, decoded_nested, nested, prose, rules
from tests.histories.messages import TURNS, Turn, answer, call, openai_chat, request, response, results, session
from tests.laws.strategies import laws, some
from tests.laws.test_planted_bugs import hunt

# --- histories

_IMAGE = {"kind": "image-url", "url": "https://example.org/a.png"}
_FORGED = (
    *("…[2 lines as in the return of t (call_0)]", "…[1 items as in the return of t (call_0)]"),
    *("…[250 characters as in the returns of t (call_1), u (call_2)]", "…[3 lines as in the return of t (nowhere)]"),
    *("…[7 more items]", " …[40 more characters]", "…[2 lines as in the return of"),
)


def _line(chosen: Random) -> str:
    return prose(chosen, chosen.choice((0, 1, 3, 8, 12))) or chosen.choice(("", "}", "end"))


def _record(chosen: Random, number: int) -> Any:
    record = {"id": number, "risk": chosen.choice(("low", "high")), "note": prose(chosen, 12)}
    kind = chosen.randrange(7)
    if kind == 0:
        return {"note": prose(chosen, 30), "name": f"host-{number}"}
    if kind == 1:
        return {**record, "lines": [prose(chosen, 15) for _ in range(3)], "raw": prose(chosen, 60)}
    if kind == 2:
        return [number, prose(chosen, 20), {"a": prose(chosen, 20)}]
    if kind == 3:
        return {**record, "image": _IMAGE}
    if kind == 4:
        return {"only": prose(chosen, 30)}
    return record


class Pool:
    """What the returns of one history are made of."""

    def __init__(self, seed: int, may_forge: bool) -> None:
        self.chosen = chosen = Random(seed)
        self.forged = may_forge and chosen.random() < 0.3
        self.blocks = [[_line(chosen) for _ in range(chosen.randrange(2, 9))] for _ in range(5)]
        self.records = [_record(chosen, number) for number in range(8)]
        self.texts = [prose(chosen, chosen.choice((12, 60))) for _ in range(4)]

    def text(self) -> str:
        if self.chosen.random() < 0.2:
            return self.chosen.choice(self.texts)
        lines: list[str] = []
        for _ in range(self.chosen.randrange(1, 5)):
            lines += self.chosen.choice(self.blocks)
            lines += [_line(self.chosen) for _ in range(self.chosen.randrange(2))]
            if self.forged and self.chosen.random() < 0.3:
                lines.append(self.chosen.choice(_FORGED))
        end = self.chosen.choice(("\n", "\n", "\n", "\r\n"))
        return end.join(lines) + self.chosen.choice(("", end))

    def rows(self) -> list[Any]:
        rows = self.chosen.choices(self.records, k=self.chosen.randrange(1, 7))
        if self.forged and self.chosen.random() < 0.3:
            rows.append(self.chosen.choice(_FORGED))
        return rows

    def content(self) -> Any:
        """Return a text, a list, an object, or one of these as a text or as blocks of MCP."""
        shape = self.chosen.randrange(10)
        if shape < 3:
            return self.text()
        if shape == 3:
            return [self.text() for _ in range(self.chosen.randrange(1, 4))]
        if shape == 4:
            return "\n".join(json.dumps(row) for row in self.rows() if type(row) is not str)
        if shape == 5:
            return repr([(row, self.chosen.choice(self.texts)) for row in self.rows()])
        if shape == 6:
            return [{"type": "text", "text": json.dumps(self.rows())}, {"type": "text", "text": self.text()}]
        whole = {"page": self.text(), "items": self.rows(), "total": 7, "inner": {"items": json.dumps(self.rows())}}
        return json.dumps(whole) if shape == 7 else whole if shape == 8 else self.rows()

    def turn(self, number: int) -> list[dict[str, Any]]:
        """Return the messages of a turn with one or two calls."""
        turn = list[dict[str, Any]]()
        for nth in range(self.chosen.randrange(1, 3)):
            tool = self.chosen.choice(("t", "t", "t", "u; v]", RECALL, "final_result"))
            part = answer(f"call_{number}" + "_b" * nth, tool, self.content())
            turn.append(part if self.chosen.random() < 0.9 else {**part, "outcome": "failed"})
        calls = [call(part["tool_call_id"], part["tool_name"]) for part in turn]
        return [response(*calls), request(*turn)]


_LINES = {"text": "lines"}
_STEPS = (
    *({"limit": 2}, {"path": "items", "limit": 2}, {"path": "items", "limit": {"head": 1, "tail": 1}}),
    *({"path": "items", "drop": "[?risk == 'low']"}, {"path": "items", "keep": "[?risk != 'low']", "mark": True}),
    *({"path": "[*]", "keep": ["id", "note"]}, {"path": "items", "drop": ["risk"]}, {"dedupe": True}),
    *({"truncate": 120}, {"truncate": {"head": 60, "tail": 30}}, {"path": "page", "truncate": 200}, {"compact": True}),
    *({**_LINES, "limit": 3}, {**_LINES, "drop": "[?contains(@, 'night')]"}, {**_LINES, "dedupe": True}),
    *({**_LINES, "keep": "[?contains(@, 'a')]"}, {"path": "page", **_LINES, "limit": {"head": 2, "tail": 2}}),
    *({"unwrap": True}, {"path": "inner", "unwrap": True}),
)
_rule = st.fixed_dictionaries(
    {"steps": st.lists(some(*_STEPS), min_size=1, max_size=3)},
    optional={
        "max_chars": some(400, 2000),
        "when": some({"min_chars": 100}, {"where": "length(items) > `2`"}),
        "keys": st.just("all"),
        "preserve": some([], ["ip"], ["ioc", "cve"]),
    },
)
_NO_RULE = {"tool": "other", "steps": [{"limit": 1}]}


@dataclass(frozen=True)
class History:
    """A history, and the rules for it."""

    messages: list[dict[str, Any]]
    rule: dict[str, Any]

    @cached_property
    def reducer(self) -> Reducer:
        return Reducer(rules(**self.rule))

    def reduce(self, messages: list[dict[str, Any]], *, repeats: bool = True, references: bool = False) -> Any:
        """Return reduced messages."""
        data = json.dumps(messages, ensure_ascii=False).encode()
        return json.loads(self.reducer.reduce_json(data, references, repeats))

    @cached_property
    def reduced(self) -> Any:
        return self.reduce(self.messages)

    @cached_property
    def by_rules(self) -> Any:
        return self.reduce(self.messages, repeats=False)


@st.composite
def _histories(draw: st.DrawFn, may_forge: bool, least: int, rule: st.SearchStrategy[dict[str, Any]]) -> History:
    pool = Pool(draw(st.integers(0, 1 << 30)), may_forge)
    messages = [message for number in range(draw(st.integers(least, least + 3))) for message in pool.turn(number)]
    return History(messages, draw(rule))


histories = _histories(may_forge=True, least=4, rule=st.just(_NO_RULE) | st.just(_NO_RULE) | _rule)
honest = _histories(may_forge=False, least=2, rule=st.just(_NO_RULE) | _rule)
"""Rules do not remove forged markers of calls that are in the history, so repeats can change what they leave."""


def _returns(messages: Any) -> Iterator[dict[str, Any]]:
    for message in messages:
        for part in message["parts"]:
            if part["part_kind"] == "tool-return":
                yield part


def _contents(messages: Any) -> Iterator[Any]:
    return (part["content"] for part in _returns(messages))


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the keys, the lines of texts and the other values in a content, also in structured texts."""
    if isinstance(value, str):
        found = decoded(value) if decoded_nested(value) is value else decoded_nested(value)
        if found is not value:
            yield from _leaves(found)
        else:
            yield from (line.rstrip() for line in value.split("\n") if markers.PREFIX not in line)
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _same_shape(old: Any, new: Any) -> None:
    """Check that types and the order of items are kept."""
    if isinstance(new, str) and markers.is_marked(new) and isinstance(old, str) and decoded(old) is old:
        return
    assert type(old) is type(new)
    if isinstance(old, str) and decoded(old) is not old:
        before, after = parse(old), parse(new)
        assert before is not None
        assert after is not None
        assert before[1].name == after[1].name
        _same_shape(decoded(old), decoded(new))
    elif isinstance(old, dict):
        assert list(new) == list(old)
        for key in old:
            _same_shape(old[key], new[key])
    elif isinstance(old, list):
        _same_items(old, new)
    else:
        assert old == new


def _same_items(old: list[Any], new: list[Any]) -> None:
    at = 0
    for item in new:
        if isinstance(item, str) and markers.is_repeat(item) and item not in old[at:]:
            continue
        found = next((number for number in range(at, len(old)) if _fits(old[number], item)), None)
        assert found is not None, item
        at = found + 1


def _fits(old: Any, new: Any) -> bool:
    if isinstance(old, dict) and isinstance(new, dict) and len(new) == 1 and new.items() <= old.items():
        return True
    try:
        _same_shape(old, new)
    except AssertionError:
        return False
    return True


def _media(value: Any) -> int:
    if is_media(value):
        return 1
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_media, items))


def _values(content: Any) -> set[Any]:
    return {(type(leaf), leaf) for leaf in _leaves(content)}


def every_value_stays(history: History) -> None:
    """What a return lacks is in the earlier returns that its markers name."""
    shown: dict[str, set[Any]] = {}
    for old, new in zip(_returns(history.by_rules), _returns(history.reduced), strict=True):
        found = _values(new["content"])
        lost = _values(old["content"]) - found
        for marker in markers.repeats_in(json.dumps(new["content"], ensure_ascii=False)):
            lost = lost.difference(*(shown.get(name, ()) for name in marker.calls))
        assert lost == set()
        if _is_touched(new):
            shown.setdefault(markers.call_of(new["tool_name"], new["tool_call_id"]), set()).update(found)


def types_stay(history: History) -> None:
    """Types, order and media are kept, and no return is larger."""
    for old, new in zip(_contents(history.by_rules), _contents(history.reduced), strict=True):
        _same_shape(old, new)
        assert chars(new) <= chars(old)
        assert _media(new) == _media(old)


def is_continued(history: History) -> None:
    """A prefix is reduced alike, and it does not matter whether it was reduced before."""
    for end in range(len(history.messages) + 1):
        prefix = history.reduce(history.messages[:end])
        assert prefix == history.reduced[:end]
        assert history.reduce([*prefix, *history.messages[end:]]) == history.reduced


# --- laws

_counts: Counter[str] = Counter()


@laws
@given(histories)
def test_a_history_is_reduced_once(history: History) -> None:
    _counts.update(all=1, changed=history.reduced != history.by_rules)
    assert history.reduce(history.reduced) == history.reduced


def test_law_12_enough_histories_have_repeats() -> None:
    if _counts["all"] >= 100:
        assert _counts["changed"] >= 0.4 * _counts["all"], _counts


@laws
@given(histories)
def test_a_prefix_is_reduced_alike_and_can_be_continued(history: History) -> None:
    is_continued(history)


@laws
@given(histories)
def test_live_as_stored(history: History) -> None:
    live = ModelMessagesTypeAdapter.validate_python(history.messages)
    reduced = history.reducer.reduce(live, references=False, repeats=True)
    dumped = ModelMessagesTypeAdapter.dump_python(reduced, mode="json")
    assert [*_contents(dumped)] == [*_contents(history.reduced)]
    again = history.reducer.reduce(reduced, references=False, repeats=True)
    assert all(new is old for new, old in zip(again, reduced, strict=True))


@laws
@given(honest)
def test_order_types_and_media_are_kept_and_no_return_is_larger(history: History) -> None:
    types_stay(history)


@laws
@given(honest)
def test_every_value_is_in_the_reduced_history(history: History) -> None:
    every_value_stays(history)


@laws
@given(honest)
def test_validate_accepts_the_reduced_history(history: History) -> None:
    new, old = (json.dumps(messages).encode() for messages in (history.reduced, history.messages))
    assert compare(new, old) == []


@laws
@given(histories)
def test_returns_that_rules_never_touch_neither_change_nor_count(history: History) -> None:
    def without(messages: Any) -> list[Any]:
        return [{**message, "parts": [part for part in message["parts"] if _is_touched(part)]} for message in messages]

    assert history.reduce(without(history.messages)) == without(history.reduced)
    for old, new in zip(history.messages, history.reduced, strict=True):
        assert [part for part in old["parts"] if not _is_touched(part)] == [
            part for part in new["parts"] if not _is_touched(part)
        ]


def _is_touched(part: dict[str, Any]) -> bool:
    return part["tool_name"] not in (RECALL, "final_result") and part.get("outcome", "success") == "success"


@laws
@given(histories)
def test_with_references_a_history_is_reduced_once(history: History) -> None:
    messages = [*history.messages, response({"content": "185.220.101.34 at night, host-3", "part_kind": "text"})]
    once = history.reduce(messages, references=True)
    assert history.reduce(once, references=True) == once


# --- recorded histories


@pytest.mark.data
@pytest.mark.parametrize("steps", [[{"compact": True}, {"truncate": {"head": 8400, "tail": 3600}}], [{"limit": 5}]])
def test_recorded_histories_are_reduced_once_and_can_be_continued(steps: list[Any], data: Path) -> None:
    changed = 0
    for file in sorted((data / "histories").glob("*/*.json"))[::9]:
        history = History(json.loads(file.read_bytes()), {"tool": "*", "steps": steps})
        middle = len(history.messages) // 2
        prefix = history.reduce(history.messages[:middle])
        assert history.reduce(history.reduced) == history.reduced
        assert history.reduced[:middle] == prefix
        assert history.reduce([*prefix, *history.messages[middle:]]) == history.reduced
        assert compare(json.dumps(history.reduced).encode(), json.dumps(history.messages).encode()) == []
        changed += history.reduced != history.by_rules
    assert changed >= 3


# --- examples

_TEXT = "\n".join(f"line {number}: the cache is cold and the node is slow" for number in range(20))
_ROWS = [{"id": number, "note": f"note {number} " + "seen again last night " * 4} for number in range(4)]
_OTHERS = [f"text {number} " + "seen again last night " * 4 for number in range(4)]


def _reduced(*contents: Any, rule: dict[str, Any] = _NO_RULE) -> list[Any]:
    """Return the contents of a history with these returns of the tool `t`."""
    messages = [
        message
        for number, content in enumerate(contents)
        for message in (response(call(f"c{number}")), request(answer(f"c{number}", content=content)))
    ]
    history = History(messages, rule)
    assert history.reduce(history.reduced) == history.reduced
    return [*_contents(history.reduced)]


_FIRST = _TEXT.split("\n")[0]
_LAST_LINES = "…[19 lines as in the return of t (c0)]"
_LAST_ITEM = "…[4 items as in the return of t (c0)]"
_THREE_ITEMS = "…[3 items as in the return of t (c0)]"


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (_TEXT, _TEXT, f"…[{len(_TEXT)} characters as in the return of t (c0)]"),
        (_TEXT, {"page": _TEXT, "n": 1}, {"page": f"…[{len(_TEXT)} characters as in the return of t (c0)]", "n": 1}),
        (_TEXT, f"new\n{_TEXT}\nend\n", f"new\n{_FIRST}\n{_LAST_LINES}\nend\n"),
        (_TEXT.replace("\n", "\r\n"), f"new\n{_TEXT}", f"new\n{_FIRST}\n{_LAST_LINES}"),
        (_ROWS, _ROWS, [*({"id": number} for number in range(4)), _LAST_ITEM]),
        (_OTHERS, ["x", *_OTHERS], ["x", _LAST_ITEM]),
        (_OTHERS, json.dumps({"b": [*_OTHERS, "…[9 more items]"]}), f'{{"b":["{_LAST_ITEM}","…[9 more items]"]}}'),
        (_ROWS, "\n".join(map(json.dumps, _ROWS)), '{"id":0}\n{"id":1}\n{"id":2}\n{"id":3}\n"' + _LAST_ITEM + '"'),
        (_ROWS, str(_ROWS), "[{'id': 0}, {'id': 1}, {'id': 2}, {'id': 3}, '" + _LAST_ITEM + "']"),
        ([[1, text] for text in _OTHERS], [[1, text] for text in _OTHERS], [_LAST_ITEM]),
        ([_ROWS[0]], {"row": _ROWS[0]}, {"row": _ROWS[0]}),
        (_OTHERS, [[7, text] for text in _OTHERS], [[7, text] for text in _OTHERS]),
        (_TEXT, [{"n": 1, "page": _TEXT}, {"n": 2}], [{"n": 1, "page": _TEXT}, {"n": 2}]),
        ("x" * 199, "x" * 199, "x" * 199),
        ([{"a": "x" * 70}], [{"a": "x" * 70}], [{"a": "x" * 70}]),
        ([{**row, "image": _IMAGE} for row in _ROWS], [{**row, "image": _IMAGE} for row in _ROWS], ...),
    ],
)  # fmt: skip
def test_what_an_earlier_return_shows_is_left_out(first: Any, second: Any, result: Any) -> None:
    assert _reduced(first, second) == [first, second if result is ... else result]


def test_one_marker_names_two_calls_whose_texts_follow_each_other() -> None:
    lines = _TEXT.split("\n")
    first, second = "\n".join(lines[:9]), "\n".join(lines[9:])
    *_, result = _reduced(first, second, f"{_TEXT}\n")
    assert result == f"{lines[0]}\n…[19 lines as in the returns of t (c0), t (c1)]\n"


def test_names_of_tools_are_escaped() -> None:
    first, second = answer("c [1]", "get; page]", _TEXT), answer("c 2", "get; page]", _TEXT)
    messages = [
        message
        for part in (first, second)
        for message in (response(call(part["tool_call_id"], part["tool_name"])), request(part))
    ]
    *_, result = _contents(History(messages, _NO_RULE).reduced)
    assert result == f"…[{len(_TEXT)} characters as in the return of get%3B%20page%5D (c%20%5B1%5D)]"
    assert markers.is_repeat(result)


def test_a_return_is_not_compared_with_another_part_of_itself() -> None:
    [_, message] = openai_chat("c1", [{"type": "text", "text": _TEXT}, {"type": "text", "text": _TEXT}])
    messages = [*openai_chat("c0", "x"), {**openai_chat("c1", "x")[0]}, message]
    data = json.dumps(messages).encode()
    assert Reducer(rules(**_NO_RULE)).reduce_json(data, repeats=True) == data


@pytest.mark.parametrize("turn", TURNS.values())
def test_every_format_with_a_call_id_is_reduced_once(turn: Turn) -> None:
    messages = [message for number in range(3) for message in turn(f"c{number}", f"{_TEXT}\n")]
    reducer = Reducer(rules(**_NO_RULE))
    once = reducer.reduce_json(json.dumps(messages).encode(), repeats=True)
    found = [one.content for one in returns(once)]
    assert found == [f"{_TEXT}\n", *[f"…[{len(_TEXT) + 1} characters as in the return of t (c0)]"] * 2]
    assert reducer.reduce_json(once, repeats=True) == once


def test_second_copies_in_session_histories_neither_change_nor_count() -> None:
    both = [session(results(f"c{number}", _TEXT), older=[results(f"c{number}", _TEXT)]) for number in range(2)]
    once = Reducer(rules(**_NO_RULE)).reduce_json(json.dumps(both).encode(), repeats=True)
    first, second = ([copy.content for copy in one.copies] for one in returns(once))
    assert first == [_TEXT, _TEXT]
    assert second == [f"…[{len(_TEXT)} characters as in the return of t (c0)]", _TEXT]
    assert Reducer(rules(**_NO_RULE)).reduce_json(once, repeats=True) == once


def test_what_a_rule_removed_was_not_shown() -> None:
    first, second = _reduced(_OTHERS, {"a": _OTHERS}, rule={"steps": [{"limit": 1, "when": {"where": "[0]"}}]})
    assert first == [_OTHERS[0], "…[3 more items]"]
    assert second == {"a": [*_OTHERS[1:], "…[1 items as in the return of t (c0)]"]}


@pytest.mark.parametrize(
    ("step", "content", "result"),
    [
        ({"path": "a", "limit": 4}, {"a": ["x", *_OTHERS]}, {"a": ["x", _THREE_ITEMS, "…[1 more items]"]}),
        ({"text": "lines", "keep": "[?contains(@, 'a')]"}, f"a\nb\n{_TEXT}", f"a\n{_FIRST}\n{_LAST_LINES}"),
        ({"path": "a", "keep": "[?@ != 'x']"}, {"a": ["x", *_OTHERS]}, {"a": [_LAST_ITEM]}),
    ],
)  # fmt: skip
def test_steps_neither_see_nor_remove_the_marker(step: dict[str, Any], content: Any, result: Any) -> None:
    *_, new = _reduced({"text": _TEXT, "items": _OTHERS}, content, rule={"steps": [step]})
    assert new == result


def test_repeats_that_a_rule_would_change_again_are_dropped() -> None:
    rule = {"steps": [{"path": "items", "limit": 1}], "when": {"where": "contains(items[1].note, 'seen')"}}
    content = {"items": [*_ROWS]}
    first, second, third = _reduced(_ROWS, content, {"others": _ROWS}, rule={**rule, "tool": "t"})
    assert first == _ROWS
    assert second["items"][0] == {"id": 0} or second == {"items": [_ROWS[0], "…[3 more items]"]} or second == content
    assert third["others"][-1].startswith("…[4 items")


@pytest.mark.parametrize(
    "wrong",
    [
        f"…[{len(_TEXT) + 400} characters as in the return of t (c0)]",
        f"…[{len(_TEXT)} characters as in the return of t (c7)]",
        f"{_FIRST}\n…[12 lines as in the return of t (c7)]",
    ],
)
def test_validate_finds_markers_of_calls_that_do_not_show_as_much(wrong: str) -> None:
    def written(content: str) -> bytes:
        return json.dumps([request(answer("c0", content=_TEXT)), request(answer("c1", content=content))]).encode()

    [finding] = compare(written(wrong), written(_TEXT))
    assert finding.code == "V110"


@pytest.mark.parametrize("marker", [*_FORGED, _LAST_ITEM])
def test_forged_markers_are_neither_remembered_nor_left_out(marker: str) -> None:
    page = f"{_TEXT[:300]}\n{marker}\n{_TEXT[300:]}"
    _, second = _reduced({"page": page}, {"page": page})
    assert second["page"].count(marker) == 1
    rows = [{"id": 1, "note": f"{marker} {'seen ' * 20}"}] * 3
    assert _reduced(rows, rows) == [rows, rows]


def test_a_forged_marker_does_not_keep_a_list_from_being_reduced() -> None:
    forged = [f"…[{number} items as in the return of other (c{number})]" for number in range(1, 300)]
    _, second = _reduced(_OTHERS, forged, rule={"steps": [{"limit": 2}]})
    assert second == [*forged[:2], "…[297 more items]"]


@pytest.mark.parametrize(
    "content",
    [
        nested(120, _OTHERS),
        nested(300, _OTHERS),
        {"a": nested(120, "x" * 300, "a")},
        json.dumps(nested(120, _OTHERS)),
        "\n" * 100_000,
        "a\n" * 100_000,
        ("\n" * 58 + "x\n") * 2_000,
        "…[14 lines as in the return of t (c0)]\n" * 10_000,
        "…[14 lines as in the returns of " + "t (c0), " * 20_000,
        [[f"{number} {'x' * 60}"] for number in range(20_000)],
        {"a": 10**5000, "b": _OTHERS},
        {"a": "\ud800" * 300, "b": _OTHERS},
        [float("nan"), *_OTHERS],
    ],
)  # fmt: skip
def test_huge_and_deep_contents(content: Any) -> None:
    reducer = Reducer(rules(**_NO_RULE))
    parts = [answer(f"c{number}", content=content) for number in range(2)]
    from pydantic_ai.messages import ModelRequest, ToolReturnPart

    messages = [ModelRequest([ToolReturnPart("t", part["content"], part["tool_call_id"])]) for part in parts]
    once = reducer.reduce(messages, references=False, repeats=True)
    again = reducer.reduce(once, references=False, repeats=True)
    assert all(new is old for new, old in zip(again, once, strict=True))


# --- planted bugs

_block, _remember = _Pass._block, Repeats._remember


def take_a_line_more(self: _Pass, lines: Any, at: int) -> tuple[int, str]:
    end, first = _block(self, lines, at)
    return min(end + bool(first), len(lines)), first


def name_another_call(self: Repeats, content: Any, found: _Pass) -> int:
    return _remember(self, content, replace(found, call="t (call_0)"))


BUGS: dict[str, tuple[Callable[[History], None], Any, str, Any]] = {
    "takes a line more": (every_value_stays, _Pass, "_block", take_a_line_more),
    "names another call": (every_value_stays, Repeats, "_remember", name_another_call),
    "forgets media": (types_stay, repeats, "fits", lambda value: True),
    "changes the notation": (types_stay, repeats, "_notation", lambda text: ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law, *patch = BUGS[bug]
    monkeypatch.setattr(*patch)
    with pytest.raises(AssertionError):
        hunt(given(honest)(law))()
