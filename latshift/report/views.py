"""The table of views: which function draws which result in which format."""

from __future__ import annotations

from importlib import import_module

from latshift.report.console import Screen
from latshift.results import Result

VIEWS: dict[str, dict[str, str]] = {
    "latshift/analyze/1": {
        "table": "analysis_view.analysis_view",
        "json": "json_view.json_view",
        "md": "markdown.analysis_markdown",
        "csv": "csv_view.csv_view",
    },
    "latshift/path/1": {"table": "path_view.path_view", "json": "json_view.json_view"},
    "latshift/whatif/1": {
        "table": "forecast_view.forecast_view",
        "json": "json_view.json_view",
        "md": "markdown.forecast_markdown",
    },
    "latshift/check/1": {
        "table": "check_view.check_view",
        "json": "json_view.json_view",
        "md": "markdown.check_markdown",
    },
    "latshift/rank/1": {
        "table": "rank_view.rank_view",
        "json": "json_view.json_view",
        "md": "markdown_ranking.ranking_markdown",
    },
    "latshift/curve/1": {
        "table": "curve_view.curve_view",
        "json": "json_view.json_view",
        "md": "markdown_ranking.curve_markdown",
    },
    "latshift/scenarios/1": {
        "table": "scenarios_view.scenarios_view",
        "json": "json_view.json_view",
        "md": "markdown_ranking.scenarios_markdown",
    },
    "latshift/dependencies/1": {
        "table": "dependencies_view.dependencies_view",
        "json": "json_view.json_view",
        "dot": "graph_views.dot_view",
        "mermaid": "graph_views.mermaid_view",
        "graphml": "graph_views.graphml_view",
    },
    "latshift/components/1": {"table": "components_view.components_view", "json": "json_view.json_view"},
}
"""Schema of the result, and format, to module and function in `latshift.report`; loaded only when used."""


def draw(result: Result, format: str, screen: Screen) -> str:
    """Return a result as text in a format; only tables depend on the screen."""
    module, _, function = VIEWS[result.schema][format].partition(".")
    view = getattr(import_module(f"latshift.report.{module}"), function)
    text: str = view(result, screen) if format == "table" else view(result)
    return text
