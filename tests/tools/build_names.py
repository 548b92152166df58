"""Write `reducer/entities/names.txt`: `python tests/tools/build_names.py NAMES.json COMMON_WORDS.txt`.

NAMES.json holds `{name, types: [actor|malware], clusters, zipf}` from MISP galaxy; zipf is how common the name is in
English (3 and more: an ordinary word). `recent.txt` adds names that are not in MISP galaxy, and overrides its forms. A
line of the result is types (`a` actor, `m` malware, `t` tool), case (`=` only as written, `~` in any case, `?` only
beside a word such as "ransomware"), name, and `|canonical` if that is another name.
"""

from __future__ import annotations

import json
import re
import sys
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
ORDINARY = (HERE / "ordinary.txt").read_text(encoding="utf-8").split()
# System commands, products, companies and jargon that name lists contain because malware abuses them.
KNOWN = frozenset(word for word in ORDINARY if word[0] != "=")
# Ordinary words that usually mean the threat; they match only as written.
KEPT = frozenset(word[1:] for word in ORDINARY if word[0] == "=")


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
    lines, recent = [], set()
    for line in (HERE / "recent.txt").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"([amt]+)([=~?][^|]+)(.*)", line):
            key = match[2][1:].lower()
            recent.add(key.replace("-", " "))
            lines.append("".join(sorted({*match[1], *kinds.get(key, "")})) + match[2] + match[3])
    for form, (key, how) in chosen.items():
        other = canonical.get(re.sub("[-_ ]", "", key))
        if key.replace("-", " ") not in recent:
            lines.append(f"{kinds[key]}{how}{form}" + (f"|{other}" if other and other != form else ""))
    lines.sort(key=lambda line: (re.sub("^[amt]+[=~?]", "", line).lower(), line))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    OUT.write_text(content(Path(sys.argv[1]), Path(sys.argv[2])), encoding="utf-8")
