"""Try a rule on answers of its tool: show the reduced answer, what each step removed, and the entities that are lost.

examples:
  python -m reducer try rules/search.yaml          the samples that the tests name, and rules/samples/search*.json
  python -m reducer try rules/search.yaml answer.json --watch
                                                   one answer, JSON or text, again after every change of the rule
  curl … | python -m reducer try rules/search.yaml - --format result
                                                   only the reduced answer, complete
  python -m reducer try rules/search.yaml session.json
                                                   the answers of the tool in a history

Formats: diff has no excerpt of the answer but every place, json has everything for other programs.
Exit codes: 0 done, 1 the rule cannot be applied to an answer, 2 cannot run.
"""  # noqa: N999

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from reducer.analysis.explanation import Explanation, explain
from reducer.analysis.laws import alone
from reducer.analysis.samples import SampleError, samples_of
from reducer.analysis.texts import excerpt, listed, opened
from reducer.cli.answers import each_answer
from reducer.cli.arguments import parse, parser
from reducer.cli.rules import choose_rules, files_read, load
from reducer.cli.screen import CommandError, console, counted, print_json, suggestion, visible
from reducer.cli.views.diff import print_effects, print_head
from reducer.cli.views.json_report import content_as_json
from reducer.cli.watch import watch
from reducer.rules import Rule, Ruleset
from reducer.rules.choose import matches
from reducer.values import dump

if TYPE_CHECKING:
    from rich.console import Console

Results = Sequence[tuple[str, Explanation]]
"""What the rule did to each answer, with the name of the answer."""
_MAX_PLACES = 5
_DETAIL = ((1, 2), (2, 1), (2, 2), (3, 2), (4, 3), (5, 5), (8, 10), (12, 30), (20, 100))
"""Levels and items of each list, of which the last that fits is shown."""
_MAX_KEYS = 50
_MAX_WIDTH = 120
_MIN_WIDTH = 20
_MIN_EXCERPT = 12
_PAGE = 50
"""Lines of an output that is not a terminal."""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("try", __doc__, ("--watch",), formats=("text", "diff", "json", "result"))
    add = reader.add_argument
    add("rule", metavar="RULE", help="a rule file, or a folder of rules with --tool")
    add("samples", nargs="*", metavar="SAMPLE", help="answers (JSON or text), histories, or - for standard input")
    add("--tool", metavar="NAME", help="the tool that returned the answers")
    options = parse(reader, arguments)
    if options.watch:
        if options.format not in ("text", "diff") or "-" in options.samples:
            raise CommandError("--watch prints text or a diff of files; leave out other formats and standard input")
        watch(lambda: _facts(_try(options)), lambda: [*files_read([options.rule]), *map(Path, options.samples)])
    return int(any(entry.fault for _, entry in _try(options)))


def _facts(results: Results) -> dict[str, str]:
    return {
        name: f"{entry.after:,} of {entry.before:,} characters kept, "
        f"{counted(len(entry.lost_entities), 'entity', 'entities')} lost"
        for name, entry in results
    }


def _try(options: Namespace) -> Results:
    """Apply the rule to each answer, print and return what it did. Raises `CommandError`."""
    ruleset = load(choose_rules([options.rule]), "tried")
    rule = _chosen(ruleset, options)
    answers = _answers(rule, options) if options.samples else _samples(rule, ruleset)
    only = alone(rule, ruleset)
    results = [(name, explain(only, tool, content)) for name, tool, content in answers]
    if not results:
        raise CommandError(
            f"{rule.file}: its tests name no samples, and there is no samples/{rule.name}*.json; add a SAMPLE"
        )
    if options.format == "json":
        print_json({"version": 1, "answers": [{"name": name, **content_as_json(entry)} for name, entry in results]})
    elif options.format == "result":
        for _, entry in results:
            is_text = type(entry.content) is str
            text = entry.content if is_text else json.dumps(entry.content, ensure_ascii=False, indent=1)
            print(visible(text, "\n\t") if sys.stdout.isatty() else text)
    else:
        _print(results, is_short=options.format == "text")
    return results


def _print(results: Results, is_short: bool) -> None:
    screen = console()
    height = screen.height if screen.is_terminal else _PAGE
    for name, entry in results:
        print_head(entry, screen, name)
        if is_short:
            _print_excerpt(entry.content, screen, max(_MIN_EXCERPT, height - _PAGE // 2))
        print_effects(entry, screen, _MAX_PLACES if is_short else sys.maxsize)
        screen.print()


def _chosen(ruleset: Ruleset, options: Namespace) -> Rule:
    """Return the rule to try. Raises `CommandError`."""
    names = [name for rule in ruleset.rules for name in rule.tools]
    if options.tool is not None:
        if rule := ruleset.rule_for(options.tool):
            return rule
        raise CommandError(
            f"--tool {options.tool}: no rule in {options.rule} applies; {suggestion(options.tool, names)}"
        )
    if len(ruleset.rules) != 1:
        rules = counted(len(ruleset.rules), "rule")
        raise CommandError(f"{options.rule}: {rules}; name one file, or add --tool; {suggestion('', names)}")
    return ruleset.rules[0]


def _answers(rule: Rule, options: Namespace) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, the tool and the content of each answer of the rule's tools. Raises `CommandError`."""
    answers = list(each_answer(options.samples, options.tool))
    of_rule = [answer for answer in answers if not answer.call or matches([rule], answer.tool)]
    if not of_rule:
        tools = listed(f"`{answer.tool}`" for answer in answers)
        raise CommandError(f"no answers of `{rule.name}`; the history contains answers of {tools}")
    for answer in of_rule:
        yield f"{answer.file} {answer.call}".rstrip(), answer.tool or rule.name, answer.content


def _samples(rule: Rule, ruleset: Ruleset) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, the tool and the content of each sample of the rule. Raises `CommandError`."""
    try:
        for name, _, read in samples_of(rule, ruleset):
            yield name.removeprefix("the "), rule.name, read()
    except SampleError as error:
        raise CommandError(str(error)) from None


# --- the excerpt of an answer


def _print_excerpt(content: Any, screen: Console, max_lines: int) -> None:
    """Print a content as JSON or as text, with as many levels and items as fit into `max_lines`."""
    value, width = opened(content), max(_MIN_WIDTH, min(screen.width - 2, _MAX_WIDTH))
    if type(value) is str:
        lines = [part for line in value[: width * max_lines].splitlines() for part in wrap(line, width) or [""]]
        lines = lines if len(lines) <= max_lines else value.splitlines()
    else:
        lines = _outline(value, *_DETAIL[0], width)
        for detail in _DETAIL[1:]:
            more = _outline(value, *detail, width)
            if len(more) > max_lines and len(lines) > max_lines // 2:
                break
            lines = more
    for line in lines[:max_lines]:
        shown = visible(line)
        screen.print(f"  {shown if len(shown) <= width else f'{shown[: width - 1]}…'}", soft_wrap=True)
    if len(lines) > max_lines:
        screen.print(f"  … {counted(len(lines) - max_lines, 'more line')}", style="dim")


class _Json(str):
    """JSON text, which `rich` prints as it is."""

    def __repr__(self) -> str:
        return str(self)


def _outline(value: Any, levels: int, items: int, width: int) -> list[str]:
    """Return the lines of JSON with the first `items` of each list. Deeper levels are cut to one line."""
    from rich.pretty import pretty_repr

    def shortened(value: Any, levels: int) -> Any:
        if not levels or not value or type(value) not in (list, dict):
            return _Json(excerpt(dump(value), width))
        if type(value) is list:
            shown = [shortened(item, levels - 1) for item in value[:items]]
            return shown + [_Json(f"… {len(value) - items:,} more")] * (len(value) > items)
        pairs = islice(value.items(), _MAX_KEYS)
        more = {_Json("…"): _Json(f"{len(value) - _MAX_KEYS:,} more keys")} if len(value) > _MAX_KEYS else {}
        return {_Json(excerpt(dump(key), width)): shortened(inner, levels - 1) for key, inner in pairs} | more

    return pretty_repr(shortened(value, levels), max_width=width, indent_size=2).split("\n")
