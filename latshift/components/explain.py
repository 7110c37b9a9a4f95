"""What `latshift components` tells: which rule put what where, and rules to paste for what only fell to `app`."""

from __future__ import annotations

import json
import re

import numpy as np

from latshift.components.classified import Classified
from latshift.results import ListedComponent, RuleHit, Unclassified
from latshift.spans import Array, Forest, Int64

LONGEST_GLOB = 200
"""Characters of a name in a suggested rule; a longer one ends in `*`."""


def list_components(forest: Forest, classified: Classified, own: Int64) -> tuple[ListedComponent, ...]:
    """Return what was put into each component and by which rules, largest share first.

    Args:
        forest: The spans.
        classified: Their components.
        own: int64 (n,), ns of the critical path that are each span's own.
    """
    total = max(int(own.sum()), 1)
    listed = []
    for code, word in enumerate(classified.component.words):
        rows = np.flatnonzero((classified.component.codes == code) & ~forest.placeholder)
        if len(rows):
            share = int(own[rows].sum()) / total
            calls = int(classified.call[rows].sum())
            hits = _rule_hits(forest, classified, rows)
            listed.append(ListedComponent(word, classified.klass[word], len(rows), calls, share, hits))
    return tuple(sorted(listed, key=lambda item: (-item.path_share, -item.spans, item.name)))


def _rule_hits(forest: Forest, classified: Classified, rows: Int64) -> tuple[RuleHit, ...]:
    codes, first, counts = np.unique(classified.rule.codes[rows], return_index=True, return_counts=True)
    examples = forest.spans.text("name").texts(rows[first])
    rules = [classified.rule.words[code] for code in codes.tolist()]
    triples = zip(rules, counts.tolist(), examples, strict=True)
    hits = [RuleHit(rule, count, example or "") for rule, count, example in triples]
    return tuple(sorted(hits, key=lambda hit: (-hit.spans, hit.rule)))


def list_unclassified(forest: Forest, classified: Classified, own: Int64, limit: int = 10) -> tuple[Unclassified, ...]:
    """Return the names that no rule knew, largest share first, each with a rule to paste into latshift.toml.

    Args:
        forest: The spans.
        classified: Their components.
        own: int64 (n,), ns of the critical path that are each span's own.
        limit: At most so many names.
    """
    names, services = forest.spans.text("name"), forest.spans.text("service")
    rows = np.flatnonzero(~classified.known & ~classified.inherits & ~forest.placeholder)
    if not len(rows):
        return ()
    width = len(services.words) + 1
    pair = names.codes[rows].astype(np.int64) * width + services.codes[rows] + 1
    pairs, group, counts = np.unique(pair, return_inverse=True, return_counts=True)
    time = _sums(group.reshape(-1), own[rows], len(pairs))
    total = max(int(own.sum()), 1)
    listed = []
    for index in np.lexsort((pairs, -counts, -time))[:limit].tolist():
        name_code, service_code = divmod(int(pairs[index]), width)
        name = names.words[name_code] if name_code >= 0 else ""
        service = services.words[service_code - 1] if service_code else ""
        share = int(time[index]) / total
        listed.append(Unclassified(name, service, int(counts[index]), share, suggestion(name, service)))
    return tuple(listed)


def _sums(group: Array, values: Int64, size: int) -> Int64:
    """Add up exact integers by group, int64 (size,)."""
    sums = np.zeros(size, np.int64)
    np.add.at(sums, group, values)
    return sums


def suggestion(name: str, service: str) -> str:
    """Return a `[[component]]` rule, as TOML, that covers the spans of this name and service."""
    globs = {"name": name, "service": service}
    match = ", ".join(f"{key} = {_toml_glob(text)}" for key, text in globs.items() if text)
    return f"[[component]]\nname = {json.dumps(component_name(name))}\nmatch = {{ {match} }}"


def component_name(name: str) -> str:
    """Return a component's name made from a span's name: lower-case words with hyphens."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:40].strip("-") or "my-component"


def _toml_glob(text: str) -> str:
    """Return a glob that covers exactly this text, or all that begins like it if it is long, as a TOML string."""
    escaped = re.sub(r"([*?\[])", r"[\1]", text[:LONGEST_GLOB]) + ("*" if len(text) > LONGEST_GLOB else "")
    return json.dumps(escaped.encode("utf-8", "replace").decode()).replace("\x7f", "\\u007f")
