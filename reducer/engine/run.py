"""Reduce one return: apply its rule, and return the result only if a second pass does not change it (law 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reducer.engine.budget import fit
from reducer.engine.outcome import Outcome, StepRun
from reducer.engine.restore import restore
from reducer.engine.stability import stabilized
from reducer.entities.vocabulary import BUILT_IN
from reducer.formats import parse, parse_nested
from reducer.plan.nodes import LAST, LEAVES, Opened, build, fits, open_lines, open_parsed, open_return
from reducer.plan.place import Place, Settings, Work
from reducer.plan.protected import Protected, References, Scans
from reducer.rules import Rule, Ruleset, Step, When
from reducer.rules.model import TextPaths
from reducer.values import (
    MAX_DEPTH,
    MAX_TEXT_CHARS,
    PLAIN,
    Unreducible,
    chars,
    dump,
    is_media,
    plain,
    readable_part,
    shown,
    with_items,
)

_FLAT = PLAIN - {str, list}
_EVERY_TEXT = TextPaths({}, None, None, here=False, all=True)


def reduce_content(ruleset: Ruleset, tool: str, content: Any, protected: Protected | None = None) -> Any:
    """Reduce the content of one return of `tool`: JSON text, plain text, a list, an object or a live object.

    The result keeps every value in `protected` that the content contains, written as in `reducer.references`. If
    `protected` is a function, it is called only if the rule removes something. Return the same object if the tool has
    no rule or nothing changes. Never raises.
    """
    return attempt(ruleset, tool, content, protected).content


def attempt(ruleset: Ruleset, tool: str, content: Any, protected: Protected | None = None) -> Outcome:
    """Reduce one content like `reduce_content`, and return the result with what each step did."""
    rule = ruleset.rule_for(tool)
    if rule is None:
        return Outcome(None, content)
    try:
        return _reduced(rule, content, protected)
    except Unreducible as error:
        fault = str(error)
    except RecursionError:
        fault = "deeper than the interpreter goes"
    # Reduce the rest of the content, unless it is itself an item that cannot be read, or contains itself.
    hidden: list[tuple[Any, Any]] = []
    readable = readable_part(content, hidden)
    has_rest = bool(hidden) and all(item is not content for _, item in hidden)
    outcome = attempt(ruleset, tool, readable, protected) if has_rest else None
    if outcome is None or outcome.content is readable:
        return Outcome(rule, content, fault=fault)
    result = with_items(outcome.content, lambda item: next((one for mask, one in hidden if mask is item), item))
    return replace(outcome, content=result, fault=outcome.fault or f"{fault}, so an item stays unchanged")


def apply_once(rule: Rule, content: Any) -> Outcome:
    """Apply a rule to a content in one pass, whatever a second pass would change. Raises `Unreducible`."""
    top = _opened(rule.text_paths, content)
    if top is None:
        return Outcome(rule, content)
    return _one_pass(rule, content, _work(rule, top, _scans(rule), References(None, content, is_text=False)))


def prepare(ruleset: Ruleset) -> None:
    """Build the scanners of all rules in advance, so that the first return does not wait for them."""
    for rule in ruleset.rules:
        rule.vocabulary.scanner(rule.types)
        rule.vocabulary.scanner_of_many(rule.types)
        if any(step.op.cuts_blindly for step in rule.steps) or rule.max_chars is not None:
            rule.vocabulary.everything()


def _reduced(rule: Rule, content: Any, protected: Protected | None) -> Outcome:
    # A live object is reduced as it is stored; an enum, for example, as its text.
    if type(content) not in PLAIN and type(content) is not tuple and (stored := shown(content)) is not content:
        outcome = _reduced(rule, stored, protected)
        return replace(outcome, content=content) if outcome.content is stored else outcome
    if type(content) is str:
        if rule.when is not None and rule.when.min_chars and len(content) < rule.when.min_chars:
            return Outcome(rule, content, gated=True)
        if len(content) > MAX_TEXT_CHARS:
            raise Unreducible(f"a text of more than {MAX_TEXT_CHARS:,} characters")
    top = _opened(rule.text_paths, content)
    if top is None:
        return Outcome(rule, content)
    scans, references = _scans(rule), References(protected, content, type(top.value) is str or top.is_text)

    def one_pass(rule: Rule, reads: frozenset[str], value: Any) -> Outcome:
        opened = _opened(rule.text_paths, value)
        if opened is None:
            return Outcome(rule, value)
        return _one_pass(rule, value, _work(rule, opened, scans, references), reads)

    first = _one_pass(rule, content, _work(rule, top, scans, references))
    return stabilized(rule, content, first, one_pass)


# --- one pass


def _opened(paths: TextPaths | None, content: Any) -> Opened | None:
    return open_return(content, by_lines=paths is not None and paths.lines)


def _scans(rule: Rule) -> Scans:
    return Scans(rule.vocabulary, rule.types)


def _work(rule: Rule, top: Opened, scans: Scans, references: References) -> Work:
    return Work(top, Settings(rule.marks, rule.all_keys), scans, references)


def _one_pass(rule: Rule, content: Any, work: Work, reads: frozenset[str] = frozenset()) -> Outcome:
    """Apply a rule once to an opened content: open texts, apply steps, restore, fit into `max_chars`, write.

    Thin items keep the keys in `reads`; `*` stands for all keys.
    """
    top = work.top
    if rule.text_paths is not None and not top.is_text:  # a line is a text, whatever it contains
        _open_texts(work.root(), rule.text_paths)
    arrived = build(top.value, top.inside.get(0), 0, seen=True)
    if rule.when is not None and not _holds(rule.when, arrived, top):
        return Outcome(rule, content, gated=True)
    steps = [_apply(step, work, arrived) for step in rule.steps]
    ran = [each.step for each in steps if each.ran and each.step is not None]
    for step in ran:
        if step.op.runs_again:
            step.apply(work)
    if rule.max_chars is None:
        restored = restore(work, rule, reads)
    else:
        work.step = len(rule.preserved) - 1
        before = work.edits
        restored = fit(work, rule, reads, ran)
        steps.append(StepRun(None, work.step, True, places=1, changed=work.edits > before))
    is_proven = rule.statically_idempotent and not work.in_maps and not restored.referenced
    return Outcome(
        rule, _written(rule, content, top), is_proven=is_proven, steps=tuple(steps), restored=restored, top=top
    )


def _written(rule: Rule, content: Any, top: Opened) -> Any:
    """Write the content with a finished plan. Return the same object if nothing changes or the text would be longer."""
    value = build(top.value, top.inside.get(0))
    compact = type(content) is str and any(step.op.writes_compactly for step in rule.steps)
    if value is top.value and not (compact and top.is_json):
        return content
    new = top.write(value)
    if type(content) is str and compact and not top.is_json and (found := parse(new)) and found[1].is_json:
        new = dump(value)  # what is left of a Python literal is also JSON, such as `[1, 2]`: the next pass reads JSON
    return content if new == content or (type(content) is str and len(new) > len(content)) else new


def _apply(step: Step, work: Work, arrived: Any) -> StepRun:
    ran = step.op.when is None or _holds(step.op.when, arrived, work.top)
    work.step, edits = step.number, work.edits
    places = step.apply(work) if ran else 0
    return StepRun(step, step.number, ran, places, changed=work.edits > edits)


def _holds(when: When, arrived: Any, top: Opened) -> bool:
    """Return whether a gate holds for the original return."""
    if when.min_chars is not None:
        written = top.value if top.is_json else top.write(top.value)
        if chars(written) < when.min_chars:
            return False
    return when.where is None or when.where.holds(arrived)


def seen_by(paths: TextPaths | None, content: Any) -> Any:
    """Return a content in plain JSON types as the steps of a rule with these paths see it. Raises `Unreducible`."""
    top = _opened(paths, content)
    if top is None:
        return plain(content)
    if paths is not None and not top.is_text:
        work = Work(top, Settings(), Scans(BUILT_IN, frozenset()), References(None, content, is_text=False))
        _open_texts(work.root(), paths)
    return plain(build(top.value, top.inside.get(0), LAST, seen=True))


def _open_texts(place: Place, paths: TextPaths, every_text: bool = False) -> None:
    """Open the texts on the paths below a place, or with `every_text` all JSON texts below it."""
    value, every_text = place.value, every_text or paths.all
    if type(value) is list:
        below = paths.of_items()
        if every_text or (below is not None and not _is_flat(value, below)):
            for index in range(len(value)):
                _open_child(place, index, below or _EVERY_TEXT, every_text)
    elif type(value) is dict and not is_media(value):
        for key in value if paths.every is not None or every_text else paths.names.keys() & value.keys():
            _open_child(place, key, paths.names.get(key) or paths.every or _EVERY_TEXT, every_text)


def _open_child(place: Place, key: Any, paths: TextPaths, every_text: bool) -> None:
    value = place.value[key]
    if type(value) is not str and type(value) not in LEAVES:
        value = place.child(key).value  # an enum is read as its text
    if type(value) is str and (every_text or paths.here or paths.all):
        parsed = parse_nested(value)
        if parsed is None and paths.lines and value:
            place.inside[key] = open_lines(value, nested=True)
            return
        if parsed is None or not (paths.here or parsed[1].is_json):  # `unwrap` replaces JSON texts only
            return
        if not fits(parsed[0], MAX_DEPTH - place.depth - 1, paths.here):  # it must not turn data into media items
            return
        place.inside[key] = open_parsed(*parsed)
    elif type(value) in LEAVES:
        return
    _open_texts(place.child(key), paths, every_text)


def _is_flat(items: list[Any], paths: TextPaths) -> bool:
    """Return whether a list contains only objects and numbers without a text to open. This check runs at C speed."""
    return not paths.names and paths.every is None and not paths.all and _FLAT.issuperset(map(type, items))
