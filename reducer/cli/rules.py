"""List the rules that come with reducer, or copy some of them with their samples, to read and change.

examples:
  python -m reducer rules                        every rule by pack, with its purpose and its tools
  python -m reducer rules virustotal             those with this text in their name, pack, purpose or tools
  python -m reducer rules add virustotal_file    copy a rule to ./rules and its samples to ./rules/samples

`builtin` and `builtin:PACK` load these rules without a copy, for example `--rules builtin:web --rules mine/`.

Exit codes: 0 done, 1 no rule found, 2 cannot run, or a file exists already.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

from reducer.analysis.samples import sample_files
from reducer.cli.arguments import parse, parser
from reducer.cli.screen import CommandError, console, counted, print_json, print_lines, say, suggestion, visible
from reducer.cli.sources import Chosen, load, write_new
from reducer.files import MAX_RULE_BYTES, builtin_rules, has_samples, packs_in, read_file
from reducer.rules import Rule, Ruleset


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("rules", __doc__, formats=("text", "json"))
    add = reader.add_argument
    add("what", nargs="*", metavar="TEXT|add NAME", help="list rules with this text, or copy the named rules")
    add("-o", "--output", default="rules", metavar="DIR", help="copy to this folder (default: rules)")
    options = parse(reader, arguments)
    ruleset = load(Chosen(tuple(packs_in(builtin_rules())), "the rules of reducer"), "listed")
    if options.what[:1] == ["add"]:
        return _add(options.what[1:], Path(options.output), ruleset)
    wanted = " ".join(options.what)
    found = [rule for rule in ruleset.rules if _is_wanted(rule, wanted)]
    if options.format == "json":
        print_json({"rules": list(map(_as_json, found))})
    else:
        _print(found)
    if not found:
        say(f"no rule contains `{wanted}`; {suggestion(wanted, _by_name(ruleset))}")
    return 0 if found else 1


def _by_name(ruleset: Ruleset) -> dict[str, Rule]:
    return {Path(rule.file).stem: rule for rule in ruleset.rules}


def _pack(rule: Rule) -> str:
    return Path(rule.file).parent.name


def _is_wanted(rule: Rule, wanted: str) -> bool:
    """Return whether a text occurs in what the list shows of a rule, or is a tool of the rule."""
    shown = " ".join([_pack(rule), Path(rule.file).stem, rule.description, *rule.tools])
    named = (name for name in rule.tools if name != "*")
    return wanted.casefold() in shown.casefold() or any(fnmatchcase(wanted, name) for name in named)


def _as_json(rule: Rule) -> dict[str, Any]:
    fields = {"name": Path(rule.file).stem, "pack": _pack(rule), "tools": list(rule.tools)}
    return {**fields, "description": rule.description, "file": rule.file}


def _print(rules: Sequence[Rule]) -> None:
    screen = console()
    for pack, of_pack in groupby(rules, _pack):
        screen.print(pack, style="bold")
        for rule in of_pack:
            print_lines([f"{Path(rule.file).stem}: {rule.description}"], screen, 2)
            print_lines([f"tools: {', '.join(rule.tools)}"], screen, 4, style="dim")
    if rules:
        print(f"\n{counted(len(rules), 'rule')}; `rules add NAME` copies one")


def _add(names: Sequence[str], folder: Path, ruleset: Ruleset) -> int:
    """Copy rules with their samples. Raises `CommandError` and copies nothing if a file exists or a name is unknown."""
    if not names:
        raise CommandError("add: specify the rules to copy; `rules` lists them")
    known = _by_name(ruleset)
    for name in names:
        if name not in known:
            raise CommandError(f"add {name}: no such rule; {suggestion(name, known)}")
    rules, samples = {}, {}
    for rule in (known[name] for name in names):
        text = read_file(Path(rule.file), MAX_RULE_BYTES).decode()
        if has_samples(rule.file):
            samples.update({folder / name: file.read_bytes() for name, file in _samples(rule, ruleset).items()})
        else:
            text = text.partition("\ntests:")[0] + "\n"
            say(f"{Path(rule.file).name}: left out the tests, because the installed package has no samples")
        # In a pack, the schema of the editor is one folder above.
        rules[folder / Path(rule.file).name] = text.replace("=../.schema.json", "=.schema.json", 1).encode()
    write_new(folder, rules, samples)
    for file in (*rules, *samples):
        print(f"wrote {visible(str(file))}")
    return 0


def _samples(rule: Rule, ruleset: Ruleset) -> dict[str, Path]:
    """Return the samples of a rule by their names relative to its folder."""
    of_tests = (name for test in rule.tests for name in (test.given.file, test.given.history, test.expect.snapshot))
    folder = Path(rule.file).parent
    named = {name: folder / name for name in of_tests if name}
    return named | {f"samples/{file.name}": file for file in sample_files(rule, ruleset)}
