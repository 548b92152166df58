"""Mistakes in paths and conditions, which are JMESPath expressions."""

from __future__ import annotations

from reducer.catalogue.entry import Entry


def _kept(condition: str) -> str:
    return f"- path: items\n  limit: 20\n  always_keep: {condition}"


ENTRIES = (
    Entry("E050", "empty-expression", "A path or condition says nothing.", '- path: ""\n  limit: 20', '- path: "@"\n  limit: 20'),
    Entry(
        "E051",
        "open-expression",
        "The expression ends too early, or a bracket or quote in it is never closed.",
        "- path: items[?risk == 'high'\n  drop: raw",
        "- path: items[?risk == 'high']\n  drop: raw",
    ),
    Entry("E052", "single-equals", "Two equals signs compare; one means nothing.", _kept("risk = 'high'"), _kept("risk == 'high'")),
    Entry("E053", "word-operator", "JMESPath writes `&&` for and, `||` for or, `!` for not.", _kept("risk and seen"), _kept("risk && seen")),
    Entry(
        "E054",
        "dollar-root",
        "A JMESPath expression starts at the value itself; `$` is for JSONPath.",
        "- path: $.items\n  limit: 20",
        "- path: items\n  limit: 20",
    ),
    Entry(
        "E055",
        "double-dot",
        "JMESPath has no `..` for anywhere below: each level is named, or passed with `*`.",
        "- path: report..tags\n  limit: 20",
        "- path: report.*.tags\n  limit: 20",
    ),
    Entry("E056", "bare-number", "A number in an expression stands in backticks.", _kept("score > 5"), _kept("score > `5`")),
    Entry(
        "E057",
        "key-needs-quotes",
        "A key with other characters than letters, digits and `_` stands in double quotes inside an expression.",
        "- path: source.last-seen\n  limit: 20",
        '- path: source."last-seen"\n  limit: 20',
    ),
    Entry(
        "E058",
        "key-in-brackets",
        "A key stands behind a dot; brackets hold an index, `*`, or a filter.",
        "- path: report['tags']\n  limit: 20",
        "- path: report.tags\n  limit: 20",
    ),
    Entry("E059", "unknown-function", "JMESPath has no function of this name.", _kept("lenght(tags) > `3`"), _kept("length(tags) > `3`")),
    Entry("E060", "wrong-arguments", "The function takes other arguments.", _kept("contains(tags)"), _kept("contains(tags, 'c2')")),
    Entry("E061", "no-arithmetic", "JMESPath compares and does not calculate.", _kept("hits + misses"), _kept("hits")),
    Entry("E062", "stray-ampersand", "`&` stands before an argument of a function only; and is `&&`.", _kept("risk & seen"), _kept("risk && seen")),
    Entry(
        "E063",
        "too-long",
        "An expression has at most 10,000 characters, 100 levels and, as a path, 100 steps.",
        f"- path: {'.'.join('a' * 101)}\n  limit: 20",
        "- path: a.a\n  limit: 20",
    ),
    Entry("E064", "no-expression", "This is no JMESPath at the place that is marked.", "- path: report.[0]\n  limit: 20", "- path: report\n  limit: 20"),
    Entry(
        "E065",
        "makes-a-value",
        "A path names places that are in the return; functions, `||`, comparisons and new lists or objects make values that stand nowhere.",
        "- path: sort(items)\n  limit: 20",
        "- path: items\n  limit: 20",
    ),
    Entry(
        "E066",
        "moving-place",
        "A place that is counted from the end, or a slice, is another one as soon as the list is shorter: the rule would go on cutting.",
        '- path: "items[-1]"\n  keep: [name]',
        '- path: "items[0]"\n  keep: [name]',
    ),
    Entry(
        "E067",
        "shifting-index",
        "A step shortens a list, so that an index names another item the next time.",
        '- path: "items[0]"\n  keep: [name]\n- path: items\n  limit: 20',
        "- path: items[?kind == 'head']\n  drop: raw\n- path: items\n  limit: 20",
    ),
    Entry("E068", "no-key", "`keep` and `drop` name keys: names, dots and `[*]`.", '- path: items\n  keep: "tags[0]"', "- path: items\n  keep: tags"),
    Entry("E069", "bad-literal", "What stands in double quotes or backticks inside an expression is read as JSON.", _kept("'\"a\\x\"'"), _kept("'\"a\\\\x\"'")),
)
