"""Drafts without evidence: from the answers of a tool to a rule that keeps their substance.

One number decides how strict a draft is: the price of a value in characters. At a price of 1,000, a text keeps 1,000
characters, a list 20,000, and a key stays if its values have fewer than 1,000 characters times their worth. The draft
has the highest price that saves enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from glob import escape
from itertools import accumulate
from typing import Any

from reducer.analysis.drafting.profiles import Path, Profile, profile
from reducer.analysis.drafting.ranking import (
    NEVER_COUNTED,
    Leaf,
    always_keep,
    in_ascending_order,
    is_writable_path,
    key_text,
    record_of,
    sort_key,
)
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, at, compiled, draft, ends
from reducer.analysis.texts import HASHES_AND_LINKS, all_text, entities, listed, opened
from reducer.engine import Outcome, attempt
from reducer.entities import TYPES, scan
from reducer.formats import NOTATIONS, decode, read_as, unwrapped
from reducer.paths.written import path_text
from reducer.rules import compile_rules
from reducer.values import chars

ENOUGH = 0.70
"""The share of the characters that a draft should save."""
BIG = 2000
"""Shorter answers are not worth reducing: about five hundred tokens."""
_PRICES = (
    *(100_000, 50_000, 30_000, 20_000, 14_000, 10_000, 7000, 5000, 3500, 2500, 1800, 1300),
    *(1000, 800, 600, 500, 400, 300, 250, 200, 150, 100, 70, 50),
)
_LOW_PRICES = (35, 25, 15, 10, 5, 3, 2, 1)
"""Prices to try only if texts may go."""
_MAX_UNPROTECTED = 15
"""The highest price at which even the longest texts and the linked ids may go."""
_MIN_PRICE = 150
"""The lowest price of texts and keys that stay."""
_LIST, _NESTED_LIST, _TEXT = 20, 5, 2
"""Lists, lists in records, and an answer that is a text keep this many times the price."""
_MIN_RECALL, _MAX_DROPPED = 0.90, 0.05
"""The share of entities and texts that a draft keeps, and of the entities that the keys that it drops may contain."""
_MIN_CHECKED, _BARE = 10, 0.05
_MAX_STEPS, _MAX_TEXTS, _MIN_LINES, _MAX_LINE, _REPEATED = 15, 5, 20, 300, 5
_MIN_ITEMS, _MIN_CUT = 3, 300
"""Shorter texts without sentences are not cut, because they may be ids."""
_COPIED = 0.25
"""The worth of hashes and links that other keys contain too, as a share of their own."""
_LITTLE = 0.01
"""A place with a smaller share of the characters is not worth a step."""
_MODELINE = "yaml-language-server: $schema=.schema.json"
"""Tells editors that the schema of a rule file is next to it."""
_ROUND = 5
_PRESERVE = ["ioc", "cve", "mitre_attack", "threat_actor", "malware"]
_REFERENCES = "id ids uid uuid guid from to source target ref refs parent"


@dataclass(frozen=True, slots=True)
class Trial:
    """A rule, the outcomes of applying it to answers, and the characters and entities of the answers before and after.

    uncounted: the entities that only links of an API, pictures and hashes of files contain; others are counted
    texts: the share of the longest texts of records that the outcomes contain
    is_bare: whether almost all entities are gone, counted or not
    """

    rule: DraftRule
    outcomes: tuple[Outcome, ...]
    before: int
    after: int
    entities: int
    kept: int
    uncounted: int
    texts: float
    is_bare: bool

    @property
    def saved(self) -> float:
        """The share of the characters that the rule removes."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def keeps_substance(self) -> bool:
        """Whether the rule keeps almost all entities and the longest text of almost every record, or may lose them."""
        keeps_most = self.kept >= _MIN_RECALL * self.entities and self.texts >= _MIN_RECALL
        return not self.is_bare and (keeps_most or "preserve" in self.rule.settings)


def draft_rule(
    tool: str, contents: Sequence[Any], source: str, file: str, *, target: float | None = None
) -> tuple[Draft, Trial] | None:
    """Draft the rule of `tool` from its answers (plain JSON values); return None if nothing can be removed.

    source: describes the origin of the answers, for the header
    file: the name of the rule file without its extension
    target: the share of the characters to save at any cost; by default entities and texts stay
    """
    big = [content for content in contents if chars(content) >= BIG]
    answers = big or list(contents)
    notation = _notation_of(answers)
    found = notation and _draft(tool, Sketch(answers, notation), source, file, target)
    return found or _draft(tool, Sketch(answers), source, file, target)


def _draft(tool: str, sketch: Sketch, source: str, file: str, target: float | None) -> tuple[Draft, Trial] | None:
    gate: dict[str, Any] = {"when": {"min_chars": BIG}} if chars(sketch.answers[0]) >= BIG else {}
    if sketch.notation:
        gate["text"] = sketch.notation
    trial = _search(sketch, gate, target or ENOUGH, protects=True)
    if target is not None and (trial is None or trial.saved < target):
        strict = _search(sketch, {**gate, "preserve": []}, target, protects=False)
        trial = max(filter(None, (trial, strict)), key=lambda one: one.saved, default=None)
    if trial is None or trial.after >= trial.before:
        return None
    kept = f" and keeps {trial.kept:,} of {trial.entities:,} entities" if trial.entities else ""
    result = f"It saves {trial.saved:.0%} of the characters{kept}."
    advice = "Read each step, change what it should not remove, then run its test."
    header = [_MODELINE, f"Drafted from {source}. {result} {advice}"]
    written = draft(replace(trial.rule, tool=escape(tool)), file, header, _test(sketch, trial))
    ruleset, problems = compile_rules([("draft.yaml", written.text)])
    return None if ruleset is None or problems else (replace(written, tool=tool), trial)


def _search(sketch: Sketch, gate: Mapping[str, Any], goal: float, *, protects: bool) -> Trial | None:
    """Return the trial with the highest price that saves enough, otherwise with the lowest price that is possible."""
    prices = _PRICES if protects else (*_PRICES, *_LOW_PRICES)
    best, first, last = None, 0, len(prices) - 1
    while first <= last:
        middle = (first + last) // 2
        rule = DraftRule("*", tuple(_steps(sketch, prices[middle], protects=protects)), gate)
        trial = _try_steps(sketch, rule)
        is_possible = trial is None or trial.keeps_substance
        is_enough = trial is not None and trial.saved >= goal
        if trial is not None and is_possible and (is_enough or best is None or best.saved < goal):
            best = trial
        first, last = (middle + 1, last) if is_possible and not is_enough else (first, middle - 1)
    return None if best is None else _try_steps(sketch, best.rule, thorough=True)


def _notation_of(answers: Iterable[Any]) -> str:
    """Return the notation in which all answers can be read, as texts of some parts, or an empty text."""
    texts = [unwrapped(answer) for answer in answers]
    if any(type(text) is not str or decode(text) is not text for text in texts):
        return ""
    return next((name for name in NOTATIONS if name != "lines" and _have_parts(texts, name)), "")


def _have_parts(texts: Iterable[str], notation: str) -> bool:
    """Return whether all texts can be read in a notation, each with enough rows, keys or sections."""
    for text in texts:
        found = read_as(text, [notation])
        if found is None or len(found[0]) < _MIN_ITEMS:
            return False
    return True


def _try_steps(sketch: Sketch, rule: DraftRule, *, thorough: bool = False) -> Trial | None:
    """Try a rule without the steps that are not idempotent, and if `thorough`, without those that save too little."""
    while rule.steps:
        try:
            ruleset = compiled(rule)
        except ValueError:
            return None
        outcomes = tuple(attempt(ruleset, "*", content) for content in sketch.answers)
        faults = [outcome.unstable for outcome in outcomes if outcome.fault]
        useless = {run.step.number for run in faults if run is not None and run.step is not None}
        if faults and not useless:
            return None
        if thorough and not faults:
            gains = _gains(outcomes)
            ranked = sorted(range(1, len(rule.steps) + 1), key=lambda number: -gains[number])
            useless = {number for number in ranked if gains[number] <= 0} or {*ranked[_MAX_STEPS:]}
        if not useless:
            return sketch.trial(rule, outcomes)
        rule = replace(rule, steps=tuple(step for number, step in enumerate(rule.steps, 1) if number not in useless))
    return None


def _gains(outcomes: Iterable[Outcome]) -> Counter[int]:
    """Return the characters that each step saves. Restored ones count twice: `check` warns if half are restored."""
    gains = Counter[int]()
    for outcome in outcomes:
        for edit in outcome.edits():
            gains[edit.step] += (edit.before - edit.after) * (2 if edit.is_restored else 1)
    return gains


def _test(sketch: Sketch, trial: Trial) -> dict[str, Any]:
    """Return a test on the answer that loses most characters."""
    triples = zip(sketch.answers, sketch.found, (outcome.content for outcome in trial.outcomes), strict=True)
    sample, before, left = max(triples, key=lambda triple: chars(triple[0]) - chars(triple[2]))
    found, lost = ({kind for kind, _ in some} for some in (before, before - _entities(left)))
    kept = [kind for kind in TYPES if kind in found - lost]
    name = "a sample answer is short enough" + (" and keeps its entities" if kept else "")
    share = int(100 * (1 - chars(left) / chars(sample))) // _ROUND * _ROUND
    return {
        "name": name,
        "sample": sample,
        "expect": {"min_reduction": f"{share}%"} | ({"preserves": kept} if kept else {}),
    }


def _entities(content: Any) -> Set[tuple[str, str]]:
    return entities(opened(content), scan).keys()


# --- what the answers contain


@dataclass(frozen=True)
class Sketch:
    """What a draft needs to know of answers."""

    answers: Sequence[Any]
    notation: str = ""
    """The notation of answers that are plain texts."""

    @cached_property
    def root(self) -> Profile:
        """The profile of the answers."""
        if not self.notation:
            return profile(self.answers)
        found = [read_as(unwrapped(answer), [self.notation]) for answer in self.answers]
        return profile(one[0] for one in found if one is not None)

    @cached_property
    def leaves(self) -> Mapping[Path, Leaf]:
        """The leaves by path."""
        return {place.path: Leaf.at(place) for place in self.root.walk() if not place.below}

    @cached_property
    def sentences(self) -> Mapping[str, Path]:
        """The beginning of the longest text of each record, with its place, unless it repeats others."""
        records = [place for place in self.root.walk() if place.is_record]
        records = [place for place in records if all(path != place.path[: len(path)] for path in self.versions)]
        every = {text: self.root.find(path).path for record in records for text, path in record.longest.items()}
        return {text: path for text, path in every.items() if path not in self.leaves or self.leaves[path].worth}

    @cached_property
    def versions(self) -> Set[Path]:
        """The places of maps of versions whose texts are mostly the same: the last ones say enough."""
        maps = [place for place in self.root.walk() if place.is_record_map and in_ascending_order(place)]
        repeated = (place for place in maps if len(place.below[None].longest) * _REPEATED <= sum(place.lengths))
        return {place.path for place in repeated}

    @cached_property
    def longest(self) -> Set[Path]:
        """The places of the longest texts."""
        return {*self.sentences.values()}

    @cached_property
    def linked(self) -> Set[Path]:
        """The places of ids that other keys refer to, and of these references."""
        leaves = [leaf for leaf in self.leaves.values() if leaf.is_named(_REFERENCES) and leaf.worth]
        names: dict[str, set[str]] = {}
        for leaf in leaves:
            for text in leaf.texts:
                names.setdefault(text, set()).add(leaf.keys[-1])
        return {leaf.place.path for leaf in leaves if any(len(names[text]) > 1 for text in leaf.texts)}

    @cached_property
    def uncounted(self) -> Set[tuple[str, str]]:
        """The entities that only links of an API, pictures and hashes of files contain."""
        program, others = set[tuple[str, str]](), set[tuple[str, str]]()
        for leaf in self.leaves.values():
            (program if leaf.reason in NEVER_COUNTED else others).update(leaf.place.entities)
        return program - others

    @cached_property
    def found(self) -> Sequence[Set[tuple[str, str]]]:
        """The entities of each answer."""
        return [*map(_entities, self.answers)]

    def trial(self, rule: DraftRule, outcomes: tuple[Outcome, ...]) -> Trial:
        """Measure the outcomes of a rule."""
        left = [opened(outcome.content) for outcome in outcomes]
        pairs = [
            (before, before & entities(after, scan).keys()) for before, after in zip(self.found, left, strict=True)
        ]
        lost = {kind for before, kept in pairs for kind, _ in before - kept}
        all_found, all_kept = (sum(map(len, some)) for some in zip(*pairs, strict=True))
        # `check` warns about steps that remove almost all entities, unless they drop keys with hashes and links.
        is_exempt = "preserve" not in rule.settings and lost <= HASHES_AND_LINKS
        shown = "\0".join(all_text(content) for content in left)
        return Trial(
            rule,
            outcomes,
            before=sum(map(chars, self.answers)),
            after=sum(chars(outcome.content) for outcome in outcomes),
            entities=sum(len(before - self.uncounted) for before, _ in pairs),
            kept=sum(len(kept - self.uncounted) for _, kept in pairs),
            uncounted=sum(len(before & self.uncounted) for before, _ in pairs),
            texts=sum(text in shown for text in self.sentences) / len(self.sentences) if self.sentences else 1.0,
            is_bare=all_found >= _MIN_CHECKED and all_kept < _BARE * all_found and not is_exempt,
        )

    def is_little(self, size: int) -> bool:
        """Return whether a number of characters is not worth a step."""
        return size < _LITTLE * self.root.chars

    def share(self, size: int) -> str:
        """Describe a number of characters as a share of all."""
        share = size / max(1, self.root.chars)
        return (f"{share:.0%}" if share >= 0.01 else "under 1%") + " of the answer"


# --- steps


def _steps(sketch: Sketch, price: int, *, protects: bool) -> Iterator[Step]:
    """Yield the steps at a price. If `protects`, almost all entities and the longest text of each record stay."""
    root = sketch.root
    if not root.below:
        yield from _text_steps(root, price * _TEXT, protects=protects) if root.texts else ()
        return
    own_price = max(price, _MIN_PRICE) if protects else price
    gone = _chosen(sketch, own_price, protects=protects)
    kept = (path for path, leaf in sketch.leaves.items() if path not in gone and not leaf.is_empty)
    stays = {prefix for path in kept for prefix in accumulate((token,) for token in path)}
    for place in root.walk():
        sizes = place.json_texts
        if sizes and place.path in stays and not sketch.is_little(sum(sizes)) and is_writable_path(place.path):
            count = f"{len(sizes):,} texts contain JSON" if len(sizes) > 1 else "A text contains JSON"
            yield Step(at(place.path, {"unwrap": True}), f"{count}: it is shorter without its quotes, and readable")
    yield from _drops(sketch, gone, stays)
    limits = [*_limits(sketch, price, gone.keys(), protects=protects)]
    yield from (step for step in limits if "limit" in step.keys)
    yield from _truncates(sketch, own_price, gone.keys())
    yield from (step for step in limits if "dedupe" in step.keys)  # it compares texts that are cut already
    keyed = (place for place in root.walk() if place.path and place.path[-1] != -1)
    empty = sum(entry.chars for place in keyed for entry in place.entries if entry.value in (None, "", [], {}))
    if empty * 200 >= root.chars:
        yield Step({"compact": True}, f"{sketch.share(empty)}: keys without a value")


def _chosen(sketch: Sketch, price: int, *, protects: bool) -> dict[Path, str]:
    """Choose the leaves to drop, the least worth first, and return the reasons by path."""
    holders = Counter(one for leaf in sketch.leaves.values() for one in leaf.place.entities - sketch.uncounted)
    allowed = int(len(holders) * _MAX_DROPPED) if protects else len(holders)
    gone: dict[Path, str] = {}
    for path, leaf in sorted(sketch.leaves.items(), key=lambda item: item[1].worth)[:-1]:  # the best one stays
        counted = leaf.place.entities - sketch.uncounted
        are_links = bool(counted) and {kind for kind, _ in counted} <= HASHES_AND_LINKS
        lost = sum(holders[one] == 1 for one in counted)
        size = leaf.place.chars / max(1, len(leaf.place.entries))
        size = min(size, price) if leaf.is_prose or size > _MIN_CUT else size  # longer texts are cut
        is_worth_it = size <= price * leaf.worth * (_COPIED if are_links and not lost else 1)
        is_needed = path in sketch.longest | sketch.linked and (protects or price > _MAX_UNPROTECTED)
        is_kept = is_worth_it or is_needed or leaf.is_empty
        if leaf.keys and lost <= allowed and not is_kept:
            allowed -= lost
            holders.subtract(counted)
            gone[path] = leaf.reason
    return gone


def _drops(sketch: Sketch, gone: Mapping[Path, str], stays: Set[Path]) -> Iterator[Step]:
    """Yield a step for each kind of record that drops keys, or keeps the others if they are fewer."""
    done: set[Path] = set()
    for record in sketch.root.walk():
        if not record.is_record or not is_writable_path(record.path) or (record.path and record.path not in stays):
            continue
        kept, dropped = _split(record, stays, gone)
        # Some values are lists in one place and single objects in another: the same key reaches both.
        dropped = [place for place in dropped if _without_lists(place.path) not in done]
        done.update(_without_lists(place.path) for place in dropped)
        size = sum(place.chars for place in dropped)
        if not dropped or sketch.is_little(size):
            continue
        # At a list, `keep` and `drop` apply to each item.
        path = record.path[:-1] if record.path[-1:] == (-1,) else record.path
        keep, drop = (_key_texts(record, some) for some in (kept, dropped))
        is_shorter = len(", ".join(keep)) < len(", ".join(drop)) and not sketch.root.find(path).keys
        can_keep = is_shorter and bool(path) and all(is_writable_path(one.path) for one in kept)
        sizes = Counter[str]()
        for leaf in (leaf for place in dropped for leaf in place.walk() if leaf.path in gone):
            sizes[gone[leaf.path]] += leaf.chars
        why = f"{sketch.share(size)}: {', '.join(reason for reason, _ in sizes.most_common(3))}"
        names = f" ({listed(drop)})" if can_keep else ""
        yield Step(at(path, {"keep": keep} if can_keep else {"drop": drop}), why + names)


def _without_lists(path: Path) -> Path:
    return tuple(token for token in path if token != -1)


def _key_texts(record: Profile, places: Iterable[Profile]) -> list[str]:
    """Write the keys that lead from a record to places."""
    return list(dict.fromkeys(key_text(*place.path[len(record.path) :]) for place in places))


def _split(place: Profile, stays: Set[Path], gone: Mapping[Path, str]) -> tuple[list[Profile], list[Profile]]:
    """Return the places below an object that stay as a whole, and those that go as a whole."""
    kept: list[Profile] = []
    dropped: list[Profile] = []
    for below in place.keys.values():
        goes = any(leaf.path in gone for leaf in below.walk())
        if below.path in stays and goes and below.keys:
            for some, more in zip((kept, dropped), _split(below, stays, gone), strict=True):
                some += more
        elif goes and below.path not in stays:
            dropped.append(below)
        elif below.path in stays:
            kept.append(below)
    return kept, dropped


def _limits(sketch: Sketch, price: int, gone: Set[Path], *, protects: bool) -> Iterator[Step]:
    """Yield a step for each long list or map, except those whose records have texts of their own if `protects`."""
    for place in sketch.root.walk():
        found = (sketch.leaves[one.path] for one in place.walk() if not one.below and one.path not in gone)
        leaves = [leaf for leaf in found if not leaf.is_empty]
        items, size = sum(place.lengths), sum(leaf.place.chars for leaf in leaves)
        can_name = is_writable_path(place.path) and place.path[-1:] != (-1,)
        if not leaves or not items or sketch.is_little(size) or not can_name:
            continue
        times = _LIST if all(type(token) is str for token in place.path) else _NESTED_LIST
        limit = _rounded(max(_MIN_ITEMS if protects else 1, price * times * items // size))
        if max(place.lengths) <= limit or (place.is_map and not place.is_record_map):
            continue
        has_texts = any(one.longest or one.path in sketch.longest for one in place.walk())
        has_texts = has_texts and place.path not in sketch.versions
        records = [leaf for leaf in leaves if leaf.record[:-1] == place.path and leaf.record[-1:] in ((-1,), (None,))]
        chosen = _same_texts(place, limit) if protects and has_texts else _selection(place, limit, records)
        if chosen is None:
            continue
        action, which = chosen
        if protects and any(one.entities for one in place.walk()):
            action, which = {**action, "preserve": _PRESERVE}, f"{which}; of the others, the entities"
        lists = "" if len(place.lengths) == 1 else f" in {len(place.lengths):,} lists"
        what = f"{items:,} items{lists} of about {size // items:,} characters"
        yield Step(at(place.path, action), f"{sketch.share(size)}: {what}; {which}")


def _selection(place: Profile, limit: int, records: Sequence[Leaf]) -> tuple[dict[str, Any], str]:
    """Return how to limit a list or map: the best or newest by a key, the last versions of a map, or the first."""
    condition = always_keep(records)
    also = {"always_keep": condition} if condition else {}
    by, which = sort_key(records, sum(place.lengths))
    if by:
        return {"limit": limit, "sort_by": by, **also}, which
    is_last = place.is_map and in_ascending_order(place)
    return {"limit": {"tail": limit} if is_last else limit, **also}, f"the {'last' if is_last else 'first'} ones stay"


def _same_texts(place: Profile, limit: int) -> tuple[dict[str, Any], str] | None:
    """Return how to deduplicate a list whose items repeat a few texts, or None if they have other texts too."""
    texts = place.below[-1].longest if -1 in place.below else {}
    (path, *others) = {*texts.values()} or {()}
    other = (one for one in place.walk() if one is not place.below.get(-1) and one.longest)
    is_only = (
        not others and record_of(path)[:-1] == place.path and all(one.path == path[: len(one.path)] for one in other)
    )
    if not texts or not is_only or len(texts) * _REPEATED > sum(place.lengths):
        return None
    keep = max(1, limit // len(texts))
    by = path_text(path[len(place.path) + 1 :])
    return {"dedupe": {"by": by, "keep": keep}}, f"of those with the same text, {keep} stay"


def _truncates(sketch: Sketch, price: int, gone: Set[Path]) -> Iterator[Step]:
    """Yield steps for long texts: at their places, or one for all if there are many."""
    bounds = {
        leaf.place: max(price // (1 if path in sketch.longest else 2), 0 if leaf.is_prose else _MIN_CUT)
        for path, leaf in sketch.leaves.items()
    }
    long = [place for place, bound in bounds.items() if place.max_text > bound and not sketch.is_little(place.chars)]
    texts = [place for place in long if place.path not in gone]
    if len(texts) > _MAX_TEXTS or not all(is_writable_path(place.path) for place in texts):
        longest = f"the longest of {max(place.max_text for place in texts):,} characters"
        reason = f"{sketch.share(sum(place.chars for place in texts))}: long texts at {len(texts):,} places, {longest}"
        yield Step({"truncate": max(price, _MIN_CUT)}, reason)
        return
    for place in sorted(texts, key=lambda place: -place.chars):
        number = f"{len(place.texts):,} texts" if len(place.texts) > 1 else "a text"
        reason = f"{sketch.share(place.chars)}: {number} of up to {place.max_text:,} characters"
        yield Step(at(place.path, {"truncate": bounds[place]}), f"{reason}; markers name the indicators")


def _text_steps(root: Profile, size: int, *, protects: bool) -> Iterator[Step]:
    """Yield the steps for answers that are texts of `size` characters afterwards: by lines if there are many."""
    lines = max(text.count("\n") for text in root.texts)
    reason = f"The answer is a text of up to {root.max_text:,} characters"
    if lines < _MIN_LINES or root.max_text > _MAX_LINE * lines:
        yield Step({"truncate": ends(_rounded(size))}, f"{reason}: both ends stay")
        return
    preserve = {"preserve": _PRESERVE} if protects else {}
    alike = Step({"text": "lines", "dedupe": {"ignore": "digits", "keep": 3}, "mark": True, **preserve})
    yield replace(alike, reason="Of lines that differ only in numbers, three stay")
    limit = ends(max(10, _rounded(size * lines // root.max_text)))
    keys = {"text": "lines", "limit": limit, "mark": True, **preserve}
    yield Step(keys, f"{reason} in {lines:,} lines: both ends stay; the last line counts the others")


def _rounded(number: int) -> int:
    """Round a number down to one digit, or one and a half."""
    step = max(1, int(10 ** (len(str(number)) - 1)) // 2)
    return number - number % step
