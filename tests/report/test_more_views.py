"""Views of ranking, curve, scenarios and dependencies: they fit, nothing gets lost, hostile names do no harm."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ElementTree
from types import ModuleType

import pytest
from rich.cells import cell_len

from latshift.report.console import ASCII, Screen
from latshift.report.views import VIEWS, draw
from latshift.results import (
    Candidate,
    ComponentLink,
    Curve,
    CurvePoint,
    DependencyGraph,
    Doubt,
    Knee,
    Operation,
    Order,
    Pair,
    Points,
    Ranking,
    Result,
    ScenarioForecast,
    Scenarios,
    Spread,
)

NAMES = ("llm", "retrieval", "a-rather-long-component-name/with-a-refinement")
KINDS = ("ranking", "curve", "scenarios", "dependencies")


def ranking(examples: ModuleType, names: tuple[str, ...]) -> Ranking:
    candidates = tuple(
        Candidate(
            name, "component", name, "non-model", 9, 12, Spread(0.3, 0.3, 0.4, 0.5), Spread(0.2, 0.2, 0.3, 0.31),
            Spread(0.3, 0.31, 0.42, -0.01), Points(10.0, 8.3, 0.0), {"p95": (0.25, 0.33)},
        )
        for name in names
    )  # fmt: skip
    pairs = tuple(
        Pair(name, names[0], 9, at == 1, Spread(0.1, 0.1, 0.12, 0.1), {"p95": (0.1, 0.2)}, (f"breaks {name}",))
        for at, name in enumerate(names)
    )
    return Ranking("p95", examples.LATENCY, candidates, pairs, 3, (Doubt("x", f"odd {names[0]}"),))


def curve(examples: ModuleType, names: tuple[str, ...]) -> Curve:
    points = tuple(
        CurvePoint(
            f"{factor:g}x" if factor < math.inf else "inf", factor, Spread(400, 400, 1000, 2000),
            Spread(*[0.5 * (1 - 1 / factor)] * 4), 0.4 / factor, names[0] if factor < 2 else names[1],
        )
        for factor in (1.0, 1.5, 2.0, 4.0, math.inf)
    )  # fmt: skip
    knee = Knee(1.7, "bottleneck moves", 1.7, names[1], Points(math.nan, 2.5, 3.0))
    return Curve(names[0], examples.LATENCY, points, knee, points[-1].gain, (f"as recorded: {names[1]}",))


def scenarios(examples: ModuleType, names: tuple[str, ...]) -> Scenarios:
    return Scenarios(examples.LATENCY, tuple(ScenarioForecast(name, examples.forecast()) for name in names))


def dependencies(examples: ModuleType, names: tuple[str, ...]) -> DependencyGraph:
    verdicts = ("waits", "assumed", "refuted", "declared", "denied")
    later = names[1:] + names[:1]
    links = [ComponentLink(a, b, "calls", 9, 9, 0, 0) for a, b in zip(names, later, strict=True)]
    orders = [
        Order(a, b, a, b, verdicts[at % 5], 12, 9, 9, 4 if verdicts[at % 5] == "refuted" else 0)  # type: ignore[arg-type]
        for at, (a, b) in enumerate(zip(names, later, strict=True))
    ]
    links += [ComponentLink(o.source, o.target, o.verdict, 12, 9, 9, o.counter_examples) for o in orders]
    operations = tuple(Operation(name, name, name, 9, tuple(orders)) for name in names)
    return DependencyGraph(2000, tuple(links), operations, (Doubt("wide", f"wide {names[0]}"),))


MAKERS = {"ranking": ranking, "curve": curve, "scenarios": scenarios, "dependencies": dependencies}


@pytest.fixture(params=["plain", "hostile"])
def names(request: pytest.FixtureRequest, examples: ModuleType) -> tuple[str, ...]:
    return NAMES if request.param == "plain" else tuple(examples.HOSTILE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [80, 140])
def test_nothing_is_wider_than_the_terminal(
    examples: ModuleType, names: tuple[str, ...], kind: str, width: int
) -> None:
    text = draw(MAKERS[kind](examples, names), "table", Screen(width, cut=True))
    wide = [line for line in text.splitlines() if cell_len(line) > width and " " in line.strip()]
    assert wide == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_is_printable(examples: ModuleType, names: tuple[str, ...], kind: str) -> None:
    result: Result = MAKERS[kind](examples, names)
    for format in VIEWS[result.schema]:
        text = draw(result, format, Screen())
        assert all(line.isprintable() for line in text.replace("\t", " ").split("\n")), format
        assert "\x1b" not in text
    value = json.loads(draw(result, "json", Screen()))
    assert value["schema"] == result.schema


@pytest.mark.parametrize("kind", KINDS)
def test_ascii_only_where_the_terminal_has_nothing_else(examples: ModuleType, kind: str) -> None:
    assert draw(MAKERS[kind](examples, NAMES), "table", Screen(glyphs=ASCII)).isascii()


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_whole_in_a_pipe(examples: ModuleType, kind: str) -> None:
    assert NAMES[2] in draw(MAKERS[kind](examples, NAMES[::-1]), "table", Screen())


def test_the_answer_comes_first(examples: ModuleType) -> None:
    text = " ".join(draw(ranking(examples, NAMES), "table", Screen()).split())
    assert "To improve p95, make llm faster: twice as fast saves 30% (1.24 s → 870 ms)" in text
    assert "next come retrieval 30%" in text
    assert "Side by side, llm and llm save 12%" in text
    assert "overtakes others" in text
    assert "3 more pairs not tried" in text


def test_the_curve_says_where_it_bends(examples: ModuleType) -> None:
    text = draw(curve(examples, NAMES), "table", Screen())
    bars = [line for line in text.splitlines() if re.match(r" *(\d[\d.]*x|inf) ", line)]
    assert len(bars) == 4
    assert [("█" in line, "▒" in line) for line in bars] == [(True, False), *[(False, True)] * 3]
    said = " ".join(text.split())
    assert "Beyond 1.7x the bottleneck is retrieval, no longer llm." in said
    assert "beyond 2.5x at p95, 3.0x at p99." in said
    assert "At most 50% of p50, 50% of p95, 50% of p99 can be saved." in said


def test_an_infinite_factor_is_null_in_json(examples: ModuleType) -> None:
    last = json.loads(draw(curve(examples, NAMES), "json", Screen()))["points"][-1]
    assert (last["factor"], last["speedup"]) == (None, "inf")


def test_scenarios_stand_side_by_side(examples: ModuleType) -> None:
    text = draw(scenarios(examples, NAMES), "table", Screen())
    assert re.search(r"^\(as recorded\) +412 ms +1\.24 s +2\.10 s +llm$", text, re.MULTILINE)
    assert re.search(r"^retrieval +322 ms −21\.9% .* retrieval$", text, re.MULTILINE)
    assert "\n  --parallelize retrieval,feature-store\n" in text


def test_dependencies_are_said_in_words(examples: ModuleType) -> None:
    text = draw(dependencies(examples, NAMES), "table", Screen())
    assert re.search(r"^retrieval +is called by +llm +9$", text, re.MULTILINE)
    assert re.search(r"^retrieval +waits for +llm +9 +9 +0$", text, re.MULTILINE)
    assert re.search(r"may wait for +retrieval +9 +9 +0 +assumed$", text, re.MULTILINE)
    assert re.search(r"^llm +does not wait for .* 9 +9 +4$", text, re.MULTILINE)


DOT_LINE = re.compile(
    r"digraph dependencies \{|  rankdir=LR;|  (node|edge) \[.*\];|  subgraph cluster_\d+ \{|  \}|\}"
    r'|    label="(?:[^"\\]|\\[\\"])*";|    n\d+ \[label="(?:[^"\\]|\\[\\"])*"\];'
    r'|  n\d+ -> n\d+ \[label="[\d,a-z ]*", [a-z0-9=", ]*\];'
)

MERMAID_LINE = re.compile(
    r'flowchart LR|  subgraph g\d+\["[^"\[\]{}<>`|\\]*"\]|  end|    n\d+\["[^"\[\]{}<>`|\\]*"\]'
    r'|  n\d+ (-->|-\.->|-\.-x|==>|--o)\|"[\d,a-z ]*"\| n\d+'
)


def test_dot_and_mermaid_hold_nothing_but_quoted_names(examples: ModuleType, names: tuple[str, ...]) -> None:
    result = dependencies(examples, names)
    for format, pattern in (("dot", DOT_LINE), ("mermaid", MERMAID_LINE)):
        for line in draw(result, format, Screen()).splitlines():
            assert pattern.fullmatch(line), line


def test_graphml_is_well_formed_and_complete(examples: ModuleType, names: tuple[str, ...]) -> None:
    result = dependencies(examples, names)
    root = ElementTree.fromstring(draw(result, "graphml", Screen()))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(root.findall(f".//{space}edge")) == len(result.components) + sum(
        len(o.orders) for o in result.operations
    )
    assert len(root.findall(f".//{space}node")) == len(names) * (len(names) + 1)


def test_an_empty_graph_is_drawn() -> None:
    empty = DependencyGraph(1, (), ())
    for format in VIEWS[empty.schema]:
        assert draw(empty, format, Screen())
    assert "No call waits for another." in draw(empty, "table", Screen())
