"""Adjacent URLs: the regex for common URLs, and paths in windows, find what `url_at` alone finds."""

from __future__ import annotations

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from reducer.entities import scan, web
from reducer.entities.entity import Match

PIECES = [
    *b"http https hxxp :// :// http:// https://a.co http://b.example.com/x a.co localhost / ? # . , ; '".split(),
    *b"* ** _ + - : :80 :123456 @ u:p@ ( ) [ ] & = %20 ~ ! < > \\ \\n \x01 \x81 \x80 A X.CO n { |".split(),
    *b"1.2.3.4 .zzz1 x/y.php ,http://a.co &lt; ;http ') users('a') http://1.2.3.4 https://10.0.0.1:443/x".split(),
    *(b"1.2.3.", b"999", b", ", b"\n", b" ", b'"', b"a" * 300, b"x" * 600, b"+" * 500, b"_" * 520, b"a," * 260),
    *(b"/" + b"(a" * 300, b"'" * 50, b"[" + b"a" * 64 + b"]=", b"y" * 430),
]


def spelled(data: bytes, start: int, end: int, kind: str, canonical: bytes) -> Match:
    """Return a match of a URL with its canonical value."""
    return start, end, kind, canonical or data[start:end]


def closely(data: bytes) -> list[Match]:
    """Return the URLs of `data` with `url_at` alone."""
    found: list[Match] = []
    at = data.find(b"://")
    while at >= 0:
        hit = web.url_at(data, at, found[-1][1] if found else 0)
        found += [spelled(data, *hit)] if hit else []
        at = data.find(b"://", hit[1] if hit else at + 3)
    return found


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join))
@example(b"http://a.cohttp://b.co/x")
@example(b"+http://a.co/x+ _https://a.co/_")
@example(b"http://a.co/x)http://b.co/]")
@example(b"http://a-.co:8080?a=b&c=d& http://a.co:99999999")
@example(b"http://a.co/http://b.co/...")
@example(b"http://a.co:80")
@example(b"http://1.2.3.4.5/ http://1.2.3.4.co/ http://a.1.2.3.4/ http://1.2.3.4:80, http://256.1.1.1/x,")
@example(b"http://1.2.3.4\x01/,\n")
def test_usual_urls_are_read_as_if_looked_at_closely(data: bytes) -> None:
    found = [spelled(data, *url) for url in web.urls(data)]
    event(f"{min(len(found), 3)} URLs")
    assert found == closely(data)


@pytest.mark.parametrize("filler", ["x", "(a)", ",a", "+", "_", "%20", "[a]=", "'a'", ".x"])
@pytest.mark.parametrize("length", [400, 431, 432, 433, 500, 511, 512, 513, 600, 2000, 2048, 5000])
@pytest.mark.parametrize("end", ["", ",", ",http://b.co", "')", "&lt;", ")", "**", "[b", ";", "'"])
def test_a_path_ends_alike_however_long_it_is(filler: str, length: int, end: str) -> None:
    def read(path: str) -> list[str]:
        return [e.value for e in scan(f"http://a.co/{path}{end} x", ["url"])]

    # The same with a path so brief that it is read at once, and then drawn out.
    brief = read(filler * 3)
    path = filler * (length // len(filler))
    assert read(path) == [value.replace(filler * 3, path, 1) for value in brief]
