"""Rule files with one mistake each, which the checker and the schema both refuse; and the same files without it."""

from __future__ import annotations

HEAD = "version: 1\ntool: t\n"
STEPS = HEAD + "steps:\n"
TESTS = STEPS + "  - keep: a\ntests:\n"

WRONG: dict[str, tuple[str, int, int, str]] = {
    # a name: the text, and where yaml-language-server marks it and how what it says begins
    "an action misspelt": (STEPS + "  - path: a\n    limt: 5\n", 5, 5, "Property limt is not allowed."),
    "an action misspelt beside its other keys": (STEPS + "  - {limt: 5, sort_by: x, order: asc}\n", 4, 6, "Property limt is not allowed."),
    "a key of a step misspelt": (STEPS + "  - {limit: 3, ordr: asc}\n", 4, 16, "Property ordr is not allowed."),
    "two actions": (STEPS + "  - path: a\n    limit: 5\n    keep: [a]\n", 5, 5, "a second action beside `keep`"),
    "no action": (STEPS + "  - path: a\n", 4, 5, "this step has no action: expected one of `compact`, "),
    "a key of another action": (STEPS + "  - {keep: a, sort_by: x}\n", 4, 5, "`sort_by` goes with `limit`"),
    "a step that is a word": (STEPS + "  - keep\n", 4, 5, "Incorrect type."),
    "a word for a number": (STEPS + "  - limit: five\n", 4, 12, "Incorrect type."),
    "a number for keys": (STEPS + "  - keep: 3\n", 4, 11, "Incorrect type."),
    "a number among keys": (STEPS + "  - keep: [a, 3]\n", 4, 15, "Incorrect type."),
    "nothing stays": (STEPS + "  - limit: 0\n", 4, 12, "Value is below the minimum of 1."),
    "an amount misspelt": (STEPS + "  - truncate: {hed: 3}\n", 4, 16, "Property hed is not allowed."),
    "an order that is none": (STEPS + "  - {limit: 3, order: up}\n", 4, 23, 'Value is not accepted. Valid values: "asc", "desc".'),
    "compact: false": (STEPS + "  - compact: false\n", 4, 14, "Value must be true."),
    "dedupe: false": (STEPS + "  - dedupe: false\n", 4, 13, "Value must be true."),
    "an entity type misspelt": (STEPS + "  - {keep: a, preserve: [ipv5]}\n", 4, 26, "no entity type: expected one of ipv4, "),
    "an entity type misspelt in bounds": (STEPS + "  - {keep: a, preserve: {ipv5: 3}}\n", 4, 26, "no entity type: "),
    "a bound that is no number": (STEPS + "  - {keep: a, preserve: {ipv4: x}}\n", 4, 32, 'Incorrect type. Expected "integer".'),
    "an entity type to extract misspelt": (STEPS + "  - extract: iocs\n", 4, 14, "no entity type: "),
    "a gate misspelt": (STEPS + "  - {keep: a, when: {min_chrs: 3}}\n", 4, 22, "Property min_chrs is not allowed."),
    "a gate that says nothing": (STEPS + "  - {keep: a, when: {}}\n", 4, 21, "Object has fewer properties"),
    "an empty path": (STEPS + "  - {keep: a, path: ''}\n", 4, 21, "String is shorter"),
    "the tool misspelt": ("version: 1\ntol: t\nmax_chars: 3\n", 2, 1, "Property tol is not allowed."),
    "no tool": ("version: 1\nmax_chars: 3\n", 1, 1, 'Missing property "tool".'),
    "a tool that is a number": ("version: 1\ntool: [1]\nmax_chars: 4\n", 2, 8, 'Incorrect type. Expected "string".'),
    "the version misspelt": ("verson: 1\ntool: t\nmax_chars: 3\n", 1, 1, "Property verson is not allowed."),
    "another version": ("version: 2\ntool: t\nmax_chars: 3\n", 1, 10, "Value must be 1."),
    "nothing to do": (HEAD, 1, 1, "this rule does nothing: add `steps` or `max_chars`"),
    "steps misspelt": (HEAD + "step: []\n", 3, 1, "Property step is not allowed."),
    "no steps": (HEAD + "steps: []\n", 3, 8, "Array has too few items."),
    "a step at the place of steps": (HEAD + "steps: {keep: a}\n", 3, 8, 'Incorrect type. Expected "array".'),
    "a step beside steps": (HEAD + "max_chars: 3\nkeep: a\n", 4, 1, "Property keep is not allowed."),
    "a target that is no number": (HEAD + "max_chars: many\n", 3, 12, 'Incorrect type. Expected "integer".'),
    "an own type's key misspelt": ("version: 1\nentities: {a: {patern: x}}\n", 2, 16, "Property patern is not allowed."),
    "own types misspelt": ("version: 1\nentitys: {a: {words: x}}\n", 2, 1, "Property entitys is not allowed."),
    "a test's key misspelt": (TESTS + "  - {nam: x, given: {json: 1}, expect: {unchanged: true}}\n", 6, 6, "Property nam is not allowed."),
    "a test without a name": (TESTS + "  - {given: {json: 1}, expect: {unchanged: true}}\n", 6, 5, 'Missing property "name".'),
    "what is given misspelt": (TESTS + "  - {name: x, given: {jsn: 1}, expect: {unchanged: true}}\n", 6, 23, "Property jsn is not allowed."),
    "two things given": (
        TESTS + "  - {name: x, given: {json: 1, text: a}, expect: {unchanged: true}}\n",
        6,
        32,
        "`json` is here already",
    ),
    "what is expected misspelt": (TESTS + "  - {name: x, given: {json: 1}, expect: {contians: a}}\n", 6, 42, "Property contians is not allowed."),
    "a share that is a number": (TESTS + "  - {name: x, given: {json: 1}, expect: {min_reduction: 80}}\n", 6, 57, 'Incorrect type. Expected "string".'),
    "a share without its sign": (TESTS + "  - {name: x, given: {json: 1}, expect: {min_reduction: '80'}}\n", 6, 57, "String does not match the pattern"),
}

RIGHT: dict[str, str] = {
    "an action": STEPS + "  - path: a\n    limit: 5\n",
    "an action with its other keys": STEPS + "  - {limit: 5, sort_by: x, order: asc, always_keep: y}\n",
    "two steps": STEPS + "  - path: a\n    limit: 5\n  - keep: [a, b]\n",
    "a number and both ends": STEPS + "  - {truncate: 3}\n  - {limit: {head: 1, tail: 2}}\n",
    "compact and dedupe": STEPS + "  - path: b\n    dedupe: true\n  - path: a\n    dedupe: x.y\n  - compact: true\n",
    "entity types": STEPS + "  - {keep: a, preserve: ioc}\n  - {extract: [ipv4, cve]}\npreserve: {ipv4: 3}\n",
    "no entity types": STEPS + "  - {keep: a, preserve: []}\n",
    "gates": STEPS + "  - {keep: a, when: {min_chars: 3, where: a}}\nwhen: {where: a}\n",
    "only a target": HEAD + "max_chars: 3\n",
    "several tools": "version: 1\ntool: [a, 'b_*']\nmax_chars: 4\nkeys: all\n",
    "own types": "version: 1\ndescription: ours\nentities: {a: {words: [xyzzy], ignore: xyzzy, case_sensitive: true}, domain: {ignore: [a.com]}}\n",
    "conditions": "version: 1\nconditions: {a: x == 'y'}\n",
    "conditions beside a rule": STEPS + "  - {limit: 3, always_keep: a}\nconditions: {a: x == 'y'}\n",
    "tests": TESTS + "  - {name: x, given: {text: a}, expect: {unchanged: true, min_reduction: 12.5%, values: {a: 1}, contains: a, not_contains: [b]}}\n",
    "tests of files": TESTS + "  - {name: x, given: {file: a.json}, expect: {equals: [1], max_chars: 0, preserves: [ip]}}\n",
}
