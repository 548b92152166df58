"""Drafts from answers: each rule loads without a problem, passes its own test, keeps the laws, and saves enough.

Profiles, which drafts are made from, count every character once.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from reducer.analysis.drafting import ENOUGH, Draft, Trial, draft_rule
from reducer.analysis.drafting.profiles import profile
from reducer.analysis.measures import finder
from reducer.analysis.rule_tests import unmet
from reducer.analysis.sample_checks import problems_when_run
from reducer.engine import attempt, reduce_content
from reducer.rules import Ruleset, compile_rules, read_rules
from reducer.values import chars, dump
from tests.helpers import RULES, nested
from tests.laws.strategies import sentences, values

HOSTS = [
    {"id": n, "host": f"host{n}.example.net", "last_seen": f"2024-01-{n % 28 + 1:02}", "note": "w" * 90}
    for n in range(120)
]


def tried(*contents: Any, tool: str = "search", **options: Any) -> tuple[Draft, Trial]:
    """Draft a rule, which must be possible, and return it with what it does to the contents."""
    made = draft_rule(tool, contents, "answers", "search", **options)
    assert made is not None
    return made


def drafted(*contents: Any, tool: str = "search", saves: float = 0) -> Draft:
    draft, trial = tried(*contents, tool=tool)
    assert trial.saved >= saves
    return draft


def loaded(draft: Draft) -> Ruleset:
    ruleset, problems = compile_rules([("draft.yaml", draft.text)])
    assert problems == ()
    assert ruleset is not None
    return ruleset


def sample_of(draft: Draft) -> Any:
    """Return the sample of a draft: the sample of a text is the text itself."""
    return json.loads(draft.sample) if draft.sample_file.endswith(".json") else draft.sample


def left_by(draft: Draft, content: Any = None) -> Any:
    """Reduce a content with a draft; without a content, its sample."""
    return reduce_content(loaded(draft), "search", sample_of(draft) if content is None else content)


def steps(draft: Draft) -> list[str]:
    return [step.name for step in loaded(draft).rules[0].steps]


def assert_sound(draft: Draft, tool: str) -> None:
    ruleset, sample = loaded(draft), sample_of(draft)
    (rule,) = ruleset.rules_for(tool)
    (test,) = rule.tests
    outcome = attempt(ruleset, tool, sample)
    assert not outcome.fault
    assert list(unmet(test.expect, sample, outcome)) == []
    assert reduce_content(ruleset, tool, outcome.content) == outcome.content
    assert chars(outcome.content) < chars(sample)


wide = st.builds(
    lambda items, more: {"items": items * 20, **more},
    st.lists(values, min_size=1, max_size=4),
    st.dictionaries(st.text(max_size=6), values, max_size=3),
)


@settings(max_examples=settings().max_examples // 2)
@given(
    st.lists(st.one_of(values, wide, sentences.map(lambda text: text * 9)), min_size=1, max_size=3),
    st.text(min_size=1, max_size=8),
)
def test_any_draft_is_sound(contents: list[Any], tool: str) -> None:
    if not tool.isprintable():
        tool = "search"
    contents = json.loads(json.dumps(contents).replace("NaN", "null"))
    made = draft_rule(tool, contents, "answers", "search")
    event("drafted" if made else "nothing to remove")
    if made is not None:
        assert_sound(made[0], tool)
        assert all(not outcome.fault for outcome in made[1].outcomes)


def test_a_long_list_keeps_its_newest_and_states_what_it_saves() -> None:
    draft = drafted({"total": 120, "hosts": HOSTS}, saves=ENOUGH / 2)
    assert steps(draft) == ["limit hosts"]
    assert "  # Saves 47.5%: 120 items: the highest by `last_seen` stay; of the others, the entities.\n" in draft.text
    assert "    limit: 50\n    sort_by: last_seen\n    mark: true\n" in draft.text
    assert "      preserves: [domain]\n" in draft.text
    hosts = [host for host in left_by(draft)["hosts"] if type(host) is dict]
    assert {host["host"] for host in hosts} == {host["host"] for host in HOSTS}


def test_the_highest_stay_and_a_marker_counts_the_others() -> None:
    alerts = [{"id": n, "severity": n % 10, "note": "x" * 40} for n in range(200)]
    *left, marker = left_by(drafted({"alerts": alerts}, saves=ENOUGH))["alerts"]
    severities = {alert["severity"] for alert in left}
    assert severities == {*range(min(severities), 10)}
    assert marker.startswith(f"…[{200 - len(left)} more items")


def test_one_of_two_copies_and_states_stay() -> None:
    links = [
        {"id": n, "shown": f"text {n * 7919} of all" * 4, "again": f"text {n * 7919} of all" * 4} for n in range(40)
    ]
    flags = [{**link, "inKev": n % 3 == 0, "x_lang": "the same " * 7} for n, link in enumerate(links)]
    draft = drafted(flags)
    first = left_by(draft)[0]
    assert ("shown" in first, "again" in first) in [(True, False), (False, True)]
    assert "inKev" in first
    assert "equal in all items (x_lang)" in draft.text
    assert "copy of `[*]." in draft.text


def test_values_that_the_agent_used_stay() -> None:
    items = [{"id": n, "zz_extra": "the same value7919 " * 9, "other": "always this " * 9} for n in range(20)]
    for used in (set[str](), {"value7919"}):
        made = draft_rule("t", [items], "answers", "t", used=finder(used))
        assert made is not None
        assert ("zz_extra" in made[0].text.partition("tests:")[0]) == (not used)


def test_scores_rank_before_dates_and_rare_states_always_stay() -> None:
    dated = [{"id": n, "date": f"{n % 28 + 1}. Jan 2024", "text": "w" * 50} for n in range(200)]
    assert "sort_by" not in drafted(dated).text, "these dates cannot be sorted"
    ranks = [(n % 17, "high" if n % 12 == 0 else "low", f"2024-01-{n % 28 + 1:02}") for n in range(150)]
    alerts = [{"risk_score": score, "state": state, "created": date} for score, state, date in ranks]
    draft = drafted({"alerts": alerts})
    assert "    sort_by: [risk_score, created]\n    always_keep: contains(['high'], state)\n" in draft.text
    *alerts, marker = left_by(draft)["alerts"]
    assert sum(alert["state"] == "high" for alert in alerts) == 13
    assert marker == f"…[{150 - len(alerts)} more items]"


ENGINE = {"category": "harmless", "method": "blacklist", "result": "x"}
ENGINES = {f"Engine {n}": {"engine_name": f"Engine {n}", "engine_version": f"1.{n}", **ENGINE} for n in range(90)}

NESTED = {"parts": [{"type": "text", "text": json.dumps({"hosts": HOSTS})}]}
SPARSE = {"host": {f"key{n}": None if n % 8 else f"value {n}" for n in range(400)}}


@pytest.mark.parametrize(
    ("content", "expected", "text"),
    [
        ({"data": {"results": ENGINES}}, ["limit data.results"], "; maps have no marker."),
        (NESTED, ["unwrap parts[*].text", "limit parts[*].text.hosts"], "JSON in a text"),
        (str(HOSTS), ["limit @"], "sort_by: last_seen"),
        (SPARSE, ["compact @"], "Saves 82.3%: empty values."),
        ({"name": "a", "site": {"title": "t", "html": ["<p>" * 30] * 45}}, ["limit site.html"], "both ends stay"),
    ],
    ids=["a map", "JSON in texts", "a Python literal", "empty keys", "texts"],
)
def test_steps_fit_the_shape_of_an_answer(content: Any, expected: list[str], text: str) -> None:
    draft = drafted(content)
    assert steps(draft)[: len(expected)] == expected
    assert text in draft.text


SAME = [f"10:{n % 60:02} WARN job {n} took {n % 7} s" for n in range(300)]
LOG = "\n".join([*SAME, *(f"host {n:c}{n:c} is up" for n in range(65, 400))])
TEXTS = [("word " * 3000, ["truncate @"]), (LOG, ["dedupe @"]), ("\n".join(SAME), ["dedupe @"])]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_text_keeps_both_ends_and_lines_that_differ(text: str, expected: list[str]) -> None:
    draft = drafted(text, saves=ENOUGH)
    assert steps(draft) == expected
    left = left_by(draft, text)
    assert left.startswith(text[:40])
    assert left.count("WARN job") in (0, 3)
    assert ("more items]" in left) == ("\n" in text)


def sha1(number: int) -> str:
    return f"{(number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC8341082276B % 16**40:040x}"


def test_indicators_are_counted_and_links_of_an_api_are_not() -> None:
    links = [{"login": f"dev{n}", "repos_url": f"https://api.example.com/users/{n}/repos"} for n in range(90)]
    _, trial = tried({"users": links})
    assert (trial.entities, trial.uncounted) == (0, 90)
    indicators = [{"sha1": sha1(n), "url": f"https://bad{n}.example.org/a.tgz"} for n in range(90)]
    _, trial = tried({"indicators": indicators, "note": "x" * 4000})
    assert (trial.uncounted, trial.kept) == (0, trial.entities)


def test_short_lists_of_keys() -> None:
    links = {f"{name}_url": f"https://api.example.com/{name}/1" for name in ("gists", "repos", "events", "keys")}
    users = [{"login": f"dev{n}", **links, "html_url": f"https://example.com/dev{n}"} for n in range(60)]
    assert "drop: [gists_url, repos_url, events_url, keys_url]" in drafted(users).text


@pytest.mark.parametrize(
    "key", ["a.b", 'a"b', "a'b", "*", "", "no", "a: b", "# a", "\ud800", "a\nb", "é", "[0]", "x" * 500, "123"]
)
def test_keys_of_any_kind(key: str) -> None:
    records = [{key: "w" * 80, "id": n, f"{key}2": "w" * 2000} for n in range(90)]
    assert_sound(drafted({"list": records, "more": {key: ["w" * 40] * 200}}), "search")


@pytest.mark.parametrize("tool", ["a*b", "a[b]", "no", "a: b", "'", "a\tb"])
def test_tools_of_any_name(tool: str) -> None:
    ruleset = loaded(drafted({"hosts": HOSTS}, tool=tool))
    assert (len(ruleset.rules_for(tool)), ruleset.rules_for("axb")) == (1, ())


def test_short_answers_are_left_alone_where_there_are_long_ones() -> None:
    draft, trial = tried({"hosts": HOSTS}, {"hosts": HOSTS[:2]})
    assert "when: {min_chars: 2000}" in draft.text
    assert len(trial.outcomes) == 1
    assert "when:" not in drafted({"a": None, "b": {"c": None, "d": 1}}).text


NO_DRAFT = [{"ok": True}, [], {}, "", "done", [1, 2, 3], {"a": {"b": "c"}}, nested(100_000, "x" * 3000)]


@pytest.mark.parametrize("content", NO_DRAFT, ids=range(len(NO_DRAFT)))
def test_there_is_no_draft_if_nothing_can_be_removed(content: Any) -> None:
    assert draft_rule("search", [content], "answers", "search") is None


HOSTILE = {
    "levels in a text": "[" * 100_000 + "]" * 100_000,
    "not a number": {"a": [float("nan")] * 3000},
    "lone surrogates": {"a\ud800": ["\udfff x" * 900] * 90},
    "keys with newlines": [{"a\nb": "w" * 90, '"': n} for n in range(90)],
    "huge numbers": [10**4000] * 200,
    "empty lists": [[[]] * 99] * 50,
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_get_a_draft_that_loads(content: Any) -> None:
    loaded(drafted(content))


# --- the substance

GITHUB = ["Different results from Betamax", "facetoe", "failing test and I'm not sure how", "2017-12-20", '"closed"']
INSTANCES = ["i-0074c3be9f6a78da8", "ami-08175b8b8b84bbf60", "t2.micro", "Client.UserInitiatedShutdown", "terminated"]
WIKI = {"query": {"pages": {"73611": {"pageid": 73611, "extract": "It wipes the disks of hosts. " * 90}}}}
PULSE = {"indicators": [{"id": 10**9 + n, "indicator": f"bad{n}.example.net", "content": ""} for n in range(324)]}


def sample(name: str) -> Any:
    """Return a sample of a shipped rule."""
    return json.loads((RULES / name).read_bytes())


@pytest.mark.parametrize(
    ("content", "stays", "goes"),
    [
        ("code_hosting/samples/github_issues_npm.json", GITHUB, ["labels_url", "avatar_url", "followers_url"]),
        ("platforms/samples/aws_ec2_instances.json", INSTANCES, []),
        (WIKI, ["73611", "It wipes"], []),
        (PULSE, [f"bad{n}.example.net" for n in range(324)], ['"content"']),
    ],
    ids=["issues", "instances", "pages", "indicators"],
)
def test_what_an_answer_is_about_stays(content: Any, stays: list[str], goes: list[str]) -> None:
    content = sample(content) if isinstance(content, str) else content
    draft = drafted(content)
    assert_sound(draft, "search")
    left = dump(left_by(draft))
    assert [text for text in stays if text not in left] == []
    assert [text for text in goes if text in left] == []
    assert "73611" not in draft.text


def test_ids_that_other_keys_refer_to_stay() -> None:
    ids = [f"node--{number:032x}" for number in range(60)]
    nodes = [{"id": one, "name": f"n{number}", "x": 1.5, "y": 2.5} for number, one in enumerate(ids)]
    edges = [{"from": one, "to": other, "weight": 1} for one, other in pairwise(ids)]
    left = left_by(drafted({"nodes": nodes, "edges": edges}))
    assert left["nodes"][0] == nodes[0]
    assert left["edges"][0] == edges[0]


def test_a_draft_saves_what_it_is_asked_for() -> None:
    issues = sample("code_hosting/samples/github_issues_npm.json")
    for content, target, saved in ((issues, 0.9, 0.88), ({"numbers": [*range(900)], "id": "x"}, 0.999, 0.98)):
        draft, trial = tried(content, target=target)
        assert trial.saved >= saved
        assert_sound(draft, "search")
    assert trial.saved < target, "numbers are all that is left"


def test_an_answer_without_much_substance_is_cut_to_its_last_entities(tmp_path: Path) -> None:
    assert_no_warnings(tried([{"id": n, "ip": f"192.0.2.{n}"} for n in range(200)], target=0.9)[0], tmp_path)


def assert_no_warnings(draft: Draft, folder: Path) -> None:
    """Check a draft in an empty folder as `check` does."""
    (folder / "samples").mkdir(parents=True)
    (folder / draft.sample_file).write_text(draft.sample)
    (folder / draft.file).write_text(draft.text)
    ruleset = read_rules(folder)
    assert [one.message for one in (*ruleset.warnings, *problems_when_run(ruleset.rules[0], ruleset))] == []


@pytest.mark.data
@pytest.mark.slow
def test_real_answers_keep_their_substance(data: Path, tmp_path: Path) -> None:
    saved = []
    entities = kept = 0
    for file in sorted((data / "tool_outputs").glob("*__*.json")):
        content = json.loads(file.read_bytes())
        made = draft_rule(file.stem, [content], "answers", "search")
        if made is None:
            continue
        draft, trial = made
        assert_sound(draft, file.stem)
        assert len(trial.rule.steps) <= 15, file.stem
        entities += trial.entities
        kept += trial.kept
        for step in trial.rule.steps:
            has_marker = "mark" in step.keys or "maps have no marker" in step.reason
            assert has_marker or {"limit", "dedupe"}.isdisjoint(step.keys), file.stem
        saved.append(trial.saved)
    assert len(saved) > 250
    assert sum(saved) / len(saved) >= 0.28
    assert kept >= 0.95 * entities


# --- profiles


@given(values)
def test_no_character_is_counted_twice(value: Any) -> None:
    root = profile([value])
    places = list(root.walk())
    assert places[0] is root
    for place in places:
        # A key counts with its colon and comma, but the last key of an object has no comma.
        assert sum(below.chars for below in place.below.values()) <= place.chars + len(place.values)


def test_an_object_used_as_a_map_is_one_place() -> None:
    ports = {str(number): [{"banner": "x"}] for number in range(20, 26)}
    (banner,) = (place for place in profile([{"ports": ports}]).walk() if place.path == ("ports", None, -1, "banner"))
    assert len(banner.values) == 6


def test_objects_with_different_values_are_no_map() -> None:
    values = ({"raw": "x"}, {"a": [1]}, {"jarm": "y"}, {"title": "z"}, {"city": "w"}, {"number": 1})
    assert None not in profile([dict(zip(("whois", "dns", "tls", "http", "geo", "asn"), values, strict=True))]).below
    assert None not in profile([{"a": {"x": 1}, "b": {"x": 1}}]).below


def test_levels_that_rules_do_not_reach_are_left_out() -> None:
    assert profile([nested(5000, "x" * 1000)]).chars < 1000
