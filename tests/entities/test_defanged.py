"""Every way to defang, in every place, beside what only looks like one."""

from __future__ import annotations

import pytest

from reducer.entities import scan

DOTS = [
    "[.]", "(.)", "{.}", "\\.", "[dot]", "(dot)", "{dot}", "[DOT]", " [.] ", " [dot] ", "[.", ".]", "\\[.\\]", "．",
    "。", "\u200b.",
]  # fmt: skip
SCHEMES = [
    "hxxp://", "hXXp://", "h**p://", "hxxp[:]//", "hxxp(:)//", "hxxp{:}//", "http[:]//", "hxxp[://]", "hxxp[:/]/",
    "hxxp[:\\/\\/]", "hxxp:\\/\\/",
    "hxxp[:]///", "hxxp[]://", "hxxp:\\\\", "hxxp:\\\\\\\\", "hxxp[:]\\\\",
]  # fmt: skip
ATS = ["@", "[@]", "(@)", "{@}", "[at]", "(at)", "{at}", " [at] "]
AROUND = [
    ("", ""), ("(", ")"), ("[", "]"), ("<", ">"), ('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("„", "“"), ("«",
    "»"), ("「", "」"), ("访问", "下载"),
    ("*", "*"), ("**", "**"), ("_", "_"), ("|", "|"), ("\\n", "\\n"), (": ", ","), ("", "."), ("", ";"), ("= ", "!"),
    ("- ", " -"),
    ("", "…"), ("\u200b", "\u200b"), ("<b>", "</b>"), ("\r\n", "\r\n"), ("\t", "\t"),
]  # fmt: skip


def check(kind: str, value: str, canonical: str) -> None:
    for before, after in AROUND:
        text = f"x {before}{value}{after} y"
        assert [(e.type, e.canonical) for e in scan(text, ["ioc"])] == [(kind, canonical)], text


@pytest.mark.parametrize("dot", DOTS)
def test_dots(dot: str) -> None:
    check("domain", f"evil{dot}com", "evil.com")
    check("domain", f"www.evil{dot}co.uk", "www.evil.co.uk")
    check("domain", f"bücher{dot}de", "bücher.de")
    check("ipv4", f"198{dot}51{dot}100{dot}7", "198.51.100.7")
    check("ipv4", f"198.51.100{dot}7", "198.51.100.7")
    check("email", f"bob@evil{dot}com", "bob@evil.com")
    check("url", f"hxxps://evil{dot}com/a", "https://evil.com/a")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schemes(scheme: str) -> None:
    for host in ("evil[.]com", "evil.com", "198.51.100[.]7", "bücher[.]de"):
        plain = host.replace("[", "").replace("]", "")
        check("url", f"{scheme}{host}/a", f"http://{plain}/a")
        check("url", f"{scheme.replace('p', 'ps', 1)}{host}/a", f"https://{plain}/a")


@pytest.mark.parametrize("at", ATS)
def test_ats(at: str) -> None:
    check("email", f"bob{at}evil.com", "bob@evil.com")
    check("email", f"bob{at}evil[.]com", "bob@evil.com")


@pytest.mark.parametrize("dot", [dot for dot in DOTS if "DOT" not in dot])
@pytest.mark.parametrize(
    "pair", [("see", "above"), ("f", "g(x)"), ("evil", "exe"), ("1", "2"), ("a", "notatld"), ("198.51", "100")]
)
def test_what_a_dot_in_brackets_does_not_make_a_host(dot: str, pair: tuple[str, str]) -> None:
    for before, after in AROUND:
        text = f"x {before}{pair[0]}{dot}{pair[1]}{after} y"
        assert scan(text, ["ioc"]) == [], text


def test_brackets_that_defang_nothing() -> None:
    for text in ("hxxp[:]//evil", "meet bob [at] noon", "array[at]", "f(at) = 1", "{:} [:]// ://", "a[-]b", "x[:/]y"):
        assert scan(text, ["ioc"]) == []
