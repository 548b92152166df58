"""What is valid in a rule file, but hardly meant."""

from __future__ import annotations

from reducer.catalogue.entry import Entry

_TAKEN = """\
steps:
  - path: items
    limit: 1
tests:
  - name: many
    given: {json: {items: [192.0.2.10, 192.0.2.11, 192.0.2.12, 192.0.2.13]}}
    expect: {unchanged: false}
"""
_TEST = "tests:\n  - {name: many, given: {file: SAMPLE}, expect: {unchanged: false}}"

ENTRIES = (
    Entry(
        "W010",
        "key-for-text",
        "In an expression `\"high\"` is the key of that name; the text is `'high'`.",
        '- path: items\n  limit: 20\n  always_keep: risk == "high"',
        "- path: items\n  limit: 20\n  always_keep: risk == 'high'",
    ),
    Entry(
        "W011",
        "lost-behind-list",
        "A pipe or bracket ends a projection: a key behind it asks the list, which has none.",
        "- path: (items[*]).tags\n  limit: 20",
        "- path: items[*].tags\n  limit: 20",
    ),
    Entry(
        "W012",
        "word-for-literal",
        "A bare `true`, `false` or `null` in an expression is the key of that name; the value stands in backticks.",
        "- path: items\n  limit: 20\n  always_keep: seen == true",
        "- path: items\n  limit: 20\n  always_keep: seen == `true`",
    ),
    Entry(
        "W020",
        "globs-meet",
        "Two globs can match one tool name: the one with more literal characters is used.",
        "tool: ['vt_*', '*_file']\nmax_chars: 9000",
        "tool: ['vt_*', 'misp_*']\nmax_chars: 9000",
    ),
    Entry(
        "W021",
        "shadowed-glob",
        "Another glob matches every name that this one does, and goes before it: it has more literal characters, or `*` for `?`.",
        "tool: ['vt_*', 'vt_?']\nmax_chars: 9000",
        "tool: 'vt_*'\nmax_chars: 9000",
    ),
    Entry(
        "W030",
        "unused-type",
        "No rule preserves or extracts an own type, so nothing is looked for.",
        "entities: {ticket: {words: [INC-1]}}\nmax_chars: 9000",
        "entities: {ticket: {words: [INC-1]}}\npreserve: [ticket]\nmax_chars: 9000",
    ),
    Entry(
        "W031",
        "unused-condition",
        "No step names the condition.",
        "conditions: {bad: risk == 'high'}\nmax_chars: 9000",
        "conditions: {bad: risk == 'high'}\nsteps:\n  - {path: items, limit: 20, always_keep: bad}",
    ),
    Entry(
        "W032",
        "nearly-a-condition",
        "A bare word is a key of the items, and this one is nearly the name of a condition.",
        "conditions: {critical: a == 'b'}\nsteps:\n  - {path: items, limit: 20, always_keep: critical}\n  - {path: tags, limit: 10, always_keep: critcal}",
        "conditions: {critical: a == 'b'}\nsteps:\n  - {path: items, limit: 20, always_keep: critical}",
    ),
    Entry(
        "W040",
        "already-gone",
        "A step works on what an earlier one takes away.",
        "- path: items\n  keep: [name]\n- path: items[*].tags\n  limit: 5",
        "- path: items[*].tags\n  limit: 5\n- path: items\n  keep: [name, tags]",
    ),
    Entry(
        "W041",
        "cut-in-vain",
        "Texts are cut, and then items are taken away with them: what goes first costs nothing after it.",
        "- path: items\n  truncate: 200\n- path: items\n  limit: 5",
        "- path: items\n  limit: 5\n- path: items\n  truncate: 200",
    ),
    Entry(
        "W042",
        "limit-of-each",
        "`[*]` names the items of a list; a step that takes items away works on the list itself.",
        "- path: items[*]\n  limit: 5",
        "- path: items\n  limit: 5",
    ),
    Entry(
        "W050",
        "unreadable-sample",
        "The file that a test is given cannot be read.",
        f"max_chars: 9000\n{_TEST.replace('SAMPLE', 'gone.json')}",
        "max_chars: 9000",
    ),
    Entry(
        "W051",
        "preserved-again",
        "What a step takes away on the sample of a test comes back, as the rule preserves what stands in it.",
        f"preserve: [ipv4]\n{_TAKEN}",
        f"preserve: []\n{_TAKEN}",
    ),
)
