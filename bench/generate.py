"""Writes traces of any size to measure with.

    python -m bench.generate otlp 20000 bench/data/otlp.jsonl       requests x 19 spans as OTLP JSON lines
    python -m bench.generate jaeger 1000 50 bench/data/jaeger.json  traces x spans as one Jaeger JSON document

The OTLP file looks like a Collector's: attributes that latshift reads beside ones it does not, and one line for each
batch, so that concurrent requests mix within a line and one request is spread over several. Seeded: the same bytes
in every run.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

START = 1_791_277_200_000_000_000
JAEGER_TAGS = 1
"""Tags of a span in Jaeger's format, beside its kind: such files are exported by hand, from smaller systems."""

BATCH = 512
"""Spans in a line; what the SDKs' batch processors export at once."""

CONCURRENT = 50
"""Requests whose spans are mixed."""

ARRIVAL = 20_000_000
"""Time between two requests, ns."""

Attributes = dict[str, str | int | float | bool]


@dataclass(frozen=True)
class Step:
    """One span of a request: where it hangs, who writes it, and how long it takes when nothing is beneath it."""

    name: str
    service: str
    kind: int
    parent: int
    median_ms: float
    attributes: Attributes
    blocking: bool = True


def http_call(url: str) -> Attributes:
    """Return the attributes of an HTTP client call."""
    return {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "url.full": url,
        "server.address": url.split("/")[2],
    }


def model_call(operation: str, model: str, provider: str) -> Attributes:
    """Return the attributes of a call to a model."""
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": 1_812,
    }


def query(system: str, operation: str, host: str) -> Attributes:
    """Return the attributes of a database call."""
    return {
        "db.system.name": system,
        "db.operation.name": operation,
        "db.namespace": "main",
        "server.address": host,
    }


def server_call(route: str) -> Attributes:
    """Return the attributes of a call that a server answers."""
    return {
        "http.request.method": "POST",
        "http.route": route,
        "http.response.status_code": 200,
        "user_agent.original": "python-httpx/1.0",
    }


def code(function: str) -> Attributes:
    """Return the attributes of a function that is traced by hand."""
    return {"code.function.name": function, "thread.id": 140_214, "thread.name": "main"}


GATEWAY, RETRIEVAL = "chat-api", "retrieval-service"

STEPS = (
    Step("POST /chat", GATEWAY, 2, -1, 4, server_call("/chat")),
    Step("auth.verify_token", GATEWAY, 1, 0, 1, code("chat.auth.verify_token")),
    Step("POST", GATEWAY, 3, 1, 40, http_call("https://auth.internal/introspect")),
    Step("GET", GATEWAY, 3, 0, 5, query("redis", "GET", "sessions.internal")),
    Step("feast.get_online_features", GATEWAY, 1, 0, 2, code("chat.features.get_online_features")),
    Step("POST", GATEWAY, 3, 4, 150, http_call("https://feast.internal/get-online-features")),
    Step("retrieval handbook", GATEWAY, 3, 0, 1, model_call("retrieval", "handbook", "internal")),
    Step("POST", GATEWAY, 3, 6, 5, http_call("https://retrieval.internal/search")),
    Step("POST /search", RETRIEVAL, 2, 7, 3, server_call("/search")),
    Step("embeddings", RETRIEVAL, 3, 8, 1, model_call("embeddings", "text-embedding-3-small", "openai")),
    Step("POST", RETRIEVAL, 3, 9, 30, http_call("https://api.openai.com/v1/embeddings")),
    Step("query handbook", RETRIEVAL, 3, 8, 110, query("qdrant", "query", "qdrant.internal")),
    Step("SELECT permissions", RETRIEVAL, 3, 8, 140, query("postgresql", "SELECT", "pg.internal")),
    Step("rerank", RETRIEVAL, 3, 8, 1, model_call("rerank", "rerank-v3.5", "cohere")),
    Step("POST", RETRIEVAL, 3, 13, 60, http_call("https://api.cohere.com/v2/rerank")),
    Step("build_prompt", GATEWAY, 1, 0, 30, code("chat.prompt.build_prompt")),
    Step("chat gpt-5-mini", GATEWAY, 3, 0, 200, model_call("chat", "gpt-5-mini", "openai")),
    Step("POST", GATEWAY, 3, 16, 200, http_call("https://api.openai.com/v1/chat/completions")),
    Step("guardrail", GATEWAY, 1, 0, 15, code("chat.guardrail.check_answer")),
)
"""The spans of a request, parents first; siblings run one after the other."""


def attribute_text(attributes: Attributes) -> str:
    """Return attributes as OTLP JSON, without the brackets."""
    names = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    values = [
        {"key": key, "value": {names[type(value)]: str(value) if type(value) is int else value}}
        for key, value in attributes.items()
    ]
    return json.dumps(values, separators=(",", ":"))[1:-1]


def request_times(chance: random.Random, start: int) -> list[tuple[int, int]]:
    """Draw the start and end of every step of a request, ns."""
    own = [round(step.median_ms * 1e6 * chance.lognormvariate(0.0, 0.35)) for step in STEPS]
    children: list[list[int]] = [[] for _ in STEPS]
    for number, step in enumerate(STEPS[1:], 1):
        children[step.parent].append(number)
    times = [(0, 0)] * len(STEPS)

    def place(number: int, begin: int) -> int:
        # Own work comes in equal pieces: before, between and after the children.
        piece = own[number] // (len(children[number]) + 1)
        now = begin + piece
        for child in children[number]:
            now = place(child, now) + piece
        times[number] = (begin, now)
        return now

    place(0, start)
    return times


def request_spans(chance: random.Random, number: int, fixed: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the spans of a request as (end, service, OTLP JSON)."""
    trace = f"{chance.getrandbits(128):032x}"
    ids = [f"{chance.getrandbits(64):016x}" for _ in STEPS]
    times = request_times(chance, START + number * ARRIVAL)
    for step, span_id, (begin, end), attributes in zip(STEPS, ids, times, fixed, strict=True):
        parent = f'"parentSpanId":"{ids[step.parent]}",' if step.parent >= 0 else ""
        changing = ""
        if step.attributes.get("gen_ai.operation.name") == "chat":
            tokens = chance.randint(50, 900)
            changing = (
                f',{{"key":"gen_ai.usage.output_tokens","value":{{"intValue":"{tokens}"}}}}'
                f',{{"key":"gen_ai.response.time_to_first_chunk","value":{{"doubleValue":{(end - begin) / 2e9:.6f}}}}}'
            )
        yield (
            end,
            step.service,
            f'{{"traceId":"{trace}","spanId":"{span_id}",{parent}"flags":256,"name":"{step.name}","kind":{step.kind},'
            f'"startTimeUnixNano":"{begin}","endTimeUnixNano":"{end}","attributes":[{attributes}{changing}],"status":{{}}}}',
        )


def write_batch(out: TextIO, service: str, spans: list[str]) -> None:
    """Write one line."""
    resource = attribute_text({"service.name": service, "host.name": f"{service}-7d9f", "service.version": "4.2.0"})
    out.write(
        f'{{"resourceSpans":[{{"resource":{{"attributes":[{resource}]}},"scopeSpans":[{{"scope":{{"name":"{service}"}},'
        f'"spans":[{",".join(spans)}]}}]}}]}}\n'
    )


def write_otlp(requests: int, out: TextIO) -> None:
    """Write requests of 19 spans as OTLP JSON lines."""
    chance = random.Random(19)
    fixed = [attribute_text(step.attributes) for step in STEPS]
    waiting: dict[str, list[str]] = {GATEWAY: [], RETRIEVAL: []}
    for first in range(0, requests, CONCURRENT):
        numbers = range(first, min(first + CONCURRENT, requests))
        ended = sorted(span for number in numbers for span in request_spans(chance, number, fixed))
        for _, service, text in ended:
            waiting[service].append(text)
            if len(waiting[service]) == BATCH:
                write_batch(out, service, waiting[service])
                waiting[service] = []
    for service, spans in waiting.items():
        if spans:
            write_batch(out, service, spans)


def jaeger_trace(chance: random.Random, number: int, spans: int) -> dict[str, Any]:
    """Return one Jaeger trace: a root, and calls one after the other, each with one call beneath."""
    trace = f"{chance.getrandbits(128):032x}"
    ids = [f"{chance.getrandbits(64):016x}" for _ in range(spans)]
    begin = (START + number * ARRIVAL) // 1_000
    now = begin
    rows: list[tuple[int, int, int]] = []
    for index in range(1, spans):
        if index % 2:
            length = round(20_000 * chance.lognormvariate(0.0, 0.6))
            rows.append((0, now + 300, length))
            now += length + 300
        else:
            _, above, length = rows[-1]
            rows.append((index - 1, above + length // 10, length * 8 // 10))
    rows.insert(0, (-1, begin, now - begin + 500))
    steps = [STEPS[index % len(STEPS)] for index in range(spans)]
    kinds = ("", "internal", "server", "client")
    return {
        "traceID": trace,
        "spans": [
            {
                "traceID": trace,
                "spanID": ids[index],
                "operationName": step.name,
                "references": [{"refType": "CHILD_OF", "traceID": trace, "spanID": ids[parent]}] if index else [],
                "startTime": start,
                "duration": length,
                "tags": jaeger_tags(dict([*step.attributes.items()][:JAEGER_TAGS]) | {"span.kind": kinds[step.kind]}),
                "logs": [],
                "processID": "p1" if step.service == GATEWAY else "p2",
                "warnings": None,
            }
            for index, (step, (parent, start, length)) in enumerate(zip(steps, rows, strict=True))
        ],
        "processes": {"p1": {"serviceName": GATEWAY, "tags": []}, "p2": {"serviceName": RETRIEVAL, "tags": []}},
        "warnings": None,
    }


def jaeger_tags(attributes: Attributes) -> list[dict[str, Any]]:
    """Return attributes as Jaeger's tags."""
    names = {bool: "bool", int: "int64", float: "float64", str: "string"}
    return [{"key": key, "type": names[type(value)], "value": value} for key, value in attributes.items()]


def write_jaeger(traces: int, spans: int, out: TextIO) -> None:
    """Write traces as one Jaeger JSON document."""
    chance = random.Random(50)
    for number in range(traces):
        out.write("," if number else '{"data":[')
        json.dump(jaeger_trace(chance, number, spans), out, separators=(",", ":"))
    out.write('],"total":0,"limit":0,"offset":0,"errors":null}\n')


def main(arguments: list[str]) -> None:
    """Write the file that the arguments name."""
    if not arguments or arguments[0] not in ("otlp", "jaeger"):
        sys.exit(__doc__)
    kind, *counts, name = arguments
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        if kind == "otlp":
            write_otlp(int(counts[0]), out)
        else:
            write_jaeger(int(counts[0]), int(counts[1]), out)


if __name__ == "__main__":
    main(sys.argv[1:])
