"""OTLP JSON with all the liberties that exporters take."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ingest.exports import CHILD, ROOT, T0, TRACE, compact, many, only, otlp, read, rows, span, write

PLAIN = {
    "trace": TRACE, "span_id": ROOT, "name": "POST /chat", "service": "chat-api", "scope": "scope", "kind": 2,
    "status": 0, "follows": 0, "start": T0, "end": T0 + 1_000_000_000,
}  # fmt: skip


def test_a_plain_span(tmp_path):
    table, summary = read(write(tmp_path / "a.json", otlp(span())))
    assert only(table) == PLAIN
    assert (summary.files, summary.spans, summary.skipped, summary.warnings) == (1, 1, {}, [])
    assert summary.bytes == (tmp_path / "a.json").stat().st_size


LIBERTIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "times as numbers": (span(startTimeUnixNano=T0, endTimeUnixNano=T0 + 1_000_000_000), {}),
    "times as floats": (
        span(startTimeUnixNano=1.5e18, endTimeUnixNano=1.6e18), {"start": 15 * 10**17, "end": 16 * 10**17},
    ),
    "kind by name": (span(kind="SPAN_KIND_SERVER"), {}),
    "kind as a text": (span(kind="2"), {}),
    "kind in capitals": (span(kind="SERVER"), {}),
    "kind unknown": (span(kind=17), {"kind": 0}),
    "kind null": (span(kind=None), {"kind": 0}),
    "status by name": (span(status={"code": "STATUS_CODE_ERROR"}), {"status": 2}),
    "status by number": (span(status={"code": 1, "message": "m"}), {"status": 1}),
    "status empty": (span(status={}), {}),
    "status null": (span(status=None, attributes=None, events=None, links=None), {}),
    "upper-case ids": (span(traceId=TRACE.upper(), spanId=ROOT.upper()), {}),
    "base64 ids": (span(traceId="W47/95gDgQPSabYzgT/GDA==", spanId="7uGbfsPBsXM="), {}),
    "URL base64 ids": (span(traceId="W47_95gDgQPSabYzgT_GDA==", spanId="7uGbfsPBsXM="), {}),
    "0x ids": (span(traceId="0x" + TRACE, spanId="0x" + ROOT), {}),
    "64-bit trace id": (span(traceId=TRACE[16:]), {"trace": "0" * 16 + TRACE[16:]}),
    "no leading zeros": (
        span(traceId="1f" * 14, spanId="1f1f1f1f1f"), {"trace": "0000" + "1f" * 14, "span_id": "0000001f1f1f1f1f"},
    ),
    "X-Ray trace id": (span(traceId=f"1-{TRACE[:8]}-{TRACE[8:]}"), {}),
    "MLflow trace id": (span(traceId=f"tr-{TRACE}"), {}),
    "no parent: zeros": (span(parentSpanId="0" * 16), {}),
    "no parent: empty": (span(parentSpanId=""), {}),
    "no parent: null": (span(parentSpanId=None), {}),
    "no parent: base64": (span(parentSpanId="AAAAAAAAAAA="), {}),
    "parent in base64": (span(parentSpanId="7uGbfsPBsXQ="), {"parent": CHILD}),
    "unknown fields": (span(flags=256, traceState="", entityRefs=[{}], droppedAttributesCount=3), {}),
    "name absent": ({key: item for key, item in span().items() if key != "name"}, {"name": None}),
    "relative times": (span(startTimeUnixNano="0", endTimeUnixNano="7"), {"start": 0, "end": 7}),
    "no times at all": (span(startTimeUnixNano="", endTimeUnixNano=""), {"start": 0, "end": 0}),
    "negative time": (span(startTimeUnixNano="-5"), {"start": -5}),
    "ends before it starts": (span(endTimeUnixNano="5"), {"end": 5}),
    "attributes as an object": (span() | {"attributes": {"gen_ai.request.model": "m"}}, {"model": "m"}),
}  # fmt: skip


@pytest.mark.parametrize("liberty", LIBERTIES)
def test_liberties(tmp_path, liberty):
    made, differs = LIBERTIES[liberty]
    table, summary = read(write(tmp_path / "a.json", otlp(made)))
    assert only(table) == {key: item for key, item in (PLAIN | differs).items() if item is not None}
    assert not summary.skipped


def snake(item: Any) -> Any:
    """Rename all fields to snake_case."""
    if isinstance(item, list):
        return [snake(one) for one in item]
    if not isinstance(item, dict):
        return item
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): snake(one) for key, one in item.items()}


ATTRIBUTES = {"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 12, "gen_ai.request.stream": True}
WITH_ATTRIBUTES = PLAIN | {"model": "m", "input_tokens": 12, "streaming": 1}


def test_snake_case_everywhere_or_only_inside(tmp_path):
    document = otlp(span(ATTRIBUTES))
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    inside = json.loads(compact(document))
    inside["resourceSpans"][0]["scopeSpans"][0]["spans"] = snake(spans)
    values = json.loads(compact(document))
    values["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = snake(spans[0]["attributes"])
    middle = {"resourceSpans": snake(document)["resource_spans"]}
    for variant in (snake(document), inside, values, middle):
        assert only(read(write(tmp_path / "a.json", variant))[0]) == WITH_ATTRIBUTES


def test_old_names_of_scopes(tmp_path):
    document = otlp(span())
    scopes = document["resourceSpans"][0].pop("scopeSpans")
    library = [{"instrumentationLibrary": {"name": "scope"}, "spans": scopes[0]["spans"]}]
    document["resourceSpans"][0]["instrumentationLibrarySpans"] = library
    assert only(read(write(tmp_path / "a.json", document))[0]) == PLAIN


@pytest.mark.parametrize(
    "wrap",
    [
        lambda resources: {"batches": resources},
        lambda resources: {"trace": {"resourceSpans": resources}, "status": "COMPLETE"},
        lambda resources: {"result": {"resourceSpans": resources}},
        lambda resources: [{"resourceSpans": resources}],
        lambda resources: {"resourceSpans": resources, "other": [1]},
        lambda resources: {"trace": {"resource_spans": snake(resources)}},
    ],
)
def test_wrappings_of_apis(tmp_path, wrap):
    assert only(read(write(tmp_path / "a.json", wrap(otlp(span())["resourceSpans"])))[0]) == PLAIN


def layouts() -> dict[str, bytes]:
    """Return the same ten documents, laid out in many ways."""
    documents = many(10)
    lines = [compact(one) for one in documents]
    pretty = [json.dumps(one, indent=2) for one in documents]
    return {
        "lines": "\n".join(lines).encode(),
        "lines with an end": ("\n".join(lines) + "\n").encode(),
        "lines of Windows": "\r\n".join(lines).encode(),
        "blank lines between": "\n\n  \n".join(lines).encode(),
        "concatenated": "".join(lines).encode(),
        "concatenated with spaces": " ".join(lines).encode(),
        "two a line": "\n".join(a + b for a, b in zip(lines[::2], lines[1::2], strict=True)).encode(),
        "pretty, concatenated": "\n".join(pretty).encode(),
        "pretty, nothing between": "".join(pretty).encode(),
        "lines, then pretty": "\n".join([*lines[:5], *pretty[5:]]).encode(),
        "pretty, then lines": "\n".join([*pretty[:5], *lines[5:]]).encode(),
        "an array": compact(documents).encode(),
        "a pretty array": json.dumps(documents, indent=1).encode(),
        "an array, one item a line": ("[\n" + ",\n".join(lines) + "\n]\n").encode(),
        "arrays a line": "\n".join([compact(documents[:4]), compact(documents[4:])]).encode(),
        "byte order mark": b"\xef\xbb\xbf" + "\n".join(lines).encode(),
        "byte order marks within": b"\n".join(b"\xef\xbb\xbf" + line.encode() for line in lines),
        "UTF-16": "\n".join(lines).encode("utf-16"),
        "UTF-16 big-endian": "\n".join(pretty).encode("utf-16-be"),
        "blank at the beginning": b"\n \n" + "\n".join(lines).encode(),
        "one document": compact({"resourceSpans": [one["resourceSpans"][0] for one in documents]}).encode(),
    }


@pytest.mark.parametrize("layout", layouts())
def test_layouts(tmp_path, layout):
    expected, _ = read(write(tmp_path / "expected", "\n".join(map(compact, many(10)))))
    table, summary = read(write(tmp_path / "a", layouts()[layout]))
    assert rows(table) == rows(expected)
    assert table.n == 40
    assert (summary.skipped, summary.warnings) == ({}, [])


def test_lines_of_other_signals_are_counted(tmp_path):
    lines = [otlp(span()), {"resourceMetrics": []}, {"resourceLogs": [{}]}, {"resource_logs": []}]
    table, summary = read(write(tmp_path / "a", "\n".join(map(compact, lines))))
    assert table.n == 1
    assert summary.skipped == {"line of metrics": 1, "line of logs": 2}
    assert summary.warnings == []


def test_an_empty_export_is_no_error(tmp_path):
    for empty in (
        {"resourceSpans": []},
        {"resourceSpans": None},
        {"resourceSpans": [{"scopeSpans": []}]},
        {"data": []},
    ):
        table, summary = read(write(tmp_path / "a", empty))
        assert (table.n, summary.files, summary.skipped) == (0, 1, {})


def test_the_same_trace_in_several_spellings_is_one_trace(tmp_path):
    spellings = (TRACE, TRACE.upper(), "W47/95gDgQPSabYzgT/GDA==", f"0x{TRACE}")
    lines = [otlp(span(traceId=spelling, spanId=f"{place + 1:016x}")) for place, spelling in enumerate(spellings)]
    table, _ = read(write(tmp_path / "a", "\n".join(map(compact, lines))))
    assert table.text("trace").words == [TRACE]


def test_ids_that_are_labels(tmp_path):
    spans = [span(traceId="t", spanId="R"), span(traceId="t", spanId="A", parentSpanId="R")]
    table, _ = read(write(tmp_path / "a", otlp(*spans)))
    assert [(row["trace"], row["span_id"], row.get("parent")) for row in rows(table)] == [
        ("t", "R", None),
        ("t", "A", "R"),
    ]
    table, _ = read(write(tmp_path / "a", otlp(span(spanId="a", parentSpanId="000000000000000B"))))
    assert (only(table)["span_id"], only(table)["parent"]) == ("000000000000000a", "000000000000000b")


def test_resource_names_the_host(tmp_path):
    resource = {"service.name": "s", "host.id": "h-1", "host.name": "web-1", "k8s.pod.name": "p"}
    assert only(read(write(tmp_path / "a", otlp(span(), resource=resource)))[0])["host"] == "web-1"
    assert "service" not in only(read(write(tmp_path / "a", otlp(span(), resource={})))[0])


def test_kept_keys_come_from_span_and_resource(tmp_path):
    resource = {"service.name": "s", "env": "prod", "tenant": "resource"}
    spans = [span({"tenant": "t1", "n": 5, "gen_ai.request.model": "m"}), span({}, spanId=CHILD)]
    keep = ["env", "tenant", "n", "gen_ai.request.model", "absent"]
    first, second = rows(read(write(tmp_path / "a", otlp(*spans, resource=resource)), keep=keep)[0])
    assert [first.get(f"attr:{key}") for key in keep] == ["prod", "t1", "5", "m", None]
    assert [second.get(f"attr:{key}") for key in keep] == ["prod", "resource", None, None, None]
    assert first["model"] == "m"


def test_times_in_another_unit_are_noticed(tmp_path):
    for factor in (1_000, 1_000_000, 1_000_000_000):
        made = span(startTimeUnixNano=T0 // factor, endTimeUnixNano=T0 // factor + 5)
        table, summary = read(write(tmp_path / "a", otlp(made)))
        assert only(table)["start"] == T0 // factor
        assert f"{factor:,} times too small" in " ".join(summary.warnings)
