"""Explain what rules do, how and why they reduce one return of a history, or what
a diagnostic code means.

examples:
  python -m reducer explain rules/
      what each rule does
  python -m reducer explain session.json --call call_7#2
      which rule applies to a return and why, and what it removed
  python -m reducer explain sample.json --tool search
      the same for a sample
  python -m reducer explain E010
      a problem in a rule file: its cause and an example
  python -m reducer explain V030
      a finding of `validate`

Without --rules, the rules in ./rules are used, otherwise the built-in rules.
Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from reducer.analysis.explanation import Explanation
from reducer.analysis.look import LookOptions, look
from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import each_found
from reducer.cli.screen import CommandError, console, counted, print_lines, suggestion, visible
from reducer.cli.sources import choose_rules, load
from reducer.cli.views.diff import print_returns
from reducer.histories.validate import CODES
from reducer.inputs.chunks import Chunk
from reducer.inputs.recorded import ALL, Selection
from reducer.inputs.sources import ENDINGS, Source
from reducer.rules import Rule, Ruleset, descriptions
from reducer.rules.choose import Match, is_glob, matches
from reducer.rules.diagnostics import catalogue

if TYPE_CHECKING:
    from rich.console import Console

_CODE = re.compile(r"[A-Za-z]\d{1,4}")


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("explain", __doc__, ("--rules", "--tool", "--call"))
    targets = "rule files or folders, stored histories or samples, or a code such as E010"
    reader.add_argument("what", nargs="+", metavar="RULES|HISTORY|CODE", help=targets)
    options = parse(reader, arguments)
    what: list[str] = options.what
    selection = Selection(options.tool, options.call)
    if selection != ALL:
        _explain_returns(what, selection, load(choose_rules(options.rules)))
    elif options.rules:
        raise CommandError("--rules needs a HISTORY and --call or --tool; to explain rules, use `explain RULES`")
    elif len(what) == 1 and _CODE.fullmatch(what[0]) and not Path(what[0]).exists():
        _explain_code(what[0])
    else:
        _explain_rules(what)
    return 0


def _explain_code(given: str) -> None:
    """Print the meaning of a code. Raises `CommandError`, which names the nearest code."""
    entries, code = catalogue(), given.upper()
    if (entry := entries.get(code)) is not None:
        print_lines([f"{code} {entry.name}: {entry.cause}"], console())
        for title, example in (("wrong", entry.wrong), ("right", entry.right)):
            if example:
                lines = visible(example.removeprefix("#!\n").rstrip("\n"), "\n\t")
                print(f"\n{title}:\n{indent(lines, '  ')}")
    elif (finding := CODES.get(code)) is not None:
        refused = f" Refused by {finding.refused_by}." if finding.refused_by else ""
        print(f"{code} {finding.severity}: {finding.meaning}{refused}")
    else:
        raise CommandError(f"{given}: unknown code; {suggestion(code, [*entries, *CODES])}")


def _explain_rules(given: Sequence[str]) -> None:
    for name in given:
        if name.lower().endswith(ENDINGS):
            raise CommandError(f"{name}: to explain a return, add --call ID, or --tool NAME for a sample")
    screen = console()
    for number, rule in enumerate(load(choose_rules(given)).rules):
        tools = ", ".join(f"`{name}`" for name in rule.tools)
        print_lines([*[""] * bool(number), f"{rule.file}, for {tools}"], screen)
        print_lines([rule.description] if rule.description else [], screen, 2)
        _print_descriptions(rule, screen)


def _explain_returns(names: Sequence[str], selection: Selection, ruleset: Ruleset) -> None:
    options = LookOptions(selection.matches, detailed=True)

    def explanations(source: Source, line: Chunk) -> Sequence[Explanation]:
        return look(ruleset, line.place(source.name), line.content, options).returns

    screen = console()
    for entry in each_found(names, selection, explanations):
        _explain_return(entry, ruleset, screen)


def _explain_return(entry: Explanation, ruleset: Ruleset, screen: Console) -> None:
    head = f"{entry.name}, a return of `{entry.tool}`, {counted(entry.before, 'character')}"
    print_lines([head, "", "Which rule"], screen)
    print_lines(_choice(entry, ruleset), screen, 2)
    if entry.rule is not None:
        print_lines(["", "What the rule does"], screen)
        _print_descriptions(entry.rule, screen)
    print_lines(["", "What happened"], screen)
    print_returns("", [entry], False, screen)


def _print_descriptions(rule: Rule, screen: Console) -> None:
    for one in descriptions(rule):
        line = f"line {one.line}: " if one.line else ""
        print_lines([f"- {line}{one.text}"], screen, 2)


def _choice(entry: Explanation, ruleset: Ruleset) -> Iterator[str]:
    """Yield which rule applies to a return, and why the others do not."""
    candidates = matches(ruleset.rules, entry.tool)
    if entry.rule is None and entry.status == "untouched":
        yield f"none: {entry.why}"
    elif not candidates:
        yield f"no rule matches; {suggestion(entry.tool, [name for rule in ruleset.rules for name in rule.tools])}"
    else:
        yield from _reasons(entry, candidates)


def _reasons(entry: Explanation, candidates: Sequence[Match]) -> Iterator[str]:
    """Yield why each candidate for the tool of a return applies or does not."""
    without_shape = [*entry.tried]
    if entry.rule is not None and entry.status == "gated" and entry.rule.has_where:
        without_shape.append(entry.rule)
    for each in candidates:
        if any(each.rule is rule for rule in without_shape):
            where = each.rule.when.where.text if each.rule.when and each.rule.when.where else ""
            yield f"not {each.rule.file}: its `where` does not hold: `{where}`"
        elif each.rule is entry.rule:
            yield f"{each.rule.file}: {_how(each)}{', and its `where` holds' if each.rule.has_where else ''}"
        else:
            yield f"not {each.rule.file}: `{each.name}` matches too, but has lower precedence"
    if len(candidates) > 1:
        order = "An exact name comes first, then the glob with the most literal characters"
        yield f"{order}, then a name behind a prefix, then `*`."


def _how(match: Match) -> str:
    """Return how a name matches a tool."""
    if match.is_prefixed:
        return f"`{match.name}` follows the prefix of a server"
    return f"`{match.name}` {'matches it' if is_glob(match.name) else 'is the name of the tool'}"
