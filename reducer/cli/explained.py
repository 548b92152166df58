"""Prints what rules do in plain words, and what happened to one return."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from reducer.cli.histories import each
from reducer.cli.rules import choose_rules, load
from reducer.cli.selection import Selection
from reducer.cli.stop import Stop
from reducer.errors import HistoryError
from reducer.lines import ENDINGS
from reducer.report import ReturnReport, look
from reducer.report.attention import plural
from reducer.rule import Rule, Ruleset, plain_words
from reducer.rule.choose import Match, matches
from reducer.screen import console, visible

_NAMED = 3
_SHOWN = 8


def explain_rules(given: Sequence[str]) -> int:
    """Print what each rule of rule files and folders does. Raises `Stop`."""
    for name in given:
        if name == "-" or name.lower().endswith(ENDINGS):
            raise Stop(f"{name}: a history is explained one return at a time: add --call ID")
    ruleset = load(choose_rules(given), "explained")
    for number, rule in enumerate(ruleset.rules):
        if number:
            print()
        print(f"{visible(rule.file)}, for {_tools(rule)}")
        if rule.description:
            print(f"  {visible(rule.description)}")
        _print_words(rule)
    return 0


def explain_call(history: str, call: str, rules: tuple[str, ...]) -> int:
    """Print which rule one return of a history has and why, what it does, and what it did. Raises `Stop`."""
    ruleset = load(choose_rules(rules), "explained")
    sources = list(each([history]))
    source = sources[0]
    if len(sources) > 1:
        raise Stop(f"{history}: {len(sources):,} histories are here: name the one that the return is in")
    selection = Selection(None, call, {}, {})
    try:
        found = look(ruleset, source.name, source.read(), selection.takes, detailed=True).returns
    except HistoryError as error:
        raise Stop(f"{source.name}: {error}") from None
    if not found:
        raise Stop(selection.why_none())
    for number, entry in enumerate(found):
        if number:
            print()
        _print_choice(entry, ruleset)
        if entry.rule is not None:
            print("\nWhat the rule does")
            _print_words(entry.rule)
        print("\nWhat it did" if entry.rule else "\nWhat happened", flush=True)
        _print_done(entry)
    return 0


def _tools(rule: Rule) -> str:
    left = len(rule.tools) - _NAMED
    return ", ".join(f"`{visible(name)}`" for name in rule.tools[:_NAMED]) + (f" and {left:,} more" if left > 0 else "")


def _print_words(rule: Rule) -> None:
    for saying in plain_words(rule):
        line = f"line {saying.line}: " if saying.line else ""
        print(f"  - {line}{visible(saying.text)}")


def _print_choice(entry: ReturnReport, ruleset: Ruleset) -> None:
    print(f"{visible(entry.name)}, a return of `{visible(entry.tool)}`, {entry.before:,} characters\n\nWhich rule")
    if entry.rule is None and entry.status == "untouched":
        print(f"  none: {visible(entry.why)}")
        return
    found = matches(ruleset.rules, entry.tool)
    if not found:
        names = [name for rule in ruleset.rules for name in rule.tools]
        near = get_close_matches(entry.tool, names, 1)
        meant = f"; the nearest is `{visible(near[0])}`" if near else ""
        print(f"  none: none of the {len(names):,} names and globs of {len(ruleset.rules):,} {plural(len(ruleset.rules), 'rule')} is for it{meant}")
        return
    first, *others = found
    print(f"  {visible(first.rule.file)}: `{visible(first.name)}` {'is the name of the tool' if first.is_exact else 'matches it'}")
    for other in others[:_SHOWN]:
        whose = "its own" if other.rule is first.rule else f"not {visible(other.rule.file)}:"
        print(f"  {whose} `{visible(other.name)}` matches too, but {_before(first, other)}")
    if len(others) > _SHOWN:
        print(f"  and {len(others) - _SHOWN:,} more that come later")


def _before(first: Match, other: Match) -> str:
    """Say why one name goes before another."""
    if first.is_exact:
        return "a name goes before any glob"
    if other.name == "*":
        return "`*` comes last"
    if first.literal != other.literal:
        return f"it has {other.literal:,} literal characters and `{visible(first.name)}` has {first.literal:,}"
    return f"`{visible(first.name)}` has the longer beginning, or comes first by its letters"


def _print_done(entry: ReturnReport) -> None:
    from reducer.report.diff import print_returns

    when = entry.rule.when if entry.rule is not None else None
    if entry.status == "gated" and when is not None:
        short = when.min_chars is not None and entry.before < when.min_chars
        why = (
            f"it has {entry.before:,} characters, and the rule begins at {when.min_chars:,}"
            if short
            else f"`{when.where.text if when.where else ''}` does not hold for it"
        )
        entry = replace(entry, why=why)
    print_returns("", [entry], False, console(sys.stdout))
