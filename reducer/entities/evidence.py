"""Weigh the evidence that a text names a host: the sum of the points of all rows that apply must be above zero.

`TAILS` has the kinds of top-level domains, `NAMES` and `UNCLEAR` the evidence of the rest of a name: its owner, its
labels, its capitals. `CUES` is the evidence of the text around a name, `VERSIONS` that of the text around four numbers.
Each row has an example that is read differently without its points, which a test checks.

Nothing is impossible, only less likely: `main.rs` is a host after `C2` or with a port, and `com.evil.top` is one as
the `"domain"` of an object. A defanged name is a host, because its author marked it. All evidence is on the same line,
so that texts can be scanned together, as lines of one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from reducer.entities.words import word_lists

_LISTS = word_lists()
TLDS = _LISTS[b"tlds"]
_WORDS, PLAIN, _UNLIKELY = _LISTS[b"words"], _LISTS[b"plain"] | {b"com", b"org"}, _LISTS[b"unlikely"]
_SERVICES, _SECOND_LEVEL = _LISTS[b"services"], _LISTS[b"second_level"]
_PACKAGE_ROOTS, _VENDORS = _LISTS[b"package_roots"], _LISTS[b"vendors"]
_DETECTIONS, _ENGINES, _PRODUCTS = _LISTS[b"detections"], _LISTS[b"engines"], _LISTS[b"products"]
_DOCUMENTS, _HOSTED = _LISTS[b"documents"], _LISTS[b"hosted"]
_SELF_NAMES, _SOURCES = _LISTS[b"self_names"], _LISTS[b"sources"]
_CODE, _ORDINARY = _LISTS[b"code"] | _SELF_NAMES, _LISTS[b"common"]
_VERSIONS, _VERSIONED = _LISTS[b"versions"], _LISTS[b"versioned"]
_METHODS, _HOST_WORDS, _HOST_KEYS = _LISTS[b"methods"], _LISTS[b"host_words"], _LISTS[b"host_keys"]
_USERS = frozenset(user[::-1][:4] for user in (b"root", b"admin", b"user", b"ubuntu"))

# --- names


class Name(NamedTuple):
    """A name with a top-level domain. All but `written` is in lower case."""

    written: bytes
    labels: list[bytes]
    owner: bytes
    """The label before the top-level domain."""
    tail: bytes
    """The top-level domain."""
    kind: str
    """The kind of the top-level domain: a name in `TAILS`."""
    is_long: bool
    """Whether there is a label before the owner."""

    @property
    def is_word(self) -> bool:
        """Whether the top-level domain is also a word or an attribute."""
        return self.tail in _WORDS


class Row(NamedTuple):
    """Evidence: what it shows, its points, whether it applies, and a text that is read differently without it."""

    shows: str
    points: int
    applies: Callable[..., bool]
    example: str


CLEAR, ATTRIBUTE = "clear top-level domain", "top-level domain that is an attribute"


def _is_code_word(name: Name) -> bool:
    owner = name.owner
    if owner not in _CODE and owner.rstrip(b"0123456789") not in _SELF_NAMES:
        return False
    if owner in _HOSTED or name.kind == "top-level domain of files or surnames":
        return False
    return name.tail not in (b"com", b"org") and not _is_second_level(name)


def _is_second_level(name: Name) -> bool:
    return name.is_long and name.owner in _SECOND_LEVEL and len(name.tail) == 2


def _is_package(name: Name) -> bool:
    """Return whether a name reads as a package: it has no digit and no dash, which packages have not."""
    if not name.is_long or name.labels[0] not in _PACKAGE_ROOTS or name.tail in (b"ru", b"cn"):
        return False
    return name.labels[0] != b"gov" and not re.search(rb"[0-9-]", b".".join(name.labels))


def _is_package_root(name: Name) -> bool:
    if name.is_long or name.owner not in _PACKAGE_ROOTS:
        return False
    if name.owner == b"gov" and len(name.tail) == 2:
        return name.is_word  # not gov.uk
    return name.tail != b"com" or name.owner not in _VENDORS


def _is_ordinary(name: Name) -> bool:
    if not name.is_word or (name.is_long and name.kind != ATTRIBUTE):
        return False
    owner = name.owner
    return owner in _ORDINARY or not owner.isascii() or re.sub(rb"(?:e?d|ing|e?s)\Z", b"", owner) in _ORDINARY


def _is_detection(name: Name) -> bool:
    if not name.is_long:
        return name.owner in _ENGINES
    if len(name.tail) != 2 or name.owner in _SECOND_LEVEL:
        return False
    return len(_DETECTIONS.intersection(name.labels)) > name.written.islower()


def _is_file(name: Name) -> bool:
    return name.owner in _DOCUMENTS and (name.tail in _SOURCES or (name.is_long and len(name.tail) > 2))


def _is_odd_number(name: Name) -> bool:
    return not name.is_long and name.owner.isdigit() and (len(name.owner) == 1 or name.is_word)


def _is_one_letter(name: Name) -> bool:
    if name.is_long or len(name.owner) > 1 or name.owner.isdigit():
        return False
    return name.tail not in (b"net", b"co", b"cn", b"com", b"org")


def _is_odd_case(name: Name) -> bool:
    """Return whether capitals are where people do not write them in domains, unlike in GITHUB.COM and GitHub.com."""
    written, is_clear = name.written, name.kind == CLEAR
    if written == written.lower():
        return False
    parts = written.split(b".")
    tail = parts[-1]
    if not tail.islower():
        if not written.isupper():
            return tail not in (b"COM", b"ORG", b"Com", b"Org")
        # BMW.DE is a share, XXX.XXX.XXX.XXX a placeholder for an address.
        is_host = len(tail) > 2 or name.is_long or len(parts[0]) > 4
        return not (is_clear and is_host and len(set(parts)) > 1)
    if re.search(rb"[a-z][A-Z]", parts[-2]) and (name.kind == ATTRIBUTE or tail in _SOURCES):
        return True  # TextPart.id, CMakeLists.in
    capitalised = [part for part in parts[:-1] if part[:1].isupper()]
    if len(capitalised) > 1 and len(tail) == 2 and name.owner not in _SECOND_LEVEL:
        return True  # Win32.Adware.Generic.am
    return not (is_clear or len(tail) == 2 or parts[-2].islower() or parts[-2].isdigit())


TAILS: tuple[Row, ...] = (
    Row(
        CLEAR,
        17,
        lambda tail, long: tail in PLAIN or tail[0] in b"\x81\x82" or tail[:4] == b"xn--",
        "x = evil.xyz(y)",
    ),
    Row(
        "top-level domain of files or surnames",
        -4,
        lambda tail, long: tail in _UNLIKELY and (tail != b"rs" or not long),
        "| evil.rs |",
    ),
    Row(
        ATTRIBUTE,
        6,
        lambda tail, long: tail in _WORDS and (len(tail) > 2 or tail == b"id"),
        "we saw evil.name here",
    ),
    Row("top-level domain that is a word", 7, lambda tail, long: tail in _WORDS, "we saw evil.it here"),
    Row("top-level domain of a country", 9, lambda tail, long: len(tail) == 2, "if evil.ru:"),
    Row("other top-level domain", 7, lambda tail, long: True, "we saw evil.shop here"),
)
"""Kinds of top-level domains, of which the first that applies counts."""

NAMES: tuple[Row, ...] = (
    Row("an owner that is a name in code", -10, _is_code_word, "we saw file.shop here"),
    Row("an owner of one letter", -10, _is_one_letter, "we saw e.ru here"),
    Row("the first labels of a package", -30, _is_package_root, "edu.net"),
    Row("a product or a file of a build", -40, lambda name: b".".join(name.labels) in _PRODUCTS, "host asp.net"),
    Row("capitals as in code", -24, _is_odd_case, "CMakeLists.in"),
    Row(
        "an underscore as in code",
        -40,
        lambda name: b"_" in (name.written if name.is_word else name.owner),
        "we saw my_evil.com here",
    ),
)
"""The evidence of a name besides its top-level domain. All rows that apply count."""
UNCLEAR: tuple[Row, ...] = (
    Row("a name with `www`", 11, lambda name: name.labels[0] == b"www", "we saw www.evil.md here"),
    Row("a service", 18, lambda name: b".".join(name.labels[-2:]) in _SERVICES, "we saw t.me here"),
    Row("a second level of a country", 8, _is_second_level, "we saw evil.com.mk here"),
    Row(
        "an attribute of an attribute",
        -3,
        lambda name: name.is_long and name.kind == ATTRIBUTE and b"-" not in name.owner,
        'if x == "evil.wave.name":',
    ),
    Row(
        "a name before a name in code, under a country",
        8,
        lambda name: name.is_long and len(name.tail) == 2 and name.tail != b"id" and _is_code_word(name),
        "we saw evil.key.ru here",
    ),
    Row("an owner that is an ordinary word", -8, _is_ordinary, "we saw drop.it here"),
    Row("a number of a sentence or a list", -30, _is_odd_number, "so 5.it is"),
    Row("a package", -20, _is_package, "we saw com.evil.shop here"),
    Row("a detection name", -30, _is_detection, "win32.adware.evil.ru"),
    Row("an object in code", -30, lambda name: name.labels[0] in _SELF_NAMES, "we saw self.evil.ru here"),
    Row("a file", -24, _is_file, "invoice.xlsm.one"),
)
"""The same of names whose top-level domain is not clear."""

NO_NAME = -1000
"""The points of what is no name of a host."""
DEFANGED = 1000
DEFANGED_ROW = Row("defanged", DEFANGED, lambda name: 1 in name.written, "evil[.]shop")
_CERTAIN_NEIGHBOUR = 8
_NAME = re.compile(rb"[a-z0-9_\x81\x82][a-z0-9._\x81\x82-]*")
_ODD_LABELS = re.compile(rb"\.[.-]|-\.|[^.]{64}|\.\Z")


@lru_cache(maxsize=4096)  # texts repeat their hosts
def points(written: bytes) -> int | None:
    """Return the points of a name, or None if a host cannot start like this."""
    name = written.lower().replace(b"\x01", b".")
    if not _NAME.fullmatch(name):
        return None
    _, dot, tail = name.rpartition(b".")
    if not dot or not (tail in TLDS or tail[:1] in (b"\x81", b"\x82")):
        return NO_NAME
    if len(name) > 253 or _ODD_LABELS.search(name):
        return NO_NAME
    return DEFANGED if 1 in written else sum([row.points for row in rows_of(written)])


def rows_of(written: bytes) -> Iterator[Row]:
    """Yield the rows that apply to a name that is not defanged."""
    labels = written.lower().split(b".")
    tail, is_long = labels[-1], len(labels) > 2
    kind = next(row for row in TAILS if row.applies(tail, is_long))
    yield kind
    name = Name(written, labels, labels[-2], tail, kind.shows, is_long)
    for row in NAMES if kind.shows == CLEAR else NAMES + UNCLEAR:
        if row.applies(name):
            yield row


# --- the text around a name

# A word before a host, and what separates them, in reversed bytes: a search would try every position.
_HOST_WORD = re.compile(
    rb"""(?: (?P<key>["'`][ ]?[:=][ ]?["']?|=|[ ]:) | ["'`(\[]?[ ]:? ) (?:(?:ot|ni|si|ta|saw)[ ]|\][A-Z]{1,5}\[)?
    (?P<word>d[ \t]{0,2};|(?:2(?=[cC])|[A-Za-z])[A-Za-z0-9_.:&-]{0,40})""",
    re.VERBOSE,
)


class Around(NamedTuple):
    """The name `data[start:end]` in its text."""

    data: bytes
    start: int
    end: int
    previous: int
    """The end of the host before it."""
    is_alone: bool
    """Whether it is alone on its line or in its cell, and not an argument in code."""


_Test = Callable[[Around], bool]


def _after(pattern: bytes) -> _Test:
    compiled = re.compile(pattern, re.VERBOSE)
    return lambda at: compiled.match(at.data, at.end) is not None


def _before(pattern: bytes, last: bytes, size: int) -> _Test:
    """Return a test of up to `size` bytes before a name, of which the last must be in `last`.

    That is tested first, because the regex tries many positions.
    """
    compiled = re.compile(rb"(?:%b)\Z" % pattern, re.VERBOSE)

    def applies(at: Around) -> bool:
        data, start = at.data, at.start
        return start > 0 and data[start - 1] in last and compiled.search(data, max(0, start - size), start) is not None

    return applies


_PORT = (
    rb":(?:2[0-35]|53|8[0-18]|110|143|443|445|465|587|99[35]|1080|1433|3128|3306|3389|[4-9]443|5000|5432|5900|6379|6667"
    rb"|80[08][0-9]|8888|900[01]|9090|9200|[1-6][0-9]{4})(?![0-9:])"
)
_ARGUMENT = re.compile(rb",[ \r]{0,3}(?:\Z|\n)")
_START = re.compile(rb"""(?:\A|[\n|\t]|\\n)[ ]{0,3}(?:[-*+>\#\xb7]|[0-9]{1,3}[.)])?[ ]{0,2}["'`*_(\[<]{0,2}\Z""")
_END = re.compile(rb"""["'`*_)\]>]{0,2}[.,;]?[ \r]{0,3}(?:\Z|[\n|\t]|\\[nr])""")
_NEXT = re.compile(rb"""[\[\]]?["'`]?[ ]?[,;|\t ][ ]?["'`]?([A-Za-z0-9.-]{4,80})(?![A-Za-z0-9(=_])""")
_BETWEEN = re.compile(rb"""["'`)\]]{0,2}(?:[ \t]?[,;|\t][ \t]?|[ ]|[ ]and[ ]|[ ]or[ ])["'`(\[]{0,2}\Z""")
_MENTIONED = re.compile(rb"mentions:? (?:[^\]\n]{1,180}, )?\Z")


def _is_after_word(at: Around) -> bool:
    """Return whether the word before a name is the key of a host, or followed by a host: `host=`, `GET `."""
    m = _HOST_WORD.match(at.data[max(0, at.start - 48) : at.start][::-1])
    if m is None:
        return False
    word = m["word"][::-1]
    lower = word.lower()
    if word in _METHODS or lower in _HOST_WORDS:
        return True
    if not m["key"]:
        return False
    is_field = lower.startswith((b"dns.", b"dns_", b";")) or lower.endswith(b":value")  # DNS, DKIM, STIX
    return is_field or re.split(rb"[-_.:]", lower)[-1] in _HOST_KEYS


def is_mentioned(data: bytes, start: int) -> bool:
    """Return whether a marker mentions what starts at `start`."""
    first = data.find(b"mentions", max(0, start - 200), start)
    return first >= 0 and _MENTIONED.search(data, first, start) is not None


def _is_beside_host(at: Around) -> bool:
    data, start, end, previous, _ = at
    if 0 < previous < start <= previous + 8 and _BETWEEN.fullmatch(data, previous, start):
        return True
    after = _NEXT.match(data, end)
    return after is not None and (points(after[1].rstrip(b".-")) or 0) > _CERTAIN_NEIGHBOUR


def _is_alone(data: bytes, start: int, end: int) -> bool:
    if not _END.match(data, end) or not _START.search(data, max(0, start - 12), start):
        return False
    return data[start - 1 : start] in (b"'", b'"') or not _ARGUMENT.match(data, end)


# It starts with a set, because a search for a set takes a tenth of the time.
_OPERATOR = re.compile(
    rb"""[(\[=:;>{](?: (?<=[a-z0-9_][(\[])(?!e?s\)) | (?<=[A-Za-z0-9_\])][ ]=)[ ] | (?<=[A-Za-z0-9_\])][ ][=!<>+-]=)[ ]
    | (?<=[=-]>) | (?<=::) | (?<=\);) | (?<=\{)\Z )""",
    re.VERBOSE,
)
_HEAD = re.compile(rb"[ \t]{0,40}(?:if|while|for|with) .*:\Z")


def _is_in_code(at: Around) -> bool:
    """Return whether the line of a name, at most 80 bytes before and after it, is code."""
    data, start, end, *_ = at
    low = max(data.rfind(b"\n", max(0, start - 80), start) + 1, start - 80, 0)
    high = data.find(b"\n", end, end + 80)
    line = data[low : high if high >= 0 else end + 80]
    if _OPERATOR.search(line):
        return True
    return data[low - 1 : low] in (b"", b"\n") and _HEAD.match(line) is not None


_is_before_quote = _after(rb"""\.?[$^]?\\?["']""")
_is_after_quote = _before(rb"""["'](?:\*?\.|\^|\|\|)?""", b"\"'.^|", 4)
_is_before_bracket = _after(rb"[)\]}:]|,[ \r]{0,3}(?:\Z|\n)")
_is_before_code = _after(
    rb""";|[ ]in[ ]\(|[ ](?:is[ ](?:not|None|[A-Z]+_[A-Z_]+)|if|else|not[ ]in|or[ ]None|and[ ]not|[=!<>+*/?&|-])
    (?![A-Za-z])"""
)
_is_after_code = _before(
    rb"""[!+.$&-] | (?<![A-Za-z])(?:return|assert|yield|del|elif|await|typeof|(?:if|and|or)[ ]not)[ ]
    | [A-Za-z0-9_\])][ ][=!<>+*/?-]{1,2}[ ]""",
    b"!+.$&- ",
    12,
)


def _is_bracketed(at: Around) -> bool:
    return not at.is_alone and (
        at.data[at.start - 1 : at.start] in (b"(", b"[", b"{", b"=", b"*") or _is_before_bracket(at)
    )


CODE: tuple[Row, ...] = (
    Row(
        "a call, an index, an assignment or a comparison",
        -12,
        _after(
            rb"\((?![0-9]) | \[ | ==? | [ ](?:[=!<>+*/-]?=|import)[ ] | [ ]is[ ](?:not[ ])?None(?![a-z])"
            rb" | (?!%b):[0-9]{1,5}[:)]" % _PORT  # the number of a line
        ),
        "evil.ru = 3",
    ),
    Row("an import or a variable", -12, _before(rb"import[ ]|(?<![A-Za-z0-9])\$", b" $", 7), "import evil.ru"),
    Row(
        "a keyword or an operator of code beside it",
        -8,
        lambda at: not at.is_alone and (_is_before_code(at) or _is_after_code(at)),
        "return evil.shop",
    ),
    Row("a call or an operator on its line", -8, _is_in_code, "f(x, evil.shop x)"),
    Row("a bracket or a comma beside it", -6, _is_bracketed, "so (evil.name)"),
)
PLACE: tuple[Row, ...] = (
    Row(
        "the whole of a quoted string",
        4,
        lambda at: _is_before_quote(at) and _is_after_quote(at),
        'f("evil.shop", x)',
    ),
    Row("alone on its line or in its cell", 4, lambda at: at.is_alone, "| drop.it |"),
)
HOST: tuple[Row, ...] = (
    Row(
        "a port or a path",
        13,
        _after(
            rb"""%b | /[A-Za-z0-9_~%%-]{2,64}(?:[/?\#"'\s]|\.(?:php|html?|aspx?|jsp|exe|dll|bin|txt|gif|png|jpg)|\Z)
            (?<!\.zip)"""
            % _PORT
        ),
        "we saw evil.rs:443 here",
    ),
    Row("a word or a key that names a host", 14, _is_after_word, "nslookup evil.rs"),
    Row(
        "a mention in a marker",
        14,
        lambda at: is_mentioned(at.data, at.start),
        "…[9 more characters; mentions evil.rs]",
    ),
    Row("a host beside it", 9, _is_beside_host, "evil.com, evil.rs"),
)
CUES: dict[str, tuple[Row, ...]] = {"alone": PLACE, "host": HOST, "code": CODE}
"""The evidence of the text around a name, by what it shows. Of each kind, the first row that applies counts."""


def all_rows(data: bytes, start: int, end: int, previous: int) -> tuple[Row, ...]:
    """Return the rows that apply to the name `data[start:end]` and to the text around it."""
    written = data[start:end]
    rows = [DEFANGED_ROW] if 1 in written else [*rows_of(written)]
    at = Around(data, start, end, previous, _is_alone(data, start, end))
    for some in CUES.values():
        rows += [row for row in some if row.applies(at)][:1]
    return tuple(rows)


def evidence(data: bytes, start: int, end: int, previous: int) -> str | None:
    """Return what shows that the name `data[start:end]` is a host, "" if it is none, None if no host starts like this.

    This is `defanged`, `name` if the name alone shows it, or what the text around it shows: `alone`, `host`, `code` if
    it is a host in spite of code, or `prose`. `previous` is the end of the host before it.
    """
    total = points(data[start:end])
    if total is None:
        return None
    if total > CERTAIN:
        return "name" if total < DEFANGED else "defanged"
    if total <= -_MOST:
        return ""
    at = Around(data, start, end, previous, _is_alone(data, start, end))
    shown = "prose"
    for kind, rows in CUES.items():
        for row in rows:
            if row.applies(at):
                total += row.points
                shown = kind if shown == "prose" else shown
                break
        if total > CERTAIN or (total <= 0 and kind == "host"):
            break  # what is left cannot change it
    return shown if total > 0 else ""


CERTAIN = -min(row.points for row in CODE)
"""Nothing in the text around a name outweighs more points than these."""
_MOST_OF_HOST = max(row.points for row in HOST)
_MOST = _MOST_OF_HOST + max(row.points for row in PLACE)

# --- the text around four numbers

# The word before four numbers and what separates them, in reversed bytes.
_WORD_BEFORE = re.compile(
    rb"""(?P<between>[\"\':= .()\[\]<>\\`]{0,8})(?:(?:ot|ni)[ ])?(?P<word>[A-Za-z_\x05-][A-Za-z0-9_\x05-]{0,31})"""
)
# An operator that compares versions, and the word before it, in reversed bytes.
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
_PRIVATE = (b"10.", b"127.", b"172.", b"192.168.")


class Numbers(NamedTuple):
    """Four numbers `data[start:end]` in their text."""

    data: bytes
    start: int
    end: int
    before: bytes
    """The 48 bytes before them, reversed."""
    word: bytes
    """The word before them in lower case."""
    between: bytes
    """What separates the word from them, reversed."""


def _is_release(at: Numbers) -> bool:
    return at.data[at.end : at.end + 1] == b" " and _RELEASE.match(at.data, at.end) is not None


def _is_in_header(at: Numbers) -> bool:
    return at.before[:1] == b"|" and _HEADER.search(at.data, max(0, at.start - 140), at.start) is not None


def _is_package_version(at: Numbers) -> bool:
    if at.before[:1] != b"@" or at.data[at.start + 1 : at.start + 2] != b".":
        return False
    return at.before[1:2].isalnum() and at.before[1:5] not in _USERS


def _is_compared(at: Numbers) -> bool:
    m = _COMPARED.match(at.before)
    return m is not None and not at.data.startswith(b">", at.end) and not _ADDRESSED.search(m["word"][::-1])


def _last_part(word: bytes) -> bytes:
    """Return the last part of a word: `version` of `agent_version`."""
    return word.replace(b"-", b"_").rpartition(b"_")[2]


def _is_after_version(at: Numbers) -> bool:
    last = _last_part(at.word)
    if last in (b"v", b"ver") and at.between.strip(b"<>\\") != at.between:
        return False  # class="v">203.0.113.7
    return b"\x05" in last or last in _VERSIONS or (last.endswith(b"version") and last != b"conversion")


def _is_after_product(at: Numbers) -> bool:
    if at.between not in (b" ", b"  ") or (at.word not in _VERSIONED and _last_part(at.word) not in _VERSIONED):
        return False
    return at.word.endswith(b"-os") or not at.data.startswith(_PRIVATE, at.start, at.end)


VERSIONS: tuple[Row, ...] = (
    Row("a release", -2, _is_release, "1.2.3.4 and earlier"),
    Row("the version in the header of an event", -2, _is_in_header, "CEF:0|Vendor|Product|1.2.3.4|x"),
    Row("a package before it", -2, _is_package_version, "lodash@1.2.3.4"),
    Row("a comparison of versions", -2, _is_compared, "pkg>=1.2.3.4"),
    Row("a word before the number of a version", -2, _is_after_version, "agent_version: 1.2.3.4"),
    Row("a product before it", -2, _is_after_product, "Firefox 115.2.3.4"),
)
FOUR_NUMBERS = Row("four numbers", 1, lambda at: True, "1.2.3.4")
"""What they are without any other evidence, which each of `VERSIONS` outweighs."""


def version_rows(data: bytes, start: int, end: int) -> Iterator[Row]:
    """Yield the rows that apply to the four numbers `data[start:end]`: without any, they are an address."""
    before = data[max(0, start - 48) : start][::-1]
    m = _WORD_BEFORE.match(before)
    word, between = (m["word"][::-1].lower(), m["between"]) if m and before[:1] != b"`" else (b"", b"")
    at = Numbers(data, start, end, before, word, between)
    for row in VERSIONS:
        if row.points and row.applies(at):
            yield row
