"""Writes drafted rules, each with its sample, and tells what they save."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reducer.cli import VERBS
from reducer.cli.answers import Answers, answers
from reducer.cli.output import write
from reducer.cli.rules import bundled_rules
from reducer.cli.stop import Stop, say
from reducer.cli.verbs.schema import schema_text
from reducer.errors import RuleError
from reducer.proposal import BIG, ENOUGH, Proposal, draft
from reducer.report import step_reports
from reducer.report.attention import plural
from reducer.rule import Rule, Ruleset, read_rules
from reducer.screen import visible
from reducer.values import Unreducible, chars

_LONGEST_NAME = 80
_NAMED = 6
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


class _Files(NamedTuple):
    """Where a draft goes: the rule and its sample."""

    rule: Path
    sample: Path


def init(names: Sequence[str], output: str, tool: str | None) -> int:
    """Draft a rule for each tool in histories or samples that has none in the folder `output`; give the exit code. Raises `Stop`."""
    found, is_history = answers(names, tool)
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise Stop(f"{output}: is no folder; drafts go into a folder of rules")
    own = _rules_in(folder)
    asked = tool is not None or not is_history
    small = [] if asked else [answer.tool for answer in found.values() if answer.most < BIG]
    named = _file_names(found)
    proposals = [
        (proposal, _Files(folder / f"{named[tool]}.yaml", folder / "samples" / f"{named[tool]}.json"))
        for tool, answer in found.items()
        if tool not in small
        for proposal in _drafted(answer, own, asked, f"samples/{named[tool]}.json")
    ]
    if small:
        say(f"{_listed(small)} {'needs' if len(small) == 1 else 'need'} no rule: no answer of {BIG:,} characters")
    if not proposals:
        say("nothing to draft")
        return 1
    _refuse({name: None for _, files in proposals for name in (files.rule, files.sample)})
    for proposal, files in proposals:
        files.sample.parent.mkdir(parents=True, exist_ok=True)
        write(str(files.sample), _written(proposal.sample))
        write(str(files.rule), proposal.text.encode())
        _tell(proposal, files, found[proposal.tool])
    schema = folder / ".schema.json"
    if not schema.exists():
        # The first line of a draft names it.
        write(str(schema), schema_text(found if is_history else (), [output]))
    _tell_next(names, output, [files for _, files in proposals], is_history)
    return 0


def _rules_in(folder: Path) -> Ruleset | None:
    if not folder.is_dir() or not any(file.suffix in (".yaml", ".yml") for file in folder.iterdir()):
        return None
    try:
        return read_rules(folder)
    except RuleError as error:
        count = len(error.problems)
        raise Stop(f"{folder}: {count:,} {plural(count, 'error')} in the rules there; `python -m reducer check {folder}` shows them") from None
    except OSError as error:
        raise Stop(f"{error.filename or folder}: {error.strerror or error}") from None


def _drafted(answer: Answers, own: Ruleset | None, asked: bool, sample_file: str) -> Iterator[Proposal]:
    """Give the draft for a tool, or say why there is none."""
    tool = answer.tool
    rule = own and own.rule_for(tool)
    if rule:
        if asked:
            raise Stop(f"`{tool}` has a rule already: {rule.file} is for {_names(rule)}")
        say(f"`{tool}` has a rule already: {rule.file}")
        return
    contents = [content for content in answer.contents if _is_reducible(content)]
    if not contents:
        say(f"`{tool}`: its answers are deeper than 128 levels: rules leave them alone")
        return
    bundled = None if asked else _rules_in(bundled_rules())
    shipped = bundled and bundled.rule_for(tool)
    if shipped:
        say(f"`{tool}` has a rule among those bundled with reducer: copy {shipped.file} and its sample, or draft another one by --tool {tool}")
        return
    about = f"{len(contents):,} {plural(len(contents), 'answer')} of `{visible(tool)}`"
    if len(contents) < answer.calls:
        about = f"the {len(contents):,} longest of {answer.calls:,} answers of `{visible(tool)}`"
    proposal = draft(tool, contents, about, sample_file)
    if proposal is None:
        say(f"`{tool}`: there is nothing to take: no long lists, no long texts, no keys that nobody asks for")
        return
    yield proposal


def _is_reducible(content: Any) -> bool:
    try:
        return chars(content) >= 0
    except (Unreducible, RecursionError):
        return False


def _names(rule: Rule) -> str:
    return ", ".join(f"`{name}`" for name in rule.tools)


def _listed(tools: Iterable[str]) -> str:
    named = [f"`{tool}`" for tool in tools]
    return ", ".join(named[:_NAMED]) + (f" and {len(named) - _NAMED:,} more tools" if len(named) > _NAMED else "")


def _file_names(tools: Iterable[str]) -> dict[str, str]:
    """Give each tool a name for its files, no two alike."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for tool in tools:
        bare = name = _UNFIT.sub("_", tool).strip("._")[:_LONGEST_NAME] or "tool"
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{bare}_{number}"
        taken.add(name.casefold())
        names[tool] = name
    return names


def _refuse(files: dict[Path, None]) -> None:
    there = [str(file) for file in files if os.path.lexists(file)]
    if there:
        raise Stop(f"{', '.join(there)}: {'is' if len(there) == 1 else 'are'} there already, and nothing is overwritten; nothing was written")


def _written(sample: Any) -> bytes:
    try:
        return (json.dumps(sample, ensure_ascii=False, indent=1) + "\n").encode()
    except UnicodeEncodeError:  # lone surrogates
        return (json.dumps(sample, indent=1) + "\n").encode()


def _tell(proposal: Proposal, files: _Files, answer: Answers) -> None:
    trial = proposal.trial
    many = len(trial.outcomes)
    what = f"{many:,} {plural(many, 'answer')} of `{visible(proposal.tool)}`"
    if many < answer.calls:
        what = f"{many:,} of the {answer.calls:,} answers of `{visible(proposal.tool)}`, the long ones"
    print(f"{visible(str(files.rule))}: saves {trial.saved:.1%} of {what}: {trial.before:,} -> {trial.after:,} characters")
    rule = proposal.ruleset.rules[0]
    taken = dict.fromkeys((step.number for step in rule.steps), 0)
    rest = 0
    for outcome, content in zip(trial.outcomes, _arrived(trial.outcomes), strict=True):
        for done in step_reports(outcome, content, False)[0] if outcome.steps and not outcome.fault else ():
            if done.step is None:
                rest += done.before - done.after
            else:
                taken[done.step.number] += done.before - done.after
    for step in rule.steps:
        print(f"  {taken[step.number] / max(1, trial.before):6.1%}  line {step.location.line:<4} {visible(step.name)}")
    if rest:
        print(f"  {rest / max(1, trial.before):6.1%}  max_chars {rule.max_chars:,}")
    if trial.saved < ENOUGH:
        print(f"  Less than {ENOUGH:.0%}: what is left is in short pieces, or has names that tell nothing. Drop what your agent does not use.")


def _arrived(outcomes: Sequence[Any]) -> Iterator[int]:
    for outcome in outcomes:
        yield 0 if outcome.arrival is None else chars(outcome.arrival.content)


def _tell_next(names: Sequence[str], output: str, files: Sequence[_Files], is_history: bool) -> None:
    one = str(files[0].rule) if len(files) == 1 else output
    test = "test" if "test" in VERBS else "check"
    print("\nNext:")
    print(f"  read and change   {visible(one)}")
    print(f"  python -m reducer {test} {visible(one)}")
    if is_history:
        print(f"  python -m reducer {visible(' '.join(names))} --rules {visible(output)} --format diff")
    samples = plural(len(files), "sample")
    sys.stdout.flush()
    say(f"the {samples} beside the {plural(len(files), 'rule')} {'is a real answer' if len(files) == 1 else 'are real answers'}: look before you share")
