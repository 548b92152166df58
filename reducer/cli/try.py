"""Try a rule on samples of its tool: show the reduced sample, what each step removed, and the entities that are lost.

examples:
  python -m reducer try search.yaml                     the samples that the tests name, and samples/search*.json
  python -m reducer try search.yaml sample.json --watch one sample (JSON or text), again after every change of the rule
  curl … | python -m reducer try search.yaml - --format result   only the complete result
  python -m reducer try search.yaml session.json        the returns of the tool in a history

Formats: diff lists every changed place instead of an excerpt of the sample, and json has everything for other programs.
For a page that shows a sample before and after, use `run SAMPLE --tool NAME --format html`.
Exit codes: 0 done, 1 the rule cannot be applied to a sample, 2 cannot run.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reducer.analysis.explanation import Explanation, explain
from reducer.analysis.json_report import content_as_json
from reducer.analysis.laws import only
from reducer.analysis.samples import SampleError, samples_of
from reducer.analysis.texts import json_text, listed, opened
from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import each_recorded
from reducer.cli.screen import CommandError, console, counted, print_json, print_lines, suggestion, visible
from reducer.cli.sources import choose_rules, files_read, load
from reducer.cli.views.diff import print_effects, print_head
from reducer.cli.watch import watch
from reducer.errors import shortened
from reducer.inputs.recorded import Recorded, Selection
from reducer.rules import Rule, Ruleset
from reducer.rules.choose import matches

_Results = Sequence[tuple[str, Explanation]]
"""What the rule did to each sample or return, with its name."""
_MAX_PLACES = 5
_MAX_LINES = 25
_MAX_WIDTH = 118
_MAX_TEXT = 2000
"""Characters of a line to print."""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("try", __doc__, ("--watch",), formats=("text", "diff", "json", "result"))
    add = reader.add_argument
    add("rule", metavar="RULE", help="a rule file, or a folder of rules with --tool")
    samples = "samples (JSON or text), histories, or - for standard input"
    add("samples", nargs="*", default=[], metavar="SAMPLE", help=samples)
    add("--tool", metavar="NAME", help="the tool that returned the samples")
    options = parse(reader, arguments)
    if options.watch:
        if options.format not in ("text", "diff") or "-" in options.samples:
            raise CommandError("--watch works with text and diffs of files; omit other formats and standard input")
        watch(lambda: _try(options), lambda: [*files_read([options.rule]), *map(Path, options.samples)])
    return int(any(entry.fault for _, entry in _try(options)))


def _try(options: Namespace) -> _Results:
    """Apply the rule to each sample or return, print and return what it did. Raises `CommandError`."""
    ruleset = load(choose_rules([options.rule]), "tried")
    rules = _chosen(ruleset, options)
    rule, tried = rules[0], only(rules, ruleset)
    entries = _selected(rules, options) if options.samples else _samples(rules, ruleset)
    results = []
    for one in entries:
        entry = explain(tried, one.tool or rule.name, one.content)
        results.append((f"{one.file} {one.call}".rstrip(), entry))
    if not results:
        missing = f"its tests name no samples, and there is no samples/{rule.name}*.json"
        raise CommandError(f"{rule.file}: {missing}; add a SAMPLE")
    if options.format == "json":
        print_json({"version": 1, "answers": [{"name": name, **content_as_json(entry)} for name, entry in results]})
    elif options.format == "result":
        for _, entry in results:
            text = _text(entry.content)
            print(visible(text, "\n\t") if sys.stdout.isatty() else text)
    else:
        _print(results, is_short=options.format == "text")
    return results


def _print(results: _Results, is_short: bool) -> None:
    screen = console()
    for name, entry in results:
        print_head(entry, screen, name)
        if is_short:
            print_lines(_excerpt(entry.content, min(screen.width - 2, _MAX_WIDTH)), screen, 2)
        print_effects(entry, screen, _MAX_PLACES if is_short else sys.maxsize)
        screen.print()


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
    """Yield the samples of the rules. Raises `CommandError`."""
    try:
        for rule in rules:
            for sample in samples_of(rule, ruleset):
                yield Recorded(sample.title.removeprefix("the "), rule.name, "", sample.read())
    except SampleError as error:
        raise CommandError(str(error)) from None
