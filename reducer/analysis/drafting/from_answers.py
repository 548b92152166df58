"""Drafts without evidence: from the answers of a tool to a rule that keeps their substance.

The substance is almost all entities, and the longest text of each record. Keys go by their rank, then long texts are
cut, and lists without sentences are limited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from glob import escape
from itertools import accumulate
from typing import Any, NamedTuple

from reducer.analysis.drafting.profiles import Path, Profile, profile
from reducer.analysis.drafting.ranking import (
    NEVER_COUNTED,
    REDUNDANT,
    Leaf,
    Rank,
    always_keep,
    is_writable_path,
    key_text,
    rank,
    record_of,
    sort_key,
)
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, at, compiled, draft
from reducer.analysis.texts import entities, opened
from reducer.engine import Outcome, attempt
from reducer.entities import TYPES, scan
from reducer.rules import compile_rules
from reducer.values import chars

ENOUGH = 0.70
"""The share of the characters that a draft should save."""
BIG = 2000
"""Shorter answers are not worth reducing: about five hundred tokens."""
_MIN_RECALL, _MAX_DROPPED = 0.90, 0.05
"""The share of the entities that a draft keeps, and the share that the keys that it drops may contain alone."""
_MODELINE = "yaml-language-server: $schema=.schema.json"
"""Tells editors that the schema of a rule file is next to it."""
_ROUND = 5
_PRESERVE = ["ioc", "cve", "mitre_attack", "threat_actor", "malware"]
_NOTES = {
    "preserve": "The answers cannot be that short with all of their entities.",
    "max_chars": "Cut the rest evenly.",
}


class Level(NamedTuple):
    """How strict a draft is.

    points: keys with fewer points are dropped
    text: characters of the longest text of a record; other texts keep half of it
    items: items of a list without sentences, or 0 for all
    """

    points: int
    text: int
    items: int = 0


LEVELS = (
    *(Level(-4, 2000), Level(-2, 1000), Level(0, 1000, 200), Level(0, 600, 100), Level(1, 600, 100), Level(2, 500, 50)),
    *(Level(3, 400, 50), Level(3, 300, 30), Level(3, 200, 30), Level(3, 150, 30)),
    *(Level(4, 200, 30), Level(5, 200, 30), Level(5, 150, 30)),
)
"""Levels from harmless to strict; the first that saves enough is used."""
_REFERENCES = "id ids uid uuid guid from to source target ref refs parent"
_ELSEWHERE = 4
"""The points that a leaf of links and hashes loses if other leaves contain all of them."""
_LINKS = frozenset({"url", "md5", "sha1", "sha256", "sha512"})
_LITTLE, _TINY = 0.01, 0.001
"""A place, or a key, with a smaller share of the characters is not worth a step."""
_MAX_STEPS, _MAX_TEXTS, _MAX_NAMED, _MANY_LINES = 20, 5, 8, 20


@dataclass(frozen=True, slots=True)
class Trial:
    """A rule, the outcomes of applying it to answers, and the characters and entities of the answers before and after.

    Entities that only links of an API and pictures contain are not counted.
    """

    rule: DraftRule
    outcomes: tuple[Outcome, ...]
    before: int
    after: int
    entities: int
    kept: int

    @property
    def saved(self) -> float:
        """The share of the characters that the rule removes."""
        return 1 - self.after / self.before if self.before else 0.0


def draft_rule(
    tool: str, contents: Sequence[Any], source: str, file: str, *, target: float | None = None
) -> tuple[Draft, Trial] | None:
    """Draft the rule of `tool` from its answers (plain JSON values); return None if nothing can be removed.

    source: describes the origin of the answers, for the header
    file: the name of the rule file without its extension
    target: the share of the characters to save at any cost; by default entities and texts stay
    """
    big = [content for content in contents if chars(content, BIG) >= BIG]
    answers = big or list(contents)
    trial = _best_trial(answers, {"when": {"min_chars": BIG}} if big else {}, target)
    if trial is None or trial.after >= trial.before:
        return None
    result = f"It saves {trial.saved:.0%} of the characters and keeps {trial.kept:,} of {trial.entities:,} entities."
    advice = "Read each step, change what it should not remove, then run its test."
    header = [_MODELINE, f"Drafted from {source}. {result} {advice}"]
    written = draft(replace(trial.rule, tool=escape(tool), notes=_NOTES), file, header, _test(answers, trial))
    ruleset, problems = compile_rules([("draft.yaml", written.text)])
    return None if ruleset is None or problems else (replace(written, tool=tool), trial)


def _best_trial(answers: Sequence[Any], gate: Mapping[str, Any], target: float | None) -> Trial | None:
    """Return the trial of the most harmless level that saves enough, otherwise of the strictest one."""
    sketch, goal = Sketch.of(profile(answers)), target or ENOUGH

    def trials(levels: Iterable[Level]) -> Iterator[Trial]:
        for level in levels:
            trial = _try_useful_steps(DraftRule("*", tuple(_steps(sketch, level)), gate), answers, sketch.uncounted)
            if trial is not None and trial.kept >= _MIN_RECALL * trial.entities:
                yield trial

    strictest = next(trials(reversed(LEVELS)), None)
    if strictest is not None and strictest.saved >= goal:
        return next(trial for trial in trials(LEVELS) if trial.saved >= goal)
    if target is None:
        return strictest
    most = max(100, int(sum(map(chars, answers)) * (1 - target)) // len(answers))
    steps = [replace(step, keys={**step.keys, "preserve": []}) if "limit" in step.keys else step
             for step in (strictest.rule.steps if strictest else ())]  # fmt: skip
    rule = DraftRule("*", tuple(steps), {**gate, "preserve": [], "max_chars": most})
    return _try_useful_steps(rule, answers, sketch.uncounted) or strictest


def _try_useful_steps(rule: DraftRule, answers: Sequence[Any], uncounted: Set[tuple[str, str]]) -> Trial | None:
    """Try a rule, leaving out steps that change nothing or are not idempotent; return None if no step remains."""
    while rule.steps or "max_chars" in rule.settings:
        try:
            ruleset = compiled(rule)
        except ValueError:
            return None
        outcomes = tuple(attempt(ruleset, "*", content) for content in answers)
        faults = [outcome.unstable for outcome in outcomes if outcome.fault]
        unstable = {run.step.number for run in faults if run is not None and run.step is not None}
        if faults and not unstable:
            return None
        gains = Counter[int]()
        for outcome in outcomes:
            # `check` warns of a step if at least half of what it removes is restored.
            for edit in outcome.removals():
                gains[edit.step] += edit.before - edit.after
            for edit in outcome.restorations():
                gains[edit.step] -= 2 * (edit.after - edit.before)
        useless = unstable or {number for number in range(1, len(rule.steps) + 1) if gains[number] <= 0}
        if not useless:
            found = [_entities(content) - uncounted for content in answers]
            left = [_entities(outcome.content) for outcome in outcomes]
            return Trial(
                rule,
                outcomes,
                before=sum(map(chars, answers)),
                after=sum(chars(outcome.content) for outcome in outcomes),
                entities=sum(map(len, found)),
                kept=sum(len(before & after) for before, after in zip(found, left, strict=True)),
            )
        rule = replace(rule, steps=tuple(step for number, step in enumerate(rule.steps, 1) if number not in useless))
    return None


def _entities(content: Any) -> Set[tuple[str, str]]:
    return entities(opened(content), scan).keys()


def _test(answers: Sequence[Any], trial: Trial) -> dict[str, Any]:
    """Return a test on the answer that loses most characters."""
    pairs = zip(answers, (outcome.content for outcome in trial.outcomes), strict=True)
    sample, left = max(pairs, key=lambda pair: chars(pair[0]) - chars(pair[1]))
    share = 1 - chars(left) / chars(sample)
    before = _entities(sample)
    found, lost = ({kind for kind, _ in some} for some in (before, before - _entities(left)))
    kept = [kind for kind in TYPES if kind in found - lost]
    name = "a sample answer is short enough" + (" and keeps its entities" if kept else "")
    expected = {"min_reduction": f"{int(share * 100) // _ROUND * _ROUND}%", **({"preserves": kept} if kept else {})}
    return {"name": name, "sample": sample, "expect": expected}


# --- steps


@dataclass(frozen=True, slots=True)
class Sketch:
    """The profile of answers, and the ranks of its leaves by path.

    longest: the places of the longest text of each record
    linked: the places of ids that other keys refer to, and of these references
    uncounted: the entities that only links of an API and pictures contain
    """

    root: Profile
    ranks: Mapping[Path, tuple[Leaf, Rank]]
    longest: frozenset[Path]
    linked: frozenset[Path]
    uncounted: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, root: Profile) -> Sketch:
        """Rank the leaves of a profile."""
        leaves = [Leaf.at(place) for place in root.walk() if not place.below]
        ranks = {leaf.place.path: (leaf, rank(leaf)) for leaf in leaves}
        records = [place for place in root.walk() if not place.path or type(place.path[-1]) is not str]
        longest = {root.find(path).path for record in records for path in record.longest}
        links, others = set[tuple[str, str]](), set[tuple[str, str]]()
        for leaf, found in ranks.values():
            (links if found.reason in NEVER_COUNTED else others).update(leaf.place.entities)
        kept = frozenset(path for path in longest if path in ranks and ranks[path][1].points > REDUNDANT)
        names: dict[str, set[str]] = {}
        references = [leaf for leaf, found in ranks.values() if leaf.is_named(_REFERENCES) and found.points > REDUNDANT]
        for leaf in references:
            for text in leaf.texts:
                names.setdefault(text, set()).add(leaf.keys[-1])
        linked = frozenset(one.place.path for one in references if any(len(names[text]) > 1 for text in one.texts))
        return cls(root, ranks, longest=kept, linked=linked, uncounted=frozenset(links - others))

    def is_little(self, size: int) -> bool:
        """Return whether a number of characters is not worth a step."""
        return size < _LITTLE * self.root.chars

    def share(self, size: int) -> str:
        """Describe a number of characters as a share of all."""
        share = size / max(1, self.root.chars)
        return (f"{share:.0%}" if share >= 0.01 else "under 1%") + " of the characters"


def _steps(sketch: Sketch, level: Level) -> Iterator[Step]:
    """Yield the steps of a level."""
    root = sketch.root
    if not root.below:
        yield from [_truncate_answer(root, level)] if root.texts else []
        return
    gone = _chosen(sketch, level)
    stays = {prefix for path in sketch.ranks.keys() - gone if not sketch.ranks[path][0].is_empty
             for prefix in accumulate((token,) for token in path)}  # fmt: skip
    for place in root.walk():
        sizes = place.json_texts
        if sizes and place.path in stays and not sketch.is_little(sum(sizes)) and is_writable_path(place.path):
            count = f"{len(sizes):,} texts contain JSON" if len(sizes) > 1 else "A text contains JSON"
            yield Step(at(place.path, {"unwrap": True}), f"{count}: it is shorter without its quotes, and readable")
    yield from _drops(sketch, gone, stays)
    yield from _limits(sketch, level, gone.keys())
    yield from _truncates(sketch, level, gone.keys())
    keyed = (place for place in root.walk() if place.path and place.path[-1] != -1)
    empty = sum(entry.chars for place in keyed for entry in place.entries if entry.value in (None, "", [], {}))
    if empty * 200 >= root.chars:
        yield Step({"compact": True}, f"{sketch.share(empty)}: keys without a value")


def _chosen(sketch: Sketch, level: Level) -> dict[Path, str]:
    """Choose the leaves with the fewest points to drop, and return the reasons by path; almost all entities stay."""
    holders = Counter(one for leaf, _ in sketch.ranks.values() for one in leaf.place.entities - sketch.uncounted)
    allowed = int(len(holders) * _MAX_DROPPED)
    gone: dict[Path, str] = {}
    ranked = sorted(sketch.ranks.items(), key=lambda item: item[1][1].points)
    for path, (leaf, found) in ranked[:-1]:
        counted = leaf.place.entities - sketch.uncounted
        are_links = bool(counted) and {kind for kind, _ in counted} <= _LINKS
        lost = sum(holders[one] == 1 for one in counted)
        points = found.points - _ELSEWHERE * (are_links and not lost)
        is_kept = points >= level.points or path in sketch.longest | sketch.linked or leaf.is_empty
        if leaf.keys and lost <= allowed and not is_kept:
            allowed -= lost
            holders.subtract(counted)
            gone[path] = found.reason
    return gone


def _drops(sketch: Sketch, gone: Mapping[Path, str], stays: Set[Path]) -> Iterator[Step]:
    """Yield a step for each kind of record that drops the keys whose leaves go, with the reasons."""
    reasons: dict[Path, Counter[str]] = {}
    for path, reason in gone.items():
        # A key whose values all go is dropped as a whole.
        prefixes = accumulate((token,) for token in path)
        top = next(prefix for prefix in prefixes if type(prefix[-1]) is str and prefix not in stays)
        reasons.setdefault(top, Counter())[reason] += sketch.ranks[path][0].place.chars
    records: dict[Path, list[Profile]] = {}
    named_already: set[Path] = set()
    for place in sorted(map(sketch.root.find, reasons), key=lambda place: (len(record_of(place.path)), -place.chars)):
        # Some values are lists in one place and single objects in another: the same key reaches both.
        names = tuple(token for token in place.path if token != -1)
        if place.chars >= _TINY * sketch.root.chars and names not in named_already:
            named_already.add(names)
            record = record_of(place.path)
            # At a list, `drop` applies to each item.
            records.setdefault(record[:-1] if record[-1:] == (-1,) else record, []).append(place)
    sizes = {path: sum(place.chars for place in places) for path, places in records.items()}
    for path in sorted(records, key=lambda path: -sizes[path])[:_MAX_STEPS]:
        if not sketch.is_little(sizes[path]):
            named: dict[str, dict[str, None]] = {}
            for place in records[path]:
                reason, keys = reasons[place.path].most_common(1)[0][0], place.path[len(record_of(place.path)) :]
                named.setdefault(reason, {})[key_text(*map(str, keys))] = None
            action = {"drop": list(dict.fromkeys(name for names in named.values() for name in names))}
            why = "; ".join(f"{reason} ({_listed([*names])})" for reason, names in named.items())
            yield Step(at(path, action), f"{sketch.share(sizes[path])}: {why}")


def _limits(sketch: Sketch, level: Level, gone: Set[Path]) -> Iterator[Step]:
    """Yield a step for each long list without sentences."""
    for place in sketch.root.walk() if level.items else ():
        limit = level.items if all(type(token) is str for token in place.path) else max(5, level.items // 2)
        if max(place.lengths, default=0) <= limit or sketch.is_little(place.chars) or not is_writable_path(place.path):
            continue
        below = [one.path for one in place.walk() if not one.below]
        if gone >= {*below} or not sketch.longest.isdisjoint(below):
            continue
        items, lists = sum(place.lengths), "" if len(place.lengths) == 1 else f" in {len(place.lengths):,} lists"
        reason = f"{sketch.share(place.chars)}: {items:,} items{lists} of about {place.chars // items:,} characters"
        leaves = [sketch.ranks[path][0] for path in below if path not in gone]
        leaves = [leaf for leaf in leaves if leaf.record == (*place.path, -1)]
        action: dict[str, Any] = {"limit": limit}
        by, which = sort_key(leaves, items)
        if by:
            action["sort_by"], reason = by, f"{reason}; {which}"
        if condition := always_keep(leaves):
            action["always_keep"] = condition
        if any(one.entities for one in place.walk()):
            action["preserve"], reason = _PRESERVE, f"{reason}; of the other items the entities stay"
        yield Step(at(place.path, action), reason)


def _truncates(sketch: Sketch, level: Level, gone: Set[Path]) -> Iterator[Step]:
    """Yield steps for long texts: at their places, or one for all if there are many."""
    bounds = {
        leaf.place: level.text // (1 if path in sketch.longest else 2) for path, (leaf, _) in sketch.ranks.items()
    }
    long = [place for place, bound in bounds.items() if place.max_text > bound and not sketch.is_little(place.chars)]
    texts = [place for place in long if place.path not in gone]
    if len(texts) > _MAX_TEXTS or not all(is_writable_path(place.path) for place in texts):
        longest = f"the longest of {max(place.max_text for place in texts):,} characters"
        reason = f"Long texts at {len(texts):,} places, {longest}; markers name the indicators"
        yield Step({"truncate": level.text}, reason)
        return
    for place in sorted(texts, key=lambda place: -place.chars):
        number = f"{len(place.texts):,} texts" if len(place.texts) > 1 else "a text"
        reason = f"{sketch.share(place.chars)}: {number} of up to {place.max_text:,} characters"
        yield Step(at(place.path, {"truncate": bounds[place]}), f"{reason}; markers name the indicators")


def _truncate_answer(root: Profile, level: Level) -> Step:
    whole, lines = 2 * level.text, max(text.count("\n") for text in root.texts)
    reason = f"The answer is a text of up to {root.max_text:,} characters"
    if lines > _MANY_LINES:
        ends = {"head": whole - whole // 4, "tail": whole // 4}
        return Step({"truncate": ends}, f"{reason}, {lines:,} lines: both ends stay")
    return Step({"truncate": whole}, f"{reason}: its beginning stays")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more
