"""Write `reducer/entities/names.txt` from a list of names: `python tests/tools/build_names.py NAMES.json COMMON_WORDS.txt`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

OUT = Path(__file__).parents[2] / "reducer" / "entities" / "names.txt"
MALWARE_CLUSTERS = {"ransomware", "mitre-malware", "tool", "android", "rat", "botnet", "mitre-tool", "exploit-kit", "banker", "backdoor", "stealer", "cryptominers"}


def main(names_path: str, words_path: str) -> None:
    common = set(Path(words_path).read_text(encoding="utf-8").lower().split())
    lines = set()
    for entry in json.loads(Path(names_path).read_text(encoding="utf-8")):
        name = re.sub(r"\s*\([^)]*\)\s*$", "", entry["name"]).strip(" ,")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._@&'+-]*[A-Za-z0-9+]", name) or len(name) < 3:
            continue
        if re.fullmatch(r"(?i).*\.exe|(?:group|unit|reputation\.?|threat actor|team)[ -]?\d+|unnamed.*|unknown.*|\d+", name):
            continue
        zipf = entry["zipf"]
        words = re.split(r"[^A-Za-z]+", name.lower())
        ordinary = all(w in common or len(w) < 3 for w in words)
        exact = zipf >= 2 or len(name) <= 4 or ordinary
        if zipf >= 3 and not (name.isupper() and zipf < 4.1 and len(name) > 4) and not (zipf < 3.35 and name[0].isupper() and "actor" in entry["types"]):
            continue
        if len(name) <= 4 and (zipf >= 2.5 or name.islower()):
            continue
        kind = "a" if "actor" in entry["types"] else "m"
        lines.add(f"{kind}{'=' if exact else '~'}{name}")
    OUT.write_text("\n".join(sorted(lines, key=lambda x: (x[2:].lower(), x))) + "\n", encoding="utf-8")
    print(len(lines), OUT.stat().st_size)


if __name__ == "__main__":
    main(*sys.argv[1:])
