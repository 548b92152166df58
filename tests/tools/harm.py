"""Count the answers that a built-in rule for another tool harms: `python -m tests.tools.harm [--all]`.

Each rule gets each answer under the name of its own tool, except its own samples. A pair of a rule and an answer is
harmed if the result has less than half of the characters, unmarked if it has also no more markers than the answer, and
emptied if the result has no values. The answers are fixed: the samples of the rules at one commit, and the tool outputs
of the real data. Without `--all`, only answers of at most 30,000 characters count, which takes about a minute.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from reducer import Reducer
from reducer.values import chars, dump

CHECKOUT = Path(__file__).parents[2]
OUTPUTS = CHECKOUT.parent / "shared" / "data" / "tool_outputs"
COMMIT = "c853594082c0"
"""The samples are those of this commit, so that the measure does not change with the rules."""
FINGERPRINT = "387e239bb0389e6e85e630e872fc470922e3cdd05b5929e82987df178e6737c6"
"""The SHA-256 of the names and bytes of all answers."""
MAX_CHARS = 30_000
WORST = 15


def at_commit() -> dict[PurePosixPath, bytes]:
    """Return the rule files and samples at the commit by their names in `rules`."""
    archive = subprocess.run(["git", "archive", COMMIT, "rules"], cwd=CHECKOUT, capture_output=True, check=True).stdout
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            reader = tar.extractfile(member)
            if reader is not None and not member.name.endswith(".md"):
                found[PurePosixPath(member.name).relative_to("rules")] = reader.read()
    return found


def answers_of(files: dict[PurePosixPath, bytes]) -> dict[str, bytes]:
    """Return the answers by name: `PACK/samples/NAME` for a sample, and the name of the file for a tool output."""
    samples = {str(path): data for path, data in files.items() if path.parent.name == "samples"}
    return samples | {file.name: file.read_bytes() for file in OUTPUTS.glob("*.json") if file.stem != "manifest"}


def fingerprint(answers: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in sorted(answers.items()):
        digest.update(f"{name} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def own_samples(files: dict[PurePosixPath, bytes]) -> dict[str, set[str]]:
    """Return the samples that the tests of each rule named at the commit, by the name of the rule file."""
    own: dict[str, set[str]] = {}
    for path, data in files.items():
        if path.suffix == ".yaml" and path.parent.name != "samples":
            given = [test["given"] for test in yaml.safe_load(data).get("tests", ())]
            own[path.stem] = {str(path.parent / each["file"]) for each in given if "file" in each}
    return own


def harm(answer: Any, result: Any) -> Iterator[str]:
    """Yield what a rule did to an answer: `harmed`, `unmarked`, `emptied`."""
    if result is answer:
        return
    if chars(result) * 2 < chars(answer):
        yield "harmed"
        if dump(result).count("…[") <= dump(answer).count("…["):
            yield "unmarked"
    if any(values(answer)) and not any(values(result)):
        yield "emptied"


def values(answer: Any) -> Iterator[bool]:
    """Yield whether each value in an answer says something: it is a number, a boolean, or a text without a marker."""
    if isinstance(answer, dict | list):
        for item in answer.values() if isinstance(answer, dict) else answer:
            yield from values(item)
    elif isinstance(answer, str):
        yield answer.strip() != "" and not answer.startswith("…[")
    else:
        yield answer is not None


def main(arguments: list[str]) -> int:
    """Print the numbers. Return 1 if the answers are not those that the measure is defined on."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.harm", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--all", action="store_true", help="also answers of more than 30,000 characters")
    max_chars = float("inf") if parser.parse_args(arguments).all else MAX_CHARS
    files = at_commit()
    answers = answers_of(files)
    if fingerprint(answers) != FINGERPRINT:
        print(f"the answers are not those of the measure: {fingerprint(answers)}", file=sys.stderr)
        return 1
    contents = {name: data.decode() if name.endswith(".txt") else json.loads(data) for name, data in answers.items()}
    contents = {name: content for name, content in contents.items() if chars(content) <= max_chars}
    reducer, own = Reducer.load(CHECKOUT / "rules"), own_samples(files)
    counts = Counter[str]()
    by_rule: dict[str, Counter[str]] = {}
    for rule in reducer.ruleset.rules:
        name = Path(rule.file).stem
        tool = next((tool for tool in rule.tools if not set(tool) & set("*?[")), rule.tools[0].replace("*", "x"))
        found = by_rule.setdefault(name, Counter())
        for answer in contents.keys() - own.get(name, set()):
            found.update(["pairs", *harm(contents[answer], reducer.reduce_content(tool, contents[answer]))])
        counts += found
    share = f"{counts['harmed'] / counts['pairs']:.1%}"
    print(f"{counts['pairs']:,} pairs of {len(by_rule)} rules and {len(contents)} answers")
    print(f"{counts['harmed']:,} lose more than half ({share}), {counts['unmarked']:,} of them without a marker")
    print(f"{counts['emptied']:,} have no values left")
    for name, found in sorted(by_rule.items(), key=lambda item: -item[1]["harmed"])[:WORST]:
        numbers = f"{found['unmarked']} without a marker, {found['emptied']} emptied"
        print(f"  {name}: {found['harmed']} lose more than half, {numbers}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
