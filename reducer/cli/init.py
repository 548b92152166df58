"""`init`: drafts rules from the answers of tools that have none, each with a sample and a test."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reducer.analysis.drafting import BIG, Draft, Proposal, draft_rule, file_names
from reducer.analysis.steps import characters
from reducer.cli.arguments import parse, parser
from reducer.cli.files import STANDARD_INPUT, write
from reducer.cli.query import each_answer
from reducer.cli.rules import Chosen, load
from reducer.cli.schema import schema_text
from reducer.cli.screen import CommandError, counted, say, visible
from reducer.files import rule_files
from reducer.histories.files import ENDINGS
from reducer.rules import compile_rules
from reducer.values import Unreducible, chars

_ABOUT = """\
Draft a rule for each tool that has none: from a stored history, or from a sample, a file with one answer of a tool.
The draft states a reason for each step, and has a sample and a test. Existing files are never overwritten.
"""
_EXAMPLES = """
examples:
  python -m reducer init session.json              rules/TOOL.yaml for each tool in a history that has no rule
  python -m reducer init answer.json --tool search a sample: JSON or text, one answer of a tool
  python -m reducer init search.json -o my-rules/  a file that is named after the tool, into another folder

Exit codes: 0 done, 1 nothing to draft, 2 cannot run, or a file exists already.
"""
_MAX_ANSWERS = 40
"""Answers of one tool that a draft is made from, the longest ones: more add nothing new."""
_TEXT_ENDINGS = (".txt", ".log", ".md", ".csv", ".xml", ".yaml", ".yml", ".out")


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("init", _ABOUT + _EXAMPLES)
    add = reader.add_argument
    inputs = "stored histories, folders, samples, or - for standard input"
    add("files", nargs="+", metavar="HISTORY|SAMPLE", help=inputs)
    add("-o", "--output", default="rules", metavar="DIR", help="the folder of rules for the drafts (default: rules)")
    add("--tool", metavar="NAME", help="draft for this tool only; for a sample, the tool that gave it")
    options = parse(reader, arguments)
    folder = Path(options.output)
    found, is_history = _answers_by_tool(options.files, options.tool)
    proposals = _proposals(found, folder, named=options.tool is not None or not is_history)
    if not proposals:
        say("nothing to draft")
        return 1
    write_drafts(folder, [proposal.draft for proposal in proposals])
    for proposal in proposals:
        draft, trial = proposal.draft, proposal.trial
        answers = _about(draft.tool, len(trial.outcomes), len(found[draft.tool]))
        sizes = f"{trial.before:,} -> {trial.after:,} characters"
        print(f"{visible(str(folder / draft.file))}: saves {trial.saved:.1%} of {answers}: {sizes}")
    schema = folder / ".schema.json"
    if not schema.exists():  # the first line of a draft names it
        write(schema, schema_text(found if is_history else (), [str(folder)]))
    print(visible(f"\nNext: edit the drafts, then run\n  python -m reducer test {folder}", "\n"))
    if is_history:
        print(visible(f"  python -m reducer {' '.join(options.files)} --rules {folder} --format diff"))
    say("samples are real answers; check for confidential content before sharing")
    return 0


def _answers_by_tool(names: Sequence[str], tool: str | None) -> tuple[dict[str, list[Any]], bool]:
    """Return the answers of each tool in histories and samples, the longest first, and whether any file is a history.

    A sample is an answer of `tool`, otherwise of the tool that its file is named after. Raises `CommandError`.
    """
    contents: dict[str, list[Any]] = {}
    is_history = False
    for answer in each_answer(names, tool):
        is_history = is_history or bool(answer.call)
        contents.setdefault(answer.tool or _tool_name(answer.file), []).append(answer.content)
    return {name: sorted(found, key=characters, reverse=True) for name, found in contents.items()}, is_history


def _tool_name(file: str) -> str:
    if file == STANDARD_INPUT:
        raise CommandError("standard input has no file name; add --tool NAME, the tool that gave this answer")
    name = Path(file).name
    ending = next((end for end in (*ENDINGS, *_TEXT_ENDINGS) if name.lower().endswith(end)), "")
    return name[: len(name) - len(ending)] or name


def _proposals(found: dict[str, list[Any]], folder: Path, named: bool) -> list[Proposal]:
    """Return a draft for each tool without a rule, and say why others have none; tools that are `named` need one."""
    present = tuple(rule_files(folder)) if folder.is_dir() else ()
    existing = load(Chosen(present, str(folder)), "drafted") if present else None
    files = file_names(found)
    proposals = []
    for tool, answers in found.items():
        contents = [content for content in answers[:_MAX_ANSWERS] if _is_reducible(content)]
        about = _about(tool, len(contents), len(answers))
        if existing is not None and (rule := existing.rule_for(tool)):
            message = f"`{tool}` already has a rule: {rule.file}"
            if named:
                raise CommandError(message)
            say(message)
        elif not named and characters(answers[0]) < BIG:
            say(f"`{tool}`: no rule needed; no answer has {BIG:,} characters")
        elif contents and (proposal := draft_rule(tool, contents, about, files[tool])):
            proposals.append(proposal)
        else:
            say(f"`{tool}`: nothing to remove: no long lists, no long texts, no keys that are known to be unused")
    return proposals


def _is_reducible(content: object) -> bool:
    try:
        return chars(content) >= 0
    except (Unreducible, RecursionError):
        return False


def _about(tool: str, count: int, calls: int) -> str:
    """Say how many answers of a tool a draft is about."""
    answers = f"{count:,} of {calls:,} answers" if count < calls else counted(count, "answer")
    return f"{answers} of `{visible(tool)}`{', the longest' if count < calls else ''}"


def write_drafts(folder: Path, drafts: Sequence[Draft]) -> None:
    """Write all drafts; none if one of their files exists, or if they conflict with a rule. Raises `CommandError`."""
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder}: is not a folder; drafts are written to a folder of rules")
    drafted = {folder / draft.file: draft.text.encode() for draft in drafts}
    samples = {folder / draft.sample_file: draft.sample.encode() for draft in drafts if draft.sample_file}
    if existing := ", ".join(str(file) for file in (*drafted, *samples) if os.path.lexists(file)):
        raise CommandError(f"files are never overwritten, so nothing was written; existing: {existing}")
    present = {file: file.read_bytes() for file in rule_files(folder)} if folder.is_dir() else {}
    _, problems = compile_rules((str(file), text) for file, text in {**present, **drafted}.items())
    for problem in problems:
        # Warnings about other rules are not about the drafts.
        if problem.severity == "error" or Path(problem.location.file) in drafted:
            raise CommandError(f"{folder}: {problem}\nnothing was written")
    for file, content in (drafted | samples).items():
        write(file, content)
