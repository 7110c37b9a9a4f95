"""Which component every span is: llm_conventions.md section 5.0, the person's own rules first.

The order of the calls in `_decide` is the precedence. Spans that agree in everything that matters are decided once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from latshift.components import tables
from latshift.components.board import Board, Judge, Role, Verdict
from latshift.components.distinct import distinct
from latshift.components.engines import ENGINE_SPANS, EngineSpan
from latshift.components.globs import attribute_column, compiled, matching
from latshift.components.hosts import BARE_PATHS, HOSTS, PATHS
from latshift.components.names import component_of_name
from latshift.components.rules import Rule
from latshift.spans import CLIENT, CONSUMER, NULL, PRODUCER, SERVER, Array, Bool, Coded, Forest, Int64, SpanTable

TEXTS = (
    "kind_hint", "operation", "name", "scope", "service", "db_system", "messaging_system", "rpc_system", "faas",
    "mcp_method", "tool", "peer", "http_host", "http_route",
)  # fmt: skip
"""Text columns that some step reads; the others matter only through `Facts`."""


@dataclass
class Facts:
    """Masks over the spans that several steps need, bool (n,) each.

    Attributes:
        placeholder: The span stands for a lost root. entry: It is the root of its request.
        whole: It is the root of a request whose root was not lost. server, client: Its kind.
        http, rpc: It carries attributes of that protocol. genai: It names a model or counts tokens.
        engine_times: It carries times that only engines measure.
    """

    placeholder: Bool
    entry: Bool
    whole: Bool
    server: Bool
    client: Bool
    http: Bool
    rpc: Bool
    genai: Bool
    engine_times: Bool

    def take(self, rows: Int64) -> Facts:
        """Return the masks at the given rows."""
        return Facts(*(getattr(self, item.name)[rows] for item in fields(self)))

    def code(self) -> Int64:
        """Return all masks of a span as one number, int64 (n,) below 2 ** number of masks."""
        return np.asarray(
            sum(getattr(self, item.name).astype(np.int64) << bit for bit, item in enumerate(fields(self)))
        )


def facts_of(forest: Forest) -> Facts:
    """Gather the masks from the columns."""
    table = forest.spans
    kind = table.array("kind")
    below = forest.parent >= 0
    entry = ~below
    entry[below] = forest.placeholder[forest.parent[below]]

    def text(name: str) -> Bool:
        return np.asarray(table.text(name).codes >= 0)

    def number(name: str) -> Bool:
        return np.asarray(table.array(name) != NULL)

    return Facts(
        placeholder=forest.placeholder,
        entry=entry,
        whole=entry & ~below & forest.complete[forest.request],
        server=kind == SERVER,
        client=kind == CLIENT,
        http=text("http_method") | text("http_route") | number("http_status"),
        rpc=text("rpc_system"),
        genai=text("model") & (text("provider") | number("input_tokens") | number("output_tokens")),
        engine_times=number("queue_time") | number("prefill_time") | number("decode_time"),
    )


def verdicts_of(forest: Forest, rules: Sequence[Rule] = ()) -> Board:
    """Decide every span.

    Args:
        forest: The spans and their parents.
        rules: The person's own rules, in order.

    Returns:
        A board without open spans.
    """
    table, facts = forest.spans, facts_of(forest)
    number, rows = distinct(table.n, _columns_that_matter(table, facts, rules))
    return _decide(table.take(rows), facts.take(rows), rules).spread(number)


def _columns_that_matter(table: SpanTable, facts: Facts, rules: Sequence[Rule]) -> Iterator[tuple[Array, int]]:
    """Yield the codes and the number of codes of all columns that `_decide` looks at."""
    yield facts.code(), 2 ** len(fields(facts))
    yield table.array("kind").astype(np.int64), CONSUMER + 1
    asked = (attribute_column(table, key) for rule in rules for key in rule.attributes)
    for name in dict.fromkeys((*TEXTS, *asked)):
        column = table.columns.get(name or "")
        if isinstance(column, Coded):
            yield column.codes, len(column.words)
        elif column is not None:
            numbers, place = np.unique(column, return_inverse=True)
            yield place.reshape(-1), len(numbers)


def _decide(table: SpanTable, facts: Facts, rules: Sequence[Rule]) -> Board:
    board = Board(table.n)
    for rule in rules:
        board.decide(rule.matches(table), Verdict(rule.component, rule.text))
    board.decide(facts.placeholder, Verdict("app", "stand-in for a lost root"))
    board.by_word(table.text("kind_hint"), _kind)
    _genai_and_engines(board, table, facts)
    _attributes(board, table, facts)
    _calls(board, table, facts)
    _names(board, table, facts)
    return board


def _genai_and_engines(board: Board, table: SpanTable, facts: Facts) -> None:
    """Steps 3 and 4: what OpenTelemetry's GenAI conventions and the engines say."""
    operation, server = table.text("operation"), facts.server
    _engine_spans(board, table, facts, server)
    # A gateway's entry span repeats the model's attributes, but the model call is another span.
    model_operation = operation.lookup([_is_model(word) for word in operation.words], False)
    nothing_else = (operation.codes < 0) & facts.genai
    board.decide(server & (model_operation | nothing_else), Verdict("gateway", "gen_ai.* on a SERVER span"))
    board.by_word(operation, _operation)
    _engine_spans(board, table, facts, ~server)
    board.by_word(table.text("name"), _genai_without_operation, facts.genai)


def _engine_spans(board: Board, table: SpanTable, facts: Facts, where: Bool) -> None:
    board.decide(where & facts.engine_times, Verdict("llm", "engine times"))
    scope, service, name = table.text("scope"), table.text("service"), table.text("name")
    for scope_glob, service_glob in dict.fromkeys((span.scope, span.service) for span in ENGINE_SPANS):
        spans = [span for span in ENGINE_SPANS if (span.scope, span.service) == (scope_glob, service_glob)]
        mask = where
        if scope_glob != "*":
            mask = mask & matching(scope, scope_glob)
        if service_glob != "*":
            mask = mask & matching(service, service_glob)
        board.by_word(name, _engine_judge(spans), mask)


def _attributes(board: Board, table: SpanTable, facts: Facts) -> None:
    """Step 5: MCP, tools, databases, messaging."""
    board.by_word(table.text("mcp_method"), lambda word: Verdict("tool", f"mcp.method.name={word}"))
    board.by_word(table.text("tool"), lambda word: Verdict("tool", "gen_ai.tool.name"))
    board.by_word(table.text("db_system"), _database)
    kind = table.array("kind")
    board.decide(facts.entry & (kind == CONSUMER), Verdict("app", "root CONSUMER span"))
    board.by_word(table.text("messaging_system"), lambda word: Verdict("messaging", f"messaging.system={word}"))
    board.decide((kind == PRODUCER) | (kind == CONSUMER), Verdict("messaging", "PRODUCER or CONSUMER span"))


def _calls(board: Board, table: SpanTable, facts: Facts) -> None:
    """Steps 5 and 6: spans that carry a call. They inherit; what is decided here holds where nothing is above."""
    board.decide(facts.entry & facts.server, Verdict("app", "root SERVER span"))
    unkinded_root = facts.entry & ~facts.client
    board.decide(unkinded_root & (facts.http | facts.rpc), Verdict("app", "root span of a server"))
    faas = table.text("faas").codes >= 0
    board.decide(faas & ~facts.client, Verdict("app", "faas.*"))
    outgoing = (facts.http | facts.client) & ~facts.server
    host, path = table.text("http_host"), table.text("http_route")
    model_host = host.lookup([_host_component(word) == "llm" for word in host.words], False)
    board.by_word(path, _path_judge("model host, path", PATHS), outgoing & model_host)
    board.by_word(host, _host, outgoing)
    board.by_word(path, _path_judge("path", BARE_PATHS), outgoing)
    carriers = facts.http | facts.rpc | facts.client | facts.server
    for column, key in (("name", "name"), ("peer", "peer"), ("http_host", "host")):
        board.by_word(table.text(column), _name_judge(key, Role.TRANSPORT), carriers & ~facts.entry)
    board.decide(facts.server, Verdict("app", "SERVER span", Role.TRANSPORT))
    board.by_word(table.text("rpc_system"), lambda word: Verdict("rpc", f"rpc.system={word}", Role.TRANSPORT))
    board.decide(facts.http, Verdict("http", "http.*", Role.TRANSPORT))
    board.decide(facts.client & faas, Verdict("rpc", "faas.*", Role.TRANSPORT))


def _names(board: Board, table: SpanTable, facts: Facts) -> None:
    """The last resort before the default: names. The root of a whole request is the application, whatever its name."""
    name = table.text("name")
    board.by_word(name, _glob_judge(tables.TRANSPORT_NAMES, Verdict("http", "name of plumbing", Role.TRANSPORT)))
    board.by_word(name, _glob_judge(tables.SERVER_PARTS, Verdict("app", "part of a SERVER span", Role.TRANSPORT)))
    board.by_word(name, _name_judge("name", Role.OWN), ~facts.whole)
    board.by_word(table.text("kind_hint"), _weak_kind)
    board.decide(facts.client, Verdict("rpc", "CLIENT span", Role.TRANSPORT, known=False))
    board.decide(facts.whole, Verdict("app", "root span"))
    board.decide(np.ones(table.n, np.bool_), Verdict("app", "default", known=False))


def _kind(hint: str) -> Verdict | None:
    prefix, _, value = hint.partition(":")
    component = tables.KINDS.get(prefix, {}).get(value.lower())
    for glob, named in tables.KIND_GLOBS.get(prefix, ()):
        if component is None and compiled(glob).match(value.lower()):
            component = named
    return None if component is None else Verdict(component, f"{tables.KIND_KEYS[prefix]}={value}")


def _weak_kind(hint: str) -> Verdict | None:
    prefix, _, value = hint.partition(":")
    component = tables.WEAK_KINDS.get(prefix, {}).get(value.lower())
    return None if component is None else Verdict(component, f"{tables.KIND_KEYS[prefix]}={value}")


def _is_model(operation: str) -> bool:
    return tables.OPERATIONS.get(operation.lower()) in tables.MODEL_COMPONENTS


def _operation(word: str) -> Verdict | None:
    component = tables.OPERATIONS.get(word.lower())
    return None if component is None else Verdict(component, f"gen_ai.operation.name={word}")


def _genai_without_operation(name: str) -> Verdict:
    found = component_of_name(name)
    component = found[0] if found is not None and found[0] in tables.MODEL_COMPONENTS else "llm"
    return Verdict(component, "gen_ai.* attributes")


def _database(word: str) -> Verdict:
    system = word.lower()
    component = "database"
    if system in tables.CACHE_SYSTEMS:
        component = "cache"
    elif system in tables.VECTOR_SYSTEMS:
        component = "vector-db"
    return Verdict(component, f"db.system={word}")


def _engine_judge(spans: Sequence[EngineSpan]) -> Judge:
    def judge(name: str) -> Verdict | None:
        for span in spans:
            if compiled(span.name).match(name):
                role = Role.PART if span.part else Role.OWN
                return Verdict(span.component, f"{span.system} span {span.name.strip()}", role, span.phase)
        return None

    return judge


def _host_component(word: str) -> str | None:
    host = word.lower().partition(":")[0]
    return next((component for glob, component in HOSTS if compiled(glob).match(host)), None)


def _host(word: str) -> Verdict | None:
    component = _host_component(word)
    return None if component is None else Verdict(component, f"host {word}", Role.TRANSPORT)


def _path_judge(reason: str, paths: Sequence[tuple[str, str]]) -> Judge:
    def judge(path: str) -> Verdict | None:
        for glob, component in paths:
            if compiled(glob.lower()).match(path.lower()):
                return Verdict(component, f"{reason} {glob}", Role.TRANSPORT)
        return None

    return judge


def _glob_judge(globs: Sequence[str], verdict: Verdict) -> Judge:
    return lambda name: verdict if any(compiled(glob).match(name) for glob in globs) else None


def _name_judge(key: str, role: Role) -> Judge:
    def judge(name: str) -> Verdict | None:
        found = component_of_name(name)
        return None if found is None else Verdict(found[0], f"{key} has '{found[1]}'", role)

    return judge


def coded(board: Board, texts: Sequence[str]) -> Coded:
    """Return a text column that holds one of the given texts (one per verdict) for each span."""
    words = list(dict.fromkeys(texts))
    place = {word: code for code, word in enumerate(words)}
    return Coded(board.lookup([place[text] for text in texts], np.int32), words)
