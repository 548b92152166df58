"""Drafts without evidence: from the answers of a tool to a rule.

The names and values of keys show which of them readers ask for, and which rank or date items.
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
from reducer.rules import compile_rules
from reducer.values import chars

ENOUGH = 0.70
"""The share of the characters that a draft should save."""
BIG = 2000
"""Shorter answers are not worth reducing: about five hundred tokens."""
_MODELINE = "yaml-language-server: $schema=.schema.json"
"""Tells editors that the schema of a rule file is next to it."""
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
"""The share of the records that must contain the key that they are ranked by."""
_MAX_KEY = 200

Keys = tuple[str, ...]
"""The keys that lead from a record to a value in it."""


class Level(NamedTuple):
    """How strict a draft is. A record is an item of a list or a value of a map.

    items: items of a list
    text: characters of a text
    whole: characters of an answer that is one text
    record: characters of a record, or 0 for no bound
    part: the share of its characters that a record may keep
    share: `max_chars` as a share of a typical answer, or 0 for none
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
    Level(25, 400, 1500, record=800, part=0.7),
    Level(20, 300, 1000, record=500, part=0.5),
    Level(15, 200, 700, record=350, part=0.4),
    Level(10, 160, 500, record=250, part=0.3),
    Level(10, 160, 400, record=250, part=0.3, share=0.27),
    Level(10, 120, 300, record=160, part=0.2, share=0.2),
)
"""Levels from harmless to strict; the first that saves enough is used."""
_STRICT = 0.4
"""Single objects lose keys only at levels with at most this `part`."""
_LITTLE = 0.02
"""A place with a smaller share of the characters is not worth a step."""
_MAX_STEPS, _MAX_TEXTS = 14, 5
_MANY_LINES = 20
_WIDE = 8
"""A single object with fewer keys keeps all of them."""
_MIN_KEYS, _MAX_KEYS = 3, 60
"""Bounds for the number of keys that a record keeps."""
_MANY = 5
_MAX_NAMED = 10


@dataclass(frozen=True, slots=True)
class Trial:
    """A rule, the outcomes of applying it to answers, and the characters of the answers before and after."""

    rule: DraftRule
    outcomes: tuple[Outcome, ...]
    before: int
    after: int

    @property
    def saved(self) -> float:
        """The share of the characters that the rule removes."""
        return 1 - self.after / self.before if self.before else 0.0


def draft_rule(tool: str, contents: Sequence[Any], source: str, file: str) -> tuple[Draft, Trial] | None:
    """Draft the rule of `tool` from its answers (plain JSON values); return None if nothing can be removed.

    source: describes the origin of the answers, for the header
    file: the name of the rule file without its extension
    """
    big = [content for content in contents if chars(content, BIG) >= BIG]
    answers = big or list(contents)
    trial = _best_trial(answers, {"when": {"min_chars": BIG}} if big else {})
    if trial is None or trial.after >= trial.before:
        return None
    header = [_MODELINE, f"Drafted from {source}. Read each step, change what it should not remove, then run its test."]
    written = draft(replace(trial.rule, tool=escape(tool), notes=_NOTES), file, header, _test(answers, trial))
    written = replace(written, tool=tool, text=f"{written.text}\n# {_HINT}\n")
    ruleset, problems = compile_rules([("draft.yaml", written.text)])
    return None if ruleset is None or problems else (written, trial)


def _best_trial(answers: Sequence[Any], gate: Mapping[str, Any]) -> Trial | None:
    """Try the levels in order; return the first trial that saves enough, otherwise the one that saves most."""
    root = profile(answers)
    typical = sorted(map(chars, answers))[len(answers) // 2]
    trials: list[Trial] = []
    for level in LEVELS:
        target = {"max_chars": max(100, int(typical * level.share) // 100 * 100)} if level.share else {}
        rule = DraftRule("*", tuple(suggested_steps(root, level)), {**gate, **target})
        if (trial := _try_useful_steps(rule, answers)) is not None:
            trials.append(trial)
            if trial.saved >= ENOUGH:
                break
    return max(trials, key=lambda trial: trial.saved, default=None)


def _try_useful_steps(rule: DraftRule, answers: Sequence[Any]) -> Trial | None:
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
        changed = {run.step.number for outcome in outcomes for run in outcome.steps if run.step and run.changed}
        useless = unstable or set(range(1, len(rule.steps) + 1)) - changed
        if not useless:
            after = sum(chars(outcome.content) for outcome in outcomes)
            return Trial(rule, outcomes, sum(map(chars, answers)), after)
        rule = replace(rule, steps=tuple(step for number, step in enumerate(rule.steps, 1) if number not in useless))
    return None


def _test(answers: Sequence[Any], trial: Trial) -> dict[str, Any]:
    """Return a test on the answer that loses most characters."""
    pairs = zip(answers, (outcome.content for outcome in trial.outcomes), strict=True)
    sample, left = max(pairs, key=lambda pair: chars(pair[0]) - chars(pair[1]))
    share = 1 - chars(left) / chars(sample)
    opened = decode(left) if type(left) is str else left
    paths = [step.keys.get("path", "@") for step in trial.rule.steps if "limit" in step.keys]
    lists = {path: jmespath.search(path, opened) for path in paths if "*" not in path}
    counts = {f"length({path})": len(items) for path, items in lists.items() if type(items) is list}
    name = "a sample answer is short enough" + (" and keeps the best of its lists" if counts else "")
    expected = {"min_reduction": f"{int(share * 100) // _ROUND * _ROUND}%", **({"values": counts} if counts else {})}
    return {"name": name, "sample": sample, "expect": expected}


# --- steps


@dataclass(frozen=True, slots=True)
class _Sketch:
    """The characters of all answers, the level, and the places with long texts and the share left of each."""

    total: int
    level: Level
    texts: list[tuple[float, Profile]] = field(default_factory=list)

    def is_little(self, chars: float) -> bool:
        return chars < _LITTLE * self.total

    def share(self, chars: float) -> str:
        share = chars / self.total
        return (f"{share:.0%}" if share >= 0.01 else "under 1%") + " of the characters"


def suggested_steps(root: Profile, level: Level) -> list[Step]:
    """Return the steps for answers with this profile; later steps account for what earlier ones remove."""
    if not root.below:
        return [_truncate_answer(root, level)] if root.texts else []
    sketch = _Sketch(max(1, root.chars), level)
    steps = [*_unwraps(root, sketch), *[*_walk(root, 1.0, sketch)][:_MAX_STEPS], *_cut_texts(sketch)]
    keyed = (place for place in root.walk() if place.path and place.path[-1] != -1)
    empty = sum(entry.chars for place in keyed for entry in place.entries if entry.value in (None, "", [], {}))
    if empty * 200 >= sketch.total:
        steps.append(Step({"compact": True}, f"{sketch.share(empty)}: keys without a value"))
    return steps


def _truncate_answer(root: Profile, level: Level) -> Step:
    lines, tail = max(text.count("\n") for text in root.texts), level.whole // 4
    reason = f"The answer is a text of up to {root.max_text:,} characters"
    if lines > _MANY_LINES:
        ends = {"head": level.whole - tail, "tail": tail}
        return Step({"truncate": ends}, f"{reason}, {lines:,} lines: both ends stay")
    return Step({"truncate": level.whole}, f"{reason}: its beginning stays")


def _unwraps(root: Profile, sketch: _Sketch) -> Iterator[Step]:
    for place in root.walk():
        sizes = place.json_texts
        if sizes and not sketch.is_little(sum(sizes)) and is_writable_path(place.path):
            count = f"{len(sizes):,} texts contain JSON" if len(sizes) > 1 else "A text contains JSON"
            yield Step(at(place.path, {"unwrap": True}), f"{count}: it is shorter without its quotes, and readable")


def _walk(place: Profile, remaining: float, sketch: _Sketch) -> Iterator[Step]:
    """Yield the steps for a place and everything below it; earlier steps leave the share `remaining` of its values."""
    if sketch.is_little(place.chars * remaining) or not is_writable_path(place.path):
        return
    if place.max_text > sketch.level.text:
        sketch.texts.append((remaining, place))
    record = place.below.get(None, place.each)
    if place.each is not None:
        is_inner = -1 in place.path or None in place.path
        limit = max(5, sketch.level.items // 2) if is_inner else sketch.level.items
        if max(place.lengths) > limit:
            yield _limit_step(place, place.each, limit, sketch)
            remaining *= min(1.0, limit * len(place.lengths) / sum(place.lengths))
    is_single = record is None
    if is_single and sketch.level.part <= _STRICT and len(place.keys) >= _WIDE and place.path:
        record = place
    kept, others = _choose_keys(record, remaining, sketch) if record is not None and record.objects else ([], [])
    if record is not None and kept:
        # At a list, `keep` applies to each item. The path to the values of a map ends in `.*`.
        yield _keep_step(record, place.path if record is place.each else record.path, kept, others)
        for below in (below for keys, below in _leaves(record, 3) if keys in kept):
            yield from _walk(below, remaining, sketch)
        return
    large = {
        key: below for key, below in place.keys.items() if is_single and not sketch.is_little(below.chars * remaining)
    }
    dropped = {key: below for key, below in large.items() if worth(key) == 0 and is_writable_path((key,))}
    if 0 < len(dropped) < len(place.keys):
        share = sketch.share(sum(below.chars for below in dropped.values()) * remaining)
        action = {"drop": [*map(key_text, dropped)]}
        yield Step(at(place.path, action), f"{share}: for screens and programs, by the names")
    for token, below in sorted(place.below.items(), key=lambda item: -item[1].chars):
        if token not in dropped or len(dropped) == len(place.keys):
            yield from _walk(below, remaining, sketch)


def _limit_step(place: Profile, record: Profile, limit: int, sketch: _Sketch) -> Step:
    items, lists = sum(place.lengths), "" if len(place.lengths) == 1 else f" in {len(place.lengths):,} lists"
    reason = f"{sketch.share(place.chars)}: {items:,} items{lists} of about {place.chars // items:,} characters"
    rank, what_stays = sort_key(record)
    _, condition = always_keep(record)
    order = {"sort_by": path_text(rank)} if rank else {}
    severe = {"always_keep": condition} if condition else {}
    action = {"limit": limit, **order, **severe}
    return Step(at(place.path, action), f"{reason}; {what_stays}" if rank else reason)


def _choose_keys(record: Profile, remaining: float, sketch: _Sketch) -> tuple[list[Keys], list[Keys]]:
    """Choose the keys of a record that fit into the level; return them and the others, or nothing if all keys fit.

    Keys that conditions read are chosen first, then keys with a high worth and short values.
    """
    level = sketch.level
    leaves = {keys: below for keys, below in _leaves(record, 3) if is_writable_path(keys)}
    costs = {keys: below.chars / record.objects for keys, below in leaves.items()}
    budget = sum(costs.values()) * level.part
    if record.path[-1] in (-1, None):
        budget = min(level.record, budget)
    is_small = (
        sketch.is_little(record.chars * remaining / 3) or len(leaves) <= _MIN_KEYS or sum(costs.values()) <= budget
    )
    if not level.record or None in record.below or is_small:
        return [], []
    worths = {keys: _worth(keys, below) for keys, below in leaves.items()}
    order = sorted(leaves, key=lambda keys: (-worths[keys], len(keys), costs[keys]))
    # A dict keeps the order: a sum of the same costs in another order may differ in its last digit.
    chosen = dict.fromkeys(keys for keys in (sort_key(record)[0], always_keep(record)[0]) if keys in leaves)
    for keys in order[:_MAX_KEYS]:
        rest = budget - sum(costs[other] for other in chosen)
        if worths[keys] and (costs[keys] <= rest or len(chosen) < _MIN_KEYS):
            chosen[keys] = None
    others = [keys for keys in order if keys not in chosen]
    return ([keys for keys in leaves if keys in chosen], others) if others else ([], [])


def _keep_step(record: Profile, path: Sequence[Token], kept: Sequence[Keys], others: Sequence[Keys]) -> Step:
    more = f" and {len(others) - _MAX_NAMED:,} more" if len(others) > _MAX_NAMED else ""
    sizes = f"{len(kept) + len(others):,} keys in about {record.chars // record.objects:,} characters"
    left_out = ", ".join(key_text(*keys) for keys in others[:_MAX_NAMED]) + more
    reason = f"An object has {sizes}; these are asked for most, by their names. Left out: {left_out}"
    return Step(at(path, {"keep": [key_text(*keys) for keys in kept]}), reason)


def _leaves(record: Profile, depth: int, above: Keys = ()) -> Iterator[tuple[Keys, Profile]]:
    """Yield the keys of a record, with the keys of small objects in place of the objects."""
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
    for remaining, place in texts:
        number = f"{len(place.texts):,} texts" if len(place.texts) > 1 else "a text"
        reason = f"{sketch.share(place.chars * remaining)}: {number} of up to {place.max_text:,} characters"
        yield Step(at(place.path, {"truncate": sketch.level.text}), reason)


# --- keys


def worth(name: str) -> int:
    """Rate a key by its name: 0 if only screens or machines need it, 2 if it identifies or rates things, else 1."""
    if name.startswith("_") and name.strip("_") not in _ASKED_FOR_WORDS:
        return 0
    words = [word.lower() for word in _WORDS.findall(_HASHES.sub("hash", name))]
    if not _FOR_MACHINES_WORDS.isdisjoint(words):
        return 0
    return 2 if words and not _ASKED_FOR_WORDS.isdisjoint((words[0], words[-1])) else 1


def is_writable_path(path: Sequence[Token]) -> bool:
    """Return whether all keys of a path can be written in a rule."""
    keys = [token for token in path if type(token) is str]
    return all(key and key != "*" and key.isprintable() and len(key) <= _MAX_KEY for key in keys)


def key_text(*keys: str) -> str:
    """Write a key for `keep` and `drop`, where a bare word is a key."""
    return path_text(keys) if any(set(name) & set('."[]|') for name in keys) else ".".join(keys)


def sort_key(record: Profile) -> tuple[Keys, str]:
    """Return the keys that rank records best, and which records stay; importance ranks before time. () for none."""
    best = 0
    best_keys: tuple[Keys, str] = ((), "")
    for name, below in record.keys.items():
        # An expression can read the value of a key, or of a key of an object below it.
        for keys, place in [((name,), below), *(((name, inner), value) for inner, value in below.keys.items())]:
            is_steady = place.scalars and not place.below and len(place.entries) >= record.objects * _MIN_SHARE
            rank = _rank(keys, place.scalars) if is_steady and is_writable_path(keys) else 0
            if rank > best:
                best, best_keys = rank, (keys, "the highest stay" if rank > 2 * len(_TIMES) else "the newest stay")
    return best_keys


def always_keep(record: Profile) -> tuple[Keys, str]:
    """Return the key that rates records and the condition for severe ones; () if there are none or too many."""
    for name, below in record.keys.items():
        words = [value for value in below.texts if value.casefold() in _SEVERE]
        if name and worth(name) == 2 and "'" not in name and words and len(words) * 4 <= len(below.texts):
            text, different = path_text((name,)), sorted(set(words))
            condition = f"{text} == '{words[0]}'" if len(different) == 1 else f"contains({different!r}, {text})"
            return (name,), condition
    return (), ""


def _rank(keys: Keys, samples: Sequence[Any]) -> int:
    """Return how well the values of a key rank items, importance before time; 0 if they do not."""
    name, depth = keys[-1], len(keys) - 1
    numbers = [value for value in samples if type(value) in (int, float)]
    if _RANK.search(name) and len(numbers) * 2 > len(samples) and len(set(numbers)) >= _MIN_DIFFERENT:
        return 10 - depth
    time = next((len(_TIMES) - number for number, pattern in enumerate(_TIMES) if pattern.search(name)), 0)
    # Only dates that start with the year can be sorted as texts.
    dates = [
        _DATE.match(value) if type(value) is str else type(value) in (int, float) and value > 10**8 for value in samples
    ]
    is_time = len({str(value) for value in samples}) >= _MIN_DIFFERENT and sum(map(bool, dates)) * 10 >= len(dates) * 8
    return time * 2 - depth if time and is_time else 0
