"""The laws, for each shipped rule on all real data."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from reducer.engine import reduce_content
from reducer.entities import scan
from reducer.rules import Rule
from reducer.values import chars, dump
from tests.helpers import BY_FILE, PRODUCTS, decoded, decoded_nested, entities, forced, is_bounded, texts

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "ci"
LARGE = 300_000 if FULL else 20_000
"""Answers above this size meet their own rule only: every file under every rule takes minutes."""


@lru_cache(maxsize=1)
def contents(folder: Path) -> list[tuple[str, Any]]:
    """Read every recorded answer, and every different return of the recorded histories."""
    found = [
        (file.name, json.loads(file.read_bytes()))
        for file in sorted((folder / "tool_outputs").glob("*.json"))
        if file.name != "manifest.json"
    ]
    seen = set()
    for file in sorted((folder / "histories").glob("*/*.json")):
        for message in json.loads(file.read_bytes()):
            for part in message["parts"]:
                if (
                    part.get("part_kind") == "tool-return"
                    and part["content"]
                    and (key := dump(part["content"])) not in seen
                ):
                    seen.add(key)
                    found.append((f"{file.parent.name}/{file.name} {part['tool_call_id']}", part["content"]))
    return found


def chosen(name: str, folder: Path) -> list[tuple[str, Any]]:
    own = PRODUCTS.get(name, ())
    first = list(BY_FILE).index(name) % 10
    return [
        (label, content)
        for number, (label, content) in enumerate(contents(folder))
        if any(Path(label).match(f"{glob}.json") for glob in own)
        # Of the returns of histories each rule meets another tenth.
        or (chars(content, LARGE) <= LARGE and (FULL or "/" not in label or number % 10 == first))
    ]


_MARK = re.compile(r" ?…\[([1-9][0-9]*) more characters")
_MARK_ITEM = re.compile(r"…\[([1-9][0-9]*) more items[;\]]")


def text_within(new: str, old: str) -> bool:
    """Tell whether `new` is `old`, or a head, a mark with the right number, and a tail of it."""
    if new == old:
        return True
    for match in _MARK.finditer(new):
        head = new[: match.start()]
        left = len(old) - len(head) - int(match[1])
        if left >= 0 and old.startswith(head) and new.endswith(f"]{old[len(old) - left :]}"):
            return True
    return False


def within(new: Any, old: Any, root: bool = True) -> bool:
    """Tell whether keys and items of `new` are subsequences of those of `old`, in order.

    Emptied values stand for what went at the root, and under a key that is there for the entity in its own name.
    """
    if new is old:
        return True
    if type(new) is not type(old):
        return False
    if type(new) is dict:
        keys = iter(old)
        for key, item in new.items():
            if not any(key == other for other in keys):
                return False
            if not within(item, old[key], False) and not (item in ("", [], {}) and (root or scan(key))):
                return False
        return True
    if type(new) is list:
        items = iter(old)
        for number, item in enumerate(new):
            if (
                number == len(new) - 1
                and type(item) is str
                and (match := _MARK_ITEM.match(item))
                and int(match[1]) == len(old) - len(new) + 1
            ):
                return True
            # The first item that fits leaves the most for the others: no need to look further.
            if not any(within(item, other, False) for other in items):
                return False
        return True
    if type(new) is str and new != old and type(decoded_nested(new)) is type(decoded_nested(old)) is not str:
        return within(decoded_nested(new), decoded_nested(old), False)
    return text_within(new, old) if type(new) is str else new == old


UNCHANGED = "unchanged"


def broken(rule: Rule, content: Any) -> Iterator[str]:
    """Tell which laws `rule` breaks on `content`; `UNCHANGED` when there is nothing that could break one."""
    rules = forced(rule)
    result = reduce_content(rules, "any", content)
    if result is content:
        yield UNCHANGED
        return
    old, new = decoded(content), decoded(result)
    if type(result) is not type(content) or type(new) is not type(old):
        yield "2 same type"
        return
    if type(old) is dict and list(new) != list(old):
        yield "3 root keys"
    if old and not new:
        yield "3 an empty root"
    if not within(new, old):
        yield "4 within"
    if reduce_content(rules, "any", result) != result:
        yield "5 fixed point"
    if type(result) is not str:
        text = dump(result)
        if dump(reduce_content(rules, "any", json.loads(text))) != text:
            yield "5 fixed point after JSON"
    if chars(result) > chars(content):
        yield "7 larger"
    # `policies`: of what was there before, of each step, of the ladder. What all of them owe cannot go in any way.
    owed = frozenset.intersection(*rule.preserved[1 : None if rule.max_chars else -1])
    if owed:
        # What reads as an entity stands bounded; only for the rest its place is looked for.
        read, shown = entities(new, owed), "\0".join(texts(new))
        yield from (
            f"8 preserve: {entity}"
            for entity in entities(old, owed)
            if entity not in read and not is_bounded(entity, shown)
        )
    arrived = "\0".join(texts(old))
    yield from (f"8 invented: {entity}" for entity in entities(new) if entity not in arrived)


@pytest.mark.parametrize("name", BY_FILE)
def test_laws_on_all_real_data(name: str, data: Path) -> None:
    found = {label: list(broken(BY_FILE[name], content)) for label, content in chosen(name, data)}
    assert {label: laws for label, laws in found.items() if laws not in ([], [UNCHANGED])} == {}
    assert len(found) > 250
    assert sum(laws == [] for laws in found.values()) >= 1


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        ([2, 1], [1, 2]),
        ([1, 1], [1]),
        ({"x": {"y": ""}}, {"x": {"y": "text"}}),
        (["one …[9 more characters]"], ["one and more."]),
        (["a", "…[3 more items]"], ["a", "b", "c"]),
        ({"a": 1.0}, {"a": 1}),
        ("ending", "beginning and ending"),
    ],
)
def test_what_does_not_lie_within(new: Any, old: Any) -> None:
    assert not within(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"a": "", "b": [], "c": {}}, {"a": "x", "b": [1], "c": {"d": 1}}),
        ({"labels": {"host.example.com": ""}}, {"labels": {"host.example.com": "x", "b": 1}}),
        ([1, 3], [1, 2, 3]),
        ({"x": {"z": 3}}, {"x": {"y": 1, "z": 3}}),
        (["one …[9 more characters]"], ["one and more"]),
        (["…[12 more characters; mentions 1.2.3.4]"], ["from 1.2.3.4"]),
        (["a", "…[2 more items; mentions x[.]y]"], ["a", "b", "x[.]y"]),
    ],
)
def test_what_lies_within(new: Any, old: Any) -> None:
    assert within(new, old)


def digest(folder: Path) -> str:
    """Hash the results of all rules on the smaller answers."""
    whole = hashlib.sha256()
    for rule in BY_FILE.values():
        for _, content in contents(folder)[::7]:
            if chars(content, 20_000) <= 20_000:
                whole.update(dump(reduce_content(forced(rule), "any", content)).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def test_another_process_with_another_hash_seed_gives_the_same_bytes(data: Path) -> None:
    code = f"from pathlib import Path; from tests.laws.test_shipped_rules import digest; print(digest(Path({str(data)!r})))"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "4711",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(data)
