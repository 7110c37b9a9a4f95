"""The language in which people say which spans they mean (SEL in every option).

llm                 a component; `database` means `database/postgresql` as well
llm.decode          a phase of a component
class:non-model     a class of components
name:GLOB           the span's name; service:GLOB its service; attr:KEY=GLOB one of its attributes
A & B               both
SEL/**              what SEL selects, and everything beneath
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from latshift.components import CLASSES, COMPONENTS, Classified
from latshift.components.globs import compiled, matching, matching_attribute
from latshift.components.inherit import nearest
from latshift.components.tables import PHASES
from latshift.errors import EditError
from latshift.spans import Bool, Coded, Forest

BENEATH = "/**"
PREFIXES = ("class", "name", "service", "attr")
EXAMPLES = "for example llm, llm.decode, class:non-model, name:GLOB, service:GLOB, attr:KEY=GLOB, joined by &"


@dataclass(frozen=True)
class Term:
    """One condition of a selector.

    Attributes:
        field: "component", "phase", "class", "name", "service" or "attr".
        value: What the field must be: a name or a glob. key: The attribute's key, for "attr".
    """

    field: str
    value: str
    key: str = ""


@dataclass(frozen=True)
class Selector:
    """A parsed selector.

    Attributes:
        text: As it was written. terms: Conditions that must all hold.
        beneath: Everything under the selected spans is selected too.
    """

    text: str
    terms: tuple[Term, ...]
    beneath: bool = False

    def __str__(self) -> str:
        return self.text

    @property
    def phase(self) -> str | None:
        """The phase that is selected, such as "llm.decode", or None."""
        return next((term.value for term in self.terms if term.field == "phase"), None)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the attributes that must be kept for this selector."""
        return tuple(term.key for term in self.terms if term.field == "attr")


@dataclass(frozen=True)
class Selection:
    """What a selector means for given spans.

    Attributes:
        rows: bool (n,), the spans. phase: The part of their time that is meant, such as "llm.decode"; None for all.
    """

    rows: Bool
    phase: str | None = None


def parse(text: str) -> Selector:
    """Parse a selector.

    Args:
        text: Such as "llm & service:chat-*".

    Raises:
        EditError: If it is no selector; the message says why and what would be one.
    """
    body = text.strip()
    beneath = body.endswith(BENEATH)
    if beneath:
        body = body.removesuffix(BENEATH)
    terms = tuple(_term(part.strip(), text) for part in body.split("&"))
    phases = {term.value for term in terms if term.field == "phase"}
    if len(phases) > 1:
        raise EditError(f"selector '{text}': no time is in two phases at once", "name one phase")
    if phases and beneath:
        raise EditError(
            f"selector '{text}': a phase has nothing beneath it", "leave out the /**, or name the component"
        )
    return Selector(text.strip(), terms, beneath)


def _term(part: str, text: str) -> Term:
    if not part:
        raise EditError(f"selector '{text}' is empty, or empty beside an &", EXAMPLES)
    prefix, colon, value = part.partition(":")
    if not colon:
        return _word(part, text)
    if prefix not in PREFIXES:
        hint = _suggest([f"{name}:" for name in _near(prefix, PREFIXES)], EXAMPLES)
        raise EditError(f"selector '{text}': unknown prefix '{prefix}:'", hint)
    if not value:
        raise EditError(f"selector '{text}': nothing after '{prefix}:'", EXAMPLES)
    if prefix == "attr":
        key, equals, glob = value.partition("=")
        if not (key and equals and glob):
            raise EditError(f"selector '{text}': expected attr:KEY=GLOB", "for example attr:tenant.tier=gold")
        return Term("attr", glob, key)
    if prefix == "class" and value not in CLASSES:
        hint = _suggest([f"class:{name}" for name in _near(value, CLASSES)], "classes are " + ", ".join(CLASSES))
        raise EditError(f"selector '{text}': there is no class '{value}'", hint)
    return Term(prefix, value)


def _word(part: str, text: str) -> Term:
    if "=" in part:
        raise EditError(f"selector '{text}': expected a component, a phase or a prefix", EXAMPLES)
    component, dot, phase = part.rpartition(".")
    return Term("phase" if dot and component and phase in PHASES else "component", part)


def match(selector: Selector, forest: Forest, classified: Classified) -> Selection:
    """Find what a selector means for given spans.

    Args:
        selector: What is meant.
        forest: The spans and their parents.
        classified: Their components.

    Raises:
        EditError: If nothing matches; the hint names near matches.
    """
    rows = ~forest.placeholder
    for term in selector.terms:
        found = _MATCHERS[term.field](term, forest, classified)
        if not found.any():
            raise _nothing(term, selector, forest, classified)
        rows = rows & found
    if not rows.any():
        raise EditError(f"selector '{selector}' matches no span: each part does, but no span has them all", EXAMPLES)
    if selector.beneath:
        rows = (nearest(forest.parent, rows) >= 0) & ~forest.placeholder
    return Selection(rows, selector.phase)


def _by_component(term: Term, forest: Forest, classified: Classified) -> Bool:
    column = classified.component
    return np.asarray(column.lookup([_covers(term.value, word) for word in column.words], False))


def _covers(wanted: str, component: str) -> bool:
    return component == wanted or component.startswith(f"{wanted}/") or compiled(wanted).match(component) is not None


def _by_phase(term: Term, forest: Forest, classified: Classified) -> Bool:
    return classified.phases.has(term.value)


def _by_class(term: Term, forest: Forest, classified: Classified) -> Bool:
    column = classified.component
    return np.asarray(column.lookup([classified.klass[word] == term.value for word in column.words], False))


def _by_text(term: Term, forest: Forest, classified: Classified) -> Bool:
    return matching(forest.spans.text(term.field), term.value)


def _by_attribute(term: Term, forest: Forest, classified: Classified) -> Bool:
    found = matching_attribute(forest.spans, term.key, term.value)
    if found is None:
        rule = f'match = {{ attr = {{ "{term.key}" = "{term.value}" }} }}'
        hint = (
            "reading keeps no attribute that nobody asked for: name it in a [[component]] rule of latshift.toml, "
            f"such as {rule}, and read the traces again"
        )
        raise EditError(f"no span has the attribute '{term.key}'", hint)
    return found


_MATCHERS: dict[str, Callable[[Term, Forest, Classified], Bool]] = {
    "component": _by_component,
    "phase": _by_phase,
    "class": _by_class,
    "name": _by_text,
    "service": _by_text,
    "attr": _by_attribute,
}


def _nothing(term: Term, selector: Selector, forest: Forest, classified: Classified) -> EditError:
    """Return the error for a condition that nothing meets, with what may have been meant."""
    message = f"selector '{selector}' matches no span"
    names, services = _used(forest.spans.text("name")), _used(forest.spans.text("service"))
    components = _used(classified.component)
    if term.field in ("name", "service"):
        words = names if term.field == "name" else services
        return EditError(
            message, _suggest([f"{term.field}:{word}" for word in _near(term.value, words)], _known(words))
        )
    if term.field == "phase" and _has_component(term, components):
        message += ": the traces do not show this phase"
        known = [phase for phase in classified.phases.names if not phase.endswith(".other")]
        return EditError(message, _suggest(_near(term.value, known), _known(known, "phases that they show: ")))
    if term.field not in ("component", "phase"):
        return EditError(message, _known(components, "components that do: "))
    known = [*components, *classified.phases.names]
    near = [f"name:{term.value}"] if term.value in names else []
    near += [f"service:{term.value}"] if term.value in services else []
    near += _near(term.value, known)
    near += [f"name:{word}" for word in _near(term.value, names)]
    near += [f"service:{word}" for word in _near(term.value, services)]
    if term.value in COMPONENTS:
        message += f": no span is of component '{term.value}'"
    return EditError(message, _suggest(near[:5], _known(components, "components are ")))


def _has_component(term: Term, components: Sequence[str]) -> bool:
    return any(_covers(term.value.rpartition(".")[0], component) for component in components)


def _used(column: Coded) -> list[str]:
    """Return the words that occur in a column."""
    return [column.words[code] for code in np.unique(column.codes).tolist() if code >= 0]


def _near(text: str, words: Sequence[str]) -> list[str]:
    """Return up to three words that look like the text, whatever the case."""
    folded = {word.lower(): word for word in words}
    wanted = text.strip("*").lower()
    close = [folded[word] for word in difflib.get_close_matches(wanted, list(folded), n=3, cutoff=0.6)]
    inside = [word for lower, word in folded.items() if len(wanted) > 2 and wanted in lower]
    return list(dict.fromkeys([*close, *inside]))[:3]


def _suggest(near: Sequence[str], otherwise: str) -> str:
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def _known(words: Sequence[str], lead: str = "there are, among others: ") -> str:
    return lead + ", ".join(sorted(words)[:8]) if words else EXAMPLES
