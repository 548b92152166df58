"""Mistakes in the keys of a rule file and in their values."""

from __future__ import annotations

from reducer.catalogue.entry import Entry

ENTRIES = (
    Entry("E010", "unknown-key", "A key stands here that the rule language does not have.", "- path: items\n  limt: 20", "- path: items\n  limit: 20"),
    Entry("E011", "missing-key", "A key that must be there is missing.", "#!\nversion: 1\nmax_chars: 9000", "version: 1\ntool: lookup\nmax_chars: 9000"),
    Entry(
        "E013",
        "no-action",
        "A step does one thing, and this one names none of the actions.",
        "- path: items\n  when: {min_chars: 2000}",
        "- path: items\n  when: {min_chars: 2000}\n  limit: 20",
    ),
    Entry(
        "E014",
        "two-actions",
        "A step does one thing: the order of two would be anybody's guess.",
        "- path: items\n  limit: 20\n  keep: [name]",
        "- path: items\n  limit: 20\n- path: items\n  keep: [name]",
    ),
    Entry("E015", "nothing-to-do", "A rule has steps, or `max_chars`, or both.", "description: lookups", "description: lookups\nmax_chars: 9000"),
    Entry(
        "E017", "unknown-version", "The rule language has version 1.", "version: 2\ntool: lookup\nmax_chars: 9000", "version: 1\ntool: lookup\nmax_chars: 9000"
    ),
    Entry(
        "E018",
        "misplaced-key",
        "The rule language has this key, but at another place.",
        "- path: items\n  keep: [name]\n  sort_by: seen",
        "- path: items\n  limit: 20\n  sort_by: seen",
    ),
    Entry("E020", "wrong-type", "A value is of another type than its key takes.", '- path: items\n  limit: "20"', "- path: items\n  limit: 20"),
    Entry(
        "E021",
        "unknown-word",
        "The key takes one of a few words, and this is none of them.",
        "- path: items\n  limit: 20\n  order: newest",
        "- path: items\n  limit: 20\n  order: desc",
    ),
    Entry("E022", "too-small", "A number is smaller than what makes sense here.", "- path: items\n  limit: 0", "- path: items\n  drop: name"),
    Entry("E023", "empty", "A list, text or mapping says nothing.", "when: {}\nmax_chars: 9000", "when: {min_chars: 2000}\nmax_chars: 9000"),
    Entry(
        "E024",
        "not-exactly-one",
        "One of several keys is expected, and none or more than one stands here.",
        "max_chars: 9000\ntests:\n  - name: short\n    given: {text: a, json: [1]}\n    expect: {unchanged: true}",
        "max_chars: 9000\ntests:\n  - name: short\n    given: {text: a}\n    expect: {unchanged: true}",
    ),
    Entry(
        "E025",
        "no-share",
        "A share is a number with a percent sign.",
        "max_chars: 9000\ntests:\n  - name: short\n    given: {text: a}\n    expect: {min_reduction: 0.8}",
        "max_chars: 9000\ntests:\n  - name: short\n    given: {text: a}\n    expect: {min_reduction: 80%}",
    ),
)
