"""The HTML report: one file whose data is inert and complete."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode, b64encode
from datetime import date
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.cli.conftest import RULE, Cli, history

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>--><img src=x onerror=alert(1)>",
    "\u202egnp.exe\u2066 \u2028 \x00\x1b[2J",
    "\ud800 lone \udfff",
    "{{script}} {{policy}}",
    "'\"&amp;&lt;",
)


class Page(HTMLParser):
    """The elements of a page, and the content of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.contents: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in ("script", "style") and data.strip():
            self.contents.append(data)

    @property
    def data(self) -> tuple[Any, list[Any]]:
        """The report and the trees."""
        report, trees = (json.loads(text) for text in self.contents[1:3])
        return report, [json.loads(zlib.decompress(b64decode(tree))) for tree in trees]


def page_of(cli: Cli, *arguments: str) -> Page:
    result = cli(*arguments, "--format", "html")
    assert result.code == 0
    return Page(result.out)


def test_the_page_has_the_data_of_the_json_report(folder: Path, cli: Cli) -> None:
    page = page_of(cli, "h.json", "--rules", "lookup.yaml")
    report, (tree,) = page.data
    assert report.pop("titles")["fault"] == "Returns to which a rule was not applied completely"
    assert report.pop("texts") == {"lookup.yaml": RULE}
    made = report.pop("made")
    assert (made["by"], f"reducer {made['on']}") == (cli("--version").out.strip(), f"reducer {date.today()}")
    assert report == cli("h.json", "--rules", "lookup.yaml", "--format", "json").json
    assert (tree["file"], [step["line"] for step in tree["steps"]]) == ("lookup.yaml", [4, 6])
    assert tree["node"]["items"][0]["ranges"] == [[5, 30, 1, 0]]


def test_hostile_content_is_inert(folder: Path, cli: Cli) -> None:
    normal = page_of(cli, "h.json", "--rules", "lookup.yaml")
    contents = [{text: [text] for text in HOSTILE}, "\n".join(HOSTILE), json.dumps([*HOSTILE])]
    names = [(text, content) for text in HOSTILE for content in contents]
    Path("h.json").write_bytes(history(*names, ids=[name for name, _ in names], text=HOSTILE[0]))
    page = page_of(cli, "h.json", "--rules", "lookup.yaml")
    assert page.elements == normal.elements
    report, trees = page.data
    shown = [text.replace("\ud800", "�").replace("\udfff", "�") for text in HOSTILE]
    assert [entry["tool"] for entry in report["returns"]][::3] == shown
    assert trees[0]["node"]["keys"] == [*HOSTILE]
    assert "<" not in "".join(page.contents[1:3])


def test_the_policy_of_the_page_allows_only_its_own_script_and_style(folder: Path, cli: Cli) -> None:
    page = page_of(cli, "h.json", "--rules", "lookup.yaml")
    (policy,) = (attributes["content"] for tag, attributes in page.elements if "http-equiv" in attributes)
    style, _, _, script = page.contents
    of_script, of_style = (b64encode(sha256(text.encode()).digest()).decode() for text in (script, style))
    sources = f"script-src 'sha256-{of_script}'; style-src 'sha256-{of_style}'"
    assert policy == f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert all({"src", "style", "onclick"}.isdisjoint(attributes) for _, attributes in page.elements)
    names = re.findall(r"^(?:async )?(?:function\*?|const|class) (\w+)", script, re.MULTILINE)
    assert len(names) == len({*names})
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|https?://", script)


def test_a_page_is_written_to_a_file(folder: Path, cli: Cli) -> None:
    run = ("h.json", "--rules", "lookup.yaml", "--format", "html")
    result = cli(*run, "-o", "new/report.html")
    page = Path("new/report.html").read_bytes()
    assert (result.code, result.out, result.err) == (0, "", f"reducer: wrote new/report.html, {len(page):,} bytes\n")
    assert page == cli(*run).out.encode() == cli(*run, "-o", "-").out.encode()


def test_a_page_of_answers(folder: Path, cli: Cli) -> None:
    records = [{"name": f"host{n}.example.com", "raw": n} for n in range(9)]
    Path("answer.json").write_text(json.dumps({"records": records}))
    report, (tree,) = page_of(cli, "answer.json", "--tool", "lookup", "--rules", "lookup.yaml").data
    assert (report["histories"], report["totals"]["calls"]) == (["answer.json"], 1)
    assert report["measures"]["entities"]["types"] == {"domain": {"total": 9, "kept": 5}}
    assert tree["file"] == "lookup.yaml"
