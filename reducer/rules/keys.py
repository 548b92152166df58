"""Checks the keys of a rule file: reports misspelt and misplaced ones, so that the rest can be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from pydantic import BaseModel

from reducer.operations.fields import Amount
from reducer.operations.op import Op
from reducer.rules.diagnostics import Report
from reducer.rules.entities import EntityKeys
from reducer.rules.model import Expect, Given, RuleFile, StepKeys, Test, When
from reducer.rules.tree import Mapping as MappingNode
from reducer.rules.tree import Scalar, Tree, replaced
from reducer.rules.tree import Sequence as SequenceNode
from reducer.rules.validation import is_typo, listed, nearest

Operations = Mapping[str, type[Op]]
_Check = Callable[[Tree], Tree]


def checked_keys(tree: Tree, report: Report, operations: Operations) -> Tree:
    """Return the tree of a rule file with the keys of the rule language only.

    Every other key is reported, and renamed if it is a misspelling, else left out.
    """
    if not isinstance(tree, MappingNode):
        return tree
    keys = _Keys(report, operations)
    inside = {
        "when": keys.of(When),
        "steps": lambda node: _each(node, keys.step),
        "tests": lambda node: _each(node, keys.of(Test, given=keys.of(Given), expect=keys.of(Expect))),
        "entities": lambda node: _inside(node, dict.fromkeys(_names(node), keys.of(EntityKeys))),
    }
    return keys.of(RuleFile, **inside)(tree)


def field_names(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the keys that a model is read from."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _names(node: Tree) -> list[str]:
    return [str(key.value) for key, _ in node.entries] if isinstance(node, MappingNode) else []


def _each(node: Tree, check: _Check) -> Tree:
    return replace(node, items=tuple(map(check, node.items))) if isinstance(node, SequenceNode) else node


def _inside(node: Tree, checks: Mapping[str, _Check]) -> Tree:
    if not isinstance(node, MappingNode):
        return node
    entries = []
    for key, value in node.entries:
        check = checks.get(str(key.value))
        entries.append((key, check(value) if check else value))
    return replace(node, entries=tuple(entries))


@dataclass(frozen=True, slots=True)
class _Keys:
    """Checks the keys of mappings."""

    report: Report
    operations: Operations

    def of(self, model: type[BaseModel], **inside: _Check) -> _Check:
        """Return the check for a mapping with the keys of a model."""
        known = field_names(model)
        return lambda node: _inside(self._known(node, known, " here"), inside)

    def step(self, node: Tree) -> Tree:
        """Check a step: the keys of its first action and those of every step."""
        if not isinstance(node, MappingNode):
            return node
        names = _names(node)
        action = next((name for name in names if name in self.operations), "")
        unknown = [name for name in names if name not in field_names(StepKeys) and not self._home(name)]
        if not action:
            action = next(filter(None, (nearest(name, self.operations) for name in unknown)), "")
        second = [key for key, _ in node.entries if key.value in self.operations and action not in ("", key.value)]
        if second:
            self.report.add(second[0], "E014", f"second action beside `{action}`")
        known = [*(self.operations[action].model_fields if action else self.operations), *field_names(StepKeys)]
        if second or (unknown and not action):
            # The keys of a second or unknown action are no problem of their own.
            entries = tuple(one for one in node.entries if one[0].value in known or not self._owners(one[0].value))
            node = replace(node, entries=entries, incomplete=True)
        checked = self._known(node, known, f" beside `{action}`" if action else " here")
        if not action and isinstance(checked, MappingNode) and not checked.incomplete:
            self.report.add(node, "E013", "this step has no action", f"expected one of {listed(self.operations)}")
        amounts = {"limit": self.of(Amount), "truncate": self.of(Amount)}
        return _inside(checked, {"when": self.of(When), **amounts})

    def _known(self, node: Tree, known: Collection[str], where: str) -> Tree:
        """Return a mapping with `known` keys only."""
        if not isinstance(node, MappingNode):
            return node
        free = [name for name in known if name not in _names(node)]
        entries: list[tuple[Scalar, Tree]] = []
        for key, value in node.entries:
            word = str(key.value)
            home = self._home(word)
            name = word if word in known else "" if home else nearest(word, free)
            if name:
                entries.append((replace(key, value=name), value))
            if word in known:
                continue
            if home:
                self.report.add(key, "E018", f"`{word}` is not allowed{where}", home)
            elif name:
                free.remove(name)
                fix = replaced(key, name) if is_typo(word, name, known) else ()
                self.report.add(key, "E010", f"unknown key `{word}`", f"did you mean `{name}`?", fix=fix)
            else:
                self.report.add(key, "E010", f"unknown key `{word}`", f"expected one of {listed(known)}")
        return replace(node, entries=tuple(entries), incomplete=node.incomplete or len(entries) < len(node.entries))

    def _home(self, word: str) -> str:
        """Return where a key of the rule language belongs; an empty text for any other word."""
        if word in self.operations:
            return f"it is an action: write it in a step, `steps: [{{{word}: …}}]`"
        if owners := self._owners(word):
            return f"it belongs beside {listed(owners)}"
        homes: tuple[tuple[str, Iterable[str]], ...] = (
            ("in a step", ("path",)),
            ("at the top of the file, without indentation", ("tool", "steps", "max_chars", "keys", "tests")),
            ("in `when`", field_names(When)),
        )
        return next((f"it belongs {where}" for where, names in homes if word in names), "")

    def _owners(self, word: object) -> list[str]:
        return [action for action, op in self.operations.items() if word in op.model_fields]
