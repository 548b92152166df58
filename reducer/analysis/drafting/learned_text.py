"""What was learned as files: rules with the evidence for every choice in comments, and samples for their tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from reducer.analysis.drafting.evidence import evidence
from reducer.analysis.drafting.learn import Learned, ToolDraft
from reducer.analysis.drafting.rule_text import (
    Draft,
    compiled,
    file_names,
    json_text,
    rule_text,
    sample_test,
)
from reducer.analysis.drafting.scores import Score
from reducer.analysis.measures import size
from reducer.engine import attempt
from reducer.references import NUMBER
from reducer.rules.choose import is_glob

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@-]{3,79}")
_MAX_CONTAINED = 3
_MAX_TOOL = 200


def drafts(learned: Learned) -> Iterator[Draft]:
    """Write every rule that was learned."""
    drafted = [one for one in learned.tools if one.rule is not None and is_writable(one.tool)]
    names = file_names((one.tool for one in drafted), taken=["default"])
    for one in drafted:
        trained, held = (scores.tools.get(one.tool, Score()) for scores in (learned.trained, learned.measured))
        yield _draft(one, names[one.tool], [*_evidence(learned, one), *_scores(trained, held)])
    if learned.default.rule is not None:
        header = [*_evidence(learned, learned.default), *_scores(Score(), learned.unseen)]
        yield _draft(learned.default, "default", [*header, *_without_rule(learned.tools)])


def is_writable(tool: str) -> bool:
    """Return whether a tool's name can be used in a rule as its name, and nothing else."""
    return 0 < len(tool) <= _MAX_TOOL and tool.isprintable() and tool == tool.strip() and not is_glob(tool)


def _draft(one: ToolDraft, name: str, header: Sequence[str]) -> Draft:
    assert one.rule is not None
    if one.sample is None:
        return Draft(one.tool, f"{name}.yaml", rule_text(one.rule, header), sample_file="", sample="")
    sample = one.sample
    left = attempt(compiled(one.rule), sample.tool, sample.content).content
    shown = left if type(left) is str else json.dumps(left, ensure_ascii=False)
    contained = [
        value
        for value in sorted(sample.used, key=lambda value: (-len(value), value))
        if not value.startswith(NUMBER) and _PLAIN.fullmatch(value) and value in shown
    ][:_MAX_CONTAINED]
    share = int(100 * (1 - size(left) / size(sample.content)))
    file = f"samples/{name}.json"
    test = sample_test(
        "a recorded answer is shortened" + (", and what the agent used of it stays" if contained else ""),
        file,
        {"min_reduction": f"{share}%", **({"contains": contained} if contained else {})},
    )
    text = rule_text(one.rule, header, test)
    return Draft(one.tool, f"{name}.yaml", text, file, sample=json_text(sample.content))


def _evidence(learned: Learned, one: ToolDraft) -> Iterator[str]:
    tool = None if one.tool == "*" else one.tool
    returns = evidence(learned.training, tool)
    histories = sum(any(tool in (None, each.tool) for each in history.returns) for history in learned.training)
    chars, uses = sum(each.chars for each in returns), sum(len(each.used) for each in returns)
    yield "Drafted from recorded histories by `reducer learn`. Read it, and change what you know better."
    counts = f"{len(returns):,} returns in {histories:,} histories, {chars:,} characters"
    yield f"Evidence: {counts}. Agents later used {uses:,} values from them."
    if one.why:
        yield f"{one.why[:1].upper()}{one.why[1:]}."


def _scores(trained: Score, held: Score) -> Iterator[str]:
    for score, where in ((trained, "On all returns that it was learned from"), (held, "On held-out returns")):
        if score.returns:
            lost = f"{score.references - score.kept:,} of {score.references:,} values are lost"
            yield f"{where} ({score.returns:,}), it saves {score.saved:.0%} of the characters; {lost}."


def _without_rule(tools: Sequence[ToolDraft]) -> Iterator[str]:
    """Yield which tools have no rule of their own, and why."""
    reasons: dict[str, list[str]] = {}
    for one in tools:
        if one.rule is None and is_writable(one.tool):
            reasons.setdefault(one.why, []).append(one.tool)
    if reasons:
        yield "Tools that have no rule of their own:"
    for why, names in reasons.items():
        yield f"- {', '.join(names)}: {why}"
