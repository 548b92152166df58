"""The JSON API answers with the functions of the command line, over real HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reducer.workbench import api
from tests.cli.conftest import history
from tests.workbench.conftest import HOSTS, ROWS, RULE, Workbench

Start = Callable[..., Workbench]
SAMPLE = json.dumps(HOSTS)


def run(bench: Workbench, text: str, content: Any = 0, name: str = "list_hosts.yaml") -> Any:
    return bench.get("POST", "run", name=name, text=text, content=content)


# --- rule files


def test_a_rule_is_read_and_saved_as_text(start: Start) -> None:
    bench = start()
    rule = bench.get("GET", "rule", name="list_hosts.yaml")
    assert rule["text"] == RULE
    new = f"# keep me\r\n{RULE}"
    saved = bench.get("PUT", "rule", name="list_hosts.yaml", text=new, version=rule["version"])
    assert (bench.folder / "list_hosts.yaml").read_bytes() == new.encode()
    read = bench.get("GET", "rule", name="list_hosts.yaml")
    assert read == {"text": new, "version": saved["version"], "samples": ["samples/hosts.json"]}


def test_a_file_that_changed_on_disk_is_not_overwritten(start: Start) -> None:
    bench = start()
    version = bench.get("GET", "rule", name="list_hosts.yaml")["version"]
    (bench.folder / "list_hosts.yaml").write_text("theirs")
    mine = {"name": "list_hosts.yaml", "text": "mine"}
    status, answer = bench.ask("PUT", "rule", **mine, version=version)
    assert (status, answer["text"], answer["error"]) == (409, "theirs", "the file has changed on disk")
    bench.get("PUT", "rule", **mine, version=answer["version"])
    assert (bench.folder / "list_hosts.yaml").read_text() == "mine"
    (bench.folder / "list_hosts.yaml").unlink()
    status, answer = bench.ask("PUT", "rule", **mine, version=answer["version"])
    assert (status, answer["text"], answer["version"]) == (409, "", ""), "a deleted file has changed too"


def test_two_windows_that_save_at_once_never_lose_a_text(start: Start) -> None:
    bench = start()
    version = bench.get("GET", "rule", name="list_hosts.yaml")["version"]

    def save(text: str) -> int:
        return bench.ask("PUT", "rule", name="list_hosts.yaml", text=text, version=version)[0]

    with ThreadPoolExecutor(8) as windows:
        assert sorted(windows.map(save, map(str, range(8)))) == [200] + [409] * 7


def test_nothing_is_saved_without_write(start: Start) -> None:
    why = "start the workbench with --write to save rules"
    bench = start(read_only=why)
    assert bench.get("GET", "rules")["why_not"] == why
    assert bench.ask("PUT", "rule", name="new.yaml", text="version: 1\n", version="") == (403, {"error": why})
    named = {"name": "list_hosts.yaml", "version": bench.get("GET", "rule", name="list_hosts.yaml")["version"]}
    assert bench.ask("POST", "rename", **named, to="new.yaml") == (403, {"error": why})
    assert bench.ask("POST", "delete", **named) == (403, {"error": why})
    assert (bench.folder / "list_hosts.yaml").read_text() == RULE
    assert not (bench.folder / "new.yaml").exists()


def test_a_folder_that_does_not_exist_is_created_with_the_first_rule(start: Start) -> None:
    bench = start({})
    assert bench.get("GET", "rules")["rules"] == []
    assert bench.get("GET", "schema")["$schema"].startswith("https://json-schema.org/")
    for name in ("new.yaml", "web/b.yml"):
        bench.get("PUT", "rule", name=name, text="tool: [", version="")
    (bench.folder / "notes.txt").write_bytes(b"\xff")
    listed = bench.get("GET", "rules")
    assert (listed["folder"], listed["why_not"]) == (str(bench.folder), "")
    assert listed["rules"] == [{"name": "new.yaml", "tools": []}, {"name": "web/b.yml", "tools": []}]
    status, answer = bench.ask("GET", "rule", name="notes.txt")
    assert (status, "utf-8" in answer["error"]) == (400, True)


# --- returns


def test_tools_are_listed_with_their_rules(start: Start) -> None:
    contents = history(("list_hosts", HOSTS), ("search", "x" * 10), ("search", "x" * 2000))
    bench = start(histories={"history.json": contents, "answer.json": '["a", "b"]'})
    search, hosts, answer = bench.get("GET", "rules")["tools"]
    assert (search["tool"], search["rule"], search["count"], search["characters"]) == ("search", None, 2, 2010)
    assert search["returns"][1] == {"number": 2, "file": "history.json", "call": "c3", "characters": 2000}
    assert (hosts["tool"], hosts["rule"], hosts["characters"]) == ("list_hosts", "list_hosts.yaml", 749)
    assert (answer["tool"], answer["returns"][0]["call"]) == ("answer", "")
    assert run(bench, "tool: [se*, answer]")["tools"] == ["search", "answer"]


def test_a_history_that_cannot_be_read_is_reported_and_others_work(start: Start) -> None:
    bench = start(histories={"bad.json": '[{"parts": [{"part_kind": ', "good.json": history(("list_hosts", HOSTS))})
    answer = bench.get("GET", "rules")
    assert [tool["tool"] for tool in answer["tools"]] == ["list_hosts"]
    (skipped,) = answer["skipped"]
    assert "bad.json: cut off" in skipped


# --- running a rule


def test_a_rule_is_run_while_it_is_edited(start: Start) -> None:
    bench = start()
    answer = run(bench, RULE)
    assert answer["problems"] == []
    assert answer["tools"] == ["list_hosts"]
    assert json.loads(bench.get("GET", "rule", name="samples/hosts.json")["text"]) == HOSTS
    assert answer["did"]["characters"] == {"before": 749, "after": 275, "removed": 474, "saved": 0.6328}
    assert [(step["name"], step["line"]) for step in answer["did"]["steps"]] == [("limit hosts", 5)]
    assert [one["value"] for one in answer["did"]["lost_entities"]] == [f"192.0.2.{n}" for n in range(6)]
    assert answer["tree"]["node"]["items"][0]["ranges"] == [[0, 6, 1, 0]]


def test_a_mistake_has_its_place_and_the_return_stays_visible(start: Start) -> None:
    answer = run(start(), RULE.replace("limit", "limt"))
    (problem,) = answer["problems"]
    assert (problem["line"], problem["column"], problem["width"], problem["severity"]) == (6, 5, 4, "error")
    assert problem["help"] == "did you mean `limit`?"
    assert answer["did"] is None
    assert len(answer["tree"]["node"]["items"][0]["items"]) == 9


TESTS = [f"version: 1\ntool: x\ntests: {tests}\n" for tests in ("5", "[3, {given: {file: [2]}}]", "{given: {}}")]


@pytest.mark.parametrize("text", ["", "[", "tool: x\nsteps: [{", "- a", "x" * 10_000, "\0", "a: &x [*x]", *TESTS])
def test_any_text_is_answered(start: Start, text: str) -> None:
    answer = run(start(), text)
    assert answer["problems"]
    assert answer["did"] is None


def test_a_sample_is_read_as_json_or_text(start: Start) -> None:
    bench = start()
    assert run(bench, RULE, SAMPLE)["did"]["characters"]["after"] == 275
    log = "version: 1\ntool: log\nsteps:\n  - {truncate: 20}\n"
    value = f'["{"x" * 30}"]\n'
    assert "opened" not in run(bench, log, ["samples/log.json", value])["tree"]["node"]
    assert run(bench, log, ["samples/log.txt", value])["tree"]["node"]["opened"], "it is a text"
    text = run(bench, log, "a line of a log\n" * 20)
    assert text["did"]["status"] == "reduced"
    assert run(bench, RULE, None)["tree"] is None
    empty = {"error": "the sample: empty; expected a history or a sample"}
    assert bench.ask("POST", "run", name="a.yaml", text=RULE, content="  ") == (400, empty)
    assert bench.ask("POST", "run", name="a.yaml", text=RULE, content=99)[0] == 404


def test_entity_types_of_other_files_are_known(start: Start) -> None:
    shared = "version: 1\nentities: {ticket: {pattern: 'INC-[0-9]{6}'}}\nconditions: {risky: risk > 7}\n"
    bench = start({"a_shared.yaml": shared})
    text = "version: 1\ntool: list_hosts\nsteps:\n  - {path: hosts, limit: 1, always_keep: risky}\npreserve: [ticket]\n"
    assert run(bench, text)["problems"] == []
    assert run(bench, text.replace("[ticket]", "[tiket]"))["problems"][0]["help"] == "did you mean `ticket`?"


def test_check_runs_samples_and_tests(start: Start) -> None:
    bench = start()
    (test,) = bench.get("POST", "check", name="list_hosts.yaml", text=RULE)["tests"]
    assert (test["name"], test["line"], test["failures"]) == ("three hosts stay", 9, [])
    changed = RULE.replace("limit: 3", "limit: 4").replace("sort_by: risk", "sort_by: rsk")
    answer = bench.get("POST", "check", name="list_hosts.yaml", text=changed)
    assert [(one["line"], one["code"]) for one in answer["problems"]] == [(7, "W061")]
    assert answer["tests"][0]["failures"][0]["message"] == "`length(hosts)` is not as expected"
    assert (bench.folder / "list_hosts.yaml").read_text() == RULE


WITHOUT_TESTS = RULE.partition("tests:")[0].replace("sort_by: risk", "sort_by: rsk")


def test_samples_of_a_rule_without_tests_are_checked(start: Start) -> None:
    bench = start({"list_hosts.yaml": WITHOUT_TESTS, "samples/list_hosts.json": SAMPLE, "samples/log.txt": "x"})
    given = {"name": "list_hosts.yaml", "text": WITHOUT_TESTS}
    answer = bench.get("POST", "check", **given)
    assert [(one["line"], one["code"]) for one in answer["problems"]] == [(7, "W061")]
    assert (
        answer["samples"] == bench.get("GET", "rule", name="list_hosts.yaml")["samples"] == ["samples/list_hosts.json"]
    )
    log = {"name": "log.yaml", "text": "version: 1\ntool: log\nsteps: [{truncate: 9}]\n"}
    assert bench.get("POST", "check", **log)["samples"] == ["samples/log.txt"]


@pytest.mark.parametrize("content", [0, SAMPLE])
def test_the_return_on_the_page_is_a_sample(start: Start, content: Any) -> None:
    bench = start({"list_hosts.yaml": WITHOUT_TESTS})
    given = {"name": "list_hosts.yaml", "text": WITHOUT_TESTS}
    assert bench.get("POST", "check", **given)["problems"] == []
    (problem,) = bench.get("POST", "check", **given, content=content)["problems"]
    assert (problem["line"], problem["message"]) == (7, "no sample has the key `rsk`")


def test_a_sample_that_is_not_saved_is_checked(start: Start) -> None:
    bench = start({})
    unsaved = {"sample_name": "samples/hosts.json", "sample": SAMPLE}
    answer = bench.get("POST", "check", name="list_hosts.yaml", text=RULE, **unsaved)
    assert (answer["problems"], [test["failures"] for test in answer["tests"]]) == ([], [[]])


def test_steps_are_switched_off_for_a_run(start: Start) -> None:
    bench = start()
    answer = bench.get("POST", "run", name="list_hosts.yaml", text=f"{RULE}max_chars: 5000\n", content=0, off=[5])
    assert (answer["did"]["status"], answer["did"]["steps"][0]["name"]) == ("unchanged", "max_chars")
    answer = bench.get("POST", "run", name="list_hosts.yaml", text=RULE, content=0, off=[5])
    assert (answer["problems"], answer["did"]) == ([], None), "no step is left"
    moved = bench.ask("POST", "move", text=RULE, line=5, by=1)
    assert moved == (400, {"error": "there is no step to exchange it with"})


def test_a_value_becomes_a_test(start: Start) -> None:
    bench = start()
    given = {"text": RULE, "keys": ["hosts", 3, "name"], "content": 0, "name": "list_hosts.yaml"}
    test = bench.get("POST", "steps", **given)["test"]
    assert (test["sample_name"], json.loads(test["sample"])) == ("samples/list_hosts_1.json", HOSTS)
    assert test["text"].endswith("given: {file: samples/list_hosts_1.json}\n    expect: {contains: [srv-3]}\n")
    known = bench.get("POST", "steps", **given, sample_name="samples/hosts.json")["test"]
    assert known == {"text": test["text"].replace("list_hosts_1.json", "hosts.json")}
    assert bench.get("POST", "steps", **(given | {"keys": ["hosts"]}))["test"] is None


def test_expressions_are_tried(start: Start) -> None:
    bench = start()
    given = {"text": RULE, "content": 0}
    answer = bench.get("POST", "query", expression="hosts[?risk > 7].name", **given)
    assert answer == {
        "places": [{"place": "hosts[8].name", "value": "srv-8"}],
        "count": 1,
        "value": None,
        "nothing": "",
    }
    assert bench.get("POST", "query", expression="length(hosts)", **given)["value"] == "9"
    assert bench.get("POST", "query", expression="hosts[*].nme", **given)["nothing"].endswith(
        "did you mean `hosts[*].name`?"
    )
    status, wrong = bench.ask("POST", "query", expression="hosts[", **given)
    assert (status, list(wrong)) == (400, ["error"])


def test_the_rules_that_apply_to_a_return_are_found(start: Start) -> None:
    bench = start()
    own = {"name": "list_hosts.yaml", "is_own": True, "by": "name"}
    assert bench.get("POST", "which", tool="list_hosts", content=0)["rules"] == [own]
    assert bench.get("POST", "which", tool="", content=0)["rules"] == []


def test_the_text_of_a_return_is_read(start: Start) -> None:
    bench = start(histories={"history.json": history(("list_hosts", HOSTS), ("log", "a\nb"))})
    answer = bench.get("GET", "return", number=0)
    assert (json.loads(answer["text"]), answer["ending"]) == (HOSTS, ".json")
    assert bench.get("GET", "return", number=1) == {"text": "a\nb", "ending": ".txt"}


def test_a_rule_is_renamed_and_deleted(start: Start) -> None:
    bench = start()
    version = bench.get("GET", "rule", name="list_hosts.yaml")["version"]
    named = {"name": "list_hosts.yaml", "version": version}
    for to, why in (("samples/hosts.json", "does not end in .yaml"), ("list_hosts.yaml", "exists already")):
        status, answer = bench.ask("POST", "rename", **named, to=to)
        assert (status, why in answer["error"]) == (400, True)
    bench.get("POST", "rename", **named, to="web/hosts.yaml")
    assert (bench.folder / "web/hosts.yaml").read_text() == RULE
    assert not (bench.folder / "list_hosts.yaml").exists()
    changed = bench.ask("POST", "delete", name="web/hosts.yaml", version="old")
    assert changed == (409, {"error": "the file has changed on disk", "text": RULE, "version": version})
    assert (bench.folder / "web/hosts.yaml").read_text() == RULE
    bench.get("POST", "delete", name="web/hosts.yaml", version=version)
    assert [path.name for path in (bench.folder / "web").iterdir()] == []
    assert bench.ask("POST", "delete", name="web/hosts.yaml", version=version)[0] == 404


def test_check_reports_only_problems_of_the_edited_file(start: Start) -> None:
    bench = start({"broken.yaml": "tool: [", "list_hosts.yaml": RULE, "samples/hosts.json": SAMPLE})
    answer = bench.get("POST", "check", name="list_hosts.yaml", text=RULE)
    assert (answer["problems"], len(answer["tests"])) == ([], 1)
    twice = bench.get("POST", "check", name="twice.yaml", text=RULE)
    assert [one["code"] for one in twice["problems"]] == ["E080"]


PLACES = [("hosts[*].name", [f"hosts[{n}].name" for n in range(9)]), ("'@'", ["@"])]
PLACES += [(path, []) for path in ("hosts.nme", "'hosts['", "length(hosts)", "''", "1")]


@pytest.mark.parametrize(("path", "places"), PLACES)
def test_places_of_the_step_in_a_line(start: Start, path: str, places: list[str]) -> None:
    bench = start()
    text = f"tool: list_hosts\nsteps:\n  - path: {path}\n    limit: 1\n\ntests: []\n"
    found = [bench.get("POST", "places", text=text, line=line, content=0)["places"] for line in range(1, 7)]
    assert found == [[], [], places, places, [], []]
    for other in ("", "[", "- a", "tool: x\nsteps: 1\n", "tool: x\n"):
        assert bench.get("POST", "places", text=other, line=1, content=0)["places"] == []


def test_a_draft_is_saved_with_its_sample(start: Start) -> None:
    bench = start(histories={"history.json": history(("list_rows", ROWS))})
    draft = bench.get("POST", "draft", tool="list_rows", content=0)
    assert (draft["name"], draft["sample_name"]) == ("list_rows.yaml", "samples/list_rows.json")
    saved = {key: draft[key] for key in ("name", "text", "sample_name", "sample")}
    bench.get("PUT", "rule", **saved, version="")
    assert json.loads((bench.folder / "samples/list_rows.json").read_text()) == ROWS
    checked = bench.get("POST", "check", name=draft["name"], text=draft["text"])
    assert checked["problems"] == []
    assert [test["failures"] for test in checked["tests"]] == [[]]
    refused = {"error": "`list_rows` already has a rule: list_rows.yaml"}
    assert bench.ask("POST", "draft", tool="list_rows", content=0) == (400, refused)
    refused = {"error": "samples/list_rows.json exists already; delete or rename it"}
    assert bench.ask("PUT", "rule", **(saved | {"name": "x.yaml", "sample": "[]"}), version="") == (400, refused)
    assert not (bench.folder / "x.yaml").exists()


def test_a_draft_without_anything_to_remove_has_no_steps(start: Start) -> None:
    draft = start().get("POST", "draft", tool="t[*]", content='{"a": 1}')
    text = "version: 1\ntool: 't[[][*]]'\nsteps:\n"
    assert draft == {"name": "t.yaml", "text": text, "sample_name": "", "sample": "", "saves": 0}


def test_documented_requests_exist() -> None:
    documented = re.findall(r"^\| (GET|PUT|POST) `(/api/\w+)`", str(api.__doc__), re.MULTILINE)
    assert set(documented) == set(api._ENDPOINTS)


def test_a_rule_in_a_link_is_refused(start: Start, tmp_path: Path) -> None:
    bench = start()
    secret = tmp_path / "secret.yaml"
    secret.write_text("secret")
    (bench.folder / "link.yaml").symlink_to(secret)
    (bench.folder / "pack").symlink_to(tmp_path)
    for name in ("link.yaml", "pack/secret.yaml", "pack/new.yaml"):
        refused = {"error": f"`{name}` is a link, or is in one; open the folder that it leads to"}
        assert bench.ask("GET", "rule", name=name) == (400, refused)
        assert bench.ask("PUT", "rule", name=name, text="mine", version="") == (400, refused)
        assert bench.ask("POST", "run", name=name, text=RULE, content=0) == (400, refused)
    assert secret.read_text() == "secret"
    assert not (tmp_path / "new.yaml").exists()


def test_steps_are_offered_with_the_text_that_contains_them(start: Start) -> None:
    bench = start()
    text = "tool: list_hosts\nsteps:\n"
    given = {"keys": ["hosts", 3, "note"], "content": 0}
    answer = bench.get("POST", "steps", text=text, **given)
    assert answer["path"] == "hosts[*].note"
    steps = [("keep", "hosts"), ("drop", "hosts"), ("limit 4", "hosts"), ("truncate 23", "hosts[*].note")]
    assert [(step["label"], step["at"]) for step in answer["steps"]] == steps
    assert answer["steps"][1]["text"] == f"{text}  - path: hosts\n    drop: [note]\n"
    assert bench.ask("POST", "steps", text="", **given) == (400, {"error": "correct this first: the file is empty"})
    assert bench.ask("POST", "steps", text=text, **(given | {"keys": ["\ud800", "x"]}))[0] == 200
    for keys in ([None], "hosts", [1.5], [[]]):
        assert bench.ask("POST", "steps", text=text, **(given | {"keys": keys}))[0] == 400


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' * 100_000 + "1" + "}" * 100_000, "\ud800", '"\\ud800"'])
def test_any_content_is_answered(start: Start, content: str) -> None:
    bench = start()
    rule = {"text": RULE, "name": "list_hosts.yaml", "content": content}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("which", {"tool": "\ud800", "content": content}),
        ("which", {"tool": "", "content": ["samples/a.txt", content]}),
        ("query", {"text": RULE, "content": content, "expression": "hosts[0]"}),
        ("query", {"text": RULE, "content": 0, "expression": content}),
        ("steps", {**rule, "keys": []}),
        ("steps", {**rule, "keys": ["a"] * 100_000}),
        ("check", rule),
        ("run", rule),
    ]
    for endpoint, fields in requests:
        assert bench.ask("POST", endpoint, **fields)[0] in (200, 400), (endpoint, fields)


def test_a_rule_for_the_shape_of_a_return_is_found(start: Start) -> None:
    shape = "version: 1\ntool: others\nwhen: {where: hosts && total}\nsteps: [{path: hosts, limit: 1}]\n"
    bench = start({"list_hosts.yaml": RULE, "shape.yaml": shape, "broken.yaml": "tool: ["})
    content = json.dumps(HOSTS | {"total": 9})
    found = {"name": "shape.yaml", "is_own": True, "by": "shape"}
    assert bench.get("POST", "which", tool="search", content=content)["rules"] == [found]
    own = {"name": "list_hosts.yaml", "is_own": True, "by": "name"}
    assert bench.get("POST", "which", tool="list_hosts", content=content)["rules"] == [own]
