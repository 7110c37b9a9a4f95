"""What the configuration file may hold, and what is said when it holds something else."""

from pathlib import Path

import pytest

from latshift.components import MODEL_COMPONENTS, Rule
from latshift.config import Budget, Config, Dependency, Price, find, load
from latshift.errors import ConfigError

EXAMPLE = """
model_components = ["llm"]

[[component]]
name = "database/postgresql"
class = "non-model"
match = { name = "pg *", service = "orders-*", scope = "x", attr = { "deployment.region" = "eu-*" } }

[[component]]
name = "search"
[component.match]
name = "find*"

[[dependency]]
before = "auth"
after = "retrieval & attr:tenant=gold"

[[dependency]]
after = "retrieval"
never = "feature-store"

[[budget]]
metric = "latency"
group = "*POST /chat"
percentile = [95, 99.9]
max_ms = 2000
tolerance = 0.05
level = "warn"
raw = true
min_requests = 100

[prices.gpt-x]
input = 1.5
output = 6
"""


def write(folder: Path, text: str, name: str = "latshift.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_everything_a_file_may_hold(tmp_path: Path) -> None:
    file = write(tmp_path, EXAMPLE)
    config = load(file)
    assert config.path == file
    assert config.rules == (
        Rule("database/postgresql", "pg *", "orders-*", "x", {"deployment.region": "eu-*"}, "non-model"),
        Rule("search", "find*"),
    )
    assert config.model_components == ("llm",)
    assert config.dependencies == (
        Dependency(before="auth", after="retrieval & attr:tenant=gold"),
        Dependency(after="retrieval", never="feature-store"),
    )
    budget = Budget(
        metric="latency",
        group="*POST /chat",
        percentile=[95, 99.9],
        max_ms=2000,
        tolerance=0.05,
        level="warn",
        raw=True,
        min_requests=100,
    )
    assert config.budgets == (budget,)
    assert config.prices == {"gpt-x": Price(input=1.5, output=6)}
    assert config.keep == {"deployment.region", "tenant"}


def test_root_is_another_name_for_group(tmp_path: Path) -> None:
    budget = load(
        write(tmp_path, "[[budget]]\nmetric = 'latency'\nroot = '*POST /chat'\npercentile = [50, 95]")
    ).budgets[0]
    assert (budget.group, budget.root, budget.percentiles) == ("*POST /chat", None, (50, 95))


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load(write(tmp_path, "")).model_components == MODEL_COMPONENTS
    assert Config().keep == set() and Config().rules == ()


def test_the_nearest_file_upwards_counts(tmp_path: Path) -> None:
    near = tmp_path / "a" / "b"
    near.mkdir(parents=True)
    top = write(tmp_path, "[tool.latshift]\nmodel_components = []\n", "pyproject.toml")
    assert find(near) == top
    write(near.parent, "[tool.other]\n", "pyproject.toml")  # not ours: look further
    assert find(near) == top
    assert load(directory=near).model_components == ()
    project = write(near, "[tool.latshift]\n", "pyproject.toml")
    assert find(near) == project
    own = write(near, "")
    assert find(near) == own


MISTAKES = [
    ("[[componant]]\nname = 'x'", "unknown key 'componant'", "did you mean 'component'?"),
    (
        "[[component]]\nname = 'x'\nmatch = { nmae = 'y' }",
        "unknown key 'component[0].match.nmae'",
        "did you mean 'name'?",
    ),
    (
        "[[component]]\nname = 'x'\nclas = 'model'\nmatch = { name = 'y' }",
        "unknown key 'component[0].clas'",
        "'class'?",
    ),
    ("[[component]]\nname = 'x'", "missing required field `match`", ""),
    ("[[component]]\nname = 'x'\nmatch = {}", "component[0].match: says nothing", "for example"),
    ("[[component]]\nname = 'a.b'\nmatch = { name = 'y' }", "component[0].name: 'a.b' cannot be", "slash"),
    (
        "[[component]]\nname = 'x'\nclass = 'modle'\nmatch = { name = 'y' }",
        "component[0].class: invalid enum value 'modle'",
        "",
    ),
    ("[[component]]\nname = 3\nmatch = { name = 'y' }", "component[0].name: expected `str`, got `int`", ""),
    ("[[dependency]]\nafter = 'x'", "dependency[0]: expected either", "before"),
    ("[[dependency]]\nafter = 'x'\nbefore = 'clss:model'", "dependency[0].before: selector", "class:"),
    ("[[budget]]\nmetric = 'latency'\nmaxms = 3", "unknown key 'budget[0].maxms'", "did you mean 'max_ms'?"),
    ("[[budget]]\nmetric = 'latency'\npercentile = [950]", "budget[0].percentile: 950", "[50, 95, 99]"),
    ("[[budget]]\nmetric = 'latency'\nmax_ms = -1", "budget[0].max_ms: -1", ""),
    ("[[budget]]\nmetric = 'latency'\ntolerance = nan", "budget[0].tolerance: nan", ""),
    ("[[budget]]\nmetric = 'latency'\ngroup = 'a'\nroot = 'b'", "budget[0]: group and root", ""),
    ("[prices.m]\ninput = 1\noutptu = 2", "unknown key 'prices[...].outptu'", "did you mean 'output'?"),
    ("model_components = 'llm'", "model_components: expected `array`, got", ""),
    ("model_components = [", "not TOML", "toml.io"),
]


@pytest.mark.parametrize(("text", "message", "hint"), MISTAKES)
def test_a_mistake_is_named_with_its_file_and_key(text: str, message: str, hint: str, tmp_path: Path) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert str(file) in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.hint


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "absent.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(tmp_path / "latin.toml")
