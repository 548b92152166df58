"""What the samples of a rule reveal about its gate, its steps and the keys and values that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from operator import itemgetter
from typing import Any, NamedTuple

from reducer.analysis.comparisons import Comparison, comparisons, lacking_text, literal, meant, values_text
from reducer.analysis.counterexamples import expressions_of
from reducer.analysis.explanation import Explanation, StepReport
from reducer.analysis.fixes import Fix, filters, in_notation, of_condition, of_lists_below, of_unequal
from reducer.analysis.measures import step_label
from reducer.analysis.query import explain, items_of, keys_of, path_of, paths_to, the_keys, type_name, values_of
from reducer.analysis.texts import HASHES_AND_LINKS
from reducer.engine import StepRun
from reducer.errors import counted, did_you_mean, nearest
from reducer.operations.dedupe import Dedupe
from reducer.operations.fields import SortKey
from reducer.operations.keep import Keep
from reducer.operations.op import named
from reducer.paths import Chain, Expression, Shape, ValuePlace, compile_path, names_of, walk
from reducer.paths.ranks import DATE, LEVEL, NUMBER, OTHER_TEXT, rank
from reducer.paths.written import path_text
from reducer.rules import Rule, Step
from reducer.rules.parser import Place
from reducer.values import Unreducible

_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_MIN_ITEMS = 3  # fewer items often agree by chance
_MAX_KEYS = 20  # keys that one message lists
_MIN_ENTITIES = 10
_MOST_ENTITIES = 0.95
_FEW_WORDS = 8  # a key with more contains names, not words of a scale
_WRAPPER = re.compile(r"(?:structuredContent|(?:content)?\[[\d*]*\](?:\.text)?|content)(?:\.|(?=\[)|\Z)")
"""The beginning of a path that names a wrapper of MCP."""
_SEVERITY = re.compile(r"(?i)risk|score|sever|cvss|epss|confidence|malicious|threat")
"""Numbers with such names are never sorted by the lowest by intention."""
UNWANTED = frozenset({"W060", "W061", "W062", "W070", "W080", "W083"})
"""The codes of steps that do not find what they name, or remove everything. No fix leads to one of them."""


class Run(NamedTuple):
    """A sample, what the rule did to it, and what each step left of it.

    `stays`: its test says that nothing is removed. `breaks_where` is the step after which the `where` of the rule does
    not hold, if it does not hold for the result.
    """

    name: str
    stays: bool
    content: Any
    did: Explanation
    left: Sequence[Any]
    is_wrapper: bool
    breaks_where: StepRun | None


class Finding(NamedTuple):
    """A problem of a rule. `text` is the part to underline, or empty for the key.

    The first of the `fixes` that works is shown, otherwise `help`.
    """

    code: str
    message: str
    help: str = ""
    text: str = ""
    fixes: tuple[Fix, ...] = ()


def findings(rule: Rule, runs: Sequence[Run]) -> Iterator[tuple[Place, Finding]]:
    """Yield the findings about the gate, the steps and `max_chars` of a rule, each with its place in the rule file."""
    for finding in _of_gate(rule, runs):
        yield ("when",), finding
    for step in rule.steps:
        with suppress(Unreducible, RecursionError):  # an item is too deep for a condition
            for finding in _of_step(rule, step, runs):
                yield ("steps", step.number - 1, step.op.verb()), finding
    for run in runs:
        if run.breaks_where is not None:
            yield _broken_where(run, run.breaks_where)
        if run.did.over:
            size = counted(run.did.after, "character")
            yield ("max_chars",), Finding("W069", f"{run.name} still has {size}")


def _broken_where(run: Run, broken: StepRun) -> tuple[Place, Finding]:
    """Return the finding about the step after which the `where` of its rule does not hold any more."""
    name, place = "max_chars", Place(("max_chars",))
    if broken.step is not None:
        name, place = broken.step.name, ("steps", broken.number - 1, broken.step.op.verb())
    return place, Finding("E073", f"after `{name}`, the `where` of the rule does not hold for {run.name}")


def _of_gate(rule: Rule, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about the `when` of a rule."""
    if rule.when is None or not runs:
        return
    missing = list(_of_condition(rule.when.where, (), 0, rule, runs)) if rule.when.where else []
    yield from missing
    if not missing and all(run.did.status == "gated" for run in runs):
        message = "the rule never runs, because its `when` holds for no sample"
        expressions = [(rule.when.where, ())] if rule.when.where else []
        finding = _with_values(Finding("W063", message), expressions, 0, runs)
        advice = "add a test with a return for which it holds"
        yield finding._replace(help="; ".join(filter(None, (finding.help, advice))))


# --- steps


def _of_step(rule: Rule, step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about a step. Its effect is judged only if it names nothing that is missing."""
    reached = [run for run in runs if run.did.steps and not _report(run, step).run.skipped]
    ran = [run for run in reached if _report(run, step).run.ran]
    changed = [run for run in reached if _report(run, step).before != _report(run, step).after]
    if not reached:
        return
    missing = [*_missing(rule, step, ran), *_without_text(step, ran)] or [*_left_alone(step, ran)]
    yield from missing
    if changed:
        yield from _too_much(rule, step, changed)
        yield from _order(step, changed)
    if missing:
        return
    if changed:
        yield from _emptied(step, changed)
    elif not ran:
        yield from _never_runs(rule, step, reached)
    elif "*" not in rule.tools or step.path.text != "@":
        # The samples of a rule for all tools do not have to exercise each of its steps.
        yield _without_effect(rule, step, ran)


def _never_runs(rule: Rule, step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about a step whose `when` holds for no sample."""
    where = step.op.when.where if step.op.when else None
    wrong = list(_of_condition(where, (), 0, rule, runs)) if where else []
    yield from wrong
    if not wrong:
        message = f"`{step.name}` never runs, because its `when` holds for no sample"
        yield _with_values(Finding("W063", message), expressions_of(step), step.number - 1, runs)


def _report(run: Run, step: Step) -> StepReport:
    return run.did.steps[step.number - 1]


def _left_alone(step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield a finding if a step does not recognise the objects of a sample that the rule is meant to change."""
    for run in runs:
        report = _report(run, step)
        if report.run.left_alone and report.nothing is not None and not run.stays:
            yield Finding("W070", f"in {run.name}, {report.nothing.message}")
            return


def _without_text(step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield a finding if a step reads texts in a notation, and its path leads to no text in any sample."""
    found = [value for run in runs for value in step.path.find(run.content)] if step.op.notations else []
    if found and str not in set(map(type, found)):
        message = f"`{step.path.text}` is {type_name(found[0])}, and `text` is the notation of a text"
        yield Finding("W083", message, "remove `text`")


def _without_effect(rule: Rule, step: Step, runs: Sequence[Run]) -> Finding:
    """Return the finding about a step that changes nothing in any sample."""
    if not any(_report(run, step).run.places for run in runs):
        return _finds_nothing(rule, step, runs)
    finding = Finding("W063", f"`{step.name}` changes nothing in any sample")
    items = items_of(_values(runs, step.path.shape, step.number - 1))
    words = [".".join(chain) for chain in step.op.names()]
    if words and items and set(map(type, items)) == {str}:
        cause = "the items are texts, which have no keys"
        fixes = [fix._replace(help=f"{cause}: write {fix.help}") for fix in filters(step.op.verb(), words, items)]
        return finding._replace(help=cause, fixes=tuple(fixes))
    cause, fixes = _of_lists(step, items, runs) if [*step.op.shortens()] else ("", [])
    if cause:
        return finding._replace(help=fixes[0].help if len(fixes) == 1 else cause, fixes=tuple(fixes))
    return _with_values(finding, expressions_of(step), step.number - 1, runs)


def _of_lists(step: Step, items: Sequence[Any], runs: Sequence[Run]) -> tuple[str, list[Fix]]:
    """Return the reason why a step removes no items, and what was meant."""
    found = _values(runs, step.path.shape, step.number - 1)
    if found and set(map(type, found)) == {dict}:
        return of_lists_below(step, found)
    if isinstance(step.op, Dedupe) and step.op.dedupe.by is not None:
        return of_unequal(step.op.dedupe.by, items)
    return "", []


def _finds_nothing(rule: Rule, step: Step, runs: Sequence[Run]) -> Finding:
    """Return the finding about a path that finds nothing in any sample, with the most helpful reason."""
    reasons = [nothing for run in runs if (nothing := _report(run, step).nothing) is not None]
    text = step.path.text
    why = next((reason for reason in reasons if reason.path), reasons[0])
    if any(run.is_wrapper for run in runs) and (wrapper := _WRAPPER.match(text)):
        inside = _inside_wrapper(text[wrapper.end() :], runs)
        message = f"`{text}` names the wrapper of MCP, which rules do not see"
        return Finding("W067", message, text=text, fixes=(Fix(f"write `{inside}`", {text: inside}),))
    cause = why.message.removesuffix(f"; {did_you_mean(why.path)}")
    finding = Finding("W060", f"`{text}` finds nothing in any sample", cause, text)
    found = step.path.find(runs[0].left[step.number - 1])
    if found and type(found[0]) is str and str not in step.op.accepts:
        return Finding("W060", cause, text=step.op.verb(), fixes=tuple(in_notation(step, found[0])))
    removed = _removed(rule, step, runs)
    if removed or why.is_removed:
        return finding._replace(code="W062", help=removed or cause)
    if not why.path:
        finding = _with_values(finding, expressions_of(step), step.number - 1, runs)
        reasons_and_values = "; ".join(filter(None, (cause, finding.help)))
        return finding._replace(help=reasons_and_values, fixes=(*_of_list(step, cause, runs), *finding.fixes))
    is_safe = _keys(why.path) == _keys(text)
    return finding._replace(fixes=(Fix(f"{cause}; {did_you_mean(why.path)}", {text: why.path}, is_safe=is_safe),))


def _removed(rule: Rule, step: Step, runs: Sequence[Run]) -> str:
    """Name the step that removes what a path, or the same keys with their projections, found at first."""
    for run in runs:
        path = compile_path(explain(step.path, run.left[0]).path or step.path.text)
        if _keys(path.text) != _keys(step.path.text):
            continue
        for earlier in reversed(rule.steps[: step.number - 1]):
            if path.find(run.left[earlier.number - 1]) and not path.find(run.left[earlier.number]):
                cause = f"step {earlier.number} (`{earlier.name}`) removes `{path.text}`"
                return f"{cause}: move this step before step {earlier.number}, or let that step keep it"
    return ""


def _of_list(step: Step, cause: str, runs: Sequence[Run]) -> Iterator[Fix]:
    """Yield the path without its first key, if the return is a list and not an object with this key."""
    content, text = runs[0].left[step.number - 1], step.path.text
    if type(content) is not list or not step.path.shape or step.path.shape[0][0] != "field":
        return
    rest = text.removeprefix(path_text(step.path.shape[0][1:])).removeprefix(".") or "@"
    advice = f"remove the line `path: {text}`" if rest == "@" else f"write `path: {rest}`"
    yield Fix(f"{cause}: {advice}", {text: rest})


def _keys(path: str) -> list[str]:
    """Return the names of the keys in a path."""
    return [name for name in names_of(compile_path(path).shape) if name != "*"]


def _with_values(
    finding: Finding, expressions: Iterable[tuple[Expression, Shape]], number: int, runs: Sequence[Run]
) -> Finding:
    """Add the values of the keys that expressions compare after step `number`, and what may have been meant."""
    texts, fixes = list[str](), list[Fix]()
    for expression, shape in expressions:
        items = _values(runs, shape, number)
        keys = [comparison.key for comparison in comparisons(expression)]
        for key in keys or map(path_text, expression.reads):
            texts.append(values_text(key, items))
        for key in keys:
            texts.append(lacking_text(key, items))
        fixes += of_condition(expression, items)
    return finding._replace(help="; ".join(dict.fromkeys(filter(None, texts))), fixes=tuple(fixes))


def _inside_wrapper(text: str, runs: Sequence[Run]) -> str:
    """Return what to write instead of a path through a wrapper: a path that finds something, if there is one."""
    written = text or "@"
    alone = re.sub(r"^result\b\.?", "", text) or "@"
    for path in (written, alone, f"[*].{text}" if text else "@"):
        found = compile_path(path)
        if any(found.find(run.left[0]) for run in runs):
            return path
    return written


def _too_much(rule: Rule, step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about what a step removes from samples that it changes.

    A step that names keys may remove all entities if these keys contain only hashes and links.
    """
    undone: list[Finding] = []
    total, lost = 0, list[str]()
    for run in runs:
        report = run.did.steps[step.number - 1]
        total += sum(recall.total for recall in run.did.entities.values())
        label = step_label(rule, report.run)
        lost += [entity.type for entity in run.did.lost_entities if entity.step == label]
        if report.is_undone:
            removed = counted(report.before - report.after, "character")
            restored = f"preserve restores {report.restored:,} of the {removed}"
            undone.append(Finding("W051", f"{restored} that `{step.name}` removes in {run.name}"))
    yield from undone[:1]
    names_keys = [*step.op.names()] and not [*step.op.shortens()]
    are_unneeded = names_keys and HASHES_AND_LINKS.issuperset(lost)
    if total >= _MIN_ENTITIES and len(lost) > total * _MOST_ENTITIES and not are_unneeded:
        yield Finding("W065", f"`{step.name}` removes {len(lost):,} of the {total:,} entities in the samples")


def _emptied(step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield a finding if a step leaves nothing of what its path leads to in all samples that it changes."""
    names = [*step.op.names()]
    if names and all(map(step.op.takes, names)):  # it drops the keys that the author names
        return
    sizes = []
    for run in runs:
        before, after = (step.path.find(run.left[number]) for number in (step.number - 1, step.number))
        if not any(before) or (any(after) and not _is_left_by_law(step, before[0], after[0])):
            return
        sizes += [len(value) for value in before]
    if max(sizes) < 2 and not isinstance(step.op, Keep):  # lists of one, which may be all that there is to drop
        return
    finding = Finding("W080", f"`{step.name}` removes everything that it finds in the samples")
    yield _with_values(finding, expressions_of(step), step.number - 1, runs)


def _is_left_by_law(step: Step, before: Any, after: Any) -> bool:
    """Return whether a list at the root has only its first item left, which is like the removed ones."""
    if step.path.text != "@" or type(after) is not list or len(after) != 1:
        return False
    shape = (*step.path.shape, ("each",))
    conditions = [condition for condition, of_items in expressions_of(step) if of_items == shape]
    matching = {any(condition.holds(item) for condition in conditions) for item in before}
    return bool(conditions) and not step.op.amount() and len(matching) == 1


def _order(step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about the keys by which a step sorts items before it removes the last of them."""
    shape = (*step.path.shape, ("each",))
    items, left = _values(runs, shape, step.number - 1), _values(runs, shape, step.number)
    for key in step.op.sort_keys():
        if not key.order:
            yield from _without_order(key, items)
    for key in step.op.sort_keys()[:1]:
        if key.is_reversed and not key.order:
            yield from _lowest(key, items, left)


def _without_order(key: SortKey, items: Sequence[Any]) -> Iterator[Finding]:
    """Yield a finding if a key of `sort_by` has a few words in no known order, some of them repeatedly."""
    words = []
    for value in map(key.condition.evaluate, items):
        ranked = rank(value)
        if ranked is not None and ranked[0] == OTHER_TEXT:
            words.append(value)
    few = sorted(set(words), reverse=True)
    if 1 < len(few) <= _FEW_WORDS and len(few) < len(words):
        name = "-" * key.is_reversed + key.condition.text
        message = f"{named(few)} are words in no known order, so `{name}` sorts them by the alphabet"
        advice = f"write them in their order, the highest first: sort_by: {{{name}: [{', '.join(few)}]}}"
        yield Finding("W071", message, advice, key.condition.text)


def _lowest(key: SortKey, items: Sequence[Any], left: Sequence[Any]) -> Iterator[Finding]:
    """Yield a finding if a key with `-` removes the highest severities, risks or scores, or the newest times."""
    name = key.condition.text
    ranked = [(found, value) for value in map(key.condition.evaluate, items) if (found := rank(value)) is not None]
    stays = [found for value in map(key.condition.evaluate, left) if (found := rank(value)) is not None]
    if not ranked or not stays or len({found[0] for found, _ in ranked}) > 1:
        return
    (most, highest), kind = max(ranked, key=itemgetter(0)), ranked[0][0][0]
    low, high = ("oldest", "newest") if kind == DATE else ("lowest", "highest")
    if max(stays) < most and (kind in (DATE, LEVEL) or (kind == NUMBER and _SEVERITY.search(name))):
        message = f"`-{name}` keeps the {low}, and removes {literal(highest)}"
        advice = f"for the {high}, write `sort_by: {name}`; for the {low}, add `order: asc` as well"
        yield Finding("W082", message, text=f"-{name}", fixes=(Fix(advice, {f"-{name}": name}),))


# --- keys


def _missing(rule: Rule, step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about keys that a step names and that no sample has."""
    for expression, shape in expressions_of(step):
        yield from _of_condition(expression, shape, step.number - 1, rule, runs)
    yield from _missing_names(rule, step, runs)


def _of_condition(
    condition: Expression, shape: Shape, number: int, rule: Rule, runs: Sequence[Run]
) -> Iterator[Finding]:
    """Yield the keys and values in a condition that no sample has at the places of a shape after step `number`."""
    compared = list(comparisons(condition))
    bare = {comparison.word: comparison for comparison in compared if comparison.is_bare}
    for chain in condition.reads:
        found = _absent(chain, shape, number, rule, runs)
        if found is not None and found.code == "W061" and found.text in bare:
            comparison, word = bare[found.text], f"'{found.text}'"
            message = f"`{found.text}` without quotes is a key, and no sample has it"
            fix = Fix(f"write {word} for the text", {comparison.text: comparison._replace(word=word).written()})
            found = Finding("W066", message, text=found.text, fixes=(fix,))
        if found is not None:
            yield found
    items = _values(runs, shape, number)
    written = {comparison.written() for comparison in compared}
    for comparison in compared:
        instead = meant(comparison, items)
        if instead is not None and instead.written() not in written:
            yield _never_holds(comparison, instead.written(), items)


def _never_holds(comparison: Comparison, instead: str, items: Sequence[Any]) -> Finding:
    """Return the finding about a comparison with a value that no sample has, and what was meant instead."""
    message = f"no sample has {comparison.word} at `{comparison.key}`"
    if comparison.operator[0] in "<>":
        message = f"`{comparison.text}` compares texts, not numbers"
    values = values_text(comparison.key, items)
    fix = Fix(f"{values}: write {instead}", {comparison.text: instead})
    return Finding("W081", message, values, comparison.text, fixes=(fix,))


def _missing_names(rule: Rule, step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield a finding for the keys of `keep` and `drop` that have the same help.

    Next to a key that samples have, the other keys may be optional: those that are not misspelt have no help.
    """
    shape, number = step.path.shape, step.number - 1
    values = _values(runs, shape, number)
    names = list(dict.fromkeys(step.op.names()))
    is_optional = any(_follow(values, chain)[1] == len(chain) for chain in names)
    others = frozenset[str]().union(*names) if is_optional else frozenset[str]()
    has_few = len(items_of(values)) < _MIN_ITEMS
    found = []
    for chain in names:
        absent = _absent(chain, shape, number, rule, runs, others)
        if absent is None:
            continue
        if not absent.fixes and step.op.verb() == "drop" and not (is_optional and len(chain) == 1):
            absent = absent._replace(help=_above(chain, shape, number, runs) or absent.help)
        is_misspelt = absent.fixes and not _is_below(absent)
        if is_misspelt or not (is_optional and has_few):  # few returns have the optional keys
            found.append(absent)
    left_alone = next(_left_alone(step, runs), None)
    for group in _by_help(found):
        yield _of_all(group, left_alone)


def _by_help(found: Iterable[Finding]) -> Iterable[list[Finding]]:
    """Return the findings about keys that have the same help, or that are deeper in the same objects."""
    groups: dict[tuple[bool, str], list[Finding]] = {}
    for finding in found:
        is_below = _is_below(finding)
        groups.setdefault((is_below, "" if is_below else _advice(finding)), []).append(finding)
    return groups.values()


def _of_all(group: Sequence[Finding], left_alone: Finding | None) -> Finding:
    """Return one finding for keys with the same help, or if they are deeper, with one fix for all of them."""
    first = group[0]
    if len(group) > 1:
        keys = the_keys([finding.text for finding in group], _MAX_KEYS)
        first = first._replace(message=f"no sample has {keys}")
    if not _advice(first) and left_alone is not None:
        return first._replace(help=left_alone.message)
    if not _is_below(first):
        return first
    words: dict[str, str] = {}
    for finding in group:
        words |= finding.fixes[0].words
    return first._replace(fixes=(Fix(f"did you mean {named(words.values())}?", words),))


def _advice(finding: Finding) -> str:
    return finding.fixes[0].help if finding.fixes else finding.help


def _is_below(finding: Finding) -> bool:
    """Return whether the fix of a missing key is a path to it."""
    return bool(finding.fixes) and finding.fixes[0].words[finding.text].endswith(f".{finding.text}")


def _above(chain: Chain, shape: Shape, number: int, runs: Sequence[Run]) -> str:
    """Name the place above those of a shape that has a key, and the step that drops it there."""
    text = path_text(chain)
    for length in reversed(range(len(shape))):
        if _follow(_values(runs, shape[:length], number), chain)[1] == len(chain):
            place, here = path_of(shape[:length]), f"not in `{path_of(shape)}`"
            if place == "@":
                return f"`{text}` is at the root of the return, {here}: write a step without `path`: - drop: [{text}]"
            return f"`{text}` is in `{place}`, {here}: write a step of its own: - {{path: {place}, drop: [{text}]}}"
    return ""


def _absent(
    chain: Chain, shape: Shape, number: int, rule: Rule, runs: Sequence[Run], others: Set[str] = frozenset()
) -> Finding | None:
    """Return the finding if no sample has a key at the places of a shape after step `number`.

    With `others`, which the step names too, the key may be optional.
    """
    items, depth = _follow(_values(runs, shape, number), chain)
    keys, text = keys_of(items), ".".join(chain)
    if depth == len(chain) or not keys or "*" in text:
        return None
    for step in reversed(rule.steps[:number]):
        if _follow(_values(runs, shape, step.number - 1), chain)[1] == len(chain):
            if [*step.op.shortens()]:  # fewer items may happen to lack a key
                return None
            advice = f"move this step before step {step.number}, or let that step keep `{text}`"
            return Finding("W062", f"step {step.number} (`{step.name}`) removes `{text}`", advice, text)
    name, dotted = chain[depth], ".".join(chain[depth:])
    similar = nearest(name, set(keys) - others)
    finding = Finding("W061", f"no sample has the key `{text}`", "" if others else f"there are {the_keys(keys)}", text)
    if dotted in keys:
        quoted = ".".join([*chain[:depth], f'"{dotted}"'])
        fix = Fix(f"the name of this key contains dots: write '{quoted}'", {text: quoted})
    elif similar and (not others or _is_misspelt(name, similar)):
        fix = Fix(did_you_mean(similar), {text: ".".join([*chain[:depth], similar, *chain[depth + 1 :]])})
    elif not (holders := paths_to(name, items)) or (others and len(holders) > 1):
        return finding
    elif len(holders) > 1:
        return finding._replace(
            help=f"the objects at {the_keys(holders)} have it: add `.*` to the path, or one of these"
        )
    else:
        below = ".".join([*chain[:depth], holders[0], *chain[depth:]])
        fix = Fix(did_you_mean(below), {text: below})
    return finding._replace(fixes=(fix,))


def _is_misspelt(name: str, meant: str) -> bool:
    """Return whether all words of two names are alike: `last_date` is not a misspelt `last_stats`."""
    words, others = _BETWEEN_WORDS.split(name), _BETWEEN_WORDS.split(meant)
    return len(words) == len(others) and all(nearest(one, [two]) for one, two in zip(words, others, strict=True))


def _values(runs: Sequence[Run], shape: Shape, number: int) -> list[Any]:
    """Return the values at the places of a shape in all samples after step `number`."""
    values = []
    for run in runs:
        if run.left[number] is not None:
            values += [place.value for place in walk(shape, ValuePlace(run.left[number]))]
    if not values and shape[-1:] == (("each",),):  # conditions also select the values of an object
        return _values(runs, (*shape[:-1], ("values",)), number)
    return values


def _follow(values: Iterable[Any], chain: Chain) -> tuple[list[Any], int]:
    """Follow keys through objects and lists. Return the values at the level where one is absent, and the level."""
    for depth, name in enumerate(chain):
        items = items_of(values)
        values = values_of(name, items)
        if not values:
            return items, depth
    return [], len(chain)
