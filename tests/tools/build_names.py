"""Write `reducer/entities/names.txt`: `python tests/tools/build_names.py NAMES.json COMMON_WORDS.txt`.

NAMES.json holds `{name, types: [actor|malware], clusters, zipf}` from MISP galaxy; zipf is how common the name is in
English (3 and more: an ordinary word). `forms.txt` overrides their forms and adds names from two packages, which this
needs: `pip install --no-deps pymispgalaxies==1.1.1 CAPE-parsers==0.1.73`. A line of the result is types (`a` actor, `m`
malware, `t` tool), case (`=` only as written, `~` in any case, `?` only beside a word such as "ransomware"), name, and
`|canonical` if that is another name.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import files
from importlib.resources import files as resources
from itertools import chain
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "reducer" / "entities" / "names.txt"

SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@$!+-]*[A-Za-z0-9+$!]")
# Not names: a file, "Group 3", a detection name of one product, a placeholder.
JUNK = re.compile(
    r"(?i).*\.exe|(?:group|unit|reputation\.?|threat actor|team|actor)[ -]?\d+"
    r"|(?:un(?:named|known)|new|fake|generic)\b.*|[\d.]+|.*\b(?:campaign|v\d.*)"
    r"|(?:trojan|backdoor|downloader|exploit|hacktool|gen|agent|trj|troj|w32|win32|linux|osx|android|apk|mal)[._/:].*"
)
RANSOM = re.compile(r"(?i) (?:ransomware|cryptor|locker|rat|virus|trojan|banking trojan|campaign)$")
KIND = re.compile(r"(?i)[ _-](?:ransomware|stealer)$")
ORDINARY = (HERE / "ordinary.txt").read_text(encoding="utf-8").split()
# System commands, products, companies and jargon that name lists contain because malware abuses them.
KNOWN = frozenset(word for word in ORDINARY if word[0] != "=")
# Ordinary words that usually mean the threat; they match only as written.
KEPT = frozenset(word[1:] for word in ORDINARY if word[0] == "=")


def forms() -> dict[str, list[tuple[str, str, str]]]:
    """Return the types, the case and name, and the rest of each line of `forms.txt` by its section."""
    sections = re.findall(r"(?m)^\[(.+)\]\n([^\[]*)", (HERE / "forms.txt").read_text(encoding="utf-8"))
    return {section: re.findall(r"(?m)^([amt]+)([=~?][^|\n]+)(.*)$", lines) for section, lines in sections}


def without_source(section: str, listed: list[str]) -> list[str]:
    """Return the names of a section of `forms.txt` that its list does not contain, in any spelling."""
    known = {key for name in listed for key in (_key(name), _key(KIND.sub("", name)))}
    return [form[1:] for _, form, _ in forms()[section] if _key(form[1:]) not in known]


def listed_in_package(section: str) -> list[str]:
    """Return the names in CAPE-parsers, which has a module for each malware, or in a cluster of pymispgalaxies."""
    if section == "CAPE-parsers":
        return [file.stem for file in files(section) or ()]
    cluster = resources("pymispgalaxies").joinpath(f"data/misp-galaxy/clusters/{section}.json")
    values = json.loads(cluster.read_text(encoding="utf-8"))["values"]
    return [name for value in values for name in (value["value"], *value.get("meta", {}).get("synonyms", ()))]


def _key(name: str) -> str:
    return re.sub(r"\s*\([^)]*\)\s*$|[-_ ]", "", name.lower())


def kinds_of(entry: dict) -> str:
    """Return the types of an entry: `a` (actor), `m` (malware), `t` (tool: dual-use software that MITRE lists)."""
    return "".join(kind[0] for kind in entry["types"]) + "t" * ("mitre-tool" in entry["clusters"])


def case(name: str, entry: dict, common: set[str]) -> str | None:
    """Return `~` if a name matches in any case, `=` if only as written, or None if it is an ordinary word."""
    zipf, words = entry["zipf"], re.findall("[a-z]+", name.lower())
    is_actor, is_ransomware = "actor" in entry["types"], set(entry["clusters"]) == {"ransomware"}
    if name in KEPT:
        return "="
    if name.lower() in KNOWN or name.lower().replace(" ", "-") in KNOWN:
        return None
    if zipf >= 3:
        if name.isupper() and len(name) > 4 and zipf < 4.1 and not is_ransomware:
            return "="  # MERCURY
        return "=" if is_actor and zipf < 3.35 and name[0].isupper() and len(name) > 4 else None
    is_common = zipf > 0 or len(words) > 1 or not common.isdisjoint(words)
    if is_ransomware and (zipf >= 2.2 or (name.islower() and is_common)):
        return None
    if len(name) < 4:
        return "=" if is_actor and zipf < 2 and name.isupper() else None
    if all(len(word) < 3 or word in common for word in words) and not re.search(r"\d", name):
        return "=" if name != name.lower() and (is_actor or not is_ransomware or len(words) == 1) else None
    if zipf < 2 and len(name) > 4:
        return "~"
    return "=" if name != name.lower() or len(words) > 1 or not name.isalpha() else None


def canonical_names() -> dict[str, str]:
    """Return the first name of each line of `synonyms.txt` by the keys of all names in the line."""
    found: dict[str, str] = {}
    for line in (HERE / "synonyms.txt").read_text(encoding="utf-8").splitlines():
        first, *others = line.split("|")
        for name in (first, *others):
            found.setdefault(_key(name), first)
    return found


def forms_of(name: str, commands: set[str]) -> set[str]:
    """Return a name that can be in a text, also without a word such as "ransomware" at its end."""
    name = re.sub(r"\s*\([^)]*\)\s*$", "", name).strip(" ,").replace("‑", "-")
    stem = RANSOM.sub("", name)
    # "LockBit Ransomware" is also LockBit; "Cryptographic Ransomware" gives no more than a word.
    short = stem if len(stem) > 5 and re.search(r"[a-z][A-Z]|[A-Za-z]\d", stem) else name
    shaped = {form for form in (name, short) if SHAPE.fullmatch(form) and not JUNK.fullmatch(form)}
    return {form for form in shaped if form.lower() not in commands}


def content(names_path: Path, words_path: Path) -> str:
    """Return the content of `names.txt`."""
    common = set(words_path.read_text(encoding="utf-8").lower().split())
    entries = json.loads(names_path.read_text(encoding="utf-8"))
    commands = {entry["name"].lower()[:-4] for entry in entries if entry["name"].lower().endswith(".exe")}
    kinds: dict[str, set[str]] = {}
    chosen: dict[str, str] = {}
    for entry in entries:
        for form in forms_of(entry["name"], commands):
            how = case(form, entry, common)
            if how is not None:
                kinds.setdefault(form.lower(), set()).update(kinds_of(entry))
                chosen[form] = how
    lines, overridden = [], set()
    for types, form, rest in chain.from_iterable(forms().values()):
        key = form[1:].lower()
        overridden.add(key)
        lines.append("".join(sorted(kinds.get(key, set()).union(types))) + form + rest)
    canonical = canonical_names()
    for form, how in chosen.items():
        other = canonical.get(_key(form), form)
        if form.lower() not in overridden:
            lines.append("".join(sorted(kinds[form.lower()])) + how + form + (f"|{other}" if other != form else ""))
    lines.sort(key=lambda line: (re.sub("^[amt]+[=~?]", "", line).lower(), line))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    entries = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for section in forms():
        names = [entry["name"] for entry in entries] if section == "names" else listed_in_package(section)
        if unknown := without_source(section, names):
            sys.exit(f"not in {section}: {', '.join(unknown)}")
    OUT.write_text(content(Path(sys.argv[1]), Path(sys.argv[2])), encoding="utf-8")
