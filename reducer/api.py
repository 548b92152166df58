"""The public API: load rules, and reduce contents and histories with them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reducer.engine import attempt, prepare, reduce_content
from reducer.entities.vocabulary import Vocabulary
from reducer.errors import Diagnostic, RuleError
from reducer.histories.repeats import INSTRUCTION, Repeats
from reducer.rules import Ruleset, Texts, instructions, read_rules, rules_of

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from reducer.analysis.explanation import Explanation

_logger = logging.getLogger("reducer")


@dataclass(slots=True, eq=False)
class Reducer:
    """Reduces tool returns with rules. Threads can share it, and it can be pickled for other processes.

    `sources` are the files, folders and packs from which the rules were loaded. Only `reload` replaces `ruleset`.
    """

    ruleset: Ruleset
    sources: tuple[Path | str, ...] = ()

    def __post_init__(self) -> None:
        prepare(self.ruleset)

    @property
    def vocabulary(self) -> Vocabulary:
        """The entity types of the rules, for `reducer.entities.scan(text, rules=reducer)`."""
        return self.ruleset.vocabulary

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the texts of the rules and of their word lists, so that another process needs no files.

        Each process compiles the same texts once. Raises `ValueError` for rules that have no texts.
        """
        if self.ruleset.texts is None:
            raise ValueError("these rules cannot be pickled, because they were not compiled from texts")
        return _from_texts, (self.ruleset.texts, self.sources)

    @classmethod
    def load(cls, *sources: Path | str) -> Reducer:
        """Load rules, and raise `RuleError` with every problem.

        A source is a rule file, a folder with its packs, `builtin` for the packs of this package, or one of them, such
        as `builtin:web`. If several sources have a rule for the same tool name or glob, the last one is tried first.
        """
        return cls(read_rules(*sources), sources)

    def reload(self) -> tuple[Diagnostic, ...]:
        """Load the rules from their sources again, and return the problems that prevent this.

        If there are problems, they are also logged and the current rules stay in use. Processors and capabilities that
        use this `Reducer` apply the new rules only to returns that they have not reduced before, so the prefix of a
        conversation does not change. Raises `ValueError` for a `Reducer` without sources.
        """
        if not self.sources:
            raise ValueError("these rules were not loaded from files: create the Reducer with Reducer.load")
        try:
            ruleset = read_rules(*self.sources)
        except RuleError as error:
            _logger.error("the rules were not reloaded:\n%s", error)
            return error.problems
        prepare(ruleset)
        self.ruleset = ruleset
        return ()

    def reduce_content(self, tool: str, content: Any) -> Any:
        """Reduce the content of one return of `tool`, or return the same object if nothing changes. Never raises.

        `explain_content` also returns the reason why a rule could not be applied.
        """
        return reduce_content(self.ruleset, tool, content)

    def explain_content(self, tool: str, content: Any) -> Explanation:
        """Reduce the content of one return of `tool`, and return the result with what each step removed. Never raises.

        The data are the sizes before and after, the places, items and characters that each step removed, the entities
        that were lost, and the fault if the rule could not be applied. Sizes are characters.
        """
        from reducer.analysis.explanation import explain

        return explain(self.ruleset, tool, content)

    def reduce(
        self, messages: Sequence[ModelMessage], references: bool = True, repeats: bool = False
    ) -> list[ModelMessage]:
        """Reduce the tool returns of a history of PydanticAI messages. Unchanged messages stay the same objects.

        With `references`, keep every item, key and text that contains a distinctive value (an id, an address, a name
        or a number) that the agent mentions later in a text or in the arguments of a tool call. With `repeats`, leave
        out what an earlier return of the history shows.
        """
        from reducer.histories.live import LaterMentions, reduce_messages

        ruleset = self.ruleset  # `reload` can replace it at any time
        mentions = LaterMentions(messages) if references else None
        return reduce_messages(
            messages,
            partial(reduce_content, ruleset),
            mentions,
            Repeats(partial(attempt, ruleset)) if repeats else None,
        )

    def reduce_json(self, data: bytes, references: bool = True, repeats: bool = False) -> bytes:
        """Reduce the tool returns of a stored history (UTF-8 JSON). All other bytes stay the same.

        `references` and `repeats`: see `reduce`. Raises `HistoryError` if the data is not a history.
        """
        from reducer.histories.stored import reduce_json

        ruleset = self.ruleset  # `reload` can replace it at any time
        return reduce_json(
            data,
            partial(reduce_content, ruleset),
            applies=lambda tool: repeats or bool(ruleset.rules_for(tool)),
            references=references,
            repeats=Repeats(partial(attempt, ruleset)) if repeats else None,
        )

    def instructions(self, tools: Iterable[str] | None = None, repeats: bool = False) -> str:
        """Return static text that tells a model what the rules for `tools` (by default all rules) leave out.

        The text contains a heading and one line per rule, the most specific rules first. It has at most 2,000
        characters, and then says for how many tools the rules are not stated. It is empty if there are no rules. With
        `repeats`, a last line explains the markers of repeats.
        """
        return with_repeats(instructions(self.ruleset, tools), repeats)


def with_repeats(text: str, repeats: bool) -> str:
    """Add the explanation of the markers of repeats to the instructions for a model."""
    return "\n".join(filter(None, (text, INSTRUCTION))) if repeats else text


_rules_of = lru_cache(maxsize=8)(rules_of)


def _from_texts(texts: Texts, sources: tuple[Path | str, ...]) -> Reducer:
    return Reducer(_rules_of(texts), sources)
