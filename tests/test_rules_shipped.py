"""The rules in `rules/`: they load, their own tests pass, they save what they promise, and the laws hold for each of them on all real data."""

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
from reducer.engine import reduce_content, trace
from reducer.engine.decode import decode
from reducer.entities import expand, scan
from reducer.path import compile_expression
from reducer.rule import Rule, Ruleset, check_rules
from reducer.rule.model import Expect, Given, Test
from reducer.values import chars, dump

RULES = Path(__file__).parents[1] / "rules"
RULESET, PROBLEMS = check_rules(RULES)
BY_FILE: dict[str, Rule] = {Path(rule.file).stem: rule for rule in RULESET.rules} if RULESET else {}
FULL = os.environ.get("HYPOTHESIS_PROFILE") == "ci"
LARGE = 20_000
"""Files above this size meet only their own rule, unless the profile is `ci`: with them every file under every rule takes minutes."""

PRODUCTS = {
    "virustotal_file": ("virustotal__vt_test_file", "virustotal_v3__vt3_file_1", "virustotal_v3__vt3_search"),
    "virustotal_domain": ("virustotal__vt_test_domain",),
    "virustotal_ip": ("virustotal__vt_test_ipv4",),
    "shodan_host": ("shodan__host_*",),
    "misp_event": ("misp__event_*",),
    "stix_bundle": ("stix__bundle_apt1",),
    "grype_scan": ("anchore_grype__*",),
    "aws_security_hub": ("aws_securityhub__getfindings",),
    "siem_incidents": ("microsoft365defender__fetch_response",),
}
"""For each rule its product's answers among the real data. The others have samples of their own, and `execute` has histories."""


def forced(rule: Rule) -> Ruleset:
    """Make a ruleset in which `rule` is for every tool."""
    return Ruleset((rule,), lambda tool: rule)


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def opened(content: Any) -> Any:
    return decode(content) if isinstance(content, str) else content


def entities(value: Any, types: frozenset[str] | None = None) -> dict[str, None]:
    """Read the entities of a content, text by text, as written."""
    return {entity.value: None for text in texts(value) for entity in scan(text, types)}


def stands(value: str, text: str) -> bool:
    """Tell whether `value` stands in `text` bounded by non-word characters."""
    return any(
        not (match.start() and text[match.start() - 1].isalnum() and value[0].isalnum())
        and not (match.end() < len(text) and text[match.end()].isalnum() and value[-1].isalnum())
        for match in re.finditer(re.escape(value), text)
    )


# --- they load, and their own tests pass


def test_all_rules_load_without_errors_or_warnings() -> None:
    assert [str(problem) for problem in PROBLEMS] == []
    assert len(BY_FILE) >= 13


def test_every_rule_says_what_it_does_and_is_tested_on_a_sample() -> None:
    for name, rule in BY_FILE.items():
        assert rule.description.endswith("."), name
        assert any(test.given.file for test in rule.tests), name
        assert any("unchanged" in test.expect.model_fields_set for test in rule.tests) or len(rule.tests) >= 2, name


def test_every_sample_has_a_source_and_a_rule() -> None:
    named = {test.given.file for rule in BY_FILE.values() for test in rule.tests if test.given.file}
    sources = (RULES / "samples" / "SOURCES.md").read_text(encoding="utf-8")
    for sample in (RULES / "samples").glob("*.json"):
        assert f"samples/{sample.name}" in named
        assert f"`{sample.name}`" in sources


def given_content(given: Given, folder: Path) -> Any:
    if given.file is not None:
        return json.loads((folder / given.file).read_text(encoding="utf-8"))
    return given.text if given.text is not None else given.json_


def unmet(expect: Expect, content: Any, result: Any) -> Iterator[str]:
    """Tell in words what of `expect` does not hold."""
    said = expect.model_fields_set
    value = opened(result)
    shown = [*texts(value), dump(value)]
    if "unchanged" in said and (result is content) != expect.unchanged:
        yield f"unchanged: {result!r}"
    if "equals" in said and value != expect.equals:
        yield f"equals: {value!r}"
    yield from (f"contains {part!r}" for part in expect.contains or () if not any(part in text for text in shown))
    yield from (f"not_contains {part!r}" for part in expect.not_contains or () if any(part in text for text in shown))
    if expect.max_chars is not None and chars(result) > expect.max_chars:
        yield f"max_chars: {chars(result)}"
    if expect.min_reduction is not None and 1 - chars(result) / chars(content) < expect.min_reduction:
        yield f"min_reduction: {1 - chars(result) / chars(content):.1%}"
    for expression, wanted in (expect.values or {}).items():
        found = compile_expression(expression).evaluate(value)
        if found != wanted:
            yield f"{expression}: {found!r}"
    if expect.preserves:
        kept = list(texts(value))
        for entity in entities(opened(content), expand(expect.preserves)):
            if not any(stands(entity, text) for text in kept):
                yield f"preserves {entity}"


@pytest.mark.parametrize(("name", "test"), [pytest.param(n, t, id=f"{n}: {t.name}") for n, rule in BY_FILE.items() for t in rule.tests])
def test_inline_tests(name: str, test: Test) -> None:
    content = given_content(test.given, RULES)
    outcome = trace(forced(BY_FILE[name]), "any", content)
    assert outcome.fault == ""
    assert list(unmet(test.expect, content, outcome.content)) == []


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ({"unchanged": True}, "unchanged"),
        ({"equals": {"a": 1}}, "equals"),
        ({"contains": "gone"}, "contains 'gone'"),
        ({"not_contains": "kept"}, "not_contains 'kept'"),
        ({"max_chars": 3}, "max_chars: 12"),
        ({"min_reduction": "90%"}, "min_reduction"),
        ({"values": {"length(a)": 4711}}, "length(a): 4"),
        ({"preserves": ["ip"]}, "preserves 192.0.2.9"),
    ],
)
def test_an_expectation_that_does_not_hold_is_said(expect: dict[str, Any], words: str) -> None:
    content, result = {"a": "kept", "b": "gone with 192.0.2.9"}, {"a": "kept"}
    (said,) = unmet(Expect.model_validate(expect), content, result)
    assert said.startswith(words)


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("deep_research", "deep_research"),
        ("explore", "explore"),
        ("get_indicator_details", "get_indicator_details"),
        ("vt_get_file_report", "virustotal_file"),
        ("virustotal_file_report", "virustotal_file"),
        ("virustotal_domain_report", "virustotal_domain"),
        ("virustotal_get_ip_report", "virustotal_ip"),
        ("shodan_host_lookup", "shodan_host"),
        ("misp_get_event", "misp_event"),
        ("opencti_export_report", "stix_bundle"),
        ("run_grype", "grype_scan"),
        ("aws_security_hub_get_findings", "aws_security_hub"),
        ("sentinel_list_incidents", "siem_incidents"),
        ("execute", "execute"),
        ("final_result", None),
        ("get_weather", None),
    ],
)
def test_which_rule_a_tool_gets(tool: str, name: str | None) -> None:
    assert RULESET is not None
    rule = RULESET.rule_for(tool)
    assert (rule and Path(rule.file).stem) == name


# --- they save what they promise


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_is_reduced_by_seventy_percent(name: str, data: Path) -> None:
    files = sorted(file for glob in PRODUCTS[name] for file in (data / "tool_outputs").glob(f"{glob}.json"))
    before = after = 0
    for file in files:
        content = json.loads(file.read_bytes())
        outcome = trace(forced(BY_FILE[name]), "any", content)
        assert outcome.fault == "", file.name
        before += chars(content)
        after += chars(outcome.content)
    assert files
    assert 1 - after / before >= 0.70


def test_sql_answers_are_reduced_and_keep_what_agents_used_later(data: Path) -> None:
    sys.path.insert(0, str(data))
    try:
        import retention
    finally:
        sys.path.pop(0)
    rules = forced(BY_FILE["execute"])
    before = after = used = kept = 0
    for file in sorted((data / "histories").glob("secrl*/*.json")):
        history = retention.Hist(json.loads(file.read_bytes()))
        reduced = {}
        for part in history.returns:
            content = history.parts[part][3]["content"]
            result = reduce_content(rules, "execute", content)
            before, after = before + chars(content), after + chars(result)
            reduced[part] = retention.search_text(result)
        for value, _, _, sources, novel in retention.references(history):
            if novel:
                used += 1
                kept += any(retention.occurs(value, reduced[source]) for source in sources)
    assert used > 400
    assert kept / used >= 0.98
    assert 1 - after / before >= 0.65


# --- the laws, on all real data


@lru_cache(maxsize=1)
def contents(folder: Path) -> list[tuple[str, Any]]:
    """Read every recorded answer, and every different return of the recorded histories."""
    found = [(file.name, json.loads(file.read_bytes())) for file in sorted((folder / "tool_outputs").glob("*.json")) if file.name != "manifest.json"]
    seen = set()
    for file in sorted((folder / "histories").glob("*/*.json")):
        for message in json.loads(file.read_bytes()):
            for part in message["parts"]:
                if part.get("part_kind") == "tool-return" and part["content"] and (key := dump(part["content"])) not in seen:
                    seen.add(key)
                    found.append((f"{file.parent.name}/{file.name} {part['tool_call_id']}", part["content"]))
    return found


def chosen(name: str, folder: Path) -> list[tuple[str, Any]]:
    own = PRODUCTS.get(name, ())
    every = contents(folder)
    if FULL:
        return every
    return [
        (label, content)
        for number, (label, content) in enumerate(every)
        if any(Path(label).match(f"{glob}.json") for glob in own)
        or ("/" not in label and chars(content, LARGE) <= LARGE)
        # Of the returns of histories every tenth, another tenth for each rule.
        or ("/" in label and number % 10 == list(BY_FILE).index(name) % 10 and chars(content, LARGE) <= LARGE)
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
    """Tell whether keys and items of `new` are subsequences of those of `old`, in order; at the root emptied values stand for what went."""
    if new is old:
        return True
    if type(new) is not type(old):
        return False
    if type(new) is dict:
        keys = iter(old)
        for key, item in new.items():
            if not any(key == other for other in keys):
                return False
            if not within(item, old[key], False) and not (root and item in ("", [], {})):
                return False
        return True
    if type(new) is list:
        items = iter(old)
        for number, item in enumerate(new):
            if number == len(new) - 1 and type(item) is str and (match := _MARK_ITEM.match(item)) and int(match[1]) == len(old) - len(new) + 1:
                return True
            # The first item that fits leaves the most for the others: no need to look further.
            if not any(within(item, other, False) for other in items):
                return False
        return True
    return text_within(new, old) if type(new) is str else new == old


def broken(rule: Rule, content: Any) -> Iterator[str]:
    """Tell which laws `rule` breaks on `content`."""
    rules = forced(rule)
    result = reduce_content(rules, "any", content)
    if result is content:
        return
    old, new = opened(content), opened(result)
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
    owed = frozenset.intersection(*rule.policies[1 : None if rule.max_chars else -1])
    left = list(texts(new))
    if owed:
        yield from (f"8 preserve: {entity}" for entity in entities(old, owed) if not any(stands(entity, text) for text in left))
    arrived = list(texts(old))
    yield from (f"8 invented: {entity}" for entity in entities(new) if not any(entity in text for text in arrived))


@pytest.mark.parametrize("name", BY_FILE)
def test_laws_on_all_real_data(name: str, data: Path) -> None:
    cases = chosen(name, data)
    found = {label: laws for label, content in cases if (laws := list(broken(BY_FILE[name], content)))}
    assert found == {}
    assert len(cases) > 300


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
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_rules_shipped as t; print(t.digest(t.Path({str(data)!r})))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(data)


@pytest.mark.parametrize("name", BY_FILE)
def test_samples_are_not_changed_in_place(name: str) -> None:
    for test in BY_FILE[name].tests:
        content = given_content(test.given, RULES)
        before = dump(content)
        reduce_content(forced(BY_FILE[name]), "any", content)
        assert dump(content) == before
