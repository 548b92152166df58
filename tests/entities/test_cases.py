"""Cases, each beside one that looks like it and is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reducer.entities import scan

HARD = Path(__file__).parents[2] / ".." / "shared" / "data" / "entities" / "hard_cases.jsonl"
CASES = [json.loads(line) for line in HARD.open(encoding="utf-8")] if HARD.exists() else []


def found(text: str, kind: str) -> list[str]:
    """Return the canonical values of one type, in order."""
    return [e.canonical for e in scan(text, [kind])]


@pytest.mark.data
@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case['why']}" for n, case in enumerate(CASES)])
def test_hard_case(case: dict[str, dict[str, list[str]]]) -> None:
    types = {"ttp": "mitre_attack"}
    text = str(case["text"])
    for kind, values in case["expected"].items():
        assert found(text, types.get(kind, kind)) == values
    for kind, values in case["must_not"].items():
        hits = found(text, types.get(kind, kind))
        assert hits == [] if values == "*" else not set(values) & set(hits)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("visit transfer.sh, 0x0.st or crt.sh, t.me/x", ["transfer.sh", "0x0.st", "crt.sh", "t.me"]),
        ("run.sh setup.py main.rs README.md libc.so file.zip a.mov Main.java db.tf", []),
        ("www.evil.zip www.gov.md evil[.]zip evil[.]sh", ["www.evil.zip", "www.gov.md", "evil.zip", "evil.sh"]),
        ('logger.info("x"), date.now(), obj.name = 3, user.id, req.params.id, e.host, layer.open({', []),
        ("abies.space alenko.site xtvt.live covident.id soulofjakarta.id", ["abies.space", "alenko.site", "xtvt.live", "covident.id", "soulofjakarta.id"]),
        ("com.apple.x com.google.android org.java com.app com.ibm.mq", []),
        ("Win32.Adware.Generic.am Trojan.Win32.COMETER.AE HEUR:Trojan.Script.Generic.ru Generic.Malware.AI.DDS", []),
        ("GitHub.com PartyDelights.co.uk alphaMountain.ai", ["github.com", "partydelights.co.uk", "alphamountain.ai"]),
        ("NS-1.AWSDNS-37.CO.UK GOOGLE.COM", ["ns-1.awsdns-37.co.uk", "google.com"]),
        ("Safari.app Microsoft.Storage User.Read NextResponse.next System.IO Engine.IO ASP.NET asp.net java.net", []),
        ("BMW.DE XXX.XXX.XXX.XXX cs.SE 2330.TW", []),
        ("1.It 3.In the string.So 5.You U.S. e.g. i.e. Ph.D.", []),
        ("gov.uk gov.br www.gov.uk gov.it com.cn edu.cn gov.com", ["gov.uk", "gov.br", "www.gov.uk"]),
        ("163.com 126.com x.com t.co", ["163.com", "126.com", "x.com", "t.co"]),
        ("a.ec n.pec E.now h.chrome", []),
        ("ofelia.weber jakob.ott constance.schmidt", []),
        ("offer_.com my_script.pl test_all.py _dmarc.evil.com", ["_dmarc.evil.com"]),
        (r"\nevil.com \r\nfoo.net C:\new\richx.com \\server.com\share C:\\new\\evil.com", ["evil.com", "foo.net"]),
        ("gopkg.in/yaml.v2 foo/bar.com/x ./evil.com //evil.com/x.js", ["gopkg.in", "evil.com"]),
        ("a%2Fevil.com http%3A%2F%2Fevil.com", []),
        ("münchen.de naïve.com www.Bücher.com пример.рф Ελλάδα.gr аpple.com mu\u0308nchen.de xn--mnchen-3ya.de",
         ["münchen.de", "naïve.com", "www.bücher.com", "пример.рф", "ελλάδα.gr", "аpple.com", "mu\u0308nchen.de", "xn--mnchen-3ya.de"]),
        ("münchen[.]de пример[.рф] пример．рф «münchen(dot)de»", ["münchen.de", "пример.рф", "пример.рф", "münchen.de"]),
        ("г.Москва т.е. terminé.La né.Il présenté.Il отчёт.zip вирус.exe straße.example", []),
        ("_evil.com_ __evil.com__ evil.com_x _evil.com x_evil.com out.flags.is_(key)", ["evil.com"] * 2),
        ("LIKE '%nevada.evil.com%' or '%2fevil.com'", ["nevada.evil.com"]),
        ("microsoft.com windows.com org.com Microsoft.NET system.org generic.ml Malware.ai", ["microsoft.com", "windows.com"]),
        ("x = cap.id, return tag.name, if arg.id is None, arg.id if arg, best.dev is not None", []),
        ("visit cap.id, read tag.name; best.dev is up", ["cap.id", "best.dev"]),
        ("访问evil.com下载 テストevil.net。", ["evil.com", "evil.net"]),
        ("*.evil.com .evil.net, evil.org. (evil.ru) evil.com:443", ["evil.com", "evil.net", "evil.org", "evil.ru", "evil.com"]),
    ],
)  # fmt: skip
def test_domains(text: str, values: list[str]) -> None:
    assert found(text, "domain") == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("evil[.]com evil(.)com evil{.}com evil[dot]com evil(dot)com evil[DOT]com evil [.] com", 7),
        ("evil[.com evil.]com evil[.com] evil\\.com evil\\[.\\]com", 5),
        ("evil．com evil。com evil\u200b.com ev\u00adil.com", 4),
        ("array[.] a[.b] see (.) and [.", 0),
    ],
)
def test_defanged_domains(text: str, values: int) -> None:
    assert found(text, "domain") == ["evil.com"] * values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("hxxps[:]//evil[.]com[:]8080/a[.]php", ["https://evil.com:8080/a.php"]),
        ("hxxp[://]evil.com/a hXXp://evil.com/a h**p://evil.com/a hxxp:\\/\\/evil.com\\/a", ["http://evil.com/a"] * 4),
        ("hxxp:\\\\evil.com\\path", ["http://evil.com"]),
        ("[text](https://a.com/a(b)) <https://a.com/x> «https://a.com/y» „https://a.com/z“", [f"https://a.com/{p}" for p in ("a(b)", "x", "y", "z")]),
        ("https://a.com/x,https://b.com/y;https://c.com/z", ["https://a.com/x", "https://b.com/y", "https://c.com/z"]),
        ("u,https://a.com/x,Server https://a.com/1,2,3.html https://a.com/?q=a,b", ["https://a.com/x", "https://a.com/1,2,3.html", "https://a.com/?q=a,b"]),
        ("https://a.com/x[Text] https://a.com/x?a[]=1&b[c]=2", ["https://a.com/x", "https://a.com/x?a[]=1&b[c]=2"]),
        ("**https://a.com/x** _https://a.com/x_ `++https://a.com/x++` (https://a.com/x). https://a.com/x...", ["https://a.com/x"] * 5),
        ("href='https://a.com/x'> \"https://a.com/x\" https://a.com/x&quot; https://a.com/x…", ["https://a.com/x"] * 4),
        ("https://a.com/what's-new https://a.com/tbl\\_add.php", ["https://a.com/what's-new", "https://a.com/tbl_add.php"]),
        ("https://EVIL.com/ABC https://evil.com. https://evil.com/", ["https://evil.com/ABC", "https://evil.com", "https://evil.com"]),
        ("http://[2001:db8::1]:8080/x http://u:p@1.2.3.4/x ftp://ftp.evil.com/x", ["http://[2001:db8::1]:8080/x", "http://u:p@1.2.3.4/x", "ftp://ftp.evil.com/x"]),
        ("hxxps://acegikbcggin[.]bazar/news ${jndi:ldap://evil.com:1389/a}", ["https://acegikbcggin.bazar/news", "ldap://evil.com:1389/a"]),
        ("http://münchen.de/straße http://пример.рф/путь?x=ü, HTTP://MÜNCHEN.DE/Ä", ["http://münchen.de/straße", "http://пример.рф/путь?x=ü", "http://münchen.de/Ä"]),
        ("https://a.com/users('b')/photo 'https://a.com/x' ('https://a.com/y')", ["https://a.com/users('b')/photo", "https://a.com/x", "https://a.com/y"]),
        ("http://intranet/x std://evil xhttp://evil.com s3://bucket.name/key http://", []),
    ],
)  # fmt: skip
def test_urls(text: str, values: list[str]) -> None:
    assert found(text, "url") == values


@pytest.mark.parametrize(
    ("kind", "text", "values"),
    [
        ("email", "bob(at)evil.com bob[at]evil[dot]com <bob@evil.com> mailto:bob@evil.com a=bob@evil.com", ["bob@evil.com"] * 5),
        ("email", "bob@münchen.de bob[@]пример[.]рф", ["bob@münchen.de", "bob@пример.рф"]),
        ("email", "user@host @evil.com foo@1.2.3.4 checkout@v4.1 müller@evil.com", []),
        ("ipv4", "1[.]2[.]3[.]4 1.2.]3.4 (1.2.3.4) 1.2.3.4:80 1.2.3.4/24 1.2.3.4. _1.2.3.4_ 1．2．3．4", ["1.2.3.4"] * 8),
        ("ipv4", "version 1.2.3.4 v1.2.3.4 Chrome/91.0.4.12 1.2.3.4.5 256.1.1.1 1.02.3.4 build: 1.2.3.4 <version>1.2.3.4", []),
        ("ipv4", "before 1.2.3.4, upgrade to 1.2.3.4, <= 1.2.3.4, [,1.2.3.4) 1.2.3.4 and earlier; the 1.2.3.4 release; 2.5.4.3 2.5.29.15 0.9.0.1", []),
        ("ipv4", "<1.2.3.4> 1.2.3.4 and 1.2.3.4 to 1.2.3.4, 10.0.0.0/8 0.0.0.0:443", ["1.2.3.4"] * 4 + ["10.0.0.0", "0.0.0.0"]),
        ("ipv4", "C2 server 1.2.3.4 and version\n1.2.3.4", ["1.2.3.4"] * 2),
        ("ipv4", "198.51.100.0-198.51.100.255, versions 7.2.0.1-7.2.0.5, foo-1.2.3.4, 2.5.4.3-1.2.3.4, 1.2.3.4-1.2.3.5-rc1",
         ["198.51.100.0", "198.51.100.255", "1.2.3.4"]),
        ("ipv6", "2001:db8::1 fe80::1%eth0 [2001:db8::2]:443 ::ffff:1.2.3.4 2001:DB8:0:0:8:800:200C:417A",
         ["2001:db8::1", "fe80::1", "2001:db8::2", "::ffff:1.2.3.4", "2001:db8:0:0:8:800:200c:417a"]),
        ("ipv6", "12:30:45 aa:bb:cc:dd:ee:ff 00:c7:25:5a:08:87:dc:57 a::b std::vector Foo::Add::bad 1:2:3:4:5:6:7:8:9 ::", []),
        ("md5", "d41d8cd98f00b204e9800998ecf8427e.exe MD5:D41D8CD98F00B204E9800998ECF8427E", ["d41d8cd98f00b204e9800998ecf8427e"] * 2),
        ("md5", "550e8400-e29b-41d4-a716-446655440000 " + "1234567890" * 3 + "12 " + "0" * 32 + " xd41d8cd98f00b204e9800998ecf8427e", []),
        ("sha1", "0x52908400098527886E0F7030069857D2E4169EE7 " + "ab12" * 11, []),
        ("sha512", "a1b2c3d4" * 16, ["a1b2c3d4" * 16]),
        ("cve", "cve-2021-44228 CVE‑2021‑44228 CVE 2021-44228 CVE_2021_44228", ["CVE-2021-44228"] * 4),
        ("cve", "CVE-2021-123 xCVE-2021-44228 CVE-2021-44228x CVE-2021-12345678 2021-44228 CVE-3021-44228", []),
        ("mitre_attack", "T1059 t1059.001 T1566/002 TA0043 T1059.", ["T1059", "T1059.001", "T1566.002", "TA0043", "T1059"]),
        ("mitre_attack", "T10590 T1059a ST1059 T2059 TA1043 T105", []),
    ],
)  # fmt: skip
def test_other_types(kind: str, text: str, values: list[str]) -> None:
    assert found(text, kind) == values
