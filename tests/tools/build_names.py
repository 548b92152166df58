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
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "reducer" / "entities" / "names.txt"

SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@$!+-]*[A-Za-z0-9+$!]")
# Not names: a file, "Group 3", a detection name of one product, a placeholder.
JUNK = re.compile(
    r"(?i).*\.exe|(?:group|unit|reputation\.?|threat actor|team|actor)[ -]?\d+"
    r"|(?:un(?:named|known)|new|fake|generic)\b.*|[\d.]+|.*\brelated to\b.*|.*\b(?:campaign|v\d.*)|.*, .*"
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
    zipf = entry["zipf"]
    words = [w for w in re.split(r"[^A-Za-z]+", name.lower()) if w]
    single = len(words) == 1 and name.isalpha()
    if name in KEPT:
        return "="
    if name.lower() in KNOWN or name.lower().replace(" ", "-") in KNOWN:
        return None
    actor = "actor" in entry["types"]
    only_ransomware = set(entry["clusters"]) == {"ransomware"}
    if zipf >= 3:
        if name.isupper() and len(name) > 4 and zipf < 4.1 and not only_ransomware:
            return "="  # MERCURY
        return "=" if actor and zipf < 3.35 and name[0].isupper() and len(name) > 4 else None
    if only_ransomware and (
        zipf >= 2.2 or (name.islower() and (zipf > 0 or len(words) > 1 or any(w in common for w in words)))
    ):
        return None
    if len(name) < 4:
        return "=" if actor and zipf < 2 and name.isupper() else None
    if all(w in common or len(w) < 3 for w in words) and not re.search(r"\d", name):
        written = name != name.lower() and (actor or not only_ransomware or len(words) == 1)
        return "=" if written and not single else None
    if single and (zipf >= 2 or len(name) < 5):
        return "=" if name != name.lower() else None
    if zipf >= 2 or len(name) < 5:
        return "="
    return "~"


def content(names_path: Path, words_path: Path) -> str:
    """Return the content of `names.txt`."""
    common = set(words_path.read_text(encoding="utf-8").lower().split())
    canonical: dict[str, str] = {}
    for line in (HERE / "synonyms.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            first = line.split("|")[0]
            for name in line.split("|"):
                canonical.setdefault(re.sub("[-_ ]", "", name.lower()), first)
    entries = json.loads(names_path.read_text(encoding="utf-8"))
    commands = {e["name"].lower()[:-4] for e in entries if e["name"].lower().endswith(".exe")}
    kinds: dict[str, str] = {}
    chosen: dict[str, tuple[str, str]] = {}
    for entry in entries:
        name = re.sub(r"\s*\([^)]*\)\s*$", "", entry["name"]).strip(" ,").replace("‑", "-")
        stem = RANSOM.sub("", name)
        # "LockBit Ransomware" is also LockBit; "Cryptographic Ransomware" gives no more than a word.
        short = stem if len(stem) > 5 and re.search(r"[a-z][A-Z]|[A-Za-z]\d", stem) else name
        for form in {name, short}:
            key = form.lower()
            wrong = len(form) < 3 or not SHAPE.fullmatch(form) or JUNK.fullmatch(form) or key in commands
            if not wrong and (how := case(form, entry, common)) is not None:
                kinds[key] = "".join(sorted({*kinds.get(key, ""), *kinds_of(entry)}))
                chosen[form] = (key, how)
    lines, overridden = [], set()
    for types, form, rest in (line for section in forms().values() for line in section):
        key = form[1:].lower()
        overridden.add(key.replace("-", " "))
        lines.append("".join(sorted({*types, *kinds.get(key, "")})) + form + rest)
    for form, (key, how) in chosen.items():
        other = canonical.get(re.sub("[-_ ]", "", key))
        if key.replace("-", " ") not in overridden:
            lines.append(f"{kinds[key]}{how}{form}" + (f"|{other}" if other and other != form else ""))
    lines.sort(key=lambda line: (re.sub("^[amt]+[=~?]", "", line).lower(), line))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    entries = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for section in forms():
        names = [entry["name"] for entry in entries] if section == "names" else listed_in_package(section)
        if unknown := without_source(section, names):
            sys.exit(f"not in {section}: {', '.join(unknown)}")
    OUT.write_text(content(Path(sys.argv[1]), Path(sys.argv[2])), encoding="utf-8")
