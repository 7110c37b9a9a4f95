"""Dependencies as a graph for other tools: DOT, Mermaid and GraphML, all drawn from one networkx graph.

Names come from traces, so nodes have made-up ids and the names are labels only, quoted as each format wants it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from latshift.report.escape import visible
from latshift.results import ComponentLink, DependencyGraph, Order

if TYPE_CHECKING:
    import networkx

LONGEST_LABEL = 80

DOT_STYLES = {
    "waits": "style=solid",
    "assumed": "style=dashed",
    "refuted": 'style=dotted, color="gray60", fontcolor="gray60", arrowhead=none, constraint=false',
    "declared": "style=bold",
    "denied": 'style=dotted, color="gray60", fontcolor="gray60", arrowhead=none, constraint=false',
    "calls": 'style=solid, color="steelblue", arrowhead=empty',
}
"""How an edge looks in DOT, by verdict."""

MERMAID_ARROWS = {
    "waits": "-->",
    "assumed": "-.->",
    "refuted": "-.-x",
    "declared": "==>",
    "denied": "-.-x",
    "calls": "--o",
}
"""Likewise in Mermaid."""


def to_networkx(graph: DependencyGraph) -> networkx.MultiDiGraph:
    """Return the graph: a node per component, and per call under every sort of caller.

    An edge leads from what ends first to what waits for it, or from the caller to what it calls. Nodes carry `label`,
    `kind` ("component" or "call"), `component` and `caller`; edges `verdict`, `requests`, `support` and
    `counter_examples`.
    """
    import networkx

    drawn = networkx.MultiDiGraph()
    ids: dict[tuple[str, ...], str] = {}

    def node(key: tuple[str, ...], label: str, kind: str, component: str, caller: str) -> str:
        if key not in ids:
            ids[key] = f"n{len(ids)}"
            named = {"label": label or "(no name)", "component": component, "caller": caller}
            drawn.add_node(ids[key], kind=kind, **{name: visible(text, LONGEST_LABEL) for name, text in named.items()})
        return ids[key]

    for link in graph.components:
        ends = [node(("component", name), name, "component", name, "") for name in (link.source, link.target)]
        drawn.add_edge(*ends, **_facts(link))
    for at, operation in enumerate(graph.operations):
        caller = " ".join(part for part in (operation.service, operation.name) if part) or "(no name)"
        for order in operation.orders:
            named = ((order.source, order.source_component), (order.target, order.target_component))
            ends = [node((str(at), name), name, "call", component, caller) for name, component in named]
            drawn.add_edge(*ends, **_facts(order))
    return drawn


def _facts(link: ComponentLink | Order) -> dict[str, Any]:
    return {
        "verdict": link.verdict,
        "requests": link.requests,
        "support": link.support,
        "counter_examples": link.counter_examples,
    }


def _edge_label(facts: dict[str, Any]) -> str:
    if facts["counter_examples"]:
        return f"{facts['requests']:,}, {facts['counter_examples']:,} against"
    return f"{facts['requests']:,}"


def _clusters(drawn: networkx.MultiDiGraph) -> dict[str, list[str]]:
    """Return the nodes of each part of the drawing by its title: the components, then the calls under each caller."""
    clusters: dict[str, list[str]] = {}
    for name, facts in drawn.nodes(data=True):
        title = "Components" if facts["kind"] == "component" else f"Calls under {facts['caller']}"
        clusters.setdefault(title, []).append(name)
    return clusters


def dot_view(graph: DependencyGraph) -> str:
    """Return the graph for Graphviz (`dot -Tsvg`)."""
    drawn = to_networkx(graph)
    lines = ["digraph dependencies {", "  rankdir=LR;", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    lines.append('  edge [fontname="sans-serif", fontsize=10];')
    for at, (title, nodes) in enumerate(_clusters(drawn).items()):
        lines += [f"  subgraph cluster_{at} {{", f"    label={_quoted(title)};"]
        lines += [f"    {name} [label={_quoted(drawn.nodes[name]['label'])}];" for name in nodes]
        lines.append("  }")
    for source, target, facts in drawn.edges(data=True):
        lines.append(
            f"  {source} -> {target} [label={_quoted(_edge_label(facts))}, {DOT_STYLES[str(facts['verdict'])]}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    r"""Return the text as a DOT string; backslashes are doubled, so that "\N" and the like mean nothing."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def mermaid_view(graph: DependencyGraph) -> str:
    """Return the graph for Mermaid, as Markdown on GitHub shows it in a ```mermaid block."""
    drawn = to_networkx(graph)
    lines = ["flowchart LR"]
    for at, (title, nodes) in enumerate(_clusters(drawn).items()):
        lines.append(f'  subgraph g{at}["{_entities(title)}"]')
        lines += [f'    {name}["{_entities(drawn.nodes[name]["label"])}"]' for name in nodes]
        lines.append("  end")
    for source, target, facts in drawn.edges(data=True):
        arrow = MERMAID_ARROWS[str(facts["verdict"])]
        lines.append(f'  {source} {arrow}|"{_entities(_edge_label(facts))}"| {target}')
    return "\n".join(lines) + "\n"


def _entities(text: str) -> str:
    """Return the text with all that could mean something to Mermaid, Markdown or HTML as Mermaid's entity codes."""
    return "".join(
        character if character.isalnum() or character in " ,.-_/()" or ord(character) > 0x7F else f"#{ord(character)};"
        for character in text
    )


def graphml_view(graph: DependencyGraph) -> str:
    """Return the graph as GraphML, for Gephi, yEd or Cytoscape."""
    import networkx

    return "\n".join(networkx.generate_graphml(to_networkx(graph))) + "\n"
