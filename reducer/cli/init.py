"""Draft a rule for each tool without one, from stored histories or from samples:
files with one return of a tool each. If a built-in rule fits the returns,
`init` names it and what it saves, and drafts nothing if that is enough (20%,
or half if the rule is for tools with other names). A draft keeps almost all
entities, says above each step what it saves and why, and comes with a sample
and a test. Keys with values that the agent used later in a history stay.
Existing files are never overwritten.

examples:
  python -m reducer init session.json              for tools without a rule
  python -m reducer init sample.json --tool search from a sample, JSON or text
  python -m reducer init search.json -o my-rules/  in another folder
  python -m reducer init search.json --draft       even if a built-in rule fits
  python -m reducer init search.json --save 85%    stricter, may lose entities

Exit codes: 0 done, 1 nothing to draft, 2 cannot run, or a file exists already.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from shlex import quote
from typing import Any

from reducer.analysis.coverage import Covered, covered
from reducer.analysis.drafting import BIG, Draft, Trial, draft_rule, file_names
from reducer.analysis.explanation import changes
from reducer.analysis.measures import finder
from reducer.analysis.texts import characters
from reducer.cli.arguments import parse, parser, share
from reducer.cli.inputs import returns_by_tool
from reducer.cli.screen import console, counted, say, visible
from reducer.cli.sources import choose_rules, load, write_new
from reducer.cli.views.diff import print_changes
from reducer.files import rule_files, write_file
from reducer.histories.stored import later_mentions, returns
from reducer.inputs.chunks import Chunk
from reducer.inputs.recorded import Selection, read_each
from reducer.inputs.sources import STANDARD_INPUT, Source, find_sources
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
    add("--draft", action="store_true", help="draft a rule even if a built-in rule fits the answer")
    save = "share of the characters to save, even if entities are lost"
    add("--save", type=share, metavar="SHARE", help=save)
    options = parse(reader, arguments)
    folder = Path(options.output)
    contents, is_history = returns_by_tool(options.files, options.tool)
    used = _used_by_tool(options.files, options.tool) if is_history else {}
    is_named = options.tool is not None or not is_history
    drafted, is_offered = _draft_all(options, contents, used, is_named=is_named)
    if not drafted:
        if not is_offered:
            say("nothing to draft")
        return 0 if is_offered else 1
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
        only = "only links of an API, pictures, encoded bytes or fingerprints of files contain"
        print(f"    not counted: {counted(trial.uncounted, 'entity', 'entities')} that {only}")


def _draft_all(
    options: Namespace, contents: Mapping[str, list[Any]], used: Mapping[str, Set[str]], *, is_named: bool
) -> tuple[list[tuple[Draft, Trial]], bool]:
    """Draft a rule for each tool that needs one, and return whether a built-in rule is offered for any.

    Prints why there is no draft for the others. `used` contains the values of each tool that the agent used later. A
    tool that `is_named` may return little.
    """
    folder = Path(options.output)
    has_rules = folder.is_dir() and rule_files(folder)
    existing = load(choose_rules([str(folder)])) if has_rules else None
    built_in = load(choose_rules(["builtin"]))
    files = file_names(contents)
    drafted, is_offered = [], False
    for tool, found in contents.items():
        longest = list(filter(characters, found[:_MAX_RETURNS]))
        if existing is not None and (rules := existing.rules_for(tool)):
            say(f"`{tool}` already has a rule: {rules[0].file}")
            continue
        known = covered(built_in, tool, longest)
        is_offered = is_offered or known.fits
        is_drafted = options.draft or options.save is not None or not known.fits
        if known.fits or (known.saved > 0 and not known.by_shape):
            print(visible(_of_built_in(known, is_drafted), "\n"))
        if not is_drafted:
            continue
        if not is_named and characters(found[0]) < BIG:
            say(f"`{tool}`: no rule needed; no return has {BIG:,} characters")
            continue
        source, find = _describe(tool, len(longest), len(found)), finder(used.get(tool, ()))
        draft = draft_rule(tool, longest, source, files[tool], target=options.save, used=find) if longest else None
        if draft is None:
            say(f"`{tool}`: nothing to remove: no long lists, no long texts, no keys that say nothing")
        else:
            drafted.append(draft)
    return drafted, is_offered


def _used_by_tool(files: Sequence[str], tool: str | None) -> Mapping[str, Set[str]]:
    """Return the values of the returns of each tool that later messages mention. Standard input is read only once."""
    selection = Selection(tool)

    def used(_source: Source, chunk: Chunk) -> Iterator[tuple[str, Set[str]]]:
        for history in chunk.histories if chunk.kind != "sample" else ():
            mentions = later_mentions(history)
            for entry in returns(history):
                if selection.matches(entry):
                    yield entry.tool, mentions.after(entry.key, entry.content)

    values: dict[str, Set[str]] = {}
    for name, found in read_each(find_sources([file for file in files if file != STANDARD_INPUT]), used, []):
        values[name] = values.get(name, frozenset()) | found
    return values


def _of_built_in(known: Covered, is_drafted: bool) -> str:
    """Describe the built-in rules that fit the returns of a tool, and how to use them."""
    names = " ".join(Path(rule.file).stem for rule in known.rules)
    match = ", which have its shape" if known.by_shape else ""
    does = f"the built-in rule {names} saves {known.saved:.1%} of the returns of `{known.tool}`{match}"
    own = f" --tool {quote(known.tool)}" if known.by_shape else ""
    other = "it can replace the draft" if is_drafted else "--draft drafts another"
    return f"{does}\n  python -m reducer rules add {names}{own}   copies it; {other}"


def _describe(tool: str, count: int, calls: int) -> str:
    """Describe the returns that a draft is made from."""
    if count < calls:
        return f"{count:,} of {calls:,} returns of `{visible(tool)}`, the longest"
    return f"{counted(count, 'return')} of `{visible(tool)}`"
