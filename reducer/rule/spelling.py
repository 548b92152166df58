"""The keys of a rule file as they were meant: what is misspelt or misplaced is told once, and the rest is read with the likeliest meaning."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache

from reducer.op import Op
from reducer.op.fields import Amount
from reducer.rule.model import SHARED_KEYS, Expect, Given, RuleFile, SharedFile, StepKeys, Test, When
from reducer.rule.problems import Report
from reducer.rule.sayings import DIRECTIONS, is_sure, meant
from reducer.rule.vocabulary import EntityKeys
from reducer.source import Mapping as MappingNode
from reducer.source import Scalar, Tree
from reducer.source import Sequence as SequenceNode

Verbs = Mapping[str, type[Op]]
_Change = Callable[[Tree], Tree]


def respelled(tree: Tree, report: Report, verbs: Verbs) -> Tree:
    """Give the tree of a rule file with the keys that its language has; every other key is noted, renamed where its meaning is clear, else left out."""
    if not isinstance(tree, MappingNode):
        return tree

    def mapping(model: type[RuleFile | When | Test | Given | Expect | EntityKeys | Amount], **inside: _Change) -> _Change:
        known = _keys_of(model)
        return lambda node: _entered(_spelled(node, known, report, verbs), inside)

    def step(node: Tree) -> Tree:
        return _entered(_step(node, report, verbs), {"when": mapping(When), "limit": mapping(Amount), "truncate": mapping(Amount)})

    names = {str(key.value) for key, _ in tree.entries}
    known = SharedFile if names & SHARED_KEYS and names <= SharedFile.model_fields.keys() else RuleFile
    inside = {
        "when": mapping(When),
        "steps": lambda node: _each(node, step),
        "tests": lambda node: _each(node, mapping(Test, given=mapping(Given), expect=mapping(Expect))),
        "entities": lambda node: _entered(node, dict.fromkeys(_names(node), mapping(EntityKeys))),
    }
    return _entered(_spelled(tree, _keys_of(known), report, verbs), inside)


@cache
def _keys_of(model: type[RuleFile | SharedFile | When | Test | Given | Expect | EntityKeys | Amount | StepKeys]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _names(node: Tree) -> Iterable[str]:
    return [str(key.value) for key, _ in node.entries] if isinstance(node, MappingNode) else ()


def _each(node: Tree, change: _Change) -> Tree:
    return replace(node, items=tuple(map(change, node.items))) if isinstance(node, SequenceNode) else node


def _entered(node: Tree, inside: Mapping[str, _Change]) -> Tree:
    if not isinstance(node, MappingNode):
        return node
    return replace(node, entries=tuple((key, inside[str(key.value)](value) if key.value in inside else value) for key, value in node.entries))


def _step(node: Tree, report: Report, verbs: Verbs) -> Tree:
    """Spell a step by its action: the first that it names, or else the likeliest."""
    if not isinstance(node, MappingNode):
        return node
    names = list(_names(node))
    common = _keys_of(StepKeys)
    own = next((name for name in names if name in verbs), "")
    if not own:
        unknown = [name for name in names if name not in common and not _placed(name, verbs)]
        own = next(filter(None, (meant(name, verbs) for name in unknown)), "")
    known = [*(verbs[own].model_fields if own else verbs), *common]
    entries = []
    second = False
    for key, value in node.entries:
        if key.value in verbs and own and key.value != own:
            if not second:
                report(key, "E014", f"a second action beside `{own}`", "write one step for each action")
            second = True
        else:
            entries.append((key, value))
    beside = own and not second
    spelled = _spelled(replace(node, entries=tuple(entries), lost=node.lost or second), known, report, verbs, f" beside `{own}`" if beside else "", not second)
    if not own and isinstance(spelled, MappingNode) and not spelled.lost:
        report(node, "E013", "this step has no action", f"expected one of {', '.join(f'`{verb}`' for verb in verbs)}")
    return spelled


def _spelled(node: Tree, known: Collection[str], report: Report, verbs: Verbs, beside: str = " here", placed: bool = True) -> Tree:
    """Give a mapping with `known` keys only. Without `placed` a key of another action is left out without a word."""
    if not isinstance(node, MappingNode):
        return node
    present = set(_names(node))
    if present.issubset(known):
        return node
    free = [name for name in known if name not in present]
    entries: list[tuple[Scalar, Tree]] = []
    for key, value in node.entries:
        word = str(key.value)
        if word in known:
            entries.append((key, value))
            continue
        elsewhere = _placed(word, verbs)
        name = "" if elsewhere else meant(word, free)
        if elsewhere:
            if placed:
                report(key, "E018", f"`{word}` has no place{beside or ' here'}", elsewhere)
        elif name:
            free.remove(name)
            report(key, "E010", f"unknown key `{word}`", f"did you mean `{name}`?", fix=name if is_sure(word, name, known) else None)
            entries.append((replace(key, value=name), value))
        elif "order" in free and word.lower() in DIRECTIONS:
            report(key, "E010", f"unknown key `{word}`", f"write `order: {meant(word, ('asc', 'desc'))}`")
        else:
            other = meant(word, known)
            report(key, "E010", f"unknown key `{word}`", _listed(other, known))
    return replace(node, entries=tuple(entries), lost=node.lost or len(entries) < len(node.entries))


def _listed(other: str, known: Collection[str]) -> str:
    if other:
        return f"`{other}` stands here already"
    return f"expected one of {', '.join(f'`{name}`' for name in known)}"


def _placed(word: str, verbs: Verbs) -> str:
    """Say where a key of the language stands; empty for none."""
    if word in verbs:
        return f"it is an action: write it in a step, `steps: [{{{word}: …}}]`"
    beside = [verb for verb, op in verbs.items() if word in op.model_fields]
    if beside:
        return f"it stands beside {' and '.join(f'`{verb}`' for verb in beside)}"
    homes: tuple[tuple[str, Collection[str]], ...] = (
        ("in a step", ("path",)),
        ("at the top of the file, without blanks before it", _TOP),
        ("in `when`", _keys_of(When)),
    )
    return next((f"it stands {where}" for where, names in homes if word in names), "")


_TOP = frozenset(_keys_of(RuleFile)) - {"when", "preserve", "description", "version", "entities", "conditions"}
