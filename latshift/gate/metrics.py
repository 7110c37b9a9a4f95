"""The names of what a gate can look at.

    latency              end-to-end latency
    llm, database        path time of a component; `llm.path` says the same, and refinements are part of it
    non-model, model     path time of a class; so is `queue`, which holds the queue phase of model calls as well
    llm.decode           path time of a phase of model calls
    non-model.share      share of the latency at a percentile, of any of these

Each may end in a statistic: `latency.p99`, `non-model.mean`, `llm.share.p50`. Where a name could mean two things,
`component:`, `class:` or `phase:` in front says which. Results carry the full name ("non-model.path.p95").
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from latshift.components.tables import CLASSES, COMPONENTS, PHASES
from latshift.critical_path.attribution import Part
from latshift.errors import ConfigError
from latshift.shares.quantiles import percentile_name
from latshift.spans import Bool

Kind = Literal["latency", "component", "class", "phase"]

LATENCY = "latency"
NON_MODEL = "non-model"
_PREFIX = re.compile(r"(?:(share|path):)?(?:(component|class|phase):)?(.*)", re.DOTALL)
_STATISTIC = re.compile(r"(.*)\.(?:(mean)|p(\d+(?:\.\d+)?))", re.DOTALL)
_GRAMMAR = 'such as "latency", "non-model", "llm.share", "llm.decode" or "latency.p99"'


@dataclass(frozen=True)
class Metric:
    """One number of a run.

    Attributes:
        kind: What `name` is. name: Component, class or phase; "latency".
        share: Share of the latency rather than time.
        fraction: Percentile as a fraction; None for the mean.
    """

    kind: Kind
    name: str
    share: bool = False
    fraction: float | None = None

    @property
    def unit(self) -> Literal["ms", "fraction"]:
        """Unit of its values in results."""
        return "fraction" if self.share else "ms"

    @property
    def subject(self) -> str:
        """What it is about, without the statistic: "latency", "non-model.path", "llm.share"."""
        if self.kind == "latency":
            return LATENCY
        prefix = "component:" if self.kind == "component" and self.name in CLASSES else ""
        return f"{prefix}{self.name}.{'share' if self.share else 'path'}"

    @property
    def text(self) -> str:
        """Its full name, which `parse_metric` understands."""
        return f"{self.subject}.{percentile_name(self.fraction)}"

    @property
    def path(self) -> Metric:
        """The path time of the same thing."""
        return replace(self, share=False)

    def columns(self, parts: Sequence[Part]) -> Bool:
        """Return which parts belong to it, bool (parts,)."""
        return np.asarray([self._holds(part) for part in parts], np.bool_).reshape(len(parts))

    def _holds(self, part: Part) -> bool:
        if self.kind == "component":
            return part.component == self.name or part.component.startswith(f"{self.name}/")
        if self.kind == "class":
            return part.klass == self.name
        if self.kind == "phase":
            component, _, phase = self.name.rpartition(".")
            same = part.component == component or part.component.startswith(f"{component}/")
            return same and (part.phase or "").endswith(f".{phase}")
        return True


def parse_metric(text: str, components: Collection[str] = ()) -> tuple[Metric, bool]:
    """Read the name of a metric.

    Args:
        text: As described above.
        components: Components that occur in the runs, besides the built-in ones.

    Returns:
        The metric, and whether the text said which statistic.

    Raises:
        ConfigError: If it names nothing known.
    """
    body, fraction, stated = text.strip(), None, False
    statistic = _STATISTIC.fullmatch(body)
    if statistic:
        body, stated = statistic[1], True
        fraction = None if statistic[2] else float(statistic[3]) / 100
        if fraction is not None and not 0 < fraction < 1:
            raise ConfigError(f"metric '{text}': p{statistic[3]} is not between p0 and p100", _GRAMMAR)
    view, kind, name = _PREFIX.fullmatch(body).groups()  # type: ignore[union-attr]  # it matches any text
    share = view == "share"
    if name.endswith((".share", ".path")):
        name, _, view = name.rpartition(".")
        share = share or view == "share"
    metric = Metric(_kind(text, kind, name, components), name, share, fraction)
    if metric.kind == "latency" and share:
        raise ConfigError(f"metric '{text}': the latency's share of itself is always 100 %", _GRAMMAR)
    return metric, stated


def _kind(text: str, stated: str | None, name: str, components: Collection[str]) -> Kind:
    """Find out what a name is: the first meaning that is known, classes before components."""
    known_components = {*COMPONENTS, *components} | {name.split("/")[0] for name in components}
    component, _, phase = name.rpartition(".")
    meanings: dict[Kind, bool] = {
        "latency": name == LATENCY,
        "class": name in CLASSES,
        "component": name in known_components,
        "phase": component in known_components and phase in PHASES,
    }
    fits: list[Kind] = [kind for kind, holds in meanings.items() if holds and stated in (None, kind)]
    if fits:
        return fits[0]
    known = [LATENCY, *CLASSES, *sorted(known_components), *(f"llm.{phase}" for phase in PHASES)]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = "did you mean " + " or ".join(f"'{word}'" for word in near) + "?" if near else _GRAMMAR
    raise ConfigError(f"metric '{text}': nothing is called '{name}'", hint)
