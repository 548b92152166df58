"""Find the types of the group `observable`, which are read only on request. A type is one row of `TABLE`.

No letter or digit is beside an entity. A marker can mention every value, also one that needs certain text before it:
in a list of mentions, it needs none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from reducer.entities.canonical import address_of


class Row(NamedTuple):
    """A type. Every repeat in its patterns is bounded, and they match in any case."""

    type: str
    anchor: bytes
    """A text must contain this literal in lower case."""
    pattern: str
    canonical: Callable[[str], str]
    """Returns the canonical value of a match, or "" if the match is something else."""
    example: str
    """A value that tests write into a marker and read again."""
    before: str = ""
    """A pattern of the text that must stand before a value, if it is no value without it."""


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"(?:{_OCTET}[.\x01]){{3}}{_OCTET}"
_IPV6 = r"(?=[0-9a-f:.]{0,5}:)[0-9a-f:.]{2,45}"
# Components of paths may contain spaces, but the last one ends at a space.
_PARTS = r"""(?:\\{1,2}(?:(?! HK)[^\\/:*?"<>|,;\r\n\t]){1,80}(?<! )(?=\\)){0,20}\\{1,2}[^\\/:*?"<>|,;\s)\]}'`]{0,80}"""
_WINDOWS_PATH = rf"(?:[a-z]:|%[a-z_()0-9]{{3,30}}%|\\\\[a-z0-9._$-]{{1,63}}){_PARTS}"
_KEY = rf"HK(?:LM|CU|CR|U|CC|EY_[A-Z_]{{5,20}}):?{_PARTS}"
_QUOTES = (b'"', b"'")
# In quotes, and in the marker that mentions it, the last component may contain spaces too.
_REST_OF_KEY = re.compile(rb"""(?:[ ][^\\/:*?"'<>|,;\]\s]{1,40}){1,8}(?<!\.)(?=["'\]]|,[ ]|\Z)""")
_UNIX_ROOTS = (
    "applications|bin|boot|dev|etc|home|lib|library|mnt|opt|private|proc|root|run|sbin|srv|sys|system|tmp|users|usr|var"
)
_UNIX_PATH = (
    rf"""(?:(?<![a-z0-9_/.~-])|(?<=\\u[0-9a-f]{{4}}))(?:~|/(?:{_UNIX_ROOTS}))(?:/[a-z0-9_.@%+~-]{{1,80}}){{1,20}}"""
)
_HIVES = {
    "HKLM": "HKEY_LOCAL_MACHINE", "HKCU": "HKEY_CURRENT_USER", "HKCR": "HKEY_CLASSES_ROOT", "HKU": "HKEY_USERS",
    "HKCC": "HKEY_CURRENT_CONFIG",
}  # fmt: skip
_EXTENSIONS = (
    "7z|aab|apk|app|aspx|bat|bin|cab|cfg|chm|class|cmd|conf|cpl|cpp|csv|dat|deb|dll|dmg|doc|docm|docx|dylib|elf|eml|exe"
    "|gif|go|gz|hta|htm|html|img|ini|inf|iso|jar|jpeg|jpg|js|jse|json|jsp|lnk|log|lua|macho|md|mov|msi|msix|odt|one|pdf"
    "|php|pif|pkg|pl|png|ppt|pptm|pptx|ps1|psd1|psm1|py|pyc|rar|rb|rpm|rs|rtf|scr|sct|sh|so|svg|swf|sys|tar|tgz|tmp|ts"
    "|txt|url|vbe|vbs|vhd|vhdx|war|wsf|xll|xls|xlsb|xlsm|xlsx|xml|xz|yaml|yml|zip"
)
# A file name starts where a word starts, which keeps `a.a.a.a` from being read at every dot.
_FILE = (
    r"(?<![a-z0-9_\x81\x82][.@+~-])(?<![_(])[a-z0-9_\x81][a-z0-9_\x81()@+~.-]{0,100}?"
    rf"\.(?:{_EXTENSIONS})(?![\w(/-]|\.\w)"
)
_LIBRARIES = ("angular", "d3", "express", "moment", "next", "node", "nuxt", "react", "three", "vue")
_NO_FILES = frozenset(f"{name}.js" for name in _LIBRARIES)
_AGENTS = (
    "mozilla|opera|curl|wget|python-requests|python-urllib|go-http-client|okhttp|dalvik|postmanruntime|libwww-perl|java"
    "|microsoft-cryptoapi|microsoft-bits|winhttp|axios|aiohttp|apache-httpclient|masscan|zgrab|nikto|sqlmap"
)
_AGENT = (
    rf"(?:{_AGENTS})/[0-9][0-9a-z.]{{0,20}}"
    r"(?: \([^()\r\n]{1,200}\)| [a-z][a-z0-9._-]{1,30}/[0-9a-z][0-9a-z._+-]{0,30}){0,12}"
)
_BEFORE_JA3 = r"""(?<![a-z])ja3s?(?:[ _-](?:hash|digest|md5|fingerprint))?["']?[ ]?[:=]?[ ]?["']?"""
_MAC = (
    r"(?<![0-9a-f][:-])[0-9a-f]{2}(?P<by>[:-])(?:[0-9a-f]{2}(?P=by)){4}[0-9a-f]{2}(?![:-][0-9a-f])"
    r"|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?!\.)"
)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def _network(value: str) -> str:
    written, _, bits = value.partition("/")
    address = address_of(written)
    return f"{address}/{bits}" if address and int(bits) <= (128 if ":" in address else 32) else ""


def _endpoint(value: str) -> str:
    host, _, port = value.rpartition(":")
    address = address_of(host.strip("[]"))
    if host[0] == "[":
        address = f"[{address}]"
    return f"{address}:{port}" if address.strip("[]") and 0 < int(port) < 65536 else ""


def _mac(value: str) -> str:
    digits = re.sub("[^0-9a-f]", "", value.lower())
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2)) if digits.strip(digits[0]) else ""


def _asn(value: str) -> str:
    number = int(re.sub("[^0-9]", "", value))
    return f"AS{number}" if 0 < number < 1 << 32 else ""


def _file(value: str) -> str:
    return "" if value.lower() in _NO_FILES else value


def _path(value: str) -> str:
    share = "\\" if value[:1] == "\\" else ""  # both backslashes at the start of `\\host` stay
    return share + value.replace("\\\\", "\\")


def _registry_key(value: str) -> str:
    hive, _, rest = value.replace("\\\\", "\\").partition("\\")
    hive = hive.removesuffix(":")
    return f"{_HIVES.get(hive.upper(), hive.upper())}\\{rest}"


def _bitcoin(value: str) -> str:
    """Return an address with a valid checksum (Base58Check, BIP 173 and BIP 350), or ""."""
    if value[:3].lower() != "bc1":
        number = 0
        for char in value:
            number = number * 58 + _BASE58.index(char)
        data = number.to_bytes(40, "big")[-25:]
        return value if sha256(sha256(data[:21]).digest()).digest()[:4] == data[21:] and number >> 200 == 0 else ""
    value = value.lower()
    checksum = 1
    for five in (3, 3, 0, 2, 3, *map(_BASE32.index, value[3:])):
        top, checksum = checksum >> 25, (checksum & 0x1FFFFFF) << 5 ^ five
        for bit, factor in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            checksum ^= factor if top >> bit & 1 else 0
    return value if checksum in (1, 0x2BC830A3) else ""


def _ethereum(value: str) -> str:
    return value.lower() if value[2:].strip(value[2]) else ""


def _ssdeep(value: str) -> str:
    size = int(value.partition(":")[0])
    return value if size % 3 == 0 and (size // 3).bit_count() == 1 else ""


def _sha384(value: str) -> str:
    return value.lower() if re.search("[0-9]", value) and re.search("[a-fA-F]", value) else ""


TABLE: tuple[Row, ...] = (
    Row("cidr", b"/", rf"(?:{_IPV4}|{_IPV6})/[0-9]{{1,3}}(?![.:/][0-9a-f]|/)", _network, "198.51.100.0/24"),
    Row("ip_port", b":", rf"(?:{_IPV4}|\[{_IPV6}\]):[0-9]{{1,5}}(?![.:][0-9a-f])", _endpoint, "203.0.113.7:443"),
    Row("mac", b"", _MAC, _mac, "00:1a:2b:3c:4d:5e"),
    Row("asn", b"as", r"(?-i:ASN?[ :-]?|asn[:=]|as)[1-9][0-9]{0,9}(?![.,][0-9])", _asn, "AS15169"),
    Row("cwe", b"cwe", r"cwe-[1-9][0-9]{0,4}", str.upper, "CWE-79"),
    Row(
        "ghsa",
        b"ghsa",
        r"ghsa(?:-[23456789cfghjmpqrvwx]{4}){3}(?!-)",
        lambda value: "GHSA" + value[4:].lower(),
        "GHSA-jfh8-c2jp-5v3q",
    ),
    Row(
        "uuid",
        b"-",
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!-[0-9a-f])",
        str.lower,
        "550e8400-e29b-41d4-a716-446655440000",
    ),
    Row("file_name", b".", _FILE, _file, "invoice.pdf.exe"),
    Row("file_path", b"", rf"{_WINDOWS_PATH}|{_UNIX_PATH}", _path, r"C:\Program Files\x.exe"),
    Row("registry_key", b"hk", _KEY, _registry_key, r"HKLM\Software\Run"),
    Row(
        "bitcoin",
        b"",
        rf"(?-i:[13][{_BASE58}]{{25,34}})|bc1[{_BASE32}]{{11,71}}",
        _bitcoin,
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    ),
    Row("ethereum", b"0x", r"0x[0-9a-f]{40}", _ethereum, "0x52908400098527886E0F7030069857D2E4169EE7"),
    Row(
        "ssdeep",
        b":",
        r"[0-9]{1,10}:[a-z0-9/+]{3,64}:[a-z0-9/+]{3,64}(?![/+])",
        _ssdeep,
        "1536:N6AqOpw8Fk+TjVE5:NwOHvV1",
    ),
    Row("ja3", b"", r"[0-9a-f]{32}", str.lower, "e7d705a3286e19ea42f587b344ee6865", _BEFORE_JA3),
    Row("user_agent", b"/", _AGENT, str, "Mozilla/5.0 (X11, like Gecko) Safari/537.36"),
    Row("sha384", b"", r"[0-9a-f]{96}", _sha384, "a1b2c3d4" * 12),
)
REFANGED = frozenset({"cidr", "ip_port"})
"""The types that can be defanged."""
WITH_BACKSLASHES = frozenset({"file_path", "registry_key"})
r"""The types in which a backslash is no escape: `C:\Users\u123456` has no letter `\u1234`."""


@cache
def _compiled(row: Row) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return the regex that finds the values of a type in its group `value`, and the regex of a value.

    What the group `listed` matches is before a value that needs text before it, if a marker mentions the value.
    """
    starts = r"(?:(?<![a-z0-9])|(?<=\\[nrt])|(?<=\\u[0-9a-f]{4}))"
    if row.before:
        starts = rf"(?:{starts}(?:{row.before}|mentions:?[ ])|(?P<listed>,[ ]))"
    search = rf"{starts}(?P<value>{row.pattern})(?![a-z0-9])"
    return re.compile(search.encode(), re.IGNORECASE), re.compile(row.pattern.encode(), re.IGNORECASE)


def observables(data: bytes, types: frozenset[str]) -> Iterator[tuple[int, int, str, bytes]]:
    """Yield the matches of `types` in folded bytes, without overlaps within a type."""
    low = data.lower()
    for row in TABLE:
        if row.type in types and row.anchor in low:
            yield from _values(data, row)


def _values(data: bytes, row: Row) -> Iterator[tuple[int, int, str, bytes]]:
    """Yield the matches of one type."""
    from reducer.entities.evidence import is_mentioned  # loads the lists of words

    search, whole = _compiled(row)
    for match in search.finditer(data):
        start, end = match.span("value")
        if row.before and match["listed"] and not is_mentioned(data, start):
            continue
        if data[end - 1] in b".,; ":
            end = start + len(data[start:end].rstrip(b".,; "))
            if not whole.fullmatch(data, start, end):
                continue
        if row.type == "registry_key" and (data[start - 1 : start] in _QUOTES or is_mentioned(data, start)):
            rest = _REST_OF_KEY.match(data, end)
            end = rest.end() if rest else end
        value = row.canonical(data[start:end].replace(b"\x01", b".").decode("latin-1"))
        if value and (value.isascii() or row.type == "file_name"):
            yield start, end, row.type, value.encode("latin-1")
