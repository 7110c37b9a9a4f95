"""`whatif --scenario`: named sets of edits from a file, compared side by side.

    [[scenario]]
    name = "faster model"
    edits = ["--speedup llm=2x", "--parallelize auth,retrieval"]

An edit is written as on the command line; those of one scenario are applied in the order given.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from latshift.config import Table, fields_of, invalid, read_toml
from latshift.errors import ConfigError, EditError
from latshift.results import Doubt, ScenarioForecast, Scenarios
from latshift.traceset import TraceSet
from latshift.whatif.edits import VERBS
from latshift.whatif.forecast import forecast

EXAMPLE = 'for example edits = ["--speedup llm=2x", "--parallelize auth,retrieval"]'


class ScenarioTable(Table, frozen=True):
    """One `[[scenario]]`."""

    name: str
    edits: list[str]


class Document(Table, frozen=True):
    """The whole file."""

    scenario: list[ScenarioTable] = msgspec.field(default_factory=list)


@dataclass(frozen=True)
class Scenario:
    """A named set of edits.

    Attributes:
        name: As written. edits: Verb and value, in the order to apply them. place: Where it stands, for messages.
    """

    name: str
    edits: tuple[tuple[str, str], ...]
    place: str = ""


def load(path: Path) -> tuple[Scenario, ...]:
    """Read a scenario file.

    Raises:
        ConfigError: Names the file, the place and what may have been meant.
    """
    content = read_toml(path)
    try:
        document = msgspec.convert(content, Document)
    except msgspec.ValidationError as error:
        raise invalid(path, str(error), _fields_at) from error
    if not document.scenario:
        raise ConfigError(f"{path}: holds no scenario", f"write [[scenario]] tables with name and edits; {EXAMPLE}")
    found: dict[str, Scenario] = {}
    for index, table in enumerate(document.scenario):
        place = f"{path}: scenario[{index}]"
        name = table.name.strip()
        if not name:
            raise ConfigError(f"{place}.name: is empty", "give every scenario a name")
        if name in found:
            raise ConfigError(f"{place}.name: '{name}' is taken by an earlier scenario", "give each its own name")
        if not table.edits:
            raise ConfigError(f"{place}.edits: is empty", EXAMPLE)
        edits = tuple(_edit(f"{place}.edits[{at}]", text) for at, text in enumerate(table.edits))
        found[name] = Scenario(name, edits, place)
    return tuple(found.values())


def _fields_at(place: str) -> tuple[str, ...]:
    return fields_of(ScenarioTable if place.startswith("scenario[") else Document)


def _edit(place: str, text: str) -> tuple[str, str]:
    """Return verb and value of an edit such as "--speedup llm=2x"."""
    option, _, value = text.strip().partition(" ")
    verb = option.removeprefix("--")
    if not option.startswith("--") or not value.strip():
        raise ConfigError(f"{place}: '{text}' is not an edit", f"write it as on the command line; {EXAMPLE}")
    if verb not in VERBS:
        near = difflib.get_close_matches(verb, VERBS, n=1)
        hint = f"did you mean --{near[0]}?" if near else "edits are " + ", ".join(f"--{name}" for name in VERBS)
        raise ConfigError(f"{place}: there is no edit '{option}'", hint)
    return verb, value.strip()


def compare(traces: TraceSet, scenarios: Sequence[Scenario]) -> Scenarios:
    """Predict what each set of edits would do to the same requests.

    Args:
        traces: The requests.
        scenarios: At least one.

    Raises:
        EditError: If an edit makes no sense or selects nothing; names the scenario.
    """
    if not scenarios:
        raise EditError("no scenario to compare", EXAMPLE)
    forecasts = []
    for scenario in scenarios:
        try:
            forecasts.append(ScenarioForecast(scenario.name, forecast(traces, scenario.edits)))
        except EditError as error:
            where = f"{scenario.place} '{scenario.name}'" if scenario.place else f"scenario '{scenario.name}'"
            raise EditError(f"{where}: {error.message}", error.hint) from error
    doubts: dict[Doubt, None] = dict.fromkeys(doubt for item in forecasts for doubt in item.forecast.doubts)
    return Scenarios(forecasts[0].forecast.baseline, tuple(forecasts), tuple(doubts))
