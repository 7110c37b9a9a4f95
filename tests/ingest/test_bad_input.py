"""What is broken is left out, counted, and named with its place; what is useless is an error, never a traceback."""

from __future__ import annotations

import gzip
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from latshift.errors import InputError
from latshift.ingest import read_spans
from tests.ingest.exports import CHILD, T0, compact, jaeger, jaeger_span, many, only, otlp, read, rows, span, write

GOOD = compact(otlp(span()))


def failure(path, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        ("hello", "text that is not JSON", "no JSON (invalid character (byte 0))"),
        (GOOD[:200], "JSON that ends in the middle", "ends in the middle of a value"),
        ('{"name":"x"}', "document of another format", "keys: name"),
        ("[1]", "document of another format", "only a number"),
        ("[]", "document of another format", "an empty JSON list"),
        ("{}", "document of another format", "an empty JSON object"),
        ("null", "document of another format", "only a null"),
        ('"text"', "document of another format", "only a text"),
        ("[" * 100_000, "JSON nested too deeply", "too deeply"),
        ('{"resourceSpans":[' + '{"x":' * 5_000 + "1" + "}" * 5_000 + "]}", "JSON nested too deeply", "too deeply"),
    ],
)
@pytest.mark.parametrize("place", [1, 2, 3])
def test_bad_lines(tmp_path, line, reason, detail, place):
    lines = [GOOD, GOOD.replace("b173", "b174")]
    lines.insert(place - 1, line)
    path = write(tmp_path / "a.jsonl", "\n".join(lines))
    table, summary = read(path)
    assert table.n == 2
    assert summary.skipped == {reason: 1}
    assert summary.warnings[0].startswith(f"{reason}, left out once; first at {path}:{place}: ")
    assert detail in summary.warnings[0]


BAD_SPANS = {
    "not an object": 5,
    "traceId is not a text": span(traceId=5),
    "spanId is not a text": span(spanId={"a": 1}),
    "startTimeUnixNano is not a 64-bit number": span(startTimeUnixNano="soon"),
    "endTimeUnixNano is not a 64-bit number": span(endTimeUnixNano=[1]),
}


@pytest.mark.parametrize("why", BAD_SPANS)
def test_one_bad_span_costs_no_other(tmp_path, why):
    path = write(tmp_path / "a", GOOD + "\n" + compact(otlp(span(spanId=CHILD), BAD_SPANS[why], span(spanId="1" * 16))))
    table, summary = read(path)
    assert [row["span_id"] for row in rows(table)] == [span()["spanId"], CHILD, "1" * 16]
    assert summary.skipped == {"span that is not well formed": 1}
    assert f"first at {path}:2: resourceSpans[0].scopeSpans[0].spans[1]: {why}" in summary.warnings[0]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"traceId": ""}, "span without a trace id"),
        ({"traceId": "0" * 32}, "span without a trace id"),
        ({"spanId": ""}, "span without a span id"),
        ({"spanId": "0" * 16}, "span without a span id"),
        ({"startTimeUnixNano": "0"}, "span without a start time"),
        ({"endTimeUnixNano": "0"}, "span without an end time"),
        ({"endTimeUnixNano": str(2**63)}, "span with a time outside 64 bits"),
        ({"startTimeUnixNano": 10**30}, "span with a time outside 64 bits"),
    ],
)
def test_unusable_spans_are_counted_with_their_place(tmp_path, fields, reason):
    path = write(tmp_path / "a", GOOD + "\n" + compact(otlp(span(spanId=CHILD), span(**fields))))
    table, summary = read(path)
    assert [row["span_id"] for row in rows(table)] == [span()["spanId"], CHILD]
    assert summary.skipped == {reason: 1}
    assert summary.warnings == [f"{reason}, left out once; first at {path}:2"]
    assert reason in failure(write(tmp_path / "b", otlp(span(**fields)))).message


def test_bad_spans_of_jaeger(tmp_path):
    bad = [jaeger_span(spanID=CHILD, startTime="soon"), 7, jaeger_span(spanID=CHILD, duration=1e30)]
    path = write(tmp_path / "a", json.dumps({"data": [jaeger(jaeger_span(), *bad)]}, indent=1))
    table, summary = read(path)
    assert table.n == 1
    assert summary.skipped == {"span that is not well formed": 3}
    assert f"{path}:1: spans[1]: startTime is not a 64-bit number" in summary.warnings[0]


@pytest.mark.parametrize("indent", [None, 2])
def test_numbers_that_json_does_not_have(tmp_path, indent):
    made = otlp(span({"gen_ai.response.time_to_first_chunk": float("nan"), "gen_ai.request.model": "m"}))
    text = json.dumps(made, indent=indent)
    assert "NaN" in text
    table, summary = read(write(tmp_path / "a", text + "\n" + text.replace("b173", "b174")))
    assert [(row["model"], row.get("ttft")) for row in rows(table)] == [("m", None), ("m", None)]
    assert not summary.skipped


def test_texts_that_are_no_unicode(tmp_path):
    lines = [GOOD.replace("POST /chat", "a\\ud800b"), GOOD.replace("POST /chat", "a\udcffb")]
    path = write(tmp_path / "a", "\n".join(lines).encode("utf-8", "surrogateescape"))
    names = [row["name"] for row in rows(read(path)[0])]
    assert [name.encode().decode() for name in names] == ["a?b", "a\ufffdb"]


def test_a_document_in_several_lines_that_is_cut_off(tmp_path):
    pretty = [json.dumps(one, indent=2) for one in many(3)]
    path = write(tmp_path / "a", "\n".join([pretty[0], pretty[1][:300], pretty[2]]))
    table, summary = read(path)
    assert (table.n, summary.skipped) == (8, {"JSON that ends in the middle": 1})
    path = write(tmp_path / "a", "\n".join([pretty[0], pretty[1], pretty[2][:300]]))
    table, summary = read(path)
    assert (table.n, summary.skipped) == (8, {"JSON that ends in the middle": 1})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        (" \n\n ", "the file is empty"),
        ("hello\nworld\n", "no JSON"),
        (GOOD[:100], "JSON that ends in the middle of a value"),
        (json.dumps(json.loads(GOOD), indent=2)[:100], "JSON that ends in the middle of a value"),
        ({"resourceMetrics": []}, "a line of metrics, no traces"),
        ({"traces": [{"traceID": "1", "rootServiceName": "s", "durationMs": 1}]}, "a search result of Tempo"),
        ({"data": None, "errors": [{"code": 404, "msg": "trace not found"}]}, "keys: data, errors"),
        ({"data": [{"id": "1", "traceId": "2"}], "meta": {}}, "Langfuse"),
        ({"error": {"code": 5}}, "an error message"),
        ([{"traceId": "1", "id": "2", "name": "x"}], "Zipkin v2 (keys: traceId, id, name)"),
        ({"context": {}, "parent_id": None, "name": "x"}, "ConsoleSpanExporter"),
        (b"PAR1....", "a Parquet file, which latshift does not read"),
        (b"\0\0\1\0\n" + b"x" * 300, "binary OTLP (protobuf)"),
        (b"\0\0\1\0\x28\xb5\x2f\xfd" + b"x" * 300, "the Collector's old zstd format"),
        (b"\x1f\x8b" + b"x" * 30, "damaged gzip data"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 30, "Zstandard data"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (bytes(1_000), "no JSON"),
    ],
)
def test_a_file_without_traces_is_an_error_that_says_what_it_is(tmp_path, content, message):
    path = write(tmp_path / "a.json", content)
    error = failure(path)
    assert error.message.startswith(str(path))
    assert message in error.message
    assert "OTLP JSON" in error.hint


def test_paths_that_lead_nowhere(tmp_path):
    assert "no such file or folder" in failure(tmp_path / "absent.json").message
    assert "no files in there" in failure(tmp_path).message
    with pytest.raises(InputError, match="no path was given"):
        read_spans([])
    with pytest.raises(InputError, match="no such file"):
        read_spans([write(tmp_path / "good", GOOD), tmp_path / "absent"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(tmp_path):
    path = write(tmp_path / "a", GOOD)
    path.chmod(0)
    assert "permission denied" in failure(path).message


def test_some_of_several_files_are_useless(tmp_path):
    good = write(tmp_path / "good", GOOD)
    bad = [write(tmp_path / f"bad{number}", '{"name":1}') for number in range(5)]
    table, summary = read_spans([good, *bad])
    assert (table.n, summary.files, summary.bytes) == (1, 1, len(GOOD))
    assert summary.skipped == {"file without traces": 5}
    (warning,) = summary.warnings
    assert warning.startswith(f"5 files hold no traces: {bad[0]}:1: ")
    assert warning.endswith("; and 2 more")
    with pytest.raises(InputError, match="none of 5 files holds traces"):
        read_spans(bad)


def test_absurd_times_are_kept_as_they_are(tmp_path):
    made = span(startTimeUnixNano=str(-(2**62)), endTimeUnixNano=str(2**62))
    assert (only(read(write(tmp_path / "a", otlp(made)))[0])["start"], made["name"]) == (-(2**62), "POST /chat")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(str(T0)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_document_leads_to_a_traceback(tmp_path, data):
    """Put anything anywhere in a good document: it is read or reported, and good lines around it are read."""
    kind = data.draw(st.sampled_from(["otlp", "jaeger"]))
    document = (
        otlp(span({"gen_ai.request.model": "m"}))
        if kind == "otlp"
        else {"data": [jaeger(jaeger_span({"error": True}))]}
    )
    for _ in range(data.draw(st.integers(1, 3))):
        holder = document
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if isinstance(holder[key], dict | list) and data.draw(st.booleans()):
                holder = holder[key]
                continue
            holder[key] = data.draw(JSON)
            break
    text = json.dumps(document, indent=data.draw(st.sampled_from([None, 1])))
    path = write(
        tmp_path / "a", "\n".join([compact(otlp(span(spanId="3" * 16))), text, compact(otlp(span(spanId="4" * 16)))])
    )
    found = {row["span_id"] for row in rows(read(path)[0])}
    assert {"3" * 16, "4" * 16} <= found


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=200),
    kind=st.sampled_from([b"", b"{", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"[", b"\xff\xfe", GOOD.encode()]),
)
def test_no_bytes_lead_to_a_traceback(tmp_path, data, kind):
    try:
        read(write(tmp_path / "a", kind + data))
    except InputError as error:
        assert str(tmp_path) in error.message
