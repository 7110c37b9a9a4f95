"""Results made by hand, for the tests of the views: a plausible run, and one with hostile names."""

from __future__ import annotations

from latshift.results import (
    Analysis,
    Bottleneck,
    Check,
    CheckReport,
    ClassShare,
    Component,
    ComponentListing,
    Doubt,
    Forecast,
    Group,
    Latency,
    ListedComponent,
    Paths,
    PhaseShare,
    Points,
    RequestPath,
    RetryTime,
    RuleHit,
    Segment,
    ShareShift,
    Spread,
    TailExcess,
    Unclassified,
    WaterfallSpan,
)
from latshift.spans import InputSummary

HOSTILE = (
    "[/id]",
    "GET /items/[id]",
    "\x1b[31mred\x1b[0m",
    "\u202eright to left\u202c",
    "two\nlines\r\n",
    "a|b",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "![x](http://evil.example/x.png)",
    "\ud800 lone",
    "漢字の名前" * 9,
    "x" * 1_000_000,
    "",
)

LATENCY = Latency(
    2000,
    498.2,
    412.3,
    1243.0,
    2104.0,
    {"p50_ms": (405.1, 419.4), "p95_ms": (1190.0, 1312.0), "p99_ms": (1803.0, 2440.0), "mean_ms": (488.0, 509.0)},
)

CLASSES = (
    ClassShare("model", Spread(0.45, 0.41, 0.52, 0.61), Spread(224.0, 170.0, 640.0, 1280.0)),
    ClassShare("queue", Spread(0.06, 0.04, 0.09, 0.11), Spread(30.0, 12.0, 110.0, 240.0)),
    ClassShare("non-model", Spread(0.49, 0.55, 0.39, 0.28), Spread(244.0, 228.0, 480.0, 590.0)),
)

COMPONENTS = (
    Component(
        "llm",
        "model",
        2000,
        4100,
        2050,
        Spread(0.40, 0.36, 0.47, 0.57),
        Spread(199.0, 150.0, 600.0, 1230.0),
        Points(0.36, 0.47, 0.57),
        (
            PhaseShare("llm.prefill", Spread(0.08, 0.07, 0.09, 0.2), Spread(38.0, 31.0, 90.0, 404.0)),
            PhaseShare("llm.decode", Spread(0.32, 0.29, 0.38, 0.37), Spread(161.0, 119.0, 510.0, 826.0)),
        ),
        RetryTime(40, 50, "heuristic", Spread(6.0, 0.0, 0.0, 310.0)),
    ),
    Component(
        "retrieval",
        "non-model",
        2000,
        4000,
        2000,
        Spread(0.21, 0.24, 0.15, 0.1),
        Spread(104, 98, 190, 260),
        Points(0.2, 0.12, 0.06),
    ),
    Component(
        "database/postgresql",
        "non-model",
        1990,
        28000,
        28000,
        Spread(0.16, 0.18, 0.14, 0.1),
        Spread(80, 72, 175, 230),
        Points(0.18, 0.14, 0.1),
    ),
    Component(
        "queue",
        "queue",
        1200,
        1200,
        1200,
        Spread(0.06, 0.04, 0.09, 0.11),
        Spread(30, 12, 110, 240),
        Points(0.04, 0.09, 0.11),
    ),
    Component(
        "embedding",
        "model",
        2000,
        2000,
        2000,
        Spread(0.05, 0.05, 0.05, 0.04),
        Spread(25, 22, 60, 90),
        Points(0.05, 0.05, 0.04),
    ),
    Component(
        "auth",
        "non-model",
        2000,
        2000,
        2000,
        Spread(0.04, 0.05, 0.03, 0.02),
        Spread(20, 19, 40, 61),
        Points(0.05, 0.03, 0.02),
    ),
    Component(
        "feature-store",
        "non-model",
        2000,
        2000,
        2000,
        Spread(0.03, 0.03, 0.03, 0.02),
        Spread(15, 14, 28, 40),
        Points(0, 0.01, 0.01),
    ),
    Component(
        "cache",
        "non-model",
        2000,
        2000,
        2000,
        Spread(0.0004, 0.0004, 0.0003, 0.0002),
        Spread(0.2, 0.19, 0.4, 0.8),
        Points(0, 0, 0),
    ),
    Component(
        "app",
        "non-model",
        2000,
        3000,
        2000,
        Spread(0.0496, 0.0496, 0.0397, 0.0398),
        Spread(25, 24, 41, 77),
        Points(0.05, 0.04, 0.04),
    ),
)

SOURCE = InputSummary(
    3, 12_400_000, 48_300, 2003, 2003, 3, {"duplicate span": 12}, ["214 spans end after their parent, 3.1 ms cut"]
)


def analysis(components: tuple[Component, ...] = COMPONENTS) -> Analysis:
    """A plausible analysis."""
    groups = (
        Group("gateway POST /answer", 1500, LATENCY, CLASSES),
        Group("gateway GET /search", 500, Latency(500, 88.0, 81.0, 160.0, 0.4), CLASSES),
    )
    excess = TailExcess(820.0, {"llm": 560.0, "retrieval": 130.0, "queue": 110.0, "app": 20.0})
    doubts = (Doubt("band-cut", "the band at p99 is cut at the end"),)
    return Analysis(SOURCE, LATENCY, CLASSES, components, groups, excess, doubts)


def hostile_analysis() -> Analysis:
    """An analysis in which everything that comes from traces is hostile."""
    share = 1 / len(HOSTILE)
    spread, path = Spread(share, share, share, share), Spread(10.0, 9.0, 20.0, 30.0)
    components = tuple(
        Component(
            name, "non-model", 5, 9, 7, spread, path, Points(share, share, share), (PhaseShare(name, spread, path),)
        )
        for name in HOSTILE
    )
    groups = tuple(Group(name, 5, LATENCY) for name in HOSTILE)
    source = InputSummary(1, 10, 5, 5, 5, 0, dict.fromkeys(HOSTILE, 1), list(HOSTILE))
    return Analysis(source, LATENCY, CLASSES, components, groups, TailExcess(10.0, dict.fromkeys(HOSTILE, 1.0)))


MS = 1_000_000


def _span(
    index: int, parent: int, depth: int, name: str, component: str, start: float, end: float, on: bool
) -> WaterfallSpan:
    return WaterfallSpan(f"{index:016x}", parent, depth, name, "svc", component, int(start * MS), int(end * MS), on)


def request_path() -> RequestPath:
    """One request:

    root          |----------------------------------------|  0..1000
      auth        |--|                                        0..50
      search         |-------|                                60..300
        embed        |--|                                     60..120
        vector          |----|                                120..290
      background        |--------------|                      100..700, off the path
      select x14            ||||||                            300..440
      chat                        |----------------------|    450..980
        POST                       |--------------------|     455..975
    """
    spans = [
        _span(1, -1, 0, "POST /answer", "app", 0, 1000, True),
        _span(2, 0, 1, "auth.check", "auth", 0, 50, True),
        _span(3, 0, 1, "retrieve", "retrieval", 60, 300, True),
        _span(4, 2, 2, "embeddings text-embedding-3", "embedding", 60, 120, True),
        _span(5, 2, 2, "qdrant.search", "vector-db", 120, 290, True),
        _span(6, 0, 1, "prefetch profile", "feature-store", 100, 290, False),
    ]
    spans += [_span(7 + i, 0, 1, "SELECT orders", "database", 300 + 10 * i, 310 + 10 * i, True) for i in range(14)]
    spans.append(_span(30, 0, 1, "chat gpt-x", "llm", 450, 980, True))
    spans.append(_span(31, 20, 2, "POST api.example.com", "llm", 455, 975, True))
    own = [(1, 0, 50), (0, 50, 60), (3, 60, 120), (4, 120, 290), (2, 290, 300)]
    own += [(6 + i, 300 + 10 * i, 310 + 10 * i) for i in range(14)]
    own += [(0, 440, 450), (20, 450, 455), (21, 455, 975), (20, 975, 980), (0, 980, 1000)]
    segments = tuple(
        Segment(spans[row].span_id, "svc", spans[row].name, spans[row].component, start * MS, end * MS, None, row)
        for row, start, end in own
    )
    return RequestPath("4bf92f3577b34da6a3ce929d0e0e4736", spans[0].span_id, 1000.0, True, segments, tuple(spans))


def hostile_path() -> RequestPath:
    """A request whose names are hostile."""
    spans = [_span(1, -1, 0, HOSTILE[0], "app", 0, 100, True)]
    spans += [_span(i + 2, 0, 1, name, name, 5 * i, 5 * i + 5, True) for i, name in enumerate(HOSTILE)]
    segments = tuple(
        Segment(s.span_id, s.service, s.name, s.component, s.start_ns, s.end_ns, None, i + 1)
        for i, s in enumerate(spans[1:])
    )
    return RequestPath("\x1b[2Jtrace", "1", 100.0, False, segments, tuple(spans))


def paths() -> Paths:
    """Two requests."""
    return Paths((request_path(), hostile_path()))


def forecast() -> Forecast:
    """A speed-up that moves the bottleneck."""
    after = Latency(
        2000, 380.0, 322.0, 880.0, 1350.0, {"p50_ms": (316.0, 329.0), "p95_ms": (850, 911), "p99_ms": (1201, 1560)}
    )
    return Forecast(
        ("--speedup llm=2x", "--parallelize retrieval,feature-store"),
        LATENCY,
        after,
        Spread(0.237, 0.219, 0.292, 0.358),
        Spread(0.2, 0.18, 0.235, 0.285),
        Bottleneck("llm", "retrieval"),
        1990,
        (
            "retrieval → feature-store: 1,990 requests never show them apart, so the order is assumed",
            "queue waits are kept as recorded; no pool is declared",
        ),
        (
            ShareShift("llm", Spread(0.40, 0.36, 0.47, 0.57), Spread(0.25, 0.22, 0.31, 0.42)),
            ShareShift("retrieval", Spread(0.21, 0.24, 0.15, 0.1), Spread(0.27, 0.31, 0.21, 0.16)),
            ShareShift("database/postgresql", Spread(0.16, 0.18, 0.14, 0.1), Spread(0.21, 0.23, 0.2, 0.15)),
        ),
        Latency(2000, 360.0, 310.0, 860.0, 1330.0),
        Latency(2000, 390.0, 325.0, 890.0, 1370.0),
        {"p50": (0.20, 0.23), "p95": (0.27, 0.31), "p99": (0.31, 0.40)},
        (Doubt("support", "3 dependencies rest on fewer than 20 requests", "declare them in latshift.toml"),),
    )


def check_report() -> CheckReport:
    """A regression, a pass and an inconclusive metric."""
    return CheckReport(
        "regression",
        (
            Check("latency.p50", 412.0, 431.0, 0.046, (0.02, 0.07), 0.05, "pass", "", n=2000),
            Check(
                "non-model.path.p95",
                480.0,
                590.0,
                0.229,
                (0.18, 0.28),
                0.1,
                "regression",
                "Of +110 ms, the model's part is −4 ms and the rest +114 ms; database/postgresql rose most.",
                n=2000,
            ),
            Check(
                "latency.p99",
                2104.0,
                2300.0,
                0.093,
                (-0.06, 0.21),
                0.1,
                "inconclusive",
                "120 requests, 299 are needed for p99.",
                n=120,
                group="gateway POST /answer",
            ),
            Check("non-model.share.p50", 0.55, 0.561, 0.011, (-0.004, 0.02), 0.05, "pass", unit="fraction", n=2000),
            Check("latency.p95", float("nan"), 1310.0, -0.13, (-0.16, -0.1), 0.0, "pass", budget=1500.0, n=2000),
        ),
    )


def listing() -> ComponentListing:
    """What went where."""
    return ComponentListing(
        SOURCE,
        (
            ListedComponent(
                "llm",
                "model",
                4100,
                2050,
                0.4,
                (RuleHit("gen_ai.operation.name=chat", 2050, "chat gpt-x"), RuleHit("inherits", 2050, "POST")),
            ),
            ListedComponent(
                "app", "non-model", 3000, 2000, 0.05, (RuleHit("nothing matched", 3000, "rank_documents"),)
            ),
        ),
        (
            Unclassified(
                "rank_documents", "gateway", 1000, 0.04, '[[rules]]\nname = "rank_documents"\ncomponent = "rerank"'
            ),
        ),
    )
