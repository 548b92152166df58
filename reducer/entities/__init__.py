"""Find entities in text: indicators and names of threats.

>>> [(e.type, e.value, e.canonical) for e in scan("C2 at evil[.]com")]
[('domain', 'evil[.]com', 'evil.com')]

`scan` takes a text and returns its entities in order; `scanner` returns a function that does so for many texts. A scan
takes linear time for any text and never raises. Every value can be mentioned in a marker: scanned under the key
`mentions`, it is the same entity, and it has no line break and no space at its ends; only a `user_agent` has a `, `.
Tests check this for an example of each type, and a pattern of a rule file is refused if its values cannot be mentioned.
`README.md` describes what counts as an entity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Protocol

from reducer.entities.entity import GROUPS, TYPES, Entity, expand, under_key

if TYPE_CHECKING:
    from reducer.entities.vocabulary import Vocabulary

__all__ = ["GROUPS", "TYPES", "Entity", "defang", "expand", "refang", "scan", "scanner"]


class Rules(Protocol):
    """What has the entity types of rule files: a `Reducer` or a `Ruleset`."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The built-in types, and those of the rule files."""


def scan(
    text: str | bytes, types: str | Iterable[str] | None = None, key: str = "", rules: Rules | None = None
) -> list[Entity]:
    """Return the entities of `types` in a text, in order.

    `types` and `rules`: see `scanner`. Bytes are decoded as UTF-8, and what is not UTF-8 becomes U+FFFD: the positions
    of entities count characters of `text.decode(errors="replace")`, not bytes.
    The key under which a text is stored is evidence: a `version` is not an address, and a `hostname` may end in `.zip`.
    """
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    find = scanner(types, rules)
    return list(under_key(find, key, text) if key else find(text))


def scanner(types: str | Iterable[str] | None = None, rules: Rules | None = None) -> Callable[[str], Sequence[Entity]]:
    """Return a function that returns the entities of `types` in a text. Scanners are cached.

    `types` are a type or group, or several of them; None stands for all default types and those that `rules` define.
    `rules` are a `Reducer` or a `Ruleset`, whose rule files can define types and values to ignore.
    Raises ValueError for an unknown type, and TypeError for the path of rules, which must be loaded first.
    """
    from reducer.entities.vocabulary import BUILT_IN

    if isinstance(rules, str | PathLike):
        raise TypeError(f"rules must be loaded: rules=Reducer.load({str(rules)!r})")
    vocabulary = BUILT_IN if rules is None else rules.vocabulary
    return vocabulary.everything() if types is None else vocabulary.scanner(types)


def refang(text: str) -> str:
    """Return a text in which no address, domain, URL or e-mail address is defanged: `hxxp://evil[.]com` is a link."""
    from reducer.entities.fanging import refanged, rewritten

    return rewritten(text, refanged)


def defang(text: str) -> str:
    """Return a text in which all addresses, domains, URLs and e-mail addresses are defanged: `hxxp://evil[.]com`."""
    from reducer.entities.fanging import defanged, rewritten

    return rewritten(text, defanged)
