"""The workbench in a real browser. These tests need the package `playwright` and Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reducer.workbench.server import redirect_file
from tests.cli.conftest import history
from tests.workbench.conftest import HOSTS, NO_PLAYWRIGHT, ROWS, RULE, Workbench

api = pytest.importorskip("playwright.sync_api", reason=NO_PLAYWRIGHT)
expect: Any = api.expect

TIMEOUT = 20_000

Start = Callable[..., Workbench]
Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Return a function that opens the page of a workbench. The test fails if the page reports an error."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    errors: list[str] = []

    def opened(bench: Workbench) -> Any:
        page = context.new_page()
        page.set_default_timeout(TIMEOUT)
        expect.set_options(timeout=TIMEOUT)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if is_error(message) else None)
        page.goto(bench.url)
        expect(page.locator("#before")).not_to_be_empty()
        return page

    def is_error(message: Any) -> bool:
        return message.type == "error" and "Failed to load resource" not in message.text

    yield opened
    context.close()
    assert errors == []


def test_the_file_that_serve_opens_leads_to_the_workbench(start: Start, browser: Any, tmp_path: Path) -> None:
    with redirect_file(start().url) as file:
        page = browser.new_page()
        page.goto(file.as_uri())
        expect(page.locator(".cm-content")).to_contain_text("tool: list_hosts", timeout=TIMEOUT)
        page.close()


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def append(page: Any, text: str) -> None:
    """Type at the end of the rule."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


def replace(page: Any, old: str, new: str) -> None:
    """Replace a text of the rule, as a user who deletes it and types."""
    line = page.locator(".cm-line", has_text=old).first
    line.click()
    after = line.inner_text().partition(old)[2].rstrip("\n")
    press(page, "End", *["ArrowLeft"] * len(after), *["Backspace"] * len(old))
    page.keyboard.insert_text(new)


def drop(page: Any, value: str) -> None:
    """Click a value, and the step that drops it."""
    page.locator("#before .row", has_text=value).last.click()
    page.locator("#offers button", has_text="drop").click()


def paste(page: Any, content: Any) -> None:
    """Paste a sample."""
    page.locator("#paste").click()
    page.locator("#sample-text").fill(json.dumps(content))
    page.locator("#sample button", has_text="Use this sample").click()


def test_a_mistake_is_shown_and_its_correction_changes_the_result(start: Start, open_page: Open) -> None:
    page = open_page(start())
    expect(page.locator("#sizes")).to_have_text("749 → 275 characters, 63.3% saved")
    expect(page.locator("#tests .passed")).to_contain_text("three hosts stay")
    replace(page, "limit: 3", "limt: 2")
    expect(page.locator("#problems li")).to_contain_text("Line 6 unknown key `limt`")
    page.locator(".cm-content").press("F8")
    expect(page.locator(".cm-tooltip .problem")).to_contain_text("did you mean `limit`?")
    expect(page.locator("#sizes")).to_have_text("749 → 275 characters, 63.3% saved")
    page.locator("#problems button", has_text="Fix").click()
    expect(page.locator(".cm-content")).to_contain_text("limit: 2")
    expect(page.locator("#sizes")).to_have_text("749 → 193 characters, 74.2% saved")
    expect(page.locator("#problems li")).to_have_count(0)
    expect(page.locator("#tests .failed")).to_contain_text("`length(hosts)` is not as expected")


def test_a_step_is_added_by_clicking_a_value_and_saved(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    page.locator("#before .row", has_text="srv-8").click()
    page.locator("#before .row", has_text="note:").last.click()
    expect(page.locator("#offers code")).to_have_text("hosts[*].note")
    page.locator("#offers button", has_text="drop").click()
    expect(page.locator("#steps tr", has_text="drop hosts")).to_be_visible()
    drop(page, "risk: 8")
    page.keyboard.press("Control+s")
    expect(page.locator("#status")).to_have_text("saved")
    added = "  - path: hosts\n    drop: [note, risk]\n"
    assert (bench.folder / "list_hosts.yaml").read_text() == RULE.replace("tests:", f"{added}tests:")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("drop: [note, risk]")
    expect(page.locator("#save")).to_be_disabled()


def test_the_return_on_the_page_is_a_sample(start: Start, open_page: Open) -> None:
    rule = RULE.partition("tests:")[0].replace("sort_by: risk", "sort_by: rsk")
    page = open_page(start({"list_hosts.yaml": rule}))
    expect(page.locator("#problems li")).to_contain_text("Line 7 no sample has the key `rsk`")
    paste(page, {"hosts": [{"rsk": n, "note": "x" * 99} for n in range(9)]})
    expect(page.locator("#problems li")).to_have_count(0)


def test_lines_of_a_text_are_clicked(start: Start, open_page: Open) -> None:
    log = "".join(
        f"2024-05-01 10:00:{n % 60} {'ERROR' if n % 50 == 0 else 'INFO'} request served\n" for n in range(999)
    )
    page = open_page(
        start({"read_log.yaml": "version: 1\ntool: read_log\nsteps:\n"}, {"h.json": history(("read_log", log))})
    )
    page.locator("#before .row").first.click()
    page.locator("#offers button", has_text="text: lines, limit 20 + 20").click()
    expect(page.locator("#sizes")).to_contain_text("saved")
    page.locator("#before .row").nth(2).click()
    page.locator("#offers button", has_text="drop lines with INFO").first.click()
    expect(page.locator("#after")).not_to_contain_text("INFO")
    expect(page.locator("#after")).to_contain_text("ERROR")
    expect(page.locator("#problems .error")).to_have_count(0)


def test_steps_are_switched_off_and_moved(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    append(page, "max_chars: 5000\n")
    replace(page, "sort_by: risk", "sort_by: risk\n  - path: hosts\n    drop: [note]")
    expect(page.locator("#steps tr")).to_have_count(3)
    page.get_by_label("Switch step in line 5").click()
    expect(page.locator("#facts")).to_contain_text("1 step switched off: saving keeps it on")
    expect(page.locator("#steps tr").first).to_contain_text("Line 5switched off")
    expect(page.locator("#after")).to_contain_text("9 items")
    page.get_by_label("Move the step in line 5 down").click()
    expect(page.locator("#steps tr").first).to_contain_text("drop hosts")
    page.get_by_label("Switch step in line 7").click()
    expect(page.locator("#facts")).not_to_contain_text("switched off")
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved")
    text = (bench.folder / "list_hosts.yaml").read_text()
    assert text.index("drop: [note]") < text.index("limit: 3") < text.index("sort_by: risk")


def test_a_clicked_value_becomes_a_test(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    page.locator("#before .row", has_text="srv-8").click()
    page.locator("#before .row", has_text="name:").last.click()
    page.locator("#offers button", has_text="test that it stays").click()
    expect(page.locator("#tests .passed")).to_have_count(2)
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved")
    added = "  - name: srv-8 stays\n    given: {file: samples/list_hosts_1.json}\n    expect: {contains: [srv-8]}\n"
    assert (bench.folder / "list_hosts.yaml").read_text() == f"{RULE}{added}"
    assert json.loads((bench.folder / "samples/list_hosts_1.json").read_text()) == HOSTS


def test_a_rule_is_renamed_and_deleted(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    page.on("dialog", lambda dialog: dialog.accept("hosts.yaml"))
    page.locator("#menu summary").click()
    page.locator("#rename").click()
    expect(page.locator("#rules")).to_have_value("open hosts.yaml")
    assert (bench.folder / "hosts.yaml").read_text() == RULE
    page.locator("#menu summary").click()
    page.locator("#delete").click()
    expect(page.locator("#rules")).not_to_have_value("open hosts.yaml")
    assert not (bench.folder / "hosts.yaml").exists()


def test_a_rule_is_exported_with_its_return_and_opened_again(start: Start, open_page: Open) -> None:
    page = open_page(start())
    page.locator("#menu summary").click()
    with page.expect_download() as download:
        page.locator("#export").click()
    exported = json.loads(download.value.path().read_text())
    assert (exported["name"], exported["text"], json.loads(exported["sample"])) == ("list_hosts.yaml", RULE, HOSTS)
    paste(page, exported | {"name": "other.yaml"})
    expect(page.locator("#rules")).to_have_value("open other.yaml")
    expect(page.locator("#returns option").first).to_have_text("Your sample")
    expect(page.locator("#sizes")).to_contain_text("saved")


def test_an_expression_and_a_word_are_found(start: Start, open_page: Open) -> None:
    page = open_page(start())
    for text, found in (
        ("hosts[?risk > `7`].name", "hosts[8].name srv-8"),
        ("length(hosts)", "9"),
        ("rv-4", "hosts[4].name"),
    ):
        page.locator("#ask").fill(text)
        page.locator("#ask").press("Enter")
        expect(page.locator("#answers")).to_contain_text(found)
    page.locator("#answers button").first.click()
    expect(page.locator("#before .row.marked")).to_contain_text("srv-4")
    page.locator("#menu summary").click()
    page.locator("#which").click()
    expect(page.locator("#notice")).to_contain_text("list_hosts.yaml (by its name)")


def test_a_draft_survives_a_reload_and_can_be_discarded(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    append(page, "max_chars: 100\n")
    expect(page.locator("#status")).to_have_text("not saved")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("max_chars: 100")
    page.locator("#discard").click()
    expect(page.locator(".cm-content")).not_to_contain_text("max_chars: 100")
    assert (bench.folder / "list_hosts.yaml").read_text() == RULE


def test_a_file_that_changed_on_disk_is_offered_next_to_the_draft(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    append(page, "# mine\n")
    (bench.folder / "list_hosts.yaml").write_text(f"# theirs\n{RULE}")
    page.locator("#save").click()
    expect(page.locator("#theirs mark")).to_have_text(["# theirs"])
    expect(page.locator("#mine mark")).to_have_text(["# mine"])
    page.keyboard.press("Escape")
    assert (bench.folder / "list_hosts.yaml").read_text().startswith("# theirs")
    page.locator("#save").click()
    page.locator("#conflict button", has_text="Save mine").click()
    expect(page.locator("#status")).to_have_text("saved")
    assert (bench.folder / "list_hosts.yaml").read_text() == f"{RULE}# mine\n"


def test_a_sample_is_pasted_and_the_path_under_the_cursor_is_marked(start: Start, open_page: Open) -> None:
    page = open_page(start(histories={"other.json": history(("search", "x"))}))
    paste(page, HOSTS)
    expect(page.locator("#sizes")).to_have_text("749 → 275 characters, 63.3% saved")
    page.locator(".cm-line", has_text="path: hosts").click()
    expect(page.locator("#before .row.marked")).to_contain_text("hosts")


def test_a_rule_is_drafted_from_a_pasted_sample(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    page.on("dialog", lambda dialog: dialog.accept("list_rows"))
    paste(page, ROWS)
    page.locator("#new").click()
    expect(page.locator(".cm-content")).to_contain_text("tool: list_rows")
    page.reload()
    expect(page.locator("#sizes")).to_contain_text("saved")
    expect(page.locator("#tests .passed")).to_have_count(1)
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved")
    assert (bench.folder / "list_rows.yaml").is_file()


def test_keys_and_paths_are_completed(start: Start, open_page: Open) -> None:
    page = open_page(start())
    page.locator(".cm-line", has_text="sort_by").click()
    press(page, "End", "Enter")
    page.keyboard.type("always")
    expect(page.locator(".cm-completionLabel").first).to_have_text("always_keep")
    press(page, "Escape")
    page.keyboard.insert_text("_keep: name == 'srv-0'")
    press(page, "Enter", "Backspace", "Backspace")
    page.keyboard.type("- path: hosts[*].no")
    expect(page.locator(".cm-completionLabel").first).to_have_text("hosts[*].note")


def test_hostile_contents_are_inert(start: Start, open_page: Open) -> None:
    hostile = "</script><img src=x onerror=alert(1)><script>alert(1)</script>\u202eevil\u0000 " + "x" * 1_000_000
    rule = f"version: 1\ntool: '{'<b>t</b>'}'\nsteps:\n  - truncate: 100\n"
    bench = start({"<i>.yaml": rule}, {"<u>.json": history(("<b>t</b>", {"text": hostile, hostile[:200]: 1}))})
    page = open_page(bench)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    expect(page.locator("#sizes")).to_contain_text("saved")
    expect(page.locator("#before .row").nth(1)).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("#before img, #after img, #before script, #result i, option b").count() == 0
    assert "\u202e" not in page.locator("#before").inner_text()


def test_the_page_says_what_is_wrong(start: Start, open_page: Open, tmp_path: Path) -> None:
    bench = start(histories={"bad.json": '[{"parts": [{"part_kind": '}, read_only="the disk is full")
    page = open_page(bench)
    expect(page.locator(".cm-content")).to_contain_text("tool: list_hosts")
    expect(page.locator("#skipped")).to_contain_text("bad.json: cut off")
    expect(page.locator("#status")).to_have_text("read-only: the disk is full")
    append(page, "# more\n")
    expect(page.locator("#save")).to_be_disabled()
    page.goto("about:blank")
    page.goto(f"{bench.url}-wrong")
    expect(page.locator("#notice")).to_contain_text("open the address that the terminal shows")


def test_nothing_scrolls_sideways_and_everything_has_a_name(start: Start, open_page: Open) -> None:
    page = open_page(start())
    for width in (1280, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    unnamed = """() => [...document.querySelectorAll("button, select, textarea, [role=tree]")]
        .filter((one) => !one.textContent.trim() && !one.ariaLabel && !one.closest("label")).map((one) => one.id)"""
    assert page.evaluate(unnamed) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(start: Start, browser: Any, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the package `axe-playwright-python` is missing"
    )
    # axe is a script of the test, which the policy of the page forbids.
    page = browser.new_page(bypass_csp=True, color_scheme=scheme)
    page.goto(start().url)
    expect(page.locator("#tests .passed")).to_have_count(1, timeout=TIMEOUT)
    violations = axe.Axe().run(page).response["violations"]
    page.close()
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in violations] == []


@pytest.mark.parametrize("place", ["#before", ".cm-content"])
def test_a_dropped_file_is_a_sample(start: Start, open_page: Open, place: str) -> None:
    page = open_page(start(histories={"other.json": history(("search", "x"))}))
    dropped = page.evaluate_handle(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "hosts.json"));
            return data;
        }""",
        json.dumps({"hosts": HOSTS["hosts"][:4]}),
    )
    page.dispatch_event(place, "dragover", {"dataTransfer": dropped})
    page.dispatch_event(place, "drop", {"dataTransfer": dropped})
    expect(page.locator("#returns option").first).to_have_text("Your sample")
    expect(page.locator("#sizes")).to_have_text("339 → 275 characters, 18.9% saved")
    expect(page.locator("#before")).to_contain_text("[4 items]")
    expect(page.locator("#status")).to_have_text("")


def test_lines_end_as_in_the_file(start: Start, open_page: Open) -> None:
    windows = RULE.replace("\n", "\r\n")
    bench = start({"samples/hosts.json": json.dumps(HOSTS)})
    (bench.folder / "list_hosts.yaml").write_bytes(windows.encode())
    page = open_page(bench)
    page.locator("#before .row", has_text="srv-8").click()
    drop(page, "risk: 8")
    expect(page.locator("#steps tr", has_text="drop hosts")).to_be_visible()
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved")
    added = "  - path: hosts\r\n    drop: [risk]\r\n"
    assert (bench.folder / "list_hosts.yaml").read_bytes().decode() == windows.replace("tests:", f"{added}tests:")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).not_to_contain_text("drop: [risk]")


def test_the_page_shows_that_it_waits(start: Start, open_page: Open) -> None:
    page = open_page(start())
    held: list[Any] = []
    page.route("**/api/run", lambda route: held.append(route))
    append(page, "# more\n")
    expect(page.locator("#busy")).to_be_visible()
    expect(page.locator("main")).to_have_attribute("aria-busy", "true")
    for route in held:
        route.continue_()
    page.unroute("**/api/run")
    expect(page.locator("#busy")).to_be_hidden()
    expect(page.locator("main")).to_have_attribute("aria-busy", "false")


def test_a_rule_is_duplicated(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    page.once("dialog", lambda dialog: dialog.accept("list_hosts.yaml"))
    page.locator("#menu summary").click()
    page.locator("#duplicate").click()
    expect(page.locator("#notice")).to_contain_text("list_hosts.yaml exists already.")
    page.once("dialog", lambda dialog: dialog.accept("copy.yaml"))
    page.locator("#menu summary").click()
    page.locator("#duplicate").click()
    expect(page.locator("#rules")).to_have_value("open copy.yaml")
    expect(page.locator("#status")).to_have_text("not saved")
    assert not (bench.folder / "copy.yaml").exists()
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved")
    assert (bench.folder / "copy.yaml").read_text() == (bench.folder / "list_hosts.yaml").read_text() == RULE


def test_rules_are_searched_by_file_name_and_tool(start: Start, open_page: Open) -> None:
    other = "version: 1\ntool: [read_log, tail_*]\nsteps: [{truncate: 9}]\n"
    page = open_page(start({"list_hosts.yaml": RULE, "samples/hosts.json": json.dumps(HOSTS), "logs.yaml": other}))
    found = page.locator("#rules option")
    expect(found).to_have_count(2)
    for word, names in (("HOSTS", ["list_hosts.yaml"]), ("tail", ["1 found", "logs.yaml"]), ("none", ["0 found"])):
        page.locator("#filter").fill(word)
        expect(found).to_have_text(names)
    expect(page.locator(".cm-content")).to_contain_text("tool: list_hosts")
    page.locator("#filter").fill("read_log")
    page.locator("#filter").press("Enter")
    expect(page.locator(".cm-content")).to_contain_text("tool: [read_log, tail_*]")


def test_a_pasted_return_finds_its_rules(start: Start, open_page: Open) -> None:
    shape = "version: 1\ntool: others\nwhen: {where: hosts && total}\nsteps: [{path: hosts, limit: 1}]\n"
    page = open_page(start({"list_hosts.yaml": RULE, "shape.yaml": shape}))
    paste(page, HOSTS | {"total": 9})
    page.locator("#notice button", has_text="shape.yaml (by its shape)").click()
    expect(page.locator(".cm-content")).to_contain_text("tool: others")
    paste(page, {"nothing": "like this"})
    expect(page.locator("#notice")).to_contain_text("No rule applies to this return.")


def test_a_text_sample_is_read_as_text(start: Start, open_page: Open) -> None:
    text = '{"note": "a text that looks like an object"}'
    rule = "version: 1\ntool: log\nsteps: [{truncate: 9}]\n"
    page = open_page(start({"log.yaml": rule, "samples/log.txt": text, "samples/log_2.json": text}))
    for name, saved in (("samples/log_2.json", False), ("samples/log.txt", True)):
        page.locator("#returns").select_option(name)
        expect(page.locator("#sizes")).to_contain_text(f"{len(text) - (not saved)} → ")


def test_enter_ends_a_line_and_takes_no_completion(start: Start, open_page: Open) -> None:
    page = open_page(start())
    page.locator(".cm-line", has_text="sort_by").click()
    press(page, "End", "Enter")
    page.keyboard.type("alw")
    expect(page.locator(".cm-completionLabel").first).to_have_text("always_keep")
    press(page, "Enter")
    expect(page.locator(".cm-line", has_text="alw")).to_have_text("    alw")


def test_a_value_far_down_is_shown_with_few_rows(start: Start, open_page: Open) -> None:
    rows = [{"name": f"row {n}"} for n in range(5000)]
    page = open_page(start({}, {"h.json": history(("list_rows", rows))}))
    page.locator("#ask").fill("row 4321")
    page.locator("#ask").press("Enter")
    page.locator("#answers button", has_text="[4321].name").click()
    expect(page.locator("#before .row.marked")).to_contain_text("row 4321")
    expect(page.locator("#before .row.marked")).to_be_in_viewport()
    assert page.locator("#before .row").count() < 300


@pytest.mark.parametrize("text", ["[" * 100_000, '{"name": ' * 100_000, "\ud800", '"\\ud800"'])
def test_any_pasted_text_is_answered(start: Start, open_page: Open, text: str) -> None:
    page = open_page(start())
    page.evaluate("text => document.getElementById('sample-text').value = text", text)
    page.evaluate("document.getElementById('sample').showModal()")
    page.locator("#sample button", has_text="Use this sample").click()
    expect(page.locator("#notice")).not_to_be_empty()
    page.locator("#returns").select_option("0")
    expect(page.locator("#sizes")).to_have_text("749 → 275 characters, 63.3% saved")


def tab_to(page: Any, selector: str, key: str = "Tab") -> None:
    """Press Tab until an element has the focus."""
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"Tab does not reach {selector}")


def test_everything_works_with_the_keyboard_alone(start: Start, open_page: Open) -> None:
    bench = start()
    page = open_page(bench)
    expect(page.locator("#tests .passed")).to_have_count(1)
    tab_to(page, "#rules")
    tab_to(page, "#menu summary")
    press(page, "Enter")
    tab_to(page, "#export")
    tab_to(page, "#which")
    press(page, "Enter")
    expect(page.locator("#notice")).to_contain_text("list_hosts.yaml (by its name)")
    tab_to(page, "#filter")
    tab_to(page, ".cm-content")
    press(page, "Escape")  # now Tab leaves the editor
    tab_to(page, "#returns")
    tab_to(page, "#ask")
    page.keyboard.type("srv-8")
    press(page, "Enter")
    expect(page.locator("#answers")).to_contain_text("hosts[8].name")
    tab_to(page, "#answers button")
    press(page, "Enter")
    tab_to(page, "#before .row")
    press(page, "End", "Enter")
    expect(page.locator("#offers code")).to_have_text("hosts[*].note")
    tab_to(page, "#offers button", "Shift+Tab")
    press(page, "Enter")
    expect(page.locator("#status")).to_have_text("not saved")
    press(page, "Escape")
    tab_to(page, "#steps .step-tools button")
    press(page, "Enter")
    expect(page.locator("#steps")).to_contain_text("switched off")
    press(page, "Control+s")
    expect(page.locator("#status")).to_have_text("saved")
    assert (bench.folder / "list_hosts.yaml").read_text() != RULE
