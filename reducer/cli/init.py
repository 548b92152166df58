"""Draft a rule for each tool without one, from stored histories or from samples:
files with one return of a tool each. A draft keeps almost all entities and the
longest text of each item, states a reason for each step, and comes with a
sample and a test. What it leaves out is listed by size. Existing files are
never overwritten.

examples:
  python -m reducer init session.json
      rules/TOOL.yaml for each tool in a history that has no rule
  python -m reducer init sample.json --tool search
      a rule from a sample, JSON or text
  python -m reducer init search.json -o my-rules/
      a rule for the tool that the file is named after, in another folder
  python -m reducer init search.json --save 85%
      a stricter rule, which may lose entities and texts

Exit codes: 0 done, 1 nothing to draft, 2 cannot run, or a file exists already.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reducer.analysis.coverage import Covered, covered
from reducer.analysis.drafting import BIG, Draft, Trial, draft_rule, file_names
from reducer.analysis.explanation import changes
from reducer.analysis.texts import characters
from reducer.cli.arguments import parse, parser, share
from reducer.cli.inputs import returns_by_tool
from reducer.cli.screen import console, counted, say, visible
from reducer.cli.sources import choose_rules, load, write_new
from reducer.cli.views.diff import print_changes
from reducer.files import rule_files, write_file
from reducer.rules.schema import schema_text

_MAX_RETURNS = 40
"""A draft uses the longest returns of a tool; more of them add nothing new."""


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError`."""
    reader = parser("init", __doc__, ("--tool",))
    add = reader.add_argument
    inputs = "stored histories, folders, samples, or - for standard input"
    add("files", nargs="+", metavar="HISTORY|SAMPLE", help=inputs)
    add("-o", "--output", default="rules", metavar="DIR", help="write the drafts to this folder (default: rules)")
    save = "share of the characters to save, even if entities and texts are lost (default: 70%% if none are lost)"
    add("--save", type=share, metavar="SHARE", help=save)
    options = parse(reader, arguments)
    folder = Path(options.output)
    contents, is_history = returns_by_tool(options.files, options.tool)
    drafted = _draft_all(contents, folder, options.save, named=options.tool is not None or not is_history)
    if not drafted:
        say("nothing to draft")
        return 1
    files = {}
    for draft, _ in drafted:
        files[folder / draft.file] = draft.text.encode()
        files[folder / draft.sample_file] = draft.sample.encode()
    write_new(folder, files)
    for draft, trial in drafted:
        returns = _describe(draft.tool, len(trial.outcomes), len(contents[draft.tool]))
        sizes = f"{trial.before:,} -> {counted(trial.after, 'character')}"
        kept = f" and keeps {trial.kept:,} of {counted(trial.entities, 'entity', 'entities')}" if trial.entities else ""
        print(f"{visible(str(folder / draft.file))}: saves {trial.saved:.1%}{kept} of {returns}: {sizes}")
        _print_left_out(trial)
        if trial.saved < (options.save or 0):
            say(f"`{visible(draft.tool)}`: cannot save {options.save:.1%}; the most is {trial.saved:.1%}")
    schema = folder / ".schema.json"
    if not schema.exists():  # the first line of each draft refers to it
        write_file(schema, schema_text(contents if is_history else (), rule_files(folder)))
    print(visible(f"\nNext: edit the drafts, then run\n  python -m reducer test {folder}", "\n"))
    if is_history:
        print(visible(f"  python -m reducer {' '.join(options.files)} --rules {folder} --format diff"))
    say("samples are real returns; check for confidential content before sharing")
    return 0


def _print_left_out(trial: Trial) -> None:
    """Print each kind of place that the rule removes or cuts, the largest first."""
    removed, restored = [], 0
    for outcome in trial.outcomes:
        for edit in outcome.edits():
            if edit.is_restored:
                restored += edit.after - edit.before
            else:
                removed.append(edit)
    print_changes(sorted(changes(removed), key=lambda one: one.after - one.before), console())
    if restored:
        print(f"    + entities in removed items and texts: {counted(restored, 'character')}")
    if trial.uncounted:
        only = "only links of an API, pictures, or hashes and links of files contain"
        print(f"    not counted: {counted(trial.uncounted, 'entity', 'entities')} that {only}")


def _draft_all(
    returns_by_tool: dict[str, list[Any]], folder: Path, target: float | None, *, named: bool
) -> list[tuple[Draft, Trial]]:
    """Draft a rule for each tool that needs one, and print why the others do not; a `named` tool may return little."""
    has_rules = folder.is_dir() and rule_files(folder)
    existing = load(choose_rules([str(folder)])) if has_rules else None
    built_in = load(choose_rules(["builtin"]))
    files = file_names(returns_by_tool)
    drafted = []
    for tool, returns in returns_by_tool.items():
        contents = list(filter(characters, returns[:_MAX_RETURNS]))
        source = _describe(tool, len(contents), len(returns))
        if existing is not None and (rules := existing.rules_for(tool)):
            say(f"`{tool}` already has a rule: {rules[0].file}")
            continue
        known = covered(built_in, tool, contents)
        if known.rules:
            say(_of_built_in(known))
        if known.rules and not known.by_shape and not named:
            continue
        if not named and characters(returns[0]) < BIG:
            say(f"`{tool}`: no rule needed; no return has {BIG:,} characters")
        elif contents and (draft := draft_rule(tool, contents, source, files[tool], target=target)):
            drafted.append(draft)
        else:
            say(f"`{tool}`: nothing to remove: no long lists, no long texts, no keys that are known to be unused")
    return drafted


def _of_built_in(known: Covered) -> str:
    """Describe the built-in rules that reduce the returns of a tool."""
    names = [Path(rule.file).stem for rule in known.rules]
    match = ", which have its shape" if known.by_shape else ""
    does = f"saves {known.saved:.1%} of the returns of `{known.tool}`{match}"
    return f"the built-in rule {', '.join(names)} {does}; `rules add {' '.join(names)}` copies it"


def _describe(tool: str, count: int, calls: int) -> str:
    """Describe the returns that a draft is made from."""
    if count < calls:
        return f"{count:,} of {calls:,} returns of `{visible(tool)}`, the longest"
    return f"{counted(count, 'return')} of `{visible(tool)}`"
