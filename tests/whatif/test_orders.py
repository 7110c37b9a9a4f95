"""Who waits for whom, added up: what is kept, what is refuted and by how much, what the configuration overrules."""

from __future__ import annotations

from latshift.config import Config, Dependency
from latshift.forest import build
from latshift.results import DependencyGraph, Order
from latshift.spans import InputSummary
from latshift.traceset import TraceSet
from latshift.whatif.orders import dependency_graph
from tests.tiny import spans

# auth runs beside everything; in every fourth request it is still running when the model call begins.
# auth       |-----|  or |-----------------|
# search     |------|
# chat               |-----------------------|
USUAL = (
    "r@ 0-200 trace=t@ name=POST service=api server;a@<r@ 0-50 trace=t@ name=auth.check service=api client;"
    "s@<r@ 0-60 trace=t@ name=search db_system=qdrant service=api client;"
    "l@<r@ 65-180 trace=t@ name=chat operation=chat service=api client"
)
LATE = USUAL.replace("0-50", "0-80")


def graph_of(*requests: str, config: Config | None = None) -> DependencyGraph:
    summary = InputSummary()
    text = ";".join(request.replace("@", str(q)) for q, request in enumerate(requests))
    return dependency_graph(TraceSet(build(spans(text), summary), summary, config=config or Config()))


def orders_of(graph: DependencyGraph) -> dict[tuple[str, str], Order]:
    return {(order.source, order.target): order for operation in graph.operations for order in operation.orders}


def test_support_and_counter_examples() -> None:
    graph = graph_of(*[USUAL, USUAL, USUAL, LATE] * 4)
    orders = orders_of(graph)
    waits = orders["search", "chat"]
    assert (waits.verdict, waits.requests, waits.calls, waits.support, waits.counter_examples) == (
        "waits",
        16,
        16,
        16,
        0,
    )
    refuted = orders["auth.check", "chat"]
    assert (refuted.verdict, refuted.requests, refuted.support, refuted.counter_examples) == ("refuted", 12, 12, 4)
    assert (refuted.source_component, refuted.target_component) == ("auth", "llm")
    # auth and search always overlap: there is no order to speak of.
    assert set(orders) == {("search", "chat"), ("auth.check", "chat")}
    operation = graph.operations[0]
    assert (operation.service, operation.name, operation.component, operation.requests) == ("api", "POST", "app", 16)


def test_components_wait_for_and_call_each_other() -> None:
    links = {(link.source, link.target): link for link in graph_of(*[USUAL] * 12, LATE).components}
    assert links["vector-db", "llm"].verdict == "waits"
    assert links["auth", "llm"].verdict == "refuted"
    assert (links["app", "llm"].verdict, links["app", "llm"].calls) == ("calls", 13)


def test_few_requests_only_make_it_assumed() -> None:
    assert orders_of(graph_of(USUAL, USUAL))["search", "chat"].verdict == "assumed"


def test_the_configuration_overrules() -> None:
    config = Config(dependencies=(Dependency(after="llm", before="auth"), Dependency(after="llm", never="vector-db")))
    orders = orders_of(graph_of(*[USUAL] * 12, LATE, config=config))
    assert orders["auth.check", "chat"].verdict == "declared"
    assert orders["search", "chat"].verdict == "denied"


def test_repeated_calls_count_once_a_request() -> None:
    loop = "r@ 0-100 trace=t@ name=POST server;" + ";".join(
        f"d{n}.@<r@ {20 * n}-{20 * n + 15} trace=t@ name=SELECT db_system=postgresql client" for n in range(4)
    )
    order = orders_of(graph_of(*[loop] * 11))["SELECT", "SELECT"]
    assert (order.calls, order.requests, order.support, order.verdict) == (33, 11, 11, "waits")


def test_a_single_span_has_no_graph() -> None:
    graph = graph_of("r@ 0-10 trace=t@ name=POST server")
    assert (graph.requests, graph.components, graph.operations) == (1, (), ())


def test_wide_spans_are_said_not_to_be_shown() -> None:
    wide = "r@ 0-1000 trace=t@ name=POST server;" + ";".join(
        f"d{n}.@<r@ {2 * n}-{2 * n + 1} trace=t@ name=SELECT client" for n in range(120)
    )
    graph = graph_of(wide)
    assert [doubt.code for doubt in graph.doubts] == ["wide"]
    assert graph.operations == ()
