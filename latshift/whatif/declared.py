"""Dependencies stated by the configuration, turned into what inference understands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latshift import selectors
from latshift.components import Classified
from latshift.config import Dependency
from latshift.errors import ConfigError, EditError
from latshift.spans import Bool, Forest
from latshift.whatif.dependencies import Declared
from latshift.whatif.siblings import Siblings


def declare(
    forest: Forest, classified: Classified, siblings: Siblings, declared: Sequence[Dependency]
) -> tuple[Declared | None, list[str]]:
    """Turn `[[dependency]]` tables into pairs of member kinds.

    Args:
        forest: What the selectors are matched against.
        classified: Likewise.
        siblings: The members.
        declared: Tables with `after` and either `before` or `never`.

    Returns:
        The pairs, None if nothing is declared; a sentence for each selector that matches nothing.

    Raises:
        ConfigError: If a selector cannot be parsed.
    """
    if not declared:
        return None, []
    kinds = int(siblings.kind.max()) + 1 if siblings.m else 0
    always, never = np.zeros((kinds, kinds), bool), np.zeros((kinds, kinds), bool)
    notes = []
    for rule in declared:
        found = {
            text: _kinds(forest, classified, siblings, text, kinds)
            for text in (rule.after, rule.before, rule.never)
            if text
        }
        notes += [
            f"[[dependency]]: '{text}' matches no call here, so the table has no effect"
            for text, covered in found.items()
            if not covered.any()
        ]
        if rule.before:
            always |= np.outer(found[rule.before], found[rule.after])
        if rule.never:
            never |= np.outer(found[rule.never], found[rule.after])
    return Declared(always, never), notes


def _kinds(forest: Forest, classified: Classified, siblings: Siblings, text: str, kinds: int) -> Bool:
    """Return which kinds of member a selector covers; none where it matches no span of these requests."""
    try:
        selector = selectors.parse(text)
    except EditError as error:
        raise ConfigError(f"[[dependency]]: {error.message}", error.hint) from error
    covered = np.zeros(kinds, bool)
    try:
        selection = selectors.match(selector, forest, classified)
    except EditError:
        return covered
    covered[siblings.kind[selection.rows[siblings.row]]] = True
    return covered
