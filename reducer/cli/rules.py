"""List the built-in rules, find those for recorded tools, or copy some of them
with their samples, to read and change.

examples:
  python -m reducer rules
      each rule by pack, with its purpose and its tools
  python -m reducer rules add virustotal_file
      copy a rule to ./rules and its samples to ./rules/samples
  python -m reducer rules --used session.json
      which tools of a history have a rule, by name or by shape

`builtin` and `builtin:PACK` name these rules without a copy, for example
`--rules builtin:web --rules mine/`.
Exit codes: 0 done, 2 cannot run, or a file exists already.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from glob import escape
from itertools import groupby
from pathlib import Path

from reducer.analysis.coverage import Covered, covered
from reducer.analysis.samples import file_of, sample_files
from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import returns_by_tool
from reducer.cli.screen import CommandError, console, counted, make_table, print_lines, say, suggestion, visible
from reducer.cli.sources import choose_rules, load, write_new
from reducer.files import MAX_RULE_BYTES, has_samples, read_file
from reducer.rules import Rule, Ruleset

_TOOLS = re.compile(r"^tool:.*\n(?:[ -].*\n)*", re.MULTILINE)
"""The tools of a rule, in one line or in a list."""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("rules", __doc__)
    add = reader.add_argument
    add("what", nargs="*", metavar="add NAME", help="copy the named rules (default: list all rules)")
    used = "show which rules reduce the tools of these histories and samples, and what they save"
    add("--used", nargs="+", metavar="HISTORY", help=used)
    add("-o", "--output", default="rules", metavar="DIR", help="copy to this folder (default: rules)")
    add("--tool", help="copy the rules for this tool, instead of the tools that they name")
    options = parse(reader, arguments)
    what: list[str] = options.what
    if options.used:
        if what:
            raise CommandError(f"{' '.join(what)}: --used copies no rules; use one of them")
        _print_used(options.used)
        return 0
    ruleset = load(choose_rules(["builtin:general", "builtin"]))
    if not what:
        _print(ruleset.rules)
    elif what[0] == "add" and len(what) > 1:
        _add(what[1:], Path(options.output), ruleset, options.tool)
    else:
        raise CommandError(f"{' '.join(what)}: expected `rules`, or `rules add NAME` with a rule that `rules` lists")
    return 0


def _print(rules: Sequence[Rule]) -> None:
    screen = console()
    for pack, of_pack in groupby(rules, lambda rule: Path(rule.file).parent.name):
        screen.print(pack, style="bold")
        for rule in of_pack:
            print_lines([f"{Path(rule.file).stem}: {rule.description}"], screen, 2)
            print_lines([f"tools: {', '.join(rule.tools)}"], screen, 4, style="dim")
    print(f"\n{counted(len(rules), 'rule')}; `rules add NAME` copies one")


def _print_used(files: Sequence[str]) -> None:
    """Print the rules for each recorded tool, the tools with most characters first."""
    contents, _ = returns_by_tool(files)
    ruleset = load(choose_rules(["builtin"]))
    tools = [covered(ruleset, tool, returns) for tool, returns in contents.items()]
    tools.sort(key=lambda tool: -tool.before)
    rows = []
    for tool in tools:
        names = ", ".join(Path(rule.file).stem for rule in tool.rules)
        rows.append([tool.tool, _match(tool), names, f"{tool.returns:,}", f"{tool.before:,}", _saved(tool)])
    console().print(make_table(("Tool", "Match", "Rules", "Returns", "Characters", "Saved"), rows, texts=(0, 1, 2)))
    if any(tool.by_shape for tool in tools):
        print("by shape: `rules add NAME` copies the rule; `--tool TOOL` writes the name of your tool into it")
    if any(not tool.rules for tool in tools):
        print("no rule: `init` drafts one, and `--rules builtin --rules builtin:general` bounds all other returns")


def _match(tool: Covered) -> str:
    if not tool.rules:
        return "no rule"
    return "by shape" if tool.by_shape else "by name"


def _saved(tool: Covered) -> str:
    return f"{tool.saved:.1%}" if tool.rules else "-"


def _add(names: Sequence[str], folder: Path, ruleset: Ruleset, tool: str | None) -> None:
    """Copy rules with their samples, for `tool` if it is given.

    Raises `CommandError` and copies nothing if a file exists or a name is unknown.
    """
    known = {Path(rule.file).stem: rule for rule in ruleset.rules}
    files = {}
    for name in names:
        if name not in known:
            raise CommandError(f"add {name}: no such rule; {suggestion(name, known)}")
        rule = known[name]
        file = Path(rule.file)
        text = read_file(file, MAX_RULE_BYTES).decode()
        if tool is not None:
            text = _TOOLS.sub(lambda _: f"tool: {json.dumps(escape(tool), ensure_ascii=False)}\n", text, count=1)
        if has_samples(file):
            for sample in _samples(rule, ruleset):
                files[folder / sample.relative_to(file.parent)] = sample.read_bytes()
        else:
            text = text.partition("\ntests:")[0] + "\n"
            say(f"{file.name}: left out the tests, because the installed package has no samples")
        # In a pack, the schema of the editor is one folder above.
        files[folder / file.name] = text.replace("=../.schema.json", "=.schema.json", 1).encode()
    write_new(folder, files)
    for written in files:
        print(f"wrote {visible(str(written))}")


def _samples(rule: Rule, ruleset: Ruleset) -> Iterator[Path]:
    """Yield the files that the tests of a rule name, and its other samples."""
    for test in rule.tests:
        for name in (test.given.file, test.expect.snapshot):
            if name:
                yield file_of(rule, name)
    yield from sample_files(rule, ruleset)
