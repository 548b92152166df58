"""Mistakes in what a rule, or a folder of them, says as a whole."""

from __future__ import annotations

from reducer.catalogue.entry import Entry


def _own(types: str) -> str:
    return f"entities:\n  {types}\npreserve: [ticket]\nmax_chars: 9000"


ENTRIES = (
    Entry(
        "E070",
        "no-fixed-point",
        "A step takes away what an earlier one decides by: applied to its own result, as every history is, the rule would choose otherwise.",
        "- path: items\n  limit: 20\n  sort_by: seen\n- path: items\n  keep: [name]",
        "- path: items\n  limit: 20\n  sort_by: seen\n- path: items\n  keep: [name, seen]",
    ),
    Entry("E080", "tool-twice", "A tool name or glob has one rule.", "tool: [lookup, lookup]\nmax_chars: 9000", "tool: lookup\nmax_chars: 9000"),
    Entry("E081", "dead-glob", "The glob can match no name.", "tool: 'vt_[a'\nmax_chars: 9000", "tool: 'vt_[ab]'\nmax_chars: 9000"),
    Entry("E090", "unknown-entity", "There is no entity type of this name.", "preserve: [ip-src]\nmax_chars: 9000", "preserve: [ip]\nmax_chars: 9000"),
    Entry(
        "E091",
        "bad-name",
        "A name of an own type or condition has small letters, digits and `_`, a letter first.",
        "entities: {Ticket-No: {words: [INC-1]}}\nmax_chars: 9000",
        _own("ticket: {words: [INC-1]}"),
    ),
    Entry(
        "E092",
        "described-twice",
        "An entity type or condition is described once for all files of a folder.",
        "version: 1\nentities: {ticket: {words: [INC-1]}}\n# b.yaml\n" + _own("ticket: {words: [INC-2]}"),
        "version: 1\nentities: {ticket: {words: [INC-1]}}\n# b.yaml\npreserve: [ticket]\nmax_chars: 9000",
    ),
    Entry(
        "E093",
        "no-description",
        "An own type needs a pattern or words; of a built-in one something must be said.",
        _own("ticket: {case_sensitive: true}"),
        _own("ticket: {words: [INC-1]}"),
    ),
    Entry(
        "E094",
        "not-for-this-type",
        "What is said here is for other types: a built-in one has no pattern, a group is no type, only actors have synonyms.",
        "entities: {domain: {pattern: 'a+'}}\nmax_chars: 9000",
        "entities: {domain: {ignore: [example.org]}}\nmax_chars: 9000",
    ),
    Entry(
        "E095",
        "bad-pattern",
        "RE2 refuses the pattern, or it matches nothing or everything.",
        _own("ticket: {pattern: '(?=INC)'}"),
        _own("ticket: {pattern: 'INC-[0-9]+'}"),
    ),
    Entry("E096", "bad-words", "A words list, or a word of it, cannot be used.", _own("ticket: {words: [x]}"), _own("ticket: {words: [INC-1]}")),
    Entry(
        "E097",
        "bad-ignore",
        "What is to be ignored does not read as the type, so that nothing would be.",
        "entities: {md5: {ignore: [abc]}}\nmax_chars: 9000",
        "entities: {md5: {ignore: [d41d8cd98f00b204e9800998ecf8427e]}}\nmax_chars: 9000",
    ),
)
