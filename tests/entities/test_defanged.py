"""Every way to defang, in every place, beside what only looks like one."""

from __future__ import annotations

import pytest

from reducer.entities import scan
from tests.entities.texts import TEXTS


def check(kind: str, value: str, canonical: str) -> None:
    for before, after in TEXTS["around"]:
        text = f"x {before}{value}{after} y"
        assert [(e.type, e.canonical) for e in scan(text, ["ioc"])] == [(kind, canonical)], text


@pytest.mark.parametrize("dot", TEXTS["dots"])
def test_dots(dot: str) -> None:
    for host in ("evil.com", "www.evil.co.uk", "bücher.de"):
        check("domain", dot.join(host.rsplit(".", 1)), host)
    for times in (1, -1):
        check("ipv4", "198.51.100.7".replace(".", dot, times), "198.51.100.7")
    check("email", f"bob@evil{dot}com", "bob@evil.com")
    check("url", f"hxxps://evil{dot}com/a", "https://evil.com/a")


@pytest.mark.parametrize("scheme", TEXTS["schemes"])
def test_schemes(scheme: str) -> None:
    for host in ("evil[.]com", "evil.com", "198.51.100[.]7", "bücher[.]de"):
        plain = host.replace("[", "").replace("]", "")
        check("url", f"{scheme}{host}/a", f"http://{plain}/a")
        check("url", f"{scheme.replace('p', 'ps', 1)}{host}/a", f"https://{plain}/a")


@pytest.mark.parametrize("at", TEXTS["ats"])
def test_ats(at: str) -> None:
    check("email", f"bob{at}evil.com", "bob@evil.com")
    check("email", f"bob{at}evil[.]com", "bob@evil.com")


@pytest.mark.parametrize("dot", [dot for dot in TEXTS["dots"] if "DOT" not in dot])
@pytest.mark.parametrize(
    "pair", [("see", "above"), ("f", "g(x)"), ("evil", "exe"), ("1", "2"), ("a", "notatld"), ("198.51", "100")]
)
def test_what_a_dot_in_brackets_does_not_make_a_host(dot: str, pair: tuple[str, str]) -> None:
    for before, after in TEXTS["around"]:
        text = f"x {before}{pair[0]}{dot}{pair[1]}{after} y"
        assert scan(text, ["ioc"]) == [], text


def test_brackets_that_defang_nothing() -> None:
    for text in ("hxxp[:]//evil", "meet bob [at] noon", "array[at]", "f(at) = 1", "{:} [:]// ://", "a[-]b", "x[:/]y"):
        assert scan(text, ["ioc"]) == []
