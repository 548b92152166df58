"""Check a rule against its samples: what it names but no sample contains, and steps that do nothing or too much.

All samples of a rule are judged together, so what one of them contains is not missing. A fix is tried before it is
shown: the rule with it loads, and on the samples its step has an effect, but does not remove everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

from reducer.analysis.counterexamples import counterexample, described
from reducer.analysis.explanation import explained
from reducer.analysis.findings import UNWANTED, Finding, Fix, Run, findings
from reducer.analysis.laws import alone
from reducer.analysis.samples import Sample, samples_of
from reducer.engine import attempt
from reducer.engine.choose import breaks_where
from reducer.errors import Diagnostic, Edit, FileError
from reducer.formats import unwrapped
from reducer.rules import Rule, Ruleset, compile_rules
from reducer.rules.diagnostics import Report, Span, quoted
from reducer.rules.fix import edited
from reducer.rules.model import Texts
from reducer.rules.parser import MappingNode, Place, ScalarNode, SequenceNode, Tree, locate, part
from reducer.rules.parser import parse as parse_rule

_WHOLE_LINE = 10_000


def problems_when_run(
    rule: Rule, ruleset: Ruleset, text: bytes | None = None, samples: Iterable[Sample] | None = None
) -> list[Diagnostic]:
    """Run a rule on its samples, and return the problems that only this reveals.

    `text` is the text of the rule file if it is not the one on disk, and `samples` are those to use instead of its own.
    """
    text = FilePath(rule.file).read_bytes() if text is None else text
    tree, report = parse_rule(text, rule.file)
    if tree is None:  # the file changed after it was loaded
        return []
    report.problems.clear()
    given = list[tuple[Sample, Any]]()
    for sample in samples_of(rule, ruleset) if samples is None else samples:
        try:
            given.append((sample, sample.read()))
        except FileError as error:
            report.add(locate(tree, (*sample.place, "given")), "W050", f"cannot read {sample.title}: {error}")
    found = counterexample(rule, [content for _, content in given])
    if found is not None:
        location = found.step.location
        report.add(Span(location.line, location.column, _WHOLE_LINE), "E070", *described(found, rule))
    found_at = list(findings(rule, _runs(rule, ruleset, given)))
    trial = _Trial(rule, ruleset, text, tree, given, {_of(finding) for _, finding in found_at})
    for place, finding in found_at:
        _add(report, trial, place, finding)
    warned = {_line(warning) for warning in ruleset.warnings}
    return [problem for problem in report.in_order() if _line(problem) not in warned]


def _line(problem: Diagnostic) -> tuple[str, int]:
    return problem.location.file, problem.location.line


def _runs(rule: Rule, ruleset: Ruleset, samples: Sequence[tuple[Sample, Any]]) -> list[Run]:
    """Run a rule on its samples."""
    only = alone(rule, ruleset)
    runs = []
    for sample, content in samples:
        outcome = attempt(only, rule.name, content)
        left = list(map(outcome.left_after, range(len(rule.steps) + 1)))
        did = explained(rule.name, content, outcome)
        stays = sample.test is not None and sample.test.expect.unchanged is True
        is_recognised = outcome.content is content or not attempt(only, rule.name, outcome.content).gated
        broken = None if is_recognised else breaks_where(rule, outcome)
        is_wrapper = unwrapped(content) is not content
        runs.append(Run(sample.title, stays, content, did, left, is_wrapper, broken))
    return runs


def _add(report: Report, trial: _Trial, place: Place, finding: Finding) -> None:
    """Report a finding at its text in the step or gate at a place, or at the last key of the place."""
    span: Span = locate(trial.tree, place, key=True)
    for scalar in _scalars(locate(trial.tree, place[:2])) if finding.text else ():
        match = _word(finding.text).search(str(scalar.value))
        if match is not None:
            span = part(scalar, match.start(), len(finding.text))
            break
    advice, edits = finding.help, tuple[Edit, ...]()
    for fix in finding.fixes:
        tried = trial.edits_that_work(place, finding, fix)
        if tried:
            advice, edits = fix.help, tried if fix.is_safe else ()
            break
    report.add(span, finding.code, finding.message, advice, edits)


def _word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(text)}(?![\w.])")


def _scalars(node: Tree) -> Iterator[ScalarNode]:
    if isinstance(node, ScalarNode):
        yield node
    for below in node.items if isinstance(node, SequenceNode) else ():
        yield from _scalars(below)
    for _, below in node.entries if isinstance(node, MappingNode) else ():
        yield from _scalars(below)


# --- fixes


def _of(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.text


@dataclass(frozen=True, slots=True)
class _Trial:
    """Tries fixes of the text of a rule with its samples."""

    rule: Rule
    ruleset: Ruleset
    text: bytes
    tree: Tree
    samples: Sequence[tuple[Sample, Any]]
    before: Set[tuple[str, str]]
    """The codes and texts of the findings without a fix."""

    def edits_that_work(self, place: Place, finding: Finding, fix: Fix) -> tuple[Edit, ...]:
        """Return the edits of a fix, or nothing if the rule with them does not load, or does not do better."""
        edits: list[Edit] = []
        for scalar in _scalars(locate(self.tree, place[:2])):
            value = _with_words(str(scalar.value), fix.words)
            if value != str(scalar.value) and "\n" not in scalar.raw:
                edits += scalar.edit(quoted(value))
        text = self.text
        for edit in sorted(edits, reverse=True):
            text = edited(text, edit)
        return tuple(edits) if edits and self._is_better(text, finding) else ()

    def _is_better(self, text: bytes, finding: Finding) -> bool:
        """Return whether a text of the rule file loads, lacks a finding, and has no new one that is unwanted."""
        sources: list[tuple[str, str | bytes]] = [(self.rule.file, text)]
        texts = self.ruleset.texts or Texts((), ())
        for name, other in chain.from_iterable(texts.sources):
            data = other.encode("utf-8", "surrogateescape") if isinstance(other, str) else other
            if name != self.rule.file and (b"entities:" in data or b"conditions:" in data):
                sources.append((name, data))
        compiled, _ = compile_rules(sources, word_lists=texts.word_lists)
        if compiled is None:
            return False
        rule = next(rule for rule in compiled.rules if rule.file == self.rule.file)
        after = {_of(one) for _, one in findings(rule, _runs(rule, compiled, self.samples))}
        return _of(finding) not in after and UNWANTED.isdisjoint(code for code, _ in after - self.before)


def _with_words(text: str, words: Mapping[str, str]) -> str:
    """Replace the first occurrence of each word."""
    for old, new in words.items():
        match = _word(old).search(text)
        if match is not None:
            text = text[: match.start()] + new + text[match.end() :]
    return text
