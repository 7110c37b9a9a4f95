"""What carries a call belongs to the call."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latshift.components import classify
from latshift.components.inherit import nearest
from tests.components.builder import by_id, components, forest, owners

HTTP = {"http_method": "POST", "name": "POST"}
ROOT = {"id": "root", "name": "handle", "kind": "server"}


def test_the_post_under_a_model_call_is_the_model_call() -> None:
    # root > chat > POST > dns, server > tls
    spans = forest(
        ROOT,
        {"id": "chat", "parent": "root", "operation": "chat", "kind": "client"},
        {"id": "post", "parent": "chat", "kind": "client", **HTTP},
        {"id": "dns", "parent": "post", "name": "dns.lookup"},
        {"id": "server", "parent": "post", "kind": "server", **HTTP},
        {"id": "tls", "parent": "server", "name": "tls.connect"},
    )
    result = classify(spans)
    assert by_id(spans, result.component.texts()) == {
        "root": "app",
        **dict.fromkeys(("chat", "post", "dns", "server", "tls"), "llm"),
    }
    assert owners(spans, result) == {"root": "root", **dict.fromkeys(("chat", "post", "dns", "server", "tls"), "chat")}
    assert {name for name, call in by_id(spans, result.call).items() if call} == {"root", "chat"}
    assert by_id(spans, result.rule.texts())["post"] == "part of the llm call above"


def test_the_innermost_meaning_wins() -> None:
    # root > chat > tool > POST; root > retrieval > POST > server > vector db, pool.acquire
    spans = forest(
        ROOT,
        {"id": "chat", "parent": "root", "operation": "chat"},
        {"id": "tool", "parent": "chat", "operation": "execute_tool"},
        {"id": "post", "parent": "tool", "kind": "client", **HTTP},
        {"id": "find", "parent": "root", "operation": "retrieval"},
        {"id": "call", "parent": "find", "kind": "client", **HTTP},
        {"id": "server", "parent": "call", "kind": "server", **HTTP},
        {"id": "vectors", "parent": "server", "kind": "client", "db_system": "qdrant"},
        {"id": "slot", "parent": "vectors", "name": "pool.acquire"},
        {"id": "help", "parent": "chat", "name": "compute"},
    )
    expected = {
        "root": "app", "chat": "llm", "tool": "tool", "post": "tool", "find": "retrieval", "call": "retrieval",
        "server": "retrieval", "vectors": "vector-db", "slot": "queue", "help": "app",
    }  # fmt: skip
    assert components(spans) == expected


def test_transport_under_the_application_keeps_its_own_name() -> None:
    # root > step > POST > server of another service > POST
    spans = forest(
        ROOT,
        {"id": "step", "parent": "root", "name": "compute"},
        {"id": "post", "parent": "step", "kind": "client", **HTTP},
        {"id": "server", "parent": "post", "kind": "server", **HTTP},
        {"id": "next", "parent": "server", "kind": "client", **HTTP},
        {"id": "grpc", "parent": "server", "kind": "client", "rpc_system": "grpc", "name": "Shop/List"},
    )
    expected = {"root": "app", "step": "app", "post": "http", "server": "app", "next": "http", "grpc": "rpc"}
    assert components(spans) == expected


def test_orchestration_does_not_own_what_it_calls_unless_it_is_remote() -> None:
    spans = forest(
        ROOT,
        {"id": "agent", "parent": "root", "operation": "invoke_agent", "kind": "internal"},
        {"id": "a", "parent": "agent", "kind": "client", **HTTP},
        {"id": "remote", "parent": "root", "operation": "invoke_agent", "kind": "client"},
        {"id": "b", "parent": "remote", "kind": "client", **HTTP},
        {"id": "worker", "parent": "root", "kind": "consumer", "messaging_system": "kafka"},
        {"id": "c", "parent": "worker", "kind": "client", **HTTP},
    )
    found = components(spans)
    assert (found["a"], found["b"], found["c"]) == ("http", "agent", "http")


def test_a_call_that_gives_itself_away_owns_what_is_beneath_but_yields_to_what_is_above() -> None:
    # POST to a model host: alone it is the model call with its server; under an embedding span it is that.
    host = {"http_host": "api.openai.com", "kind": "client", **HTTP}
    spans = forest(
        ROOT,
        {"id": "bare", "parent": "root", **host},
        {"id": "server", "parent": "bare", "kind": "server", **HTTP},
        {"id": "embed", "parent": "root", "operation": "embeddings"},
        {"id": "post", "parent": "embed", **host},
        {"id": "oauth", "parent": "root", "kind": "client", "http_method": "POST", "name": "POST /oauth/token"},
        {"id": "idp", "parent": "oauth", "kind": "server", **HTTP},
    )
    result = classify(spans)
    expected = {
        "root": "app", "bare": "llm", "server": "llm", "embed": "embedding", "post": "embedding",
        "oauth": "auth", "idp": "auth",
    }  # fmt: skip
    assert by_id(spans, result.component.texts()) == expected
    assert owners(spans, result)["server"] == "bare"


def test_a_gateway_between_two_model_calls_is_its_own_component() -> None:
    # chat > POST > gateway > POST > llm_request
    spans = forest(
        ROOT,
        {"id": "chat", "parent": "root", "operation": "chat", "kind": "client"},
        {"id": "post", "parent": "chat", "kind": "client", **HTTP},
        {"id": "gateway", "parent": "post", "kind": "server", "operation": "chat", "model": "m"},
        {"id": "up", "parent": "gateway", "kind": "client", **HTTP},
        {"id": "engine", "parent": "up", "kind": "server", "name": "llm_request"},
    )
    found = components(spans)
    assert [found[name] for name in ("chat", "post", "gateway", "up", "engine")] == [
        "llm",
        "llm",
        "gateway",
        "http",
        "llm",
    ]


def test_pieces_of_a_model_call_belong_to_it_or_stand_for_themselves() -> None:
    spans = forest(
        ROOT,
        {"id": "req", "parent": "root", "name": "Req 1", "scope": "sglang server"},
        {"id": "thread", "parent": "req", "name": "Scheduler [TP 0]", "scope": "sglang server"},
        {"id": "wait", "parent": "thread", "name": "prefill_waiting", "scope": "sglang server"},
        {"id": "alone", "parent": "root", "name": "prefill_waiting"},
        {"id": "tool", "parent": "root", "operation": "execute_tool"},
        {"id": "odd", "parent": "tool", "name": "prefill_forward"},
    )
    found = components(spans)
    assert [found[name] for name in ("req", "thread", "wait", "alone", "odd")] == ["llm", "llm", "llm", "queue", "llm"]


def test_a_deep_chain_of_transport_is_no_trouble() -> None:
    depth = 3_000
    rows = [{"id": "0", "name": "chat", "operation": "chat", "kind": "client"}]
    rows += [{"id": str(i), "parent": str(i - 1), "kind": "client", **HTTP} for i in range(1, depth)]
    result = classify(forest(*rows))
    assert set(result.component.texts()) == {"llm"}
    assert result.call.sum() == 1


@given(st.lists(st.tuples(st.integers(0, 10**6), st.booleans()), min_size=1, max_size=60))
def test_nearest_agrees_with_walking(rows: list[tuple[int, bool]]) -> None:
    parent = np.array([number % (i + 1) - 1 for i, (number, _) in enumerate(rows)], np.int32)
    stop = np.array([flag for _, flag in rows])

    def walk(row: int) -> int:
        while row >= 0 and not stop[row]:
            row = int(parent[row])
        return row

    assert nearest(parent, stop).tolist() == [walk(row) for row in range(len(rows))]
