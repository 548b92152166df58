"""Try a rule on samples of its tool: show the reduced sample, what each step
removed, and the entities that are lost.

examples:
  python -m reducer try search.yaml
      the samples that the tests name, and samples/search*.json
  python -m reducer try search.yaml sample.json
      one sample, JSON or text
  curl … | python -m reducer try search.yaml - --format result
      only the complete result
  python -m reducer try search.yaml session.json
      the returns of the tool in a history

`run SAMPLE --tool NAME --rules RULE` shows more: with `--format diff` every
changed place, with `--format html` the sample before and after, and with
`--format json` everything for other programs.
Exit codes: 0 done, 1 the rule cannot be applied to a sample, 2 cannot run.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence

from reducer.analysis.explanation import explain
from reducer.analysis.laws import only
from reducer.analysis.samples import samples_of
from reducer.analysis.texts import json_text, listed, opened
from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import each_recorded
from reducer.cli.screen import CommandError, console, counted, print_lines, suggestion, visible
from reducer.cli.sources import choose_rules, load
from reducer.cli.views.diff import print_effects, print_head
from reducer.errors import shortened
from reducer.inputs.recorded import Recorded, Selection
from reducer.rules import Rule, Ruleset
from reducer.rules.choose import matches

_MAX_LINES = 25
_MAX_WIDTH = 118
_MAX_TEXT = 2000
"""Characters of a line to print."""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError` and `FileError`."""
    reader = parser("try", __doc__, ("--tool",), formats=("text", "result"))
    add = reader.add_argument
    add("rule", metavar="RULE", help="a rule file, or a folder of rules with --tool")
    samples = "samples (JSON or text), histories, or - for standard input"
    add("samples", nargs="*", default=[], metavar="SAMPLE", help=samples)
    options = parse(reader, arguments)
    ruleset = load(choose_rules([options.rule]))
    rules = _chosen(ruleset, options)
    rule, tried = rules[0], only(rules, ruleset)
    entries = list(_selected(rules, options) if options.samples else _samples(rules, ruleset))
    if not entries:
        missing = f"its tests name no samples, and there is no samples/{rule.name}*.json"
        raise CommandError(f"{rule.file}: {missing}; add a SAMPLE")
    screen = console()
    has_fault = False
    for one in entries:
        entry = explain(tried, one.tool or rule.name, one.content)
        has_fault |= bool(entry.fault)
        if options.format == "result":
            text = _text(entry.content)
            print(visible(text, "\n\t") if sys.stdout.isatty() else text)
        else:
            print_head(entry, screen, f"{one.file} {one.call}".rstrip())
            print_lines(_excerpt(entry.content, min(screen.width - 2, _MAX_WIDTH)), screen, 2)
            print_effects(entry, screen)
            screen.print()
    return int(has_fault)


def _text(content: object) -> str:
    return content if type(content) is str else json_text(content, indent=1)


def _excerpt(content: object, width: int) -> list[str]:
    """Return the first lines of a text, or of the JSON of another content, whose lines are cut to `width`."""
    value = opened(content)
    lines = _text(value).splitlines()
    room = _MAX_TEXT if type(value) is str else width  # the long lines of a text are wrapped
    shown = [shortened(line, room) for line in lines[:_MAX_LINES]]
    return shown if shown == lines else [*shown, "… `--format result` shows everything"]


def _chosen(ruleset: Ruleset, options: Namespace) -> tuple[Rule, ...]:
    """Return the rule to try, or the candidates for a tool in order. Raises `CommandError`."""
    names = [name for rule in ruleset.rules for name in rule.tools]
    if options.tool is not None:
        if rules := ruleset.rules_for(options.tool):
            return rules
        near = suggestion(options.tool, names)
        raise CommandError(f"--tool {options.tool}: no rule in {options.rule} applies; {near}")
    if len(ruleset.rules) != 1:
        count = counted(len(ruleset.rules), "rule")
        raise CommandError(f"{options.rule}: {count}; specify one file, or add --tool; {suggestion('', names)}")
    return ruleset.rules


def _selected(rules: Sequence[Rule], options: Namespace) -> Iterable[Recorded]:
    """Return the samples, and the returns of the tools of the rules. Raises `CommandError`."""
    entries = list(each_recorded(options.samples, Selection(options.tool)))
    if of_rule := [one for one in entries if not one.call or matches(rules, one.tool)]:
        return of_rule
    tools = listed(f"`{one.tool}`" for one in entries)
    raise CommandError(f"no returns of `{rules[0].name}`; the history contains returns of {tools}")


def _samples(rules: Sequence[Rule], ruleset: Ruleset) -> Iterator[Recorded]:
    """Yield the samples of the rules. Raises `FileError`."""
    for rule in rules:
        for sample in samples_of(rule, ruleset):
            yield Recorded(sample.title.removeprefix("the "), rule.name, "", sample.read())
