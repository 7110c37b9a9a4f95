"""What `latshift components` lists, and that its suggestions work when pasted."""

import tomllib
from pathlib import Path

import pytest

from latshift.components import classify
from latshift.components.explain import component_name, list_components, list_unclassified, suggestion
from latshift.components.globs import compiled
from latshift.config import load
from latshift.spans import Forest, Int64
from tests.components.builder import MS, components, forest


def example() -> Forest:
    return forest(
        {"id": "root", "kind": "server"},
        {"id": "a", "parent": "root", "name": "build prompt", "end": 30},
        {"id": "b", "parent": "root", "name": "build prompt", "start": 30, "end": 50},
        {"id": "c", "parent": "root", "name": "score", "start": 50, "end": 60},
        {"id": "d", "parent": "root", "name": "chat", "operation": "chat", "start": 60, "end": 90},
    )


def own(spans: Forest) -> Int64:
    return spans.spans.array("end") - spans.spans.array("start")


def test_components_with_their_rules() -> None:
    spans = example()
    listed = list_components(spans, classify(spans), own(spans))
    assert [(item.name, item.spans, item.klass) for item in listed] == [("app", 4, "non-model"), ("llm", 1, "model")]
    assert [(hit.rule, hit.spans, hit.example) for hit in listed[0].rules] == [
        ("default", 3, "build prompt"), ("root SERVER span", 1, "root"),
    ]  # fmt: skip
    assert sum(item.path_share for item in listed) == pytest.approx(1)


def test_names_that_only_fell_to_app_with_rules_to_paste() -> None:
    spans = example()
    listed = list_unclassified(spans, classify(spans), own(spans))
    assert [(item.name, item.service, item.spans) for item in listed] == [
        ("build prompt", "svc", 2),
        ("score", "svc", 1),
    ]
    assert listed[0].path_share == pytest.approx(50 * MS / (190 * MS))
    assert listed[0].suggestion.splitlines()[1] == 'name = "build-prompt"'
    assert list_unclassified(spans, classify(spans), own(spans), limit=1) == listed[:1]


@pytest.mark.parametrize("name", ["build prompt", "GET /items/[id]", 'say "hi" * \\ ? \n\x7f', "日本", "{x}", "ü.é"])
def test_a_pasted_rule_covers_just_that_name(name: str, tmp_path: Path) -> None:
    file = tmp_path / "latshift.toml"
    file.write_text(suggestion(name, "svc"), encoding="utf-8")
    rules = load(file).rules
    spans = forest(
        {"id": "root", "kind": "server"},
        {"id": "a", "parent": "root", "name": name},
        {"id": "b", "parent": "root", "name": name + "x"},
    )
    found = components(spans, *rules)
    assert (found["a"], found["b"]) == (component_name(name), "app")


def test_a_rule_for_a_huge_name_is_a_short_glob() -> None:
    name = "X[" * 1_000_000
    rule = suggestion(name, "svc")
    assert len(rule) < 1_000
    assert '*"' in rule
    match = tomllib.loads(rule)["component"][0]["match"]
    assert compiled(match["name"]).match(name)
