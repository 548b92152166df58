"""The HTML report in a browser: Chromium, driven by the package `playwright`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reducer.cli import main
from tests.cli.conftest import history

RULE = """\
version: 1
tool: lookup
steps:
  - path: records
    limit: 5
  - {path: note, truncate: 40}
preserve: [cve]
"""
RECORDS = [{"name": f"host{n}", "ip": f"192.0.2.{n}", "note": "CVE-2024-3400" if n == 9 else "-"} for n in range(30)]
HOSTILE = "</script><script>alert(1)</script><!--\u202e<img src=x onerror=alert(1)>"


@pytest.fixture
def report(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Return a function that opens the report of a history with these returns, and fail if the page logs errors."""
    monkeypatch.chdir(tmp_path)
    errors: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.on("request", lambda request: errors.extend([] if request.url.startswith("file:") else [request.url]))

    def opened(*returns: tuple[str, Any], text: str = "", rule: str = RULE, options: tuple[str, ...] = ()) -> Any:
        Path("lookup.yaml").write_text(rule)
        Path("h.json").write_bytes(history(*returns, text=text))
        arguments = ["h.json", "--rules", "lookup.yaml", "--format", "html", "-o", "report.html", *options]
        assert main(arguments) == 0
        page.goto(tmp_path.joinpath("report.html").as_uri())
        return page

    yield opened
    page.close()
    assert errors == []


def rows(page: Any) -> list[str]:
    """Return the calls in the list of returns."""
    return page.locator("tr.return td.name").all_inner_texts()


def open_first(page: Any) -> Any:
    page.locator("tr.return .toggle").first.click()
    return page.locator(".tree")


def test_the_list_is_sorted_searched_and_filtered(report: Any) -> None:
    small, other = {"records": RECORDS[:6], "note": "x"}, {"records": RECORDS[:2]}
    page = report(("lookup", {"records": RECORDS}), ("search", other), ("lookup", small), text="host17 it is")
    assert rows(page) == ["c1", "c2", "c3"]
    assert page.locator("#totals strong").nth(3).inner_text() == "0.0%"  # references kept
    before = page.get_by_role("button", name="Before")
    before.click()
    assert rows(page) == ["c1", "c3", "c2"]
    assert page.locator("th[data-key=before]").get_attribute("aria-sort") == "descending"
    before.click()
    assert rows(page) == ["c2", "c3", "c1"]
    page.get_by_label("Search").fill("LOOKUP h.json")
    assert rows(page) == ["c3", "c1"]
    assert page.locator("#count").inner_text() == "2 of 3 returns"
    page.get_by_label("Search").fill("nothing like this")
    assert page.get_by_text("No return matches.").is_visible()
    page.get_by_label("Search").fill("")
    page.get_by_label("Show").select_option("attention")
    assert rows(page) == ["c2"]  # it has no rule
    page.get_by_label("Show").select_option("lost")
    assert rows(page) == ["c1"]


def test_a_return_opens_to_before_and_after(report: Any) -> None:
    page = report(("lookup", {"records": RECORDS, "note": "the traffic was seen again " * 9}))
    tree = page.locator(".tree")  # a single return is open
    group = tree.locator(".row", has=page.locator(".fold")).first
    assert group.locator(".cell.before").inner_text().startswith("4 items 5–8 removed")
    assert group.locator(".cell.after").inner_text() == ""
    colour = "element => getComputedStyle(element).backgroundColor"
    assert group.locator(".cell.before").evaluate(colour) != tree.evaluate(colour)
    assert group.locator(".cell.before").get_attribute("title") == "Removed by step 1, limit records (lookup.yaml:4)"
    text = tree.locator("span.removed")
    assert text.inner_text().startswith(" was seen again the traffic")
    assert text.get_attribute("title") == "Removed by step 2, truncate note (lookup.yaml:6)"
    assert "…[" in tree.locator(".cell.after .marker").inner_text()
    thin = tree.locator(".row", has=page.locator(".cell.after.restored")).first
    assert "↩" in thin.locator(".cell.after").evaluate("element => getComputedStyle(element, '::after').content")
    assert page.locator(".legend").first.locator("li").all_inner_texts()[1].startswith("2 truncate note lookup.yaml:6")


def test_the_keyboard_opens_rows_and_shows_the_step(report: Any) -> None:
    page = report(("lookup", {"records": RECORDS}), ("lookup", {"records": RECORDS[:7]}))
    toggle = page.locator("tr.return .toggle").first
    toggle.focus()
    page.keyboard.press("Enter")
    tree = page.locator(".tree")
    tree.locator(".row").first.focus()
    assert toggle.get_attribute("aria-expanded") == "true"
    focused = page.locator(":focus")

    def press(*keys: str) -> str:
        for key in keys:
            page.keyboard.press(key)
        return str(focused.locator(".cell").first.inner_text())

    end = press("End")
    assert press("ArrowUp", "ArrowDown") == end
    assert press("Home").startswith("{1 key}")
    press("ArrowLeft")
    assert tree.locator(".row:visible").count() == 1
    press("ArrowRight", "ArrowDown")
    assert press(*["ArrowDown"] * 6) == "4 items 5–8 removed"
    shown = "element => getComputedStyle(element, '::after').content"
    group = focused.locator(".cell").first
    assert group.evaluate(shown) == '"Removed by step 1, limit records (lookup.yaml:4)"'
    press("Enter")
    assert press("ArrowDown").startswith('5 {3 keys}name: "host5"')
    assert group.get_attribute("title") == "Removed by step 1, limit records (lookup.yaml:4)"
    assert press("ArrowLeft") == "4 items 5–8 removed"
    page.keyboard.press("Tab")
    assert tree.locator(":focus").count() == 0  # the tree is one stop


def test_hostile_content_is_shown_as_text(report: Any) -> None:
    nested = json.dumps({HOSTILE: [HOSTILE] * 3})
    page = report((HOSTILE, {HOSTILE: HOSTILE, "line": "x" * 1_000_000, "json": nested}), ("lookup", "[" * 10_000))
    tree = open_first(page)
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert tree.locator(".key").first.text_content() == shown
    assert page.locator("tr.return .toggle").first.inner_text() == shown
    assert page.locator("img").count() == 0
    tree.locator(".row", has_text="line: ").last.click()
    assert len(tree.locator(".text.open").first.inner_text()) == 1_000_000
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_thousand_returns_are_listed_while_they_are_scrolled_to(report: Any) -> None:
    page = report(*[("lookup", {"records": RECORDS[: n % 30], "n": n}) for n in range(1000)])
    assert page.locator("tr.return").count() == 200
    assert page.evaluate("document.querySelectorAll('*').length") < 6_000
    page.locator("tr.return").nth(199).scroll_into_view_if_needed()
    page.locator("tr.return").nth(300).wait_for()
    page.get_by_label("Search").fill("c1000")
    assert rows(page) == ["c1000"]
    tree = open_first(page)
    tree.locator(".row").first.wait_for()
    page.get_by_label("Search").fill("c100")
    assert page.locator(".details .tree").count() == 1


def test_the_page_names_its_rules_and_leads_from_a_tool_to_its_returns(report: Any) -> None:
    page = report(("lookup", {"records": RECORDS}), ("lookup more", "x"), ("lookup", {"records": []}))
    assert page.get_by_text("This page contains the raw tool returns.").is_visible()
    assert "lookup.yaml (1 rule)" in page.locator("#about").inner_text()
    assert page.locator("#tools td:nth-child(2)").all_inner_texts() == ["lookup.yaml", "no rule"]
    assert page.locator("th[data-key=attention]").bounding_box()["width"] > 80
    page.locator("#rules summary").click()
    assert page.locator("#rules pre").inner_text().rstrip() == RULE.rstrip()
    assert page.locator("tr.return td.gone").all_inner_texts() == ["25", "", ""]
    page.locator("#tools").get_by_role("button", name="lookup", exact=True).focus()
    page.keyboard.press("Enter")
    assert rows(page) == ["c1", "c3"]
    assert page.locator(":focus").get_attribute("id") == "search"


def test_a_report_without_returns(report: Any) -> None:
    page = report(text="nothing was called")
    assert page.get_by_text("No tool returns.").is_visible()
    assert page.get_by_text("Nothing needs attention.").is_visible() is False  # the rule is unused


def test_a_click_leads_to_the_return_that_shows_the_same(report: Callable[..., Any]) -> None:
    note = "seen by the sensor in the north " * 9
    page = report(("get page", note), ("other", "x"), ("other", note), options=("--repeats",))
    first, _, third = rows(page)
    page.locator("tr.return").nth(2).click()
    details = page.locator("tr.details")
    details.get_by_text("left out because earlier returns show them").wait_for()
    details.get_by_role("button", name=f"get page {first}").click()
    page.locator("tr.return .toggle[aria-expanded=true]").first.wait_for()
    assert rows(page) == [first] != [third]


def test_the_page_names_no_folders_of_this_machine(report: Any, tmp_path: Path) -> None:
    page = report(("lookup", {"records": RECORDS}), options=("--rules", str(tmp_path / "lookup.yaml")))
    assert page.locator("#rules summary").all_inner_texts() == ["lookup.yaml"]
    assert str(tmp_path) not in Path("report.html").read_text()
