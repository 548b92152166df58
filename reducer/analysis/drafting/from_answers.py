"""Drafts without evidence: from answers of a tool to a rule, by what the answers look like.

Which keys matter shows in their names and values: what readers ask for, what ranks and dates items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import escape
from typing import Any, NamedTuple

import jmespath

from reducer.analysis.drafting.profiles import Profile, profile
from reducer.analysis.drafting.rule_text import Draft, DraftRule, Step, at, compiled, draft
from reducer.engine import Outcome, attempt
from reducer.formats import decode
from reducer.paths.written import Token, path_text
from reducer.rules import Ruleset, compile_rules
from reducer.values import chars

ENOUGH = 0.70
"""The share of the characters that a draft should save."""
BIG = 2000
"""Characters of an answer that is worth reducing: about five hundred tokens."""
_MODELINE = "yaml-language-server: $schema=.schema.json"
"""Tells editors where the schema of a rule file is: beside it."""
_ROUND = 5
_NOTES = {"max_chars": "What is still longer is cut evenly; markers name its indicators."}
_HINT = "Add `preserve: [threat_actor, cve]` to keep such entities, whatever a step removes."

_ASKED_FOR = """
    id ids uid guid key name names title type kind status state severity risk score scores verdict category categories
    level priority cve cves cwe ip ips address addresses host hosts hostname hostnames domain domains fqdn url uri email
    mail user username account port ports protocol service hash md5 sha1 sha256 file filename path process version
    product vendor package action result outcome message summary description subject rule technique techniques tactic
    country city asn label labels tag tags malicious suspicious confidence source target destination src dst family
    actor actors campaign malware count total number amount price date time timestamp created updated modified seen
    first last start end published posted submitted observed expires cvss classification threat alert reason value text
    content query command owner role code error method
    """
_FOR_MACHINES = """
    raw html xml css link links href self permalink icon icons avatar image images img logo thumbnail thumbnails picture
    photo screenshot color colour style pem base64 blob binary etag template schema cursor pagination paging locale x509
    bytes hex embed embeds widget layout x y gravatar
    """
_ASKED_FOR_WORDS, _FOR_MACHINES_WORDS = (frozenset(words.split()) for words in (_ASKED_FOR, _FOR_MACHINES))
_RANK = re.compile(
    r"(?i)cvss|severity|risk|score|critical|malicious|priority|threat|confidence|weight|impact|hits?$|count$|stars"
    r"|rating|popularity"
)
_TIMES = (
    re.compile(
        r"(?i)(last|latest|most_recent).*(seen|update|modif|activ|observ|chang|date|time)|(seen|updated|modified).*last"
    ),
    re.compile(r"(?i)updated|modified|modification|changed"),
    re.compile(r"(?i)date|time|timestamp|when|published|created|creation|started|observed|seen|posted|_at$|At$"),
)
_SEVERE = ("critical", "high", "severe", "malicious", "important")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HASHES = re.compile("sha256|sha1|md5")
_MIN_DIFFERENT = 2
_MIN_SHARE = 0.6
"""The share of the records that must have a key that ranks them."""
_MAX_KEY = 200

Keys = tuple[str, ...]
"""The keys that lead from a record (an item of a list, a value of a map) to a value in it."""


class Level(NamedTuple):
    """Limits: `items` of a list, characters of a `text`, and characters of an answer that is one text (`whole`).

    `record`: characters of one record (an item of a list, a value of a map), 0 for all its keys; `part`: the largest
    share of its size that a record keeps. `share`: the share of a typical answer that becomes `max_chars`, 0 for none.
    """

    items: int
    text: int
    whole: int
    record: int = 0
    part: float = 1
    share: float = 0


LEVELS = (
    Level(50, 1000, 4000),
    Level(30, 500, 2000),
    Level(25, 400, 1500, 800, 0.7),
    Level(20, 300, 1000, 500, 0.5),
    Level(15, 200, 700, 350, 0.4),
    Level(10, 160, 500, 250, 0.3),
    Level(10, 160, 400, 250, 0.3, 0.27),
    Level(10, 120, 300, 160, 0.2, 0.2),
)
"""From harmless to strict: the first that saves enough is chosen."""
_STRICT = 0.4
"""The largest `part` at which single objects lose keys."""
_LITTLE = 0.02
"""The share of an answer below which a place is not worth a step."""
_MAX_STEPS, _MAX_TEXTS = 14, 5
_MANY_LINES = 20
_WIDE = 8
"""Keys of a single object from which on some of them are chosen."""
_MIN_KEYS, _MAX_KEYS = 3, 60
"""Keys of a record that stay."""
_MANY = 5
_MAX_NAMED = 10


@dataclass(frozen=True, slots=True)
class Trial:
    """What a ruleset did to answers: characters before and after, and the outcome of each."""

    before: int
    after: int
    outcomes: tuple[Outcome, ...]

    @property
    def saved(self) -> float:
        """Return the share of the characters that was removed."""
        return 1 - self.after / self.before if self.before else 0.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """A draft, and what it did to the answers that are long enough for it."""

    draft: Draft
    trial: Trial


def draft_rule(tool: str, contents: Sequence[Any], about: str, file: str) -> Proposal | None:
    """Draft the rule of `tool` from answers (plain JSON values); None if nothing can be removed from them.

    `about` says where the answers come from, `file` is the name of the rule file without its ending.
    """
    big = [content for content in contents if chars(content, BIG) >= BIG]
    answers = big or list(contents)
    found = _best(answers, {"when": {"min_chars": BIG}} if big else {})
    if found is None or found[1].after >= found[1].before:
        return None
    rule, trial = found
    header = [_MODELINE, f"Drafted from {about}. Read each step, change what it should not remove, then run its test."]
    written = draft(replace(rule, tool=escape(tool), notes=_NOTES), file, header, _test(rule.steps, answers, trial))
    written = replace(written, tool=tool, text=f"{written.text}\n# {_HINT}\n")
    ruleset, problems = compile_rules([("draft.yaml", written.text)])
    return None if ruleset is None or problems else Proposal(written, _try(ruleset, tool, answers))


def _best(answers: Sequence[Any], gate: Mapping[str, Any]) -> tuple[DraftRule, Trial] | None:
    """Return the rule of the first level that saves enough, else of the one that saves most."""
    root = profile(answers)
    typical = sorted(map(chars, answers))[len(answers) // 2]
    found: list[tuple[DraftRule, Trial]] = []
    for level in LEVELS:
        target = {"max_chars": max(100, int(typical * level.share) // 100 * 100)} if level.share else {}
        tried = _useful(DraftRule("*", tuple(suggested_steps(root, level)), {**gate, **target}), answers)
        found += [tried] if tried is not None else []
        if found and found[-1][1].saved >= ENOUGH:
            break
    return max(found, key=lambda one: one[1].saved, default=None)


def _useful(rule: DraftRule, answers: Sequence[Any]) -> tuple[DraftRule, Trial] | None:
    """Try a rule, and again without the steps that change nothing or are not idempotent; None if nothing is left."""
    while rule.steps or "max_chars" in rule.settings:
        try:
            trial = _try(compiled(rule), "*", answers)
        except ValueError:
            return None
        faults = [one.unstable for one in trial.outcomes if one.fault]
        unstable = {run.step.number for run in faults if run is not None and run.step is not None}
        if faults and not unstable:
            return None
        changed = {run.step.number for one in trial.outcomes for run in one.steps if run.step and run.changed}
        useless = unstable or set(range(1, len(rule.steps) + 1)) - changed
        if not useless:
            return rule, trial
        rule = replace(rule, steps=tuple(step for number, step in enumerate(rule.steps, 1) if number not in useless))
    return None


def _try(ruleset: Ruleset, tool: str, answers: Sequence[Any]) -> Trial:
    outcomes = tuple(attempt(ruleset, tool, content) for content in answers)
    return Trial(sum(map(chars, answers)), sum(chars(outcome.content) for outcome in outcomes), outcomes)


def _test(steps: Sequence[Step], answers: Sequence[Any], trial: Trial) -> dict[str, Any]:
    """Return the test on the answer that loses most, as it says most."""
    pairs = zip(answers, (outcome.content for outcome in trial.outcomes), strict=True)
    sample, left = max(pairs, key=lambda pair: chars(pair[0]) - chars(pair[1]))
    share = 1 - chars(left) / chars(sample)
    opened = decode(left) if type(left) is str else left
    paths = [step.keys.get("path", "@") for step in steps if "limit" in step.keys]
    lists = {path: jmespath.search(path, opened) for path in paths if "*" not in path}
    counts = {f"length({path})": len(items) for path, items in lists.items() if type(items) is list}
    name = "a sample answer is short enough" + (" and keeps the best of its lists" if counts else "")
    expected = {"min_reduction": f"{int(share * 100) // _ROUND * _ROUND}%", **({"values": counts} if counts else {})}
    return {"name": name, "sample": sample, "expect": expected}


# --- steps


@dataclass(frozen=True, slots=True)
class _Sketch:
    """The steps in progress: the characters of all answers, and the places with long texts and the share left there."""

    total: int
    level: Level
    texts: list[tuple[float, Profile]] = field(default_factory=list)

    def is_little(self, chars: float) -> bool:
        return chars < _LITTLE * self.total

    def share(self, chars: float) -> str:
        share = chars / self.total
        return (f"{share:.0%}" if share >= 0.01 else "under 1%") + " of the characters"


def suggested_steps(root: Profile, level: Level) -> list[Step]:
    """Return the steps for answers with this profile; later steps take into account what earlier ones leave."""
    if not root.below:
        return [_cut_answer(root, level)] if root.texts else []
    sketch = _Sketch(max(1, root.chars), level)
    steps = [*_unwraps(root, sketch), *[*_walk(root, 1.0, sketch)][:_MAX_STEPS], *_cut_texts(sketch)]
    keyed = (place for place in root.walk() if place.path and place.path[-1] != -1)
    empty = sum(entry.chars for place in keyed for entry in place.entries if entry.value in (None, "", [], {}))
    if empty * 200 >= sketch.total:
        steps.append(Step({"compact": True}, f"{sketch.share(empty)}: keys without a value"))
    return steps


def _cut_answer(root: Profile, level: Level) -> Step:
    lines, tail = max(text.count("\n") for text in root.texts), level.whole // 4
    reason = f"The answer is a text of up to {root.max_text:,} characters"
    if lines > _MANY_LINES:
        ends = {"head": level.whole - tail, "tail": tail}
        return Step({"truncate": ends}, f"{reason}, {lines:,} lines: both ends stay")
    return Step({"truncate": level.whole}, f"{reason}: its beginning stays")


def _unwraps(root: Profile, sketch: _Sketch) -> Iterator[Step]:
    for place in root.walk():
        sizes = place.json_texts
        if sizes and not sketch.is_little(sum(sizes)) and is_writable(place.path):
            count = f"{len(sizes):,} texts contain JSON" if len(sizes) > 1 else "A text contains JSON"
            yield Step(at(place.path, {"unwrap": True}), f"{count}: it is shorter without its quotes, and readable")


def _walk(place: Profile, left: float, sketch: _Sketch) -> Iterator[Step]:
    """Yield steps for a place and below, with `left` the share of its values that earlier steps leave."""
    if sketch.is_little(place.chars * left) or not is_writable(place.path):
        return
    if place.max_text > sketch.level.text:
        sketch.texts.append((left, place))
    record = place.below.get(None, place.each)
    if place.each is not None:
        is_inner = -1 in place.path or None in place.path
        limit = max(5, sketch.level.items // 2) if is_inner else sketch.level.items
        if max(place.lengths) > limit:
            yield _limit(place, place.each, limit, sketch)
            left *= min(1.0, limit * len(place.lengths) / sum(place.lengths))
    is_single = record is None
    if is_single and sketch.level.part <= _STRICT and len(place.keys) >= _WIDE and place.path:
        record = place
    kept, others = _chosen(record, left, sketch) if record is not None and record.objects else ([], [])
    if record is not None and kept:
        # `keep` at a list means each of its items. The values of a map are named by `.*`.
        yield _keep(record, place.path if record is place.each else record.path, kept, others)
        for below in (below for keys, below in _leaves(record, 3) if keys in kept):
            yield from _walk(below, left, sketch)
        return
    large = {key: below for key, below in place.keys.items() if is_single and not sketch.is_little(below.chars * left)}
    dropped = {key: below for key, below in large.items() if worth(key) == 0 and is_writable((key,))}
    if 0 < len(dropped) < len(place.keys):
        share = sketch.share(sum(below.chars for below in dropped.values()) * left)
        action = {"drop": [*map(key_text, dropped)]}
        yield Step(at(place.path, action), f"{share}: for screens and programs, by the names")
    for token, below in sorted(place.below.items(), key=lambda item: -item[1].chars):
        if token not in dropped or len(dropped) == len(place.keys):
            yield from _walk(below, left, sketch)


def _limit(place: Profile, record: Profile, limit: int, sketch: _Sketch) -> Step:
    items, lists = sum(place.lengths), "" if len(place.lengths) == 1 else f" in {len(place.lengths):,} lists"
    reason = f"{sketch.share(place.chars)}: {items:,} items{lists} of about {place.chars // items:,} characters"
    rank, what_stays = sort_key(record)
    _, condition = always_keep(record)
    order = {"sort_by": path_text(rank)} if rank else {}
    severe = {"always_keep": condition} if condition else {}
    action = {"limit": limit, **order, **severe}
    return Step(at(place.path, action), f"{reason}; {what_stays}" if rank else reason)


def _chosen(record: Profile, left: float, sketch: _Sketch) -> tuple[list[Keys], list[Keys]]:
    """Return the keys of a record that stay within the characters of the level, and the others; none if all can stay.

    What conditions read comes first, then by worth, the shorter first.
    """
    level = sketch.level
    leaves = {keys: below for keys, below in _leaves(record, 3) if is_writable(keys)}
    costs = {keys: below.chars / record.objects for keys, below in leaves.items()}
    budget = sum(costs.values()) * level.part
    if record.path[-1] in (-1, None):
        budget = min(level.record, budget)
    is_small = sketch.is_little(record.chars * left / 3) or len(leaves) <= _MIN_KEYS or sum(costs.values()) <= budget
    if not level.record or None in record.below or is_small:
        return [], []
    worths = {keys: _worth(keys, below) for keys, below in leaves.items()}
    order = sorted(leaves, key=lambda keys: (-worths[keys], len(keys), costs[keys]))
    # In order, because the sum of the same costs in another order may differ in its last digit.
    chosen = dict.fromkeys(keys for keys in (sort_key(record)[0], always_keep(record)[0]) if keys in leaves)
    for keys in order[:_MAX_KEYS]:
        rest = budget - sum(costs[other] for other in chosen)
        if worths[keys] and (costs[keys] <= rest or len(chosen) < _MIN_KEYS):
            chosen[keys] = None
    others = [keys for keys in order if keys not in chosen]
    return ([keys for keys in leaves if keys in chosen], others) if others else ([], [])


def _keep(record: Profile, path: Sequence[Token], kept: Sequence[Keys], others: Sequence[Keys]) -> Step:
    more = f" and {len(others) - _MAX_NAMED:,} more" if len(others) > _MAX_NAMED else ""
    sizes = f"{len(kept) + len(others):,} keys in about {record.chars // record.objects:,} characters"
    left_out = ", ".join(key_text(*keys) for keys in others[:_MAX_NAMED]) + more
    reason = f"An object has {sizes}; these are asked for most, by their names. Left out: {left_out}"
    return Step(at(path, {"keep": [key_text(*keys) for keys in kept]}), reason)


def _leaves(record: Profile, depth: int, above: Keys = ()) -> Iterator[tuple[Keys, Profile]]:
    """Yield the keys of a record; for small objects in it, their keys instead."""
    for name, below in record.keys.items():
        inner = below if below.objects or below.each is None else below.each
        if depth > 1 and None not in inner.below and 0 < len(inner.keys) <= _MAX_KEYS:
            yield from _leaves(inner, depth - 1, (*above, name))
        else:
            yield (*above, name), below


def _worth(keys: Keys, place: Profile) -> int:
    own = 0 if 0 in map(worth, keys) else worth(keys[-1])
    # A value that is the same in all records does not identify any of them.
    is_constant = len(place.scalars) >= _MANY and place.scalars.count(place.scalars[0]) == len(place.scalars)
    return own - 1 if own and is_constant else own


def _cut_texts(sketch: _Sketch) -> Iterator[Step]:
    texts = sorted(sketch.texts, key=lambda entry: -entry[0] * entry[1].chars)
    if len(texts) > _MAX_TEXTS:
        longest = f"the longest of {max(place.max_text for _, place in texts):,} characters"
        reason = f"Long texts at {len(texts):,} places, {longest}; markers name the indicators"
        yield Step({"truncate": sketch.level.text}, reason)
        return
    for left, place in texts:
        number = f"{len(place.texts):,} texts" if len(place.texts) > 1 else "a text"
        reason = f"{sketch.share(place.chars * left)}: {number} of up to {place.max_text:,} characters"
        yield Step(at(place.path, {"truncate": sketch.level.text}), reason)


# --- keys


def worth(name: str) -> int:
    """Return by its name how much a key is asked for.

    0 is for screens and machines, 2 for what identifies or rates things, 1 for all others.
    """
    if name.startswith("_") and name.strip("_") not in _ASKED_FOR_WORDS:
        return 0
    words = [word.lower() for word in _WORDS.findall(_HASHES.sub("hash", name))]
    if not _FOR_MACHINES_WORDS.isdisjoint(words):
        return 0
    return 2 if words and not _ASKED_FOR_WORDS.isdisjoint((words[0], words[-1])) else 1


def is_writable(path: Sequence[Token]) -> bool:
    """Return whether all keys of a path can be written in a rule."""
    keys = [token for token in path if type(token) is str]
    return all(key and key != "*" and key.isprintable() and len(key) <= _MAX_KEY for key in keys)


def key_text(*keys: str) -> str:
    """Write a key for `keep` and `drop`, where a bare word stands for itself."""
    return path_text(keys) if any(set(name) & set('."[]|') for name in keys) else ".".join(keys)


def sort_key(record: Profile) -> tuple[Keys, str]:
    """Return the keys to choose records by, how much they matter or else their time, and what stays; () for none."""
    best = 0
    found: tuple[Keys, str] = ((), "")
    for name, below in record.keys.items():
        # What an expression reads as one value: a key, or one of an object under it.
        for keys, place in [((name,), below), *(((name, inner), value) for inner, value in below.keys.items())]:
            is_steady = place.scalars and not place.below and len(place.entries) >= record.objects * _MIN_SHARE
            rank = _rank(keys, place.scalars) if is_steady and is_writable(keys) else 0
            if rank > best:
                best, found = rank, (keys, "the highest stay" if rank > 2 * len(_TIMES) else "the newest stay")
    return found


def always_keep(record: Profile) -> tuple[Keys, str]:
    """Return the key that rates records and the condition that the severe ones meet; () if there are none or many."""
    for name, below in record.keys.items():
        words = [value for value in below.texts if value.casefold() in _SEVERE]
        if name and worth(name) == 2 and "'" not in name and words and len(words) * 4 <= len(below.texts):
            text, different = path_text((name,)), sorted(set(words))
            condition = f"{text} == '{words[0]}'" if len(different) == 1 else f"contains({different!r}, {text})"
            return (name,), condition
    return (), ""


def _rank(keys: Keys, samples: Sequence[Any]) -> int:
    """Return how well values order items: by how much an item matters, else by its time; 0 for not at all."""
    name, depth = keys[-1], len(keys) - 1
    numbers = [value for value in samples if type(value) in (int, float)]
    if _RANK.search(name) and len(numbers) * 2 > len(samples) and len(set(numbers)) >= _MIN_DIFFERENT:
        return 10 - depth
    time = next((len(_TIMES) - number for number, pattern in enumerate(_TIMES) if pattern.search(name)), 0)
    # Only dates that begin with the year can be sorted as texts.
    dates = [
        _DATE.match(value) if type(value) is str else type(value) in (int, float) and value > 10**8 for value in samples
    ]
    is_time = len({str(value) for value in samples}) >= _MIN_DIFFERENT and sum(map(bool, dates)) * 10 >= len(dates) * 8
    return time * 2 - depth if time and is_time else 0
