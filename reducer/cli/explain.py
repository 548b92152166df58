"""`explain`: explains rules, the reduction of one tool return, or a diagnostic code."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from reducer.analysis.report import LookOptions, ReturnReport, look
from reducer.cli.arguments import parse, parser
from reducer.cli.inputs import Selection, find_sources
from reducer.cli.messages import CommandError, counted
from reducer.cli.rules import choose_rules, load
from reducer.cli.views.diff import print_returns
from reducer.errors import HistoryError
from reducer.histories.findings import CODES
from reducer.histories.lines import ENDINGS
from reducer.rules import Rule, Ruleset, descriptions
from reducer.rules.choose import Match, matches
from reducer.rules.diagnostics import catalogue
from reducer.screen import console, visible

_ABOUT = """\
Explain what rules do, why one return of a history was reduced as it was, or what a diagnostic code means.
"""
_EXAMPLES = """\
examples:
  python -m reducer explain rules/                 what each rule does
  python -m reducer explain rules/search.yaml      one rule
  python -m reducer explain session.json --call call_7#2 --rules rules/
                                                   which rule applies to the return and why, what it does, and what
                                                   each of its steps removed
  python -m reducer explain E010                   a problem in a rule file: cause, wrong and right example
  python -m reducer explain needs-quotes           the same by name
  python -m reducer explain V030                   a finding of `validate`

Without --rules, the rules in ./rules are used, otherwise the bundled rules.
Exit codes: 0 done, 2 cannot run.
"""
_CODE_OR_NAME = re.compile(r"[A-Za-z]\d{1,4}|[A-Za-z-]+")
_CODE = re.compile(r"[A-Za-z]\d{1,4}")
_MAX_TOOLS = 3
_MAX_MATCHES = 8


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("explain", _ABOUT, _EXAMPLES)
    add = reader.add_argument
    add(
        "what",
        nargs="+",
        metavar="RULES|HISTORY|CODE",
        help="rule files or folders, one stored history, or a code such as E010 or its name",
    )
    add("--call", metavar="ID", help="the return of the history with this call id; ID#2 is the second one with it")
    add("--rules", action="append", default=[], metavar="DIR|FILE", help="the rules for the history")
    options = parse(reader, arguments)
    what: list[str] = options.what
    if options.call is not None:
        if len(what) > 1:
            raise CommandError("--call selects a return of one history; name one HISTORY")
        _explain_call(what[0], options.call, options.rules)
    elif options.rules:
        raise CommandError("--rules needs a HISTORY and --call ID; to explain rules, use `explain RULES`")
    elif len(what) == 1 and _CODE_OR_NAME.fullmatch(what[0]) and not Path(what[0]).exists():
        _explain_code(what[0])
    else:
        _explain_rules(what)
    return 0


def _explain_code(given: str) -> None:
    """Print what a code, or the name of one, means. Raises `CommandError`, with the nearest code."""
    entries = catalogue()
    by_name = {entry.name: code for code, entry in entries.items()}
    wanted = by_name.get(given.lower(), given.upper())
    if (entry := entries.get(wanted)) is not None:
        print(f"{wanted} {entry.name}: {entry.cause}")
        for title, example in (("wrong", entry.wrong), ("right", entry.right)):
            if example:
                lines = (visible(line, "\t") for line in example.removeprefix("#!\n").splitlines() or [""])
                print(f"\n{title}:\n" + "\n".join(f"  {line}".rstrip() for line in lines))
    elif (found := CODES.get(wanted)) is not None:
        print(f"{wanted} {found.severity}: {found.meaning}")
        if found.refused_by:
            print(f"Refused by {found.refused_by}.")
    else:
        codes = [*entries, *CODES]
        is_code = _CODE.fullmatch(given)
        near = get_close_matches(wanted if is_code else given.lower(), codes if is_code else [*codes, *by_name], 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else "`python -m reducer check` prints the codes of problems"
        raise CommandError(f"{visible(given)}: unknown code; {hint}")


def _explain_rules(given: Sequence[str]) -> None:
    for name in given:
        if name == "-" or name.lower().endswith(ENDINGS):
            raise CommandError(f"{name}: to explain a return of a history, add --call ID")
    for number, rule in enumerate(load(choose_rules(given), "explained").rules):
        if number:
            print()
        more = len(rule.tools) - _MAX_TOOLS
        tools = ", ".join(f"`{visible(name)}`" for name in rule.tools[:_MAX_TOOLS])
        print(f"{visible(rule.file)}, for {tools}{f' and {more:,} more' if more > 0 else ''}")
        if rule.description:
            print(f"  {visible(rule.description)}")
        _print_words(rule)


def _explain_call(history: str, call: str, rules: Sequence[str]) -> None:
    ruleset = load(choose_rules(rules), "explained")
    source, *others = find_sources([history])
    if others:
        raise CommandError(f"{history}: {len(others) + 1:,} histories; name the one that contains the return")
    selection = Selection(call=call)
    options = LookOptions(chosen=selection.matches, detailed=True)
    try:
        found = look(ruleset, source.name, source.read(), options).returns
    except HistoryError as error:
        raise CommandError(f"{source.name}: {error}") from None
    if not found:
        raise selection.nothing_found()
    for number, entry in enumerate(found):
        if number:
            print()
        print(f"{visible(entry.name)}, a return of `{visible(entry.tool)}`, {entry.before:,} characters\n\nWhich rule")
        _print_choice(entry, ruleset)
        if entry.rule is not None:
            print("\nWhat the rule does")
            _print_words(entry.rule)
        print("\nWhat it did" if entry.rule else "\nWhat happened", flush=True)
        print_returns("", [_with_gate(entry)], False, console(sys.stdout))


def _print_words(rule: Rule) -> None:
    for sentence in descriptions(rule):
        line = f"line {sentence.line}: " if sentence.line else ""
        print(f"  - {line}{visible(sentence.text)}")


def _print_choice(entry: ReturnReport, ruleset: Ruleset) -> None:
    if entry.rule is None and entry.status == "untouched":
        print(f"  none: {visible(entry.why)}")
        return
    found = matches(ruleset.rules, entry.tool)
    if not found:
        names = [name for rule in ruleset.rules for name in rule.tools]
        near = get_close_matches(entry.tool, names, 1)
        hint = f"; the most similar name is `{visible(near[0])}`" if near else ""
        rules = counted(len(ruleset.rules), "rule")
        print(f"  none: none of the {len(names):,} names and globs of {rules} matches{hint}")
        return
    first, *others = found
    how = "is the name of the tool" if first.is_exact else "matches it"
    print(f"  {visible(first.rule.file)}: `{visible(first.name)}` {how}")
    for other in others[:_MAX_MATCHES]:
        file = "also in this file:" if other.rule is first.rule else f"not {visible(other.rule.file)}:"
        print(f"  {file} `{visible(other.name)}` matches too, but {_precedence(first, other)}")
    if len(others) > _MAX_MATCHES:
        print(f"  and {len(others) - _MAX_MATCHES:,} more with lower precedence")


def _precedence(first: Match, other: Match) -> str:
    """Return why the first name has precedence over the other."""
    if first.is_exact:
        return "an exact name has precedence over globs"
    if other.name == "*":
        return "`*` comes last"
    if first.literal != other.literal:
        return f"it has {other.literal:,} literal characters and `{visible(first.name)}` has {first.literal:,}"
    return f"`{visible(first.name)}` has the longer prefix, or comes first alphabetically"


def _with_gate(entry: ReturnReport) -> ReturnReport:
    """Say which part of the rule's `when` does not hold."""
    when = entry.rule.when if entry.rule is not None else None
    if entry.status != "gated" or when is None:
        return entry
    if when.min_chars is not None and entry.before < when.min_chars:
        return replace(entry, why=f"it has {entry.before:,} characters, and `min_chars` is {when.min_chars:,}")
    return replace(entry, why=f"`{when.where.text if when.where else ''}` does not hold")
