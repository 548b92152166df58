"""Texts that tempt the scanner: fragments for generated ones, and families of hostile ones."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import strategies as st

FRAGMENTS = [
    "evil", "com", ".", "[.]", "(dot)", "[dot]", " [dot] ", "[.", ".]", "\\.", "hxxp", "http", "s", "://", "[:]//",
    "[://]", ":", "/", "@", "[@]", " [at] ",
    "(at)", "1", "2", "255", "1.2.3.4", "::", "2001:db8", "fe80", "a1b2c3d4" * 4, "a1b2c3d4" * 5, "deadbeef01" * 4,
    "CVE-2021-44228", "CVE", "-2021-", "T1059",
    ".001", "TA0043", "APT28", "Fancy Bear", " Bear", "Lazarus", "emotet", "Emotet", "\n", " ", "  ", ",", ", ",
    "\\n", "\\", "\\\\", '"', "'", "(", ")",
    "[", "]", "{", "}", "<", ">", "|", "+", "++", "*", "_", "-", "www.", "org", "ru", "py", "zip", "/a.php", "?x=1",
    "&amp;", "&quot;", "#f", "é", "日本",
    "\u200b", "．", "。", "‑", "…", "“", "\x80", "\x01", "\x03", "\x00", "%20", "%", "=", ";", "$", "user", "xn--p1ai",
    "[.com]", "\\u0026", "\t", "co.uk",
    "ü", "\ud800", "😀", "n", "r", "t", "[]", "[:]", "[/]", "--", "&", "~", "!", "version ", ":\\\\", "Storm-0558",
]  # fmt: skip

tempting = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)


def _times(piece: str, head: str = "") -> Callable[[int], str]:
    return lambda size: head + piece * (size // len(piece))


def _base64(size: int) -> str:
    return "".join(random.Random(1).choices("ABCDEFGHabcdefgh0123456789+/", k=size))


FAMILIES: dict[str, Callable[[int], str]] = {
    "base64": _base64,
    "user of a URL": lambda size: "http://" + "a" * size + "@b.co",
    "one long host": lambda size: "a" * 200 + ".co/" + ("b" * 299 + ".co/") * (size // 303),
    **{
        piece: _times(piece)
        for piece in [
            "a", "a.", "[", "a[.]", "co.", " ", "@", ":", "deadbeef01", "()", "é", "😀", "1.", "1.1.1.1", "1.2.3.4 ",
            "a@", "a@b.co", "://", "http://",
            "http://a.co", "http://a.co/", "\\", "\\n", "\\na.co", "a.co\\", "a.co/", "a.co%", "a.co ", "a-", ".",
            "-.", "[.]", "[dot]", "a[.com", "1:", "::1",
            "abcd:", "cve-", "CVE-2021-1234", "t1059", "T1059.001 ", "apt", "apt1 ", " panda", "A Panda ", "lazarus ",
            "lazarus", "0", "a\u200b", "a．", "xn--",
            "_", "_.", "a1b2c3d4" * 8 + " ", '{"a":', '\\"', "version 1.2.3.4 ", "www.", "/", "//a.co", ".com/",
            "\x01\x02\x03", "\ud800a.co", "hxxp[:]//a[.]co/",
            "http://1/", "http://a.co/1,", "http://a.co/)", "http://a.co/[", "http://a.co/'", "http://a.co/**",
            "http://a.co/;", "*http://a.co/",
            ",http://a.co/x", "(http://a.co/x)", "http://a.1/", "http://a.co/x'),", "http://a.co/&lt;",
            "+http://a.co/+", "x://a.co/",
            "ü", "ü.", "ü.рф ", "рф.", "ü@", "%", "%x.co", "_a.co_", "_", "a.co_", "http:\\\\a.co ", ":\\\\", "u('",
            "x.id = ", " is None",
            "before 1.2.3.4 ", "<= 1.1.1.1", "u\u0308", "ü[.]", "[.ü]", "ü．", "aa:", "abc ", "Trident/4.0 ",
            "<a@b.co>", "1.1.1.", "0.", "2001:db8::",
        ]
    },
    **{
        f"a URL and {piece}": _times(piece, "http://a.co/")
        for piece in ["1,2", "(", ")", "'a", "')", "('a')", "ü", "_", "&amp;", "a[b]", "**", ",", ";", "&quot", "*",
        "[", "?[a]=", "u:p@", ".", "\\_", "http://"]
    },
}  # fmt: skip
