"""What people configure: `latshift.toml`, or `[tool.latshift]` in `pyproject.toml`; the nearest one upwards.

model_components = ["llm", "embedding"]

[[component]]                        # which spans are which component; the first rule that holds wins
name = "database/postgresql"
match = { name = "pg *", service = "orders-*", attr = { "deployment.region" = "eu-*" } }

[[dependency]]                       # what the traces cannot know: retrieval waits for auth
before = "auth"
after = "retrieval"

[[budget]]
metric = "latency"
percentile = [95]
max_ms = 2000
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from latshift.components.rules import Rule
from latshift.components.tables import COMPONENTS, MODEL_COMPONENTS
from latshift.errors import ConfigError, EditError
from latshift.selectors import parse

FILE = "latshift.toml"
PROJECT_FILE = "pyproject.toml"
DOCUMENTED = "the README lists every section and key"

Klass = Literal["model", "queue", "non-model"]
_COMPONENT_NAME = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*")


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file; a key it does not know is an error."""


class Match(Table, frozen=True):
    """Globs that a span must match, all of them."""

    name: str | None = None
    service: str | None = None
    scope: str | None = None
    attr: dict[str, str] = {}


class ComponentTable(Table, frozen=True):
    """One `[[component]]`: the spans that match are this component."""

    name: str
    match: Match
    klass: Klass | None = msgspec.field(default=None, name="class")


class Dependency(Table, frozen=True):
    """One `[[dependency]]`: `after` waits for `before`, or does not wait for `never`; all three are selectors."""

    after: str
    before: str | None = None
    never: str | None = None


class Budget(Table, frozen=True):
    """One `[[budget]]`: what `latshift check` holds a metric to.

    Attributes:
        metric: Such as "latency", "non-model", "llm" or "llm.share".
        group: Glob for "service operation" of the root. root: Another name for it in the file; None once it is read.
        percentile: Which percentiles. max_ms, max_share: Fixed limits. tolerance: Relative change allowed against a
            baseline, 0.05 is 5 %. tolerance_ms: Absolute change allowed. level: A broken budget fails or only warns.
        raw: Judge a share even where it rose because the model got faster. min_requests: Fewer give no verdict.
    """

    metric: str
    group: str | None = None
    root: str | None = None
    percentile: list[int | float] | None = None
    max_ms: float | None = None
    max_share: float | None = None
    tolerance: float | None = None
    tolerance_ms: float | None = None
    level: Literal["fail", "warn"] = "fail"
    raw: bool = False
    min_requests: int | None = None

    @property
    def percentiles(self) -> tuple[float, ...]:
        """The percentiles in percent; empty where none is given."""
        return tuple(self.percentile or ())


class Price(Table, frozen=True):
    """Price of a model per million tokens."""

    input: float
    output: float
    cached_input: float | None = None


class Document(Table, frozen=True):
    """The whole file."""

    component: list[ComponentTable] = []
    model_components: list[str] | None = None
    dependency: list[Dependency] = []
    budget: list[Budget] = []
    prices: dict[str, Price] = {}


@dataclass(frozen=True)
class Config:
    """What is configured.

    Attributes:
        path: The file it comes from, None for the defaults.
        rules: Rules for components, in order.
        model_components: Components of class model.
        dependencies, budgets: As written. prices: Model name to price.
    """

    path: Path | None = None
    rules: tuple[Rule, ...] = ()
    model_components: Collection[str] = MODEL_COMPONENTS
    dependencies: tuple[Dependency, ...] = ()
    budgets: tuple[Budget, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)

    @property
    def keep(self) -> set[str]:
        """Keys of attributes that must be kept while reading: those that rules and selectors ask for."""
        keys = {key for rule in self.rules for key in rule.attributes}
        for dependency in self.dependencies:
            for text in (dependency.after, dependency.before, dependency.never):
                keys.update(parse(text).keys if text else ())
        return keys


def check_components(names: Collection[str], rules: Collection[Rule], place: str) -> None:
    """Refuse components of class model that no built-in or own rule knows.

    Args:
        names: The components.
        rules: The person's own rules.
        place: What the message begins with.

    Raises:
        ConfigError: Names the unknown one, and what may have been meant.
    """
    known = [*COMPONENTS, *(rule.component for rule in rules)]
    for name in names:
        if name.partition("/")[0] not in known and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else "known are " + ", ".join(known)
            raise ConfigError(f"{place}: there is no component '{name}'", hint)


def find(directory: Path | None = None) -> Path | None:
    """Return the configuration file that holds for a directory (default: the current one), or None.

    Raises:
        ConfigError: If a pyproject.toml on the way cannot be read.
    """
    start = (directory or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder / FILE
        project = folder / PROJECT_FILE
        if project.is_file() and "latshift" in read_toml(project).get("tool", {}):
            return project
    return None


def load(path: Path | None = None, directory: Path | None = None) -> Config:
    """Read the configuration.

    Args:
        path: A file to use; None looks for one.
        directory: Where to start looking, default the current directory.

    Raises:
        ConfigError: Names the file and the key, and what may have been meant.
    """
    file = path or find(directory)
    if file is None:
        return Config()
    content = read_toml(file)
    if file.name == PROJECT_FILE:
        content = content.get("tool", {}).get("latshift", {})
    try:
        document = msgspec.convert(content, Document)
    except msgspec.ValidationError as error:
        raise invalid(file, str(error), _fields_at) from error
    return _config(file, document)


def read_toml(file: Path) -> dict[str, Any]:
    """Return what stands in a TOML file.

    Raises:
        ConfigError: If it cannot be read; names the file and the place.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}", "see --config") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 text (byte {error.start})", "TOML files are UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not TOML: {error}", "see https://toml.io for the syntax") from error


def _config(file: Path, document: Document) -> Config:
    models = document.model_components
    for index, dependency in enumerate(document.dependency):
        _check_dependency(f"{file}: dependency[{index}]", dependency)
    rules = tuple(_rule(f"{file}: component[{index}]", table) for index, table in enumerate(document.component))
    check_components(models or (), rules, f"{file}: model_components")
    return Config(
        path=file,
        rules=rules,
        model_components=MODEL_COMPONENTS if models is None else tuple(models),
        dependencies=tuple(document.dependency),
        budgets=tuple(_budget(f"{file}: budget[{index}]", budget) for index, budget in enumerate(document.budget)),
        prices=document.prices,
    )


def _rule(place: str, table: ComponentTable) -> Rule:
    match = table.match
    if not _COMPONENT_NAME.fullmatch(table.name):
        hint = 'letters, digits, hyphens and underscores, refined by a slash: "database/postgresql"'
        raise ConfigError(f"{place}.name: '{table.name}' cannot be a component's name", hint)
    if match.name is None and match.service is None and match.scope is None and not match.attr:
        raise ConfigError(f"{place}.match: says nothing about the span", 'for example match = { name = "pg *" }')
    return Rule(table.name, match.name, match.service, match.scope, match.attr, table.klass)


def _check_dependency(place: str, dependency: Dependency) -> None:
    if (dependency.before is None) == (dependency.never is None):
        raise ConfigError(
            f"{place}: expected either before = or never =", 'for example before = "auth", after = "retrieval"'
        )
    for key in ("after", "before", "never"):
        text = getattr(dependency, key)
        try:
            if text is not None:
                parse(text)
        except EditError as error:
            raise ConfigError(f"{place}.{key}: {error.message}", error.hint) from error


def _budget(place: str, budget: Budget) -> Budget:
    if budget.group is not None and budget.root is not None:
        raise ConfigError(f"{place}: group and root are two names for one thing", "leave one of them out")
    for percentile in budget.percentile or ():
        if not 0 < percentile < 100:
            raise ConfigError(f"{place}.percentile: {percentile} is not between 0 and 100", "for example [50, 95, 99]")
    for key in ("max_ms", "max_share", "tolerance", "tolerance_ms", "min_requests"):
        value = getattr(budget, key)
        # Written this way round so that nan, which TOML allows, is refused too.
        if value is not None and not value >= 0:
            raise ConfigError(f"{place}.{key}: {value} is below 0", DOCUMENTED)
    return msgspec.structs.replace(budget, group=budget.group or budget.root, root=None)


_PLACE = re.compile(r" - at `(?:key in )?\$\.?(?P<place>.*)`$")
_UNKNOWN = re.compile(r"unknown field `(?P<key>.*)`")


def invalid(file: Path, text: str, fields_at: Callable[[str], tuple[str, ...]]) -> ConfigError:
    """Turn msgspec's message into one that names the key as the person wrote it.

    Args:
        file: The file it is about.
        text: What msgspec says.
        fields_at: Which keys are known at a place of the file, such as "budget[...]".
    """
    found = _PLACE.search(text)
    place = found["place"] if found else ""
    said = (text[: found.start()] if found else text).replace(" | null`", "`")  # TOML has no null
    unknown = _UNKNOWN.search(said)
    if unknown is None:
        where = f"{file}: {place}" if place else str(file)
        return ConfigError(f"{where}: {said[:1].lower()}{said[1:]}", DOCUMENTED)
    key = unknown["key"]
    known = fields_at(place)
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else "known here: " + ", ".join(known)
    return ConfigError(f"{file}: unknown key '{f'{place}.{key}' if place else key}'", hint)


_TABLES: tuple[tuple[re.Pattern[str], type[Table]], ...] = (
    (re.compile(r"component\[.*\]\.match"), Match),
    (re.compile(r"component\[[^.]*\]"), ComponentTable),
    (re.compile(r"dependency\[.*\]"), Dependency),
    (re.compile(r"budget\[.*\]"), Budget),
    (re.compile(r"prices.*"), Price),
)
"""Place in the file to the table that stands there."""


def _fields_at(place: str) -> tuple[str, ...]:
    """Return the keys known at a place of the file, as they are written there."""
    table = next((table for pattern, table in _TABLES if pattern.fullmatch(place)), Document)
    return fields_of(table)


def fields_of(table: type[Table]) -> tuple[str, ...]:
    """Return the keys of a table as they are written in a file."""
    return tuple(item.encode_name for item in msgspec.structs.fields(table))
