"""`init`: drafts rules from the answers of tools that have none, each with a sample and a test."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reducer.analysis.drafting import BIG, ENOUGH, Proposal, draft_rule, file_names
from reducer.cli.answers import Answers, answers_by_tool
from reducer.cli.arguments import parse, parser
from reducer.cli.drafts import write_drafts
from reducer.cli.messages import CommandError, counted, reason, say
from reducer.cli.outputs import write
from reducer.cli.rules import bundled_rules, rule_files
from reducer.cli.schema import schema_text
from reducer.errors import RuleError
from reducer.rules import Rule, Ruleset, read_rules
from reducer.screen import visible
from reducer.values import Unreducible, chars

_ABOUT = """\
Draft a rule for each tool that has none: from a stored history, or from a sample, a file with one answer of a tool.
The draft states a reason for each step, and has a sample and a test. Existing files are never overwritten.
"""
_EXAMPLES = """\
examples:
  python -m reducer init session.json              rules/TOOL.yaml for each tool in a history that has no rule
  python -m reducer init session.json --tool search
                                                   for one tool only
  python -m reducer init answer.json --tool search a sample: JSON or text, one answer of a tool
  python -m reducer init search.json               the same; the file is named after the tool
  python -m reducer init a.json b.json --tool search -o my-rules/
                                                   from several answers, into another folder

Then edit the draft and try it:
  python -m reducer check rules/
  python -m reducer session.json --rules rules/ --format diff

Exit codes: 0 done, 1 nothing to draft, 2 cannot run, or a file exists already.
"""
_MAX_TOOLS = 6


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("init", _ABOUT, _EXAMPLES)
    add = reader.add_argument
    add(
        "files", nargs="+", metavar="HISTORY|SAMPLE", help="stored histories, folders, samples, or - for standard input"
    )
    add("-o", "--output", default="rules", metavar="DIR", help="the folder of rules for the drafts (default: rules)")
    add("--tool", metavar="NAME", help="draft for this tool only; for a sample, the tool that gave it")
    options = parse(reader, arguments)
    return _init(options.files, Path(options.output), options.tool)


def _init(names: Sequence[str], folder: Path, tool: str | None) -> int:
    found, is_history = answers_by_tool(names, tool)
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder}: is not a folder; drafts are written to a folder of rules")
    existing = _rules_in(folder)
    is_explicit = tool is not None or not is_history
    small = [] if is_explicit else [answers.tool for answers in found.values() if answers.max_characters < BIG]
    files = file_names(found)
    drafted = [
        proposal
        for name, answers in found.items()
        if name not in small and (proposal := _draft(answers, existing, is_explicit, files[name])) is not None
    ]
    if small:
        say(f"{_listed(small)}: no rule needed; no answer has {BIG:,} characters")
    if not drafted:
        say("nothing to draft")
        return 1
    write_drafts(folder, [proposal.draft for proposal in drafted])
    for proposal in drafted:
        _print_draft(proposal, folder / proposal.draft.file, found[proposal.draft.tool].calls)
    schema = folder / ".schema.json"
    if not schema.exists():
        # The first line of a draft names it.
        write(schema, schema_text(found if is_history else (), [str(folder)]))
    _print_next(names, folder, [folder / proposal.draft.file for proposal in drafted], is_history)
    return 0


def _rules_in(folder: Path) -> Ruleset | None:
    try:
        return read_rules(folder) if folder.is_dir() and rule_files(folder) else None
    except RuleError as error:
        errors = counted(len(error.problems), "error")
        raise CommandError(
            f"{folder}: {errors} in the existing rules; `python -m reducer check {folder}` lists them"
        ) from None
    except OSError as error:
        raise CommandError(f"{error.filename or folder}: {reason(error)}") from None


def _draft(answers: Answers, existing: Ruleset | None, is_explicit: bool, file: str) -> Proposal | None:
    """Return the draft for a tool, or say why there is none. Raises `CommandError` if a named tool has a rule."""
    tool = answers.tool
    if existing and (rule := existing.rule_for(tool)):
        if is_explicit:
            raise CommandError(f"`{tool}` already has a rule: {rule.file} is for {_names(rule)}")
        say(f"`{tool}` already has a rule: {rule.file}")
        return None
    contents = [content for content in answers.contents if _is_reducible(content)]
    if not contents:
        say(f"`{tool}`: its answers have more than 128 levels; rules never change them")
        return None
    bundled = None if is_explicit else _rules_in(bundled_rules())
    if bundled and (rule := bundled.rule_for(tool)):
        say(f"`{tool}` has a bundled rule: copy {rule.file} and its sample, or draft another with --tool {tool}")
        return None
    about = f"{counted(len(contents), 'answer')} of `{visible(tool)}`"
    if len(contents) < answers.calls:
        about = f"the {len(contents):,} longest of {answers.calls:,} answers of `{visible(tool)}`"
    proposal = draft_rule(tool, contents, about, file)
    if proposal is None:
        say(f"`{tool}`: nothing to remove: no long lists, no long texts, no keys that are known to be unused")
    return proposal


def _is_reducible(content: Any) -> bool:
    try:
        return chars(content) >= 0
    except (Unreducible, RecursionError):
        return False


def _names(rule: Rule) -> str:
    return ", ".join(f"`{name}`" for name in rule.tools)


def _listed(tools: Sequence[str]) -> str:
    more = f" and {len(tools) - _MAX_TOOLS:,} more tools" if len(tools) > _MAX_TOOLS else ""
    return ", ".join(f"`{tool}`" for tool in tools[:_MAX_TOOLS]) + more


def _print_draft(proposal: Proposal, file: Path, calls: int) -> None:
    """Print what a draft saves, and what each of its steps removes."""
    trial, tool = proposal.trial, visible(proposal.draft.tool)
    count = len(trial.outcomes)
    what = f"{counted(count, 'answer')} of `{tool}`"
    if count < calls:
        what = f"{count:,} of {calls:,} answers of `{tool}`, the longest"
    sizes = f"{trial.before:,} -> {trial.after:,} characters"
    print(f"{visible(str(file))}: saves {trial.saved:.1%} of {what}: {sizes}")
    rule = proposal.ruleset.rules[0]
    removed = trial.removed_by_step()
    for step in rule.steps:
        part = removed.get(step.number, 0) / max(1, trial.before)
        print(f"  {part:6.1%}  line {step.location.line:<4} {visible(step.name)}")
    if removed.get(None):
        print(f"  {removed[None] / max(1, trial.before):6.1%}  max_chars {rule.max_chars:,}")
    if trial.saved < ENOUGH:
        print(
            f"  Less than {ENOUGH:.0%}: the rest is in short pieces, or under keys with unclear names. "
            "Drop what your agent does not use."
        )


def _print_next(names: Sequence[str], folder: Path, files: Sequence[Path], is_history: bool) -> None:
    one = str(files[0]) if len(files) == 1 else str(folder)
    print("\nNext:")
    print(f"  edit              {visible(one)}")
    print(f"  python -m reducer test {visible(one)}")
    if is_history:
        print(f"  python -m reducer {visible(' '.join(names))} --rules {visible(str(folder))} --format diff")
    sys.stdout.flush()
    samples = "the sample is a real answer" if len(files) == 1 else "the samples are real answers"
    say(f"{samples}; check for confidential content before sharing")
