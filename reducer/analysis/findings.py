"""What the samples of a rule reveal about its gate, its steps and the keys and values that they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, NamedTuple

from reducer.analysis.comparisons import Comparison, comparisons, lacking_text, meant, values_text
from reducer.analysis.counterexamples import expressions_of
from reducer.analysis.explanation import Explanation, StepReport
from reducer.analysis.measures import step_label
from reducer.analysis.query import explain, holders_of, items_of, keys_of, the_keys, type_name, values_of
from reducer.analysis.texts import HASHES_AND_LINKS
from reducer.engine import StepRun
from reducer.errors import counted, did_you_mean, nearest
from reducer.formats import NOTATIONS, read_as
from reducer.operations.fields import SortKey
from reducer.operations.keep import Keep
from reducer.operations.op import named
from reducer.paths import Chain, Expression, Shape, ValuePlace, compile_path, names_of, walk
from reducer.paths.ranks import DATE, NUMBER, OTHER_TEXT, rank
from reducer.paths.written import path_text
from reducer.rules import Rule, Step, When
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


class Fix(NamedTuple):
    """A correction to try, which `help` describes: `words` maps parts of the texts of a step to what replaces them.

    A safe fix can be applied without asking.
    """

    help: str
    words: Mapping[str, str]
    is_safe: bool = False


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
    if rule.when is not None and runs:
        for finding in _of_gate(rule, rule.when, runs):
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


def _of_gate(rule: Rule, when: When, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about the `when` of a rule."""
    never_runs = all(run.did.status == "gated" for run in runs)
    for finding in _of_when("the rule", when, rule, runs):
        if finding.code != "W063" or never_runs:
            yield finding._replace(help=finding.help or "add a test with a return for which it holds")


def _of_when(name: str, when: When, rule: Rule, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about a `when` that holds for no sample."""
    where = when.where
    missing = list(_of_condition(where, (), 0, rule, runs)) if where else []
    yield from missing
    if not missing:
        finding = Finding("W063", f"{name} never runs, because its `when` holds for no sample")
        yield _with_values(finding, [(where, ())] if where else [], 0, runs)


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
    elif not ran and step.op.when is not None:
        yield from _of_when(f"`{step.name}`", step.op.when, rule, reached)
    elif "*" not in rule.tools or step.path.text != "@":
        # The samples of a rule for all tools do not have to exercise each of its steps.
        yield _without_effect(rule, step, ran)


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
    found = _values(runs, step.path.shape, step.number - 1)
    if [*step.op.names()] and set(map(type, items_of(found))) == {str}:
        advice = "the items are texts, which have no keys: write a filter such as \"[?contains(@, 'part')]\""
        return finding._replace(help=advice)
    if [*step.op.shortens()] and set(map(type, found)) == {dict}:
        lists = [key for key in keys_of(found) if list in map(type, values_of(key, found))]
        if lists:
            where = "the return" if step.path.text == "@" else f"`{step.path.text}`"
            advice = f"{where} is an object: add the key of a list to `path`: {named(lists, 'or')}"
            return finding._replace(help=advice)
    return _with_values(finding, expressions_of(step), step.number - 1, runs)


def _finds_nothing(rule: Rule, step: Step, runs: Sequence[Run]) -> Finding:
    """Return the finding about a path that finds nothing in any sample, with the most helpful reason."""
    text, number = step.path.text, step.number - 1
    wrapper = _WRAPPER.match(text) if any(run.is_wrapper for run in runs) else None
    if wrapper is not None:
        return _names_wrapper(text, text[wrapper.end() :] or "@")
    reasons = [nothing for run in runs if (nothing := _report(run, step).nothing) is not None]
    why = next((reason for reason in reasons if reason.path), reasons[0])
    cause = why.message.removesuffix(f"; {did_you_mean(why.path)}")
    found = step.path.find(runs[0].left[number])
    if found and type(found[0]) is str and str not in step.op.accepts:
        return Finding("W060", cause, _notation(found[0]), step.op.verb())
    finding = Finding("W060", f"`{text}` finds nothing in any sample", cause, text)
    at_first = compile_path(explain(step.path, runs[0].left[0]).path or text)

    def finds(number: int) -> bool:
        return any(at_first.find(run.left[number]) for run in runs)

    remover = _remover(rule, number, finds) if _keys(at_first.text) == _keys(text) and not found else None
    if remover is not None:
        advice = f"step {remover.number} (`{remover.name}`) removes `{at_first.text}`: {_move(remover, 'it')}"
        return finding._replace(code="W062", help=advice)
    if not why.path:
        return _with_values(finding, expressions_of(step), number, runs)
    is_safe = _keys(why.path) == _keys(text)
    return finding._replace(fixes=(Fix(f"{cause}; {did_you_mean(why.path)}", {text: why.path}, is_safe),))


def _names_wrapper(text: str, inside: str) -> Finding:
    """Return the finding about a path through a wrapper of MCP, with the rest of the path."""
    paths = (inside, inside.removeprefix("result").removeprefix(".") or "@", f"[*].{inside}")
    fixes = tuple(Fix(f"write `{path}`", {text: path}) for path in paths)
    return Finding("W067", f"`{text}` names the wrapper of MCP, which rules do not see", text=text, fixes=fixes)


def _notation(text: str) -> str:
    """Return advice about a step that works on lists, for a text: the notation that can read it, or its lines."""
    for name in NOTATIONS:
        if name != "lines" and read_as(text, [name]) is not None:
            return f"it reads as {name}: write `text: {name}`"
    return "to select its lines, write `text: lines`"


def _remover(rule: Rule, number: int, is_there: Callable[[int], bool]) -> Step | None:
    """Return the step that removes something from the samples, which they do not have after step `number`."""
    for step in reversed(rule.steps[:number]):
        if is_there(step.number - 1) and not is_there(step.number):
            return step
    return None


def _move(remover: Step, what: str) -> str:
    return f"move this step before step {remover.number}, or let that step keep {what}"


def _keys(path: str) -> list[str]:
    """Return the names of the keys in a path."""
    return [name for name in names_of(compile_path(path).shape) if name != "*"]


def _with_values(
    finding: Finding, expressions: Iterable[tuple[Expression, Shape]], number: int, runs: Sequence[Run]
) -> Finding:
    """Add the values of the keys that expressions compare after step `number`."""
    texts = [finding.help]
    for expression, shape in expressions:
        items = _values(runs, shape, number)
        keys = [comparison.key for comparison in comparisons(expression)]
        for key in keys or map(path_text, expression.reads):
            texts.append(values_text(key, items))
        for key in keys:
            texts.append(lacking_text(key, items))
    return finding._replace(help="; ".join(dict.fromkeys(filter(None, texts))))


def _too_much(rule: Rule, step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about what a step removes from samples that it changes.

    A step that names keys may remove all entities if these keys contain only hashes and links.
    """
    total, lost = 0, list[str]()
    for run in runs:
        total += sum(recall.total for recall in run.did.entities.values())
        label = step_label(rule, _report(run, step).run)
        lost += [entity.type for entity in run.did.lost_entities if entity.step == label]
    undone = next((run for run in runs if _report(run, step).is_undone), None)
    if undone is not None:
        report = _report(undone, step)
        removed = counted(report.before - report.after, "character")
        restored = f"preserve restores {report.restored:,} of the {removed}"
        yield Finding("W051", f"{restored} that `{step.name}` removes in {undone.name}")
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
    matching = set()
    for item in before:
        matching.add(any(condition.holds(item) for condition in conditions))
    return bool(conditions) and not step.op.amount() and len(matching) == 1


def _order(step: Step, runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the findings about the keys by which a step sorts items before it removes the last of them."""
    shape, keys = (*step.path.shape, ("each",)), [key for key in step.op.sort_keys() if not key.order]
    items, left = _values(runs, shape, step.number - 1), _values(runs, shape, step.number)
    for key in keys:
        yield from _without_order(key, items)
    if keys and keys[0] is next(iter(step.op.sort_keys())) and keys[0].is_reversed:
        yield from _lowest(keys[0], items, left)


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
    ranks, stays = ([*filter(None, map(rank, map(key.condition.evaluate, some)))] for some in (items, left))
    kinds = {found[0] for found in ranks}
    if len(kinds) != 1 or not stays or max(stays) == max(ranks) or OTHER_TEXT in kinds:
        return
    low, high = ("oldest", "newest") if DATE in kinds else ("lowest", "highest")
    if NUMBER not in kinds or _SEVERITY.search(name):
        message = f"`-{name}` keeps the {low}, and removes the {high}"
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
    """Yield one finding for the keys of `keep` and `drop` that are misspelt, and one for the others that are missing.

    Next to a key that samples have, the other keys may be optional, and few items do not show them.
    """
    shape, number = step.path.shape, step.number - 1
    values = _values(runs, shape, number)
    names = list(dict.fromkeys(step.op.names()))
    is_optional = any(_follow(values, chain)[1] == len(chain) for chain in names)
    others = frozenset[str]().union(*names) if is_optional else frozenset[str]()
    found = [absent for chain in names if (absent := _absent(chain, shape, number, rule, runs, others)) is not None]
    yield from _together([absent for absent in found if absent.fixes])
    if not is_optional or len(items_of(values)) >= _MIN_ITEMS:
        left_alone = next((finding.message for finding in _left_alone(step, runs)), "")
        for finding in _together([absent for absent in found if not absent.fixes]):
            yield finding._replace(help=finding.help or left_alone)


def _together(group: Sequence[Finding]) -> Iterator[Finding]:
    """Yield one finding about several keys, with one fix for all of them."""
    if len(group) < 2:
        yield from group
        return
    words: dict[str, str] = {}
    for finding in group:
        for fix in finding.fixes:
            words |= fix.words
    fixes = (Fix(f"did you mean {named(words.values())}?", words),) if words else ()
    keys = the_keys([finding.text for finding in group], _MAX_KEYS)
    yield group[0]._replace(message=f"no sample has {keys}", fixes=fixes)


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

    def is_there(number: int) -> bool:
        return _follow(_values(runs, shape, number), chain)[1] == len(chain)

    remover = _remover(rule, number, is_there)
    if remover is not None:
        if [*remover.op.shortens()]:  # fewer items may happen to lack a key
            return None
        message = f"step {remover.number} (`{remover.name}`) removes `{text}`"
        return Finding("W062", message, _move(remover, f"`{text}`"), text)
    advice = "" if others else f"the objects have {the_keys(keys)}"
    finding = Finding("W061", f"no sample has the key `{text}`", advice, text)
    name, rest, dotted = chain[depth], chain[depth + 1 :], ".".join(chain[depth:])
    similar = nearest(name, set(keys) - others)
    holders = holders_of(name, items) if not others or len(items) >= _MIN_ITEMS else []
    if dotted in keys:
        quoted = ".".join([*chain[:depth], f'"{dotted}"'])
        fix = Fix(f"the name of this key contains dots: write '{quoted}'", {text: quoted})
        return finding._replace(fixes=(fix,))
    if similar and (not others or _is_misspelt(name, similar)):
        meant = similar
    elif len(holders) == 1:
        meant = f"{path_text(holders)}.{name}"
    else:
        at = f"the objects at {the_keys(holders)} have it: add `.*` to the path, or one of these"
        return finding._replace(help=at) if holders and not others else finding
    path = ".".join([*chain[:depth], meant, *rest])
    return finding._replace(fixes=(Fix(did_you_mean(path), {text: path}),))


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
