"""Weigh the evidence that a text names a host: the sum of the points of all rows that apply must be above zero.

`TAILS` has the kinds of top-level domains, `NAMES` the evidence of the rest of a name: its owner, its labels, its
capitals. `CUES` is the evidence of the text around a name, `VERSIONS` that of the text around four numbers. Each row
has an example that is read differently without its points, which a test checks.

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
_SERVICE_LABELS, _DOCUMENTS, _HOSTED = _LISTS[b"service_labels"], _LISTS[b"documents"], _LISTS[b"hosted"]
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

    @property
    def is_long(self) -> bool:
        return len(self.labels) > 2

    @property
    def is_clear(self) -> bool:
        return self.kind == "clear top-level domain"

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


def _is_code_word(name: Name) -> bool:
    owner = name.owner
    if (
        name.kind == "top-level domain of files or surnames"
        or name.tail in (b"com", b"org")
        or owner in _HOSTED
        or (name.is_long and owner in _SECOND_LEVEL and len(name.tail) == 2)
    ):
        return False
    return owner in _CODE or owner.rstrip(b"0123456789") in _SELF_NAMES


def _is_package(name: Name) -> bool:
    """Return whether a name reads as a package: it has no digit and no dash, which packages have not."""
    return (
        name.is_long
        and not name.is_clear
        and name.tail not in (b"ru", b"cn")
        and not re.search(rb"[0-9-]", b".".join(name.labels))
    )


def _is_package_root(name: Name) -> bool:
    if name.is_long or name.owner not in _PACKAGE_ROOTS:
        return False
    if name.owner == b"gov" and len(name.tail) == 2:
        return name.is_word  # not gov.uk
    return name.tail != b"com" or name.owner not in _VENDORS


def _is_ordinary(name: Name) -> bool:
    if not name.is_word or (name.is_long and name.kind != "top-level domain that is an attribute"):
        return False
    return name.owner in _ORDINARY or re.sub(rb"(?:e?d|ing|e?s)\Z", b"", name.owner) in _ORDINARY


def _is_detection(name: Name) -> bool:
    if not name.is_long or len(name.tail) != 2 or name.owner in _SECOND_LEVEL:
        return False
    is_lower = name.written.islower()
    return len(_DETECTIONS.intersection(name.labels)) > is_lower


def _is_odd_number(name: Name) -> bool:
    return not name.is_long and not name.is_clear and name.owner.isdigit() and (len(name.owner) == 1 or name.is_word)


def _is_odd_case(name: Name) -> bool:
    """Return whether capitals are where people do not write them in domains, unlike in GITHUB.COM and GitHub.com."""
    if name.written == name.written.lower():
        return False
    parts = name.written.split(b".")
    tail = parts[-1]
    if not tail.islower():
        if not name.written.isupper():
            return tail not in (b"COM", b"ORG", b"Com", b"Org")
        # BMW.DE is a share, XXX.XXX.XXX.XXX a placeholder for an address.
        is_host = len(tail) > 2 or name.is_long or len(parts[0]) > 4
        return not (name.is_clear and is_host and len(set(parts)) > 1)
    if re.search(rb"[a-z][A-Z]", parts[-2]) and (
        name.kind == "top-level domain that is an attribute" or tail in _SOURCES
    ):
        return True  # TextPart.id, CMakeLists.in
    capitalised = [part for part in parts[:-1] if part[:1].isupper()]
    if len(capitalised) > 1 and len(tail) == 2 and name.owner not in _SECOND_LEVEL:
        return True  # Win32.Adware.Generic.am
    return not (name.is_clear or len(tail) == 2 or parts[-2].islower() or parts[-2].isdigit())


def _has_odd_underscore(name: Name) -> bool:
    """Return whether a label starts with an underscore that is no service, or a name in code contains one."""
    if name.is_word and any(b"_" in label for label in name.labels):
        return True
    services = [label for label in name.labels[1:] if label[:1] == b"_"]
    return not name.is_clear and not _SERVICE_LABELS.issuperset(services)


TAILS: tuple[Row, ...] = (
    Row(
        "clear top-level domain",
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
        "top-level domain that is an attribute",
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
    Row("a name with `www`", 11, lambda name: name.labels[0] == b"www", "we saw www.evil.md here"),
    Row("a service", 18, lambda name: b".".join(name.labels[-2:]) in _SERVICES, "we saw t.me here"),
    Row(
        "a second level of a country",
        8,
        lambda name: name.is_long and name.owner in _SECOND_LEVEL and len(name.tail) == 2,
        "we saw evil.com.mk here",
    ),
    Row(
        "an attribute of an attribute",
        -3,
        lambda name: name.is_long and name.kind == "top-level domain that is an attribute" and b"-" not in name.owner,
        'if x == "evil.wave.name":',
    ),
    Row("an owner that is a name in code", -10, _is_code_word, "we saw file.shop here"),
    Row(
        "a name before a name in code, under a country",
        8,
        lambda name: _is_code_word(name) and name.is_long and len(name.tail) == 2 and name.tail != b"id",
        "we saw evil.key.ru here",
    ),
    Row("an owner that is an ordinary word", -8, _is_ordinary, "we saw drop.it here"),
    Row(
        "an owner of one letter",
        -10,
        lambda name: (
            not name.is_long
            and len(name.owner) == 1
            and not name.owner.isdigit()
            and name.tail not in (b"net", b"co", b"cn", b"com", b"org")
        ),
        "we saw e.ru here",
    ),
    Row(
        "an owner that is a number",
        -2,
        lambda name: not name.is_long and name.kind == "top-level domain of a country" and name.owner.isdigit(),
        "x = 4711.ru;",
    ),
    Row("a number of a sentence or a list", -30, _is_odd_number, "so 5.it is"),
    Row("the first labels of a package", -30, _is_package_root, "edu.net"),
    Row(
        "a package",
        -20,
        lambda name: _is_package(name) and name.labels[0] in _PACKAGE_ROOTS - {b"gov"},
        "we saw com.evil.shop here",
    ),
    Row(
        "a package of an authority",
        -1,
        lambda name: _is_package(name) and name.labels[0] == b"gov",
        "so (gov.evil.shop) x",
    ),
    Row("a product or a file of a build", -40, lambda name: b".".join(name.labels) in _PRODUCTS, "host asp.net"),
    Row("a detection name", -30, _is_detection, "win32.adware.evil.ru"),
    Row(
        "an engine before a detection name",
        -30,
        lambda name: not name.is_long and not name.is_clear and name.owner in _ENGINES,
        "we saw heur.ru here",
    ),
    Row(
        "an object in code",
        -30,
        lambda name: name.labels[0] in _SELF_NAMES and not name.is_clear,
        "we saw self.evil.ru here",
    ),
    Row(
        "a file",
        -24,
        lambda name: (
            not name.is_clear
            and name.owner in _DOCUMENTS
            and (name.tail in _SOURCES or (name.is_long and len(name.tail) > 2))
        ),
        "invoice.xlsm.one",
    ),
    Row("capitals as in code", -24, _is_odd_case, "CMakeLists.in"),
    Row("an underscore as in code", -40, _has_odd_underscore, "GET gen_ai.evil.name"),
    Row("an owner with an underscore", -40, lambda name: b"_" in name.owner, "we saw my_evil.com here"),
    Row(
        "accents under an ordinary top-level domain",
        -30,
        lambda name: (
            bool(re.search(rb"[\x81\x82]", b".".join(name.labels[:-1])))
            and name.kind not in ("clear top-level domain", "top-level domain of a country")
        ),
        "cliqué.it x",
    ),
)
"""The evidence of a name besides its top-level domain. All rows that apply count."""

NO_NAME = -1000
"""The points of what is no name of a host."""
DEFANGED = 1000
DEFANGED_ROW = Row("defanged", DEFANGED, lambda name: 1 in name.written, "evil[.]shop")
_CERTAIN_NEIGHBOUR = 8
_NAME = re.compile(rb"[a-z0-9_\x81\x82][a-z0-9._\x81\x82-]*")


@lru_cache(maxsize=4096)  # texts repeat their hosts
def points(written: bytes) -> int | None:
    """Return the points of a name, or None if a host cannot start like this."""
    name = written.lower().replace(b"\x01", b".")
    if not _NAME.fullmatch(name):
        return None
    labels = name.split(b".")
    is_name = len(labels) > 1 and (labels[-1] in TLDS or labels[-1][:1] in (b"\x81", b"\x82"))
    if not is_name or len(name) > 253 or max(map(len, labels)) > 63:
        return NO_NAME
    if b"" in labels or b".-" in name or b"-." in name:
        return NO_NAME
    return DEFANGED if 1 in written else sum(row.points for row in rows_of(written))


def rows_of(written: bytes) -> Iterator[Row]:
    """Yield the rows that apply to a name that is not defanged."""
    labels = written.lower().split(b".")
    tail = labels[-1]
    kind = next(row for row in TAILS if row.applies(tail, len(labels) > 2))
    yield kind
    name = Name(written, labels, labels[-2], tail, kind.shows)
    for row in NAMES:
        if row.applies(name):
            yield row


# --- the text around a name


class Around(NamedTuple):
    """The name `data[start:end]` in its text, and the end of the host before it."""

    data: bytes
    start: int
    end: int
    previous: int


_Test = Callable[[Around], bool]


def _after(pattern: bytes) -> _Test:
    compiled = re.compile(pattern, re.VERBOSE)
    return lambda at: compiled.match(at.data, at.end) is not None


def _before(pattern: bytes, last: bytes, size: int) -> _Test:
    """Return a test of up to `size` bytes before a name, of which the last must be in `last`.

    That is tested first, because the regex tries many positions.
    """
    compiled = re.compile(rb"(?:%b)\Z" % pattern, re.VERBOSE)
    lasts = frozenset(last)

    def applies(at: Around) -> bool:
        data, start = at.data, at.start
        if not start or data[start - 1] not in lasts:
            return False
        return compiled.search(data, max(0, start - size), start) is not None

    return applies


def _line(at: Around) -> tuple[int, int]:
    """Return where the line of a name starts and ends, at most 80 bytes before and after it."""
    data, start, end, _ = at
    low = max(data.rfind(b"\n", max(0, start - 80), start) + 1, start - 80, 0)
    high = data.find(b"\n", end, end + 80)
    return low, min(high if high >= 0 else end + 80, len(data))


def _any(*tests: _Test) -> _Test:
    return lambda at: any(test(at) for test in tests)


def _all(*tests: _Test) -> _Test:
    return lambda at: all(test(at) for test in tests)


def _not(test: _Test) -> _Test:
    return lambda at: not test(at)


_PORT = (
    rb":(?:2[0-35]|53|8[0-18]|110|143|443|445|465|587|99[35]|1080|1433|3128|3306|3389|[4-9]443|5000|5432|5900|6379|6667"
    rb"|80[08][0-9]|8888|900[01]|9090|9200|[1-6][0-9]{4})(?![0-9:])"
)
_ARGUMENT = _after(rb",[ \r]{0,3}(?:\Z|\n)")
_START = re.compile(rb"""(?:\A|[\n|\t]|\\n)[ ]{0,3}(?:[-*+>\#\xb7]|[0-9]{1,3}[.)])?[ ]{0,2}["'`*_(\[<]{0,2}\Z""")
_END = re.compile(rb"""["'`*_)\]>]{0,2}[.,;]?[ \r]{0,3}(?:\Z|[\n|\t]|\\[nr])""")
_NEXT = re.compile(rb"""[\[\]]?["'`]?[ ]?[,;|\t ][ ]?["'`]?([A-Za-z0-9.-]{4,80})(?![A-Za-z0-9(=_])""")
_BETWEEN = re.compile(rb"""["'`)\]]{0,2}(?:[ \t]?[,;|\t][ \t]?|[ ]|[ ]and[ ]|[ ]or[ ])["'`(\[]{0,2}\Z""")
_MENTIONED = re.compile(rb"mentions:? (?:[^\]\n]{1,180}, )?\Z")


# The word before a name or an address and what separates them, in reversed bytes: a search would try every position.
_WORD_BEFORE = re.compile(
    rb"""(?P<between>[\"\':= .()\[\]<>\\`]{0,8})(?:(?:ot|ni)[ ])?(?P<word>[A-Za-z_\x05-][A-Za-z0-9_\x05-]{0,31})"""
)
_KEYED = re.compile(rb"""["'`][ ]?[:=][ ]?["']?|=|[ ]:""")  # reversed
_SPACED = re.compile(rb"""["'`(\[]?[ ]:?""")


def _word_before(data: bytes, start: int) -> tuple[bytes, bytes]:
    """Return the word before a name or an address, and what separates them, reversed."""
    m = _WORD_BEFORE.match(data[max(0, start - 48) : start][::-1])
    return (m["word"][::-1], m["between"]) if m else (b"", b"")


def _last_part(word: bytes) -> bytes:
    """Return the last part of a word: `version` of `agent_version`."""
    return word.replace(b"-", b"_").rpartition(b"_")[2]


def _is_after_word(at: Around) -> bool:
    """Return whether the word before a name is the key of a host, or followed by a host: `host=`, `GET `."""
    word, between = _word_before(at.data, at.start)
    if _SPACED.fullmatch(between) and (word in _METHODS or word.lower() in _HOST_WORDS):
        return True
    return _last_part(word.lower()) in _HOST_KEYS and _KEYED.fullmatch(between) is not None


def is_mentioned(data: bytes, start: int) -> bool:
    """Return whether a marker mentions what starts at `start`."""
    first = data.find(b"mentions", max(0, start - 200), start)
    return first >= 0 and _MENTIONED.search(data, first, start) is not None


def _is_after_host(at: Around) -> bool:
    if not 0 < at.previous < at.start <= at.previous + 8:
        return False
    return _BETWEEN.fullmatch(at.data, at.previous, at.start) is not None


def _is_before_host(at: Around) -> bool:
    after = _NEXT.match(at.data, at.end)
    return after is not None and (points(after[1].rstrip(b".-")) or 0) > _CERTAIN_NEIGHBOUR


def _is_alone(at: Around) -> bool:
    """Return whether a name is alone on its line or in its cell, and not an argument in code."""
    data, start, end, _ = at
    if not _START.search(data, max(0, start - 12), start) or not _END.match(data, end):
        return False
    return data[start - 1 : start] in (b"'", b'"') or not _ARGUMENT(at)


# It starts with a set, because a search for a set takes a tenth of the time.
_OPERATOR = re.compile(
    rb"""[(\[=:;>{](?: (?<=[a-z0-9_][(\[])(?!e?s\)) | (?<=[A-Za-z0-9_\])][ ]=)[ ] | (?<=[A-Za-z0-9_\])][ ][=!<>+-]=)[ ]
    | (?<=[=-]>) | (?<=::) | (?<=\);) | (?<=\{)\Z )""",
    re.VERBOSE,
)
_HEAD = re.compile(rb"[ \t]{0,40}(?:if|while|for|with) ")


def _is_in_code(at: Around) -> bool:
    return _OPERATOR.search(at.data, *_line(at)) is not None


def _is_in_head(at: Around) -> bool:
    low, high = _line(at)
    return at.data[high - 1] == 58 and at.data[low - 1 : low] in (b"", b"\n") and bool(_HEAD.match(at.data, low))


_is_quoted = _all(_before(rb"""["'](?:\*?\.|\^|\|\|)?""", b"\"'.^|", 4), _after(rb"""\.?[$^]?\\?["']"""))
_is_bracketed = _any(_before(b".", b"([{=*", 1), _after(rb"[)\]}:]"), _ARGUMENT)

_is_beside_code = _any(
    _before(
        rb"""[!+.$&-] | (?<![A-Za-z])(?:return|assert|yield|del|elif|await|typeof|(?:if|and|or)[ ]not)[ ]
                | [A-Za-z0-9_\])][ ][=!<>+*/?-]{1,2}[ ]""",
        b"!+.$&- ",
        12,
    ),
    _after(
        rb""";|[ ]in[ ]\(|[ ](?:is[ ](?:not|None|[A-Z]+_[A-Z_]+)|if|else|not[ ]in|or[ ]None|and[ ]not
                |[=!<>+*/?&|-])(?![A-Za-z])"""
    ),
)

CODE: tuple[Row, ...] = (
    Row(
        "a call, an index, an assignment or a comparison",
        -12,
        _after(rb"\((?![0-9]) | \[ | ==? | [ ](?:[=!<>+*/-]?=|import)[ ] | [ ]is[ ](?:not[ ])?None(?![a-z])"),
        "evil.ru = 3",
    ),
    Row("an import", -12, _before(rb"import[ ]", b" ", 7), "import evil.ru"),
    Row("a variable", -12, _before(rb"(?<![A-Za-z0-9])\$", b"$", 2), "print $evil.ru"),
    Row("the number of a line", -12, _after(rb"(?!" + _PORT + rb"):[0-9]{1,5}[:)]"), "(evil.cc:44)"),
    Row(
        "a keyword or an operator of code beside it",
        -8,
        _all(_is_beside_code, _not(_is_alone)),
        "return evil.shop",
    ),
    Row("a call or an operator on its line", -8, _is_in_code, "f(x, evil.shop x)"),
    Row("the head of a statement", -8, _is_in_head, "if so evil.shop x:"),
    Row("a bracket or a comma beside it", -6, _all(_is_bracketed, _not(_is_alone)), "so (evil.name)"),
)
PLACE: tuple[Row, ...] = (
    Row("the whole of a quoted string", 4, _is_quoted, 'f("evil.shop", x)'),
    Row("alone on its line or in its cell", 4, _is_alone, "| drop.it |"),
)
HOST: tuple[Row, ...] = (
    Row("a port", 13, _after(_PORT), "we saw evil.rs:443 here"),
    Row(
        "a path",
        13,
        _after(
            rb"""/[A-Za-z0-9_~%-]{2,64}(?:[/?\#"'\s]|\.(?:php|html?|aspx?|jsp|exe|dll|bin|txt|gif|png|jpg)|\Z)
            (?<!\.zip)"""
        ),
        "we saw evil.rs/gate.php here",
    ),
    Row("a word or a key that names a host", 14, _is_after_word, "nslookup evil.rs"),
    Row(
        "words that are followed by a host",
        14,
        _before(rb"(?i:(?<![a-z])(?:C2|C&C|(?:C2|C&C)[ ](?:is|at|was)|resolves[ ]to)):?[ ][\"'`(\[]?", b" \"'`([", 16),
        "the C2 is evil.rs",
    ),
    Row(
        "a key of DNS or of a STIX pattern",
        14,
        _before(
            rb"""(?: (?<![A-Za-z])dns[._][A-Za-z._]{1,24}["']? | [a-z]:value["']? )[ ]?[:=][ ]?["'`]?""", b" :=\"'`", 36
        ),
        "[domain-name:value = 'evil.rs']",
    ),
    Row(
        "a query of a resolver",
        14,
        _before(rb"(?:query\[[A-Z]{1,5}\]|reply|cached|forwarded)[ ]", b" ", 16),
        "query[A] evil.rs from",
    ),
    Row("a tag of DKIM", 14, _before(rb"(?:;[ \t]{0,2}|[ \t])d=", b"=", 5), "v=1; d=evil.shop; s=x"),
    Row(
        "a mention in a marker",
        14,
        lambda at: is_mentioned(at.data, at.start),
        "…[9 more characters; mentions evil.rs]",
    ),
    Row("a host before it", 9, _is_after_host, "evil.com, evil.rs"),
    Row("a host after it", 9, _is_before_host, "evil.rs, evil.com"),
)
CUES: dict[str, tuple[Row, ...]] = {"alone": PLACE, "host": HOST, "code": CODE}
"""The evidence of the text around a name, by what it shows. Of each kind, the first row that applies counts."""


def all_rows(at: Around) -> tuple[Row, ...]:
    """Return the rows that apply to a name and to the text around it."""
    written = at.data[at.start : at.end]
    rows = [DEFANGED_ROW] if 1 in written else [*rows_of(written)]
    for some in CUES.values():
        rows += [row for row in some if row.applies(at)][:1]
    return tuple(rows)


def evidence(at: Around, total: int) -> str:
    """Return what shows that a name with `total` points is a host, or "" if it is none.

    This is `defanged`, `name` if the name alone shows it, or what the text around it shows: `alone`, `host`, `code` if
    it is a host in spite of code, or `prose`.
    """
    if total > CERTAIN:
        return "name" if total < DEFANGED else "defanged"
    if total <= -_MOST:
        return ""
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
_MOST = max(row.points for row in HOST) + max(row.points for row in PLACE)

# --- the text around four numbers

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
    """Four numbers `data[start:end]` in their text, with the word before them in lower case."""

    data: bytes
    start: int
    end: int
    before: bytes
    """The 48 bytes before them, reversed."""
    word: bytes
    """The word before them in lower case, and what separates them, reversed."""
    last: bytes
    """The last part of the word."""
    between: bytes


def _is_package_version(at: Numbers) -> bool:
    if at.before[:1] != b"@" or at.data[at.start + 1 : at.start + 2] != b".":
        return False
    return at.before[1:2].isalnum() and at.before[1:5] not in _USERS


def _is_compared(at: Numbers) -> bool:
    m = _COMPARED.match(at.before)
    return m is not None and not at.data.startswith(b">", at.end) and not _ADDRESSED.search(m["word"][::-1])


def _is_after_version(at: Numbers) -> bool:
    last = at.last
    if last in (b"v", b"ver") and at.between.strip(b"<>\\") != at.between:
        return False  # class="v">203.0.113.7
    return b"\x05" in last or last in _VERSIONS or (last.endswith(b"version") and last != b"conversion")


def _is_after_product(at: Numbers) -> bool:
    if at.between not in (b" ", b"  ") or (at.word not in _VERSIONED and at.last not in _VERSIONED):
        return False
    return at.word.endswith(b"-os") or not at.data.startswith(_PRIVATE, at.start, at.end)


VERSIONS: tuple[Row, ...] = (
    Row(
        "a release",
        -2,
        lambda at: at.data[at.end : at.end + 1] == b" " and _RELEASE.match(at.data, at.end) is not None,
        "1.2.3.4 and earlier",
    ),
    Row(
        "the version in the header of an event",
        -2,
        lambda at: at.before[:1] == b"|" and _HEADER.search(at.data, max(0, at.start - 140), at.start) is not None,
        "CEF:0|Vendor|Product|1.2.3.4|x",
    ),
    Row("a package before it", -2, _is_package_version, "lodash@1.2.3.4"),
    Row("a comparison of versions", -2, _is_compared, "pkg>=1.2.3.4"),
    Row("a word before the number of a version", -2, _is_after_version, "agent_version: 1.2.3.4"),
    Row("a product before it", -2, _is_after_product, "Firefox 115.2.3.4"),
)
FOUR_NUMBERS = Row("four numbers", 1, lambda at: True, "1.2.3.4")
"""What they are without any other evidence."""


def version_rows(data: bytes, start: int, end: int) -> Iterator[Row]:
    """Yield the rows that apply to the four numbers `data[start:end]`."""
    before = data[max(0, start - 48) : start][::-1]
    word, between = (b"", b"") if before[:1] in (b"|", b"@", b"`") else _word_before(data, start)
    word = word.lower()
    at = Numbers(data, start, end, before, word, _last_part(word), between)
    return (row for row in VERSIONS if row.applies(at))


def is_version(data: bytes, start: int, end: int) -> bool:
    """Return whether the text around the four numbers `data[start:end]` shows that they are a version or a section."""
    total = FOUR_NUMBERS.points
    for row in version_rows(data, start, end):
        total += row.points
        if total <= 0:
            return True
    return False
