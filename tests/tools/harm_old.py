"""Count the answers that a built-in rule for another tool harms: `python -m tests.tools.harm [--all]`.

Each rule gets each answer under the name of its own tool, except its own samples. A pair of a rule and an answer is
harmed if the result has less than half of the characters, and emptied if the result has no values. The answers are
fixed: the samples of the rules at one commit, and the tool outputs of the real data. Without `--all`, only answers of
at most 30,000 characters count, which takes about a minute on one core.
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
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml

from reducer import Reducer
from reducer.values import chars, dump

CHECKOUT = Path(__file__).parents[2]
RULES = CHECKOUT / "rules"
OUTPUTS = CHECKOUT.parent / "shared" / "data" / "tool_outputs"
COMMIT = "c853594082c0"
"""The samples are those of this commit, so that the measure does not change with the rules."""
FINGERPRINT = "387e239bb0389e6e85e630e872fc470922e3cdd05b5929e82987df178e6737c6"
"""The SHA-256 of the names and bytes of all answers."""
MAX_CHARS = 30_000
WORST = 15


class Pair(NamedTuple):
    """What a rule did to an answer. `is_marked`: the result contains more markers than the answer."""

    is_harmed: bool
    is_marked: bool
    is_emptied: bool


def files() -> dict[str, bytes]:
    """Return the answers by name: `PACK/NAME` for a sample, and the name of the file for a tool output."""
    found = {name: data for name, data in at_commit().items() if PurePosixPath(name).parent.name == "samples"}
    for file in sorted(OUTPUTS.glob("*.json")):
        if file.stem != "manifest":
            found[file.name] = file.read_bytes()
    return found


@cache
def at_commit() -> dict[str, bytes]:
    """Return the rule files and samples at the commit by their names in `rules`."""
    archive = subprocess.run(["git", "archive", COMMIT, "rules"], cwd=CHECKOUT, capture_output=True, check=True).stdout
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            reader = tar.extractfile(member)
            if reader is not None and not member.name.endswith(".md"):
                found[member.name.removeprefix("rules/")] = reader.read()
    return found


def fingerprint(answers: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in sorted(answers.items()):
        digest.update(f"{name} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def own_samples() -> dict[str, set[str]]:
    """Return the samples that the tests of each rule named at the commit, by the name of the rule file."""
    own = {}
    for name, data in at_commit().items():
        path = PurePosixPath(name)
        if path.suffix == ".yaml" and path.parent.name != "samples":
            given = [test["given"] for test in yaml.safe_load(data).get("tests", ())]
            own[path.stem] = {str(path.parent / each["file"]) for each in given if "file" in each}
    return own


@cache
def loaded(max_chars: float) -> tuple[Reducer, dict[str, Any]]:
    """Load the built-in rules, and the answers of at most `max_chars` characters."""
    answers = {}
    for name, data in files().items():
        answer = data.decode() if name.endswith(".txt") else json.loads(data)
        if chars(answer) <= max_chars:
            answers[name] = answer
    return Reducer.load(RULES), answers


def pairs(number: int, own: set[str], max_chars: float) -> list[Pair]:
    """Return what a rule does to every answer that is not its own sample."""
    reducer, answers = loaded(max_chars)
    tools = reducer.ruleset.rules[number].tools
    tool = next((tool for tool in tools if not set(tool) & set("*?[")), tools[0].replace("*", "x"))
    return [pair(answer, reducer.reduce_content(tool, answer)) for name, answer in answers.items() if name not in own]


def pair(answer: Any, result: Any) -> Pair:
    if result is answer:
        return Pair(is_harmed=False, is_marked=False, is_emptied=False)
    is_marked = dump(result).count("…[") > dump(answer).count("…[")
    is_emptied = any(values(answer)) and not any(values(result))
    return Pair(chars(result) * 2 < chars(answer), is_marked, is_emptied)


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
    if fingerprint(files()) != FINGERPRINT:
        print(f"the answers are not those of the measure: {fingerprint(files())}", file=sys.stderr)
        return 1
    own, rules = own_samples(), loaded(max_chars)[0].ruleset.rules
    names = [Path(rule.file).stem for rule in rules]
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(pairs, number, own.get(name, set()), max_chars) for number, name in enumerate(names)]
        by_rule = {name: job.result() for name, job in zip(names, jobs, strict=True)}
    harmed, unmarked, emptied = Counter[str](), Counter[str](), Counter[str]()
    for name, found in by_rule.items():
        harmed[name] = sum(each.is_harmed for each in found)
        unmarked[name] = sum(each.is_harmed and not each.is_marked for each in found)
        emptied[name] = sum(each.is_emptied for each in found)
    total = sum(map(len, by_rule.values()))
    share = f"{harmed.total() / total:.1%}"
    print(f"{total:,} pairs of {len(by_rule)} rules and {len(loaded(max_chars)[1])} answers")
    print(f"{harmed.total():,} lose more than half ({share}), {unmarked.total():,} of them without a marker")
    print(f"{emptied.total():,} have no values left")
    for name, count in harmed.most_common(WORST):
        print(f"  {name}: {count} lose more than half, {unmarked[name]} without a marker, {emptied[name]} emptied")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
