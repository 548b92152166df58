"""Weigh the evidence that a text names a host: what the name itself shows, and what the text around it shows.

The text around a name gives one of six levels, from a call in code to a host. `needed` returns the level that a name
needs to be a domain. A name that is defanged or ends in `.com` needs none, `evil.ovh` needs a text that is not code,
`stop.it` must be alone on its line, and `main.rs` needs a port, a word such as `C2`, or another host beside it.
All evidence is on the same line, so that texts can be scanned together, as lines of one text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reducer.entities.words import word_lists

_LISTS = word_lists()
TLDS = _LISTS[b"tlds"]
_WORDS, _PLAIN, _UNLIKELY = _LISTS[b"words"], _LISTS[b"plain"], _LISTS[b"unlikely"]
_SERVICES, _SECOND_LEVEL = _LISTS[b"services"], _LISTS[b"second_level"]
_PACKAGE_ROOTS, _VENDORS = _LISTS[b"package_roots"], _LISTS[b"vendors"]
_DETECTIONS, _ENGINES, _PRODUCTS = _LISTS[b"detections"], _LISTS[b"engines"], _LISTS[b"products"]
_SERVICE_LABELS, _DOCUMENTS, _HOSTED = _LISTS[b"service_labels"], _LISTS[b"documents"], _LISTS[b"hosted"]
_SELF_NAMES, _SOURCES = _LISTS[b"self_names"], _LISTS[b"sources"]
_HUMP = re.compile(rb"[a-z][A-Z]")
_CODE, _ORDINARY = _LISTS[b"code"] | _SELF_NAMES, _LISTS[b"common"]
_VERSIONS, _VERSIONED = _LISTS[b"versions"], _LISTS[b"versioned"]
_USERS = frozenset(user[::-1][:4] for user in (b"root", b"admin", b"user", b"ubuntu"))

NO_NAME = -1
CALL, CODE, TEXT, PROSE, ALONE, HOST, NEVER = range(7)
"""What the text around a name shows: it is called or assigned, it is part of code, of another text, or of a text with
white space around the name, it is alone on its line or in its cell, or it is a host. A name that needs `NEVER` is not a
domain.
"""

_NAME = re.compile(rb"[a-z0-9_\x81][a-z0-9._\x81-]*")
# Code after an attribute or a module.
_USED = re.compile(rb"\((?![0-9])|\[|==?| (?:[=!<>+*/-]?=|import) | is (?:not )?None(?![a-z])")
_CODE_AFTER = re.compile(
    rb";|[ ]in[ ]\(|[ ](?:is[ ](?:not|None|[A-Z]+_[A-Z_]+)|if|else|not[ ]in|or[ ]None|and[ ]not|[=!<>+*/?&|-])"
    rb"(?![A-Za-z])"
)
_CODE_BEFORE = re.compile(
    rb"""(?: [!+.$&-] | (?<![A-Za-z])(?:return|assert|yield|del|elif|await|typeof|(?:if|and|or)[ ]not)[ ]
    | [A-Za-z0-9_\])][ ][=!<>+*/?-]{1,2}[ ] )\Z""",
    re.VERBOSE,
)
_OPENED, _CLOSED = frozenset((b"(", b"[", b"{", b"=", b"*")), frozenset((b")", b"]", b"}", b":"))
# Code elsewhere on the line: a call, an index, an operator, the end of a statement or of a head.
_CODE_NEAR = re.compile(
    rb"[a-z0-9_][(\[](?!e?s\))|[A-Za-z0-9_\])] [=!<>+-]?= |=>|->|::|\);|\{\Z"
    rb"|(?<![^\n])[ \t]{0,40}(?:if|while|for|with) .{1,120}:\Z"
)
_NEAR = 80  # bytes of a line before and after a name

_START = re.compile(rb"""(?:\A|[\n|\t]|\\n)[ ]{0,3}(?:[-*+>\#\xb7]|[0-9]{1,3}[.)])?[ ]{0,2}["'`*_(\[<]{0,2}\Z""")
_END = re.compile(rb"""["'`*_)\]>]{0,2}[.,;]?[ \r]{0,3}(?:\Z|[\n|\t]|\\[nr])""")
_ARGUMENT = re.compile(rb",[ \r]{0,3}(?:\Z|\n)")
_PORT = re.compile(
    rb":(?:2[0-35]|53|8[0-18]|110|143|443|445|465|587|99[35]|1080|1433|3128|3306|3389|[4-9]443|5000|5432|5900|6379|6667"
    rb"|80[08][0-9]|8888|900[01]|9090|9200|[1-6][0-9]{4})(?![0-9:])"
)
_LINE_NUMBER = re.compile(rb":[0-9]{1,5}[:)]")  # (main.cc:44)
_PATH = re.compile(
    rb"""/[A-Za-z0-9_~%-]{2,64}(?:[/?\#"'\s]|\.(?:php|html?|aspx?|jsp|exe|dll|bin|txt|gif|png|jpg)|\Z)"""
)
_HOST_BEFORE = re.compile(
    rb"""(?<![A-Za-z])(?:GET|POST|HEAD|CONNECT|(?i:(?:C2|C&C)(?:[ ](?:server|is|at|was))?|visit|visited|resolves[ ]to
    |nslookup|dig|ping|domains?|hostnames?|fqdns?|dns)):?[ ]["'`(\[]?\Z
    | (?i:domains?|domain[_-]?names?|hosts?|host_?names?|fqdn|dns|site|server|sni)
      (?:["']?(?::value)?[ ]?[:=][ ]?["'`]|=)\Z
    | (?i:server|host):[ ]\Z
    | (?:\A|\n)[A-Za-z0-9_.-]{0,32}
      (?i:domain|domain_?name|host|host_?name|fqdn|url|uri|site|sni|dns[._][A-Za-z._]{1,24}):[ ]\Z
    """,
    re.VERBOSE,
)
_LEADS = frozenset((b" ", b"=", b"'", b'"', b"`", b"(", b"["))  # the last byte of a match
_MENTIONED = re.compile(rb"mentions:? (?:[^\]\n]{1,180}, )?\Z")
_NEXT = re.compile(rb"""[\[\]]?["'`]?[ ]?[,;|\t ][ ]?["'`]?([A-Za-z0-9.-]{4,80})(?![A-Za-z0-9(=_])""")
_BETWEEN = re.compile(rb"""["'`)\]]{0,2}(?:[ \t]?[,;|\t][ \t]?|[ ]|[ ]and[ ]|[ ]or[ ])["'`(\[]{0,2}\Z""")

# What is before an address, in reversed bytes, because a search would try every position: a word and what separates it,
# or an operator that compares versions and the word before it.
_WORD_BEFORE = re.compile(
    rb"""(?P<between>[\"':= .()\[\]<>\\]{0,8})(?:(?:ot|ni)[ ])?(?P<word>[A-Za-z_\x05-][A-Za-z0-9_\x05-]{0,31})"""
)
_COMPARED = re.compile(
    rb"""(?: [ ]{0,2}(?:=(?:==?|[!~<>])|==!)[ ]{0,2} | [ ]{0,2},[\[(] | [~^](?![A-Za-z0-9]) | [<>](?=[A-Za-z0-9])
    | [ ]{1,2}<[ ]{0,2} ) (?P<word>[A-Za-z0-9_.-]{0,32}+)(?![</='"])""",
    re.VERBOSE,
)
_HEADER = re.compile(rb"(?:CEF|LEEF):[0-9.]{1,5}\|[^|\n]{0,63}\|[^|\n]{0,63}\|\Z")
_ADDRESSED = re.compile(
    rb"(?:\A|[_.-])(?:(?:src|dst|source|dest|destination|host|client|server|peer|remote|local|net)(?:_?ip|_?addr)?"
    rb"|c?ips?(?:_?addr)?|ipv4|addr)(?:ess)?(?![a-z])",
    re.IGNORECASE,
)
_RELEASE = re.compile(rb" (?:and|or) (?:earlier|prior|later|below|older|newer)| release(?![a-z])", re.IGNORECASE)


def is_version(data: bytes, start: int, end: int) -> bool:
    """Return whether the text around the four numbers `data[start:end]` shows that they are a version or a section."""
    if data.startswith(b" ", end) and _RELEASE.match(data, end):
        return True
    if not start:
        return False
    if data[start - 1] == 124:  # |
        return _HEADER.search(data, max(0, start - 140), start) is not None
    before = data[max(0, start - 48) : start][::-1]
    if before[:1] == b"@":  # lodash@1.2.3.4, but root@45.1.2.3
        return data[start + 1 : start + 2] == b"." and before[1:2].isalnum() and before[1:5] not in _USERS
    if (m := _COMPARED.match(before)) and not data.startswith(b">", end):
        return not _ADDRESSED.search(m["word"][::-1])
    m = _WORD_BEFORE.match(before)
    if m is None:
        return False
    word, between = m["word"][::-1].lower(), m["between"]
    last = re.split(rb"[_-]", word)[-1]
    if last in (b"v", b"ver") and between.strip(b"<>\\") != between:
        return False  # class="v">203.0.113.7
    if 5 in last or last in _VERSIONS or (last.endswith(b"version") and last != b"conversion"):
        return True
    is_product = between in (b" ", b"  ") and (word in _VERSIONED or last in _VERSIONED)
    return is_product and not data.startswith((b"10.", b"127.", b"172.", b"192.168."), start, end)


@lru_cache(maxsize=4096)  # texts repeat their hosts
def needed(written: bytes) -> int:
    """Return the level of evidence that a name needs. A defanged name needs none: its author marked it as a host."""
    name = written.lower()
    is_defanged = 1 in name
    if is_defanged:
        name = name.replace(b"\x01", b".")
    if not _NAME.fullmatch(name):
        return NO_NAME
    labels = name.split(b".")
    if len(labels) < 2 or (labels[-1] not in TLDS and labels[-1][:1] != b"\x81"):
        return NEVER
    if len(name) > 253 or b"" in labels or b".-" in name or b"-." in name or max(map(len, labels)) > 63:
        return NEVER
    return CALL if is_defanged else _needed_plain(written, name, labels)


def suffices(data: bytes, level: int, start: int, end: int, previous: int) -> bool:
    """Return whether the text around the name `data[start:end]` gives a level of evidence.

    `previous` is the end of the host before it.
    """
    if level == CALL or level >= NEVER:
        return level == CALL
    if _USED.match(data, end) or data.endswith(b"import ", max(0, start - 7), start):
        return False
    if data[start - 1 : start] == b"$" and not data[start - 2 : start - 1].isalnum():
        return False
    if _LINE_NUMBER.match(data, end) and not _PORT.match(data, end):
        return False
    if level == CODE or _is_host(data, start, end, previous):
        return True
    if level == HOST:
        return False
    if _is_alone(data, start, end):
        return True
    if level == PROSE and (
        data[start - 1 : start] in _OPENED or data[end : end + 1] in _CLOSED or _ARGUMENT.match(data, end)
    ):
        return False
    return level <= PROSE and not _is_code(data, start, end)


def is_mentioned(data: bytes, start: int) -> bool:
    """Return whether a marker mentions what starts at `start`."""
    first = data.find(b"mentions", max(0, start - 200), start)
    return first >= 0 and _MENTIONED.search(data, first, start) is not None


def _is_host(data: bytes, start: int, end: int, previous: int) -> bool:
    """Return whether a port, a path, a word before the name, or a host beside it shows that it is a host."""
    if _PORT.match(data, end) or (_PATH.match(data, end) and not data.startswith(b".zip", end - 4)):
        return True
    # The check of one byte runs first, because the regex tries many positions.
    if data[start - 1 : start] in _LEADS and _HOST_BEFORE.search(data, max(0, start - 48), start):
        return True
    if is_mentioned(data, start):
        return True
    if 0 < start - previous <= 8 and previous and _BETWEEN.fullmatch(data, previous, start):
        return True
    after = _NEXT.match(data, end)
    return after is not None and NO_NAME < needed(after[1].rstrip(b".-")) <= CODE


def _is_alone(data: bytes, start: int, end: int) -> bool:
    """Return whether a name is alone on its line or in its cell, and not an argument in code."""
    if not _START.search(data, max(0, start - 12), start) or not _END.match(data, end):
        return False
    return data[start - 1 : start] in (b"'", b'"') or not _ARGUMENT.match(data, end)


def _is_code(data: bytes, start: int, end: int) -> bool:
    """Return whether the line of a name looks like code."""
    if _CODE_AFTER.match(data, end) or _CODE_BEFORE.search(data, max(0, start - 12), start):
        return True
    low = max(data.rfind(b"\n", max(0, start - _NEAR), start) + 1, start - _NEAR)
    high = data.find(b"\n", end, end + _NEAR)
    return _CODE_NEAR.search(data, max(0, low), high if high >= 0 else end + _NEAR) is not None


def _needed_plain(written: bytes, name: bytes, labels: list[bytes]) -> int:
    """Return the level of evidence that a name needs which is not defanged."""
    *_, owner, tail = labels
    count = len(labels)
    # Nothing but hosts ends like this.
    is_clear = tail in _PLAIN or tail[0] == 0x81 or tail[:4] == b"xn--"
    is_country = len(tail) == 2 and tail not in _WORDS and tail not in _UNLIKELY
    if b"_" in owner or (written != name and not _is_host_case(written, labels, is_clear or is_country)):
        return NEVER
    if 0x81 in name:
        return CALL if is_clear or is_country else NEVER
    if tail in (b"com", b"org"):
        return CALL if count > 2 or owner not in _PACKAGE_ROOTS or (tail == b"com" and owner in _VENDORS) else NEVER
    if _is_code_name(name, labels, written != name):
        return NEVER
    if labels[0] == b"www" or b".".join(labels[-2:]) in _SERVICES:
        return CALL if is_clear else CODE
    if count > 2 and owner in _SECOND_LEVEL and len(tail) == 2:
        return CODE
    is_word = owner in _CODE or owner.rstrip(b"0123456789") in _SELF_NAMES
    if tail in _UNLIKELY:
        return CODE if tail == b"rs" and count > 2 and not is_word else HOST
    if count == 2 and len(owner) == 1 and tail not in (b"net", b"co", b"cn"):
        return ALONE if tail not in _WORDS else NEVER
    if is_word and owner not in _HOSTED and not is_clear:
        return TEXT if count > 2 and len(tail) == 2 and tail != b"id" else HOST if tail in _WORDS else ALONE
    if is_clear or is_country:
        return TEXT if is_word or (count == 2 and owner.isdigit() and not is_clear) else CALL if is_clear else CODE
    is_ordinary = owner in _ORDINARY or re.sub(rb"(?:e?d|ing|e?s)\Z", b"", owner) in _ORDINARY
    if is_ordinary and (_is_attribute(tail) or (count == 2 and tail in _WORDS)):
        return ALONE
    return PROSE if _is_attribute(tail) else TEXT


def _is_attribute(tail: bytes) -> bool:
    return tail in _WORDS and (len(tail) > 2 or tail == b"id")


def _is_code_name(name: bytes, labels: list[bytes], is_capitalised: bool) -> bool:
    """Return whether a name is a product, a package, an attribute, a file or a detection name."""
    first, owner, tail = labels[0], labels[-2], labels[-1]
    is_plain = tail in _PLAIN
    if name in _PRODUCTS or (b"_" in name and tail in _WORDS):
        return True
    if len(labels) == 2:
        if owner in _PACKAGE_ROOTS:
            return owner != b"gov" or len(tail) != 2 or tail in _WORDS  # not gov.uk
        is_number = owner.isdigit() and (len(owner) == 1 or tail in _WORDS)
        return not is_plain and (is_number or owner in _ENGINES or owner in _SELF_NAMES)
    if any(label[:1] == b"_" and label not in _SERVICE_LABELS for label in labels[1:]):
        return True
    return not is_plain and (
        first in _SELF_NAMES
        or (first in _PACKAGE_ROOTS and tail not in (b"ru", b"cn"))
        or (owner in _DOCUMENTS and (len(tail) > 2 or tail in _SOURCES))  # invoice.xlsm.one, config.h.in
        or (
            len(tail) == 2 and owner not in _SECOND_LEVEL and len(_DETECTIONS.intersection(labels)) > 1 - is_capitalised
        )
    )


def _is_host_case(written: bytes, labels: list[bytes], is_clear: bool) -> bool:
    """Return whether capitals are where people write them in domains, as in GITHUB.COM or GitHub.com."""
    parts = written.split(b".")
    tail = parts[-1]
    if tail.islower():
        if _HUMP.search(parts[-2]) and (_is_attribute(tail) or tail in _SOURCES):
            return False  # TextPart.id, CMakeLists.in
        capitalised = sum(part[:1].isupper() for part in parts[:-1])
        if capitalised > 1 and len(tail) == 2 and labels[-2] not in _SECOND_LEVEL:
            return False  # Win32.Adware.Generic.am
        return is_clear or len(tail) == 2 or parts[-2].islower() or parts[-2].isdigit()
    if written.isupper():
        # BMW.DE is a share, XXX.XXX.XXX.XXX a placeholder for an address.
        return len(set(parts)) > 1 and is_clear and (len(tail) > 2 or len(parts) > 2 or len(parts[0]) > 4)
    return tail in (b"COM", b"ORG", b"Com", b"Org")
