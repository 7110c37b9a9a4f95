"""Rules that people write: which spans are which component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from latshift.components.globs import matching, matching_attribute
from latshift.spans import Bool, SpanTable


@dataclass(frozen=True)
class Rule:
    """One `[[component]]` table of the configuration. All globs given must hold; they are case-sensitive.

    Attributes:
        component: Name of the component, such as "database/postgresql".
        name, service, scope: Globs, or None where anything goes.
        attributes: Attribute key to glob.
        klass: Class of the component ("model", "queue", "non-model"), or None to let the name decide.
    """

    component: str
    name: str | None = None
    service: str | None = None
    scope: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    klass: str | None = None

    @property
    def text(self) -> str:
        """The rule as people see it, such as "rule: name=pg *, service=api"."""
        globs = {"name": self.name, "service": self.service, "scope": self.scope, **self.attributes}
        return "rule: " + ", ".join(f"{key}={glob}" for key, glob in globs.items() if glob is not None)

    def matches(self, table: SpanTable) -> Bool:
        """Return which spans the rule covers, bool (n,)."""
        found = np.ones(table.n, np.bool_)
        for column in ("name", "service", "scope"):
            glob = getattr(self, column)
            if glob is not None:
                found &= matching(table.text(column), glob)
        for key, glob in self.attributes.items():
            hits = matching_attribute(table, key, glob)
            if hits is None:
                return np.zeros(table.n, np.bool_)
            found &= hits
        return found
