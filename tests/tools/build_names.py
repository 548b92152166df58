"""Write `reducer/entities/names.txt`: `python -m tests.tools.build_names NAMES.json`.

NAMES.json holds `{name, types: [actor|malware], clusters}` from MISP galaxy. Newer names are from packages, and how
common a word is from wordfreq: `pip install --no-deps pymispgalaxies==1.1.1 CAPE-parsers==0.1.73 && pip install
wordfreq==3.1.1`. To refresh the list, install newer ones, and change their versions here and in NOTICE. `forms.txt`
overrides what the rules below decide. A line of the result is types (`a` actor, `m` malware, `t` tool), case (`=` only
as written, `~` in any case, `?` as written and beside a word such as "ransomware"), name, and `|canonical` if that is
another name.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import files
from importlib.resources import files as resources
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "reducer" / "entities" / "names.txt"

LANGUAGES = ("en", "es", "fr", "de", "it", "pt", "nl", "pl", "sv", "id", "tr", "ro", "cs", "hu", "da", "fi")
"""The largest languages with Latin letters. Names are ASCII, so words of other scripts are never names."""
RARE, UNUSUAL, FREQUENT, MARKED_WORD, ARTICLE = 1.6, 2.4, 4.0, 4.1, 6.0
"""Frequencies of words as powers of ten per billion words: 1.6 is once in 25 million words, 4 is once in 100,000."""

CLUSTERS = {
    "a": ("threat-actor", "microsoft-activity-group", "mitre-intrusion-set", "tidal-groups"),
    "m": (
        *("ransomware", "malpedia", "mitre-malware", "tool", "rat", "botnet", "banker", "stealer", "backdoor"),
        *("android", "exploit-kit", "cryptominers"),
    ),
    "t": ("mitre-tool",),
}
"""The clusters of MISP galaxy by the type of their names."""

SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@$!+-]*[A-Za-z0-9+$!]")
# Not names: a file, "Group 3", a detection name of one product, a placeholder.
JUNK = re.compile(
    r"(?i).*\.exe|(?:group|unit|reputation\.?|threat actor|team|actor)[ -]?\d+|[gs]\d{4}"
    r"|(?:un(?:named|known)|new|fake|generic)\b.*|[\d.]+|.*\b(?:campaign|v\d.*)"
    r"|(?:trojan|backdoor|downloader|exploit|hacktool|gen|agent|trj|troj|w32|win32|linux|osx|android|apk|mal)[._/:].*"
)
NUMBER = re.compile(r"\s*\([^)]*\)\s*$| - [GS]\d{4}$")
KIND = re.compile(
    r"(?i)[ _-](?:ransomware|stealer|loader|backdoor|botnet|wiper|cryptor|locker|rat|virus|(?:banking )?trojan)$"
)
MARKED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d|\d[A-Za-z]")
ORDINARY = (HERE / "ordinary.txt").read_text(encoding="utf-8").split()
# System commands, products, companies and jargon that name lists contain because malware abuses them.
KNOWN = frozenset(word for word in ORDINARY if word[0] != "=")
# Ordinary words that usually mean the threat; they match only as written.
KEPT = frozenset(word[1:] for word in ORDINARY if word[0] == "=")


def forms() -> dict[str, tuple[str, str, str]]:
    """Return the types, the case and name, and the rest of each line of `forms.txt` by the name in lower case."""
    lines = re.findall(r"(?m)^([amt]+)([=~?][^|\n]+)(.*)$", (HERE / "forms.txt").read_text(encoding="utf-8"))
    return {form[1:].lower(): (types, form, rest) for types, form, rest in lines}


def sources(names: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the type, the name and the list of each name."""
    for entry in json.loads(names.read_text(encoding="utf-8")):
        is_ransomware = entry["clusters"] == ["ransomware"]
        for kind in (*entry["types"], *("tool" for cluster in entry["clusters"] if cluster == "mitre-tool")):
            yield kind[0], entry["name"], "ransomware" if is_ransomware else "names"
    for kind, clusters in CLUSTERS.items():
        for cluster in clusters:
            for value in _values(cluster):
                for name in (value["value"], *value.get("meta", {}).get("synonyms", ())):
                    yield kind, name, cluster
    for value in _values("tidal-software"):
        if "/lolbas-project" in value["description"].lower():
            continue  # a program of Windows
        yield value["meta"]["type"][0][0], value["value"], "tidal-software"
    for file in files("CAPE-parsers") or ():
        if re.match("cape_parsers/CAPE/(?:core|community)/[A-Z]", str(file)):
            yield "m", file.stem, "CAPE-parsers"


def _values(cluster: str) -> list[dict]:
    """Return the values of a cluster of MISP galaxy."""
    path = resources("pymispgalaxies").joinpath(f"data/misp-galaxy/clusters/{cluster}.json")
    return json.loads(path.read_text(encoding="utf-8"))["values"]


def _key(name: str) -> str:
    return re.sub(r"[-_ ]", "", NUMBER.sub("", name.lower()))


@cache
def frequency(language: str, word: str) -> float:
    """Return how common a word is in a language: 3 is once in a million words, 0 is never."""
    from wordfreq import zipf_frequency

    return zipf_frequency(word, language)


def common_in_any(word: str) -> float:
    """Return how common a word is in the language in which it is most common."""
    return max(frequency(language, word) for language in LANGUAGES)


def commonness(words: Collection[str]) -> float:
    """Return how common the rarest of some words is, in the language in which they are most common."""
    return max(min((frequency(language, word) for word in words), default=0.0) for language in LANGUAGES)


def case(name: str, kinds: set[str], is_ransomware: bool) -> str | None:
    """Return `~` if a name matches in any case, `=` only as written, `?` only beside a threat, or None if never."""
    plain = name.lower()
    if name in KEPT:
        return "="
    if plain in KNOWN or plain.replace(" ", "-") in KNOWN or len(name) < 3:
        return None
    words = re.split("[ _-]", plain)
    words = [word for word in words if common_in_any(word) < ARTICLE] or words
    common = 0.0 if re.search(r"\d", name) else commonness(words)
    if len(words) > 1:
        if common < FREQUENT:
            return "~"
        return None if name == plain else "?" if is_ransomware else "="
    if len(name) == 3:  # an anchor of three letters is in too many words
        return "=" if "a" in kinds and common < 2 and name.isupper() else None
    if len(name) == 4 and not name.isalpha():
        return "?" if name != plain else None
    if common < RARE and len(name) > 4:
        return "~"
    if name == plain:
        return None
    is_marked = MARKED.search(name) or (name.isupper() and len(name) > 4 and not is_ransomware)
    if common < (MARKED_WORD if is_marked else UNUSUAL):
        return "="
    return "?" if common < FREQUENT else None


def canonical_names() -> dict[str, dict[str, str]]:
    """Return the first name of each line of `synonyms.txt` by the type and the keys of all names in the line."""
    found: dict[str, dict[str, str]] = {"a": {}, "m": {}, "t": {}}
    sections = re.split(r"(?m)^\[(?:threat_actor|malware)\]\n", (HERE / "synonyms.txt").read_text(encoding="utf-8"))
    for kinds, section in zip(("a", "amt"), sections[1:], strict=True):
        for first, *others in (line.split("|") for line in section.splitlines()):
            for kind in kinds:
                for name in (first, *others):
                    found[kind].setdefault(_key(name), first)
    return found


def forms_of(name: str) -> set[str]:
    """Return a name that can be in a text, without "ransomware" and with or without another such word at its end."""
    name = NUMBER.sub("", name).strip(" ,").replace("‑", "-")
    stem = KIND.sub("", name)
    is_clear = MARKED.search(stem) or (len(stem) > 3 and common_in_any(stem.lower()) < UNUSUAL)
    if name.lower().endswith("ransomware") and len(stem) > 2:
        name = stem
    # "LockBit Locker" is also LockBit; "Cryptographic Locker" gives no more than a word.
    shaped = (name, stem) if is_clear and " " not in stem else (name,)
    return {form for form in shaped if SHAPE.fullmatch(form) and not JUNK.fullmatch(form)}


def lines_of(form: str, how: str, kinds: set[str], canonical: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines of a name, one for each canonical name."""
    by_name: dict[str, set[str]] = {}
    for kind in kinds:
        by_name.setdefault(canonical[kind].get(_key(form), form), set()).add(kind)
    for name, types in by_name.items():
        yield "".join(sorted(types)) + how + form + (f"|{name}" if name != form else "")


def content(names: Path) -> str:
    """Return the content of `names.txt`."""
    kinds: dict[str, set[str]] = {}
    lists: dict[str, set[str]] = {}
    commands: set[str] = set()
    known: set[str] = set()
    for kind, name, source in sources(names):
        known |= {_key(name), _key(KIND.sub("", name))}
        if name.lower().endswith(".exe"):
            commands.add(name.lower()[:-4])
        if source == "ransomware" and re.fullmatch("[a-z ]+", name):
            name = name.title()  # its leak sites are listed in lower case
        for form in forms_of(name):
            kinds.setdefault(form.lower(), set()).add(kind)
            lists.setdefault(form, set()).add(source)
    overridden, canonical = forms(), canonical_names()
    if unknown := [name for name in overridden if _key(name) not in known]:
        sys.exit(f"in none of the lists: {', '.join(unknown)}")
    # The canonical spelling of a name without synonyms is that of `forms.txt`, or of the most lists.
    spellings = [(form[1:], rest[1:] or form[1:]) for _, form, rest in overridden.values()]
    in_order = sorted(lists, key=lambda form: (form.islower(), -len(lists[form]), form.lower(), form[::-1]))
    for form, name in (*spellings, *zip(in_order, in_order, strict=True)):
        for found in canonical.values():
            found.setdefault(_key(form), name)
    lines = []
    for key, (types, form, _) in overridden.items():
        lines += lines_of(form[1:], form[0], kinds.get(key, set()).union(types), canonical)
    for form, its_lists in lists.items():
        key = form.lower()
        if key not in overridden and key not in commands:
            how = case(form, kinds[key], its_lists == {"ransomware"})
            lines += lines_of(form, how, kinds[key], canonical) if how else ()
    lines.sort(key=lambda line: (re.sub("^[amt]+[=~?]", "", line).lower(), line))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    OUT.write_text(content(Path(sys.argv[1])), encoding="utf-8")
