"""What people call the keys and words of the rule language who have not learned them yet, and which one they mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import SequenceMatcher, get_close_matches

_SAYINGS = {
    "version": "v apiversion schema schema_version rule_version",
    "tool": "tools tool_name toolname tool_names for function functions applies_to match name names id",
    "description": "desc about comment comments doc docs summary title note notes help info name",
    "when": "if condition unless only_if gate guard provided",
    "steps": "step actions rules operations ops transforms pipeline do then stages tasks apply",
    "path": "at place places jmespath selector query json_path jsonpath xpath in from on target location expression field element node",
    "limit": "top take max_items max_count first head n count items keep_first size max limit_to maximum maxitems slice sample only_first number last tail",
    "keep": "select only pick include fields columns whitelist allow allowlist project retain keys keep_only keep_keys attributes properties show",
    "drop": "remove exclude strip delete omit del discard without blacklist deny denylist ignore hide reject redact except rm drop_keys",
    "truncate": "shorten cut max_length maxlength max_len clip abbreviate ellipsis trim chars characters length crop shorten_to cut_to max_size",
    "extract": "iocs ioc indicators entities extract_iocs find observables extract_entities grep only_iocs",
    "dedupe": "unique distinct uniq deduplicate dedup unique_by distinct_by drop_duplicates dedupe_by remove_duplicates",
    "drop_dangling": "dangling orphans drop_orphans edges prune_edges referential",
    "compact": "drop_empty remove_empty drop_nulls remove_nulls minify no_nulls strip_empty clean skip_empty",
    "unwrap": "parse parse_json json from_json decode unpack flatten json_decode loads",
    "sort_by": "sort order_by orderby sortby sort_on rank_by ranked_by by sort_key sorted_by key",
    "order": "direction sort_order dir ordering sort_direction",
    "always_keep": "keep_if always unless except protect pin pinned keep_where retain_if also_keep force_keep keep_when",
    "preserve": "protect keep_entities preserve_entities preserving never_drop save",
    "max_chars": "max_characters budget max_length max_size limit_chars target size max_tokens char_limit maxchars chars max_len",
    "min_chars": "min_length min_size larger_than longer_than min_characters minchars at_least above min_len threshold",
    "where": "if condition matches has cond test filter when",
    "tests": "test examples cases specs checks",
    "entities": "types entity entity_types custom_entities own_entities",
    "conditions": "condition named_conditions predicates filters",
    "pattern": "regex regexp re patterns match expression regular_expression",
    "words": "names list values word terms strings keywords wordlist",
    "words_file": "file wordlist_file words_path list_file names_file words_from path",
    "ignore": "exclude except skip allowlist whitelist not",
    "case_sensitive": "case ignore_case casesensitive match_case",
    "given": "input in sample data with content from for",
    "expect": "expected expects output then should assert result want asserts",
    "contains": "contain includes include has must_contain shows",
    "not_contains": "not_contain excludes lacks without must_not_contain not_include",
    "equals": "equal eq is result value exactly same_as",
    "min_reduction": "reduction saves min_saving min_savings reduces ratio saved",
    "preserves": "preserve keeps retains",
    "values": "value paths at queries",
    "file": "path sample filename sample_file",
    "text": "string str content raw",
    "json": "data value object content body",
    "head": "first start top begin beginning front",
    "tail": "last end bottom rest back",
    "desc": "descending newest latest highest down reverse reversed largest decreasing newest_first high_to_low",
    "asc": "ascending oldest earliest lowest up smallest increasing oldest_first low_to_high",
    "all": "every keep always any",
}
_MEANT: dict[str, tuple[str, ...]] = {}
for _name, _sayings in _SAYINGS.items():
    for _saying in _sayings.split():
        _MEANT[_saying] = (*_MEANT.get(_saying, ()), _name)
DIRECTIONS = frozenset(f"asc desc {_SAYINGS['asc']} {_SAYINGS['desc']}".split())
"""Words for the order of sorting that people write as keys of their own."""
_LONGEST = 60
_SLIP = 0.9
"""A letter too many or too few: nearer than any other word for another key."""
_LIKE = 0.75
_APART = 0.08


def meant(word: str, known: Collection[str]) -> str:
    """Give the one of `known` that people mean by `word`: by another spelling of it, by another word for it, or by a typing mistake; else empty."""
    plain = word[:_LONGEST].strip().lower().replace("-", "_").replace(" ", "_")
    if plain in known:
        return plain
    slip = get_close_matches(plain, known, 1, _SLIP)
    if slip:
        return slip[0]
    said = next((name for name in _MEANT.get(plain, ()) if name in known), "")
    return said or next(iter(get_close_matches(plain, known, 1)), "")


def is_sure(word: str, name: str, known: Iterable[str]) -> bool:
    """Tell whether `name` can be put in the place of `word` unasked: no other of `known` is nearly as near."""
    plain = word[:_LONGEST].strip().lower().replace("-", "_").replace(" ", "_")
    if plain == name or name in _MEANT.get(plain, ()):
        return True
    likeness = SequenceMatcher(None, plain, name).ratio()
    return likeness >= _LIKE and all(other == name or SequenceMatcher(None, plain, other).ratio() < likeness - _APART for other in known)
