"""Expressions and documents that match each other often: few keys, few values, all kinds of steps."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

key = st.sampled_from(["a", "b", "c"])
_number = st.sampled_from([0, 1, -1, 2, 5, 0.0, 1.0, 9.1, 10**30])
_scalar = st.one_of(st.none(), st.booleans(), _number, st.sampled_from(["", "x", "high", "9.1", "5", "é"]))


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    record = st.dictionaries(key, inner, max_size=3)
    return st.one_of(st.lists(inner, max_size=4), record, st.lists(record, max_size=4))


_deep = _containers(_containers(_containers(_scalar)))
_value = st.recursive(_scalar, _containers, max_leaves=12)
document = st.one_of(_containers(_containers(_value)), _deep, _value)

_end = st.sampled_from(["", "0", "1", "2", "-1", "-2", "5"])
_slices = st.builds("[{}:{}{}]".format, _end, _end, st.sampled_from(["", ":1", ":2", ":-1", ":-2", ":"]))
_indexes = st.sampled_from(["[0]", "[1]", "[-1]", "[-2]", "[7]"])
_LITERALS = """'high' 'x' '' `"9.1"` `[]` `{}` `[1]` `5` `0` `1` `1.0` `true` `null`"""
_literal = st.sampled_from(_LITERALS.split())


def _conditions(paths: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operand = st.one_of(key, paths, _literal, st.just("@"))
    compared = st.builds("{} {} {}".format, operand, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), operand)
    simple = st.one_of(compared, operand)
    return st.one_of(
        simple,
        st.builds("{} && {}".format, simple, simple),
        st.builds("{} || {}".format, simple, simple),
        st.builds("!({})".format, simple),
        st.builds("length(not_null({}, '')) > `1`".format, operand),
    )


def _paths(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    selections = st.one_of(_indexes, _slices, st.builds("[?{}]".format, _conditions(inner)))
    step = st.one_of(st.builds(".{}".format, key), st.sampled_from(["[*]", ".*", "[]"]), selections)
    start = st.one_of(key, st.sampled_from(["@", "*", "[*]", "[]"]), selections, st.builds("({})".format, inner))
    chain = st.builds(lambda first, rest: first + "".join(rest), start, st.lists(step, max_size=4))
    return st.one_of(chain, st.builds("{} | {}".format, chain, chain))


path = _paths(_paths(key))
_CALLS = "length keys values type to_array to_string to_number sort max sum abs reverse not_null"
_calls = st.sampled_from(_CALLS.split())


def _functions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}({})".format, _calls, inner),
        st.builds("{}({}, &{})".format, st.sampled_from(["sort_by", "max_by", "min_by"]), inner, inner),
        st.builds("map(&{}, {})".format, inner, inner),
        st.builds("contains({}, {})".format, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{{a: {}, x: {}}}".format, inner, inner),
        st.builds("({})[*].[{}]".format, inner, inner),
        st.builds("{} | {}".format, inner, inner),
    )


_simple = st.one_of(path, _literal, _conditions(path))
expression = st.one_of(_simple, _functions(_simple), _conditions(_functions(path)), _functions(_functions(path)))


@st.composite
def aimed(draw: st.DrawFn) -> tuple[str, Any]:
    """Draw a path and a document that contains most of its steps."""
    root = draw(st.one_of(_containers(_containers(_value)), _deep))
    here, steps, listed = root, [], False
    for _ in range(draw(st.integers(1, 6))):
        if isinstance(here, dict) and here:
            name = draw(st.sampled_from(sorted(here)))
            steps.append(draw(st.sampled_from([f".{name}"] * 6 + [".*", ".a"])))
            here, listed = here[name], listed or steps[-1] == ".*"
        elif isinstance(here, list) and here:
            position = draw(st.integers(0, len(here) - 1))
            here = here[position]
            condition = draw(_aimed_condition(here))
            choices = ["[*]"] * 4 + ["[]", "[::-1]", "[0:9]", f"[{position}]"] + [f"[?{condition}]"] * 2
            steps.append(draw(st.sampled_from(choices)))
            if steps[-1] == "[]" and isinstance(here, list) and here:
                here = here[0]
            listed = listed or steps[-1] != f"[{position}]"
        if listed and draw(st.integers(0, 5)) == 0:
            ends = [" | [0]", " | [-1]", " | [1:]", " | [::-1]", " | [*]", " | [?@]", "[]", " | [?length(@) > `1`]"]
            steps.append(draw(st.sampled_from(ends)))
    return "@" + "".join(steps), root


def _aimed_condition(item: Any) -> st.SearchStrategy[str]:
    if isinstance(item, dict) and item:
        forms = ("{} == 'high'", "{} != `1`", "{}", "!{}")
        return st.sampled_from([form.format(name) for name in item for form in forms])
    return st.sampled_from(["@", "!@", "@ != `1`", "@ > `0`", "length(@) > `0`"])
